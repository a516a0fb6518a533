//! Golden vectors of the sketches of both presets, computed independently (with Python's integers) from the
//! description in docs/methods/classification.md.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test ends by panicking")]

#[allow(dead_code, unreachable_pub, reason = "other tests use it, too")]
#[path = "../src/naive.rs"]
mod naive;

use merganser_classify::{Candidate, Params, Preset, QueryParams, Sketcher};

/// Returns 1,000 bases from Knuth's linear congruential generator with seed 2026: the upper two bits of each state.
/// Base 500 is an N.
fn sequence() -> Vec<u8> {
    let mut state: u64 = 2026;
    let mut letters: Vec<u8> = (0..1000)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005);
            state = state.wrapping_add(1_442_695_040_888_963_407);
            b"ACGT"[(state >> 62) as usize]
        })
        .collect();
    letters[500] = b'N';
    letters
}

struct Golden {
    preset: Preset,
    /// The number of features of each window.
    counts: &'static [usize],
    /// The sum of the features of each window.
    sums: &'static [u64],
    /// The three smallest features of the first window.
    first: [u64; 3],
}

const GOLDEN: [Golden; 2] = [
    Golden {
        preset: Preset::MetaCache,
        counts: &[16; 9],
        sums: &[
            148_613_328_048_128,
            157_848_043_720_704,
            115_115_225_763_840,
            139_133_307_736_064,
            139_633_074_040_832,
            169_151_499_313_152,
            116_212_906_381_312,
            138_931_457_949_696,
            148_668_117_405_696,
        ],
        first: [74_773_483_520, 376_667_631_616, 1_915_102_208_000],
    },
    Golden {
        preset: Preset::Sensitive,
        counts: &[102, 88, 99, 66],
        sums: &[859_288_172_679_910, 758_554_849_710_398, 904_311_424_618_379, 582_537_925_082_913],
        first: [420_567_844_479, 705_807_688_704, 969_975_976_195],
    },
];

#[test]
fn sketches_of_both_presets() {
    let letters = sequence();
    for golden in GOLDEN {
        let params = golden.preset.params();
        let mut sketcher = Sketcher::new(&params);
        sketcher.load(&letters);
        let windows = params.windows(letters.len() as u64) as usize;
        let fast: Vec<Vec<u64>> = (0..windows)
            .map(|number| {
                let start = number * params.stride as usize;
                let mut features = Vec::new();
                sketcher.sketch(start, start + params.window as usize, &mut features);
                features.sort_unstable();
                features
            })
            .collect();
        for sketches in [fast, naive::sketches(&letters, &params)] {
            let counts: Vec<usize> = sketches.iter().map(Vec::len).collect();
            let sums: Vec<u64> = sketches.iter().map(|sketch| sketch.iter().sum()).collect();
            assert_eq!((&counts[..], &sums[..]), (golden.counts, golden.sums));
            assert_eq!(sketches[0][..3], golden.first);
        }
    }
}
