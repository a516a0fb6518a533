//! Whole runs on devices, real or emulated, compared with runs on the CPU.

use merganser_gpu::{Availability, availability};
use merganser_io::Output;
use merganser_run::{Context, DeviceChoice};
use merganser_test_random::Random;
use proptest::prelude::*;

use super::{case, fasta, pattern};
use crate::{Config, Error, Format, Outcome, Pattern, Seed, Strand, Threshold, Writer, run_with};

/// Whether there is a device to test.
fn has_device() -> bool {
    let is_ready = matches!(availability(), Availability::Ready(_));
    let reason = || availability().reason();
    assert!(is_ready || std::env::var_os("MERGANSER_REQUIRE_GPU").is_none(), "{}", reason());
    is_ready
}

/// Returns the output of a run, and its results.
fn run_on(
    config: &Config,
    patterns: &[Pattern],
    text: &str,
    (device, threads): (DeviceChoice, usize),
) -> Result<(String, Outcome), Error> {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("texts"), folder.path().join("hits.tsv"));
    std::fs::write(&input, text).unwrap();
    let writer = Writer::new(Format::Tsv, Output::create(&output)?);
    let mut context = Context::new().device(device);
    context.threads = threads;
    let outcome = run_with(config, patterns, &[input.into()], writer, &context)?;
    Ok((std::fs::read_to_string(output).unwrap(), outcome))
}

/// Checks that runs on devices write what the CPU writes; returns it, and the letters that one device searched of how
/// many.
fn check(config: &Config, patterns: &[Pattern], text: &str) -> (String, [u64; 2]) {
    let (expected, by_cpu) = run_on(config, patterns, text, (DeviceChoice::Cpu, 1)).unwrap();
    assert_eq!((by_cpu.devices.len(), by_cpu.gpu_letters), (0, 0));
    let mut letters = Vec::new();
    for (devices, threads) in [(vec![0, 0], 3), (vec![0], 1)] {
        let count = devices.len();
        let device = (DeviceChoice::Cuda(devices), threads);
        let (found, outcome) = run_on(config, patterns, text, device).unwrap();
        assert_eq!((&found, outcome.devices.len()), (&expected, count), "{config:?}");
        assert_eq!((outcome.letters, outcome.hits), (by_cpu.letters, by_cpu.hits.clone()));
        letters.push(outcome.gpu_letters);
    }
    (expected, [letters[1], by_cpu.letters])
}

/// Returns reads with parts of texts.
fn reads(texts: &[Vec<u8>], seed: u64) -> String {
    let mut random = Random(seed);
    let read = |number: usize| {
        let text = &texts[random.below(texts.len())];
        let (start, length) = (random.below(text.len() - 90), random.below(90));
        let letters = random.mutated(&text[start..start + length], 15);
        let qualities = "I".repeat(letters.len());
        format!("@r{number}\n{}\n+\n{qualities}\n", String::from_utf8_lossy(&letters))
    };
    (0..60).map(read).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn devices_write_what_the_cpu_writes(
        seed: u64, e in 0u32..6, ambiguous: bool, n_matches: bool, hamming: bool, all_ends: bool, strand in 0usize..3,
    ) {
        if !has_device() {
            return Ok(());
        }
        let (texts, patterns) = case(seed, ambiguous);
        let strand = [Strand::Both, Strand::Forward, Strand::Reverse][strand];
        let base = Config::new(Threshold::Edits(e));
        let config = Config { n_matches, hamming, all_ends, strand, ..base };
        check(&config, &patterns, &fasta(&texts));
        check(&config, &patterns, &reads(&texts, seed));
    }

    #[test]
    fn devices_find_guides_next_to_their_pam(
        seed: u64, e in 0u32..5, ambiguous: bool, n_matches: bool, hamming: bool, pam_first: bool, strand in 0usize..3,
        limit in proptest::option::of((1usize..30, 0usize..3)),
    ) {
        if !has_device() {
            return Ok(());
        }
        let (texts, patterns) = case(seed, ambiguous);
        let config = Config {
            n_matches,
            hamming,
            strand: [Strand::Both, Strand::Forward, Strand::Reverse][strand],
            pam: Some(if pam_first { "TTV" } else { "NG" }.parse().unwrap()),
            pam_first,
            seed: limit.map(|(letters, edits)| Seed { letters, edits }),
            ..Config::new(Threshold::Edits(e))
        };
        check(&config, &patterns, &fasta(&texts));
        check(&config, &patterns, &reads(&texts, seed));
    }
}

/// Groups with more ends than there is memory for are left to the worker.
#[test]
fn devices_leave_texts_with_too_many_ends_to_the_cpu() {
    if !has_device() {
        return;
    }
    let text = ">a\n".to_owned() + &"ACGTTGCA".repeat(600) + "\n>b\nACGTACGT\n";
    let patterns = [pattern(0, b"NNNNNN"), pattern(1, b"RYNNNN"), pattern(2, b"ACGTTG")];
    let config = Config { all_ends: true, ..Config::new(Threshold::Edits(1)) };
    let (found, [by_device, letters]) = check(&config, &patterns, &text);
    assert!(found.lines().count() > 9000 && by_device < letters, "{by_device}");
    let (_, [by_device, letters]) = check(&config, &patterns[2..], &text);
    assert_eq!(by_device, letters);
    check(&Config { all_ends: false, ..config }, &patterns, &text);
}

#[test]
fn overhangs_are_refused_on_devices() {
    let config = Config { overhang: Some(0.5), ..Config::new(Threshold::Edits(1)) };
    let patterns = [pattern(0, b"ACGTTG")];
    let run = |device| run_on(&config, &patterns, ">a\nACGTTG\n", (device, 1));
    let error = run(DeviceChoice::AllCuda).unwrap_err().to_string();
    assert_eq!(error, "`overhang` cannot be used on a GPU: use `device` cpu or auto");
    assert_eq!(run(DeviceChoice::Auto).unwrap().0, run(DeviceChoice::Cpu).unwrap().0);
}
