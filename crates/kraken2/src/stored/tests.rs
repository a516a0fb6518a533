//! Compares counts that were stored and added with the counts and sets of the whole input.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::super::distinct::BlockSketch;
use super::*;

/// A block of input, as pairs (taxon, minimizer). A pair with taxon 0 is a read whose taxon is the
/// other number.
type Block = Vec<(u32, u64)>;

const NODES: usize = 6;

fn counts(blocks: &[Block]) -> Kraken2Counts {
    let mut counts = Kraken2Counts::default();
    for block in blocks {
        let mut sketches: BTreeMap<u32, BlockSketch> = BTreeMap::new();
        for &(node, number) in block {
            if node == 0 {
                counts.reads += 1;
                match number % NODES as u64 {
                    0 => {
                        counts.unclassified += 1;
                        counts.unclassified_bases += number;
                    }
                    node => {
                        let own = counts.taxa.entry(node as u32).or_default();
                        own.reads += 1;
                        own.bases += number;
                    }
                }
            } else {
                counts.taxa.entry(node).or_default().minimizers += 1;
                sketches.entry(node).or_default().insert(number);
            }
        }
        for (node, sketch) in sketches {
            counts.sketches.entry(node).or_default().merge(sketch.into_sketch());
        }
    }
    counts
}

fn stored(counts: &Kraken2Counts, minimizers: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes);
    counts.store(minimizers, &mut encoder).unwrap();
    encoder.finish().unwrap();
    bytes
}

/// Blocks with few minimizers and blocks with more than fit in a set.
fn blocks() -> impl Strategy<Value = Vec<Block>> {
    let few = proptest::collection::vec((0..NODES as u32, 0u64..3000), 0..40);
    let many = (1..NODES as u32, 0u64..2000, 1000u64..1300)
        .prop_map(|(node, from, len)| (from..from + len).map(|at| (node, at)).collect());
    proptest::collection::vec(prop_oneof![4 => few, 1 => many], 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn parts_come_to_the_whole(
        blocks in blocks(),
        cuts in proptest::collection::vec(0usize..12, 0..4),
        minimizers in any::<bool>(),
        reverse in any::<bool>(),
    ) {
        let mut ends: Vec<usize> = cuts.into_iter().map(|cut| cut.min(blocks.len())).collect();
        ends.extend([0, blocks.len()]);
        ends.sort_unstable();
        let mut parts: Vec<&[Block]> =
            ends.windows(2).map(|ends| &blocks[ends[0]..ends[1]]).collect();
        if reverse {
            parts.reverse();
        }
        let mut joined = Kraken2Counts::default();
        for part in parts {
            let mut decoder = Decoder::of(stored(&counts(part), minimizers));
            let stored = joined.add_stored(NODES, &mut decoder).unwrap();
            prop_assert_eq!((stored.minimizers, stored.is_cut), (minimizers, false));
        }
        let whole = counts(&blocks);
        prop_assert_eq!((joined.reads, joined.unclassified), (whole.reads, whole.unclassified));
        // The stored sets and registers must be equal byte for byte.
        prop_assert!(stored(&joined, minimizers) == stored(&whole, minimizers));
        // The sets must be those of all minimizers.
        let mut expected: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for &(node, number) in blocks.iter().flatten().filter(|(node, _)| *node > 0) {
            let mut alone = BlockSketch::default();
            alone.insert(number);
            let Sketch::Codes(codes) = alone.into_sketch() else { panic!("a sketch of one minimizer is a set") };
            codes.for_each(|code| expected.entry(node).or_default().extend([code]));
        }
        for (node, sketch) in &joined.sketches {
            if let Sketch::Codes(codes) = sketch {
                let mut found = BTreeSet::new();
                codes.for_each(|code| found.extend([code]));
                prop_assert_eq!(&found, &expected[node]);
            }
        }
    }
}

/// An estimate is certain only if no cut between blocks can turn the set of codes into registers.
#[test]
fn estimates_of_large_sets_depend_on_blocks() {
    let block = |from: u64, len: u64| (from..from + len).map(|at| (1, at)).collect::<Block>();
    assert_eq!(counts(&[block(0, 600), block(0, 700)]).uncertain(), 0);
    assert_eq!(counts(&[block(0, 600), block(1000, 600)]).uncertain(), 1);
    assert_eq!(counts(&[block(0, 1200)]).uncertain(), 1);
}
