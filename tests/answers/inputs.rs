//! Compressed inputs, pipes, lists and mixed formats.

use std::fs::File;
use std::io::Write;

use merganser_test_support::forms::{bzip2, gzip, xz, zstd};
use merganser_test_support::oracle::{self, Rule};
use merganser_test_support::reads::{fasta, fastq, untidy};
use merganser_test_support::tools::{installed, shell};
use merganser_test_support::{Dir, Ran};

const COUNT: &str = "count -k 21 --min-count 1 --format tsv -o - -q";

/// Compression is recognized by content, not by name; concatenated members are one file.
#[test]
fn every_compression_gives_the_counts_of_the_plain_text() {
    let dir = Dir::new();
    let records = untidy(3000, 1);
    let text = fastq(&records, "\n");
    let expected = oracle::tsv(&oracle::count(&records, Rule::new(21, true)), 1);
    let (head, tail) = text.split_at(text.len() / 3);
    let mut bgzf = merganser_io::Output::create(dir.path("made.gz")).unwrap();
    bgzf.write_all(&text).unwrap();
    bgzf.finish().unwrap();
    let cases = [
        ("plain", text.clone()),
        ("gzip", gzip(&text)),
        ("gzip of two members", [gzip(head), gzip(tail)].concat()),
        ("gzip with an empty member", [gzip(head), gzip(b""), gzip(tail)].concat()),
        ("BGZF", dir.read("made.gz")),
        ("zstd", zstd(&text)),
        ("zstd of two frames", [zstd(head), zstd(tail)].concat()),
        ("bzip2", bzip2(&text)),
        ("bzip2 of two streams", [bzip2(head), bzip2(tail)].concat()),
        ("xz", xz(&text)),
        ("xz of two streams", [xz(head), xz(tail)].concat()),
    ];
    for (name, bytes) in cases {
        dir.write("reads.txt", &bytes);
        let from_file = dir.run(&format!("{COUNT} reads.txt")).ok();
        assert!(from_file == expected, "{name}");
        let from_pipe = dir.run_with(format!("{COUNT} -").split(' '), &bytes).ok();
        assert!(from_pipe == expected, "{name} from a pipe");
    }
}

#[test]
fn what_the_usual_programs_compress() {
    let dir = Dir::new();
    let text = fastq(&untidy(2000, 2), "\n");
    dir.write("reads", &text);
    let expected = dir.run(&format!("{COUNT} reads")).ok();
    for program in ["gzip", "bgzip", "zstd", "bzip2", "xz", "pigz"] {
        if installed(&[program]) {
            shell(dir.root(), &format!("{program} -c reads > packed"));
            assert!(dir.run(&format!("{COUNT} packed")).ok() == expected, "{program}");
        }
    }
}

/// The format of each input is recognized by its content.
#[test]
fn mixed_formats_and_lists() {
    let dir = Dir::new();
    let parts: Vec<_> = (0..4).map(|seed| untidy(200, seed)).collect();
    dir.write("a.fastq", fasta(&parts[0], 60, "\n"));
    dir.write("b.fasta.gz", fastq(&parts[1], "\r\n"));
    dir.write("c", gzip(&fasta(&parts[2], 70, "\n")));
    let stdin = fastq(&parts[3], "\n");
    dir.write("rest.txt", "# the rest\nb.fasta.gz\n\nc\n");
    let expected = oracle::tsv(&oracle::count(&parts.concat(), Rule::new(21, true)), 1);
    let ran = dir.run_with(format!("{COUNT} a.fastq @rest.txt -").split(' '), &stdin);
    assert!(ran.ok() == expected);
}

/// A process substitution can be read only once and only sequentially.
#[test]
fn named_pipes() {
    let dir = Dir::new();
    let records = untidy(2000, 4);
    shell(dir.root(), "mkfifo pipe1 pipe2");
    let [one, two] = [0, 1].map(|half| fastq(&records[half * 1000..][..1000], "\n"));
    let expected = oracle::tsv(&oracle::count(&records, Rule::new(21, true)), 1);
    let pipes = ["pipe1", "pipe2"].map(|name| dir.path(name));
    let counted = std::thread::scope(|scope| {
        for (pipe, text) in pipes.iter().zip([one, two]) {
            scope.spawn(move || File::create(pipe).unwrap().write_all(&text).unwrap());
        }
        dir.run(&format!("{COUNT} pipe1 pipe2"))
    });
    assert!(counted.ok() == expected);
}

#[test]
fn numbers_of_the_summary() {
    let dir = Dir::new();
    dir.write("r.fq", "@1\nACGTNACGUacgt\n+\nIIIIIIIIIIII!\n@2\nAC\n+\nII\n");
    let ran = dir.run("count -k 3 --min-qual 10 --format none --json - r.fq");
    let stderr = ran.stderr.clone();
    let json: serde_json::Value = serde_json::from_str(&ran.ok()).unwrap();
    let result = |key: &str| json["results"][key].as_u64().unwrap();
    assert_eq!((result("records"), result("letters")), (2, 15));
    assert_eq!((result("ambiguous_letters"), result("low_quality_bases")), (1, 1));
    // The k-mers are those of ACGT and ACGTACG.
    assert_eq!((result("total_kmers"), result("distinct_kmers")), (7, 2));
    assert_eq!((result("kept_kmers"), result("below_min_count")), (2, 0));
    assert_eq!(json["parameters"]["min_quality"], 10);
    assert_eq!(json["parameters"]["max_count"], serde_json::Value::Null);
    assert_eq!(json["machine"]["device"], "cpu");
    assert!(json["peak_memory_bytes"].as_u64().unwrap() > 0);
    assert!(json["stages_seconds"].is_object() && json["seconds"]["wall"].is_f64());
    insta::assert_snapshot!("summary", steady(&stderr));
}

/// Replaces the line of the time, which differs between runs.
fn steady(summary: &str) -> String {
    let line = |line: &str| match line.contains(" s, ") && line.contains(", peak memory ") {
        true => "(time, threads, peak memory)\n".to_owned(),
        false => format!("{line}\n"),
    };
    summary.lines().map(line).collect()
}

#[test]
fn quiet_says_nothing_and_debug_more() {
    let dir = Dir::new();
    dir.write("r.fa", ">1\nACGTACGT\n");
    let ran = dir.run("count -k 31 --format none --quiet r.fa");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let ran = dir.run("count -k 31 --format none --log-level warn r.fa");
    assert_eq!(ran.stderr.lines().count(), ran.warnings().len());
    let ran: Ran = dir.run("count -k 15 --format none --log-level debug r.fa");
    assert!(ran.stderr.lines().filter(|line| line.starts_with("debug: ")).count() >= 4);
}

#[test]
fn stats_only_compares_the_rules() {
    let dir = Dir::new();
    dir.write("r.fq", fastq(&untidy(500, 3), "\n"));
    let text = dir.run("count -k 28 --stats-only --signature all r.fq").ok();
    let rules: Vec<&str> =
        text.lines().skip(2).take(4).filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(rules, ["gkc", "kmc2", "minimizer", "hash"]);
    assert!(text.starts_with("# k 28, p 9, 500 records, "), "{text}");
    assert_eq!(text.matches("minimizers by S-score").count(), 8);
    let one = dir.run("count -k 28 --stats-only --signature kmc2 --minimizer-len 7 r.fq").ok();
    assert!(one.contains("# kmc2: best minimizers by S-score\n"), "{one}");
}
