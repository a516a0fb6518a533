//! Alignments that pass through `kmers filter-reads` as they are, compared with `samtools view`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use merganser_test_support::Dir;
use merganser_test_support::tools::installed;

use crate::kept::{check, convert, template, view, write};

const FILTER: &str = "kmers filter-reads -q --min-hits 20";

/// Returns for each template whether its reads, one by one, have enough hits.
fn hits(dir: &Dir) -> BTreeMap<String, Vec<bool>> {
    let (mut text, mut names) = (String::new(), Vec::new());
    for line in view(dir, "plain.sam") {
        let fields: Vec<&str> = line.split('\t').collect();
        if fields[1].parse::<u16>().unwrap() & 0x900 == 0 {
            writeln!(text, "@{}\n{}\n+\n{}", names.len(), fields[9], fields[10]).unwrap();
            names.push(template(&line).to_owned());
        }
    }
    dir.write("x.fq", text);
    let kept = dir.run(&format!("{FILTER} host.mgk x.fq")).ok();
    let kept: Vec<&str> = kept.lines().step_by(4).map(|name| &name[1..]).collect();
    let mut hits = BTreeMap::<String, Vec<bool>>::new();
    for (number, name) in names.into_iter().enumerate() {
        hits.entry(name).or_default().push(kept.contains(&&*number.to_string()));
    }
    hits
}

#[test]
fn reads_are_filtered_as_they_are() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = Dir::new();
    write(&dir);
    convert(&dir);
    dir.run("count -q -k 21 --min-count 1 -o host.mgk host.fa").ok();
    let hits = hits(&dir);
    let is = |name: &str, both: bool| match both {
        true => hits[name].iter().all(|&hits| hits),
        false => hits[name].iter().any(|&hits| hits),
    };
    assert!(hits.keys().any(|name| is(name, false) && !is(name, true)));
    for (pairs, invert) in [("any", ""), ("any", " --invert"), ("both", ""), ("both", " --invert")]
    {
        for input in ["grouped.bam", "grouped.cram", "plain.sam", "sorted.bam", "sorted.cram"] {
            let reference = if input.ends_with("cram") { " --reference ref.fa" } else { "" };
            let mut of_threads = Vec::new();
            for threads in [1, 3] {
                let options = format!("--pairs {pairs}{invert} --threads {threads}{reference}");
                dir.run(&format!("{FILTER} {options} host.mgk {input} -o yes.bam")).ok();
                let kept = |name: &str| is(name, pairs == "both") == invert.is_empty();
                let command = format!("kmers filter-reads --min-hits 20{invert} --pairs {pairs}");
                check(&dir, [input, "yes.bam"], kept, &command);
                dir.run(&format!("{FILTER} {options} host.mgk {input} -o yes.cram")).ok();
                check(&dir, [input, "yes.cram"], kept, &command);
                of_threads.push(["yes.bam", "yes.cram"].map(|name| dir.read(name)));
            }
            assert!(of_threads[0] == of_threads[1], "{input}");
        }
    }
}

/// The hits of both mates are added where these are side by side. Standard input and output are streams.
#[test]
fn mates_together_and_streams() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = Dir::new();
    write(&dir);
    convert(&dir);
    dir.run("count -q -k 21 --min-count 1 -o host.mgk host.fa").ok();
    let run = |options: &str| dir.run(&format!("{FILTER} host.mgk {options}"));
    let one_by_one = hits(&dir);
    run("--pairs together grouped.bam -o yes.bam").ok();
    let kept = view(&dir, "yes.bam");
    let kept = |name: &str| kept.iter().any(|line| template(line) == name);
    check(&dir, ["grouped.bam", "yes.bam"], kept, "kmers filter-reads --min-hits 20");
    // Either mate has too few hits, and both together have enough.
    assert!(one_by_one.iter().any(|(name, hits)| kept(name) && !hits.contains(&true)));
    let message = run("--pairs together sorted.bam -o no.bam").fails(1);
    assert!(message.contains("samtools collate"), "{message}");
    let piped = |args: &str| {
        let args = format!("{FILTER} host.mgk {args}");
        dir.run_with(args.split(' '), &dir.read("sorted.bam"))
    };
    assert!(piped("- -o no.bam").fails(1).contains("samtools collate"));
    let written = run("plain.sam --output-format sam").ok();
    let found: Vec<&str> = written.lines().filter(|line| !line.starts_with('@')).collect();
    let expected: Vec<String> = view(&dir, "plain.sam")
        .into_iter()
        .filter(|line| one_by_one[template(line)].contains(&true))
        .collect();
    assert_eq!(found, expected);
    assert!(!dir.path("no.bam").exists());
}

#[test]
fn reads_become_alignments_with_their_tags() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = Dir::new();
    dir.write("g.fa", ">g\nACGTACGTTTGACCATGACCAGATTACA\n");
    dir.run("count -q -k 21 --min-count 1 -o g.mgk g.fa").ok();
    for mate in [1, 2] {
        dir.write(&format!("{mate}.fq"), format!("@r/{mate}\tBC:Z:A C\tzi:i:-7\nACG\n+\nIII\n"));
    }
    dir.run("kmers filter-reads -q --min-hits 0 g.mgk -1 1.fq -2 2.fq -o pairs.bam").ok();
    let tags = "*\t0\t0\t*\t*\t0\t0\tACG\tIII\tBC:Z:A C\tzi:i:-7";
    assert_eq!(view(&dir, "pairs.bam"), [format!("r\t77\t{tags}"), format!("r\t141\t{tags}")]);
}

#[test]
fn what_alignments_cannot_be_is_refused() {
    let dir = Dir::new();
    write(&dir);
    dir.run("count -q -k 21 --min-count 1 -o host.mgk host.fa").ok();
    for (args, code, said) in [
        ("--any-names -1 grouped.sam -2 plain.sam -o x.bam", 1, "mates in two files of alignments"),
        ("plain.sam grouped.sam -o x.bam", 2, "one input at a time"),
        ("plain.sam --trim -o x.bam", 2, "--trim and --mask are for FASTQ and FASTA"),
        ("plain.sam --mask soft -o x.sam", 2, "alignments are written as they are"),
        ("--interleaved plain.sam -o x.bam --output2 y.bam", 2, "both mates belong into one file"),
        ("plain.sam -o x.cram.gz", 2, "CRAM is already compressed"),
        ("missing.bam -o x.bam", 1, "missing.bam: cannot open"),
    ] {
        let message = dir.run(&format!("kmers filter-reads -q host.mgk {args}")).fails(code);
        assert!(message.contains(said), "{args}: {message}");
    }
    assert!(!dir.path("x.bam").exists());
}
