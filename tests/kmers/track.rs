//! `merganser kmers track`, compared with the definitions of its tracks.

use std::collections::HashMap;
use std::fmt::Write;

use merganser_test_support::Dir;
use merganser_test_support::reads::Random;
use merganser_test_support::tools::{installed, shell};

type Counts = HashMap<Vec<u8>, u64>;

/// Returns the canonical form of letters; `None` if one of them is not a base.
fn canonical(letters: &[u8]) -> Option<Vec<u8>> {
    let base = |letter: &u8| match letter.to_ascii_uppercase() {
        b'U' => Some(b'T'),
        base @ (b'A' | b'C' | b'G' | b'T') => Some(base),
        _ => None,
    };
    let forward: Vec<u8> = letters.iter().map(base).collect::<Option<_>>()?;
    let complement = |base: &u8| match base {
        b'A' => b'T',
        b'C' => b'G',
        b'G' => b'C',
        _ => b'A',
    };
    let reverse: Vec<u8> = forward.iter().rev().map(complement).collect();
    Some(forward.min(reverse))
}

fn count<'s>(sequences: impl IntoIterator<Item = &'s Vec<u8>>, k: usize) -> Counts {
    let mut counts = Counts::new();
    for sequence in sequences {
        for kmer in sequence.windows(k).filter_map(canonical) {
            *counts.entry(kmer).or_default() += 1;
        }
    }
    counts
}

fn tsv(counts: &Counts) -> String {
    let mut lines: Vec<String> = counts
        .iter()
        .map(|(kmer, count)| format!("{}\t{count}\n", String::from_utf8_lossy(kmer)))
        .collect();
    lines.sort();
    lines.concat()
}

fn fasta(sequences: &[(String, Vec<u8>)]) -> Vec<u8> {
    let record = |(name, letters): &(String, Vec<u8>)| {
        let mut record = format!(">{name} of a test\n").into_bytes();
        record.extend(letters.chunks(71).flat_map(|line| [line, b"\n"].concat()));
        record
    };
    sequences.iter().flat_map(record).collect()
}

/// The names of the tracks, in the order of their files.
const TRACKS: [&str; 9] = [
    "o.tsv",
    "classes.bed",
    "present.bed",
    "counts.bedgraph",
    "counts.wig",
    "expected.bg",
    "expected.wig",
    "copies.bedgraph",
    "copies.wig",
];

/// The classes of k-mers, by their numbers.
const CLASSES: [&str; 4] = ["missing", "low", "collapsed", "duplicated"];

/// Returns the number of the class, as the documentation defines it.
fn class(reads: u64, copies: u64, coverage: f64, solid: u64) -> Option<usize> {
    let expected = reads as f64 / coverage;
    let margin = f64::max(0.5, copies as f64 / 4.0);
    if reads == 0 {
        Some(0)
    } else if reads <= solid {
        Some(1)
    } else if expected >= copies as f64 + margin {
        Some(2)
    } else if copies > 1 && expected < copies as f64 - margin {
        Some(3)
    } else {
        None
    }
}

fn decimal(number: f64) -> String {
    format!("{:.2}", (number * 100.0).round() / 100.0)
}

/// Makes the intervals that the k-mers at `starts` cover: start, end and k-mers.
fn covered(starts: &[usize], k: usize) -> Vec<(usize, usize, Vec<usize>)> {
    let mut found: Vec<(usize, usize, Vec<usize>)> = Vec::new();
    for &start in starts {
        match found.last_mut() {
            Some(last) if start < last.1 => {
                last.1 = start + k;
                last.2.push(start);
            }
            _ => found.push((start, start + k, vec![start])),
        }
    }
    found
}

/// Writes the values of one sequence as bedGraph and wig; positions without a value have none.
fn values(name: &str, all: &[Option<(u64, String)>], graph: &mut String, wig: &mut String) {
    let mut at = 0;
    for same in
        all.chunk_by(|one, other| one.as_ref().map(|of| of.0) == other.as_ref().map(|of| of.0))
    {
        if let Some((_, value)) = &same[0] {
            writeln!(graph, "{name}\t{at}\t{}\t{value}", at + same.len()).unwrap();
        }
        at += same.len();
    }
    let mut before = false;
    for (at, value) in all.iter().enumerate() {
        if let Some((_, value)) = value {
            if !before {
                writeln!(wig, "fixedStep chrom={name} start={} step=1", at + 1).unwrap();
            }
            writeln!(wig, "{value}").unwrap();
        }
        before = value.is_some();
    }
}

/// Returns the content of all tracks.
fn tracks(
    reads: &Counts,
    sequences: &[(String, Vec<u8>)],
    k: usize,
    (coverage, solid): (f64, u64),
) -> Vec<String> {
    let own = count(sequences.iter().map(|of| &of.1), k);
    let mut files = vec![String::new(); TRACKS.len()];
    files[0] = "sequence\tbases\tkmers\tfound".into();
    CLASSES.iter().for_each(|name| write!(files[0], "\t{name}_intervals\t{name}_bases").unwrap());
    files[0].push('\n');
    for (name, letters) in sequences {
        let of = |kmer: &[u8]| {
            let kmer = canonical(kmer)?;
            Some((reads.get(&kmer).copied().unwrap_or(0), own[&kmer]))
        };
        let all: Vec<Option<(u64, u64)>> = letters.windows(k).map(of).collect();
        let starts = |wanted: &dyn Fn((u64, u64)) -> bool| -> Vec<usize> {
            (0..all.len()).filter(|&at| all[at].is_some_and(wanted)).collect()
        };
        let mut intervals = Vec::new();
        let (kmers, found) = (starts(&|_| true).len(), starts(&|of| of.0 > 0));
        write!(files[0], "{name}\t{}\t{kmers}\t{}", letters.len(), found.len()).unwrap();
        for number in 0..CLASSES.len() {
            let own = starts(&|of| class(of.0, of.1, coverage, solid) == Some(number));
            let own = covered(&own, k);
            let bases: usize = own.iter().map(|of| of.1 - of.0).sum();
            write!(files[0], "\t{}\t{bases}", own.len()).unwrap();
            intervals.extend(own.into_iter().map(|of| (of, number)));
        }
        files[0].push('\n');
        intervals.sort();
        for ((start, end, starts), number) in intervals {
            let sum = |of: &dyn Fn((u64, u64)) -> u64| -> u64 {
                starts.iter().map(|&at| of(all[at].unwrap())).sum()
            };
            let (of_reads, copies, kmers) = (sum(&|of| of.0), sum(&|of| of.1), starts.len());
            let expected = decimal(of_reads as f64 / coverage / kmers as f64);
            let copies = decimal(copies as f64 / kmers as f64);
            let class = CLASSES[number];
            writeln!(files[1], "{name}\t{start}\t{end}\t{class}\t{expected}\t{copies}\t{kmers}")
                .unwrap();
        }
        for (start, end, _) in covered(&found, k) {
            writeln!(files[2], "{name}\t{start}\t{end}").unwrap();
        }
        // Counts, expected copies and copies.
        let text = |track: usize, (count, copies): (u64, u64)| match track {
            0 => (count, count.to_string()),
            1 => (count, decimal(count as f64 / coverage)),
            _ => (copies, copies.to_string()),
        };
        for at in 0..3 {
            let all: Vec<Option<(u64, String)>> =
                all.iter().map(|of| of.map(|of| text(at, of))).collect();
            let [graph, wig] = &mut files[3 + 2 * at..][..2] else { unreachable!() };
            values(name, &all, graph, wig);
        }
    }
    files
}

/// Runs the program, and compares all tracks with those by definition.
#[track_caller]
fn check(dir: &Dir, table: &str, options: &str, expected: &[String]) {
    for names in [
        ["counts.bedgraph", "expected.bg", "copies.bedgraph"],
        ["counts.wig", "expected.wig", "copies.wig"],
    ] {
        let [counts, expected, copies] = names;
        let line = format!(
            "kmers track -q {options} -o o.tsv --classes classes.bed --present present.bed --counts {counts} \
             --expected {expected} --copies {copies} {table} s.fa more.fa"
        );
        dir.run(&line).ok();
    }
    for (name, expected) in TRACKS.iter().zip(expected) {
        let found = String::from_utf8(dir.read(name)).unwrap();
        let first = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
        assert!(found == *expected, "{options} {name}: {first:?}");
    }
}

/// Sequences with what can occur in them, and reads of some of them.
fn sample(seed: u64, k: usize) -> (Counts, Vec<(String, Vec<u8>)>) {
    let mut random = Random(seed);
    let genome = random.bases(3000);
    let mut sequences = Vec::new();
    for number in 0..12 {
        let (from, length) = (random.below(2500), random.below(500));
        let mut letters = genome[from..from + length].to_vec();
        for _ in 0..random.below(4) {
            let at = random.below(letters.len().max(1));
            if let Some(letter) = letters.get_mut(at) {
                *letter = b"ACGTNnacgtu-"[random.below(12)];
            }
        }
        sequences.push((format!("s{number}"), letters));
    }
    sequences.push(("short".into(), genome[..k - 1].to_vec()));
    sequences.push(("exact".into(), genome[700..700 + k].to_vec()));
    sequences.push(("empty".into(), Vec::new()));
    sequences.push(("same".into(), vec![b'A'; 50]));
    let mut reads = Counts::new();
    for (kmer, count) in count([&genome], k) {
        // Neighbours have similar counts, most of one or two copies.
        let level = [0, 1, 3, 4, 9, 14, 15, 16, 29, 30, 31, 200][random.below(12)];
        if level > 0 {
            reads.insert(kmer, level * count);
        }
    }
    (reads, sequences)
}

#[test]
fn every_track_is_as_defined() {
    for (seed, k) in [(1, 5), (2, 15), (3, 21), (4, 33), (5, 70)] {
        let dir = Dir::new();
        let (reads, sequences) = sample(seed, k);
        dir.write("t.tsv", tsv(&reads));
        dir.write("s.fa", fasta(&sequences[..9]));
        dir.write("more.fa", fasta(&sequences[9..]));
        dir.run("kmers convert -q -o t.mgk t.tsv").ok();
        let files = tracks(&reads, &sequences, k, (10.0, 3));
        for (table, options) in
            [("t.mgk", "-t 1"), ("t.mgk", "-t 3 --memory 120M"), ("t.tsv", "-t 2")]
        {
            check(&dir, table, &format!("--coverage 10 --solid 3 {options}"), &files);
        }
        let files = tracks(&reads, &sequences, k, (7.3, 0));
        check(&dir, "t.mgk", "--coverage 7.3 --solid 0", &files);
    }
}

#[test]
fn long_sequences_have_the_same_tracks_as_short_ones() {
    let (k, dir) = (17, Dir::new());
    let mut random = Random(8);
    // Longer than the stretches in which it is read.
    let mut letters = random.bases(1_200_000);
    letters[600_000..600_010].fill(b'N');
    letters.copy_within(520_000..530_000, 1_044_000);
    let mut reads = count([&letters[..].to_vec()], k);
    reads.retain(|kmer, count| {
        *count *= 10 + u64::from(kmer[3] == b'A' && kmer[9] == b'C');
        kmer[..5] != *b"CATGA"
    });
    let sequences = vec![("long".to_owned(), letters)];
    dir.write("t.tsv", tsv(&reads));
    dir.write("s.fa", fasta(&sequences));
    dir.write("more.fa", "");
    let files = tracks(&reads, &sequences, k, (20.0, 3));
    for threads in [1, 3] {
        check(&dir, "t.tsv", &format!("--coverage 20 --solid 3 -t {threads}"), &files);
    }
}

/// A genome with a repeat, and an assembly with one region of each class. The reads have no noise.
#[test]
fn planted_regions_are_found_exactly() {
    let (k, dir) = (21, Dir::new());
    let mut random = Random(11);
    let [a, b, c, novel] = [4000, 3000, 2000, 300].map(|length| random.bases(length));
    let repeat = random.bases(400);
    let genome = [&a[..], &repeat, &b, &repeat, &c].concat();
    let mut reads = count([&genome], k);
    reads.values_mut().for_each(|count| *count *= 30);
    reads.extend(count([&novel], k).into_keys().map(|kmer| (kmer, 2)));
    // The second copy of the repeat is absent, and a base of B is wrong.
    let mut first = [&a[..], &repeat, &b].concat();
    let wrong = 5500;
    first[wrong] = if first[wrong] == b'A' { b'C' } else { b'A' };
    let duplicate = a[1000..1600].to_vec();
    let sequences = vec![
        ("first".to_owned(), first),
        ("second".to_owned(), duplicate),
        ("third".to_owned(), c),
        ("novel".to_owned(), novel),
    ];
    dir.write("reads.tsv", tsv(&reads));
    dir.write("asm.fa", fasta(&sequences));
    dir.run("kmers track -q --coverage 30 --solid 5 --classes c.bed --json o.json -o o.tsv reads.tsv asm.fa").ok();
    let bed = format!(
        "first\t1000\t1600\tduplicated\t1.00\t2.00\t580\n\
         first\t4000\t4400\tcollapsed\t2.00\t1.00\t380\n\
         first\t{}\t{}\tmissing\t0.00\t1.00\t21\n\
         second\t0\t600\tduplicated\t1.00\t2.00\t580\n\
         novel\t0\t300\tlow\t0.07\t1.00\t280\n",
        wrong - 20,
        wrong + 21
    );
    assert_eq!(String::from_utf8(dir.read("c.bed")).unwrap(), bed);
    let json: serde_json::Value = serde_json::from_slice(&dir.read("o.json")).unwrap();
    let classes = &json["results"]["classes"];
    assert_eq!(classes["duplicated"]["bases"], 1200, "{json:#}");
    assert_eq!(classes["collapsed"]["intervals"], 1, "{json:#}");
    assert_eq!(json["results"]["sequences"], 4, "{json:#}");
}

/// Returns a table of reads with errors that cover a genome of 30,000 bases 40 times, and the genome.
fn sequenced(dir: &Dir, haplotypes: usize) -> Vec<u8> {
    let mut random = Random(3);
    let genome = random.bases(30_000);
    let mut other = genome.clone();
    for at in (150..30_000).step_by(300) {
        other[at] = if other[at] == b'G' { b'T' } else { b'G' };
    }
    let mut reads = String::new();
    for number in 0..12_000 {
        let source = if number % haplotypes == 0 { &genome } else { &other };
        let from = random.below(genome.len() - 100 + 1);
        let mut read = source[from..from + 100].to_vec();
        if random.below(4) == 0 {
            read[random.below(100)] = b"ACGT"[random.below(4)];
        }
        writeln!(reads, ">{number}\n{}", String::from_utf8(read).unwrap()).unwrap();
    }
    dir.write("reads.fa", reads);
    dir.run("count -q -k 21 --min-count 1 -o reads.mgk reads.fa").ok();
    genome
}

#[test]
fn the_coverage_of_one_copy_is_that_of_the_model() {
    // 40 times in all, of 80 of 100 k-mers a read.
    for (haplotypes, options, coverage) in [
        (1, "--ploidy 1", 32.0),
        (2, "", 32.0),
        (2, "--haplotypes 1", 32.0),
        (2, "--haplotypes 2", 16.0),
    ] {
        let dir = Dir::new();
        let genome = sequenced(&dir, haplotypes);
        dir.write("asm.fa", fasta(&[("genome".into(), genome)]));
        dir.run(&format!(
            "kmers track -q {options} --expected e.bg --json o.json reads.mgk asm.fa"
        ))
        .ok();
        let json: serde_json::Value = serde_json::from_slice(&dir.read("o.json")).unwrap();
        let found = json["parameters"]["coverage"].as_f64().unwrap();
        // Errors take a few of the k-mers.
        assert!((found / coverage - 0.96).abs() < 0.06, "{options}: {found}");
        assert_eq!(json["parameters"]["solid"], serde_json::Value::Null);
    }
}

#[test]
fn what_tables_and_sequences_lack_is_said() {
    let dir = Dir::new();
    let genome = sequenced(&dir, 1);
    dir.write("asm.fa", fasta(&[("genome".into(), genome.clone())]));
    dir.run("count -q -k 21 -o cut.mgk reads.fa").ok();
    dir.run("count -q -k 21 --min-count 1 --hpc -o hpc.mgk reads.fa").ok();
    dir.run("count -q -k 21 --min-count 1 --forward-only -o forward.mgk reads.fa").ok();
    let fails = |line: &str, code, what: &str| {
        let said = dir.run(&format!("kmers track -q {line}")).fails(code);
        assert!(said.contains(what), "{line}: {said}");
    };
    fails("--classes c.bed cut.mgk asm.fa", 1, "less than 2 times are cut off");
    fails("--counts c.bg hpc.mgk asm.fa", 1, "homopolymer-compressed");
    fails("--classes c.bed forward.mgk asm.fa", 1, "both strands");
    fails("--copies c.bg forward.mgk asm.fa", 1, "both strands");
    fails("--classes c.bed reads.mgk:2.. asm.fa", 1, "leave out the bounds");
    fails("--classes c.bed --ploidy 1 reads.mgk -", 1, "stdin: is no regular file");
    fails("--coverage 3 --counts c.bg reads.mgk asm.fa", 2, "--coverage requires");
    fails("--coverage 0 --expected c.bg reads.mgk asm.fa", 2, "--coverage");
    fails("--solid 3 --expected c.bg reads.mgk asm.fa", 2, "--solid");
    fails("--haplotypes 3 --expected c.bg reads.mgk asm.fa", 2, "--haplotypes");
    fails("--classes c.wig reads.mgk asm.fa", 2, "c.wig");
    fails("--counts c.bed reads.mgk asm.fa", 2, "c.bed");
    dir.write("few.tsv", format!("{}\t3\n", "ACGTACGTACGTACGTACGTA"));
    fails("--expected c.bg few.tsv asm.fa", 1, "--coverage");
    assert!(!dir.names().iter().any(|name| name.starts_with("c.")), "{:?}", dir.names());
    let warns = |line: &str, what: &str| {
        let ran = dir.run(&format!("kmers track {line}"));
        assert!(ran.warnings().iter().any(|line| line.contains(what)), "{line}: {}", ran.stderr);
        ran.ok();
    };
    warns("--coverage 4 --solid 1 --classes c.bed reads.mgk asm.fa", "occurs 4.0 times");
    warns("--ploidy 1 --expected c.bg cut.mgk asm.fa", "less than 2 times");
    dir.write(
        "other.fa",
        fasta(&[("a".into(), Random(77).bases(500)), ("a".into(), vec![b'A'; 40])]),
    );
    warns("--coverage 32 --expected c.bg reads.mgk other.fa", "of another genome");
    warns("reads.mgk other.fa", "two sequences are called a");
    dir.write("short.fa", ">a\nACGT\n>b\nNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN\n");
    for options in ["", "--coverage 30 --solid 3 --classes c.bed --copies c.bg"] {
        warns(&format!("{options} reads.mgk short.fa"), "no k-mer of 21 bases");
    }
    assert_eq!((dir.read("c.bed").len(), dir.read("c.bg").len()), (0, 0));
    // Counts of 255 and more are 255, as in a database of KMC by default.
    let text = dir.run("kmers dump reads.mgk").ok();
    let lines: Vec<(&str, u64)> = text
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(kmer, count)| (kmer, count.parse().unwrap()))
        .collect();
    let table = |change: &dyn Fn(usize, u64) -> u64| -> String {
        let lines = lines.iter().enumerate();
        lines.map(|(at, (kmer, count))| format!("{kmer}\t{}\n", change(at, *count))).collect()
    };
    let is_repeat = |at: usize| at.is_multiple_of(40);
    dir.write("full.tsv", table(&|at, count| if is_repeat(at) { 9 * count } else { count }));
    dir.write(
        "ended.tsv",
        table(&|at, count| if is_repeat(at) { 9 * count } else { count }.min(255)),
    );
    let options = "--coverage 32 --solid 3 --classes c.bed";
    warns(&format!("{options} ended.tsv asm.fa"), "occur 255 times, and none more often");
    let ran = dir.run(&format!("kmers track {options} full.tsv asm.fa"));
    assert!(!ran.stderr.contains("more often"), "{}", ran.stderr);
    // Counts and present regions need neither both strands nor a file.
    let bases = String::from_utf8(genome[..2000].to_vec()).unwrap();
    let line = "kmers track -q --counts c.bg --present p.bed forward.mgk:1..50 -";
    let said = dir.run_with(line.split_whitespace(), format!(">g\n{bases}\n").as_bytes()).ok();
    assert!(said.starts_with("sequence\tbases\tkmers\tfound\ng\t2000\t1980\t"), "{said}");
    assert!(dir.read("p.bed").starts_with(b"g\t"));
}

#[test]
fn jellyfish_has_the_same_counts() {
    if !installed(&["jellyfish"]) {
        return;
    }
    let dir = Dir::new();
    let genome = sequenced(&dir, 1);
    let mut letters = genome[5000..6000].to_vec();
    letters[300] = b'N';
    letters[600] = if letters[600] == b'A' { b'C' } else { b'A' };
    dir.write("asm.fa", fasta(&[("g".into(), letters.clone())]));
    dir.run("kmers track -q --counts c.wig -o o.tsv reads.mgk asm.fa").ok();
    shell(dir.root(), "jellyfish count -C -m 21 -s 1M -o jf reads.fa");
    let asked = letters.windows(21).filter(|kmer| !kmer.contains(&b'N'));
    let asked: Vec<String> = asked.map(|kmer| String::from_utf8(kmer.to_vec()).unwrap()).collect();
    let told = shell(dir.root(), &format!("jellyfish query jf {}", asked.join(" ")));
    let told = String::from_utf8(told).unwrap();
    let told: Vec<&str> = told.lines().filter_map(|line| line.split(' ').nth(1)).collect();
    let wig = String::from_utf8(dir.read("c.wig")).unwrap();
    let found: Vec<&str> = wig.lines().filter(|line| !line.starts_with("fixed")).collect();
    assert_eq!(found, told);
    assert_eq!(wig.lines().filter(|line| line.starts_with("fixed")).count(), 2);
}
