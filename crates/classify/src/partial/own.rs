//! Joined results of merganser databases: reads by node and target, and distinct features.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use merganser_run::Cancel;
use merganser_store::ByteReader;
use merganser_taxonomy::{Taxonomy, plain};
use merganser_taxreport::Error as ReportError;
use merganser_taxreport::by_database::DatabaseReads;
use merganser_taxreport::partial::{Ascending, Decoder};
use merganser_taxreport::report::{FeatureCounts, Tally, TaxonBases};

use crate::Target;
use crate::hash::FEATURE_BITS;

/// Number of features between two checks for cancellation.
const LOOK: u64 = 1 << 16;

/// A target with reads.
#[derive(Debug, PartialEq, Eq)]
struct TargetReads {
    name: String,
    node: u32,
    reads: u64,
    bases: u64,
}

/// The sums over several runs.
pub(super) struct OfOwn {
    pub(super) tree: Taxonomy,
    pub(super) tally: Tally,
    pub(super) by_genome: Tally,
    /// The bases of the reads; those of earlier files are unknown, and missing here.
    pub(super) bases: TaxonBases,
    /// The reads by database, if they were counted.
    pub(super) by_database: DatabaseReads,
    targets: BTreeMap<u32, TargetReads>,
    /// Features of reads by node, if they were counted.
    hits: Option<Vec<u64>>,
    /// The sum of `hits`, checked for overflow.
    all_hits: u64,
    /// The files, each read up to its distinct features.
    waiting: Vec<Decoder>,
}

/// The error for sums that overflow.
const TOO_MANY: &str = "there are more reads, bases or features than possible";

impl OfOwn {
    /// Creates empty sums for the stored taxonomy of the files.
    pub(super) fn new(taxonomy: &[u8]) -> Option<OfOwn> {
        let mut bytes = ByteReader(taxonomy);
        let tree = Taxonomy::load(&mut bytes).filter(|_| bytes.0.is_empty())?;
        Some(OfOwn {
            tree,
            tally: Tally::default(),
            by_genome: Tally::default(),
            bases: TaxonBases::default(),
            by_database: DatabaseReads::default(),
            targets: BTreeMap::new(),
            hits: None,
            all_hits: 0,
            waiting: Vec::new(),
        })
    }

    /// Adds a file, up to its distinct features, which [`finish`](Self::finish) reads.
    ///
    /// # Errors
    /// If the file cannot be read or is damaged.
    pub(super) fn add(&mut self, mut decoder: Decoder) -> Result<(), ReportError> {
        let unclassified = decoder.number()?;
        add_reads(&mut self.tally, self.tree.len(), unclassified, &mut decoder)?;
        add_reads(&mut self.by_genome, self.tree.len(), unclassified, &mut decoder)?;
        if self.by_genome.total() != self.tally.total() {
            return Err(decoder.damaged("reads by taxon and by genome are not the same"));
        }
        self.add_targets(&mut decoder)?;
        if decoder.has_bases() {
            self.add_bases(&mut decoder)?;
        }
        if decoder.is_by_database() {
            let (nodes, by_node) = (0..self.tree.len() as u32, self.by_genome.of_nodes());
            self.by_database.add_checked(nodes, by_node, &mut decoder)?;
        }
        if decoder.number()? == 0 {
            return decoder.finish();
        }
        let hits = self.hits.get_or_insert_with(|| vec![0; self.tree.len()]);
        let all = &mut self.all_hits;
        decoder.each_pair(hits.len(), |node, own| {
            *all = all.checked_add(own).ok_or(TOO_MANY)?;
            hits[node as usize] += own;
            Ok(())
        })?;
        self.waiting.push(decoder);
        Ok(())
    }

    fn add_targets(&mut self, decoder: &mut Decoder) -> Result<(), ReportError> {
        let mut list = Ascending::default();
        while let Some(number) = decoder.next_of(&mut list, u64::from(u32::MAX))? {
            let (reads, node, name) = (decoder.number()?, decoder.number()?, decoder.text()?);
            if node >= self.tree.len() as u64 || reads > self.tally.total() {
                return Err(decoder.damaged("a sequence has an unknown taxon, or too many reads"));
            }
            let node = node as u32;
            let new = || TargetReads { name: name.clone(), node, reads: 0, bases: 0 };
            let known = self.targets.entry(number as u32).or_insert_with(new);
            if (&known.name, known.node) != (&name, node) {
                return Err(decoder.damaged("a sequence has another name or taxon than before"));
            }
            known.reads = known.reads.saturating_add(reads);
        }
        let mut by_node: HashMap<u32, u64> = HashMap::new();
        for target in self.targets.values() {
            let sum = by_node.entry(target.node).or_default();
            *sum = sum.saturating_add(target.reads);
        }
        match by_node.into_iter().all(|(node, reads)| reads <= self.tally.own(node)) {
            true => Ok(()),
            false => Err(decoder.damaged("sequences have more reads than their taxa")),
        }
    }

    /// Adds the bases of a file whose targets were added.
    fn add_bases(&mut self, decoder: &mut Decoder) -> Result<(), ReportError> {
        let OfOwn { tree, bases, targets, .. } = self;
        let unclassified = decoder.number()?;
        add_reads(&mut bases.tally, tree.len(), unclassified, decoder)?;
        add_reads(&mut bases.by_genome, tree.len(), unclassified, decoder)?;
        if bases.by_genome.total() != bases.tally.total() {
            return Err(decoder.damaged("bases by taxon and by genome are not the same"));
        }
        decoder.each_pair(u32::MAX as usize, |number, own| {
            let target = targets.get_mut(&number).ok_or("a sequence has bases and no reads")?;
            target.bases = target.bases.checked_add(own).ok_or(TOO_MANY)?;
            Ok(())
        })?;
        let mut by_node: HashMap<u32, u64> = HashMap::new();
        for target in targets.values() {
            let sum = by_node.entry(target.node).or_default();
            *sum = sum.saturating_add(target.bases);
        }
        match by_node.into_iter().all(|(node, own)| own <= bases.tally.own(node)) {
            true => Ok(()),
            false => Err(decoder.damaged("sequences have more bases than their taxa")),
        }
    }

    /// Counts the distinct features of all files, and checks the files to their ends.
    ///
    /// # Errors
    /// If a file cannot be read or is damaged; if cancelled.
    pub(super) fn finish(&mut self, cancel: &Cancel) -> Result<Option<FeatureCounts>, ReportError> {
        let Some(hits) = self.hits.take() else { return Ok(None) };
        let distinct = distinct(std::mem::take(&mut self.waiting), self.tree.len(), cancel)?;
        Ok(Some(FeatureCounts::new(hits, distinct)))
    }

    /// Returns the targets with reads, renumbered in the same order, and counts their reads and bases under the new
    /// numbers.
    pub(super) fn targets(&mut self) -> Vec<Target> {
        let mut targets = Vec::with_capacity(self.targets.len());
        for (number, own) in (0..).zip(std::mem::take(&mut self.targets).into_values()) {
            let TargetReads { name, node, reads, bases } = own;
            self.tally.count_of_target(number, reads);
            self.bases.tally.count_of_target(number, bases);
            targets.push(Target { name: plain(name), node, bases: 0, windows: 0 });
        }
        targets
    }
}

/// Adds reads by node.
fn add_reads(
    tally: &mut Tally,
    nodes: usize,
    unclassified: u64,
    decoder: &mut Decoder,
) -> Result<(), ReportError> {
    let mut total = tally.total();
    let mut count = |node: Option<u32>, reads: u64| {
        total = total.checked_add(reads).ok_or(TOO_MANY)?;
        tally.count_many(node, reads);
        Ok(())
    };
    count(None, unclassified).map_err(|what: &str| decoder.damaged(what))?;
    decoder.each_pair(nodes, |node, reads| count(Some(node), reads))
}

/// The next feature of a file: the feature, the file and the node.
type Next = Reverse<(u64, usize, u32)>;

/// Returns for each node the number of features that at least one file has. All files are merged in the order of
/// their features, so that none has to be kept in memory.
fn distinct(files: Vec<Decoder>, nodes: usize, cancel: &Cancel) -> Result<Vec<u64>, ReportError> {
    let mut distinct = vec![0; nodes];
    let mut files: Vec<(Decoder, Ascending)> =
        files.into_iter().map(|file| (file, Ascending::default())).collect();
    let mut heap = BinaryHeap::with_capacity(files.len());
    for at in 0..files.len() {
        heap.extend(next(&mut files, at, nodes)?);
    }
    let (mut last, mut number) = (None, 0u64);
    while let Some(Reverse((feature, file, node))) = heap.pop() {
        match last.filter(|&(known, _)| known == feature) {
            Some((_, known)) if known != node => {
                return Err(files[file].0.damaged("a feature has different taxa in two files"));
            }
            Some(_) => {}
            None => distinct[node as usize] += 1,
        }
        last = Some((feature, node));
        number += 1;
        if number.is_multiple_of(LOOK) && cancel.is_cancelled() {
            return Err(ReportError::Cancelled);
        }
        heap.extend(next(&mut files, file, nodes)?);
    }
    files.into_iter().try_for_each(|(file, _)| file.finish())?;
    Ok(distinct)
}

fn next(
    files: &mut [(Decoder, Ascending)],
    at: usize,
    nodes: usize,
) -> Result<Option<Next>, ReportError> {
    let (decoder, list) = &mut files[at];
    let Some(feature) = decoder.next_of(list, 1 << FEATURE_BITS)? else { return Ok(None) };
    let node = decoder.number()?;
    match node < nodes as u64 {
        true => Ok(Some(Reverse((feature, at, node as u32)))),
        false => Err(decoder.damaged("a feature has an unknown taxon")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use merganser_taxreport::partial::Encoder;
    use proptest::prelude::*;

    use super::*;

    /// Encodes features with their nodes, and the end of a file.
    fn file(features: &BTreeMap<u64, u32>) -> Decoder {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes);
        let mut list = Ascending::default();
        for (&feature, &node) in features {
            encoder.number(list.step_to(feature)).unwrap();
            encoder.number(node.into()).unwrap();
        }
        encoder.end_list().unwrap();
        encoder.finish().unwrap();
        Decoder::of(bytes)
    }

    proptest! {
        /// The node is a function of the feature, as in a database.
        #[test]
        fn features_of_any_files_count_once(
            files in proptest::collection::vec(
                proptest::collection::btree_set(
                    prop_oneof![0u64..60, (1u64 << FEATURE_BITS) - 9..1 << FEATURE_BITS],
                    0..40,
                ),
                0..6,
            ),
        ) {
            let node = |feature: u64| (feature % 5) as u32;
            let with_nodes = |features: &BTreeSet<u64>| {
                features.iter().map(|&feature| (feature, node(feature))).collect()
            };
            let decoders = files.iter().map(|features| file(&with_nodes(features))).collect();
            let found = distinct(decoders, 5, &Cancel::default()).unwrap();
            let all: BTreeSet<u64> = files.into_iter().flatten().collect();
            let mut expected = vec![0; 5];
            all.into_iter().for_each(|feature| expected[node(feature) as usize] += 1);
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn features_that_cannot_be_are_refused() {
        let refuse = |files: &[&[(u64, u32)]]| {
            let files = files.iter().map(|own| file(&own.iter().copied().collect())).collect();
            distinct(files, 5, &Cancel::default()).unwrap_err().to_string()
        };
        assert!(refuse(&[&[(7, 5)]]).contains("a feature has an unknown taxon"));
        assert!(refuse(&[&[(1 << FEATURE_BITS, 1)]]).contains("a number is too large"));
        let said = refuse(&[&[(7, 1), (9, 1)], &[(7, 1), (9, 2)]]);
        assert!(said.contains("a feature has different taxa in two files"), "{said}");
    }

    #[test]
    fn numbers_come_back() {
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), 1 << 63, u64::MAX];
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes);
        numbers.iter().for_each(|&number| encoder.number(number).unwrap());
        encoder.finish().unwrap();
        let mut decoder = Decoder::of(bytes);
        numbers.iter().for_each(|&number| assert_eq!(decoder.number().unwrap(), number));
        decoder.finish().unwrap();
        // 2⁶⁴, and a number of eleven bytes.
        for large in [[255; 9].iter().chain(&[2]), [255; 11].iter().chain(&[0])] {
            let bytes: Vec<u8> = large.copied().collect();
            assert!(Decoder::of(bytes).number().is_err());
        }
    }
}
