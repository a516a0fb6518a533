//! `merganser kmers`: tables computed from tables, in every format, compared with kmc_tools, Jellyfish and a map.

use std::collections::BTreeMap;

use merganser_test_support::reads::{fasta, fastq, many, untidy};
use merganser_test_support::tools::{installed, shell};
use merganser_test_support::{Dir, MERGANSER, gunzip, small_reads};

/// Returns a directory with the repository's reads as `r1.fq` and `r2.fq`.
fn with_reads() -> Dir {
    let dir = Dir::new();
    for (name, path) in ["r1.fq", "r2.fq"].into_iter().zip(small_reads()) {
        dir.write(name, gunzip(&path));
    }
    dir
}

const OPERATIONS: [(&str, &str); 4] = [
    ("union", "union"),
    ("intersect", "intersect"),
    ("subtract", "kmers_subtract"),
    ("counters-subtract", "counters_subtract"),
];

/// Minimum and maximum counts of both inputs and of the result.
const CUTS: [[(u32, u32); 3]; 3] = [
    [(2, 1_000_000), (1, 20), (1, 30)],
    [(1, 40), (3, 1_000_000), (2, 1_000_000)],
    [(2, 60), (2, 45), (3, 25)],
];

/// Every operation in every mode has the result of kmc_tools; for some k also with every choice of minimum and
/// maximum counts, and for tables in every format that kmc_tools reads or writes.
#[test]
fn kmc_tools_computes_the_same() {
    if !installed(&["kmc", "kmc_tools"]) {
        return;
    }
    let dir = with_reads();
    for (number, k) in [7, 31, 70].into_iter().enumerate() {
        let p = if k < 9 { "-p5" } else { "" };
        for i in [1, 2] {
            shell(
                dir.root(),
                &format!(
                    "mkdir -p tmp && kmc -hp -t2 -m2 -k{k} {p} -ci1 -cs1000000 -fq r{i}.fq kmc{i} tmp && \
                     {MERGANSER} count -q -k {k} --min-count 1 -o m{i}.mgk r{i}.fq && {MERGANSER} kmers \
                     convert -q --format kmc -o s{i} m{i}.mgk && {MERGANSER} kmers convert -q --format tsv \
                     -o t{i}.tsv.gz kmc{i}"
                ),
            );
        }
        shell(
            dir.root(),
            &format!("kmc -hp -t2 -m2 -k{k} {p} -ci1 -cs1000000 -fq -okff r2.fq kff2 tmp"),
        );
        for (operation, theirs) in OPERATIONS {
            let modes = ["min", "max", "sum", "diff", "left", "right"];
            for (place, mode) in modes.into_iter().enumerate() {
                let [a, b, result] = CUTS[(number + place) % CUTS.len()];
                let ours = |name: &str, (least, most)| format!("{name}:{least}..{most}");
                let theirs_of = |(least, most)| format!("-ci{least} -cx{most}");
                let (oc, counts) = match operation {
                    "subtract" if place < CUTS.len() => (String::new(), String::new()),
                    "subtract" => continue,
                    // Each mode with one or two of the values of k.
                    _ if (number + place) % 2 == 1 => continue,
                    _ => (format!("-oc{mode}"), format!("--counts {mode}")),
                };
                shell(
                    dir.root(),
                    &format!(
                        "kmc_tools -hp simple kmc1 {} kmc2 {} {theirs} x {oc} {} -cs1000000000 && \
                         kmc_tools -hp transform x dump -s x.txt",
                        theirs_of(a),
                        theirs_of(b),
                        theirs_of(result)
                    ),
                );
                let expected = dir.read("x.txt");
                let (least, most) = result;
                let args = format!(
                    "kmers {operation} {counts} --min-count {least} --max-count {most} --format tsv \
                     -o - -q"
                );
                for (one, other) in
                    [("m1.mgk", "m2.mgk"), ("s1", "kff2.kff"), ("kmc1", "t2.tsv.gz")]
                {
                    let (one, other) = (ours(one, a), ours(other, b));
                    let found = dir.run(&format!("{args} {one} {other}")).ok();
                    assert!(found.as_bytes() == expected, "k {k} {operation} {mode} {one} {other}");
                }
            }
        }
        let dump = dir.run("kmers dump m1.mgk").ok().into_bytes();
        shell(
            dir.root(),
            &format!(
                "{MERGANSER} kmers convert -q --format kff -o ours.kff kmc1 && {MERGANSER} kmers \
                 convert -q --format kmc -o ours ours.kff && kmc_tools -hp transform ours.kff dump -s \
                 a.txt && kmc_tools -hp transform ours dump -s b.txt && {MERGANSER} kmers convert -q -o \
                 back.mgk ours.kff"
            ),
        );
        assert!(dir.read("a.txt") == dump && dir.read("b.txt") == dump, "k {k}");
        let back = dir.run("kmers dump back.mgk").ok();
        assert!(back.as_bytes() == dump, "k {k}");
    }
}

/// Operations of `kmc_tools transform` and reversed operations of `kmc_tools simple` have the same results.
#[test]
fn kmc_tools_transforms_the_same() {
    if !installed(&["kmc", "kmc_tools"]) {
        return;
    }
    let dir = with_reads();
    for i in [1, 2] {
        shell(
            dir.root(),
            &format!("mkdir -p tmp && kmc -hp -t2 -m2 -k25 -ci1 -cs1000000 -fq r{i}.fq k{i} tmp"),
        );
        dir.run(&format!("count -q -k 25 --min-count 1 -o m{i}.mgk r{i}.fq")).ok();
    }
    let cs = "-cs1000000000";
    for (theirs, ours) in [
        ("transform k1 reduce x -ci3 -cx40", "reduce TABLE --min-count 3 --max-count 40"),
        (
            "transform k1 -ci2 -cx50 reduce x -ci3 -cs20",
            "reduce TABLE:2..50 --min-count 3 --counter-max 20",
        ),
        ("transform k1 compact x", "set-counts 1 TABLE"),
        ("transform k1 -ci2 set_counts 7 x", "set-counts 7 TABLE:2.."),
        ("transform k1 sort x CS", "convert TABLE"),
        ("simple k1 k2 reverse_kmers_subtract x CS -ci1", "subtract m2.mgk TABLE"),
        (
            "simple k1 k2 -ci2 reverse_counters_subtract x CS -ci1",
            "counters-subtract m2.mgk:2.. TABLE",
        ),
        (
            "simple k1 -ci2 -cx90 k2 -cx60 union x -ci4 -cx70 -cs30",
            "union TABLE:2..90 m2.mgk:..60 --min-count 4 --max-count 70 --counter-max 30",
        ),
    ] {
        let theirs = theirs.replace("CS", cs);
        shell(
            dir.root(),
            &format!("kmc_tools -hp {theirs} && kmc_tools -hp transform x dump -s x.txt"),
        );
        let expected = dir.read("x.txt");
        assert!(!expected.is_empty(), "{theirs}");
        for table in ["m1.mgk", "k1"] {
            let ours = ours.replace("TABLE", table);
            let found = dir.run(&format!("kmers {ours} -q --format tsv -o -")).ok();
            assert!(found.as_bytes() == expected, "{theirs} {ours}");
        }
    }
    shell(
        dir.root(),
        "kmc_tools -hp transform k1 histogram h.txt -ci2 -cx60 dump -s d.txt -ci5 -cx9",
    );
    let histogram = String::from_utf8(dir.read("h.txt")).unwrap();
    let rows: String = histogram
        .lines()
        .filter(|row| !row.ends_with("\t0"))
        .map(|row| format!("{row}\n"))
        .collect();
    for table in ["m1.mgk", "k1"] {
        let ours = dir.run(&format!("kmers histogram -q {table}")).ok();
        let within = |row: &&str| {
            let count: u32 = row.split('\t').next().unwrap().parse().unwrap();
            (2..=60).contains(&count)
        };
        let ours: String = ours.lines().filter(within).map(|row| format!("{row}\n")).collect();
        assert_eq!(ours, rows, "{table}");
        let dump = dir.run(&format!("kmers dump --min-count 5 --max-count 9 {table}")).ok();
        assert!(dump.as_bytes() == dir.read("d.txt"), "{table}");
    }
}

/// A nested expression has the result of several steps of `kmc_tools simple`. (`kmc_tools complex` does not start on
/// Debian 12: the C++ library rejects its regular expressions.)
#[test]
fn kmc_tools_computes_the_same_step_by_step() {
    if !installed(&["kmc_tools"]) {
        return;
    }
    let dir = with_reads();
    dir.write("r3.fq", [dir.read("r1.fq"), dir.read("r2.fq")].concat());
    for i in 1..=3 {
        dir.run(&format!("count -q -k 21 --min-count 1 --format kmc -o x{i} r{i}.fq")).ok();
    }
    shell(
        dir.root(),
        "kmc_tools -hp simple x3 -ci3 x1 -ci2 counters_subtract a -cs1000000 -ci1 && \
         kmc_tools -hp simple x2 x3 -ci3 intersect b -ocmax -cs1000000 -ci1 && \
         kmc_tools -hp simple a b union c -cs1000000 -ci1 && \
         kmc_tools -hp simple c x1 -ci5 kmers_subtract out -cs1000000 -ci2 && \
         kmc_tools -hp transform out dump -s out.txt",
    );
    let expression = "subtract(union(counters-subtract(x3:3.., x1:2..), intersect-max(x2, x3:3..)), \
                      x1:5..):2..";
    let args = ["kmers", "eval", "-q", "--format", "tsv", "-o", "-", expression];
    let ours = dir.run_with(args, b"").ok().into_bytes();
    assert!(!ours.is_empty() && ours == dir.read("out.txt"));
}

#[test]
fn tables_of_jellyfish_and_their_dumps_are_read() {
    if !installed(&["jellyfish"]) {
        return;
    }
    let dir = with_reads();
    shell(
        dir.root(),
        "jellyfish count -C -m 25 -s 1M -o j r1.fq && jellyfish dump j > j.fa && jellyfish dump -c j \
         > j.txt && jellyfish dump -c -t j | gzip > j.tsv.gz",
    );
    dir.run("count -q -k 25 --min-count 1 -o m.mgk r1.fq").ok();
    let expected = dir.run("kmers dump m.mgk").ok();
    for name in ["j", "j.fa", "j.txt", "j.tsv.gz"] {
        assert!(dir.run(&format!("kmers dump {name}")).ok() == expected, "{name}");
        assert_eq!(dir.run(&format!("kmers verify {name}")).ok(), format!("{name}: ok\n"));
    }
}

type Map = BTreeMap<String, u64>;

fn map(dir: &Dir, table: &str) -> Map {
    let text = dir.run(&format!("kmers dump {table}")).ok();
    let line = |line: &str| {
        let (kmer, count) = line.split_once('\t').unwrap();
        (kmer.to_owned(), count.parse().unwrap())
    };
    text.lines().map(line).collect()
}

fn text(map: &Map) -> String {
    map.iter().map(|(kmer, count)| format!("{kmer}\t{count}\n")).collect()
}

/// Operations on many tables, expressions and set-counts, compared with maps; without other tools.
#[test]
fn many_tables_and_nesting() {
    let dir = Dir::new();
    for i in 0..5 {
        dir.write(&format!("r{i}.fq"), fastq(&untidy(60, 7)[i * 7..i * 7 + 20], "\n"));
        dir.run(&format!("count -q -k 15 --min-count 1 -o {i}.mgk r{i}.fq")).ok();
    }
    let maps: Vec<Map> = (0..5).map(|i| map(&dir, &format!("{i}.mgk"))).collect();
    let mut union = Map::new();
    for (kmer, count) in maps.iter().flatten() {
        *union.entry(kmer.clone()).or_insert(0) += count;
    }
    let all = "0.mgk 1.mgk 2.mgk 3.mgk 4.mgk";
    assert!(dir.run(&format!("kmers union -q --format tsv -o - {all}")).ok() == text(&union));
    let mut shared = maps[0].clone();
    shared.retain(|kmer, count| {
        maps[1..].iter().all(|map| map.contains_key(kmer)) && {
            *count = maps.iter().map(|map| map[kmer]).max().unwrap();
            true
        }
    });
    let args = format!("kmers intersect --counts max -q --format tsv -o - {all}");
    assert!(dir.run(&args).ok() == text(&shared));
    let mut rest = maps[0].clone();
    rest.retain(|kmer, _| !maps[1].contains_key(kmer) && maps[2].contains_key(kmer));
    let set: Map = rest.keys().map(|kmer| (kmer.clone(), 7)).collect();
    fs_copy(&dir, "0.mgk", "a b,(c).mgk");
    let expression = "set-counts(intersect-left(subtract('a b,(c).mgk', 1.mgk), 2.mgk), 7)";
    let args = ["kmers", "eval", "-q", "--format", "tsv", "-o", "-", expression];
    assert!(dir.run_with(args, b"").ok() == text(&set) && !set.is_empty());
    let set_counts = dir.run("kmers set-counts 3 0.mgk:2..4 -q --format tsv -o -").ok();
    let cut = maps[0].iter().filter(|(_, count)| (2..=4).contains(*count));
    let cut: Map = cut.map(|(kmer, _)| (kmer.clone(), 3)).collect();
    assert_eq!(set_counts, text(&cut));
    // The same file as two inputs.
    let same = dir.run("kmers intersect --counts sum 0.mgk:2.. 0.mgk -q --format tsv -o -").ok();
    let twice = maps[0].iter().filter(|(_, count)| **count > 1);
    let twice: Map = twice.map(|(kmer, count)| (kmer.clone(), 2 * count)).collect();
    assert_eq!(same, text(&twice));
}

fn fs_copy(dir: &Dir, from: &str, to: &str) {
    std::fs::copy(dir.path(from), dir.path(to)).unwrap();
}

/// A converted table has the bytes of the counted one, and conversions to other formats lose nothing.
#[test]
fn conversions_lose_nothing() {
    let dir = Dir::new();
    dir.write("r.fq", fastq(&untidy(400, 3), "\n"));
    for k in [1, 5, 16, 21, 32, 33, 65, 128] {
        for options in ["--min-count 1", "--min-count 2 --forward-only --max-count 30"] {
            dir.run(&format!("count -q -k {k} {options} -o t.mgk r.fq")).ok();
            let forward = if options.contains("forward") { "--forward-only" } else { "" };
            dir.run("kmers reduce -q -o same.mgk t.mgk").ok();
            assert!(dir.read("same.mgk") == dir.read("t.mgk"), "k {k} {options}");
            let dump = dir.run("kmers dump t.mgk").ok();
            for format in ["kmc", "kff", "jf", "tsv", "fasta", "jellyfish"] {
                if dump.is_empty() && !["kmc", "kff", "jf"].contains(&format) {
                    // A text table without a line has no k.
                    continue;
                }
                let name = if format == "kmc" { "x" } else { "x.other" };
                dir.run(&format!("kmers convert -q --format {format} -o {name} t.mgk")).ok();
                let args = format!("kmers dump {forward} {name}");
                assert!(dir.run(&args).ok() == dump, "k {k} {options} {format}");
            }
            for format in ["kmc", "kff", "jf"] {
                dir.run(&format!("count -q -k {k} {options} --format {format} -o direct r.fq"))
                    .ok();
                let name = if format == "kmc" { "direct.kmc_suf" } else { "direct" };
                assert!(dir.run(&format!("kmers dump {name}")).ok() == dump, "k {k} {format}");
                if format == "kmc" {
                    std::fs::remove_file(dir.path("direct.kmc_pre")).unwrap();
                    std::fs::remove_file(dir.path("direct.kmc_suf")).unwrap();
                }
            }
        }
    }
}

/// Parquet is a format like any other, if it is built in.
#[test]
fn parquet() {
    let dir = Dir::new();
    dir.write("r.fq", fastq(&untidy(200, 5), "\n"));
    dir.run("count -q -k 21 --min-count 1 -o t.mgk r.fq").ok();
    let convert = dir.run("kmers convert -q --format parquet -o t.parquet t.mgk");
    if cfg!(feature = "parquet") {
        convert.ok();
        dir.run("count -q -k 21 --min-count 1 --format parquet -o direct.parquet r.fq").ok();
        assert!(dir.read("direct.parquet") == dir.read("t.parquet"));
        assert_eq!(dir.run("kmers dump t.parquet").ok(), dir.run("kmers dump t.mgk").ok());
        let args = "kmers union -q --counts max --format tsv -o - t.mgk t.parquet";
        assert_eq!(dir.run(args).ok(), dir.run("kmers dump t.mgk").ok());
    } else {
        let message = convert.fails(2);
        assert!(message.contains("Parquet"), "{message}");
        assert!(!dir.path("t.parquet").exists());
        dir.write("x.parquet", b"PAR1 and more");
        assert!(dir.run("kmers dump x.parquet").fails(1).contains("Parquet"));
    }
}

/// Threads, memory and the format of the inputs do not change a byte.
#[test]
fn the_same_bytes_whatever_the_run() {
    let dir = Dir::new();
    dir.write("a.fa", many(8));
    let more = many(12);
    let start = (4 << 20..).find(|&at| more[at] == b'>').unwrap();
    dir.write("b.fa", &more[start..]);
    for name in ["a", "b"] {
        dir.run(&format!("count -q -k 27 --min-count 1 -o {name}.mgk {name}.fa")).ok();
        dir.run(&format!("kmers convert -q --format kmc -o {name} {name}.mgk")).ok();
        dir.run(&format!("kmers convert -q --format tsv -o {name}.tsv {name}.mgk")).ok();
    }
    dir.run("kmers union -q --threads 1 -o first.mgk a.mgk b.mgk").ok();
    let first = dir.read("first.mgk");
    assert_eq!(dir.run("kmers verify first.mgk").ok(), "first.mgk: ok\n");
    for options in [
        "--threads 4 a.mgk b.mgk",
        "--threads 3 --memory 60M a.mgk b.mgk",
        "--threads 2 --memory 60M a b.mgk",
        "--threads 2 --memory 60M --tmp-dir . a.tsv b.tsv",
    ] {
        let json = dir.run(&format!("kmers union -q -o next.mgk --json - {options}")).ok();
        assert!(dir.read("next.mgk") == first, "{options}");
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        if let Some(at) = options.find("--memory 60M") {
            let peak = json["peak_memory_bytes"].as_u64().unwrap();
            assert!(peak <= 66 << 20, "{options} {at}: {peak}");
        }
        if options.contains("tsv") {
            assert!(json["results"]["spilled_bytes"].as_u64().unwrap() > 0, "{json}");
        }
    }
}

#[test]
fn compare() {
    let dir = Dir::new();
    dir.write("a.tsv", "AACCA\t3\nCATGG\t1\nCAGGG\t2\n");
    dir.write("b.tsv", "CAGGG\t1\nAACCA\t5\nAAAAA\t9\nCAAAC\t1\n");
    dir.write("c.tsv", "ACGAA\t1\n");
    let args = "kmers compare a.tsv b.tsv c.tsv b.tsv:2..";
    insta::assert_snapshot!("compare", dir.run(args).ok());
}

#[test]
fn overflow_cuts_and_lowered_counts_are_said() {
    let dir = Dir::new();
    dir.write("a.tsv", "AACCA\t4294967295\nCATGG\t9\n");
    dir.write("b.tsv", "AACCA\t1\nCATGG\t3\n");
    let ran = dir.run("kmers union -o u.mgk a.tsv b.tsv");
    assert_eq!(ran.warnings(), ["warning: counts above 4,294,967,295 are stored as 4,294,967,295"]);
    assert!(dir.run("kmers info u.mgk").ok().contains("saturated       yes"));
    assert_eq!(dir.run("kmers dump u.mgk").ok(), "AACCA\t4294967295\nCATGG\t12\n");
    let ran = dir.run("kmers union --counter-max 10 --min-count 4 --format tsv -o - a.tsv b.tsv");
    assert_eq!(ran.warnings(), ["warning: 2 counts were lowered to 10 (--counter-max)"]);
    assert_eq!(ran.ok(), "AACCA\t10\nCATGG\t10\n");
    let ran = dir.run("kmers reduce a.tsv:..8 -o e.mgk --histogram -");
    assert_eq!(ran.warnings(), ["warning: the result has no k-mers"]);
    assert_eq!(ran.ok(), "");
    let ran = dir.run("kmers counters-subtract --format none --histogram - a.tsv b.tsv");
    assert_eq!(ran.ok(), "6\t1\n4294967294\t1\n");
}

#[test]
fn tables_that_do_not_go_together_and_damaged_ones() {
    let dir = Dir::new();
    dir.write("r.fa", fasta(&untidy(50, 4), 70, "\n"));
    dir.run("count -q -k 21 -o a.mgk r.fa").ok();
    dir.run("count -q -k 22 --format kmc -o b r.fa").ok();
    dir.run("count -q -k 21 --forward-only -o f.mgk r.fa").ok();
    dir.write("twice.tsv", "AAC\t1\nACC\t2\nAAC\t1\n");
    dir.write("long.tsv", "AAC\t1\nACCC\t2\n");
    dir.write("strand.tsv", "AAC\t1\nGGT\t2\n");
    dir.write("count.tsv", "AAC\t1\nACC\tx\n");
    dir.write("large.tsv", "AAC\t4294967296\n");
    dir.write("letter.tsv", "AAC\t1\nANC\t1\n");
    dir.write("header.fa", ">1\nAAC\n>2\n");
    dir.write("reads.fq", "@1\nACGT\n+\nIIII\n");
    dir.write("empty.tsv", "");
    dir.run("kmers convert -q --format kff -o k.kff a.mgk").ok();
    let kff = dir.read("k.kff");
    dir.write("short.kff", &kff[..kff.len() / 2]);
    dir.write("odd.kff", [&kff[..12], b"x", &kff[13..]].concat());
    dir.run("kmers convert -q --format kmc -o c a.mgk").ok();
    let suffixes = dir.read("c.kmc_suf");
    dir.write("d.kmc_pre", dir.read("c.kmc_pre"));
    dir.write("d.kmc_suf", &suffixes[..suffixes.len() - 9]);
    dir.write("e.kmc_pre", &dir.read("c.kmc_pre")[..100]);
    dir.write("e.kmc_suf", &suffixes);
    dir.write("g.kmc_pre", dir.read("c.kmc_pre"));
    let mut all = String::new();
    for tables in [
        "a.mgk b",
        "a.mgk f.mgk",
        "twice.tsv",
        "long.tsv",
        "strand.tsv",
        "count.tsv",
        "large.tsv",
        "letter.tsv",
        "header.fa",
        "reads.fq",
        "empty.tsv",
        "short.kff",
        "odd.kff",
        "d",
        "e",
        "g",
        "gone.mgk",
        ".",
    ] {
        let message = dir.run(&format!("kmers union -o x.mgk {tables}")).fails(1);
        all += &message;
        assert!(!dir.path("x.mgk").exists(), "{tables}");
    }
    all += &dir.run("kmers union -o a.mgk a.mgk").fails(1);
    all += &dir.run("kmers union -o x.mgk --memory 10M --threads 2 a.mgk").fails(1);
    let all = all.replace(&kff.len().to_string(), "N");
    insta::assert_snapshot!("bad_tables", all);
}

/// A KFF file written by the specification is read: another encoding of bases, blocks of several k-mers, a section
/// with a minimizer.
#[test]
fn kff_of_every_kind() {
    // A C G T = 0 1 3 2.
    let code = |letter: u8| match letter {
        b'A' => 0u8,
        b'C' => 1,
        b'G' => 3,
        _ => 2,
    };
    let packed = |sequence: &[u8]| -> Vec<u8> {
        let padding = (4 - sequence.len() % 4) % 4;
        let codes: Vec<u8> =
            std::iter::repeat_n(0, padding).chain(sequence.iter().map(|&l| code(l))).collect();
        codes.chunks(4).map(|four| four.iter().fold(0, |byte, code| byte << 2 | code)).collect()
    };
    let variables = |variables: &[(&str, u64)]| -> Vec<u8> {
        let mut section = b"v".to_vec();
        section.extend((variables.len() as u64).to_be_bytes());
        for (name, value) in variables {
            section.extend([name.as_bytes(), b"\0", &value.to_be_bytes()].concat());
        }
        section
    };
    let mut file = b"KFF\x01\x00\x1e\x01\x00\x00\x00\x00\x03abc".to_vec();
    file.extend(variables(&[("k", 5), ("max", 4), ("data_size", 2), ("ordered", 0)]));
    file.extend([&b"r"[..], &2u64.to_be_bytes(), b"\x03"].concat());
    file.extend(packed(b"AACCATG"));
    file.extend(b"\x00\x07\x01\x00\x00\x01");
    file.extend([&b"\x01"[..], &packed(b"TTTTT"), b"\x00\x02"].concat());
    file.extend(variables(&[("m", 3)]));
    file.extend([&b"m"[..], &packed(b"CAT"), &1u64.to_be_bytes()].concat());
    // Two k-mers of GCATTA, whose minimizer begins at 1.
    file.extend([&b"\x02\x01"[..], &packed(b"GTA"), b"\x00\x05\x00\x06"].concat());
    file.extend(b"KFF");
    let dir = Dir::new();
    dir.write("x.kff", &file);
    let expected = "AACCA\t7\nACCAT\t256\nCATTA\t6\nCCATG\t1\nGCATT\t5\nTTTTT\t2\n";
    assert_eq!(dir.run("kmers dump x.kff").ok(), expected);
    assert!(dir.run("kmers info x.kff").ok().contains("canonical       no"));
    for cut in (13..file.len()).step_by(5) {
        dir.write("y.kff", &file[..cut]);
        dir.run("kmers dump y.kff").fails(1);
    }
    // A block of no k-mers is shorter than its minimizer.
    let mut none = b"KFF\x01\x00\x1e\x01\x00\x00\x00\x00\x00".to_vec();
    none.extend(variables(&[("k", 5), ("max", 4), ("data_size", 0), ("m", 5)]));
    none.extend([&b"m"[..], &packed(b"GCATT"), &1u64.to_be_bytes(), b"\x00\x00KFF"].concat());
    dir.write("z.kff", none);
    let error = dir.run("kmers dump z.kff").fails(1);
    assert_eq!(error, "error: z.kff: damaged: a minimizer outside of its block\n");
}
