//! Look-ups on real or emulated GPUs have the same bytes as on the CPU. Skipped with a message without a GPU.

use merganser_test_support::gpus::usable;
use merganser_test_support::reads::{Random, Record, fasta, fastq, untidy};
use merganser_test_support::{Dir, small_reads};

/// Asserts that a command has the same output on the CPU and with each of the device options.
fn same_on(dir: &Dir, command: &str, devices: &[&str]) {
    let run = |device: &str| dir.run(&format!("kmers {command} -q --device {device}")).ok();
    let expected = run("cpu");
    assert!(!expected.is_empty());
    for device in devices {
        assert!(run(device) == expected, "{command} {device}");
    }
}

#[test]
fn every_width_of_kmer() {
    if !usable() {
        return;
    }
    let dir = Dir::new();
    let records = untidy(300, 33);
    dir.write("r.fq", fastq(&records, "\n"));
    dir.write("some.fq", fastq(&records[..40], "\n"));
    for k in [5, 16, 31, 32, 33, 64, 65, 128] {
        for strands in ["", "--forward-only"].into_iter().take(1 + k % 2) {
            dir.run(&format!("count -q -k {k} --min-count 1 {strands} -o t.mgk some.fq")).ok();
            same_on(&dir, "profile t.mgk r.fq", &["cuda:0"]);
            let kmers: Vec<String> = records
                .iter()
                .filter_map(|read| String::from_utf8(read.sequence.get(..k)?.to_vec()).ok())
                .filter(|kmer| kmer.bytes().all(|letter| b"ACGTUacgtu".contains(&letter)))
                .collect();
            dir.write("asked", kmers.join("\n"));
            same_on(&dir, "query t.mgk --file asked", &["cuda:0"]);
        }
    }
}

#[test]
fn every_list_of_devices_format_and_verb() {
    if !usable() {
        return;
    }
    let dir = Dir::new();
    let [one, two] = small_reads().map(|path| path.display().to_string());
    dir.run(&format!("count -q -k 25 -o t.mgk {one}")).ok();
    for format in ["kmc", "kff"] {
        dir.run(&format!("kmers convert -q --format {format} -o {format} t.mgk")).ok();
    }
    let devices = ["cuda", "cuda:0", "cuda:0,0", "cuda:0,0 --threads 1", "cuda:0 --gpu-memory 48M"];
    same_on(&dir, &format!("filter-reads t.mgk:2.. -1 {one} -2 {two}"), &devices);
    same_on(&dir, &format!("filter-reads --mask hard --invert kmc {two}"), &["cuda:0"]);
    same_on(&dir, &format!("profile kff:3..9 {two}"), &["cuda:0"]);
}

/// Tables larger than a device's memory, and counts that exceed a byte.
#[test]
fn tables_of_any_size() {
    if !usable() {
        return;
    }
    let dir = Dir::new();
    let mut random = Random(9);
    let genome = random.bases(1_300_000);
    let often = fasta(&vec![Record::from(&genome[..300]); 280], 300, "\n");
    dir.write("g.fa", [fasta(&[Record::from(&genome[..])], 80, "\n"), often].concat());
    dir.write("r.fa", fasta(&[Record::from(&genome[..60_000])], 90, "\n"));
    for k in [24, 40] {
        dir.run(&format!("count -q -k {k} --min-count 1 -o t.mgk g.fa")).ok();
        let little =
            ["cuda:0 --gpu-memory 40M", "cuda:0,0 --gpu-memory 40M --memory 95M --threads 2"];
        same_on(&dir, "profile t.mgk r.fa", &little);
        let ran = dir.run("kmers profile t.mgk r.fa --device cuda:0 --gpu-memory 40M");
        assert!(ran.stderr.contains("ranges for every"), "{}", ran.stderr);
        same_on(&dir, "profile t.mgk:200.. r.fa", &["cuda:0 --gpu-memory 40M"]);
    }
}

#[test]
fn failures_are_one_line_and_leave_nothing() {
    if !usable() {
        return;
    }
    let dir = Dir::new();
    let [one, _] = small_reads().map(|path| path.display().to_string());
    dir.run(&format!("count -q -k 25 -o t.mgk {one}")).ok();
    let filter = format!("kmers filter-reads -q t.mgk {one} -o out.fq");
    for (options, says) in [
        ("--device cuda:7", "no device cuda:7"),
        ("--device cuda:0 --gpu-memory 9M", "--gpu-memory"),
    ] {
        let text = dir.run(&format!("{filter} {options}")).fails(1);
        assert!(text.contains(says), "{text}");
        assert_eq!(dir.names(), ["t.mgk"]);
    }
    for failing in ["1", "2", "3", "5", "8", "12"] {
        let output = merganser_test_support::program()
            .current_dir(dir.root())
            .env("MERGANSER_TEST_FAIL_GPU_ALLOCATION", failing)
            .args(format!("{filter} --device cuda:0").split_whitespace())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(text.lines().count(), usize::from(!output.status.success()), "{text}");
        assert_eq!(output.status.success(), dir.path("out.fq").exists(), "{text}");
        let _ = std::fs::remove_file(dir.path("out.fq"));
        assert_eq!(dir.names(), ["t.mgk"]);
    }
}
