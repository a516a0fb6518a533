use super::*;
use crate::{PackedReference, Threshold, naive};
use proptest::prelude::*;

const METHODS: [Method; 4] =
    [Method::Exact, Method::GateKeeper, Method::Snake, Method::GateKeeperOriginal];
const MODES: [NMode; 3] = [NMode::Mismatch, NMode::Match, NMode::Pass];

/// A pair of a read and its segment after some edits, a few bases apart; then cut to equal lengths
/// or not.
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

fn check(config: Config, read: &[u8], segment: &[u8]) -> Result<(), TestCaseError> {
    let expected = naive::decide(&config, read, segment);
    let reference = [b"ACGTN".repeat(7), segment.to_vec(), b"TTG".to_vec()].concat();
    let reference = PackedReference::new(&reference).unwrap();
    let mut batch = PairBatch::with_reference(&reference);
    batch.push(read, segment).unwrap();
    let own = batch.add(read).unwrap();
    batch.candidate(own, 35, segment.len());
    let filter = Filter::new(config).unwrap();
    prop_assert_eq!(filter.run(&batch), [expected, expected], "{:?}", config);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

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
                    check(Config { threshold, method, n_mode, align }, &read, &segment)?;
                }
            }
        }
    }

    /// Thresholds beyond a word of diagonals, and beyond the lengths.
    #[test]
    fn wide_bands_equal_the_plain_definition((read, segment) in pairs(), e in 40u32..400) {
        for align in [Align::Global, Align::SemiGlobal] {
            let config = Config { align, ..Config::new(Threshold::Edits(e)) };
            check(config, &read, &segment)?;
        }
    }

    /// No pair within the threshold is rejected, and no estimate is larger than the distance.
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
                    let decision = Filter::new(config).unwrap().run(&batch)[0];
                    prop_assert_ne!(decision, REJECTED, "{:?}, distance {}", config, distance);
                    if method == Method::Snake {
                        prop_assert!(decision <= distance as i32);
                    }
                }
            }
        }
    }
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
        assert_eq!(filter.run(&batch), [expected]);
    }
}
