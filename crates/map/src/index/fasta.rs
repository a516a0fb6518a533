//! The sequences of an index file as FASTA, for jobs that read sequences. Only the planes are read, a stretch at a
//! time, and not the positions, which take most of the file.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use merganser_io::{Convert, Input, SectionSum, open_file, reason};
use merganser_seq::planes::BASES_PER_WORD;

use super::Index;
use super::file::{Mapped, damaged};
use crate::{Contig, Error};

/// The number of words of each plane that are read at a time.
const WORDS: usize = if cfg!(test) { 3 } else { 8192 };
/// The number of letters of a line of FASTA.
const LINE: usize = WORDS * BASES_PER_WORD;

/// Returns the sequences of an index file as an input, which is read as FASTA. The letters are A, C, G, T, and N for all
/// ambiguous letters; the names are those of the contigs. The bases that an index repeats of circular contigs are left
/// out.
///
/// The checksums of the planes are compared when all letters have been read; damage is then an error of the reader.
///
/// # Errors
/// Fails as [`Index::open`] does.
pub fn fasta_of_index(path: &Path) -> Result<Input, Error> {
    let index = Index::open(path)?;
    let record = |contig: &Contig| {
        let lines = (contig.len as usize).div_ceil(LINE);
        (1 + contig.name.len() + 1 + contig.len as usize + lines) as u64
    };
    let bytes = index.contigs.iter().map(record).sum();
    Ok(Input::converted(path, IndexFile { path: path.to_owned(), bytes }))
}

/// An index file whose letters take this number of bytes as FASTA.
#[derive(Debug)]
struct IndexFile {
    path: PathBuf,
    bytes: u64,
}

impl Convert for IndexFile {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let file = open_file(&self.path)?;
        let opened = Mapped::of_file(&file, &self.path);
        let (mapped, contigs, _) = opened.map_err(|error| io::Error::other(problem(error)))?;
        Ok(Box::new(Fasta::new(file, mapped.sums_of_planes(), contigs)))
    }
}

/// Returns the message of an error without the name of the file, which the reader adds.
fn problem(error: Error) -> String {
    match error {
        Error::Index { problem, .. } => problem,
        Error::File { source, .. } => reason(&source),
        other => other.to_string(),
    }
}

/// The text that is being read.
struct Fasta {
    planes: [Plane; 3],
    contigs: std::vec::IntoIter<Contig>,
    /// The number of letters of the current contig that are still to be read, and of those that it repeats.
    left: usize,
    repeated: usize,
    /// The text that is ready, and the number of its bytes that were returned.
    text: Vec<u8>,
    returned: usize,
    file: File,
    ended: bool,
}

impl Fasta {
    fn new(file: File, sections: [SectionSum; 3], contigs: Vec<Contig>) -> Fasta {
        let (planes, contigs) = (sections.map(Plane::new), contigs.into_iter());
        let (text, returned) = (Vec::new(), 0);
        Fasta { planes, contigs, left: 0, repeated: 0, text, returned, file, ended: false }
    }

    /// Replaces the text by the next header or line; by nothing at the end, after the checksums were compared.
    fn advance(&mut self) -> io::Result<()> {
        self.returned = 0;
        self.text.clear();
        if self.left > 0 {
            return self.line();
        }
        let Some(contig) = self.contigs.next() else {
            self.ended = true;
            return self.check();
        };
        self.text.push(b'>');
        self.text.extend_from_slice(contig.name.as_bytes());
        self.text.push(b'\n');
        (self.left, self.repeated) = (contig.len as usize, contig.repeated as usize);
        Ok(())
    }

    fn line(&mut self) -> io::Result<()> {
        let letters = self.left.min(LINE);
        self.left -= letters;
        let words = letters.div_ceil(BASES_PER_WORD);
        for plane in &mut self.planes {
            plane.read(&self.file, words)?;
        }
        let [low, high, others] = &self.planes;
        put_letters(&low.words, &high.words, &others.words, &mut self.text);
        self.text.truncate(letters);
        self.text.push(b'\n');
        if self.left == 0 {
            // The repeated letters begin in the last word.
            let more = (letters + self.repeated).div_ceil(BASES_PER_WORD) - words;
            self.skip(more)?;
        }
        Ok(())
    }

    /// Reads words that have no letters of the text.
    fn skip(&mut self, words: usize) -> io::Result<()> {
        for plane in &mut self.planes {
            let mut left = words;
            while left > 0 {
                let some = left.min(WORDS);
                plane.read(&self.file, some)?;
                left -= some;
            }
        }
        Ok(())
    }

    /// Reads the padding at the end of the planes, and compares their checksums.
    fn check(&mut self) -> io::Result<()> {
        self.skip(crate::reference::PADDING)?;
        let wrong = self.planes.iter().position(Plane::is_wrong);
        wrong.map_or(Ok(()), |number| Err(io::Error::other(damaged(number))))
    }
}

impl Read for Fasta {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.returned == self.text.len() && !self.ended {
            self.advance()?;
        }
        let left = &self.text[self.returned..];
        let count = left.len().min(buffer.len());
        buffer[..count].copy_from_slice(&left[..count]);
        self.returned += count;
        Ok(count)
    }
}

/// A plane of an index file that is being read.
struct Plane {
    section: SectionSum,
    /// The number of bytes that were read.
    read: u64,
    sum: crc32fast::Hasher,
    bytes: Vec<u8>,
    /// The words that were read last; empty if the plane is.
    words: Vec<u64>,
}

impl Plane {
    fn new(section: SectionSum) -> Plane {
        let (bytes, words) = (Vec::new(), Vec::new());
        Plane { section, read: 0, sum: crc32fast::Hasher::new(), bytes, words }
    }

    /// Reads the next words.
    fn read(&mut self, file: &File, words: usize) -> io::Result<()> {
        if self.section.len == 0 {
            return Ok(());
        }
        self.bytes.resize(8 * words, 0);
        let read = file.read_exact_at(&mut self.bytes, self.section.start + self.read);
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::other(
                "the file was changed while it was in use: run again with an unchanging file",
            ),
            _ => error,
        })?;
        self.read += self.bytes.len() as u64;
        self.sum.update(&self.bytes);
        self.words.clear();
        let (words, _) = self.bytes.as_chunks::<8>();
        self.words.extend(words.iter().map(|word| u64::from_le_bytes(*word)));
        Ok(())
    }

    fn is_wrong(&self) -> bool {
        self.sum.clone().finalize() != self.section.checksum
    }
}

/// For each byte, a word whose byte i is bit i.
const SPREAD: [u64; 256] = {
    let mut spread = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            spread[byte] |= ((byte as u64 >> bit) & 1) << (8 * bit);
            bit += 1;
        }
        byte += 1;
    }
    spread
};

/// Appends the letters of words of planes, eight at a time. `others` may be empty.
fn put_letters(low: &[u64], high: &[u64], others: &[u64], text: &mut Vec<u8>) {
    /// One in each byte.
    const EACH: u64 = u64::MAX / 255;
    text.reserve(low.len() * BASES_PER_WORD);
    let others = others.iter().copied().chain(std::iter::repeat(0));
    for ((low, high), other) in low.iter().zip(high).zip(others) {
        for shift in (0..64).step_by(8) {
            let bits = |word: u64| SPREAD[(word >> shift & 255) as usize];
            let (low, high, other) = (bits(*low), bits(*high), bits(other) * 255);
            // A, C and G are A, A + 2 and A + 6; T is A + 19.
            let bases = EACH * u64::from(b'A') + low * 2 + high * 6 + (low & high) * 11;
            let n = EACH * u64::from(b'N');
            let letters = (bases & !other) | (n & other);
            text.extend_from_slice(&letters.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Topology, build_with};
    use merganser_io::{Converted, OutputSet};
    use merganser_run::Context;
    use proptest::prelude::*;

    /// Builds an index of a FASTA text in a folder.
    fn built(folder: &Path, fasta: &str, topology: &Topology) -> PathBuf {
        let (reference, output) = (folder.join("r.fa"), folder.join("r.mgi"));
        std::fs::write(&reference, fasta).unwrap();
        let outputs = OutputSet::new();
        let file = outputs.file(&output).unwrap();
        build_with(&reference.into(), topology, Some(file), &Context::new()).unwrap();
        outputs.commit().unwrap();
        output
    }

    fn text(input: &Input) -> io::Result<String> {
        let Input::Converted(_, Converted(conversion)) = input else { panic!() };
        let mut text = String::new();
        conversion.open()?.read_to_string(&mut text).map(|_| text)
    }

    /// Returns the letters of each record.
    fn records(text: &str) -> Vec<(String, String)> {
        let records = text.split('>').skip(1).map(|record| record.split_once('\n').unwrap());
        records.map(|(name, lines)| (name.to_owned(), lines.replace('\n', ""))).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn all_letters_come_back(
            contigs in proptest::collection::vec("[ACGT]{1,20}[ACGTNacgtnRYU]{0,700}", 1..5),
            circular in any::<bool>(),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let fasta: String =
                contigs.iter().enumerate().map(|(at, letters)| format!(">c{at} x\n{letters}\n")).collect();
            let topology = if circular { Topology::Circular } else { Topology::Linear };
            let input = fasta_of_index(&built(folder.path(), &fasta, &topology)).unwrap();
            let text = text(&input).unwrap();
            let Input::Converted(_, Converted(conversion)) = &input else { panic!() };
            prop_assert_eq!(conversion.bytes(), text.len() as u64);
            let kept = |letter: char| match letter.to_ascii_uppercase() {
                'U' => 'T',
                'R' | 'Y' => 'N',
                upper => upper,
            };
            let expected = contigs.iter().enumerate();
            let expected: Vec<_> = expected
                .map(|(at, letters)| (format!("c{at}"), letters.chars().map(kept).collect::<String>()))
                .collect();
            prop_assert_eq!(records(&text), expected);
        }
    }

    #[test]
    fn damage_is_found_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let fasta = format!(">a\n{}N\n", "ACGT".repeat(300));
        let path = built(folder.path(), &fasta, &Topology::Linear);
        let good = std::fs::read(&path).unwrap();
        let sections = [4096, 8192, 12288];
        for (number, at) in sections.into_iter().enumerate() {
            let mut bytes = good.clone();
            bytes[at + 3] ^= 4;
            std::fs::write(&path, bytes).unwrap();
            let error = text(&fasta_of_index(&path).unwrap()).unwrap_err().to_string();
            let number = number + 1;
            assert!(error.starts_with(&format!("section {number} of 6 is damaged")), "{error}");
        }
        std::fs::write(&path, &good[..good.len() / 2]).unwrap();
        let error = fasta_of_index(&path).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{}: ", path.display())), "{error}");
    }
}
