//! The nearest places of reads: whether, where and with how many edits each aligns at all.

use merganser_filter::Threshold;
use merganser_run::Cancel;

use crate::cpu::Singles;
use crate::hits::Hit;
use crate::room::Room;
use crate::{Config, Error, Index, MAX_READ, Select};

/// The nearest place of a read in a reference: the one with the fewest edits and, among equals, the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The number of the contig in [`Index::contigs`].
    pub contig: usize,
    /// The number of edits: substitutions, inserted and deleted bases. An ambiguous letter of the read or the
    /// reference matches nothing.
    pub edits: u32,
}

/// The rule of a search for nearest places: both strands, up to a number of edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearestRule(Config);

impl NearestRule {
    /// The memory of a [`NearestSearch`], in bytes, apart from the places of a read in repeats.
    pub const THREAD: u64 = 46 << 20;

    /// Returns the rule with a maximum number of edits.
    ///
    /// # Errors
    /// If the threshold is out of range, as in [`Config::validate`].
    pub fn new(threshold: Threshold) -> Result<NearestRule, Error> {
        let config = Config { select: Select::Best, ..Config::new(threshold) };
        config.validate()?;
        Ok(NearestRule(config))
    }
}

/// A search for the nearest places of reads, one for each thread.
///
/// ```
/// use merganser_filter::Threshold;
/// use merganser_map::{Error, NearestRule, NearestSearch, build_in_memory};
/// use merganser_run::Context;
///
/// let folder = tempfile::tempdir()?;
/// let fasta = folder.path().join("reference.fa");
/// std::fs::write(&fasta, ">c\nTTTTTTTTTTGATTACAGATCCCGTAATTTTTTTTTT\n")?;
/// let context = Context::new();
/// let (index, _) = build_in_memory(fasta, &context)?;
///
/// let rule = NearestRule::new(Threshold::Edits(1))?;
/// let mut search = NearestSearch::new(&index, &rule, &context.cancel);
/// // The reverse complement of GATTACAGATCCCGTAA, with one and with two other bases.
/// let reads: [&[u8]; 2] = [b"TTACCGGATCTGTAATC", b"TTACCGGATCTGCAATC"];
/// let places = search.search(&reads, |at, message| Error::Input(format!("read {at}: {message}")))?;
/// assert_eq!((places[0].unwrap().contig, places[0].unwrap().edits), (0, 1));
/// assert_eq!(places[1], None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct NearestSearch<'i> {
    singles: Singles<'i>,
    places: Vec<Option<Place>>,
}

impl std::fmt::Debug for NearestSearch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NearestSearch").finish_non_exhaustive()
    }
}

impl<'i> NearestSearch<'i> {
    /// Returns a search in an index whose tables were [checked](Index::check).
    pub fn new(index: &'i Index, rule: &'i NearestRule, cancel: &Cancel) -> NearestSearch<'i> {
        // Ambiguous letters match nothing, so that no search has to verify around them.
        let singles = Singles::new(index.view(), &rule.0, &[], Room::UNLIMITED, cancel);
        NearestSearch { singles: singles.at_once(), places: Vec::new() }
    }

    /// Returns the nearest place of each read, `None` for reads without a place within the threshold, which are also
    /// those with no more bases than the threshold has edits.
    ///
    /// # Errors
    /// If a read is longer than [`MAX_READ`] bases or has a byte that is not an IUPAC letter: what `problem` returns for
    /// its index in `reads` and a message. If the run is cancelled.
    pub fn search(
        &mut self,
        reads: &[&[u8]],
        problem: impl Fn(usize, String) -> Error,
    ) -> Result<&[Option<Place>], Error> {
        if let Some(at) = reads.iter().position(|read| read.len() > MAX_READ) {
            let bases = reads[at].len();
            return Err(problem(at, format!("{bases} bases: reads may have up to {MAX_READ}")));
        }
        self.singles.search(reads.iter().copied(), problem)?;
        let first = |at| self.singles.hits(at).first();
        let place = |hit: &Hit| Place { contig: hit.contig as usize, edits: hit.edits };
        self.places.clear();
        self.places.extend((0..reads.len()).map(|at| first(at).map(place)));
        Ok(&self.places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naive;
    use crate::reference::Reference;
    use crate::run::build_of;
    use merganser_run::Context;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_the_nearest_of_all_hits(
            contigs in proptest::collection::vec("[ACGT][ACGTN]{0,59}", 1..4),
            reads in proptest::collection::vec("[ACGTN]{1,40}", 1..12),
            edits in 0u32..6,
        ) {
            let contigs: Vec<Vec<u8>> = contigs.into_iter().map(String::into_bytes).collect();
            let context = Context::new().threads(1).memory(1 << 30);
            let (index, _) = build_of(Reference::of(&contigs), &context, None, None).unwrap();
            let rule = NearestRule::new(Threshold::Edits(edits)).unwrap();
            let mut search = NearestSearch::new(&index, &rule, &context.cancel);
            let letters: Vec<&[u8]> = reads.iter().map(String::as_bytes).collect();
            let found = search.search(&letters, |_, message| Error::Input(message)).unwrap();
            let config = Config::new(Threshold::Edits(edits));
            for (read, place) in reads.iter().zip(found) {
                let hits = naive::hits(&config, &contigs, read.as_bytes());
                let nearest = hits.first().map(|hit| (hit.contig, hit.edits));
                let found = place.map(|place| (place.contig, place.edits as usize));
                prop_assert_eq!(found, nearest, "{}", read);
            }
        }
    }
}
