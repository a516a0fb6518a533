//! `merganser kmers matrix`, compared with the definition.

use std::collections::BTreeMap;

use merganser_test_support::Dir;
use merganser_test_support::oracle::{self, Rule};
use merganser_test_support::reads::{Random, Record, fasta};

/// Writes tables of samples that share most of a genome; returns their counts.
fn samples(dir: &Dir, count: usize, k: usize) -> Vec<BTreeMap<Vec<u8>, u64>> {
    let mut random = Random(5);
    let genome = random.bases(3000);
    (0..count)
        .map(|number| {
            let mut pieces = Vec::new();
            for _ in 0..3 + number {
                let (from, len) = (random.below(2000), 200 + random.below(800));
                let mut piece = genome[from..from + len].to_vec();
                piece[len / 2] = b"ACGTN"[random.below(5)];
                pieces.push(piece);
            }
            let record = |sequence: Vec<u8>| Record { sequence, quality: None };
            let records: Vec<Record> = pieces.into_iter().map(record).collect();
            dir.write(&format!("s{number}.fa"), fasta(&records, 60, "\n"));
            dir.run(&format!("count -q -k {k} --min-count 1 s{number}.fa -o s{number}.mgk")).ok();
            oracle::count(&records, Rule::new(k, true))
        })
        .collect()
}

/// Returns the rows by the definition.
fn rows(
    samples: &[BTreeMap<Vec<u8>, u64>],
    solid: u64,
    min_samples: usize,
    rescue: usize,
) -> Vec<(Vec<u8>, Vec<u64>)> {
    let mut kmers: Vec<&Vec<u8>> = samples.iter().flat_map(|sample| sample.keys()).collect();
    kmers.sort();
    kmers.dedup();
    let row = |kmer: &Vec<u8>| {
        let counts: Vec<u64> =
            samples.iter().map(|sample| sample.get(kmer).copied().unwrap_or(0)).collect();
        let in_samples = counts.iter().filter(|&&count| count >= solid).count();
        let kept = |&count: &u64| if count >= solid || in_samples >= rescue { count } else { 0 };
        (in_samples >= min_samples).then(|| (kmer.clone(), counts.iter().map(kept).collect()))
    };
    kmers.into_iter().filter_map(row).collect()
}

fn text(names: &[&str], rows: &[(Vec<u8>, Vec<u64>)]) -> String {
    let mut text = format!("kmer\t{}\n", names.join("\t"));
    for (kmer, counts) in rows {
        let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
        text.push_str(&format!("{}\t{}\n", String::from_utf8_lossy(kmer), counts.join("\t")));
    }
    text
}

const NEVER: usize = usize::MAX;

#[test]
fn rows_are_as_defined() {
    for k in [5, 21, 33, 70] {
        let dir = Dir::new();
        let samples = samples(&dir, 4, k);
        let names = ["s0", "s1", "s2", "s3"];
        let run = "kmers matrix -q s0.mgk s1.mgk s2.mgk s3.mgk";
        for (options, solid, least, rescue) in [
            ("", 1, 1, NEVER),
            ("--min-samples 3", 1, 3, NEVER),
            ("--solid 2", 2, 1, NEVER),
            ("--solid 2 --min-samples 2 --rescue 2", 2, 2, 2),
            ("--solid 2 --rescue 3", 2, 1, 3),
        ] {
            let expected = text(&names, &rows(&samples, solid, least, rescue));
            assert_eq!(dir.run(&format!("{run} {options}")).ok(), expected, "{k} {options}");
        }
        let presence = dir.run(&format!("{run} --presence")).ok();
        let mut expected = rows(&samples, 1, 1, NEVER);
        expected
            .iter_mut()
            .for_each(|row| row.1.iter_mut().for_each(|count| *count = (*count).min(1)));
        assert_eq!(presence, text(&names, &expected));
    }
}

#[test]
fn a_dense_matrix_has_the_same_cells() {
    for (k, options) in [(21, ""), (21, "--presence"), (40, ""), (70, "--presence --min-samples 2")]
    {
        let dir = Dir::new();
        samples(&dir, 9, k);
        let tables = (0..9).map(|number| format!("s{number}.mgk")).collect::<Vec<_>>().join(" ");
        let lines = dir.run(&format!("kmers matrix -q {tables} {options}")).ok();
        dir.run(&format!("kmers matrix -q {tables} {options} --format dense -o m.mgx")).ok();
        let bytes = dir.read("m.mgx");
        assert_eq!(&bytes[..8], b"\x89MGX\r\n\x1a\n");
        let length = u64::from_le_bytes(bytes[8..16].try_into().unwrap()) as usize;
        assert_eq!((16 + length) % 64, 0);
        let header: serde_json::Value = serde_json::from_slice(&bytes[16..16 + length]).unwrap();
        let number = |key: &str| header[key].as_u64().unwrap() as usize;
        assert_eq!((number("k"), header["samples"].as_array().unwrap().len()), (k, 9));
        let (rows, row_bytes, kmer_bytes) =
            (number("rows"), number("row_bytes"), number("kmer_bytes"));
        let body = &bytes[16 + length..];
        assert_eq!(body.len(), rows * row_bytes + 4);
        let mut sum = flate2::Crc::new();
        sum.update(&body[..rows * row_bytes]);
        assert_eq!(sum.sum().to_le_bytes(), body[rows * row_bytes..]);
        let mut text = lines.lines().next().unwrap().to_owned() + "\n";
        for row in body[..rows * row_bytes].chunks(row_bytes) {
            let (kmer, cells) = row.split_at(kmer_bytes);
            let base = |at: usize| {
                let bit = 2 * (k - 1 - at);
                char::from(b"ACGT"[usize::from(kmer[bit / 8] >> (bit % 8) & 3)])
            };
            text.extend((0..k).map(base));
            for sample in 0..9 {
                let cell = match header["cells"].as_str() {
                    Some("bit") => u32::from(cells[sample / 8] >> (sample % 8) & 1),
                    _ => u32::from_le_bytes(cells[4 * sample..4 * sample + 4].try_into().unwrap()),
                };
                text.push_str(&format!("\t{cell}"));
            }
            text.push('\n');
        }
        assert!(text == lines, "k {k} {options}");
    }
}

#[test]
fn bytes_do_not_depend_on_threads_memory_or_formats() {
    let dir = Dir::new();
    samples(&dir, 5, 21);
    dir.run("kmers convert -q --format kff -o s3.kff s3.mgk").ok();
    let expected = dir.run("kmers matrix -q s0.mgk s1.mgk s2.mgk s3.mgk -t 1").ok();
    for run in
        ["s0.mgk s1.mgk s2.mgk s3.mgk -t 3 --memory 100M", "s0.mgk s1.mgk s2.mgk s3.kff -t 2"]
    {
        assert!(dir.run(&format!("kmers matrix -q {run}")).ok() == expected, "{run}");
    }
    dir.run("kmers matrix -q s0.mgk:2.. s1.mgk -o cut.tsv.gz").ok();
    let cut = merganser_test_support::gunzip(&dir.path("cut.tsv.gz"));
    assert!(cut.starts_with(b"kmer\ts0\ts1\n") && !cut.windows(3).any(|three| three == b"\t1\t"));
}

#[test]
fn what_is_wrong_is_said() {
    let dir = Dir::new();
    samples(&dir, 2, 21);
    dir.run("count -q -k 15 s0.fa -o other.mgk").ok();
    for (run, code, part) in [
        ("s0.mgk s0.mgk", 2, "s0.mgk and s0.mgk are the same table"),
        ("s0.mgk other.mgk -o m.tsv", 1, "other.mgk: its k is 15"),
        ("s0.mgk missing.mgk -o m.tsv", 1, "missing.mgk: "),
        (
            "s0.mgk s1.mgk --min-samples 3 -o m.tsv",
            2,
            "--min-samples is 3, but there are 2 samples",
        ),
        ("s0.mgk s1.mgk -o s0.mgk", 1, "s0.mgk"),
    ] {
        let message = dir.run(&format!("kmers matrix {run}")).fails(code);
        assert!(message.contains(part), "{run}: {message}");
        assert!(!dir.path("m.tsv").exists());
    }
}

#[cfg(feature = "parquet")]
#[test]
fn a_matrix_in_parquet_has_the_same_cells() {
    let dir = Dir::new();
    samples(&dir, 2, 21);
    // With a single column of this name, the file is a table.
    std::fs::copy(dir.path("s0.mgk"), dir.path("count.mgk")).unwrap();
    dir.run("kmers matrix -q count.mgk --format parquet -o one.parquet").ok();
    assert_eq!(dir.run("kmers dump -q one.parquet").ok(), dir.run("kmers dump -q s0.mgk").ok());
    for threads in [1, 3] {
        let run = "kmers matrix -q s0.mgk s1.mgk --format parquet --min-samples 2";
        dir.run(&format!("{run} -t {threads} -o two{threads}.parquet")).ok();
    }
    assert!(dir.read("two1.parquet") == dir.read("two3.parquet"));
}

/// Ranges made by separate runs can be joined in any order, to any format.
#[test]
fn ranges_are_put_together() {
    for k in [5, 31, 33, 70] {
        let dir = Dir::new();
        samples(&dir, 4, k);
        for (options, ranges) in [
            ("", 3),
            ("--presence --min-samples 2", 2),
            ("--solid 3 --rescue 2", 5),
            ("--presence", 1),
        ] {
            let run = format!("kmers matrix -q s0.mgk s1.mgk:2.. s2.mgk s3.mgk {options}");
            let mut files = String::new();
            for at in (1..=ranges).rev() {
                let range = format!("--range {at}/{ranges} --format dense -o r{at}.mgx");
                dir.run(&format!("{run} {range}")).ok();
                files += &format!(" r{at}.mgx");
            }
            for (format, end) in [("tsv", "tsv"), ("tsv", "tsv.gz"), ("dense", "mgx")] {
                let format = format!("--format {format} -o");
                dir.run(&format!("{run} {format} whole.{end}")).ok();
                dir.run(&format!("kmers matrix --concat {files} {format} joined.{end}")).ok();
                let [whole, joined] =
                    ["whole", "joined"].map(|name| dir.read(&format!("{name}.{end}")));
                assert!(whole == joined, "k {k}: {options} {ranges} {end}");
            }
        }
    }
}

#[test]
fn ranges_that_do_not_go_together() {
    let dir = Dir::new();
    samples(&dir, 3, 21);
    let range = |name: &str, rest: &str| {
        dir.run(&format!("kmers matrix -q --format dense -o {name}.mgx {rest}")).ok();
    };
    range("a", "s0.mgk s1.mgk --range 1/2");
    range("b", "s0.mgk s1.mgk --range 2/2");
    range("tables", "s0.mgk s2.mgk --range 2/2");
    range("options", "s0.mgk s1.mgk --range 2/2 --solid 2");
    range("three", "s0.mgk s1.mgk --range 2/3");
    range("whole", "s0.mgk s1.mgk");
    let b = dir.read("b.mgx");
    dir.write("cut.mgx", &b[..b.len() - 1]);
    dir.write("head.mgx", &b[..40]);
    for (name, at) in [("row", b.len() - 30), ("digit", 60), ("sum", b.len() - 1)] {
        let mut changed = b.clone();
        changed[at] ^= 1;
        dir.write(&format!("{name}.mgx"), changed);
    }
    let before = dir.names();
    let mut said = String::new();
    let mut refuse = |code: i32, args: &str| {
        let args = format!("kmers matrix {args} -o o");
        said += &format!("$ merganser {args}\n{}", dir.run(&args).fails(code));
        assert_eq!(dir.names(), before, "{args}");
    };
    for name in [
        "tables", "options", "three", "whole", "a", "cut", "head", "row", "digit", "sum", "missing",
    ] {
        refuse(1, &format!("--concat a.mgx {name}.mgx"));
    }
    refuse(1, "--concat a.mgx");
    refuse(1, "--concat a.mgx s0.mgk");
    refuse(1, "--concat a.mgx b.mgx s0.mgk");
    refuse(2, "s0.mgk s1.mgk --range 1/2");
    refuse(1, "s0.mgk s0.fa --range 1/2 --format dense");
    insta::assert_snapshot!(said);
}
