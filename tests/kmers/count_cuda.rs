//! Counts on each real or emulated GPU have the same bytes as on the CPU. Skipped with a message without a GPU, or a
//! failure with `MERGANSER_REQUIRE_GPU=1`.

use merganser_test_forms::{bgzf_block, pieces};
use merganser_test_support::gpus::usable;
use merganser_test_support::reads::Random;
use merganser_test_support::{Dir, program, small_reads};

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

/// Devices count the k-mers of panels in letters that the CPU has packed.
#[test]
fn panels() {
    if !usable() {
        return;
    }
    let dir = Dir::new();
    let [one, two] = small_reads().map(|path| path.display().to_string());
    let devices =
        ["--device cuda", "--device cuda:0", "--device cuda:0,0", "--device cuda:0 --threads 1"];
    for k in [1, 2, 4, 16, 17, 32, 33, 64, 65, 101] {
        dir.run(&format!("count -q -k {k} --min-count 2 -o panel.mgk {one}")).ok();
        same_on(&dir, &format!("-k {k} --panel panel.mgk"), &format!("{two} {one}"), &devices);
    }
    for options in ["--forward-only", "--hpc", "--min-qual 25 --max-count 30"] {
        let strands = if options.contains("min-qual") { "" } else { options };
        dir.run(&format!("count -q -k 21 {strands} --min-count 2 -o panel.mgk {one}")).ok();
        same_on(&dir, &format!("-k 21 {options} --panel panel.mgk"), &two, &devices);
    }
    dir.write("short.fa", ">short\nACGT\n");
    same_on(&dir, "-k 21 --panel short.fa", &one, &devices);
    dir.write("empty.fa", "");
    dir.run(&format!("count -q -k 21 -o panel.mgk {one}")).ok();
    same_on(&dir, "-k 21 --panel panel.mgk", "empty.fa", &devices);
    let letters: Vec<u8> = {
        let mut random = Random(1);
        (0..2_000_000).map(|_| b"ACGT"[random.below(4)]).collect()
    };
    dir.write("large.fa", [b">large\n", &letters[..], b"\n"].concat());
    let large = "count -q -k 21 --panel large.fa -o none.mgk --device cuda:0 --gpu-memory 49M";
    let message = dir.run(&format!("{large} {one}")).fails(1);
    assert!(message.contains("a panel") && message.contains("--gpu-memory"), "{message}");
    assert!(!dir.names().contains(&"none.mgk".to_owned()));
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

/// A text of several chunks, most of which go to the devices as they are in the file.
fn many_chunks(fastq: bool) -> Vec<u8> {
    let mut text = Vec::new();
    let mut random = 1u64;
    for number in 0.. {
        if text.len() > 7 << 20 {
            return text;
        }
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Few different reads, so that few k-mers are counted; some are long, some have other letters.
        let length = if number % 1000 == 0 { 30_000 } else { 80 + number % 90 };
        let letters: Vec<u8> = (0..length)
            .map(|at| {
                if at % 997 == 96 {
                    b'N'
                } else {
                    b"ACGT"[(at * at + random as usize % 64 * at) % 64 / 16]
                }
            })
            .collect();
        if fastq {
            text.extend(format!("@read/{number} lane\n").bytes());
            text.extend(&letters);
            text.extend(b"\n+\n");
            text.extend(letters.iter().map(|letter| letter % 40 + b'#'));
        } else {
            text.extend(format!(">read/{number}").bytes());
            letters.chunks(61 + number % 1000).for_each(|line| {
                text.push(b'\n');
                text.extend(line);
            });
        }
        text.push(b'\n');
    }
    text
}

/// Sound files are read by the devices alone; what is malformed or damaged has the message of the CPU.
#[test]
fn devices_read_files_themselves() {
    if !usable() {
        return;
    }
    let dir = Dir::new();
    let emulated = dir.run("devices").ok().contains("emulated GPU");
    let chunks = |name: &str| {
        let json: serde_json::Value = serde_json::from_slice(&dir.read(name)).unwrap();
        let number = |key: &str| json["results"][key].as_u64().unwrap();
        [number("device_chunks"), number("returned_chunks")]
    };
    let fastq = many_chunks(true);
    dir.write("r.fq", &fastq);
    dir.write("r.fa", many_chunks(false));
    dir.write("r.fq.gz", [pieces(&fastq, bgzf_block), bgzf_block(b"")].concat());
    for (file, options) in [
        ("r.fq", "-k 31 --min-qual 20"),
        ("r.fa", "-k 55"),
        ("r.fq.gz", "-k 28"),
        ("r.fq", "-k 21 --panel r.fa --min-qual 20"),
        ("r.fa", "-k 9 --panel r.fq"),
        ("r.fq.gz", "-k 70 --panel r.fa"),
    ] {
        // Small chunks. Before a table is counted, the host reads the first and finds that devices can read the rest. With
        // a panel it may have read all by then.
        let options = format!("{options} --threads 8 --memory 300M -q {file}");
        dir.run(&format!("count {options} -o cpu.mgk")).ok();
        let on_device = format!("count {options} --device cuda:0 --json s.json -o cuda.mgk");
        let count = || {
            let output = program()
                .current_dir(dir.root())
                .env("MERGANSER_TEST_GPUS_ALONE", "1")
                .args(on_device.split_whitespace())
                .output()
                .unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert!(dir.read("cpu.mgk") == dir.read("cuda.mgk"), "{options}");
            let [sent, returned] = chunks("s.json");
            assert_eq!(returned, 0, "{options}");
            sent > 0
        };
        // While a real device starts, many cores read all of a panel's reads.
        let may_be_late = options.contains("panel");
        let runs = if may_be_late && emulated { 30 } else { 1 };
        let is_sent = (0..runs).any(|_| count());
        assert!(is_sent || may_be_late && !emulated, "{options}: nothing was sent");
    }
    let two = ["--device cuda:0,0 --gpu-memory 400M --memory 300M"];
    same_on(&dir, "-k 55", "r.fa", &two);

    let (mut short, mut damaged) = (fastq, dir.read("r.fq.gz"));
    let (near_end, block) = (short.len() - 1000, damaged.len() - 2000);
    let sequence = short[..near_end].windows(3).rposition(|three| three == b"\n+\n").unwrap();
    short.remove(sequence - 1);
    damaged[block] ^= 1;
    dir.write("short.fq", &short);
    dir.write("short.fq.gz", [pieces(&short, bgzf_block), bgzf_block(b"")].concat());
    dir.write("damaged.fq.gz", &damaged);
    for file in ["short.fq", "short.fq.gz", "damaged.fq.gz"] {
        let [cpu, cuda] = ["cpu", "cuda:0"].map(|device| {
            let options = format!("--threads 8 --memory 300M --device {device}");
            let command = format!("count -k 28 {options} -o bad.mgk -q {file}");
            dir.run(&command).fails(1)
        });
        assert_eq!(cpu, cuda);
        assert!(!dir.names().contains(&"bad.mgk".to_owned()));
    }
}

#[test]
fn failures_are_one_line_and_leave_nothing() {
    if !usable() {
        return;
    }
    let dir = Dir::new();
    let [one, _] = small_reads().map(|path| path.display().to_string());
    let refused = |options: &str, says: &str, failing: &str| {
        let output = program()
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
    for nth in ["1", "2", "3", "4", "5", "8"] {
        refused(&format!("--device cuda:0 --panel {one}"), "memory", nth);
    }
}
