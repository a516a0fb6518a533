//! Alignments that pass through `extract reads` as they are, compared with `samtools view`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use merganser_test_support::Dir;
use merganser_test_support::tools::installed;

use crate::kept::{check, convert, template, view, write};

/// Returns the taxid of a mate, 0 or 1, of a template.
fn taxid(name: &str, mate: usize) -> usize {
    let number: usize = name[1..].parse().unwrap();
    [11, 12, 0, 12][number / 4usize.pow(mate as u32) % 4]
}

/// Writes the lines of the reads of a file, in their order: one for each template, or one for each read.
pub(crate) fn write_lines(dir: &Dir, input: &str, of_reads: bool) {
    let (mut text, mut seen) = (String::new(), BTreeSet::new());
    for line in view(dir, input) {
        let (name, flags) = (template(&line), line.split('\t').nth(1).unwrap());
        let flags: u16 = flags.parse().unwrap();
        if flags & 0x900 != 0 || !(seen.insert(name.to_owned()) || of_reads) {
            continue;
        }
        let suffix = match flags & 0xc0 {
            _ if !of_reads => "",
            0x40 => "/1",
            0x80 => "/2",
            _ => "",
        };
        let mate = usize::from(of_reads && flags & 0x80 != 0);
        writeln!(text, "C\t{name}{suffix}\t{}\t100\t0:1", taxid(name, mate)).unwrap();
    }
    dir.write("l.tsv", text);
}

/// Returns the names of the templates of which a read has taxid 11.
fn wanted(dir: &Dir) -> BTreeSet<String> {
    let lines = String::from_utf8(dir.read("l.tsv")).unwrap();
    let of = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        (fields[2] == "11").then(|| fields[1].split('/').next().unwrap().to_owned())
    };
    lines.lines().filter_map(of).collect()
}

#[test]
fn reads_are_extracted_as_they_are() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = Dir::new();
    write(&dir);
    convert(&dir);
    for (input, of_reads) in [
        ("grouped.bam", false),
        ("grouped.cram", false),
        ("plain.sam", false),
        ("sorted.bam", false),
        ("sorted.bam", true),
        ("sorted.cram", true),
    ] {
        write_lines(&dir, input, of_reads);
        let wanted = wanted(&dir);
        let reference = if input.ends_with("cram") { " --reference ref.fa" } else { "" };
        for exclude in ["", " --exclude"] {
            let mut of_threads = Vec::new();
            for threads in [1, 3] {
                let options = format!("--taxid 11{exclude} -t {threads}{reference} -q");
                dir.run(&format!("extract reads {options} --lines l.tsv {input} -o yes.bam")).ok();
                let kept = |name: &str| wanted.contains(name) == exclude.is_empty();
                let command = format!("extract reads --taxid 11{exclude} --lines l.tsv");
                check(&dir, [input, "yes.bam"], kept, &command);
                dir.run(&format!("extract reads {options} --lines l.tsv {input} -o yes.cram")).ok();
                check(&dir, [input, "yes.cram"], kept, &command);
                of_threads.push(["yes.bam", "yes.cram"].map(|name| dir.read(name)));
            }
            assert!(of_threads[0] == of_threads[1], "{input}");
        }
        // Lines of a pipe are read once.
        let args = format!("extract reads --taxid 11 -q{reference} --lines - {input} -o yes.sam");
        dir.run_with(args.split(' '), &dir.read("l.tsv")).ok();
        check(&dir, [input, "yes.sam"], |name| wanted.contains(name), "extract reads --taxid 11");
    }
    let args = "extract reads --taxid 11 -q --lines l.tsv - -o no.bam";
    let message = dir.run_with(args.split(' '), &dir.read("sorted.bam")).fails(1);
    assert!(message.contains("samtools collate"), "{message}");
    write_lines(&dir, "plain.sam", false);
    let wanted = wanted(&dir);
    let written = dir.run("extract reads --taxid 11 -q --lines l.tsv plain.sam --format sam").ok();
    let found: Vec<&str> = written.lines().filter(|line| !line.starts_with('@')).collect();
    let all = view(&dir, "plain.sam");
    let expected = all.iter().filter(|line| wanted.contains(template(line)));
    assert!(found.into_iter().eq(expected));
    assert!(!dir.path("no.bam").exists());
}

#[test]
fn reads_become_alignments_with_their_tags() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = Dir::new();
    for mate in [1, 2] {
        let read = |name: &str| format!("@{name}/{mate}\tBC:Z:A C\tzi:i:-7\nACG\n+\nIII\n");
        dir.write(&format!("{mate}.fq"), read("a") + &read("b"));
    }
    dir.write("l.tsv", "C\ta\t11\t3|3\t\nC\tb\t12\t3|3\t\n");
    dir.run("extract reads --taxid 12 -q --lines l.tsv -1 1.fq -2 2.fq -o pairs.bam").ok();
    let tags = "*\t0\t0\t*\t*\t0\t0\tACG\tIII\tBC:Z:A C\tzi:i:-7";
    assert_eq!(view(&dir, "pairs.bam"), [format!("b\t77\t{tags}"), format!("b\t141\t{tags}")]);
}

#[test]
fn what_alignments_cannot_be_is_refused() {
    let dir = Dir::new();
    write(&dir);
    dir.write("l.tsv", "C\tt0\t11\t100\t\n");
    for (args, code, said) in [
        ("--any-names -1 grouped.sam -2 plain.sam -o x.bam", 1, "mates in two files of alignments"),
        ("plain.sam grouped.sam -o x.bam", 2, "one input at a time"),
        ("--interleaved plain.sam -o x#.bam", 2, "both mates belong into one file"),
        (
            "--interleaved plain.sam -o x.fq --output2 y.bam",
            2,
            "must be alignments (SAM, BAM, CRAM) if one is",
        ),
        ("plain.sam -o x.cram.gz", 2, "CRAM is already compressed"),
        ("missing.bam -o x.bam", 1, "missing.bam: cannot open"),
    ] {
        let message =
            dir.run(&format!("extract reads -q --taxid 11 --lines l.tsv {args}")).fails(code);
        assert!(message.contains(said), "{args}: {message}");
    }
    assert!(!dir.path("x.bam").exists());
}
