//! Valid inputs of every kind, and bad ones.

use super::*;
use merganser_test_support::forms::gzip;

#[test]
fn input_of_every_kind() {
    let mut random = Random(12);
    let contigs = contigs(&mut random);
    let dir = Dir::new();
    dir.write("ref.fa", fasta(&contigs));
    let reads = reads(&mut random, &contigs, 100, 3);
    dir.write("ref.fa.gz", gzip(&fasta(&contigs)));
    dir.write("reads.fq.gz", gzip(&fastq(&reads)));
    let plain = dir.run_with("map -q ref.fa - -e 3".split(' '), &fastq(&reads)).ok();
    // A stream may have pairs, in alignments.
    let pairs = "--min-insert 0 --max-insert 500";
    assert!(plain.contains(&format!("CL:merganser map -e 3 --all {pairs} -- ref.fa -\n")));
    let zipped = dir.run("map -q ref.fa.gz reads.fq.gz -e 3").ok();
    assert!(without_command(&zipped) == without_command(&plain));
    // Lower case and U are read as upper case and T, and FASTA has no qualities.
    let letters: String = String::from_utf8(contigs[0][..120].to_vec()).unwrap();
    let odd = letters.to_lowercase().replace('t', "u");
    let mapped = dir.run_with("map -q ref.fa - -e 3".split(' '), format!(">x\n{odd}\n").as_bytes());
    let found = records(&mapped.ok());
    assert_eq!((&found[0].letters, &found[0].qualities[..]), (&letters, "*"));
    // No reads at all; reads that cannot have a hit: empty, with no more bases than edits, or longer than the
    // reference.
    assert_eq!(records(&dir.run_with("map ref.fa - -e 3".split(' '), b"").ok()).len(), 0);
    let text =
        format!("@e\n\n+\n\n@s\nACG\n+\nIII\n@l\n{}\n+\n{}\n", "A".repeat(9999), "I".repeat(9999));
    let ran = dir.run_with("map ref.fa - -e 3".split(' '), text.as_bytes());
    assert_eq!(ran.warnings().len(), 1, "{}", ran.stderr);
    assert!(ran.warnings()[0].contains("2 reads have no more bases than -e"), "{}", ran.stderr);
    assert!(records(&ran.ok()).iter().all(|record| record.flags == 4));
    // Reads that are too long are left unmapped; --crop maps their beginning.
    let long = format!(">l\n{}\n>s\n{letters}\n", letters.repeat(200));
    let ran = dir.run_with("map ref.fa - -e 3 --json j".split(' '), long.as_bytes());
    assert!(ran.warnings()[0].contains("1 reads have more than 16,384 bases"), "{}", ran.stderr);
    let found = records(&ran.ok());
    assert_eq!((found[0].flags, found[0].letters.len(), found[1].flags), (4, 24_000, 0));
    let json: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
    assert_eq!(json["results"]["reads_too_long"], 1);
    let ran = dir.run_with("map -q ref.fa - -e 3 --crop 120".split(' '), long.as_bytes());
    assert!(records(&ran.ok()).iter().all(|record| record.flags == 0));
    // Short reads are scanned for, and a warning says so.
    let ran = dir.run_with(
        "map ref.fa - -e 3".split(' '),
        format!("@s\n{}\n+\n{}\n", &letters[..24], "I".repeat(24)).as_bytes(),
    );
    assert!(
        ran.warnings()[0].contains("1 reads are too short for the seeds that"),
        "{}",
        ran.stderr
    );
    assert_eq!(records(&ran.ok())[0].cigar, "24M");
}

#[test]
fn bad_inputs() {
    let good = &b">a\nACGTTGCATGCAAACGTTGACCA\n"[..];
    let fq = "@r\nACGTTGCATGCAAACGT\n+\nIIIIIIIIIIIIIIIII\n";
    let cases = [
        (&b""[..], fq, "map f q -e 1 -o o.bam"),
        (b">a\n", fq, "map f q -e 1 -o o.bam"),
        (b">a\nACGT\n>a\nACGT\n", fq, "map f q -e 1 -o o.bam"),
        (b">a\nAC-GT\n", fq, "map f q -e 1 -o o.bam"),
        (b">  \nACGT\n", fq, "index f -o o.mgi"),
        (good, "@r\nAC-T\n+\nIIII\n", "map f q -e 1 -o o.bam"),
        (good, "@r\nACGT\n+\nIII\n", "map f q -e 1 -o o.bam"),
        (good, fq, "map f q -e 1 -2 two -o o.bam"),
        (good, "@r/1\nACGTTGCA\n+\nIIIIIIII\n", "map f q -e 1 -2 other -o o.bam"),
        (good, fq, "map f missing -e 1 -o o.bam"),
        (good, fq, "map missing q -e 1 -o o.bam"),
        (good, fq, "map f q -e 1 -o no/o.bam"),
        (good, fq, "map f q -e 1 -o q"),
        (good, fq, "map f q -e 1 -o o.bam --threads 2 --memory 30M"),
        (good, fq, "index f -o f"),
        (good, fq, "index --verify f"),
        (b"\x89MGI", fq, "map f q -e 1 -o o.bam"),
    ];
    let mut text = String::new();
    for (reference, reads, args) in cases {
        let dir = Dir::new();
        dir.write("f", reference);
        dir.write("q", reads);
        dir.write("two", format!("{fq}{fq}"));
        dir.write("other", "@s/2\nACGTTGCA\n+\nIIIIIIII\n");
        text += &format!("$ merganser {args}\n{}", dir.run(args).fails(1));
        assert_eq!(dir.names(), ["f", "other", "q", "two"]);
    }
    insta::assert_snapshot!(text);
}

/// Mistakes in the arguments are named, with the remedy.
#[test]
fn slips() {
    let dir = Dir::new();
    let fq = "@r\nACGTTGCATGCAAACGT\n+\nIIIIIIIIIIIIIIIII\n";
    dir.write("ref.fa", ">a\nACGTTGCATGCAAACGTTGACCA\n");
    dir.write("reads.fq", fq);
    dir.write("reads.sam", "r\t4\t*\t0\t0\t*\t*\t0\t0\tACGT\tIIII\n");
    dir.run("index -q ref.fa -o ref.mgi").ok();
    let before = dir.names();
    let cases = [
        (2, "map ref.mgi reads.fq -e 1 -o out.cram"),
        (2, "map reads.fq ref.mgi -e 1 -o o.bam"),
        (2, "map reads.fq -1 reads.fq -2 ref.mgi -e 1 -o o.bam"),
        (1, "map reads.fq ref.fa -e 1 -o o.bam"),
        (1, "map reads.sam ref.fa -e 1 -o o.bam"),
        (1, "index reads.fq -o o.mgi"),
        (2, "map ref.fa -1 reads.fq -1 reads.fq -2 reads.fq -e 1"),
        (2, "map ref.fa reads.fq -2 reads.fq --interleaved -e 1"),
        (2, "map ref.fa reads.fq --interleaved --strand forward -e 1"),
        (1, "map ref.fa reads.fq --interleaved -e 1 -o o.bam"),
    ];
    let mut text = String::new();
    for (code, args) in cases {
        text += &format!("$ merganser {args}\n{}", dir.run(args).fails(code));
        assert_eq!(dir.names(), before, "{args}");
    }
    insta::assert_snapshot!(text);
}

/// Qualities in records and in the output of unmapped reads are Phred+33, whatever the input has.
#[test]
fn qualities_of_phred_64_become_those_of_records() {
    let mut random = Random(13);
    let contigs = contigs(&mut random);
    let dir = Dir::new();
    dir.write("ref.fa", fasta(&contigs));
    let read = String::from_utf8(contigs[0][..60].to_vec()).unwrap();
    let text = |letter: &str| format!("@r\n{read}\n+\n{}\n", letter.repeat(60)).into_bytes();
    let mapped = |args: &str, reads: &[u8]| {
        let found = dir.run_with(format!("map -q ref.fa - -e 2 {args}").split_whitespace(), reads);
        records(&found.ok()).remove(0).qualities
    };
    assert_eq!(mapped("", &text("I")), "I".repeat(60));
    assert_eq!(mapped("--quality-offset 64", &text("h")), "I".repeat(60));
    // Letters below 64 are invalid in Phred+64.
    let ran = dir.run_with("map -q ref.fa - -e 2 --quality-offset 64".split(' '), &text("I"));
    assert_eq!(ran.code, Some(0));
    let ran = dir.run_with("map -q ref.fa - -e 2 --quality-offset 64".split(' '), &text("5"));
    assert!(ran.fails(1).contains("record 1"));
}

/// Reads that `map` is not made for are named before the run, and a result without a hit after it.
#[test]
fn long_and_foreign_reads_are_warned_of() {
    let mut random = Random(31);
    let dir = Dir::new();
    dir.write("ref.fa", fasta(&[random.bases(5000)]));
    let mut write = |name: &str, length: usize| {
        let reads: Vec<_> = (0..100).map(|at| (format!("r{at}"), random.bases(length))).collect();
        dir.write(name, fastq(&reads));
    };
    write("long.fq", 1500);
    write("short.fq", 100);
    for (name, is_long) in [("long.fq", true), ("short.fq", false)] {
        let ran = dir.run(&format!("map ref.fa {name} -e 3 -o o.sam"));
        let said = ran.stderr.contains("long.fq: the first reads have 1,500 bases on average");
        assert_eq!(said, is_long, "{}", ran.stderr);
        assert!(ran.stderr.contains("no read was mapped"), "{}", ran.stderr);
        ran.ok();
    }
}

/// Reads of alignments that have no qualities get none, and their mates are single reads only with `-U`.
#[test]
fn alignments_without_qualities_and_single() {
    let contig = Random(31).bases(900);
    let dir = Dir::new();
    dir.write("ref.fa", fasta(std::slice::from_ref(&contig)));
    let mates = [contig[100..160].to_vec(), contig[300..360].to_vec()];
    let [one, two] = mates.map(|letters| String::from_utf8(letters).unwrap());
    let line = |flags: u16, letters: &str, quality: &str| {
        format!("r\t{flags}\t*\t0\t0\t*\t*\t0\t0\t{letters}\t{quality}\n")
    };
    let some = "I".repeat(60);
    dir.write("a.sam", [line(77, &one, "*"), line(141, &two, &some)].concat());
    let map =
        |options: &str| records(&dir.run(&format!("map -q ref.fa a.sam -e 2 {options}")).ok());
    let found = map("--all --unmapped un.fq");
    assert_eq!([&found[0].qualities[..], &found[1].qualities], ["*", &some]);
    assert_eq!([found[0].flags & 1, found[1].flags & 1], [1, 1]);
    let found = map("-U --best");
    assert_eq!([&found[0].name[..], &found[1].name], ["r/1", "r/2"]);
    assert_eq!([found[0].flags, found[1].flags], [0, 0]);
    assert_eq!(found[0].qualities, "*");
    let found = map("-U --best --strand forward");
    assert_eq!([found[0].flags, found[1].flags], [0, 0]);
}
