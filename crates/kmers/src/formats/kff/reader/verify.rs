//! Verifies KFF files. The format has no checksums, but damage shows in parts that contradict each other.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;

use merganser_run::Cancel;
use merganser_seq::kmer::Kmer;
use merganser_seq::with_kmer;

use super::{Blocks, Index, Kff, Stream, Taker, Variables, at};
use crate::Error;
use crate::error::bad;

/// The encoding of files that Merganser and KMC write: A C G T = 0 1 2 3.
const IDENTITY: [u8; 4] = [0, 1, 2, 3];

/// The variables of the last section, which is the footer of most files.
#[derive(Default)]
struct Footer {
    /// The size of the section, in bytes.
    bytes: u64,
    variables: HashMap<Vec<u8>, u64>,
}

impl Kff {
    /// Checks that the file ends with its last section, that the index and the footer point to what they
    /// should, that counts are within the footer's bounds, that k-mers are ascending in sections declared as
    /// ordered, and that they are canonical if a file made by KMC declares so.
    ///
    /// # Errors
    /// If a check fails, the file cannot be read, or the run was cancelled ([`Error::Cancelled`]).
    pub(crate) fn verify(&self, cancel: &Cancel) -> Result<(), Error> {
        with_kmer!(self.k, K => self.verify_as::<K>(cancel))
    }

    fn verify_as<K: Kmer>(&self, cancel: &Cancel) -> Result<(), Error> {
        let file = File::open(&self.path).map_err(|source| at(&self.path, source))?;
        let length = file.metadata().map_err(|source| at(&self.path, source))?.len();
        let mut stream =
            Stream { path: &self.path, bytes: BufReader::with_capacity(1 << 20, file) };
        stream.seek(self.start)?;
        let mut variables = Variables::default();
        let (mut sections, mut indexes, mut footer) =
            (HashMap::new(), Vec::new(), Footer::default());
        let strict = Strict::<K> {
            kff: self,
            ordered: false,
            last: None,
            counts: None,
            larger_strand: false,
        };
        let mut blocks = Blocks::new(self, strict, cancel);
        loop {
            let start = stream.position()?;
            let [kind] = stream.array::<1>()?;
            match kind {
                b'v' => {
                    let read = stream.variables(&mut variables)?;
                    footer = Footer { bytes: stream.position()? - start, variables: read };
                }
                b'i' => indexes.push(stream.index()?),
                b'r' | b'm' => {
                    // A block of several k-mers is ordered only by its first one.
                    let ordered = variables.ordered && variables.max == 1;
                    blocks.taker.ordered = ordered && self.codes == IDENTITY;
                    blocks.taker.last = None;
                    blocks.section(&mut stream, &variables, kind == b'm')?;
                }
                b'K' if stream.array::<2>()? == *b"FF" => break,
                other => return Err(self.unknown_section(other)),
            }
            sections.insert(start, kind);
        }
        if stream.position()? != length {
            return Err(self.damaged("data follows after its end"));
        }
        self.verify_indexes(&sections, &indexes)?;
        self.verify_footer(&footer, &indexes, &blocks.taker)
    }

    fn damaged(&self, what: &str) -> Error {
        bad(&self.path, format!("damaged: {what}; make it again"))
    }

    fn verify_indexes(&self, sections: &HashMap<u64, u8>, indexes: &[Index]) -> Result<(), Error> {
        for index in indexes {
            let place = |distance: u64| index.end.wrapping_add(distance);
            let known =
                |&(kind, distance): &(u8, u64)| sections.get(&place(distance)) == Some(&kind);
            let next = index.next == 0 || sections.get(&place(index.next)) == Some(&b'i');
            if !index.entries.iter().all(known) || !next {
                return Err(self.damaged("its index does not point to a section"));
            }
        }
        Ok(())
    }

    fn verify_footer<K>(
        &self,
        footer: &Footer,
        indexes: &[Index],
        found: &Strict<'_, K>,
    ) -> Result<(), Error> {
        let said = |name: &[u8]| footer.variables.get(name).copied();
        // The last section of variables is a footer only if it has its size.
        let Some(bytes) = said(b"footer_size") else { return Ok(()) };
        let first = said(b"first_index").unwrap_or(0);
        let leads = first == 0 || indexes.iter().any(|index| index.start == first);
        if bytes != footer.bytes || !leads {
            return Err(self.damaged("its footer does not point to an index, or has a wrong size"));
        }
        let (least, most) =
            (said(b"min_count").unwrap_or(0), said(b"max_count").unwrap_or(u64::MAX));
        let outside = |(low, high): (u32, u32)| u64::from(low) < least || u64::from(high) > most;
        if found.counts.is_some_and(outside) {
            return Err(self.damaged("a count is outside of the footer's bounds"));
        }
        // In files made by KMC or Merganser, a canonical k-mer is the smaller of both strands.
        if said(b"counter_size").is_some() && self.canonical && found.larger_strand {
            return Err(self.damaged("a k-mer is larger than its reverse complement"));
        }
        Ok(())
    }
}

/// Checks k-mers as they are read.
struct Strict<'k, K> {
    kff: &'k Kff,
    /// Whether the k-mers of the section must be ascending.
    ordered: bool,
    last: Option<K>,
    /// The smallest and the largest count so far.
    counts: Option<(u32, u32)>,
    /// Whether some k-mer is larger than its reverse complement.
    larger_strand: bool,
}

impl<K: Kmer> Taker for Strict<'_, K> {
    type K = K;

    fn take(&mut self, kmer: K, count: u32) -> Result<(), Error> {
        if self.ordered && self.last.is_some_and(|last| last >= kmer) {
            return Err(self.kff.damaged("its k-mers are out of order"));
        }
        if count == 0 {
            return Err(self.kff.damaged("a count of 0, which readers skip"));
        }
        self.last = Some(kmer);
        let (least, most) = self.counts.unwrap_or((count, count));
        self.counts = Some((least.min(count), most.max(count)));
        self.larger_strand |= kmer.reverse_complement(self.kff.k) < kmer;
        Ok(())
    }
}
