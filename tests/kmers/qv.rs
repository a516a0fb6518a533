//! `merganser kmers qv`, compared with the definitions on simulated genomes with known errors.

mod ranges;

use std::collections::BTreeMap;

use merganser_test_support::Dir;
use merganser_test_support::reads::Random;
use merganser_test_support::tools::{installed, shell};

const K: usize = 15;

/// Replaces bases at `count` random positions.
fn mutate(random: &mut Random, bases: &mut [u8], count: usize) {
    for _ in 0..count {
        let at = random.below(bases.len());
        bases[at] = b"ACGTN"[random.below(5)];
    }
}

fn canonical(kmer: &[u8]) -> Option<Vec<u8>> {
    let complement = |base: u8| match base {
        b'A' => Some(b'T'),
        b'C' => Some(b'G'),
        b'G' => Some(b'C'),
        b'T' => Some(b'A'),
        _ => None,
    };
    let back: Option<Vec<u8>> = kmer.iter().rev().map(|&base| complement(base)).collect();
    back.map(|back| back.min(kmer.to_vec()))
}

type Counts = BTreeMap<Vec<u8>, u64>;

fn count<'s>(sequences: impl IntoIterator<Item = &'s Vec<u8>>) -> Counts {
    let mut counts = Counts::new();
    for sequence in sequences {
        for kmer in sequence.windows(K).filter_map(canonical) {
            *counts.entry(kmer).or_default() += 1;
        }
    }
    counts
}

fn fasta(sequences: &[Vec<u8>]) -> Vec<u8> {
    let record = |(number, letters): (usize, &Vec<u8>)| {
        let mut record = format!(">s{number} of some\n").into_bytes();
        record.extend(letters.chunks(61).flat_map(|line| [line, b"\n"].concat()));
        record
    };
    sequences.iter().enumerate().flat_map(record).collect()
}

/// Reads of a genome, and two assemblies of it with errors, gaps, duplicated and missing pieces.
struct Sample {
    reads: Vec<Vec<u8>>,
    assemblies: [Vec<Vec<u8>>; 2],
}

impl Sample {
    fn new(seed: u64) -> Sample {
        let mut random = Random(seed);
        let genome = random.bases(12_000);
        let mut reads = Vec::new();
        for _ in 0..3000 {
            let from = random.below(genome.len() - 100);
            let mut read = genome[from..from + 100].to_vec();
            let errors = random.below(3) / 2;
            mutate(&mut random, &mut read, errors);
            reads.push(read);
        }
        let mut piece = |from: usize, to: usize, errors: usize| {
            let mut piece = genome[from..to].to_vec();
            mutate(&mut random, &mut piece, errors);
            piece
        };
        let one =
            vec![piece(0, 7000, 9), b"ACGT".to_vec(), piece(6500, 11_900, 0), piece(100, 140, 9)];
        let other =
            vec![piece(0, 3000, 2), piece(2000, 3000, 0), piece(2100, 2900, 1), piece(200, 900, 0)];
        Sample { reads, assemblies: [one, other] }
    }

    fn write(&self, dir: &Dir) {
        dir.write("reads.fa", fasta(&self.reads));
        dir.write("one.fasta", fasta(&self.assemblies[0]));
        dir.write("other.fa", fasta(&self.assemblies[1]));
    }
}

/// Formats a number as `%.6g`, with awk.
fn general(value: f64) -> String {
    let output = std::process::Command::new("awk")
        .arg(format!("BEGIN {{ printf \"%.6g\", {value:.17} }}"))
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the QV and the error rate as in `.qv` files.
fn qv(missing: u64, kmers: u64) -> String {
    if kmers == 0 {
        return "na\tna".into();
    }
    let rate = 1.0 - (1.0 - missing as f64 / kmers as f64).powf(1.0 / K as f64);
    match missing {
        0 => "inf\t0".into(),
        // With `powf`, the last digits would differ.
        _ => format!("{}\t{}", general(-10.0 * rate.log10() + 0.0), general(rate)),
    }
}

fn lines(dir: &Dir, name: &str) -> Vec<String> {
    String::from_utf8(dir.read(name)).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn every_file_is_as_defined() {
    let sample = Sample::new(7);
    let dir = Dir::new();
    sample.write(&dir);
    dir.run(&format!("count -q -k {K} --min-count 1 reads.fa -o reads.mgk")).ok();
    dir.run("kmers qv -q -o s reads.mgk one.fasta other.fa").ok();
    let reads = count(&sample.reads);
    let [one, other] = [0, 1].map(|number| count(&sample.assemblies[number]));
    let mut both = one.clone();
    other.iter().for_each(|(kmer, number)| *both.entry(kmer.clone()).or_default() += number);
    let missing = |counts: &Counts| -> u64 {
        counts.iter().filter(|(kmer, _)| !reads.contains_key(*kmer)).map(|(_, number)| number).sum()
    };
    let all = |counts: &Counts| counts.values().sum::<u64>();
    let row = |name: &str, counts: &Counts| {
        let (missing, all) = (missing(counts), all(counts));
        format!("{name}\t{missing}\t{all}\t{}", qv(missing, all))
    };
    let both_row = {
        let (missing, all) = (missing(&one) + missing(&other), all(&one) + all(&other));
        format!("Both\t{missing}\t{all}\t{}", qv(missing, all))
    };
    assert_eq!(lines(&dir, "s.qv"), [row("one", &one), row("other", &other), both_row]);
    for (name, sequences) in ["one", "other"].iter().zip(&sample.assemblies) {
        let expected: Vec<String> = sequences
            .iter()
            .enumerate()
            .map(|(number, sequence)| row(&format!("s{number}"), &count([sequence])))
            .collect();
        assert_eq!(lines(&dir, &format!("s.{name}.qv")), expected);
    }

    let histogram = |number: &dyn Fn(&Vec<u8>, u64) -> bool| {
        let mut rows: BTreeMap<u64, u64> = BTreeMap::new();
        for (kmer, &count) in &reads {
            *rows.entry(count).or_default() += u64::from(number(kmer, count));
        }
        rows.into_iter().filter(|row| row.1 > 0).collect::<Vec<_>>()
    };
    let rows = histogram(&|_, _| true);
    assert_eq!(
        lines(&dir, "s.reads.hist"),
        rows.iter().map(|(a, b)| format!("{a}\t{b}")).collect::<Vec<_>>()
    );
    let solid = rows.windows(3).find(|three| three[1].1 < three[0].1 && three[2].1 > three[1].1);
    let solid = solid.unwrap()[2].0 - 1;
    assert_eq!(lines(&dir, "s.reads.filt"), [solid.to_string()]);

    let classes = ["read-only", "1", "2", "3", "4", ">4"];
    for (name, counts) in [("one.", &one), ("other.", &other), ("", &both)] {
        let mut expected = vec!["Copies\tkmer_multiplicity\tCount".to_owned()];
        for (class, title) in classes.iter().enumerate() {
            let rows =
                histogram(&|kmer, _| counts.get(kmer).copied().unwrap_or(0).min(5) == class as u64);
            expected.extend(rows.iter().map(|(a, b)| format!("{title}\t{a}\t{b}")));
        }
        assert_eq!(lines(&dir, &format!("s.{name}spectra-cn.hist")), expected);
        let distinct = counts.keys().filter(|kmer| !reads.contains_key(*kmer)).count() as u64;
        let expected =
            [format!("1\t0\t{distinct}"), format!("2\t0\t{}", missing(counts) - distinct)];
        assert_eq!(lines(&dir, &format!("s.{name}only.hist")), expected);
    }
    let mut expected = vec!["Assembly\tkmer_multiplicity\tCount".to_owned()];
    let mut only = Vec::new();
    for (title, here) in [
        ("read-only", [false, false]),
        ("one-only", [true, false]),
        ("other-only", [false, true]),
        ("shared", [true, true]),
    ] {
        let is = |kmer: &Vec<u8>| [one.contains_key(kmer), other.contains_key(kmer)] == here;
        expected.extend(
            histogram(&|kmer, _| is(kmer)).iter().map(|(a, b)| format!("{title}\t{a}\t{b}")),
        );
        let missing = both.keys().filter(|kmer| !reads.contains_key(*kmer) && is(kmer)).count();
        only.push(format!("{title}\t0\t{missing}"));
    }
    assert_eq!(lines(&dir, "s.spectra-asm.hist"), expected);
    assert_eq!(lines(&dir, "s.dist_only.hist"), only[1..]);

    let genome = reads.iter().filter(|row| *row.1 > solid).count();
    let found = |counts: &Counts| {
        reads.iter().filter(|row| *row.1 > solid && counts.contains_key(row.0)).count()
    };
    let row = |name: &str, counts: &Counts| {
        let found = found(counts);
        format!("{name}\tall\t{found}\t{genome}\t{}", general(100.0 * found as f64 / genome as f64))
    };
    let expected = [row("one", &one), row("other", &other), row("both", &both)];
    assert_eq!(lines(&dir, "s.completeness.stats"), expected);

    for (name, sequences) in ["one", "other"].iter().zip(&sample.assemblies) {
        let (mut bed, mut wig) = (Vec::new(), Vec::new());
        for (number, sequence) in sequences.iter().enumerate() {
            let mut depth = vec![0; sequence.len()];
            let mut first = true;
            let (mut from, mut to) = (0, 0);
            for (at, kmer) in sequence.windows(K).enumerate() {
                if canonical(kmer).is_none_or(|kmer| reads.contains_key(&kmer)) {
                    continue;
                }
                if at >= to && to > 0 {
                    bed.push(format!("s{number}\t{from}\t{to}"));
                }
                if at >= to {
                    from = at;
                }
                to = at + K;
                depth[at..at + K].iter_mut().for_each(|depth| *depth += 1);
            }
            if to > 0 {
                bed.push(format!("s{number}\t{from}\t{to}"));
            }
            for (at, depth) in depth.iter().enumerate().filter(|(_, depth)| **depth > 0) {
                if std::mem::take(&mut first) {
                    wig.push(format!("variableStep chrom=s{number}"));
                }
                wig.push(format!("{}\t{depth}", at + 1));
            }
        }
        assert!(bed.len() > 1);
        assert_eq!(lines(&dir, &format!("s.{name}_only.bed")), bed);
        assert_eq!(lines(&dir, &format!("s.{name}_only.wig")), wig);
    }
}

#[test]
fn bytes_do_not_depend_on_threads_memory_or_where_kmers_come_from() {
    let sample = Sample::new(8);
    let dir = Dir::new();
    sample.write(&dir);
    dir.run(&format!("count -q -k {K} --min-count 1 reads.fa -o reads.mgk")).ok();
    dir.run("kmers qv -q -o s reads.mgk one.fasta -t 1").ok();
    let names = [
        "s.qv",
        "s.one.qv",
        "s.one_only.bed",
        "s.one_only.wig",
        "s.one.spectra-cn.hist",
        "s.spectra-asm.hist",
    ];
    let expected = names.map(|name| dir.read(name));
    dir.run("kmers reduce -q reads.mgk --format kff -o reads.kff").ok();
    for run in [
        "reads.mgk one.fasta -t 3 --memory 200M",
        "reads.kff one.fasta -t 2",
        &format!("reads.fa one.fasta -k {K}"),
    ] {
        dir.run(&format!("kmers qv -q -o s {run}")).ok();
        assert!(names.map(|name| dir.read(name)) == expected, "{run}");
    }
}

#[test]
fn a_quality_is_known_in_advance() {
    let mut random = Random(11);
    let genome = random.bases(200_000);
    let mut assembly = genome.clone();
    // One isolated error in 2,000 bases: a QV of 33.0 by definition.
    for at in (1000..200_000).step_by(2000) {
        assembly[at] = if assembly[at] == b'A' { b'C' } else { b'A' };
    }
    let dir = Dir::new();
    let reads: Vec<Vec<u8>> = (0..20)
        .flat_map(|_| {
            (0..1999).map(|at| genome[100 * at..100 * at + 200].to_vec()).collect::<Vec<_>>()
        })
        .collect();
    dir.write("reads.fa", fasta(&reads));
    dir.write("a.fa", fasta(&[assembly]));
    dir.run("kmers qv -q -k 21 -o s reads.fa a.fa").ok();
    let line = lines(&dir, "s.qv").remove(0);
    let quality: f64 = line.split('\t').nth(3).unwrap().parse().unwrap();
    assert!((quality - 33.0).abs() < 0.1, "{line}");
    assert_eq!(lines(&dir, "s.a_only.bed").len(), 100);
}

#[test]
fn kmc_counts_the_same_sets() {
    if !installed(&["kmc", "kmc_tools"]) {
        return;
    }
    let sample = Sample::new(9);
    let dir = Dir::new();
    sample.write(&dir);
    dir.run(&format!("kmers qv -q -k {K} -o s reads.fa one.fasta")).ok();
    shell(
        dir.root(),
        &format!(
            "mkdir tmp; kmc -k{K} -ci1 -fm reads.fa r tmp > log; kmc -k{K} -ci1 -fm one.fasta a tmp > log; \
             kmc_tools simple a r kmers_subtract o > log; kmc_tools transform o dump o.txt > log"
        ),
    );
    let only = lines(&dir, "o.txt").len();
    assert_eq!(lines(&dir, "s.dist_only.hist"), [format!("one\t0\t{only}")]);
}

#[test]
fn what_is_wrong_is_said() {
    let sample = Sample::new(10);
    let dir = Dir::new();
    sample.write(&dir);
    dir.write("empty.fa", "");
    dir.write("short.fa", ">a\nACGT\n");
    dir.run("count -q -k 15 --min-count 1 reads.fa -o reads.mgk").ok();
    dir.run("count -q -k 15 reads.fa -o cut.mgk").ok();
    dir.run("count -q -k 15 --min-count 1 --forward-only reads.fa -o forward.mgk").ok();
    dir.run("count -q -k 16 --min-count 1 reads.fa -o even.mgk").ok();
    std::fs::copy(dir.root().join("one.fasta"), dir.root().join("one.fa")).unwrap();
    for (run, part) in [
        ("cut.mgk one.fasta", "cut.mgk: k-mers that occur less than 2 times are cut off"),
        ("forward.mgk one.fasta", "forward.mgk: k-mers of both strands must be counted together"),
        ("reads.mgk one.fasta -k 21", "reads.mgk: its k is 15"),
        ("reads.mgk empty.fa", "empty.fa: "),
        ("reads.mgk short.fa", "short.fa: contains no k-mer of 15 bases"),
        ("reads.mgk missing.fa", "missing.fa: "),
        ("missing.mgk one.fasta", "missing.mgk: "),
        ("reads.mgk -", "-: an assembly is read more than once"),
    ] {
        let message = dir.run(&format!("kmers qv -o s {run}")).fails(1);
        assert!(message.contains(part), "{run}: {message}");
        assert!(!dir.root().join("s.qv").exists() && !dir.root().join("s.one_only.bed").exists());
    }
    let message = dir.run("kmers qv -o s reads.mgk one.fasta one.fa").fails(2);
    assert!(message.contains("both assemblies are called one"), "{message}");
    let run = dir.run("kmers qv -o s even.mgk one.fasta");
    assert_eq!(run.code, Some(0));
    assert!(run.stderr.contains("k is 16"), "{}", run.stderr);
}

/// A mother, a father, their child, and two assemblies of the child's genome.
struct Family {
    mother: Vec<Vec<u8>>,
    father: Vec<Vec<u8>>,
    child: Vec<Vec<u8>>,
    /// The child's two haplotypes: the mother's and the father's.
    genome: [Vec<u8>; 2],
}

impl Family {
    fn new(seed: u64) -> Family {
        let mut random = Random(seed);
        let ancestor = random.bases(40_000);
        let mut haplotype = || {
            let mut letters = ancestor.clone();
            for at in 0..letters.len() / 200 {
                let at = 200 * at + random.below(200);
                letters[at] = b"ACGT"[random.below(4)];
            }
            letters
        };
        let [m1, m2, f1, f2] = std::array::from_fn(|_| haplotype());
        let mut reads = |genome: [&Vec<u8>; 2]| {
            let read = |_| {
                let from = random.below(genome[0].len() - 100);
                let mut read = genome[random.below(2)][from..from + 100].to_vec();
                if random.below(3) == 0 {
                    mutate(&mut random, &mut read, 1);
                }
                read
            };
            (0..16_000).map(read).collect::<Vec<_>>()
        };
        let (mother, father) = (reads([&m1, &m2]), reads([&f1, &f2]));
        let child = reads([&m1, &f1]);
        Family { mother, father, child, genome: [m1, f1] }
    }

    fn write(&self, dir: &Dir) {
        for (name, reads) in
            [("mother", &self.mother), ("father", &self.father), ("child", &self.child)]
        {
            dir.write(&format!("{name}.fa"), fasta(reads));
            dir.run(&format!("count -q -k {K} --min-count 1 {name}.fa -o {name}.mgk")).ok();
        }
    }
}

/// Returns the count before the first one that has at least as many k-mers as its predecessor.
fn valley(counts: impl Iterator<Item = u64>) -> u64 {
    let mut rows: BTreeMap<u64, u64> = BTreeMap::new();
    counts.for_each(|count| *rows.entry(count).or_default() += 1);
    let rows: Vec<(u64, u64)> = rows.into_iter().collect();
    rows.windows(2).find(|two| two[1].1 >= two[0].1).map_or(0, |two| two[1].0 - 1)
}

/// Returns the k-mers inherited only from the first parent, and the thresholds.
fn hapmers(child: &Counts, one: &Counts, other: &Counts) -> (Vec<Vec<u8>>, [u64; 2]) {
    let own = one.iter().filter(|(kmer, _)| !other.contains_key(*kmer));
    let own_valley = valley(own.clone().map(|(_, &count)| count));
    let own = own.filter(|(_, count)| **count > own_valley).map(|(kmer, _)| kmer);
    let inherited = own.filter_map(|kmer| child.get(kmer).map(|count| (kmer.clone(), *count)));
    let inherited: Vec<(Vec<u8>, u64)> = inherited.collect();
    let inherited_valley = valley(inherited.iter().map(|(_, count)| *count));
    let passed = inherited.into_iter().filter(|(_, count)| *count > inherited_valley);
    (passed.map(|(kmer, _)| kmer).collect(), [own_valley, inherited_valley])
}

#[test]
fn a_trio_is_as_defined_and_its_switches_are_the_true_ones() {
    let family = Family::new(21);
    let dir = Dir::new();
    family.write(&dir);
    let [mothers, fathers] = &family.genome;
    // A short switch, a long one, and then the rest of the father's haplotype.
    let mixed =
        [&mothers[..9000], &fathers[9000..9900], &mothers[9900..20_000], &fathers[20_000..]]
            .concat();
    let assemblies =
        [vec![mixed.clone(), mothers[..3000].to_vec()], vec![fathers.clone(), b"ACGT".to_vec()]];
    dir.write("one.fa", fasta(&assemblies[0]));
    dir.write("other.fa", fasta(&assemblies[1]));
    let options =
        "--maternal mother.mgk --paternal father.mgk --block-markers 150 --block-bases 5000";
    dir.run(&format!("kmers qv -q -o t child.mgk one.fa other.fa {options} --json j.json")).ok();

    let [child, mother, father] = [&family.child, &family.mother, &family.father].map(count);
    let (first, first_valleys) = hapmers(&child, &mother, &father);
    let (second, second_valleys) = hapmers(&child, &father, &mother);
    assert!(first.len() > 500 && second.len() > 500);
    let cutoffs = lines(&dir, "t.cutoffs.txt");
    let expected = [
        format!("mother.only\t{}", first_valleys[0]),
        format!("mother.inherited\t{}", first_valleys[1]),
        format!("father.only\t{}", second_valleys[0]),
        format!("father.inherited\t{}", second_valleys[1]),
    ];
    assert_eq!(cutoffs[1..5], expected);
    assert!(first_valleys[1] > 0);

    // The parent of each marker.
    let whose = |kmer: &[u8]| {
        let kmer = canonical(kmer)?;
        first
            .binary_search(&kmer)
            .map(|_| 0)
            .or_else(|_| second.binary_search(&kmer).map(|_| 1))
            .ok()
    };
    let markers = |sequence: &Vec<u8>| -> Vec<(usize, usize)> {
        let places = sequence.windows(K).enumerate();
        places.filter_map(|(at, kmer)| whose(kmer).map(|whose| (at, whose))).collect()
    };
    let mut expected = vec!["Assembly\tContig\tmother\tfather\tSize".to_owned()];
    for (name, sequences) in ["one", "other"].iter().zip(&assemblies) {
        for (number, sequence) in sequences.iter().enumerate() {
            let markers = markers(sequence);
            let of = |whose: usize| markers.iter().filter(|marker| marker.1 == whose).count();
            let size = (sequence.len() + 1).saturating_sub(K);
            expected.push(format!("{name}\ts{number}\t{}\t{}\t{size}", of(0), of(1)));
        }
    }
    assert_eq!(lines(&dir, "t.hapmers.count"), expected);

    let completeness = lines(&dir, "t.completeness.stats");
    for (name, sequences) in [("one", &assemblies[0]), ("other", &assemblies[1])] {
        let here = count(sequences);
        for (parent, all) in [("mother", &first), ("father", &second)] {
            let found = all.iter().filter(|kmer| here.contains_key(*kmer)).count();
            let part = general(100.0 * found as f64 / all.len() as f64);
            let line = format!("{name}\t{parent}\t{found}\t{}\t{part}", all.len());
            assert!(completeness.contains(&line), "{line}: {completeness:?}");
        }
    }

    // Expected blocks: the mother's with the short switch and the father's in the first sequence, then the mother's
    // piece.
    let all = markers(&mixed);
    let between = |from: usize, to: usize, whose: usize| {
        all.iter().filter(|marker| (from..to).contains(&marker.0) && marker.1 == whose).count()
    };
    let piece = markers(&assemblies[0][1]).len();
    let blocks = lines(&dir, "t.one.150_5000.phased_block.bed");
    let fields = |line: &String| {
        let fields: Vec<&str> = line.split('\t').collect();
        format!("{} {} {} {}", fields[0], fields[3], fields[5], fields[6])
    };
    let half = 20_000 - K + 1;
    let expected = [
        format!("s0 mother {} {}", between(0, half, 1), between(0, half, 0) + between(0, half, 1)),
        format!("s0 father 0 {}", between(half, mixed.len(), 1)),
        format!("s1 mother 0 {piece}"),
    ];
    assert_eq!(blocks.iter().map(fields).collect::<Vec<_>>(), expected);
    assert!(between(8000, 11_000, 1) > 20);
    for name in ["t.hapmers.blob", "t.one.block.N", "t.other.continuity.N", "t.one.spectra-cn.fl"] {
        assert!(dir.read(&format!("{name}.png")).starts_with(b"\x89PNG"));
        assert!(dir.read(&format!("{name}.svg")).ends_with(b"</svg>\n"));
    }
    let stats = lines(&dir, "t.other.150_5000.phased_block.stats");
    assert!(stats[0].starts_with("other\t1\t") && stats[0].ends_with("\t0%"), "{stats:?}");
    let json: serde_json::Value = serde_json::from_slice(&dir.read("j.json")).unwrap();
    assert_eq!(json["results"]["assemblies"][1]["switch_rate"], 0.0);
}
