//! Runs of `merganser filter`: compression, memory, interruption, full disks.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use merganser_test_support::forms::{bzip2, gzip, xz, zstd};
use merganser_test_support::reads::Random;
use merganser_test_support::signals::{signal, wait};
use merganser_test_support::{Dir, MERGANSER, Ran, gunzip, shared};

/// Returns lines with pairs of 100 bases that differ in at most nine.
fn lines(number: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let mut text = Vec::new();
    for _ in 0..number {
        let read = random.bases(100);
        text.extend_from_slice(&read);
        text.push(b'\t');
        let at = text.len();
        text.extend_from_slice(&read);
        for _ in 0..random.below(10) {
            text[at + random.below(100)] = b"ACGT"[random.below(4)];
        }
        text.push(b'\n');
    }
    text
}

#[test]
fn every_compression_gives_the_decisions_of_the_plain_text() {
    let dir = Dir::new();
    let text = lines(3000, 1);
    let (head, tail) = text.split_at(text.len() / 3);
    let mut bgzf = merganser_io::Output::create(dir.path("made.gz")).unwrap();
    bgzf.write_all(&text).unwrap();
    bgzf.finish().unwrap();
    dir.write("plain", &text);
    let expected = dir.run("filter -q -e 4 plain").ok();
    assert_eq!(expected.lines().count(), 3001);
    for (name, bytes) in [
        ("gzip", gzip(&text)),
        ("gzip of three members", [gzip(head), gzip(b""), gzip(tail)].concat()),
        ("BGZF", dir.read("made.gz")),
        ("zstd of two frames", [zstd(head), zstd(tail)].concat()),
        ("bzip2 of two streams", [bzip2(head), bzip2(tail)].concat()),
        ("xz of two streams", [xz(head), xz(tail)].concat()),
    ] {
        dir.write("packed", &bytes);
        for resources in ["", "--threads 3 --memory 40M"] {
            let found = dir.run(&format!("filter -q -e 4 {resources} packed")).ok();
            assert!(found == expected, "{name} {resources}");
        }
        assert!(dir.run_with(["filter", "-q", "-e", "4", "-"], &bytes).ok() == expected, "{name}");
    }
}

/// The peak resident size, as the kernel measured it, is within the budget plus a tenth.
#[test]
fn the_peak_stays_within_the_promise() {
    let dir = Dir::new();
    dir.write("pairs.tsv", lines(200_000, 2));
    dir.write("short.tsv", b"A\tC\n".repeat(2_000_000));
    let (mut reads, mut segments) = (Vec::new(), Vec::new());
    let mut random = Random(3);
    for _ in 0..100_000 {
        let bases = String::from_utf8(random.bases(100)).unwrap();
        writeln!(
            reads,
            "@a read with a long name, so that the files are cut elsewhere\n{bases}\n+\n{bases}"
        )
        .unwrap();
        writeln!(segments, ">s\n{}\n{}", &bases[..60], &bases[60..]).unwrap();
    }
    dir.write("reads.fq", reads);
    dir.write("segments.fa", segments);
    for inputs in ["pairs.tsv", "short.tsv", "reads.fq segments.fa"] {
        for (threads, megabytes) in [(1, 48), (2, 64)] {
            let args = format!(
                "filter -e 5 -o out.tsv --json - --threads {threads} --memory {megabytes}M {inputs}"
            );
            let json: serde_json::Value = serde_json::from_str(&dir.run(&args).ok()).unwrap();
            let (peak, promise) =
                (json["peak_memory_bytes"].as_u64().unwrap(), (megabytes * 11 / 10) << 20);
            assert!(peak <= promise, "{args}: {peak} bytes, more than {promise}");
        }
    }
}

#[test]
fn an_interrupted_run_ends_soon_and_leaves_nothing() {
    // A pipe without end and a silent pipe.
    for silent in [false, true] {
        let dir = Dir::new();
        let args = "filter -e 5 -o out.tsv --json j --threads 2 -";
        let mut child = dir.start(args, Stdio::piped());
        let mut stdin = child.stdin.take().unwrap();
        let text = lines(1000, 4);
        let writer = std::thread::spawn(move || {
            while !silent && stdin.write_all(&text).is_ok() {}
            stdin
        });
        std::thread::sleep(Duration::from_millis(400));
        signal(&child, "INT");
        let ran = wait(&dir, child);
        drop(writer.join().unwrap());
        assert_eq!(ran.fails(130), "error: interrupted\n");
        assert_eq!(dir.names(), [""; 0]);
    }
}

#[test]
fn a_full_disk_ends_the_run_with_one_line() {
    let dir = Dir::new();
    dir.write("pairs.tsv", lines(20_000, 5));
    let error = dir.run("filter -q -e 5 -o /dev/full --json j pairs.tsv").fails(1);
    assert_eq!(error, "error: /dev/full: cannot write: no space left on device\n");
    assert_eq!(dir.names(), ["pairs.tsv"]);
    let command = format!("{MERGANSER} filter -q -e 5 pairs.tsv > /dev/full");
    let output =
        Command::new("sh").args(["-c", &command]).current_dir(dir.root()).output().unwrap();
    let error = Ran::new(&output, dir.root()).fails(1);
    assert_eq!(error, "error: stdout: cannot write: no space left on device\n");
}

/// The first of several errors in the input is reported, whichever worker finds one first.
#[test]
fn the_first_of_several_faults_is_reported() {
    let dir = Dir::new();
    let mut text = lines(30_000, 6);
    for line in [7_000, 20_000, 29_000] {
        text[201 * line + line + 50] = b'!';
    }
    dir.write("pairs.tsv", text);
    for threads in [1, 2, 5] {
        let args = format!("filter -q -e 5 -o out.tsv --threads {threads} --memory 45M pairs.tsv");
        let error = dir.run(&args).fails(1);
        assert_eq!(error, "error: pairs.tsv: line 7001: '!' at base 51 is no letter of DNA\n");
    }
    assert_eq!(dir.names(), ["pairs.tsv"]);
}

/// No real pair of a read and a candidate is rejected if its edlib distance (third column) is within the threshold.
#[test]
fn no_real_pair_within_the_threshold_is_rejected() {
    let dir = Dir::new();
    for name in [
        "real_ERR1438863_100bp_streptococci_20k",
        "real_ERR6005894_150bp_enterobacteria_20k",
        "real_human_150bp_chrX_repeats_20k",
    ] {
        let Some(set) = shared(&format!("pairs/{name}.tsv.gz")) else { return };
        let text = String::from_utf8(gunzip(&set)).unwrap();
        let has_n = |line: &str| line.split('\t').take(2).any(|letters| letters.contains('N'));
        let lines: Vec<&str> = text.lines().filter(|line| !has_n(line)).collect();
        let distance = |line: &&str| line.split('\t').nth(2).and_then(|d| d.parse::<usize>().ok());
        let truth: Vec<usize> = lines.iter().filter_map(distance).collect();
        assert!(truth.len() == lines.len() && lines.len() > 15_000, "{name}");
        dir.write("pairs.tsv", lines.join("\n"));
        for e in [0, 2, 5, 10, 15] {
            for method in ["exact", "gatekeeper", "snake"] {
                let found = dir.run(&format!("filter -q -e {e} --method {method} pairs.tsv")).ok();
                for (line, &distance) in found.lines().skip(1).zip(&truth) {
                    let edits: i64 = line.rsplit('\t').next().unwrap().parse().unwrap();
                    let right = match method {
                        "exact" if distance <= e => edits == distance as i64,
                        "exact" => edits == -1,
                        // The value of this method is an estimate.
                        _ => distance > e || edits >= 0,
                    };
                    assert!(right, "{name}, {method}, e = {e}, distance {distance}: {line}");
                }
            }
        }
    }
}
