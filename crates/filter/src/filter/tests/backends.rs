//! One table of cases for every backend: the CPU at every SIMD level and the GPU, real or emulated, must decide
//! as the literal definitions do. Without a GPU, its part is skipped with a message; `MERGANSER_REQUIRE_GPU=1`
//! makes that a failure.

use super::{METHODS, MODES};
use crate::naive;
use crate::{
    Align, Code, Config, Filter, GpuFilter, GpuReference, PackedReference, PairBatch, Scratch,
    Threshold,
};
use merganser_gpu::Device;
use merganser_seq::simd::Level;
use merganser_test_random::Random;

/// Pairs as letters.
type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// A generator of pairs.
trait Simulate {
    fn below(&mut self, bound: usize) -> usize;

    fn letters(&mut self, alphabet: &[u8], len: usize) -> Vec<u8> {
        (0..len).map(|_| alphabet[self.below(alphabet.len())]).collect()
    }

    /// Returns pairs whose segments have up to `spare` additional bases on either side.
    fn within(&mut self, count: usize, lens: [usize; 2], spare: usize) -> Pairs {
        let mut pairs = self.pairs(count, b"ACGT", lens, lens[0] == lens[1]);
        for (i, (_, segment)) in pairs.iter_mut().enumerate() {
            let before = if lens[0] == lens[1] { i % (spare + 1) } else { self.below(spare + 1) };
            let after = if lens[0] == lens[1] { spare - before } else { self.below(spare + 1) };
            segment.splice(..0, self.letters(b"ACGT", before));
            segment.extend(self.letters(b"ACGT", after));
        }
        pairs
    }

    /// Returns a segment made from a read by up to `most` edits, which are sometimes crowded.
    fn edited(&mut self, read: &[u8], most: usize, equal: bool) -> Vec<u8> {
        let mut segment = read.to_vec();
        let crowded = self.below(3) == 0;
        let mut at = self.below(segment.len() + 1);
        for _ in 0..self.below(most + 1) {
            at = if crowded {
                (at + self.below(4)).min(segment.len())
            } else {
                self.below(segment.len() + 1)
            };
            let letter = b"ACGT"[self.below(4)];
            match self.below(4) {
                0 => segment.insert(at, letter),
                1 if at < segment.len() => drop(segment.remove(at)),
                _ if at < segment.len() => segment[at] = letter,
                _ => {}
            }
        }
        if equal {
            segment.resize(read.len(), b'T');
        }
        segment
    }

    fn pairs(&mut self, count: usize, alphabet: &[u8], lens: [usize; 2], equal: bool) -> Pairs {
        (0..count)
            .map(|_| {
                let len = lens[0] + self.below(lens[1] - lens[0] + 1);
                let read = self.letters(alphabet, len);
                let segment = self.edited(&read, 4 + len / 5, equal);
                (read, segment)
            })
            .collect()
    }
}

impl Simulate for Random {
    fn below(&mut self, bound: usize) -> usize {
        Random::below(self, bound)
    }
}

/// Returns the cases: name, pairs, thresholds.
fn table() -> Vec<(&'static str, Pairs, Vec<Threshold>)> {
    let mut random = Random(1);
    let edits = |all: &[u32]| all.iter().map(|&e| Threshold::Edits(e)).collect::<Vec<_>>();
    let with_n: &[u8] = b"ACGTACGTACGTACGTACGTACGTACGTACGTN";
    let mut uniform_then_others = random.pairs(70, b"ACGT", [100, 100], true);
    uniform_then_others.extend(random.pairs(70, with_n, [90, 110], false));
    vec![
        ("of 100", random.pairs(160, b"ACGT", [100, 100], true), edits(&[0, 2, 5, 10, 31])),
        ("of 250", random.pairs(40, b"ACGT", [250, 250], true), edits(&[6, 25, 32])),
        ("mixed", random.pairs(70, b"ACGT", [0, 300], false), edits(&[0, 5, 17, 40, 100, 300])),
        ("with N", random.pairs(100, with_n, [0, 200], false), edits(&[1, 8, 33])),
        ("equal, with N", random.pairs(100, with_n, [17, 200], true), edits(&[3, 12])),
        ("repeats", random.pairs(100, b"AAAAAAC", [1, 140], true), edits(&[2, 9])),
        ("uniform, then not", uniform_then_others, edits(&[4])),
        (
            "percent",
            random.pairs(100, b"ACGT", [60, 140], true),
            vec![Threshold::Percent(0), Threshold::Percent(4), Threshold::Percent(10)],
        ),
        ("long", random.pairs(2, b"ACGT", [1500, 2500], false), edits(&[20, 400, 700])),
        ("100 within 130", random.within(100, [100, 100], 30), edits(&[0, 5, 16, 17, 50])),
        ("within segments", random.within(70, [0, 250], 120), edits(&[2, 9, 30, 250])),
        ("nothing", Vec::new(), edits(&[3])),
    ]
}

fn gpu() -> Option<Device> {
    match Device::open(0) {
        Ok(device) => Some(device),
        Err(error) => {
            assert!(std::env::var_os("MERGANSER_REQUIRE_GPU").is_none(), "{error}");
            eprintln!("skipped on the GPU: {error}");
            None
        }
    }
}

/// Returns the same pairs as two batches: as pairs of letters, and as reads with stretches of a reference.
fn batches<'r>(
    pairs: &Pairs,
    reference: &'r PackedReference,
    places: &[usize],
) -> [PairBatch<'r>; 2] {
    let (mut texts, mut placed) = (PairBatch::new(), PairBatch::with_reference(reference));
    for ((read, segment), &at) in pairs.iter().zip(places) {
        texts.push(read, segment).unwrap();
        let read = placed.add(read).unwrap();
        placed.candidate(read, at, segment.len());
    }
    [texts, placed]
}

fn check(name: &str, pairs: &Pairs, config: Config, device: Option<&Device>) {
    let expected: Vec<Code> =
        pairs.iter().map(|(read, segment)| naive::decide(&config, read, segment)).collect();
    let (mut text, mut places) = (b"ACGTN".repeat(3), Vec::new());
    for (_, segment) in pairs {
        places.push(text.len());
        text.extend_from_slice(segment);
        text.extend_from_slice(b"GAT");
    }
    let reference = PackedReference::new(&text).unwrap();
    let batches = batches(pairs, &reference, &places);
    let mut instead = None;
    for level in Level::available() {
        let filter = Filter { config, level };
        for batch in &batches {
            let (mut scratch, mut decisions) = (Scratch::default(), Vec::new());
            filter.run_codes(batch, &mut scratch, &mut decisions);
            assert!(decisions == expected, "{name} on the CPU, {level:?}, {config:?}");
            instead = Some(scratch.exact_instead());
        }
    }
    let Some(device) = device else { return };
    let filter = Filter::new(config).unwrap();
    let reference = GpuReference::new(device, &reference).unwrap();
    let mut on_gpu = GpuFilter::new(&filter, device, Some(&reference)).unwrap();
    let mut decisions = Vec::new();
    for (i, batch) in batches.iter().enumerate() {
        on_gpu.run(batch, &mut decisions).unwrap();
        let differs = decisions.iter().zip(&expected).position(|(a, b)| a != b);
        assert!(
            decisions == expected,
            "{name} on the GPU, batch {i}, {config:?}: pair {differs:?}"
        );
        assert_eq!(Some(on_gpu.exact_instead()), instead.map(|n| n * (i as u64 + 1)), "{name}");
    }
    // Both batches, decided together.
    for batch in &batches {
        on_gpu.add(batch).unwrap();
    }
    on_gpu.launch().unwrap();
    on_gpu.collect(&mut decisions).unwrap();
    assert!(decisions == expected.repeat(2), "{name} on the GPU, both, {config:?}");
}

#[test]
fn every_backend_decides_as_the_plain_definitions() {
    let device = gpu();
    for (name, pairs, thresholds) in table() {
        for threshold in thresholds {
            for method in METHODS {
                for n_mode in MODES {
                    for align in [Align::Global, Align::SemiGlobal] {
                        let config = Config { method, n_mode, align, ..Config::new(threshold) };
                        // The literal definitions are slow for long sequences.
                        let long = name == "long" && (method, n_mode) != (METHODS[0], MODES[0]);
                        if config.validate().is_ok() && !long {
                            check(name, &pairs, config, device.as_ref());
                        }
                    }
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "not on the device")]
fn a_batch_of_another_reference_is_refused() {
    let reference = PackedReference::new(b"ACGT").unwrap();
    let Some(device) = gpu() else { panic!("not on the device: no GPU") };
    let filter = Filter::new(Config::new(Threshold::Edits(1))).unwrap();
    let mut on_gpu = GpuFilter::new(&filter, &device, None).unwrap();
    let _ = on_gpu.run(&PairBatch::with_reference(&reference), &mut Vec::new());
}
