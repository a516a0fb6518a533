//! Alignments that pass through `classify` with the taxon of their read, compared with `samtools view`.

use std::collections::BTreeMap;

use merganser_test_support::Dir;
use merganser_test_support::tools::{installed, shell};
use merganser_test_support::two_species::write_taxonomy;

use crate::kept::{check, convert, template, view, write};

/// Writes alignments of reads of species 11, of species 12 and of neither, and a database of each kind.
fn prepare(dir: &Dir) {
    write(dir);
    write_taxonomy(dir);
    let text = String::from_utf8(dir.read("ref.fa")).unwrap();
    let contigs: Vec<&str> = text.lines().filter(|line| !line.starts_with('>')).collect();
    dir.write("g0.fa", format!(">g0|kraken:taxid|11\n{}\n", contigs[0]));
    dir.write("g1.fa", format!(">g1|kraken:taxid|12\n{}\n", &contigs[1][..10_000]));
    dir.run("build -q --taxonomy tax -o own.mgdb g0.fa g1.fa").ok();
    dir.run("build -q --format kraken2 --taxonomy tax -o k2 g0.fa g1.fa").ok();
}

/// The taxids of reads by the names of their templates, and 1 or 2 for mates that were classified one by one.
type Taxids = BTreeMap<(String, usize), usize>;

/// Returns the taxids of the lines of a run.
fn taxids(dir: &Dir, lines: &str) -> Taxids {
    let of = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let (name, mate) = fields[1].split_once('/').unwrap_or((fields[1], "0"));
        ((name.to_owned(), mate.parse().unwrap()), fields[2].parse().unwrap())
    };
    String::from_utf8(dir.read(lines)).unwrap().lines().map(of).collect()
}

/// Returns the taxid of the read of an alignment.
fn taxid_of(line: &str, taxids: &Taxids) -> usize {
    let flags: usize = line.split('\t').nth(1).unwrap().parse().unwrap();
    let of = |mate: usize| taxids.get(&(template(line).to_owned(), mate));
    *of(flags >> 6 & 3).or_else(|| of(0)).unwrap()
}

/// Returns the tags of a taxon.
fn tags(taxid: usize) -> String {
    let name = match taxid {
        0 => "unclassified".to_owned(),
        1 => "root".to_owned(),
        2 => "Bacteria".to_owned(),
        11 => "One".to_owned(),
        other => other.to_string(),
    };
    format!("\ttx:i:{taxid}\ttn:Z:{name}")
}

/// Checks that the lines of a file end in the tags of their taxon, and writes them without these tags.
fn take_tags(dir: &Dir, file: &str, taxids: &Taxids) {
    for line in view(dir, file) {
        let tags = tags(taxid_of(&line, taxids));
        assert!(line.ends_with(&tags), "{file}: {line}\n{tags}");
    }
    let without = "samtools view --no-PG -h -x tx -x tn --input-fmt-option decode_md=0";
    shell(dir.root(), &format!("{without} {file} > {file}.without.sam"));
}

#[test]
fn alignments_get_the_taxon_of_their_read() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = Dir::new();
    prepare(&dir);
    convert(&dir);
    for (database, options) in
        [("own.mgdb", ""), ("own.mgdb", " --cov-percentile 1"), ("k2", " --confidence 0.1")]
    {
        for input in
            ["grouped.bam", "grouped.sam", "plain.sam", "grouped.cram", "sorted.bam", "sorted.cram"]
        {
            let reference = if input.ends_with("cram") { " --reference ref.fa" } else { "" };
            let alone = dir
                .run(&format!("classify -q {database} {input}{options}{reference} -o alone.tsv"));
            // If mates do not lie side by side, only alignments can be written, which are brought together by name.
            let is_grouped = input.starts_with("grouped");
            if is_grouped {
                alone.ok();
            } else {
                assert!(alone.fails(1).contains("samtools collate"));
            }
            let mut of_threads = Vec::new();
            for threads in [1, 3] {
                for outputs in [
                    "--classified-out yes.bam --unclassified-out no.sam",
                    "--classified-out yes.cram --unclassified-out no.cram",
                ] {
                    dir.run(&format!(
                        "classify -q {database} {input}{options}{reference} -o l.tsv {outputs} -t {threads}"
                    ))
                    .ok();
                }
                let files = ["yes.bam", "no.sam", "yes.cram", "no.cram", "l.tsv"];
                of_threads.push(files.map(|name| dir.read(name)));
            }
            assert!(of_threads[0] == of_threads[1], "{database} {input}");
            assert!(!is_grouped || dir.read("l.tsv") == dir.read("alone.tsv"), "{input}");
            let taxids = taxids(&dir, "l.tsv");
            for taxid in [0, 11, 12] {
                assert!(taxids.values().filter(|found| **found == taxid).count() > 100, "{taxid}");
            }
            for (file, is_classified) in
                [("yes.bam", true), ("no.sam", false), ("yes.cram", true), ("no.cram", false)]
            {
                take_tags(&dir, file, &taxids);
                let found = |name: &str| {
                    (0..3)
                        .any(|mate| taxids.get(&(name.to_owned(), mate)).is_some_and(|&id| id != 0))
                };
                let is_kept = |name: &str| found(name) == is_classified;
                let command = format!("classify{options}");
                check(&dir, [input, &format!("{file}.without.sam")], is_kept, &command);
            }
        }
    }
    // The tags of a run replace those of an earlier one.
    dir.run("classify -q k2 grouped.sam --no-map --classified-out 1.sam").ok();
    dir.run("classify -q k2 1.sam --no-map --classified-out 2.sam").ok();
    assert_eq!(view(&dir, "1.sam"), view(&dir, "2.sam"));
}

#[test]
fn reads_become_alignments_with_their_taxon() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = Dir::new();
    prepare(&dir);
    let text = String::from_utf8(dir.read("g0.fa")).unwrap();
    let bases = &text.lines().nth(1).unwrap()[500..600];
    let quality = "I".repeat(100);
    for mate in [1, 2] {
        let read = |name: &str, bases: &str, quality: &str| {
            format!("@{name}/{mate}\tBC:Z:A C\n{bases}\n+\n{quality}\n")
        };
        let short = read("b", "ACG", "III");
        dir.write(&format!("{mate}.fq"), read("a", bases, &quality) + &short);
    }
    for database in ["own.mgdb", "k2"] {
        let outputs = "--classified-out yes.bam --unclassified-out no.bam --shard 1/1 --partial p";
        dir.run(&format!("classify -q {database} -1 1.fq -2 2.fq --no-map {outputs}")).ok();
        let expected = |name: &str, bases: &str, quality: &str, tags: &str| {
            let rest = format!("*\t0\t0\t*\t*\t0\t0\t{bases}\t{quality}\tBC:Z:A C{tags}");
            [format!("{name}\t77\t{rest}"), format!("{name}\t141\t{rest}")]
        };
        assert_eq!(view(&dir, "yes.bam"), expected("a", bases, &quality, &tags(11)));
        assert_eq!(view(&dir, "no.bam"), expected("b", "ACG", "III", &tags(0)));
    }
    let lines = dir.run("classify -q k2 1.fq --no-map --classified-out - --output-format sam").ok();
    assert!(lines.ends_with(&format!("\tBC:Z:A C{}\n", tags(11))), "{lines}");
}

#[test]
fn what_alignments_cannot_be_is_refused() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = Dir::new();
    prepare(&dir);
    convert(&dir);
    let cut = dir.read("grouped.bam");
    dir.write("cut.bam", &cut[..cut.len() / 2]);
    let wrong = String::from_utf8(dir.read("grouped.sam")).unwrap();
    dir.write("wrong.sam", wrong + "t4\t2052\t*\t0\t0\t*\t*\t0\t0\tA\tI\n");
    for (args, code, said) in [
        ("wrong.sam --classified-out x.bam", 1, "samtools collate"),
        ("--any-names -1 grouped.sam -2 plain.sam --classified-out x.bam", 1, "samtools merge -n"),
        ("plain.sam grouped.sam --classified-out x.bam", 2, "one input at a time"),
        ("--interleaved grouped.sam --classified-out x#.bam", 2, "both mates belong into one file"),
        (
            "grouped.sam --classified-out x.bam --unclassified-out x.fq",
            2,
            "must be alignments (SAM, BAM, CRAM) if one is",
        ),
        ("grouped.sam --classified-out x.cram.gz", 2, "CRAM is already compressed"),
        ("cut.bam --classified-out x.bam", 1, "cut.bam"),
        ("grouped.sam --classified-out grouped.sam", 1, "grouped.sam"),
        ("sorted.bam --classified-out x.bam --shard 1/2 --partial p", 1, "samtools collate"),
    ] {
        for database in ["own.mgdb", "k2"] {
            let message = dir.run(&format!("classify -q {database} --no-map {args}")).fails(code);
            assert!(message.contains(said), "{args}: {message}");
        }
        assert!(!dir.names().iter().any(|name| name.starts_with('x')), "{:?}", dir.names());
    }
    let args = "classify -q k2 --no-map - --classified-out x.bam";
    let message = dir.run_with(args.split(' '), &dir.read("sorted.bam")).fails(1);
    assert!(message.contains("samtools collate"), "{message}");
}
