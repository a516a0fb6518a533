//! No single record, line or name exceeds `--memory`: each command either succeeds within the budget, or fails within
//! it, with one line and without leaving files.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use merganser_test_support::peak::peak as peak_of;
use merganser_test_support::reads::Random;
use merganser_test_support::{Dir, Ran, names, program};

/// Bytes of a long FASTA record: larger than the smallest budgets, even without copies.
const LONG: usize = 12 << 20;
/// Bytes of an "endless" record or line: more than all budgets except the largest.
const ENDLESS: usize = 400 << 20;

/// Runs the program without input; returns how it ended and its peak resident size.
pub(super) fn measured(dir: &Dir, args: &str) -> (Ran, u64) {
    measured_with(dir, args, Stdio::null())
}

/// Like [`measured`], with a standard input.
pub(super) fn measured_with(dir: &Dir, args: &str, stdin: Stdio) -> (Ran, u64) {
    let mut child = program()
        .current_dir(dir.root())
        .args(args.split_whitespace())
        .stdin(stdin)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (process, mut peak) = (child.id().to_string(), 0);
    while child.try_wait().unwrap().is_none() {
        peak = peak_of(&process).max(peak);
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    (Ran::new(&child.wait_with_output().unwrap(), dir.root()), peak)
}

fn packed(write: impl FnOnce(&mut dyn Write)) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    write(&mut encoder);
    encoder.finish().unwrap()
}

fn endless(letter: u8, out: &mut dyn Write) {
    let piece = vec![letter; 1 << 20];
    (0..ENDLESS >> 20).for_each(|_| out.write_all(&piece).unwrap());
}

/// Returns a directory with valid tables, databases, indexes and reads, and with hostile files.
fn world() -> Dir {
    let dir = Dir::new();
    let mut random = Random(5);
    let genome = String::from_utf8(random.bases(200_000)).unwrap();
    fs::create_dir(dir.path("tax")).unwrap();
    fs::create_dir(dir.path("out")).unwrap();
    let nodes = "1\t|\t1\t|\tno rank\t|\n2\t|\t1\t|\tspecies\t|\n";
    let names = "1\t|\troot\t|\t\t|\tscientific name\t|\n2\t|\tA b\t|\t\t|\tscientific name\t|\n";
    dir.write("tax/nodes.dmp", nodes);
    dir.write("tax/names.dmp", names);
    dir.write("g.fa", format!(">g|kraken:taxid|2\n{genome}\n"));
    dir.run("build -q --threads 2 -t tax -o d.mgdb g.fa").ok();
    dir.run("count -q -k 21 --threads 2 --min-count 1 -o t.mgk g.fa").ok();
    dir.run("index -q --threads 2 -o i.mgi g.fa").ok();
    dir.run("deplete index -q --threads 2 -o h.mgd g.fa").ok();
    dir.run("deplete index -q --threads 2 -k 61 -w 1 -o h61.mgd g.fa").ok();
    let read = |at: usize| format!("@r{at}\n{}\n+\n{}\n", &genome[at..at + 100], "I".repeat(100));
    let ordinary: String = (0..2000).map(|number| read(number * 97 % 199_000)).collect();
    dir.write("reads.fq", &ordinary);
    dir.write("pairs.tsv", "ACGTACGTAC\tACGTACGTAC\n");
    let long: String = (0..LONG / 200_000).map(|_| genome.as_str()).collect();
    dir.write("contig.fa", format!(">long|kraken:taxid|2\n{long}\n"));
    dir.write(
        "line.fq.zst",
        packed(|out| {
            out.write_all(format!("{ordinary}@long\n").as_bytes()).unwrap();
            endless(b'A', out);
        }),
    );
    dir.write(
        "contig.fa.zst",
        packed(|out| {
            out.write_all(b">long\n").unwrap();
            endless(b'A', out);
            out.write_all(b"\n").unwrap();
        }),
    );
    dir.write(
        "header.fa.zst",
        packed(|out| {
            out.write_all(b">").unwrap();
            endless(b'x', out);
            out.write_all(b"\nACGTACGTACGTACGTACGTACGTACGT\n").unwrap();
        }),
    );
    dir.write(
        "line.tsv.zst",
        packed(|out| {
            out.write_all(b"ACGT\tACGT\n").unwrap();
            endless(b'A', out);
        }),
    );
    // The positions of these records take more memory than their letters.
    dir.write("tiny.fa.zst", packed(|out| out.write_all(&b">a\nAC\n".repeat(4 << 20)).unwrap()));
    let line = [b"3\t|\t1\t|\t".to_vec(), vec![b'x'; 80 << 20]].concat();
    for (folder, file) in [("long_nodes", "nodes.dmp"), ("long_names", "names.dmp")] {
        fs::create_dir(dir.path(folder)).unwrap();
        dir.write(&format!("{folder}/nodes.dmp"), nodes);
        dir.write(&format!("{folder}/names.dmp"), names);
        let mut whole = dir.read(&format!("{folder}/{file}"));
        whole.extend(&line);
        dir.write(&format!("{folder}/{file}"), whole);
    }
    dir.write("line.txt", line);
    // Valid lines for several kinds of files, in excessive number.
    dir.write("many.txt", b"7\t1\n".repeat(30 << 20));
    dir
}

/// Hostile inputs of reads.
const READS: [&str; 5] = ["reads.fq", "contig.fa", "line.fq.zst", "header.fa.zst", "tiny.fa.zst"];
/// Commands with `{}` for the reads.
const OF_READS: [&str; 11] = [
    "count -k 21 -o out/o.mgk {}",
    "kmers profile t.mgk {} -o out/o.tsv",
    "kmers filter-reads t.mgk {} -o out/o",
    "kmers filter-reads --mask hard t.mgk {} -o out/o",
    "classify d.mgdb {} -o out/o.tsv --classified-out out/o",
    "map -e 3 i.mgi {} -o out/o.sam",
    "deplete index {} -o out/o.mgd",
    "deplete filter h.mgd {} -o out/o.fq",
    "deplete filter -r 1 h61.mgd {} -o out/o.fq",
    "build -t tax -o out/o.mgdb {}",
    "build -t tax --format kraken2 -o out {}",
];
/// Commands whose other inputs are hostile.
const OF_OTHERS: [&str; 12] = [
    "index contig.fa.zst -o out/o.mgi",
    "filter -e 3 line.tsv.zst -o out/o.tsv",
    "filter -e 3 pairs.tsv -o out/o.tsv",
    "filter -e 3 line.fq.zst line.fq.zst -o out/o.tsv",
    "kmers union -o out/o.mgk t.mgk line.tsv.zst",
    "build -t long_nodes -o out/o.mgdb g.fa",
    "build -t long_names -o out/o.mgdb g.fa",
    "build -t tax --map line.txt -o out/o.mgdb g.fa",
    "classify d.mgdb --sample-sheet line.txt -o out/{}.tsv",
    "classify d.mgdb --sample-sheet many.txt -o out/{}.tsv",
    "count -k 21 -o out/o.mgk @many.txt",
    "kmers histogram --model -k 21 many.txt -o out/o.txt",
];

/// The memory that the larger code of a build for tests takes: it begins with 22 MiB, a release with 14 MiB.
const LARGER_CODE: u64 = if cfg!(debug_assertions) { 8 << 20 } else { 0 };

/// Checks a run, and returns its peak.
fn check(dir: &Dir, command: &str, budget: &str) -> u64 {
    let bytes: u64 = merganser_run::parse_size(budget).unwrap();
    let args = format!("{command} -q --threads 2 --memory {budget} --tmp-dir out");
    // Some commands have no temporary files.
    let args =
        if ["map", "index", "filter", "deplete"].iter().any(|without| command.starts_with(without))
        {
            args.replace(" --tmp-dir out", "")
        } else {
            args
        };
    let (ran, peak) = measured(dir, &args);
    assert!(peak <= bytes / 10 * 11 + LARGER_CODE, "{args}: {peak} bytes; {}", ran.stderr);
    if ran.code == Some(0) {
        for name in names(&dir.path("out")) {
            fs::remove_file(dir.path("out").join(name)).unwrap();
        }
        return peak;
    }
    assert_eq!(ran.code, Some(1), "{args}: {}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{args}: {}", ran.stderr);
    assert_eq!(names(&dir.path("out")), Vec::<String>::new(), "{args}");
    peak
}

#[test]
fn no_record_line_or_name_breaks_it() {
    let (dir, mut peak) = (world(), 0);
    for budget in ["60M", "300M"] {
        for command in OF_READS {
            for reads in READS {
                peak = check(&dir, &command.replace("{}", reads), budget).max(peak);
            }
        }
        for command in OF_OTHERS {
            peak = check(&dir, command, budget).max(peak);
        }
    }
    assert!(peak > 60 << 20, "the peaks are not seen: at most {peak} bytes");
}

/// A message about an excessive record or line names the file, the record or line, the limit and the remedy.
#[test]
fn what_is_too_long_is_named() {
    let dir = world();
    let error =
        |command: &str| dir.run(&format!("{command} -q --threads 2 --memory 300M")).fails(1);
    assert_eq!(
        error("count -k 21 -o out/o.mgk line.fq.zst"),
        "error: line.fq.zst: record 2001: longer than 12.5 MiB, the most that the memory has room for: \
         give more --memory, or cut the record\n"
    );
    // Longer reads than can be mapped are unmapped, as far as the memory has room for them.
    let long = error("map -e 3 i.mgi line.fq.zst -o out/o.sam");
    let limit = long.strip_prefix("error: line.fq.zst: record 2001: a read of more than ");
    let limit = limit.and_then(|rest| rest.strip_suffix(" MiB: raise --memory, or leave it out\n"));
    let limit: f64 = limit.unwrap_or_else(|| panic!("{long}")).parse().unwrap();
    assert!((2.0..64.0).contains(&limit), "{long}");
    assert_eq!(
        error("kmers filter-reads t.mgk header.fa.zst -o out/o.fa"),
        "error: header.fa.zst: line 1: a header of more than 16.0 MiB; is this a text file?\n"
    );
    assert_eq!(
        error("build -t long_nodes -o out/o.mgdb g.fa"),
        "error: long_nodes/nodes.dmp: line 3: a line of more than 1.00 MiB, which no such file has: is \
         this the right file?\n"
    );
    let many = error("build -t tax -o out/o.mgdb tiny.fa.zst");
    assert!(many.starts_with("error: a reference with this many sequences needs at least "));
    let pair = error("filter -e 3 line.tsv.zst -o out/o.tsv");
    assert!(pair.starts_with("error: line.tsv.zst: line 2: a line of more than "), "{pair}");
    assert!(pair.ends_with("If so, cut the line or give more --memory\n"), "{pair}");
}

/// The profile of a sequence that is read in pieces covers the whole sequence.
#[test]
fn long_profiles_are_whole() {
    let dir = Dir::new();
    let mut random = Random(9);
    let mut letters = random.bases(700_000);
    letters.extend_from_within(100_000..300_000);
    letters[650_000] = b'N';
    letters.extend(random.bases(700_000));
    let text = String::from_utf8(letters.clone()).unwrap();
    dir.write("t.fa", format!(">t\n{}\n", &text[..900_000]));
    dir.write("r.fa", format!(">a b\n{}\n>long c\n{text}\n>d\nAC\n", &text[..90]));
    dir.run("count -q -k 21 --threads 2 --min-count 1 -o t.mgk t.fa").ok();
    let mut counts = std::collections::HashMap::new();
    for line in dir.run("kmers dump t.mgk").ok().lines() {
        let (kmer, count) = line.split_once('\t').unwrap();
        counts.insert(kmer.to_owned(), count.parse::<u32>().unwrap());
    }
    let count = |kmer: &[u8]| {
        let other = merganser_test_support::oracle::complement(kmer);
        let kmer = String::from_utf8(kmer.min(&other[..]).to_vec()).unwrap();
        counts.get(&kmer).copied().unwrap_or(0)
    };
    let of: Vec<u32> = letters.windows(21).map(count).collect();
    let found = of.iter().filter(|&&count| count > 0).count();
    let mut sorted = of.clone();
    sorted.sort_unstable();
    let median = sorted[(sorted.len() - 1) / 2];
    let listed: Vec<String> = of.iter().map(u32::to_string).collect();
    let expected = format!("long\t{}\t{found}\t{median}\t{}", of.len(), listed.join(","));
    for threads in [1, 3] {
        let options = format!("-q --threads {threads} --memory 150M --tmp-dir .");
        let profile = dir.run(&format!("kmers profile t.mgk r.fa {options}")).ok();
        let lines: Vec<&str> = profile.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[0].starts_with("a\t70\t70\t") && lines[2] == "d\t0\t0\t0\t", "{}", lines[2]);
        assert!(lines[1] == expected);
    }
}
