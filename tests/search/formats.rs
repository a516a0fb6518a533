//! The formats of the hits, of the counts and of the summaries.

use merganser_test_support::Dir;
use merganser_test_support::forms::{bzip2, gzip, xz, zstd};
use merganser_test_support::oracle::complement;
use merganser_test_support::reads::Random;
use merganser_test_support::tools::{installed, shell};

const HEADER: &str = "sequence\tstart\tend\tpattern\tedits\tstrand\tcigar\tletters\n";
/// Two patterns; the letters of the second one are not those of a palindrome.
const PATTERNS: &str = ">one first\nACGTRCGTTGCA\n>two\nGGATCCTTAAGA\n";

/// Returns a folder with patterns, and texts that have them at known places.
fn planted() -> Dir {
    let dir = Dir::new();
    dir.write("p.fa", PATTERNS);
    let text = "TTTT ACGTGCGTTGCA TTTT tcttaaggatcc TTTT ACGTACCTTGCA TTTT GGATCTTAAGA TTTT";
    let text = text.replace(' ', "");
    dir.write(
        "t.fa",
        format!(">a x\n{}\n{}\n>empty\n>b\nTTTGGATCCTTAAGA\n", &text[..30], &text[30..]),
    );
    dir
}

#[test]
fn tables_have_all_columns() {
    let dir = planted();
    let ran = dir.run("search --patterns p.fa -e 1 t.fa -o o.tsv --counts c.tsv --json j.json");
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(lines[0], "2 patterns in 3 sequences with 82 letters, both strands");
    assert_eq!(lines[1], "5 hits: 3 with 0 edits, 2 with 1 edit");
    assert!(lines[2].contains(", peak memory ") && lines.len() == 3, "{lines:?}");
    ran.ok();
    let expected = "a\t4\t16\tone\t0\t+\t12=\tACGTGCGTTGCA\n\
        a\t20\t32\ttwo\t0\t-\t12=\tTCTTAAGGATCC\n\
        a\t36\t48\tone\t1\t+\t6=1X5=\tACGTACCTTGCA\n\
        a\t52\t63\ttwo\t1\t+\t5=1I6=\tGGATCTTAAGA\n\
        b\t3\t15\ttwo\t0\t+\t12=\tGGATCCTTAAGA\n";
    let text = |name: &str| String::from_utf8(dir.read(name)).unwrap();
    let hits = text("o.tsv");
    assert_eq!(hits.replace("4=1I7=", "5=1I6="), format!("{HEADER}{expected}"));
    let counts = "pattern\tletters\tedits_0\tedits_1\ttotal\n\
        one\tACGTRCGTTGCA\t1\t1\t2\ntwo\tGGATCCTTAAGA\t2\t1\t3\n";
    assert_eq!(text("c.tsv"), counts);
    let summary: serde_json::Value = serde_json::from_slice(&dir.read("j.json")).unwrap();
    assert_eq!(summary["command"], "search");
    assert_eq!(summary["parameters"]["threshold"], "1");
    assert_eq!(summary["parameters"]["format"], "tsv");
    let results = &summary["results"];
    assert_eq!(results["hits_by_edits"], serde_json::json!([3, 2]));
    assert_eq!([&results["patterns"], &results["sequences"], &results["letters"]], [2, 3, 82]);
    // BED has the first six columns and no header.
    dir.run("search -q --patterns p.fa -e 1 t.fa -o o.bed").ok();
    let first = |line: &str| line.split('\t').take(6).collect::<Vec<_>>().join("\t") + "\n";
    assert_eq!(text("o.bed"), expected.lines().map(first).collect::<String>());
    assert_eq!(dir.run("search -q --patterns p.fa -e 1 t.fa --format bed").ok(), text("o.bed"));
    dir.run("search -q --patterns p.fa -e 1 t.fa -o o.tsv.gz").ok();
    assert_eq!(shell(dir.root(), "gzip -dc o.tsv.gz"), hits.as_bytes());
    assert_eq!(dir.run("search -q --patterns p.fa -e 1 t.fa --counts - -o o2").ok(), counts);
    // Options change what is a hit.
    let run = |options: &str| {
        let hits = dir.run(&format!("search -q --patterns p.fa t.fa {options}")).ok();
        hits.lines().skip(1).map(first).collect::<String>()
    };
    let forward: String = expected.lines().filter(|line| !line.contains('-')).map(first).collect();
    assert_eq!(run("-e 1 --strand forward"), forward);
    assert_eq!(run("-e 1 --strand reverse"), "a\t20\t32\ttwo\t0\t-\n");
    assert!(!run("-e 1 --hamming").contains("a\t52\t"));
    assert_eq!(run("-e 9%"), run("-e 1"));
}

#[test]
fn texts_of_any_format_have_the_same_hits() {
    let dir = Dir::new();
    let mut random = Random(4);
    let read = |random: &mut Random, number: usize| {
        let mut letters = random.bases(60);
        if number.is_multiple_of(2) {
            letters.splice(20..32, *b"ACGTGCGTTGCA");
        }
        format!("@r{number} x\n{}\n+\n{}\n", String::from_utf8(letters).unwrap(), "I".repeat(60))
    };
    let fastq: String = (0..50).map(|number| read(&mut random, number)).collect();
    let lines: Vec<&str> = fastq.lines().collect();
    let fasta: String =
        lines.chunks(4).map(|record| format!(">{}\n{}\n", &record[0][1..], record[1])).collect();
    let sam: String = lines
        .chunks(4)
        .map(|record| {
            format!(
                "{}\t4\t*\t0\t0\t*\t*\t0\t0\t{}\t{}\n",
                &record[0][1..record[0].len() - 2],
                record[1],
                record[3]
            )
        })
        .collect();
    dir.write("p.fa", PATTERNS);
    for (name, bytes) in [
        ("r.fq", fastq.clone().into_bytes()),
        ("r.fa", fasta.into_bytes()),
        ("r.sam", sam.into_bytes()),
        ("r.gz", gzip(fastq.as_bytes())),
        ("r.bz2", bzip2(fastq.as_bytes())),
        ("r.xz", xz(fastq.as_bytes())),
        ("r.zst", zstd(fastq.as_bytes())),
    ] {
        dir.write(name, bytes);
    }
    dir.write("list", "r.fq\n");
    let expected = dir.run("search -q --patterns p.fa -e 2 r.fq").ok();
    assert!(expected.lines().count() > 25, "{expected}");
    for text in ["r.fa", "r.sam", "r.gz", "r.bz2", "r.xz", "r.zst", "@list"] {
        let hits = dir.run(&format!("search -q --patterns p.fa -e 2 {text}")).ok();
        assert_eq!(hits, expected, "{text}");
    }
    let piped = "search -q --patterns p.fa -e 2 -".split(' ');
    assert_eq!(dir.run_with(piped, fastq.as_bytes()).ok(), expected);
    let piped = "search -q --patterns - -e 2 r.fq".split(' ');
    assert_eq!(dir.run_with(piped, PATTERNS.as_bytes()).ok(), expected);
}

/// Returns the text of a hit's columns as samtools and TSV have them both: sequence, start, pattern, strand, edits, CIGAR.
fn columns_of_sam(line: &str) -> Vec<String> {
    let fields: Vec<&str> = line.split('\t').collect();
    let strand = if fields[1] == "16" { "-" } else { "+" };
    let start = fields[3].parse::<u64>().unwrap() - 1;
    let edits = fields.iter().find_map(|field| field.strip_prefix("NM:i:")).unwrap();
    [fields[2], &start.to_string(), fields[0], strand, edits, fields[5]].map(str::to_owned).to_vec()
}

fn columns_of_tsv(line: &str) -> Vec<String> {
    let fields: Vec<&str> = line.split('\t').collect();
    [0, 1, 3, 5, 4, 6].map(|at| fields[at].to_owned()).to_vec()
}

#[test]
fn alignments_are_read_by_samtools() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = planted();
    let mut random = Random(9);
    let long = random.bases(700_000);
    let mut text = dir.read("t.fa");
    text.extend_from_slice(b">long\n");
    text.extend_from_slice(&long);
    text.extend_from_slice(b"\n>edge\nCGTTGCATTT\n>last\nTTT\n");
    dir.write("t.fa", text);
    for options in ["-e 3", "-e 2 --pam NGG", "-e 3 --pam TTV --pam-first", "-e 2 --overhang 0.5"] {
        let command = format!("search -q --patterns p.fa {options} t.fa --threads 3");
        for output in ["o.tsv", "o.sam", "o.bam"] {
            dir.run(&format!("{command} -o {output}")).ok();
        }
        shell(dir.root(), "samtools quickcheck -v o.bam o.sam && samtools index o.bam");
        let view = |name: &str, options: &str| {
            let text = shell(dir.root(), &format!("samtools view --no-PG {options} {name}"));
            String::from_utf8(text).unwrap()
        };
        assert_eq!(view("o.bam", "-h"), view("o.sam", "-h"));
        assert_eq!(
            view("o.sam", "-h"),
            String::from_utf8(dir.read("o.sam")).unwrap().replace("o.sam", "o.bam")
        );
        let table = String::from_utf8(dir.read("o.tsv")).unwrap();
        let records = view("o.bam", "");
        let found: Vec<Vec<String>> = records.lines().map(columns_of_sam).collect();
        let mut expected: Vec<Vec<String>> = table.lines().skip(1).map(columns_of_tsv).collect();
        if options.contains("overhang") {
            // NM is without the letters outside the text.
            let clipped = |hit: &Vec<String>| hit[5].contains('S');
            assert!(expected.iter().any(clipped));
            for (one, other) in expected.iter_mut().zip(&found).filter(|(one, _)| clipped(one)) {
                one[4] = other[4].clone();
            }
        }
        assert!(found.len() > 4, "{options}: {records}");
        assert_eq!(found, expected, "{options}");
        // The letters are those of the pattern, with the PAM, in the direction of the text.
        for line in records.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let letters = match fields[1] {
                "16" => complement_of(fields[9]),
                _ => fields[9].to_owned(),
            };
            let pattern = if fields[0] == "one" { "ACGTRCGTTGCA" } else { "GGATCCTTAAGA" };
            let expected = match options {
                _ if options.contains("NGG") => format!("{pattern}NGG"),
                _ if options.contains("TTV") => format!("TTV{pattern}"),
                _ => pattern.to_owned(),
            };
            assert_eq!((letters, fields[4], fields[10]), (expected, "255", "*"), "{line}");
        }
        // A region is found by the index: hits are sorted.
        let part = view("o.bam", "-c").trim().parse::<usize>().unwrap();
        let of = |name: &str| {
            let text = shell(dir.root(), &format!("samtools view -c o.bam {name}"));
            String::from_utf8(text).unwrap().trim().parse::<usize>().unwrap()
        };
        assert_eq!(["a", "b", "long", "edge", "last"].map(of).iter().sum::<usize>(), part);
    }
    let header = shell(dir.root(), "samtools view -H --no-PG o.bam");
    let header = String::from_utf8(header).unwrap();
    let expected = "@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:a\tLN:67\n@SQ\tSN:b\tLN:15\n\
        @SQ\tSN:long\tLN:700000\n@SQ\tSN:edge\tLN:10\n@SQ\tSN:last\tLN:3\n@PG\tID:merganser\tPN:merganser\tVN:";
    assert!(header.starts_with(expected), "{header}");
    let command = "CL:merganser search -e 2 --strand both --overhang 0.5 --patterns p.fa -- t.fa\n";
    assert!(header.ends_with(command), "{header}");
}

fn complement_of(letters: &str) -> String {
    // The oracle complements bases only.
    let bases = complement(letters.replace(['R', 'N', 'V'], "A").as_bytes());
    let turned = letters.bytes().rev().zip(bases).map(|(letter, base)| match letter {
        b'R' => 'Y',
        b'Y' => 'R',
        b'V' => 'B',
        b'B' => 'V',
        b'N' => 'N',
        _ => char::from(base),
    });
    turned.collect()
}

#[test]
fn alignments_need_files_and_names_of_sam() {
    let dir = planted();
    let fails = |args: &str, code| dir.run(&format!("search -q {args}")).fails(code);
    let piped = dir.run_with("search -q -p ACGT -e 0 - -o o.bam".split(' '), b">a\nACGT\n");
    assert_eq!(
        piped.fails(1),
        "error: stdin: it is a pipe or stdin, and would be read twice for SAM and BAM, whose header has the lengths of all sequences: \
         write it to a file first, or choose TSV or BED\n"
    );
    dir.write("twice.fa", ">a\nACGT\n>b\nACGT\n>a\nACG\n");
    assert_eq!(
        fails("-p ACGT -e 0 twice.fa -o o.sam", 1),
        "error: twice.fa: record 3: another sequence has the name a, too, which SAM does not allow: rename \
         one, or choose TSV or BED\n"
    );
    dir.run("search -q -p ACGT -e 0 twice.fa -o o.tsv").ok();
    let error = fails("-p ACGT -e 0 t.fa t.fa -o o.sam", 1);
    assert!(error.contains("t.fa: record 1: another sequence has the name a"), "{error}");
    dir.write("blank.tsv", "my primer\tACGT\n");
    let error = fails("--patterns blank.tsv -e 0 t.fa -o o.sam", 1);
    assert!(
        error.starts_with("error: pattern my primer: names of reads in SAM have up to"),
        "{error}"
    );
    dir.run("search -q --patterns blank.tsv -e 0 t.fa -o o.tsv").ok();
    assert!(!dir.names().iter().any(|name| name == "o.sam" || name == "o.bam"));
    for (name, what) in [("o.cram", "cannot be CRAM"), ("o.bam.gz", "BAM is already compressed")] {
        let error = fails(&format!("-p ACGT -e 0 t.fa -o {name}"), 2);
        assert!(error.contains(what), "{error}");
    }
}
