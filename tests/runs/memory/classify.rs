//! Memory of building databases and of classifying.

use std::fmt::Write;

use merganser_test_support::reads::Random;
use merganser_test_support::{Dir, root};

/// Returns a directory with genomes of two species, a database of them in one part and in several, and reads.
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

/// A database larger than the budget is queried part by part with the same results; one in a single part is refused
/// before any read is classified.
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
        // At most two megabytes more than was given on a quiet machine, and half of the tenth that is promised elsewhere.
        assert!(peak <= 110 << 20, "{peak} bytes");
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

/// A database is built within the budget, in one part and in several, without a second copy in memory.
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
    // Classifying a long sequence needs memory only for its windows.
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

/// Writes a Kraken 2 database whose table has `cells` random cells, with keys so short that many minimizers are
/// found.
fn random_kraken2(dir: &Dir, cells: usize) {
    std::fs::create_dir(dir.path("k2")).unwrap();
    for name in ["opts.k2d", "taxo.k2d"] {
        let from = root().join("tests/data/kraken2").join(name);
        dir.write(&format!("k2/{name}"), std::fs::read(from).unwrap());
    }
    let (mut random, key_bits) = (Random(3), 8u64);
    let (mut table, mut filled) = (Vec::with_capacity(4 * cells + 32), 0u64);
    for _ in 0..cells {
        let (key, value) = (random.below(1 << key_bits), random.below(30));
        let value = if value < 20 { value + 1 } else { 0 };
        filled += u64::from(value > 0);
        let cell = (key << (32 - key_bits) | value) as u32;
        table.extend_from_slice(&cell.to_le_bytes());
    }
    let header = [cells as u64, filled, key_bits, 32 - key_bits].map(u64::to_le_bytes).concat();
    dir.write("k2/hash.k2d", [header, table].concat());
}

/// A Kraken table larger than the budget is loaded in rounds, with the same results.
#[test]
fn tables_of_kraken_2_that_do_not_fit_are_gone_through() {
    let dir = Dir::new();
    random_kraken2(&dir, 60_000_000);
    let mut random = Random(4);
    for name in ["1.fq", "2.fq"] {
        let mut text = String::new();
        for read in 0..60_000 {
            let letters = String::from_utf8(random.bases(150)).unwrap();
            writeln!(text, "@r{read}\n{letters}\n+\n{}", "I".repeat(150)).unwrap();
        }
        dir.write(name, text);
    }
    for reads in ["1.fq 2.fq", "-1 1.fq -2 2.fq --confidence 0.01"] {
        let classify = |memory: &str| {
            let args = format!(
                "classify --threads 2 --memory {memory} k2 {reads} -o o.tsv --report o.kreport \
                 --report-minimizer-data --classified-out c#.fq"
            );
            let peak = peak(&dir, &args);
            let json: serde_json::Value = serde_json::from_slice(&dir.read("sum.json")).unwrap();
            let rounds = json["results"]["rounds"].as_u64();
            let mates = if reads.starts_with('-') { ["c_1.fq", "c_2.fq"] } else { ["c.fq"; 2] };
            let all = ["o.tsv", "o.kreport", mates[0], mates[1]].map(|name| dir.read(name));
            (peak, rounds, all)
        };
        let (_, none, expected) = classify("1G");
        let (peak, rounds, found) = classify("140M");
        assert!(found == expected);
        assert!(peak <= 154 << 20, "{peak} bytes");
        assert!(none.is_none() && rounds.is_some_and(|rounds| rounds > 1), "{rounds:?}");
        let classified = found[0].iter().filter(|&&byte| byte == b'C').count();
        assert!(classified > 100, "{classified}");
    }
    let said = dir.run("classify k2 1.fq --threads 2 --memory 140M -o o.tsv").stderr;
    assert!(said.contains("reads are classified in rounds"), "{said}");
    let refused = dir.run("classify k2 1.fq --threads 2 --memory 100M -o x.tsv -q").fails(1);
    let start = "error: classifying with 2 threads by this database needs at least ";
    assert!(refused.starts_with(start), "{refused}");
}
