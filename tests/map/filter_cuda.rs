//! `merganser filter` on each real or emulated GPU has the same bytes as on the CPU. Skipped with a message without
//! a GPU, or a failure with `MERGANSER_REQUIRE_GPU=1`.

use std::process::Output;

use merganser_test_support::reads::Random;
use merganser_test_support::{Dir, program, shared};

/// Runs the program; CPU workers take no batches unless `co_work`.
fn run(dir: &Dir, args: &str, co_work: bool, env: &[(&str, &str)]) -> Output {
    let mut command = program();
    command.current_dir(dir.root()).args(args.split_whitespace()).envs(env.iter().copied());
    if !co_work {
        command.env("MERGANSER_TEST_GPUS_ALONE", "1");
    }
    command.output().unwrap()
}

fn usable() -> bool {
    let dir = Dir::new();
    dir.write("p.tsv", "ACGT\tACGT\n");
    let tried = run(&dir, "filter -q -e 1 --format none --device cuda p.tsv", false, &[]);
    if !tried.status.success() {
        assert!(std::env::var_os("MERGANSER_REQUIRE_GPU").is_none(), "no GPU");
        let text = String::from_utf8_lossy(&tried.stderr).into_owned();
        assert!(
            text.starts_with("error: cannot use CUDA: ") && text.lines().count() == 1,
            "{text}"
        );
        eprintln!("skipped: this machine has no GPU");
    }
    tried.status.success()
}

/// Returns pairs, one per line: first of one length, then of many lengths and with other letters, then of one again.
fn pairs(each: usize) -> Vec<u8> {
    let mut random = Random(11);
    let mut text = Vec::new();
    for mixed in [false, true, false] {
        for _ in 0..each {
            let len = if mixed { random.below(260) } else { 100 };
            let read = random.bases(len);
            let mut segment = read.clone();
            for _ in 0..random.below(len / 6 + 2) {
                let at = random.below(segment.len() + 1);
                match random.below(5) {
                    0 if mixed => segment.insert(at, b'A'),
                    1 if mixed && at < segment.len() => drop(segment.remove(at)),
                    2 if mixed && at < segment.len() => segment[at] = b'N',
                    _ if at < segment.len() => segment[at] = b"ACGTu"[random.below(5)],
                    _ => {}
                }
            }
            if mixed && random.below(2) == 0 {
                segment.resize(len, b'C');
            }
            text.extend_from_slice(&[&read[..], b"\t", &segment, b"\n"].concat());
        }
    }
    text
}

/// Asserts that outputs are the same on the CPU and with each of the device options, and that GPUs did the work.
fn same_on(dir: &Dir, options: &str, input: &str, devices: &[&str]) {
    let decide = |device: &str, co_work: bool| {
        let output = if options.contains("none") { "" } else { "-o out" };
        let args = format!("filter -q {options} --device {device} {output} --json json {input}");
        let ran = run(dir, &args, co_work, &[]);
        assert!(ran.status.success(), "{args}: {}", String::from_utf8_lossy(&ran.stderr));
        let summary: serde_json::Value = serde_json::from_slice(&dir.read("json")).unwrap();
        let files = ["out", "out.filter", "out.edits"];
        let written: Vec<_> = files
            .iter()
            .filter(|name| dir.path(name).exists())
            .map(|name| {
                let bytes = dir.read(name);
                std::fs::remove_file(dir.path(name)).unwrap();
                bytes
            })
            .collect();
        let results = &summary["results"];
        let on_gpu = &results["gpu_pairs"];
        if device == "cpu" {
            assert_eq!(on_gpu, 0);
        } else if !co_work {
            assert_eq!(on_gpu, &results["pairs"], "{args}");
            assert!(!summary["machine"]["gpus"].as_array().unwrap().is_empty());
        }
        let numbers = [
            "pairs",
            "accepted",
            "undefined",
            "exact_instead",
            "within_threshold",
            "false_accepts",
            "false_rejects",
        ]
        .map(|key| results[key].clone());
        (written, numbers)
    };
    let expected = decide("cpu", true);
    for device in devices {
        for co_work in [false, true] {
            assert!(decide(device, co_work) == expected, "{options} {device}: outputs differ");
        }
    }
}

#[test]
fn every_method_mode_and_alignment() {
    if !usable() {
        return;
    }
    let dir = Dir::new();
    dir.write("p.tsv", pairs(300));
    for method in ["exact", "gatekeeper", "snake", "gatekeeper-original"] {
        for n_mode in ["mismatch", "match", "pass"] {
            for align in ["global", "semiglobal"] {
                let options = format!("-e 5 --method {method} --n-mode {n_mode} --align {align}");
                same_on(&dir, &options, "p.tsv", &["cuda:0"]);
            }
        }
        same_on(&dir, &format!("-e 7% --method {method} --verify"), "p.tsv", &["cuda:0"]);
    }
    for e in ["0", "31", "32", "64", "100", "300", "4000000000"] {
        same_on(&dir, &format!("-e {e}"), "p.tsv", &["cuda:0"]);
    }
}

#[test]
fn every_list_of_devices_format_and_source() {
    if !usable() {
        return;
    }
    let dir = Dir::new();
    let text = pairs(9000);
    dir.write("p.tsv", &text);
    let (mut reads, mut segments) = (Vec::new(), Vec::new());
    for line in text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let tab = line.iter().position(|&byte| byte == b'\t').unwrap();
        for (file, sequence) in [(&mut reads, &line[..tab]), (&mut segments, &line[tab + 1..])] {
            file.extend_from_slice(&[b">x\n", sequence, b"\n"].concat());
        }
    }
    dir.write("r.fa", reads);
    dir.write("s.fa", segments);
    let devices = ["cuda", "cuda:0", "cuda:0,0", "cuda:0 --threads 1", "cuda:0,0,0 --threads 3"];
    same_on(&dir, "-e 4", "p.tsv", &devices);
    // Many small blocks.
    same_on(&dir, "-e 4 --threads 3 --memory 40M", "p.tsv", &["cuda:0", "cuda:0,0"]);
    // Fewer streams than workers.
    same_on(&dir, "-e 4 --threads 3 --memory 40M --gpu-memory 400K", "p.tsv", &["cuda:0"]);
    same_on(&dir, "-e 4 --format gatekeeper", "p.tsv", &["cuda:0"]);
    same_on(&dir, "-e 4 --format none", "p.tsv", &["cuda:0"]);
    same_on(&dir, "-e 4 --method snake --verify", "r.fa s.fa", &["cuda:0"]);
    dir.write("nothing", "");
    same_on(&dir, "-e 4", "nothing", &["cuda:0"]);
}

/// Sequences that exceed the limits of the kernels are processed by the CPU.
#[test]
fn long_pairs_and_wide_bands() {
    if !usable() {
        return;
    }
    let dir = Dir::new();
    let mut random = Random(3);
    let mut text = Vec::new();
    for len in [1000, 1001, 5000, 40_000, 7] {
        let read = random.bases(len);
        let mut segment = read.clone();
        for _ in 0..len / 20 {
            let at = random.below(segment.len());
            segment[at] = b'A';
        }
        segment.remove(len / 2);
        text.extend_from_slice(&[&read[..], b"\t", &segment, b"\n"].concat());
    }
    dir.write("p.tsv", text);
    for options in ["-e 5%", "-e 20%", "-e 3 --align semiglobal", "-e 900 --align semiglobal"] {
        same_on(&dir, options, "p.tsv", &["cuda:0"]);
    }
}

#[test]
fn real_pairs() {
    if !usable() {
        return;
    }
    let dir = Dir::new();
    for (name, e) in [("ERR240727_1_E5_3000pairs", 5), ("real_human_150bp_chrX_repeats_20k", 9)] {
        let Some(pairs) = shared(&format!("pairs/{name}.tsv.gz")) else { return };
        for method in ["exact", "gatekeeper", "snake", "gatekeeper-original"] {
            let options = format!("-e {e} --method {method}");
            same_on(&dir, &options, &pairs.display().to_string(), &["cuda:0"]);
        }
    }
}

#[test]
fn failures_are_one_line_and_leave_nothing() {
    let refused = |input: &[u8], options: &str, says: &str, env: &[(&str, &str)]| {
        let dir = Dir::new();
        dir.write("p.tsv", input);
        let output = run(&dir, &format!("filter -q {options} -o out p.tsv"), false, env);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{options} {env:?}: {text}");
        assert!(text.contains(says) && text.lines().count() == 1, "{options} {env:?}: {text}");
        assert_eq!(dir.names(), ["p.tsv"]);
    };
    let switched_off = [("MERGANSER_DISABLE_CUDA", "1")];
    refused(b"A\tA\n", "-e 1 --device cuda", "cannot use CUDA: ", &switched_off);
    if !usable() {
        return;
    }
    let text = pairs(50);
    refused(&text, "-e 1 --device cuda:7", "no device cuda:7", &[]);
    refused(&text, "-e 1 --device cuda:0 --gpu-memory 10K", "raise --gpu-memory", &[]);
    for nth in ["1", "2", "3", "4", "5", "9"] {
        let failing = [("MERGANSER_TEST_FAIL_GPU_ALLOCATION", nth)];
        refused(&text, "-e 1 --device cuda:0", "memory", &failing);
    }
    // The first error in the input is reported, as on the CPU.
    let mut bad = pairs(3000);
    bad.extend_from_slice(b"ACGT\tAC-T\nAC\n");
    bad.extend(pairs(3000));
    for device in ["cpu", "cuda:0", "cuda:0,0"] {
        let options = format!("-e 1 --device {device} --threads 3 --memory 40M");
        refused(&bad, &options, "p.tsv: line 9001: '-' at base 3 is no letter of DNA", &[]);
    }
}
