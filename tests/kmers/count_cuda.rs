//! Counts on each real or emulated GPU have the same bytes as on the CPU. Skipped with a message without a GPU, or a
//! failure with `MERGANSER_REQUIRE_GPU=1`.

use merganser_test_support::gpus::usable;
use merganser_test_support::{Dir, MERGANSER, small_reads};

/// Asserts that a count has the same outputs on the CPU and with each of the device options.
fn same_on(dir: &Dir, options: &str, reads: &str, devices: &[&str]) {
    let count = |device: &str| {
        dir.run(&format!("count {options} {device} -o t.mgk --histogram hist {reads} -q")).ok();
        (dir.read("t.mgk"), dir.read("hist"))
    };
    let expected = count("--device cpu");
    for device in devices {
        assert!(count(device) == expected, "{options} {device}: outputs differ");
    }
}

#[test]
fn every_width_of_kmer_and_every_rule() {
    if !usable() {
        return;
    }
    let dir = Dir::new();
    let [one, _] = small_reads().map(|path| path.display().to_string());
    for k in [8, 11, 16, 17, 20, 21, 28, 32, 33, 55, 64, 65, 101, 128] {
        same_on(&dir, &format!("-k {k} --min-count 1"), &one, &["--device cuda:0"]);
    }
    for rule in ["gkc", "kmc2", "minimizer", "hash"] {
        let options = format!("-k 31 --signature {rule} --minimizer-len 7 --bins 37");
        same_on(&dir, &options, &one, &["--device cuda:0"]);
    }
    for options in ["--forward-only --min-count 1", "--min-qual 20 --max-count 5", "--max-count 2"]
    {
        same_on(&dir, &format!("-k 28 {options}"), &one, &["--device cuda:0"]);
    }
}

#[test]
fn every_list_of_devices_and_format() {
    if !usable() {
        return;
    }
    let dir = Dir::new();
    let [one, two] = small_reads().map(|path| path.display().to_string());
    let reads = format!("{one} {two}");
    let devices =
        ["--device cuda", "--device cuda:0", "--device cuda:0,0", "--device cuda:0 --threads 1"];
    same_on(&dir, "-k 31", &reads, &devices);
    for format in ["kmc", "tsv"] {
        for device in ["cpu", "cuda:0"] {
            dir.run(&format!("count -k 31 --device {device} --format {format} -o {device} {one}"))
                .ok();
        }
        let written =
            if format == "kmc" { ["cpu.kmc_suf", "cuda:0.kmc_suf"] } else { ["cpu", "cuda:0"] };
        assert!(dir.read(written[0]) == dir.read(written[1]), "{format}");
    }
}

/// Repeats, one dominant k-mer, other letters, short reads and empty inputs.
#[test]
fn hostile_reads() {
    if !usable() {
        return;
    }
    let dir = Dir::new();
    let (a, ac) = ("A".repeat(30_000), "AC".repeat(5_000));
    let gaps = "ACGTTGCANNACGTAGCTAGCTAGCATCGATCGATCAGCTACGATCGACTAGCATCNACGATCAGCTAGC".repeat(40);
    dir.write(
        "hard.fa",
        format!(">a\n{a}\n>b\n{ac}\n>c\n{gaps}\n>d\nACG\n>e\n\n>f\n{}\n", "N".repeat(9000)),
    );
    dir.write("empty.fa", "");
    for k in [14, 28, 50, 90] {
        same_on(&dir, &format!("-k {k} --min-count 1"), "hard.fa", &["--device cuda:0"]);
    }
    // One k-mer with more copies than fit on the device.
    dir.write("a.fa", format!(">a\n{}\n", "A".repeat(60_000)));
    same_on(&dir, "-k 28", "a.fa", &["--device cuda:0 --gpu-memory 48M --gpu-streams 1"]);
    same_on(&dir, "-k 28", "empty.fa", &["--device cuda:0"]);
}

/// Super-k-mers stay on the device or are moved to host memory or to disk.
#[test]
fn every_tier() {
    if !usable() {
        return;
    }
    let dir = Dir::new();
    let [one, two] = small_reads().map(|path| path.display().to_string());
    let reads = format!("{one} {two}");
    let limit =
        ["--device cuda:0 --gpu-memory 50M", "--device cuda:0,0 --gpu-memory 50M --storage disk"];
    same_on(&dir, "-k 55 --min-count 1", &reads, &limit);
}

#[test]
fn failures_are_one_line_and_leave_nothing() {
    if !usable() {
        return;
    }
    let dir = Dir::new();
    let [one, _] = small_reads().map(|path| path.display().to_string());
    let refused = |options: &str, says: &str, failing: &str| {
        let output = std::process::Command::new(MERGANSER)
            .current_dir(dir.root())
            .env("MERGANSER_TEST_FAIL_GPU_ALLOCATION", failing)
            .args(format!("count -k 28 -q {options} -o t.mgk").split_whitespace())
            .arg(&one)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(says) && text.lines().count() == 1, "{text}");
        assert!(dir.names().is_empty(), "{:?}", dir.names());
    };
    refused("--device cuda:7", "no device cuda:7", "0");
    refused("--device cuda:0 --gpu-memory 10M", "raise --gpu-memory", "0");
    for nth in ["1", "2", "5", "9", "14", "18"] {
        refused("--device cuda:0", "memory", nth);
    }
}
