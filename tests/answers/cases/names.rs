//! The suffix of an output decides its format; unsuitable suffixes are refused.

use std::path::Path;

use merganser_test_support::reads::{Random, Record, fasta, fastq};
use merganser_test_support::{Dir, two_species};

/// Returns a directory with a table, a minimizer set, a reference and its index, a database, and FASTQ, FASTA and
/// pairs.
fn folder() -> Dir {
    let dir = Dir::new();
    two_species::write_taxonomy(&dir);
    let mut random = Random(4);
    let genome = random.bases(3000);
    let reads: Vec<Record> = (0..40)
        .map(|at| Record {
            sequence: genome[50 * at..50 * at + 120].to_vec(),
            quality: Some(vec![b'I'; 120]),
        })
        .collect();
    dir.write("g.fa", fasta(&[genome[..].into()], 80, "\n"));
    dir.write("r.fq", fastq(&reads, "\n"));
    dir.write("r.fa", fasta(&reads, 200, "\n"));
    dir.write("m1.fq", fastq(&reads, "\n"));
    dir.write("m2.fq", fastq(&reads, "\n"));
    dir.run("count -q -k 21 --min-count 1 r.fq -o t.mgk").ok();
    dir.run("deplete index -q g.fa -o h.mgd").ok();
    dir.run("index -q g.fa -o g.mgi").ok();
    dir
}

/// Returns the format of a file by its first bytes.
fn found(path: &Path) -> &'static str {
    let bytes = std::fs::read(path).unwrap();
    let magics: [(&[u8], &str); 14] = [
        (b"\x89MGK", "mgk"),
        (b"KFF", "kff"),
        (b"0000", "jf"),
        (b"PAR1", "parquet"),
        (b"\x89MGS", "mgd"),
        (b"\x89MGX", "mgx"),
        (b"\x1f\x8b", "gzip"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"\x89PNG", "png"),
        (b"<svg", "svg"),
        (b"CRAM", "cram"),
        (b"@HD", "sam"),
        (b"@", "fastq"),
        (b">", "fasta"),
    ];
    magics.iter().find(|(magic, _)| bytes.starts_with(magic)).map_or("text", |(_, name)| name)
}

#[test]
fn a_listed_suffix_gets_its_format() {
    let dir = folder();
    for (run, name, format) in [
        ("count -q -k 21 r.fq -o", "x.mgk", "mgk"),
        ("count -q -k 21 r.fq -o", "x.other", "mgk"),
        ("count -q -k 21 r.fq -o", "x.tsv", "text"),
        ("count -q -k 21 r.fq -o", "x.TSV.gz", "gzip"),
        ("count -q -k 21 r.fq -o", "x.kff", "kff"),
        ("count -q -k 21 r.fq -o", "x.jf", "jf"),
        ("kmers reduce -q t.mgk -o", "y.jf", "jf"),
        ("kmers reduce -q t.mgk -o", "y.tsv", "text"),
        ("kmers reduce -q t.mgk -o", "y.fa", "fasta"),
        ("kmers union -q t.mgk -o", "y.kff", "kff"),
        ("kmers dump -q t.mgk -o", "y.fasta", "fasta"),
        ("kmers dump -q t.mgk -o", "y.txt", "text"),
        ("kmers matrix -q t.mgk -o", "z.mgx", "mgx"),
        ("kmers matrix -q t.mgk -o", "z.tsv.gz", "gzip"),
        ("deplete index -q g.fa -o", "h.other", "mgd"),
        ("deplete filter -q h.mgd r.fq -o", "d.fq", "fastq"),
        ("deplete filter -q h.mgd r.fa -o", "d.fasta", "fasta"),
        ("deplete filter -q h.mgd r.fq -o", "d.fq.zst", "zstd"),
        ("deplete filter -q h.mgd r.fq -o", "d.reads", "fastq"),
        ("deplete filter -q h.mgd r.fq -o", "d.sam", "sam"),
        ("deplete filter -q h.mgd r.fq -o", "d.bam", "gzip"),
        ("kmers filter-reads -q t.mgk r.fq -o", "f.fastq.gz", "gzip"),
        ("kmers filter-reads -q t.mgk r.fq -o", "f.sam", "sam"),
        ("kmers filter-reads -q t.mgk r.fq -o", "f.bam", "gzip"),
        ("map -q g.mgi r.fq -e 3 -o", "a.sam", "sam"),
        ("map -q g.mgi r.fq -e 3 -o", "a.bam", "gzip"),
        ("map -q g.mgi r.fq -e 3 -o", "a.txt", "sam"),
    ] {
        let ran = dir.run(&format!("{run} {name}"));
        assert_eq!(ran.code, Some(0), "{run} {name}: {}", ran.stderr);
        let bytes = std::fs::metadata(dir.path(name)).unwrap().len();
        assert!(
            bytes == 0 || found(&dir.path(name)) == format,
            "{run} {name}: {}",
            found(&dir.path(name))
        );
    }
}

/// Either file of a KMC database names the database.
#[test]
fn a_file_of_kmc_names_its_database() {
    let dir = folder();
    for run in ["count -q -k 21 r.fq -o x.kmc_pre", "kmers reduce -q t.mgk -o y.kmc_suf"] {
        dir.run(run).ok();
    }
    let names = dir.names();
    let found: Vec<_> = names.iter().filter(|name| name.contains("kmc")).collect();
    assert_eq!(found, ["x.kmc_pre", "x.kmc_suf", "y.kmc_pre", "y.kmc_suf"]);
}

#[test]
fn a_suffix_that_an_output_cannot_have_is_refused() {
    let dir = folder();
    for (run, name, part) in [
        ("count -k 21 r.fq -o", "x.bam", "cannot be BAM: end its name in .mgk"),
        ("kmers dump t.mgk -o", "y.jf", "cannot be Jellyfish's binary format"),
        ("count -k 21 r.fq -o", "x.jf.gz", "is already compressed: leave .gz out"),
        ("count -k 21 r.fq -o", "x.ktab", "cannot be a table of FastK"),
        ("count -k 21 r.fq -o", "x.mgk.gz", "is already compressed: leave .gz out"),
        ("count -k 21 r.fq -o", "x.tsv.xz", "cannot be compressed as .xz"),
        ("count -k 21 r.fq --format mgk -o", "x.gz", "cannot be compressed as .gz"),
        (
            "count -k 21 r.fq --format none --histogram",
            "h.svg",
            "cannot be SVG: end its name in .tsv",
        ),
        (
            "count -k 21 r.fq --format none --report-html",
            "h.pdf",
            "cannot be PDF: end its name in .html",
        ),
        ("count -k 21 r.fq --format none --json", "j.tsv", "cannot be TSV: end its name in .json"),
        ("kmers union t.mgk -o", "y.csv", "cannot be CSV"),
        ("kmers dump t.mgk -o", "y.kff", "cannot be KFF: end its name in .tsv, .fa"),
        ("kmers matrix t.mgk -o", "y.xlsx", "cannot be a spreadsheet"),
        ("kmers hetmers t.mgk --plot", "p.jpg", "cannot be JPEG: end its name in .svg, .png, .pdf"),
        ("kmers compare t.mgk t.mgk -o", "y.json", "cannot be JSON"),
        ("kmers profile t.mgk r.fq -o", "y.fq", "cannot be FASTQ"),
        ("kmers filter-reads t.mgk r.fq -o", "y.paf", "cannot be PAF: end its name in .fq, .fa"),
        ("deplete filter h.mgd r.fq -o", "d.cram.gz", "CRAM is already compressed"),
        ("deplete filter h.mgd r.fq -o", "d.fq.bz2", "cannot be compressed as .bz2"),
        (
            "deplete filter h.mgd r.fq -o",
            "d.fa",
            "the reads of r.fq have qualities, and are written as FASTQ",
        ),
        (
            "deplete filter h.mgd r.fa -o",
            "d.fq",
            "the reads of r.fa have no qualities, which FASTQ needs",
        ),
        ("deplete index g.fa -o", "h.tsv", "cannot be TSV: end its name in .mgd, .idx"),
        ("index g.fa -o", "i.mgdb", "cannot be a .mgdb database: end its name in .mgi"),
        ("map g.mgi r.fq -e 3 -o", "a.paf", "cannot be PAF: end its name in .sam, .bam, .cram"),
        ("map g.mgi r.fq -e 3 -o", "a.bam.gz", "BAM is already compressed"),
        ("map g.mgi r.fq -e 3 -o a.bam --unmapped", "u.bam", "cannot be BAM"),
        ("build --taxonomy tax --map map.tsv g.fa -o", "d.k2d.json", "cannot be JSON"),
    ] {
        let before = dir.names();
        // A contradiction with the content of the input is not a usage error.
        let code = if part.contains("the reads of") { 1 } else { 2 };
        let message = dir.run(&format!("{run} {name}")).fails(code);
        assert!(message.contains(part), "{run} {name}: {message}");
        assert_eq!(dir.names(), before, "{run} {name}");
    }
}

#[test]
fn an_option_wins_with_a_note() {
    let dir = folder();
    for (run, name, format) in [
        ("count -k 21 r.fq --format mgk -o", "x.tsv", "mgk"),
        ("kmers dump t.mgk --format tsv -o", "x.fa", "text"),
        ("kmers union t.mgk --format kff -o", "y.mgk", "kff"),
        ("kmers matrix t.mgk --format dense -o", "z.tsv", "mgx"),
    ] {
        let ran = dir.run(&format!("{run} {name}"));
        let notes = ran.stderr.lines().filter(|line| line.contains("--format decides")).count();
        assert_eq!((ran.code, notes), (Some(0), 1), "{run} {name}: {}", ran.stderr);
        assert_eq!(found(&dir.path(name)), format, "{run} {name}");
    }
    let ran = dir.run("kmers union t.mgk --format kff -o y.kff");
    assert!(!ran.stderr.contains("note:"), "{}", ran.stderr);
}

#[test]
fn mates_in_one_file_are_noted() {
    let dir = folder();
    for run in [
        "deplete filter h.mgd -1 m1.fq -2 m2.fq -o o.fq",
        "kmers filter-reads t.mgk -1 m1.fq -2 m2.fq -o o.fq",
        "map g.mgi -1 m1.fq -2 m2.fq -e 3 -o o.bam --unmapped o.fq",
    ] {
        let ran = dir.run(run);
        assert_eq!(ran.code, Some(0), "{run}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("o.fq: first and second mates are interleaved"),
            "{run}: {}",
            ran.stderr
        );
    }
    let ran = dir.run("deplete filter h.mgd -1 m1.fq -2 m2.fq -o o#.fq");
    assert!(!ran.stderr.contains("take turns"), "{}", ran.stderr);
    let ran = dir.run("deplete filter h.mgd -1 m1.fq -2 m2.fq -o -");
    assert!(!ran.stderr.contains("take turns"), "{}", ran.stderr);
}
