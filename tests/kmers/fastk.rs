//! FastK tables and histograms, written from the definition of their layout.

use std::fmt::Write;

use merganser_test_support::Dir;
use merganser_test_support::fastk::write_table;
use merganser_test_support::oracle::{self, Counts, Rule};
use merganser_test_support::reads::{Random, Record, fasta};

/// Writes reads with errors that cover a genome; returns their counts.
fn sample(dir: &Dir, k: usize) -> Counts {
    let mut random = Random(3);
    let genome = random.bases(2000);
    let mut record = || {
        let from = random.below(1700);
        let mut sequence = genome[from..from + 300].to_vec();
        sequence[random.below(300)] = b"ACGTN"[random.below(5)];
        Record { sequence, quality: None }
    };
    let records: Vec<Record> = (0..60).map(|_| record()).collect();
    dir.write("reads.fa", fasta(&records, 70, "\n"));
    oracle::count(&records, Rule::new(k, true))
}

fn text(counts: &Counts) -> String {
    let mut text = String::new();
    for (kmer, count) in counts {
        writeln!(text, "{}\t{count}", String::from_utf8_lossy(kmer)).unwrap();
    }
    text
}

#[test]
fn tables_are_read_whatever_k_parts_and_prefixes() {
    for (k, parts, prefix) in
        [(4, 1, 1), (21, 1, 1), (21, 4, 2), (31, 3, 3), (32, 2, 1), (33, 2, 2), (70, 2, 1)]
    {
        let dir = Dir::new();
        let counts = sample(&dir, k);
        write_table(dir.root(), "t", &counts, k, parts, prefix);
        assert!(dir.run("kmers dump -q t.ktab").ok() == text(&counts), "{k} {parts} {prefix}");
        dir.run("kmers verify t.ktab").ok();
        let info = dir.run("kmers info t.ktab").ok();
        assert!(info.contains("FastK") && info.contains(&k.to_string()), "{info}");
    }
}

#[test]
fn tables_go_together_with_others() {
    let dir = Dir::new();
    let counts = sample(&dir, 21);
    write_table(dir.root(), "t", &counts, 21, 3, 2);
    dir.run("count -q -k 21 --min-count 1 reads.fa -o own.mgk").ok();
    let none = dir.run("kmers subtract -q own.mgk t.ktab --format tsv -o -").ok();
    assert_eq!(none, "");
    for limits in ["-t 1", "-t 3 --memory 60M"] {
        dir.run(&format!("kmers convert -q t.ktab {limits} -o back.mgk")).ok();
        assert_eq!(dir.run("kmers dump -q back.mgk").ok(), text(&counts));
    }
    let (kmer, count) = counts.iter().nth(100).unwrap();
    let kmer = String::from_utf8_lossy(kmer);
    assert!(
        dir.run(&format!("kmers query -q t.ktab {kmer}")).ok().ends_with(&format!("\t{count}\n"))
    );
    assert_eq!(
        dir.run("kmers histogram -q t.ktab").ok(),
        dir.run("kmers histogram -q own.mgk").ok()
    );
    dir.write("asm.fa", dir.read("reads.fa"));
    dir.run("kmers qv -q --no-plots -o q t.ktab asm.fa").ok();
    assert!(dir.read("q.qv").starts_with(b"asm\t0\t"));
}

#[test]
fn histograms_go_both_ways() {
    let dir = Dir::new();
    sample(&dir, 21);
    dir.run("count -q -k 21 --min-count 1 --histogram h.hist --histogram-format fastk reads.fa -o t.mgk").ok();
    let bytes = dir.read("h.hist");
    assert_eq!(bytes.len(), 262_164);
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    assert_eq!(bytes[..12], [21, 0, 0, 0, 1, 0, 0, 0, 255, 127, 0, 0]);
    let mut lines = String::new();
    for count in (1..32_767).filter(|count| number(20 + 8 * count) > 0) {
        writeln!(lines, "{count}\t{}", number(20 + 8 * count)).unwrap();
    }
    assert_eq!(dir.run("kmers histogram -q t.mgk").ok(), lines);
    assert_eq!(number(12), number(28));
    dir.run("kmers histogram -q t.mgk --histogram-format fastk -o again.hist").ok();
    assert!(dir.read("again.hist") == bytes);
    dir.write("lines.txt", &lines);
    let model = dir.run("kmers histogram -q --model --ploidy 1 h.hist").ok();
    assert_eq!(model, dir.run("kmers histogram -q --model --ploidy 1 -k 21 lines.txt").ok());
    dir.write("cut.hist", &bytes[..1000]);
    let message = dir.run("kmers histogram --model cut.hist").fails(1);
    assert!(
        message.contains("cut.hist: neither COUNT NUMBER lines nor a complete FastK histogram"),
        "{message}"
    );
    let message = dir.run("kmers histogram --model -k 31 h.hist").fails(1);
    assert!(message.contains("h.hist: its k is 21"), "{message}");
}

#[test]
fn what_is_wrong_is_said() {
    let dir = Dir::new();
    let counts = sample(&dir, 21);
    write_table(dir.root(), "t", &counts, 21, 2, 1);
    let (stub, part) = (dir.read("t.ktab"), dir.read(".t.ktab.2"));
    let fails = |part: &str| {
        let message = dir.run("kmers convert t.ktab -o out.mgk").fails(1);
        assert!(message.contains(part), "{part}: {message}");
        assert!(!dir.path("out.mgk").exists());
    };
    for cut in [0, 10, stub.len() - 1] {
        dir.write("t.ktab", &stub[..cut]);
        fails("t.ktab: ");
    }
    dir.write("t.ktab", &stub);
    dir.write(".t.ktab.2", &part[..part.len() - 3]);
    fails(".t.ktab.2: has ");
    let mut other = part.clone();
    other[0] = 25;
    dir.write(".t.ktab.2", &other);
    fails(".t.ktab.2: its k is 25, that of ");
    let mut other = part.clone();
    let last = other.len() - 7;
    other[12..19].copy_from_slice(&part[last..]);
    dir.write(".t.ktab.2", &other);
    fails("are not ascending");
    std::fs::remove_file(dir.path(".t.ktab.2")).unwrap();
    fails(".t.ktab.2: ");
    // A table of both strands.
    let mut both = counts.clone();
    counts.iter().for_each(|(kmer, &count)| {
        both.insert(oracle::complement(kmer), count);
    });
    write_table(dir.root(), "t", &both, 21, 2, 1);
    fails("Symmex");
}
