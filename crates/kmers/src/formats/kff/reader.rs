//! Reads KFF files (KFF 1.0, <https://github.com/Kmer-File-Format/kff-reference>): raw and minimizer sections,
//! with k-mers in any order and any encoding of bases. Numbers are big-endian.

mod verify;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use merganser_run::Cancel;
use merganser_seq::kmer::{Kmer, MAX_K};

use crate::Error;
use crate::description::{Description, Kind};
use crate::error::bad;
use crate::gathered::{Gathered, Gathering};

/// A KFF file whose first variables have been read.
#[derive(Debug)]
pub(crate) struct Kff {
    path: PathBuf,
    k: usize,
    canonical: bool,
    /// The code in A C G T = 0 1 2 3 for each code of the file.
    codes: [u8; 4],
    /// The offset of the first section.
    start: u64,
}

/// The variables that the sections so far have set.
#[derive(Clone, Copy, Debug, Default)]
struct Variables {
    k: usize,
    max: u64,
    data_size: usize,
    m: usize,
    ordered: bool,
}

/// The largest accepted number of k-mers in a block; no writer makes larger blocks.
const MAX_PER_BLOCK: u64 = 1 << 24;
/// The number of k-mers of a block whose counts are read at a time.
const STRIPE: usize = 1 << 16;

impl Kff {
    pub(crate) fn open(path: &Path) -> Result<Kff, Error> {
        let file = merganser_io::open_file(path).map_err(|source| at(path, source))?;
        let mut stream = Stream { path, bytes: BufReader::new(file) };
        let header = stream.array::<12>()?;
        if header[..3] != *b"KFF" {
            return Err(bad(path, "not a KFF file"));
        }
        if header[3] != 1 {
            return Err(bad(
                path,
                format!("KFF version {} is not supported: only version 1 is", header[3]),
            ));
        }
        // The code of each letter, two bits each, A first.
        let mut codes = [u8::MAX; 4];
        for base in 0..4 {
            codes[usize::from(header[5] >> (6 - 2 * base) & 3)] = base;
        }
        if codes.contains(&u8::MAX) {
            return Err(bad(path, "damaged: its encoding gives two letters the same code"));
        }
        let free = u64::from(u32::from_be_bytes([header[8], header[9], header[10], header[11]]));
        let mut kff =
            Kff { path: path.to_owned(), k: 0, canonical: header[7] != 0, codes, start: 12 + free };
        kff.k = kff.first_k(stream)?;
        Ok(kff)
    }

    /// Returns the k that the first sections set.
    fn first_k(&self, mut stream: Stream<'_>) -> Result<usize, Error> {
        stream.seek(self.start)?;
        let mut variables = Variables::default();
        while variables.k == 0 {
            match stream.array::<1>()? {
                [b'v'] => drop(stream.variables(&mut variables)?),
                [b'i'] => drop(stream.index()?),
                _ => return Err(bad(&self.path, "it does not say what k is: an empty KFF file?")),
            }
        }
        if variables.k > MAX_K {
            let k = variables.k;
            return Err(bad(&self.path, format!("its k is {k}: k can be at most {MAX_K}")));
        }
        Ok(variables.k)
    }

    pub(crate) fn description(&self) -> Description {
        Description::unread(Kind::Kff, self.k, self.canonical)
    }

    pub(crate) fn gather<'p, K: Kmer>(
        &self,
        gathered: Gathered<'p, K>,
        cancel: &Cancel,
    ) -> Result<Gathered<'p, K>, Error> {
        let file = File::open(&self.path).map_err(|source| at(&self.path, source))?;
        let bytes = BufReader::with_capacity(1 << 20, file);
        let mut stream = Stream { path: &self.path, bytes };
        stream.seek(self.start)?;
        let mut variables = Variables::default();
        let mut blocks = Blocks::new(self, gathered.writer(), cancel);
        loop {
            match stream.array::<1>()? {
                [b'v'] => drop(stream.variables(&mut variables)?),
                [b'i'] => drop(stream.index()?),
                [b'r'] => blocks.section(&mut stream, &variables, false)?,
                [b'm'] => blocks.section(&mut stream, &variables, true)?,
                // The end of the file: "KFF".
                [b'K'] if stream.array::<2>()? == *b"FF" => break,
                [other] => return Err(self.unknown_section(other)),
            }
        }
        blocks.taker.finish()?;
        Ok(gathered.gathered())
    }

    fn unknown_section(&self, kind: u8) -> Error {
        bad(&self.path, format!("damaged: a section of unknown kind 0x{kind:02x}"))
    }
}

fn at(path: &Path, source: io::Error) -> Error {
    if source.kind() == io::ErrorKind::UnexpectedEof {
        return bad(path, "truncated: the file ends before it is complete; copy it again");
    }
    Error::File { path: path.to_owned(), source }
}

struct Stream<'s> {
    path: &'s Path,
    bytes: BufReader<File>,
}

impl Stream<'_> {
    fn fill(&mut self, room: &mut [u8]) -> Result<(), Error> {
        self.bytes.read_exact(room).map_err(|source| at(self.path, source))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut array = [0; N];
        self.fill(&mut array)?;
        Ok(array)
    }

    fn seek(&mut self, to: u64) -> Result<(), Error> {
        self.bytes.seek(SeekFrom::Start(to)).map(drop).map_err(|source| at(self.path, source))
    }

    fn position(&mut self) -> Result<u64, Error> {
        self.bytes.stream_position().map_err(|source| at(self.path, source))
    }

    /// Reads a big-endian number of up to 8 bytes.
    fn number(&mut self, bytes: usize) -> Result<u64, Error> {
        let mut room = [0; 8];
        self.fill(&mut room[8 - bytes..])?;
        Ok(u64::from_be_bytes(room))
    }

    /// Reads a section of variables into `variables`, and returns all variables of the section.
    fn variables(&mut self, variables: &mut Variables) -> Result<HashMap<Vec<u8>, u64>, Error> {
        let mut all = HashMap::new();
        for _ in 0..self.number(8)? {
            let mut name = Vec::new();
            loop {
                match self.array::<1>()? {
                    [0] => break,
                    [_] if name.len() > 255 => {
                        return Err(bad(self.path, "damaged: a name too long"));
                    }
                    [letter] => name.push(letter),
                }
            }
            let value = self.number(8)?;
            match &name[..] {
                b"k" if variables.k > 0 && variables.k as u64 != value => {
                    return Err(bad(
                        self.path,
                        "it has k-mers of two lengths, but a table can have only one",
                    ));
                }
                b"k" => variables.k = value.min(u64::from(u16::MAX)) as usize,
                b"max" => variables.max = value,
                b"data_size" => variables.data_size = value.min(u64::from(u16::MAX)) as usize,
                b"m" => variables.m = value.min(u64::from(u16::MAX)) as usize,
                b"ordered" => variables.ordered = value == 1,
                _ => {}
            }
            all.insert(name, value);
        }
        Ok(all)
    }

    /// Reads an index section after its first letter.
    fn index(&mut self) -> Result<Index, Error> {
        let start = self.position()? - 1;
        let mut entries = Vec::new();
        for _ in 0..self.number(8)? {
            entries.push((self.array::<1>()?[0], self.number(8)?));
        }
        let next = self.number(8)?;
        Ok(Index { start, end: self.position()?, entries, next })
    }
}

/// An index section: its first offset and its end, its entries (the kind of a section, its distance from the
/// end), and the distance of the next index from the end; 0 if there is no next index.
struct Index {
    start: u64,
    end: u64,
    entries: Vec<(u8, u64)>,
    next: u64,
}

/// A receiver of k-mers.
trait Taker {
    type K: Kmer;
    fn take(&mut self, kmer: Self::K, count: u32) -> Result<(), Error>;
}

impl<K: Kmer> Taker for Gathering<'_, '_, K> {
    type K = K;

    #[inline(always)]
    fn take(&mut self, kmer: K, count: u32) -> Result<(), Error> {
        if count > 0 { self.add(kmer, count) } else { Ok(()) }
    }
}

/// Decodes blocks into k-mers.
struct Blocks<'b, T> {
    kff: &'b Kff,
    taker: T,
    /// The codes of the bases of a block, A C G T = 0 1 2 3.
    sequence: Vec<u8>,
    packed: Vec<u8>,
    data: Vec<u8>,
    cancel: &'b Cancel,
}

impl<'b, T: Taker> Blocks<'b, T> {
    fn new(kff: &'b Kff, taker: T, cancel: &'b Cancel) -> Blocks<'b, T> {
        let (sequence, packed, data) = (Vec::new(), Vec::new(), Vec::new());
        Blocks { kff, taker, sequence, packed, data, cancel }
    }

    fn section(
        &mut self,
        stream: &mut Stream<'_>,
        variables: &Variables,
        has_minimizer: bool,
    ) -> Result<(), Error> {
        let Variables { k, max, data_size, m, .. } = *variables;
        let sound = k == self.kff.k && (1..=MAX_PER_BLOCK).contains(&max) && data_size <= 8;
        if !sound || (has_minimizer && !(1..=k).contains(&m)) {
            return Err(bad(&self.kff.path, "damaged: a wrong variable k, max, data_size or m"));
        }
        let mut minimizer = Vec::new();
        if has_minimizer {
            self.codes(stream, m)?;
            minimizer = self.sequence.clone();
        }
        let number_bytes = bytes_for(max);
        let place_bytes = bytes_for(k as u64 + max - 1);
        for block in 0..stream.number(8)? {
            if block % 4096 == 0 && self.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let kmers = if number_bytes > 0 { stream.number(number_bytes)? } else { 1 };
            if kmers > max {
                return Err(bad(
                    &self.kff.path,
                    "damaged: a block of more k-mers than its maximum",
                ));
            }
            let place = if has_minimizer { stream.number(place_bytes)? as usize } else { 0 };
            let outside = || bad(&self.kff.path, "damaged: a minimizer outside of its block");
            let bases = kmers as usize + k - 1;
            let bases = bases.checked_sub(minimizer.len()).ok_or_else(outside)?;
            if place > bases {
                return Err(outside());
            }
            self.codes(stream, bases)?;
            self.sequence.splice(place..place, minimizer.iter().copied());
            self.kmers(stream, kmers as usize, k, data_size)?;
        }
        Ok(())
    }

    /// Reads a sequence of `bases` bases; the padding is in the top bits of the first byte.
    fn codes(&mut self, stream: &mut Stream<'_>, bases: usize) -> Result<(), Error> {
        let bytes = bases.div_ceil(4);
        self.packed.resize(bytes, 0);
        stream.fill(&mut self.packed)?;
        self.sequence.clear();
        let padding = 4 * bytes - bases;
        let code = |base: usize| self.packed[base / 4] >> (6 - 2 * (base % 4)) & 3;
        let codes = (padding..4 * bytes).map(|base| self.kff.codes[usize::from(code(base))]);
        self.sequence.extend(codes);
        Ok(())
    }

    /// Takes the k-mers of a block, whose counts follow in the file.
    fn kmers(
        &mut self,
        stream: &mut Stream<'_>,
        kmers: usize,
        k: usize,
        data_size: usize,
    ) -> Result<(), Error> {
        let mask = T::K::mask(k);
        let mut kmer = T::K::default();
        for (at, &code) in self.sequence.iter().enumerate() {
            kmer = kmer.push(code, mask);
            let Some(number) = (at + 1).checked_sub(k).filter(|&number| number < kmers) else {
                continue;
            };
            if number.is_multiple_of(STRIPE) {
                self.data.resize(STRIPE.min(kmers - number) * data_size, 0);
                stream.fill(&mut self.data)?;
            }
            let data = &self.data[number % STRIPE * data_size..][..data_size];
            let count = data.iter().fold(0u64, |sum, &byte| sum << 8 | u64::from(byte));
            let count = if data_size == 0 { 1 } else { count };
            let Ok(count) = u32::try_from(count) else {
                let reason = format!("a count of {count}: counts can be at most {}", u32::MAX);
                return Err(bad(&self.kff.path, reason));
            };
            self.taker.take(kmer, count)?;
        }
        Ok(())
    }
}

/// Returns the size of a number up to `max` in bytes: KFF uses ⌈log2(max)⌉ bits, rounded up to whole bytes.
fn bytes_for(max: u64) -> usize {
    (max - 1).checked_ilog2().map_or(0, |bits| (bits as usize + 1).div_ceil(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_the_bytes_of_the_format() {
        let cases = [(1, 0), (2, 1), (255, 1), (256, 1), (257, 2), (65536, 2), (65537, 3)];
        for (max, bytes) in cases {
            assert_eq!(bytes_for(max), bytes, "{max}");
        }
    }
}
