//! meryl databases, written from the definition of their layout.

use std::fmt::Write;

use merganser_test_support::Dir;
use merganser_test_support::meryl::{LAYOUT, Layout, write};
use merganser_test_support::oracle::{self, Counts, Rule};
use merganser_test_support::reads::{Random, Record, fasta};

/// Writes reads with errors that cover a genome; returns their counts.
fn sample(dir: &Dir, k: usize, canonical: bool) -> Counts {
    let mut random = Random(5);
    let genome = random.bases(2500);
    let mut record = || {
        let from = random.below(2200);
        let mut sequence = genome[from..from + 300].to_vec();
        sequence[random.below(300)] = b"ACGTN"[random.below(5)];
        Record { sequence, quality: None }
    };
    let records: Vec<Record> = (0..60).map(|_| record()).collect();
    dir.write("reads.fa", fasta(&records, 70, "\n"));
    oracle::count(&records, Rule::new(k, canonical))
}

fn text(counts: &Counts) -> String {
    let mut text = String::new();
    for (kmer, count) in counts {
        writeln!(text, "{}\t{count}", String::from_utf8_lossy(kmer)).unwrap();
    }
    text
}

#[test]
fn databases_are_read_whatever_their_layout() {
    let layouts = [
        (5, LAYOUT),
        (21, LAYOUT),
        (21, Layout { prefix_bits: 10, file_bits: 3, most: 128, ..LAYOUT }),
        (31, Layout { words: 2, version: b'2', ..LAYOUT }),
        (32, Layout { version: b'1', most: 1 << 20, ..LAYOUT }),
        (40, LAYOUT),
        (64, Layout { prefix_bits: 6, ..LAYOUT }),
        (21, Layout { canonical: false, ..LAYOUT }),
    ];
    for (k, layout) in layouts {
        let dir = Dir::new();
        let counts = sample(&dir, k, layout.canonical);
        write(dir.root(), "t.meryl", &counts, k, layout);
        let strand = if layout.canonical { "" } else { "--forward-only" };
        let dump =
            |options: &str| dir.run(&format!("kmers dump -q {strand} {options} t.meryl")).ok();
        assert!(dump("") == text(&counts), "k {k}");
        assert!(dump("-t 2 --memory 100M") == text(&counts), "k {k}");
        dir.run(&format!("kmers verify {strand} t.meryl")).ok();
        let info = dir.run(&format!("kmers info {strand} t.meryl")).ok();
        assert!(info.contains("meryl") && info.contains(&k.to_string()), "{info}");
    }
}

#[test]
fn databases_go_together_with_other_tables() {
    let dir = Dir::new();
    let counts = sample(&dir, 21, true);
    write(dir.root(), "t.meryl", &counts, 21, LAYOUT);
    dir.run("count -q -k 21 --min-count 1 reads.fa -o own.mgk").ok();
    assert_eq!(dir.run("kmers subtract -q own.mgk t.meryl --format tsv -o -").ok(), "");
    assert_eq!(
        dir.run("kmers histogram -q t.meryl").ok(),
        dir.run("kmers histogram -q own.mgk").ok()
    );
    dir.write("asm.fa", dir.read("reads.fa"));
    dir.run("kmers qv -q --no-plots -o q t.meryl asm.fa").ok();
    assert!(dir.read("q.qv").starts_with(b"asm\t0\t"));
}

#[test]
fn what_is_wrong_is_said() {
    let dir = Dir::new();
    let counts = sample(&dir, 21, true);
    write(dir.root(), "t.meryl", &counts, 21, LAYOUT);
    let file = "t.meryl/0x000110.merylData";
    let whole = dir.read(file);
    for (bytes, said) in [
        (whole[..whole.len() - 8].to_vec(), "truncated"),
        (whole[..whole.len() / 2].to_vec(), "truncated"),
        (Vec::new(), "its index has"),
        (dir.read("t.meryl/0x000111.merylData"), "does not belong there"),
    ] {
        dir.write(file, &bytes);
        let error = dir.run("kmers dump -q t.meryl").fails(1);
        assert!(error.contains(said), "{error}");
    }
    // Any flipped bit leads to at most a one-line error or to other k-mers, never to a panic.
    for at in (0..whole.len()).step_by(37) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        dir.write(file, &bytes);
        let output = dir.run("kmers verify -q t.meryl");
        assert!(output.code.is_some_and(|code| code < 2), "byte {at}: {output:?}");
    }
    dir.write(file, &whole);
    write(
        dir.root(),
        "f.meryl",
        &sample(&dir, 21, false),
        21,
        Layout { canonical: false, ..LAYOUT },
    );
    let error = dir.run("kmers dump -q f.meryl").fails(1);
    assert!(error.contains("--forward-only"), "{error}");
    std::fs::remove_file(dir.path("t.meryl/0x111111.merylData")).unwrap();
    assert!(dir.run("kmers info t.meryl").fails(1).contains("0x111111.merylData"));
    write(dir.root(), "v.meryl", &counts, 21, Layout { version: b'4', ..LAYOUT });
    assert!(dir.run("kmers info v.meryl").fails(1).contains("meryl print"));
}
