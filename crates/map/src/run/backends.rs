//! Comparison of both backends on one batch: hits, counters and alignments must be the same. Without a GPU,
//! real or emulated, these tests pass without comparing; `MERGANSER_REQUIRE_GPU=1` makes that a failure.

use proptest::prelude::*;

use super::build_of;
use super::gpus::WithGpus;
use crate::cpu::tests::{Simulate, config_of};
use crate::cpu::{Mapper, prefilter};
use crate::cuda::{Gpus, Sizes};
use crate::effort::Effort;
use crate::hits::{Hit, NO_SCRIPT};
use crate::reference::Reference;
use crate::trace::Alignment;
use crate::{Config, Index, NMode, Operation, Prefilter};
use merganser_filter::Threshold;
use merganser_gpu::Device;
use merganser_run::{Cancel, Context};
use merganser_test_random::Random;

/// Whether a device can be used. Panics if not and `MERGANSER_REQUIRE_GPU` is set.
fn usable() -> bool {
    let opened = Device::open(0).is_ok();
    assert!(opened || std::env::var_os("MERGANSER_REQUIRE_GPU").is_none(), "no GPU");
    opened
}

fn index(contigs: &[Vec<u8>], device: Option<u32>, gpu_memory: Option<u64>) -> Index {
    let mut context = Context::new().threads(1).memory(1 << 30);
    context.gpu_memory = gpu_memory;
    let reference = Reference::of(contigs);
    build_of(reference, &context, device, None).unwrap().0
}

/// Returns the counters that must be the same on both backends.
fn counters(effort: &Effort) -> [u64; 4] {
    [effort.candidates, effort.rejected, effort.verified, effort.scanned]
}

/// Maps reads on the host and on the device with room for `sizes` candidates and ends, then the first few of
/// them again in the same buffers: hits, counters and alignments must be the same. Returns the result of
/// [`compare_batch`] for all reads.
fn compare_all(
    config: &Config,
    contigs: &[Vec<u8>],
    reads: &[Vec<u8>],
    sizes: [usize; 2],
    unit: usize,
) -> [u64; 2] {
    let index = index(contigs, None, None);
    let view = index.view();
    let gaps = view.gaps(config.n_mode);
    let sizes = Sizes { keys: sizes[0], ends: sizes[1] };
    let gpus = Gpus::of_size(&view, &gaps, config, sizes).unwrap();
    let ruled = matches!(config.filter, Prefilter::GateKeeper | Prefilter::Snake);
    let packed = (ruled && !config.hamming).then(|| prefilter::pack(&view.text).unwrap());
    let cancel = Cancel::default();
    let batch = |reads: &[Vec<u8>]| {
        let mapper = || {
            let mut mapper = Mapper::new(view, config, &gaps, packed.as_ref(), &cancel);
            mapper.clear(unit);
            for read in reads {
                mapper.queries.push(read, config.threshold.edits(read.len())).unwrap();
            }
            mapper
        };
        compare_batch(&gpus, [mapper(), mapper()], reads.len(), unit)
    };
    let taken = batch(reads);
    batch(&reads[..unit.min(reads.len())]);
    taken
}

/// Does the same as [`compare_all`]; returns the number of reads that the device mapped.
fn compare(
    config: &Config,
    contigs: &[Vec<u8>],
    reads: &[Vec<u8>],
    sizes: [usize; 2],
    unit: usize,
) -> u64 {
    compare_all(config, contigs, reads, sizes, unit)[0]
}

/// Compares a batch, given two mappers that hold it, for the host and for the device. Returns the number of
/// reads that the device mapped, and the number of alignments with gaps that it traced.
fn compare_batch(
    gpus: &Gpus,
    [mut here, mut there]: [Mapper<'_>; 2],
    reads: usize,
    unit: usize,
) -> [u64; 2] {
    let (view, config) = (here.view, here.config);
    let (mut expected, mut expected_bounds) = (Vec::new(), Vec::new());
    let (mut own, mut own_bounds) = (Vec::new(), Vec::new());
    for read in 0..reads {
        here.map_read(read, &mut own, &mut own_bounds).unwrap();
        expected.append(&mut own);
        expected_bounds.push(expected.len());
    }

    let mut on_gpu = WithGpus::new(gpus);
    on_gpu.begin(&mut there, Gpus::workspace, reads, unit).unwrap();
    let (mut found, mut found_bounds, mut next) = (Vec::new(), Vec::new(), 0);
    let (mut hits, mut bounds) = (Vec::new(), Vec::new());
    let [mut traced, mut followed] = [Alignment::default(), Alignment::default()];
    let mut gapped = 0;
    while let Some(part) = on_gpu.next(&mut there, &mut hits, &mut bounds).unwrap() {
        assert_eq!(part.start, next);
        assert!(part.len().is_multiple_of(unit));
        next = part.end;
        found_bounds.extend(bounds.iter().map(|bound| bound + found.len()));
        let mut from = 0;
        for (read, &to) in part.zip(&bounds) {
            for hit in hits[from..to].iter().filter(|hit| hit.script != NO_SCRIPT) {
                let query = there.queries.get(2 * read + usize::from(hit.reverse));
                let contig = &view.text.contigs[hit.contig as usize];
                traced.trace(&query, &view.text, contig, hit.end, hit.edits, config.n_mode);
                let script = &on_gpu.scripts()[hit.script as usize..][..hit.edits as usize];
                followed.follow(&query, &view.text, hit.end, script);
                let what =
                    |at: &Alignment| (at.start, at.end, at.operations.clone(), at.md.clone());
                assert_eq!(what(&followed), what(&traced));
                let is_gap =
                    |operation| matches!(operation, Operation::Insertion | Operation::Deletion);
                gapped += usize::from(traced.operations.iter().any(|&(of, _)| is_gap(of)));
            }
            from = to;
        }
        found.extend(hits.iter().map(|&hit| Hit { script: NO_SCRIPT, ..hit }));
    }
    assert_eq!((found_bounds, found), (expected_bounds, expected), "{config:?}");
    assert_eq!(counters(&there.effort), counters(&here.effort), "{config:?}");
    [there.effort.gpu_reads, gapped as u64]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn hits_are_those_of_the_host(seed in any::<u64>(), e in 0usize..10, room in 0usize..4) {
        if usable() {
            let mut random = Random(seed);
            let config = config_of(&mut random, e);
            let contigs = random.contigs();
            let reads = random.reads(&contigs, 160, e);
            // From far too little room to enough.
            let keys = [60, 400, 3000, 100_000][room];
            for filter in
                [Prefilter::Exact, Prefilter::GateKeeper, Prefilter::Snake, Prefilter::None]
            {
                compare(&Config { filter, ..config.clone() }, &contigs, &reads, [keys, keys / 2], 1 + seed as usize % 2);
            }
        }
    }

    #[test]
    fn long_reads_and_many_edits(seed in any::<u64>(), e in 0usize..60) {
        if usable() {
            let mut random = Random(seed);
            let contigs = vec![random.bases(2500), random.bases(700)];
            let reads = random.reads(&contigs, 1200, e);
            compare(&Config::new(Threshold::Edits(e as u32)), &contigs, &reads, [50_000; 2], 1);
        }
    }

    #[test]
    fn positions_are_sorted_as_the_host_sorts_them(seed in any::<u64>(), little in any::<bool>()) {
        if usable() {
            let mut random = Random(seed);
            let contigs = random.contigs();
            let expected = index(&contigs, None, None);
            let memory = little.then_some(400_000);
            let built = index(&contigs, Some(0), memory);
            prop_assert_eq!(built.view().positions, expected.view().positions);
            prop_assert_eq!(built.view().table(), expected.view().table());
        }
    }
}

#[test]
fn frequent_seeds_lose_nothing() {
    if !usable() {
        return;
    }
    // Every seed of the read occurs at nearly every position, in many slices.
    let mut contig = b"A".repeat(3000);
    contig[1500] = b'C';
    let read = [b"A".repeat(60), b"C".to_vec(), b"A".repeat(39)].concat();
    // Hits that may begin near each other would be searched by the host.
    let config = Config { echoes: true, ..Config::new(Threshold::Edits(4)) };
    let reads = [read, b"A".repeat(50)];
    // The last size has too little room for the ends of either read.
    for (keys, expected) in [(100_000, 2), (20_000, 2), (2000, 0)] {
        assert_eq!(
            compare(&config, std::slice::from_ref(&contig), &reads, [keys, keys], 1),
            expected
        );
    }
}

#[test]
fn many_candidates_are_taken_slice_by_slice() {
    if !usable() {
        return;
    }
    let mut random = Random(8);
    let words: Vec<Vec<u8>> = (0..5).map(|_| random.bases(20)).collect();
    let mut contig = Vec::new();
    for number in 0..3000 {
        contig.extend_from_slice(&words[random.below(5)]);
        contig.extend(random.bases(10));
        if number == 2000 {
            contig.extend(words.concat());
        }
    }
    let (config, reads) = (Config::new(Threshold::Edits(9)), [words.concat()]);
    for keys in [100_000, 2500, 900] {
        assert_eq!(compare(&config, std::slice::from_ref(&contig), &reads, [keys, keys / 2], 1), 1);
    }
}

#[test]
fn unknown_letters_that_match() {
    if !usable() {
        return;
    }
    let mut random = Random(3);
    let contig = [random.bases(400), b"N".repeat(40), random.bases(300)].concat();
    let reads = random.reads(std::slice::from_ref(&contig), 100, 3);
    for hamming in [false, true] {
        let config = Config { n_mode: NMode::Match, hamming, ..Config::new(Threshold::Edits(3)) };
        assert!(compare(&config, std::slice::from_ref(&contig), &reads, [50_000; 2], 1) > 0);
    }
}

/// Bands of one and of two words per row. Hits with more edits, or at a contig's end, are traced by the host.
#[test]
fn gaps_are_traced_on_the_device() {
    if !usable() {
        return;
    }
    let mut random = Random(5);
    let contig = random.bases(2000);
    let piece = |range: std::ops::Range<usize>| contig[range].to_vec();
    let reads = [
        // Three inserted bases; four deleted ones, and seven.
        [piece(100..180), b"GGG".to_vec(), piece(180..260)].concat(),
        [piece(500..590), piece(594..660)].concat(),
        [piece(700..790), piece(797..870)].concat(),
        // Twelve edits, and a hit at the beginning of the contig.
        [piece(900..990), piece(1002..1080)].concat(),
        [piece(0..80), b"GG".to_vec(), piece(80..160)].concat(),
    ];
    let config = Config::new(Threshold::Edits(12));
    let [taken, gapped] =
        compare_all(&config, std::slice::from_ref(&contig), &reads, [50_000; 2], 1);
    assert_eq!([taken, gapped], [5, 3]);
}
