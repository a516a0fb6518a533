//! `merganser filter`, compared with the naive oracle and with edlib.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Command;

use merganser_filter::{Align, Config, Method, NMode, Threshold};

use merganser_test_support::forms::gzip;
use merganser_test_support::oracles::filter::naive;
use merganser_test_support::reads::Random;
use merganser_test_support::tools::shell;
use merganser_test_support::{Dir, gunzip, shared};

type Pair = (Vec<u8>, Vec<u8>);

/// Returns pairs of various lengths with at most a fifth of edits, some with other letters and in lower case.
fn pairs(number: usize, seed: u64) -> Vec<Pair> {
    let mut random = Random(seed);
    let pair = |_| {
        let length = [30, 64, 100, 100, 150, 250][random.below(6)];
        let read = random.bases(length);
        let mut segment = read.clone();
        for _ in 0..random.below(length / 5) {
            let at = random.below(segment.len());
            match random.below(6) {
                0 => drop(segment.remove(at)),
                1 => segment.insert(at, b'A'),
                2 if random.below(20) == 0 => segment[at] = b'N',
                3 => segment[at].make_ascii_lowercase(),
                _ => segment[at] = b"ACGTU"[random.below(5)],
            }
        }
        (read, segment)
    };
    (0..number).map(pair).collect()
}

fn tsv(pairs: &[Pair], between: &str, end: &str) -> Vec<u8> {
    let mut text = Vec::new();
    for (read, segment) in pairs {
        text.extend_from_slice(read);
        text.extend_from_slice(between.as_bytes());
        text.extend_from_slice(segment);
        text.extend_from_slice(end.as_bytes());
    }
    text
}

/// Returns the complete output by the oracle.
fn expected(config: &Config, pairs: &[Pair]) -> String {
    let mut text = "index\taccept\tedits\n".to_owned();
    for (index, (read, segment)) in pairs.iter().enumerate() {
        let edits = naive::decide(config, read, segment);
        writeln!(text, "{index}\t{}\t{edits}", u8::from(edits != -1)).unwrap();
    }
    text
}

#[test]
fn every_method_mode_and_alignment_is_the_oracles() {
    let dir = Dir::new();
    let pairs = pairs(600, 1);
    dir.write("p.tsv", tsv(&pairs, "\t", "\n"));
    let methods = [
        ("exact", Method::Exact),
        ("gatekeeper", Method::GateKeeper),
        ("snake", Method::Snake),
        ("gatekeeper-original", Method::GateKeeperOriginal),
    ];
    let modes = [("mismatch", NMode::Mismatch), ("match", NMode::Match), ("pass", NMode::Pass)];
    let aligns = [("global", Align::Global), ("semiglobal", Align::SemiGlobal)];
    let thresholds =
        [("0", Threshold::Edits(0)), ("7", Threshold::Edits(7)), ("9%", Threshold::Percent(9))];
    for (method_name, method) in methods {
        for (mode_name, n_mode) in modes {
            for (align_name, align) in aligns {
                for (text, threshold) in thresholds {
                    let config = Config { method, n_mode, align, ..Config::new(threshold) };
                    let args = format!(
                        "filter -q -e {text} --method {method_name} --n-mode {mode_name} \
                         --align {align_name} p.tsv"
                    );
                    assert!(dir.run(&args).ok() == expected(&config, &pairs), "{args}");
                }
            }
        }
    }
}

/// With more edits than bases, every pair is accepted and has its distance.
#[test]
fn a_threshold_larger_than_the_length() {
    let dir = Dir::new();
    dir.write("p.tsv", "ACGT\tTGCA\nA\t\n\tACG\n");
    let expected = "index\taccept\tedits\n0\t1\t4\n1\t1\t1\n2\t1\t3\n";
    assert_eq!(dir.run("filter -q -e 4000000000 p.tsv").ok(), expected);
}

#[test]
fn every_way_to_write_pairs_is_read() {
    let dir = Dir::new();
    let pairs = pairs(3000, 2);
    let expected = expected(&Config::new(Threshold::Edits(8)), &pairs);
    let plain = tsv(&pairs, "\t", "\n");
    let seq: Vec<Pair> =
        pairs.iter().map(|(read, segment)| ([b">", &read[..]].concat(), segment.clone())).collect();
    let fastq = |side: fn(&Pair) -> &Vec<u8>| {
        let mut text = Vec::new();
        for pair in &pairs {
            let letters = String::from_utf8(side(pair).clone()).unwrap();
            writeln!(text, "@r\n{letters}\n+\n{}", "I".repeat(letters.len())).unwrap();
        }
        text
    };
    let mut fasta = Vec::new();
    for (_, segment) in &pairs {
        fasta.extend_from_slice(b">s\n");
        for line in segment.chunks(60) {
            fasta.extend_from_slice(&[line, b"\r\n"].concat());
        }
    }
    for (name, bytes) in [
        ("plain", plain.clone()),
        ("cut", plain[..plain.len() - 1].to_vec()),
        ("empty_end", [&plain[..], b"\n\r\n\n"].concat()),
        ("crlf", tsv(&pairs, "\t", "\r\n")),
        ("columns", tsv(&pairs, "\t", "\t7\tx y\n")),
        ("gz", gzip(&plain)),
        ("seq", tsv(&seq, "\n<", "\n")),
        ("seq_crlf", tsv(&seq, "\r\n<", "\r\n")),
        ("seq_gz", gzip(&tsv(&seq, "\n<", "\n"))),
        ("r.fq", fastq(|pair| &pair.0)),
        ("s.fq.gz", gzip(&fastq(|pair| &pair.1))),
        ("s.fa", fasta),
    ] {
        dir.write(name, bytes);
    }
    for inputs in [
        "plain",
        "cut",
        "empty_end",
        "crlf",
        "columns",
        "gz",
        "seq",
        "seq_crlf",
        "seq_gz",
        "r.fq s.fq.gz",
        "r.fq s.fa",
    ] {
        // Little memory makes blocks small, so that many boundaries between them are tested.
        for resources in ["", "--threads 1 --memory 28M", "--threads 3 --memory 36M"] {
            let found = dir.run(&format!("filter -q -e 8 {resources} {inputs}")).ok();
            assert!(found == expected, "{inputs} {resources}");
        }
    }
    assert!(dir.run_with(["filter", "-q", "-e", "8", "-"], &plain).ok() == expected);
}

#[test]
fn the_same_bytes_for_any_threads_and_memory() {
    let dir = Dir::new();
    let pairs = pairs(20_000, 3);
    dir.write("p.tsv", tsv(&pairs, "\t", "\n"));
    let expected = dir.run("filter -q -e 8 --threads 1 p.tsv").ok();
    assert_eq!(expected.lines().count(), 20_001);
    for resources in
        ["--threads 2", "--threads 8", "--threads 3 --memory 37M", "--threads 1 --memory 29M"]
    {
        dir.run(&format!("filter -q -e 8 {resources} p.tsv -o out.tsv")).ok();
        assert!(dir.read("out.tsv") == expected.as_bytes(), "{resources}");
    }
    dir.run("filter -q -e 8 p.tsv -o out.tsv.gz").ok();
    assert!(gunzip(&dir.path("out.tsv.gz")) == expected.as_bytes());
}

#[test]
fn both_files_of_gatekeeper() {
    let dir = Dir::new();
    dir.write("p.tsv", "ACGT\tACGA\nACGT\tTTTT\nACGN\tACGT\n");
    dir.run("filter -q -e 1 --n-mode pass --format gatekeeper -o out p.tsv").ok();
    assert_eq!(dir.names(), ["out.edits", "out.filter", "p.tsv"]);
    assert_eq!(dir.read("out.filter"), b"1\n0\n1\n");
    assert_eq!(dir.read("out.edits"), b"1\n-1\n-2\n");
}

/// `--verify` counts wrong decisions: the published GateKeeper program rejects the first pair falsely.
#[test]
fn verify_counts_what_is_wrong() {
    let dir = Dir::new();
    let read = "ACCTAGATAAGCCCATCTATCGACGATTGTCAATCCCTGAGATGACTCGTCCCCTGTGAAAGTCCAGCTCAGGAGCTCCACCCCGGCAAACTAGTG";
    let segment = format!("{}CAAGCTGAGG", &read[..read.len() - 10]);
    let far = read.replace('A', "C");
    dir.write("p.tsv", format!("{read}\t{segment}\n{read}\t{far}\n{read}\tACGT\n"));
    let results = |method: &str| -> serde_json::Value {
        let args = format!("filter -e 3 --method {method} --verify --format none --json - p.tsv");
        let ran = dir.run(&args);
        let once = usize::from(method != "exact");
        assert_eq!(ran.warnings().len(), once, "{}", ran.stderr);
        serde_json::from_str::<serde_json::Value>(&ran.ok()).unwrap()["results"].clone()
    };
    for (method, rejects) in
        [("exact", 0), ("gatekeeper", 0), ("snake", 0), ("gatekeeper-original", 1)]
    {
        let results = results(method);
        assert_eq!(results["pairs"], 3);
        assert_eq!(results["within_threshold"], 1, "{method}");
        assert_eq!(results["false_rejects"], rejects, "{method}");
        assert_eq!(results["exact_instead"], u64::from(method != "exact"), "{method}");
    }
}

#[test]
fn bad_inputs() {
    let good = "ACGT\tACGT\n".repeat(40_000);
    let packed = gzip(good.as_bytes());
    let with = |bad: &str| format!("{good}{bad}\n{good}\n").into_bytes();
    let cases: [(&str, Vec<u8>); 12] = [
        ("one_column.tsv", with("ACGT")),
        ("empty_line.tsv", with("")),
        ("letter.tsv", with("ACGT\tAC-T")),
        ("blank.tsv", with("AC GT\tACGT")),
        ("binary", b"\x7fELF\x02\x01\x01\0\0\0\0".to_vec()),
        ("old_mac.tsv", b"ACGT\tACGT\rACGT\tACGT\r".to_vec()),
        ("one_sided.seq", b">ACGT\n<ACGT\n>ACGT\n".to_vec()),
        ("two_reads.seq", b">ACGT\n>ACGT\n<ACGT\n".to_vec()),
        ("cut.seq", b">ACGT\n<".to_vec()),
        ("empty_line.seq", b">ACGT\n<ACGT\n\n>ACGT\n<ACGT\n".to_vec()),
        ("fasta.fa", b">1\nACGT\n>2\nACGT\n".to_vec()),
        ("truncated.tsv.gz", packed[..packed.len() / 2].to_vec()),
    ];
    let mut text = String::new();
    for (name, bytes) in cases {
        let dir = Dir::new();
        dir.write(name, bytes);
        for threads in [1, 3] {
            let args = format!("filter -e 1 -o out.tsv --json j --threads {threads} {name}");
            let message = dir.run(&args).fails(1);
            assert_eq!(dir.names(), [name]);
            if threads == 1 {
                text += &message;
            } else {
                assert!(text.ends_with(&message), "{message}");
            }
        }
    }
    insta::assert_snapshot!(text);
}

#[test]
fn bad_pairs_of_files() {
    let dir = Dir::new();
    dir.write("two.fa", ">1\nACGT\n>2\nAC\nGT\n");
    dir.write("three.fq", "@1\nACGT\n+\nIIII\n@2\nACGT\n+\nIIII\n@3\nACGT\n+\nIIII\n");
    dir.write("letter.fa", ">1\nACGT\n>2\nAC\nG*T\n");
    dir.write("bad.fq", "@1\nACGT\n+\nIII\n");
    dir.write("p.tsv", "A\tA\n");
    let before = dir.names();
    let mut text = String::new();
    for inputs in [
        "two.fa three.fq",
        "three.fq two.fa",
        "two.fa letter.fa",
        "bad.fq two.fa",
        "two.fa missing.fa",
        "- -",
        "p.tsv two.fa",
    ] {
        text += &dir.run(&format!("filter -q -e 1 -o out.tsv {inputs}")).fails(1);
    }
    for outputs in
        ["-o missing/x", "-o p.tsv", "-o x --json x", "-o /dev/full", "--memory 20M --threads 2"]
    {
        text += &dir.run(&format!("filter -q -e 1 {outputs} p.tsv")).fails(1);
    }
    assert_eq!(dir.names(), before);
    insta::assert_snapshot!(text);
}

#[test]
fn a_sequence_of_a_million_bases() {
    let dir = Dir::new();
    let read = Random(5).bases(1_000_000);
    let mut segment = read.clone();
    segment.remove(500_000);
    segment[7] = if segment[7] == b'A' { b'C' } else { b'A' };
    dir.write("p.tsv", tsv(&[(read, segment)], "\t", "\n"));
    assert_eq!(dir.run("filter -q -e 5 p.tsv").ok(), "index\taccept\tedits\n0\t1\t2\n");
}

#[test]
fn a_file_without_pairs() {
    let dir = Dir::new();
    dir.write("p.tsv", "");
    let ran = dir.run("filter -e 5 p.tsv");
    assert_eq!(ran.warnings(), ["warning: the input has no pairs"]);
    assert_eq!(ran.ok(), "index\taccept\tedits\n");
}

/// Python code that prints the distance of each pair, or -1.
const EDLIB: &str = "import sys, edlib
mode, e = sys.argv[1], int(sys.argv[2])
for line in open(sys.argv[3]):
    read, segment = line.split()[:2]
    print(edlib.align(read, segment, mode=mode, task='distance', k=e)['editDistance'])
";

/// Exact distances are those of edlib, for generated pairs and for shared real ones.
#[test]
fn exact_is_edlibs() {
    let found = Command::new("/usr/bin/python3").args(["-c", "import edlib"]).output();
    if !found.is_ok_and(|output| output.status.success()) {
        let ci = std::env::var("CI").is_ok_and(|value| value == "true");
        assert!(!ci, "python3-edlib is not installed, and CI needs it");
        eprintln!("skipped: python3-edlib is not installed");
        return;
    }
    let dir = Dir::new();
    dir.write("truth.py", EDLIB);
    let mut sets = vec![tsv(&pairs(3000, 4), "\t", "\n")];
    sets.extend(
        shared("pairs/real_ERR1438863_100bp_streptococci_20k.tsv.gz").map(|set| gunzip(&set)),
    );
    for set in sets {
        // edlib compares letters, not bases.
        let set = set
            .to_ascii_uppercase()
            .iter()
            .map(|&letter| if letter == b'U' { b'T' } else { letter })
            .collect::<Vec<_>>();
        let kept = |line: &&[u8]| !line.contains(&b'N') && line.contains(&b'\t');
        let set = set.split(|&byte| byte == b'\n').filter(kept).collect::<Vec<_>>().join(&b'\n');
        dir.write("p.tsv", set);
        for (align, mode) in [("global", "NW"), ("semiglobal", "HW")] {
            for e in [0, 2, 5, 10, 25] {
                let truth =
                    shell(dir.root(), &format!("/usr/bin/python3 truth.py {mode} {e} p.tsv"));
                let ours = dir.run(&format!("filter -q -e {e} --align {align} p.tsv")).ok();
                let ours: Vec<&str> =
                    ours.lines().skip(1).map(|line| line.rsplit('\t').next().unwrap()).collect();
                let truth = String::from_utf8(truth).unwrap();
                assert!(ours == truth.lines().collect::<Vec<_>>(), "{align} {e}");
            }
        }
    }
}
