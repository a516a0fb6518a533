//! What a damaged file gives away: its format has no checksums, but much that must go together.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;

use merganser_run::Cancel;
use merganser_seq::kmer::Kmer;
use merganser_seq::with_kmer;

use super::{Blocks, Index, Kff, Stream, Taker, Variables, at};
use crate::Error;
use crate::error::bad;

/// The code of our own and of KMC's files: A C G T = 0 1 2 3.
const IDENTITY: [u8; 4] = [0, 1, 2, 3];

/// What a file says of itself at its end.
#[derive(Default)]
struct Footer {
    /// Bytes of the last section of variables.
    bytes: u64,
    variables: HashMap<Vec<u8>, u64>,
}

impl Kff {
    /// Checks that the file ends with its last section, that indexes and footer lead where they say,
    /// that counts lie within the footer's bounds, that k-mers rise in sections that are said to be
    /// ordered, and that they are canonical in files that KMC made, if they say so.
    ///
    /// # Errors
    /// What is wrong; if the file cannot be read; [`Error::Cancelled`].
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
                    // Of blocks of several k-mers, only their beginnings can be in order.
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
            return Err(self.damaged("more follows behind its end"));
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
                return Err(self.damaged("its index leads to no section"));
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
        // The last section of variables is a footer only if it says its size.
        let Some(bytes) = said(b"footer_size") else { return Ok(()) };
        let first = said(b"first_index").unwrap_or(0);
        let leads = first == 0 || indexes.iter().any(|index| index.start == first);
        if bytes != footer.bytes || !leads {
            return Err(self.damaged("its footer leads to no index, or has another size"));
        }
        let (least, most) =
            (said(b"min_count").unwrap_or(0), said(b"max_count").unwrap_or(u64::MAX));
        let outside = |(low, high): (u32, u32)| u64::from(low) < least || u64::from(high) > most;
        if found.counts.is_some_and(outside) {
            return Err(self.damaged("a count is outside of the footer's bounds"));
        }
        // KMC's, and ours: their canonical k-mers are the smaller ones.
        if said(b"counter_size").is_some() && self.canonical && found.larger_strand {
            return Err(self.damaged("a k-mer is not the smaller one of both strands"));
        }
        Ok(())
    }
}

/// Looks at k-mers as they come.
struct Strict<'k, K> {
    kff: &'k Kff,
    /// Those of the section rise.
    ordered: bool,
    last: Option<K>,
    /// The least and the largest count.
    counts: Option<(u32, u32)>,
    /// Some k-mer is larger than its reverse complement.
    larger_strand: bool,
}

impl<K: Kmer> Taker for Strict<'_, K> {
    type K = K;

    fn take(&mut self, kmer: K, count: u32) -> Result<(), Error> {
        if self.ordered && self.last.is_some_and(|last| last >= kmer) {
            return Err(self.kff.damaged("its k-mers are out of order"));
        }
        if count == 0 {
            return Err(self.kff.damaged("a count of 0, which readers pass over"));
        }
        self.last = Some(kmer);
        let (least, most) = self.counts.unwrap_or((count, count));
        self.counts = Some((least.min(count), most.max(count)));
        self.larger_strand |= kmer.reverse_complement(self.kff.k) < kmer;
        Ok(())
    }
}
