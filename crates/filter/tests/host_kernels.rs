//! Comparison of the kernels, compiled for the host, with the literal definitions. Needs neither a GPU nor
//! nvcc.

#[allow(dead_code, unreachable_pub, reason = "other tests use it, too")]
#[path = "../src/naive.rs"]
mod naive;

use merganser_filter::{Align, Code, Config, Method, NMode, REJECTED, Threshold, UNDEFINED};
use merganser_filter_host_kernels::{Kernel, Planes, decide, kernels};
use merganser_seq::planes::encode;
use merganser_seq::simd::Level;
use proptest::prelude::*;

/// A read, and a segment made from it by edits, between two other stretches of a reference.
#[derive(Clone, Debug)]
struct Case {
    read: Vec<u8>,
    reference: Vec<u8>,
    segment: [usize; 2],
}

fn cases(letters: &'static [u8], equal: bool) -> impl Strategy<Value = Case> {
    let sequence =
        |most| proptest::collection::vec(proptest::sample::select(letters.to_vec()), 0..most);
    let edits = proptest::collection::vec((0usize..30, 0u8..3, 0usize..4), 0..25);
    (sequence(300), edits, sequence(90), sequence(40)).prop_map(
        move |(read, edits, before, after)| {
            let mut segment = read.clone();
            let mut at = 0;
            for (step, kind, letter) in edits {
                at = (at + step).min(segment.len());
                match kind {
                    0 => segment.insert(at, b"ACGT"[letter]),
                    1 if at < segment.len() => segment[at] = b"ACGT"[letter],
                    2 if at < segment.len() => drop(segment.remove(at)),
                    _ => {}
                }
            }
            if equal {
                segment.resize(read.len(), b'C');
            }
            let place = [before.len(), segment.len()];
            Case { read, reference: [before, segment, after].concat(), segment: place }
        },
    )
}

/// Compares the decision of a kernel with that of the literal definition.
fn check(kernel: Kernel, case: &Case, config: Config) -> Result<(), TestCaseError> {
    let planes = |letters: &[u8]| {
        let mut words = Vec::new();
        encode(Level::best(), letters, &mut words);
        words
    };
    let [at, len] = case.segment;
    let segment = &case.reference[at..at + len];
    let (read, reference) = (planes(&case.read), planes(&case.reference));
    let read = Planes { words: &read, len: case.read.len() };
    let reference = Planes { words: &reference, len: case.reference.len() };
    let Threshold::Edits(e) = config.threshold else { unreachable!("these tests give edits") };
    let (matched, global) = (config.n_mode == NMode::Match, config.align == Align::Global);
    let edits = decide(kernel, read, reference, [at, len], e, matched, global);
    let expected = match naive::decide(&config, &case.read, segment) {
        edits @ 0.. => Some(edits as u32),
        _ => None,
    };
    prop_assert_eq!(edits, expected, "{:?} {:?}", kernel, config);
    Ok(())
}

const BASES: &[u8] = b"ACGT";
const REPEATS: &[u8] = b"AAAAAAC";
const MIXED: &[u8] = b"ACGTACGTACGTACGTACGTACGTNRa";

fn config(method: Method, e: u32, n_mode: NMode, align: Align) -> Config {
    Config { method, n_mode, align, ..Config::new(Threshold::Edits(e)) }
}

/// Returns the number of bits that the band of a narrow kernel needs on its wider side.
fn half(case: &Case, e: u32) -> u32 {
    let apart = case.read.len().abs_diff(case.segment[1]) as u32;
    let e = e.min(case.read.len().max(case.segment[1]) as u32);
    if apart > e { 0 } else { apart + (e - apart) / 2 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn narrow_bands(
        case in prop_oneof![cases(BASES, false), cases(REPEATS, false), cases(BASES, true)], e in 0u32..70,
    ) {
        let config = config(Method::Exact, e, NMode::Mismatch, Align::Global);
        if half(&case, e) < 16 {
            check(Kernel::Narrow32, &case, config)?;
        }
        if half(&case, e) < 32 {
            check(Kernel::Narrow64, &case, config)?;
        }
    }

    #[test]
    fn narrow_bands_with_other_letters(case in cases(MIXED, false), e in 0u32..70) {
        for mode in [NMode::Mismatch, NMode::Match] {
            let config = config(Method::Exact, e, mode, Align::Global);
            if half(&case, e) < 16 {
                check(Kernel::Narrow32Others, &case, config)?;
            }
            if half(&case, e) < 32 {
                check(Kernel::Narrow64Others, &case, config)?;
            }
        }
    }

    #[test]
    fn narrow_semi_global_bands(
        case in prop_oneof![cases(BASES, false), cases(REPEATS, false)],
        spare in (0usize..40, 0usize..40), e in 0u32..64,
    ) {
        let mut case = case;
        let [at, len] = case.segment;
        let before = spare.0.min(at);
        let after = spare.1.min(case.reference.len() - at - len);
        case.segment = [at - before, before + len + after];
        let config = config(Method::Exact, e, NMode::Mismatch, Align::SemiGlobal);
        let (read, segment) = (case.read.len(), case.segment[1]);
        let e = (e as usize).min(read);
        let width = e + (segment + e).saturating_sub(read).min(segment) + 1;
        if read > 0 && width <= 32 {
            check(Kernel::SemiGlobal32, &case, config)?;
        }
        if read > 0 && width <= 64 {
            check(Kernel::SemiGlobal64, &case, config)?;
        }
    }

    #[test]
    fn wide_bands_and_rows(
        case in prop_oneof![cases(BASES, false), cases(MIXED, false)], e in 0u32..260,
    ) {
        let (read, segment) = (case.read.len(), case.segment[1]);
        for mode in [NMode::Mismatch, NMode::Match] {
            for align in [Align::Global, Align::SemiGlobal] {
                let config = config(Method::Exact, e, mode, align);
                let width = match align {
                    Align::Global => (e as usize).min(read.max(segment)) + 1,
                    Align::SemiGlobal => (segment + 2 * (e as usize).min(read)).saturating_sub(read) + 1,
                };
                let banded = [Kernel::Banded1, Kernel::Banded2, Kernel::Banded4, Kernel::Banded8];
                let rows = [Kernel::Rows1, Kernel::Rows2, Kernel::Rows4, Kernel::Rows8];
                for (i, (banded, rows)) in banded.into_iter().zip(rows).enumerate() {
                    if width <= 64 << i {
                        check(banded, &case, config)?;
                    }
                    if read <= 64 << i {
                        check(rows, &case, config)?;
                    }
                }
            }
        }
    }

    #[test]
    fn heuristics(
        case in prop_oneof![cases(BASES, true), cases(REPEATS, true)], e in 0u32..80,
    ) {
        let of = |method, e| config(method, e, NMode::Mismatch, Align::Global);
        check(Kernel::GateKeeper, &case, of(Method::GateKeeper, e))?;
        check(Kernel::Snake, &case, of(Method::Snake, e))?;
        if case.read.len() >= 17 {
            check(Kernel::Published, &case, of(Method::GateKeeperOriginal, e % 33))?;
        }
    }

    #[test]
    fn heuristics_with_other_letters(case in cases(MIXED, true), e in 0u32..80) {
        for mode in [NMode::Mismatch, NMode::Match] {
            let of = |method| config(method, e, mode, Align::Global);
            check(Kernel::GateKeeperOthers, &case, of(Method::GateKeeper))?;
            check(Kernel::SnakeOthers, &case, of(Method::Snake))?;
        }
    }
}

#[test]
fn the_kernels_are_those_of_the_cpp() {
    assert_eq!(kernels(), Kernel::Published as u32 + 1);
}
