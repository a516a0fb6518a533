mod backends;

use super::*;
use crate::{PackedReference, Threshold, naive};
use merganser_test_random::Random;
use proptest::prelude::*;

const METHODS: [Method; 4] =
    [Method::Exact, Method::GateKeeper, Method::Snake, Method::GateKeeperOriginal];
const MODES: [NMode; 3] = [NMode::Mismatch, NMode::Match, NMode::Pass];

/// Returns a strategy for pairs of a read and a segment made from it by edits a few bases apart; the lengths
/// may be made equal.
fn pairs() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    let letters = prop_oneof![
        4 => Just(b"ACGT".to_vec()),
        1 => Just(b"AAAAAC".to_vec()),
        1 => Just(b"ACGTACGTACGTNRacgtu".to_vec()),
    ];
    let read = letters.prop_flat_map(|letters| {
        proptest::collection::vec(proptest::sample::select(letters), 0..270)
    });
    let edits = proptest::collection::vec(
        (0usize..8, 0u8..3, proptest::sample::select(b"ACGT".to_vec())),
        0..25,
    );
    (read, edits, any::<proptest::sample::Index>(), any::<bool>()).prop_map(
        |(read, edits, start, equal)| {
            let mut segment = read.clone();
            let mut at = start.index(read.len() + 1);
            for (step, kind, letter) in edits {
                at = (at + step).min(segment.len());
                match kind {
                    0 => segment.insert(at, letter),
                    1 if at < segment.len() => segment[at] = letter,
                    2 if at < segment.len() => drop(segment.remove(at)),
                    _ => {}
                }
            }
            if equal {
                segment.resize(read.len(), b'G');
            }
            (read, segment)
        },
    )
}

/// Returns the codes of the decisions on the pairs of a batch.
fn codes(filter: &Filter, batch: &PairBatch<'_>) -> Vec<Code> {
    let mut codes = Vec::new();
    filter.run_codes(batch, &mut Scratch::default(), &mut codes);
    codes
}

fn check(config: Config, read: &[u8], segment: &[u8]) -> Result<(), TestCaseError> {
    let expected = naive::decide(&config, read, segment);
    let reference = [b"ACGTN".repeat(7), segment.to_vec(), b"TTG".to_vec()].concat();
    let reference = PackedReference::new(&reference).unwrap();
    let mut batch = PairBatch::with_reference(&reference);
    batch.push(read, segment).unwrap();
    let own = batch.add(read).unwrap();
    batch.candidate(own, 35, segment.len());
    let filter = Filter::new(config).unwrap();
    prop_assert_eq!(codes(&filter, &batch), [expected, expected], "{:?}", config);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 3 / 2))]

    #[test]
    fn every_method_equals_its_plain_definition(
        (read, segment) in pairs(), e in 0u32..40, percent in any::<bool>(),
    ) {
        for method in METHODS {
            for n_mode in MODES {
                for align in [Align::Global, Align::SemiGlobal] {
                    let threshold = match percent {
                        true => Threshold::Percent(e as u8),
                        false => Threshold::Edits(e.min(32)),
                    };
                    check(Config { method, n_mode, align, ..Config::new(threshold) }, &read, &segment)?;
                }
            }
        }
    }

    /// Thresholds beyond 64 diagonals, and beyond the lengths.
    #[test]
    fn wide_bands_equal_the_plain_definition((read, segment) in pairs(), e in 40u32..400) {
        for align in [Align::Global, Align::SemiGlobal] {
            let config = Config { align, ..Config::new(Threshold::Edits(e)) };
            check(config, &read, &segment)?;
        }
    }

    /// No pair within the threshold is rejected, and SneakySnake's estimate never exceeds the distance.
    #[test]
    fn safe_methods_never_reject_a_true_pair((read, segment) in pairs(), e in 0u32..30) {
        let mut segment = segment;
        segment.resize(read.len(), b'C');
        for n_mode in [NMode::Mismatch, NMode::Match] {
            let equal = |a, b| naive::letters_match(n_mode, a, b);
            let distance = naive::distance(&read, &segment, Align::Global, equal) as u32;
            for e in [distance, distance + 1, distance + e] {
                for method in [Method::Exact, Method::GateKeeper, Method::Snake] {
                    let config = Config { method, n_mode, ..Config::new(Threshold::Edits(e)) };
                    let mut batch = PairBatch::new();
                    batch.push(&read, &segment).unwrap();
                    let decision = codes(&Filter::new(config).unwrap(), &batch)[0];
                    prop_assert_ne!(decision, REJECTED, "{:?}, distance {}", config, distance);
                    if method == Method::Snake {
                        prop_assert!(decision <= distance as i32);
                    }
                }
            }
        }
    }
}

/// Decides batches of mixed lengths and letters, which fill lanes of all widths, at every SIMD level.
fn mixed_batches_equal_the_plain_definition(lengths: std::ops::Range<usize>, e: Threshold) {
    batches_equal_the_plain_definition(lengths, 0..1, Config::new(e));
}

/// Decides batches whose segments also begin and end with `spare` random bases.
fn batches_equal_the_plain_definition(
    lengths: std::ops::Range<usize>,
    spare: std::ops::Range<usize>,
    config: Config,
) {
    let mut numbers = Random(7);
    let mut random = |below: usize| numbers.below(below);
    let (mut batch, mut texts) = (PairBatch::new(), Vec::new());
    // With `PROPTEST_CASES`, there are fewer pairs.
    for i in 0..700.min(3 * ProptestConfig::default().cases) {
        let len = lengths.start + random(lengths.len());
        let read: Vec<u8> = (0..len).map(|_| b"ACGT"[random(4)]).collect();
        let mut segment = read.clone();
        for _ in 0..random(20) {
            let at = random(segment.len() + 1);
            match random(4) {
                0 => segment.insert(at, b"ACGT"[random(4)]),
                1 if at < segment.len() => drop(segment.remove(at)),
                _ if at < segment.len() => {
                    segment[at] = b"ACGTN"[random(if i % 9 == 0 { 5 } else { 4 })]
                }
                _ => {}
            }
        }
        for at in [0, segment.len()] {
            let spare = spare.start + random(spare.len());
            segment.splice(at..at, (0..spare).map(|_| b"ACGT"[random(4)]));
        }
        batch.push(&read, &segment).unwrap();
        texts.push((read, segment));
    }
    let expected: Vec<Code> =
        texts.iter().map(|(read, segment)| naive::decide(&config, read, segment)).collect();
    for level in Level::available() {
        let filter = Filter { config, level };
        assert!(codes(&filter, &batch) == expected, "{config:?} {level:?}");
    }
}

#[test]
fn lanes_equal_the_plain_definition() {
    for e in [0, 1, 5, 7, 8, 15, 16, 31, 32, 63, 64] {
        mixed_batches_equal_the_plain_definition(0..300, Threshold::Edits(e));
        mixed_batches_equal_the_plain_definition(100..101, Threshold::Edits(e));
    }
    mixed_batches_equal_the_plain_definition(0..400, Threshold::Percent(8));
    mixed_batches_equal_the_plain_definition(900..1001, Threshold::Percent(5));
}

#[test]
fn semi_global_lanes_equal_the_plain_definition() {
    let of = |e| Config { align: Align::SemiGlobal, ..Config::new(e) };
    for e in [0, 1, 5, 8, 31, 64, 300] {
        let config = of(Threshold::Edits(e));
        batches_equal_the_plain_definition(0..200, 0..40, config);
        batches_equal_the_plain_definition(100..101, 15..16, config);
        batches_equal_the_plain_definition(1..20, 0..3, config);
    }
    // Segments that are shorter than their reads, and much longer ones.
    batches_equal_the_plain_definition(60..90, 0..1, of(Threshold::Edits(6)));
    batches_equal_the_plain_definition(20..50, 0..200, of(Threshold::Edits(4)));
    batches_equal_the_plain_definition(0..300, 0..30, of(Threshold::Percent(8)));
    batches_equal_the_plain_definition(300..400, 0..30, of(Threshold::Percent(5)));
}

#[test]
fn long_sequences_are_served() {
    let read: Vec<u8> = (0..20_000u32).map(|i| b"ACGT"[(i * i / 7 % 4) as usize]).collect();
    let mut segment = read.clone();
    segment.remove(5_000);
    segment[11_111] = if segment[11_111] == b'A' { b'C' } else { b'A' };
    let mut batch = PairBatch::new();
    batch.push(&read, &segment).unwrap();
    for (e, expected) in [(1, REJECTED), (2, 2), (500, 2)] {
        let filter = Filter::new(Config::new(Threshold::Edits(e))).unwrap();
        assert_eq!(codes(&filter, &batch), [expected]);
    }
}
