//! `merganser kmers qv`, compared with the definitions on simulated genomes with known errors.

mod ranges;
mod several;
mod trio;
mod union;

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
    let is_worthless = |options: &str| {
        let run = dir.run(&format!("kmers qv -o s {options} reads.mgk one.fasta other.fa"));
        let is_said = run.stderr.contains("completeness is worthless");
        run.ok();
        is_said
    };
    assert!(is_worthless("--solid 500"));
    assert!(!is_worthless(""));
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
    dir.write("mates.fq", format!("@r/2\n{0}\n+\n{0}\n", "ACGT".repeat(9)));
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
        ("reads.fa mates.fq one.fasta -k 15", "mates.fq: is FASTQ: an assembly is expected"),
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
