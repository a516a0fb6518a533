//! `merganser deplete`: minimizer sets, and reads compared with them.

use merganser_deplete::Params;
use merganser_test_support::tools::{by_chance, installed, shell};
use merganser_test_support::{Dir, gunzip, shared};

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
        let host: BTreeSet<u128> = naive::minimizers(params, &self.host).into_iter().collect();
        let is_match = |pair: &[Vec<u8>; 2]| {
            let all: BTreeSet<u128> =
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
    for (k, w) in [(31, 15), (21, 11), (41, 9), (61, 1)] {
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
        sets.push(naive::minimizers(params, genome).into_iter().collect::<BTreeSet<u128>>());
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

/// Sets of minimizers of more than 31 bases: the operations, conversions, and refusals.
#[test]
fn long_minimizers_make_sets_too() {
    let dir = Dir::new();
    let shared = Random(11).bases(2000);
    for (number, own) in [(0, 21), (1, 22)] {
        let genome = [&shared[..], &Random(own).bases(1000)].concat();
        dir.write(&format!("{number}.fa"), [b">g\n".to_vec(), genome, b"\n".to_vec()].concat());
        dir.run(&format!("deplete index -q {number}.fa -o {number}.mgd -k 61 -w 5 -t 1")).ok();
        dir.run(&format!("deplete index -q {number}.fa -o {number}.idx -k 61 -w 5 -t 3")).ok();
    }
    let count = |set: &str| -> usize {
        let info = dir.run(&format!("deplete info {set} --json")).ok();
        let info: serde_json::Value = serde_json::from_str(&info).unwrap();
        assert_eq!([&info["k"], &info["w"]], [61, 5]);
        info["minimizers"].as_u64().unwrap() as usize
    };
    for operation in ["union", "diff", "intersect"] {
        dir.run(&format!("deplete {operation} -q -o {operation}.mgd 0.mgd 1.idx")).ok();
        dir.run(&format!("deplete {operation} -q -o other.mgd 0.idx 1.mgd")).ok();
        assert!(dir.read("other.mgd") == dir.read(&format!("{operation}.mgd")));
    }
    let [union, diff, intersect] = ["union.mgd", "diff.mgd", "intersect.mgd"].map(count);
    assert_eq!([union - count("1.mgd"), intersect + diff], [diff, count("0.idx")]);
    assert!(diff > 200 && intersect > 500, "{diff} {intersect}");
    dir.run("deplete union -q -o x.idx 0.mgd").ok();
    assert!(dir.read("x.idx") == dir.read("0.idx"));
    // Programs that do not know long minimizers name the version.
    assert_eq!(dir.read("0.mgd")[8..12], 2u32.to_le_bytes());
    dir.run("deplete index -q 0.fa -o short.mgd -k 31 -w 5").ok();
    assert_eq!(dir.read("short.mgd")[8..12], 1u32.to_le_bytes());
    let said = dir.run("deplete union -q -o y.mgd 0.mgd short.mgd").fails(1);
    assert!(said.contains("sets of k 61 and w 5 and of k 31 and w 5"), "{said}");
    for k in [32, 60, 63] {
        let said = dir.run(&format!("deplete index -q 0.fa -o y.mgd -k {k}")).fails(2);
        assert!(
            said.contains(&format!("-k is {k}: an odd number of up to 61 is needed")),
            "{said}"
        );
    }
}

/// Returns the checksum of a set in Deacon's format, with sorted minimizers.
fn sum_of_sorted(set: &[u8]) -> u32 {
    let (header, minimizers) = set.split_at(11);
    let width = usize::from(header[1]).div_ceil(4);
    let mut minimizers: Vec<&[u8]> = minimizers.chunks(width).collect();
    minimizers.sort_by(|one, other| one.iter().rev().cmp(other.iter().rev()));
    let mut sum = flate2::Crc::new();
    sum.update(&[header, &minimizers.concat()].concat());
    sum.sum()
}

/// Deacon 0.19, if it is installed, makes the same sets and the same decisions.
#[test]
fn deacon_agrees() {
    let sample = Sample::new(5, 5000);
    let dir = Dir::new();
    sample.write(&dir);
    for (k, w, sum) in OWN_IDX {
        let index = format!("-k {k} -w {w} host.fa");
        dir.run(&format!("deplete index -q {index} -o own.idx")).ok();
        // Without Deacon, compare the set with a recorded checksum.
        assert_eq!(sum_of_sorted(&dir.read("own.idx")), sum, "{k} {w}");
        if std::process::Command::new("deacon").arg("--version").output().is_err() {
            eprintln!("skipped: deacon is not installed");
            continue;
        }
        shell(dir.root(), &format!("deacon index build -q {index} -o deacons.idx 2> log"));
        assert_eq!(sum_of_sorted(&dir.read("deacons.idx")), sum, "{k} {w}");
        // Our files of a set have one order.
        dir.run("deplete union -q -o x.idx deacons.idx").ok();
        assert!(dir.read("x.idx") == dir.read("own.idx"));
        for options in ["", "-a 1 -r 0", "-a 1 -r 0.3", "-a 5 -r 0.9", "-a 2 -p 80", "-a 1 -c 0.99"]
        {
            let deacons = format!("deacon filter -q -d {options} --ordered own.idx");
            shell(dir.root(), &format!("{deacons} 1.fq 2.fq -o d1.fq -O d2.fq 2> log"));
            dir.run(&format!("deplete filter -q deacons.idx -1 1.fq -2 2.fq {options} -o c#.fq"))
                .ok();
            assert!(
                dir.read("c1.fq") == dir.read("d1.fq") && dir.read("c2.fq") == dir.read("d2.fq")
            );
            shell(dir.root(), &format!("{deacons} 1.fq -o d.fq 2> log"));
            dir.run(&format!("deplete filter -q own.idx 1.fq {options} -o c.fq")).ok();
            assert!(dir.read("c.fq") == dir.read("d.fq"), "{k} {w} {options}");
        }
    }
}

/// k, w, and the checksum of the set that Deacon 0.19.1 makes of the host in [`deacon_agrees`], with sorted minimizers.
const OWN_IDX: [(usize, usize, u32); 6] = [
    (31, 15, 3_235_461_013),
    (33, 1, 2_112_522_694),
    (33, 63, 502_959_602),
    (41, 15, 3_260_116_642),
    (61, 1, 2_404_102_757),
    (61, 35, 3_783_206_727),
];

/// Deacon 0.19, if it is installed, makes the same sets of real genomes, and the same decisions about real reads.
#[test]
fn deacon_agrees_on_real_reads() {
    let names = ["Streptococcus_mitis_NCTC12261", "Escherichia_coli_K12_MG1655"];
    let genomes = names.map(|name| shared(&format!("genomes/{name}.fna.gz")));
    let reads = ["ERR1438863_1", "ERR1438863_2", "pacbio_ecoliK12_150reads"];
    let reads = reads.map(|name| shared(&format!("reads/{name}.fastq.gz")));
    let ([Some(mitis), Some(coli)], [Some(one), Some(two), Some(long)]) = (genomes, reads) else {
        return;
    };
    if !by_chance("deacon") {
        return;
    }
    let dir = Dir::new();
    for (name, path) in
        [("mitis.fa", mitis), ("coli.fa", coli), ("1.fq", one), ("2.fq", two), ("long.fq", long)]
    {
        dir.write(name, gunzip(&path));
    }
    let reads = |name: &str| dir.read(name).iter().filter(|&&byte| byte == b'\n').count() / 4;
    for (k, w) in [(31, 15), (33, 15), (41, 15), (61, 1)] {
        for (genome, inputs, limits) in
            [("mitis.fa", ["1.fq", "2.fq"], ""), ("coli.fa", ["long.fq", ""], "-a 1 -r 0")]
        {
            dir.run(&format!("deplete index -q {genome} -o own.idx -k {k} -w {w}")).ok();
            let build = format!("deacon index build -q {genome} -o deacons.idx -k {k} -w {w}");
            shell(dir.root(), &format!("{build} 2> log"));
            let [own, deacons] =
                ["own.idx", "deacons.idx"].map(|name| sum_of_sorted(&dir.read(name)));
            assert_eq!(own, deacons, "{k} {w} {genome}");
            let [first, second] = inputs;
            let (outputs, own_inputs) = match second {
                "" => ("-o d1.fq", first.to_owned()),
                _ => ("-o d1.fq -O d2.fq", format!("-1 {first} -2 {second} --output2 c2.fq")),
            };
            let deacons =
                format!("deacon filter -q -d --ordered {limits} own.idx {first} {second}");
            shell(dir.root(), &format!("{deacons} {outputs} 2> log"));
            dir.run(&format!("deplete filter -q deacons.idx {own_inputs} {limits} -o c1.fq")).ok();
            assert!(dir.read("c1.fq") == dir.read("d1.fq"), "{k} {w} {genome}");
            assert!(
                second.is_empty() || dir.read("c2.fq") == dir.read("d2.fq"),
                "{k} {w} {genome}"
            );
            let (all, kept) = (reads(first), reads("c1.fq"));
            let count = (dir.read("own.idx").len() - 11) / (k as usize).div_ceil(4);
            println!(
                "k {k} w {w} {genome}: {count} minimizers, {kept} of {all} reads or pairs kept"
            );
            assert!(kept > 0 && kept < all);
        }
    }
}

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
        (
            "filter 1.fq 1.fq -o x.fq",
            "1.fq: not a set of minimizers (.mgd, or Deacon's .idx), but ",
        ),
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
    let said = dir.run("deplete filter 1.fq host.mgd -o x.fq").fails(2);
    assert!(said.contains("merganser deplete filter host.mgd 1.fq"), "{said}");
    // A genome shorter than a window has no minimizers and is refused; Deacon writes empty sets of such genomes.
    dir.write("short.fa", b">s\nACGTACGT\n");
    assert!(dir.run("deplete index -q short.fa -o y.mgd").fails(1).contains("no minimizers"));
    dir.write("short.idx", b"\x03\x1f\x0f\0\0\0\0\0\0\0\0");
    dir.run("deplete filter -q short.idx short.fa -o y.fa").ok();
    assert_eq!(dir.read("y.fa"), b">s\nACGTACGT\n");
}
