//! What building and classifying take.

use std::fmt::Write;

use crate::support::Dir;
use crate::support::reads::Random;

/// Genomes of two species, a database of them in one and in several parts, and reads.
fn world() -> Dir {
    let dir = Dir::new();
    std::fs::create_dir(dir.path("tax")).unwrap();
    dir.write("tax/nodes.dmp", (1..10).map(node).collect::<String>());
    dir.write("tax/names.dmp", (1..10).map(name).collect::<String>());
    let mut random = Random(21);
    let mut text = String::new();
    let mut reads = String::new();
    for number in 0..24 {
        let letters = String::from_utf8(random.bases(1_000_000)).unwrap();
        writeln!(text, ">s{number} taxid|{}\n{letters}", 2 + number % 8).unwrap();
        for read in 0..200 {
            let at = random.below(999_000);
            let quality = "I".repeat(150);
            writeln!(reads, "@r{number}_{read}\n{}\n+\n{quality}", &letters[at..at + 150]).unwrap();
        }
    }
    dir.write("g.fa", &text);
    dir.write("r.fq", reads);
    dir.run("build -q --threads 2 -t tax -o one.mgdb g.fa").ok();
    dir.run("build -q --threads 2 -t tax --parts 6 -o six.mgdb g.fa").ok();
    dir
}

fn node(taxid: u32) -> String {
    let rank = if taxid == 1 { "no rank" } else { "species" };
    format!("{taxid}\t|\t1\t|\t{rank}\t|\n")
}

fn name(taxid: u32) -> String {
    format!("{taxid}\t|\tTaxon {taxid}\t|\t\t|\tscientific name\t|\n")
}

fn peak(dir: &Dir, args: &str) -> u64 {
    dir.run(&format!("{args} -q --json sum.json")).ok();
    let json: serde_json::Value = serde_json::from_slice(&dir.read("sum.json")).unwrap();
    json["peak_memory_bytes"].as_u64().unwrap()
}

/// A database that does not fit is asked part by part, with the same answers; one in a single part is
/// refused before any read.
#[test]
fn parts_of_a_database_take_turns_where_it_does_not_fit() {
    let dir = world();
    let bytes = std::fs::metadata(dir.path("six.mgdb")).unwrap().len();
    assert!(bytes > 40 << 20, "{bytes}");
    let classify = |memory: &str, options: &str| {
        let args = format!(
            "classify --threads 1 --memory {memory} six.mgdb r.fq -o o.tsv --report o.kreport \
             --tmp-dir . {options}"
        );
        let peak = peak(&dir, &args);
        (peak, dir.read("o.tsv"), dir.read("o.kreport"))
    };
    for options in ["", "--cov-percentile 2 --hits-per-ref h.tsv"] {
        let (_, lines, report) = classify("1G", options);
        let (peak, found, found_report) = classify("105M", options);
        assert!(peak <= 105 << 20, "{peak} bytes");
        assert!(found == lines && found_report == report);
    }
    let before = dir.names();
    let refused = dir.run("classify one.mgdb r.fq --threads 1 --memory 105M -o x.tsv -q").fails(1);
    let start = "error: classifying with 1 threads by this database needs at least ";
    assert!(refused.starts_with(start) && refused.contains("--parts"), "{refused}");
    let all =
        "classify six.mgdb r.fq --threads 1 --memory 105M --format metacache --allhits -o x.tsv";
    assert!(dir.run(all).fails(1).contains("and --memory gives 105 MiB"));
    assert_eq!(dir.names(), before);
}

/// What does not fit when a database is built is written without a second copy of it.
#[test]
fn building_stays_within_the_promise() {
    let dir = world();
    for parts in [1, 5] {
        let args = format!(
            "build --threads 1 --memory 260M --tmp-dir . --sketch 100 --density 256 -t tax \
             --parts {parts} -o x.mgdb g.fa"
        );
        let peak = peak(&dir, &args);
        assert!(peak <= 260 << 20, "{peak} bytes");
    }
    // Nor does a long sequence take more than its windows when it is classified.
    let genome = dir.read("g.fa");
    let letters: Vec<u8> = genome
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.starts_with(b">"))
        .flatten()
        .copied()
        .collect();
    dir.write("long.fa", [b">long\n", &letters[..]].concat());
    let args = "classify --threads 2 --memory 300M one.mgdb long.fa -o o.tsv";
    let peak = peak(&dir, args);
    assert!(peak <= 330 << 20, "{peak} bytes");
    assert!(
        dir.read("o.tsv").starts_with(b"U\tlong\t") || dir.read("o.tsv").starts_with(b"C\tlong\t")
    );
}
