//! `merganser deplete`: minimizer sets, and reads compared with them.

use merganser_deplete::Params;
use merganser_test_support::Dir;
use merganser_test_support::tools::{installed, shell};

use merganser_test_support::oracles::deplete::naive;
use std::collections::BTreeSet;

/// A random number generator that must not change: the checksum of Deacon's set ([`OWN_IDX`]) belongs to the host
/// that it generates.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % count
    }

    fn bases(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| b"ACGT"[self.below(4)]).collect()
    }
}

fn back(bases: &[u8]) -> Vec<u8> {
    let complement = |&base: &u8| match base {
        b'A' => b'T',
        b'C' => b'G',
        b'G' => b'C',
        b'T' => b'A',
        other => other,
    };
    bases.iter().rev().map(complement).collect()
}

/// A host, and pairs of which about half belong to it, with substitutions, N, short reads and lower case.
struct Sample {
    host: Vec<u8>,
    pairs: Vec<[Vec<u8>; 2]>,
}

impl Sample {
    fn new(seed: u64, pairs: usize) -> Sample {
        let mut random = Random(seed);
        let host = random.bases(30_000);
        let mut pair = || {
            let fragment = if random.below(2) == 0 {
                let from = random.below(host.len() - 400);
                host[from..from + 400].to_vec()
            } else {
                random.bases(400)
            };
            let lens = [20 + random.below(140), 20 + random.below(140)];
            let ends = [fragment[..lens[0]].to_vec(), back(&fragment[400 - lens[1]..])];
            ends.map(|mut read| {
                for _ in 0..random.below(6) {
                    let at = random.below(read.len());
                    read[at] = b"ACGTNacgtU"[random.below(10)];
                }
                read
            })
        };
        let pairs = (0..pairs).map(|_| pair()).collect();
        Sample { host, pairs }
    }

    /// Writes `host.fa`, `1.fq` and `2.fq`.
    fn write(&self, dir: &Dir) {
        let mut fasta = b">host of all\n".to_vec();
        fasta.extend(self.host.chunks(70).flat_map(|line| [line, b"\n"].concat()));
        dir.write("host.fa", fasta);
        for mate in 0..2 {
            let records = (0..).zip(&self.pairs).map(|(number, pair): (u32, _)| {
                let letters = String::from_utf8_lossy(&pair[mate]);
                let quality = "F".repeat(letters.len());
                format!("@p{number}/{} more\n{letters}\n+\n{quality}\n", mate + 1)
            });
            dir.write(&format!("{}.fq", mate + 1), records.collect::<String>().into_bytes());
        }
    }

    /// Returns whether each pair matches, by the definition.
    fn matches(&self, params: Params, (number, part, complexity): (usize, f64, f32)) -> Vec<bool> {
        let host: BTreeSet<u64> = naive::minimizers(params, &self.host).into_iter().collect();
        let is_match = |pair: &[Vec<u8>; 2]| {
            let all: BTreeSet<u64> =
                pair.iter().flat_map(|read| naive::minimizers(params, read)).collect();
            let hits = all.intersection(&host);
            let hits = hits.filter(|&&hit| naive::complexity(params, hit) >= complexity).count();
            hits >= number && hits as f64 >= part * all.len() as f64
        };
        self.pairs.iter().map(is_match).collect()
    }
}

/// Returns the numbers in the names of a file's reads.
fn names(text: &[u8]) -> Vec<usize> {
    let text = std::str::from_utf8(text).unwrap();
    let number = |line: &str| line[2..].split('/').next().unwrap().parse().unwrap();
    text.lines().step_by(4).map(number).collect()
}

#[test]
fn what_matches_goes_by_the_definition() {
    let sample = Sample::new(1, 600);
    let dir = Dir::new();
    sample.write(&dir);
    for (k, w) in [(31, 15), (21, 11)] {
        dir.run(&format!("deplete index -q host.fa -o host.mgd -k {k} -w {w}")).ok();
        dir.run(&format!("deplete index -q host.fa -o host.idx -k {k} -w {w} -t 1")).ok();
        let params = Params::new(k, w).unwrap();
        for (options, limits) in [
            ("", (2, 0.01, 0.0)),
            ("-a 1 -r 0", (1, 0.0, 0.0)),
            ("-a 1 -r 0.5", (1, 0.5, 0.0)),
            ("-a 7", (7, 0.01, 0.0)),
            ("-a 4 -r 0 -c 0.98", (4, 0.0, 0.98)),
        ] {
            let expected = sample.matches(params, limits);
            let of = |matches: bool| -> Vec<usize> {
                let numbers = (0..).zip(&expected);
                numbers.filter(|(_, is)| **is == matches).map(|(number, _)| number).collect()
            };
            assert!(of(true).len() > 60 && of(false).len() > 60);
            for set in ["host.mgd", "host.idx"] {
                let run = format!("deplete filter -q {set} -1 1.fq -2 2.fq {options}");
                dir.run(&format!("{run} -o c_#.fq --output-matching m_#.fq --json j")).ok();
                for mate in 1..3 {
                    assert_eq!(names(&dir.read(&format!("c_{mate}.fq"))), of(false), "{options}");
                    assert_eq!(names(&dir.read(&format!("m_{mate}.fq"))), of(true), "{options}");
                }
                let json: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
                let results = |key: &str| json["results"][key].as_u64().unwrap() as usize;
                assert_eq!([results("reads"), results("kept_reads")], [1200, 2 * of(false).len()]);
                dir.run(&format!("{run} --keep -o k_#.fq")).ok();
                assert_eq!(dir.read("k_1.fq"), dir.read("m_1.fq"));
            }
        }
    }
}

#[test]
fn the_same_bytes_whatever_threads_and_memory() {
    let sample = Sample::new(2, 40_000);
    let dir = Dir::new();
    sample.write(&dir);
    dir.run("deplete index -q host.fa -o host.mgd -t 1").ok();
    dir.run("deplete index -q host.fa -o other.mgd -t 4 --memory 300M").ok();
    assert!(dir.read("host.mgd") == dir.read("other.mgd"));
    for (outputs, read) in [
        ("-o c_#.fq", ["c_1.fq", "c_2.fq"]),
        ("-o c_#.fq.gz --output-matching m.fq.gz", ["c_2.fq.gz", "m.fq.gz"]),
        ("-o c_#.fq.zst --rename", ["c_1.fq.zst", "c_2.fq.zst"]),
        ("-o c.fq.gz --rename --output-matching m.fq.zst", ["c.fq.gz", "m.fq.zst"]),
        ("-o c.fq --output2 d.fq", ["c.fq", "d.fq"]),
    ] {
        let run = |resources: &str| {
            dir.run(&format!("deplete filter -q host.mgd -1 1.fq -2 2.fq {outputs} {resources}"))
                .ok();
            read.map(|name| dir.read(name))
        };
        let first = run("-t 1");
        assert!(first.iter().all(|bytes| bytes.len() > 10_000), "{outputs}");
        for resources in ["-t 4", "-t 3 --memory 200M"] {
            assert!(run(resources) == first, "{outputs} {resources}");
        }
    }
    // Compressed outputs have the text of plain ones.
    if installed(&["zstd", "gzip"]) {
        let run = |outputs: &str| {
            dir.run(&format!("deplete filter -q host.mgd -1 1.fq -2 2.fq --rename {outputs}")).ok();
        };
        run("-o plain_#.fq");
        run("-o c_#.fq.gz");
        run("-o c_#.fq.zst");
        shell(dir.root(), "gzip -dc c_1.fq.gz > a; zstd -q -dc c_2.fq.zst > b");
        assert!(dir.read("a") == dir.read("plain_1.fq") && dir.read("b") == dir.read("plain_2.fq"));
        // Without reads, outputs are empty and still valid compressed files.
        dir.write("none.fq", b"");
        dir.run("deplete filter -q host.mgd none.fq -o n.fq.gz --output-matching n.fq.zst").ok();
        shell(dir.root(), "gzip -dc n.fq.gz > a; zstd -q -dc n.fq.zst > b");
        assert!(dir.read("a").is_empty() && dir.read("b").is_empty());
    }
}

#[test]
fn kept_reads_are_numbered_together() {
    let sample = Sample::new(3, 30_000);
    let dir = Dir::new();
    sample.write(&dir);
    dir.run("deplete index -q host.fa -o host.mgd").ok();
    dir.run("deplete filter -q host.mgd -1 1.fq -2 2.fq --rename -o c_#.fq").ok();
    for mate in 1..3 {
        let text = String::from_utf8(dir.read(&format!("c_{mate}.fq"))).unwrap();
        for (number, line) in text.lines().step_by(4).enumerate() {
            assert_eq!(line, format!("@{} /{mate}", number + 1));
        }
        assert!(text.lines().count() > 40_000);
    }
    let one = dir.run("deplete filter -q host.mgd 1.fq --rename").ok();
    assert!(one.starts_with("@1\n"), "{}", &one[..40]);
}

/// Union, difference and intersection of sets follow the definition, for files of both formats.
#[test]
fn sets_are_united_subtracted_and_intersected() {
    let mut random = Random(9);
    let shared = random.bases(4000);
    let genomes = [0, 1].map(|_| [&shared[..], &random.bases(3000)].concat());
    let dir = Dir::new();
    let params = Params::default();
    let mut sets = Vec::new();
    for (number, genome) in genomes.iter().enumerate() {
        let name = format!("{number}.fa");
        dir.write(&name, [b">g\n".to_vec(), genome.clone(), b"\n".to_vec()].concat());
        dir.run(&format!("deplete index -q {name} -o {number}.mgd")).ok();
        dir.run(&format!("deplete index -q {name} -o {number}.idx")).ok();
        sets.push(naive::minimizers(params, genome).into_iter().collect::<BTreeSet<u64>>());
    }
    let [one, two] = &sets[..] else { panic!() };
    let expected = [one | two, one - two, one & two].map(|set| set.len());
    for (operation, expected) in ["union", "diff", "intersect"].into_iter().zip(expected) {
        for operands in ["0.mgd 1.mgd", "0.idx 1.mgd"] {
            for output in ["x.mgd", "x.idx"] {
                dir.run(&format!("deplete {operation} -q -o {output} {operands}")).ok();
                let info = dir.run(&format!("deplete info {output} --json")).ok();
                let info: serde_json::Value = serde_json::from_str(&info).unwrap();
                assert_eq!(info["minimizers"], expected, "{operation} {operands} {output}");
            }
        }
    }
    // Conversions between both formats are lossless.
    dir.run("deplete union -q -o x.mgd 0.idx").ok();
    assert!(dir.read("x.mgd") == dir.read("0.mgd"));
    dir.run("deplete union -q -o x.idx 0.mgd").ok();
    assert!(dir.read("x.idx") == dir.read("0.idx"));
    let text = dir.run("deplete info 0.mgd").ok();
    assert!(text.contains("k           31\nw           15\n"), "{text}");
    dir.run("deplete index -q 0.fa -o small.mgd -k 21").ok();
    let said = dir.run("deplete union -q -o x.mgd 0.mgd small.mgd").fails(1);
    assert!(said.contains("small.mgd: sets of k 31 and w 15 and of k 21 and w 15"), "{said}");
}

/// Deacon 0.19, if it is installed, makes the same sets and the same decisions.
#[test]
fn deacon_agrees() {
    let sample = Sample::new(5, 5000);
    let dir = Dir::new();
    sample.write(&dir);
    dir.run("deplete index -q host.fa -o own.idx").ok();
    // Without Deacon, compare the set with a recorded checksum.
    let own = dir.read("own.idx");
    let (header, minimizers) = own.split_at(11);
    let mut minimizers: Vec<&[u8]> = minimizers.chunks(8).collect();
    minimizers.sort_by_key(|minimizer| u64::from_le_bytes((*minimizer).try_into().unwrap()));
    let mut sum = flate2::Crc::new();
    sum.update(&[header, &minimizers.concat()].concat());
    assert_eq!(sum.sum(), OWN_IDX);
    if std::process::Command::new("deacon").arg("--version").output().is_err() {
        eprintln!("skipped: deacon is not installed");
        return;
    }
    shell(dir.root(), "deacon index build -q host.fa -o deacons.idx 2> log");
    dir.run("deplete diff -q -o x.mgd own.idx deacons.idx").ok();
    dir.run("deplete diff -q -o y.mgd deacons.idx own.idx").ok();
    for name in ["x.mgd", "y.mgd"] {
        assert!(dir.run(&format!("deplete info {name}")).ok().contains("minimizers  0\n"));
    }
    for options in ["", "-a 1 -r 0", "-a 1 -r 0.3", "-a 5 -r 0.9", "-a 2 -p 60"] {
        let deacons = format!("deacon filter -q -d {options} --ordered own.idx");
        shell(dir.root(), &format!("{deacons} 1.fq 2.fq -o d1.fq -O d2.fq 2> log"));
        dir.run(&format!("deplete filter -q deacons.idx -1 1.fq -2 2.fq {options} -o c#.fq")).ok();
        assert!(dir.read("c1.fq") == dir.read("d1.fq") && dir.read("c2.fq") == dir.read("d2.fq"));
        shell(dir.root(), &format!("{deacons} 1.fq -o d.fq 2> log"));
        dir.run(&format!("deplete filter -q own.idx 1.fq {options} -o c.fq")).ok();
        assert!(dir.read("c.fq") == dir.read("d.fq"), "{options}");
    }
}

/// Checksum of the set that Deacon 0.19.1 makes of the host in [`deacon_agrees`], with sorted minimizers.
const OWN_IDX: u32 = 3_235_461_013;

#[test]
fn summaries_are_what_their_readers_know() {
    let sample = Sample::new(6, 300);
    let dir = Dir::new();
    sample.write(&dir);
    dir.run("deplete index -q host.fa -o host.mgd").ok();
    dir.run("deplete filter -q host.mgd -1 1.fq -2 2.fq -o c_#.fq --summary s --hostile h").ok();
    let read =
        |name: &str| -> serde_json::Value { serde_json::from_slice(&dir.read(name)).unwrap() };
    let (summary, hostile) = (read("s"), read("h"));
    let keys: Vec<&str> = summary.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys.join(" "),
        "version index input input2 output output2 k w abs_threshold \
        rel_threshold prefix_length deplete rename ordered check_pairs seqs_in seqs_out \
        seqs_out_proportion seqs_removed seqs_removed_proportion bp_in bp_out bp_out_proportion \
        bp_removed bp_removed_proportion time seqs_per_second bp_per_second seqs_per_second_total \
        bp_per_second_total"
    );
    let kept = names(&dir.read("c_1.fq")).len() as u64;
    assert_eq!((&summary["seqs_in"], &summary["seqs_out"]), (&600.into(), &(2 * kept).into()));
    let sample = &hostile[0];
    assert_eq!(
        (&sample["fastq2_in_name"], &sample["fastq1_out_name"]),
        (&"2.fq".into(), &"c_1.fq".into())
    );
    let number = |key: &str| sample[key].as_u64().unwrap();
    assert_eq!(number("reads_out") + number("reads_removed"), number("reads_in"));
    assert!(sample["reads_removed_proportion"].as_f64().unwrap() > 0.1);
}

#[test]
fn bad_input_is_one_line_and_leaves_nothing() {
    let sample = Sample::new(7, 200);
    let dir = Dir::new();
    sample.write(&dir);
    dir.run("deplete index -q host.fa -o host.mgd").ok();
    let set = dir.read("host.mgd");
    dir.write("cut.mgd", &set[..set.len() - 5]);
    let mut flipped = set.clone();
    flipped[set.len() / 2] ^= 1;
    dir.write("flipped.mgd", flipped);
    dir.write("empty.mgd", b"");
    dir.write("unequal.fq", dir.read("2.fq").split_at(4000).0);
    for (command, part) in [
        ("filter cut.mgd 1.fq -o x.fq", "cut.mgd: is truncated"),
        ("filter flipped.mgd 1.fq -o x.fq", "flipped.mgd: is damaged (checksum)"),
        ("filter empty.mgd 1.fq -o x.fq", "empty.mgd: is empty"),
        ("filter 1.fq 1.fq -o x.fq", "1.fq: is not a set of minimizers"),
        ("filter missing.mgd 1.fq -o x.fq", "missing.mgd: cannot read"),
        ("filter host.mgd missing.fq -o x.fq", "missing.fq"),
        ("filter host.mgd -1 1.fq -2 unequal.fq -o x#.fq", "unequal.fq"),
        ("filter host.mgd 1.fq -a 0 -o x.fq", "--abs-threshold"),
        ("filter host.mgd 1.fq -r 1.5 -o x.fq", "--rel-threshold"),
        ("filter host.mgd 1.fq -o 1.fq", "1.fq"),
        ("filter host.mgd 1.fq -o x.fq --memory 20M", "--memory"),
        ("index host.fa -o x.mgd -k 30", "-k is 30"),
        ("index host.fa -o x.mgd -w 4", "-w is 4"),
        ("index missing.fa -o x.mgd", "missing.fa"),
        ("index host.fa -o x.mgd --memory 20M", "--memory"),
        ("info .", "is a folder"),
    ] {
        // Contradictory options are usage errors.
        let is_usage = part.starts_with('-') && part != "--memory";
        let said = dir.run(&format!("deplete {command} -q")).fails(if is_usage { 2 } else { 1 });
        assert!(said.contains(part), "{command}: {said}");
        assert!(!dir.root().join("x.fq").exists() && !dir.root().join("x.mgd").exists());
    }
    // A genome shorter than a window has no minimizers and is refused; Deacon writes empty sets of such genomes.
    dir.write("short.fa", b">s\nACGTACGT\n");
    assert!(dir.run("deplete index -q short.fa -o y.mgd").fails(1).contains("no minimizers"));
    dir.write("short.idx", b"\x03\x1f\x0f\0\0\0\0\0\0\0\0");
    dir.run("deplete filter -q short.idx short.fa -o y.fa").ok();
    assert_eq!(dir.read("y.fa"), b">s\nACGTACGT\n");
}
