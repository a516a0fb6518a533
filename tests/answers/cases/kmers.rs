//! Tables of k-mers that are cut off, damaged, in text, or given twice.

use super::cases;
use merganser_test_support::Dir;
use merganser_test_support::reads::{Random, Record, fasta};
use merganser_test_support::tools::{installed, shell};

const K: usize = 21;

/// Returns reads of 100 bases of a genome with this coverage, a few of them with an error.
fn reads(random: &mut Random, genome: &[u8], coverage: usize) -> Vec<Record> {
    let read = |_| {
        let from = random.below(genome.len() - 100);
        let mut sequence = genome[from..from + 100].to_vec();
        if random.below(5) == 0 {
            sequence[random.below(100)] = b"ACGT"[random.below(4)];
        }
        Record { sequence, quality: None }
    };
    (0..coverage * genome.len() / 100).map(read).collect()
}

/// Returns a directory with a genome with a repeat, its reads in `r.fa` and `r2.fa`, their tables `r.mgk` and
/// `r2.mgk`, and an assembly `a.fa` with some errors; also returns the genome.
fn sample() -> (Dir, Vec<u8>) {
    let mut random = Random(5);
    let mut genome = random.bases(20_000);
    let repeat = genome[1000..1500].to_vec();
    (0..4).for_each(|_| genome.extend(&repeat));
    let dir = Dir::new();
    for name in ["r", "r2"] {
        dir.write(&format!("{name}.fa"), fasta(&reads(&mut random, &genome, 40), 80, "\n"));
        dir.run(&format!("count -q -k {K} --min-count 1 {name}.fa -o {name}.mgk")).ok();
    }
    let mut assembly = genome.clone();
    for at in [3000, 9000, 15_000] {
        assembly[at] = if assembly[at] == b'A' { b'C' } else { b'A' };
    }
    dir.write("a.fa", fasta(&[assembly[..].into()], 80, "\n"));
    (dir, genome)
}

/// Returns the QV of the first assembly.
fn quality(dir: &Dir, prefix: &str) -> f64 {
    let text = String::from_utf8(dir.read(&format!("{prefix}.qv"))).unwrap();
    text.split('\t').nth(3).unwrap().parse().unwrap()
}

#[test]
fn tables_that_are_cut_are_refused_by_qv() {
    let (dir, _) = sample();
    dir.run("kmers qv -q --no-plots -o whole r.mgk a.fa").ok();
    let whole = quality(&dir, "whole");
    assert!((whole - 38.7).abs() < 0.5, "{whole}");
    dir.run(&format!("count -q -k {K} --min-count 1 --max-count 20 r.fa -o counted.mgk")).ok();
    dir.run("kmers reduce -q --max-count 20 r.mgk -o reduced.mgk").ok();
    dir.run("kmers union -q -o united.mgk r.mgk:..20 r2.mgk:..15").ok();
    dir.run("kmers reduce -q --max-count 20 r.mgk --format kmc -o database").ok();
    for table in ["counted.mgk", "reduced.mgk", "united.mgk", "database"] {
        let message = dir.run(&format!("kmers qv -o x {table} a.fa")).fails(1);
        let most = if table == "united.mgk" { 35 } else { 20 };
        let part = format!("k-mers that occur more than {most} times are cut off");
        assert!(message.contains(&part) && message.contains("--max-count"), "{message}");
        let parents = format!("--maternal {table} --paternal r2.mgk");
        let message = dir.run(&format!("kmers qv -o x r.mgk a.fa {parents}")).fails(1);
        assert!(message.contains(&part), "{message}");
    }
    // Text tables do not store limits of counts; their counts show them.
    dir.run("kmers dump -q --max-count 40 r.mgk -o above.tsv").ok();
    dir.run("kmers dump -q --min-count 2 r.mgk -o below.tsv").ok();
    for (table, part) in [
        ("above.tsv", "no k-mer of the reads occurs more than 40 times"),
        ("below.tsv", "no k-mer of the reads occurs less than 2 times"),
    ] {
        let ran = dir.run(&format!("kmers qv --no-plots -o x {table} a.fa"));
        assert!(ran.warnings().iter().any(|warning| warning.contains(part)), "{}", ran.stderr);
    }
    // A saturated table is complete.
    dir.run("kmers reduce -q --counter-max 10 r.mgk -o saturated.mgk").ok();
    dir.run("kmers qv -q --no-plots -o s saturated.mgk a.fa").ok();
    assert!((quality(&dir, "s") - whole).abs() < 1e-9);
}

#[test]
fn tables_of_kmc_and_fastk_with_their_defaults_are_whole() {
    if !installed(&["kmc"]) {
        return;
    }
    let (dir, _) = sample();
    dir.run("kmers qv -q --no-plots -o whole r.mgk a.fa").ok();
    shell(dir.root(), "kmc -k21 -ci1 -fm r.fa whole . && kmc -k21 -ci1 -cx20 -fm r.fa cut .");
    dir.run("kmers qv -q --no-plots -o kmc whole a.fa").ok();
    assert!((quality(&dir, "kmc") - quality(&dir, "whole")).abs() < 1e-9);
    assert!(dir.run("kmers qv -o x cut a.fa").fails(1).contains("more than 20 times"));
    // A table converted from it is as complete.
    dir.run("kmers convert -q whole -o converted.mgk").ok();
    dir.run("kmers qv -q --no-plots -o own converted.mgk a.fa").ok();
}

#[test]
fn a_hybrid_of_two_tables_is_accepted_if_it_is_named() {
    let (dir, _) = sample();
    dir.run("kmers union -q -o hybrid.mgk r.mgk:2.. r2.mgk:2..").ok();
    let message = dir.run("kmers qv -o x hybrid.mgk a.fa").fails(1);
    assert!(message.contains("less than 2 times are cut off"), "{message}");
    assert!(message.contains("--hybrid"), "{message}");
    let ran = dir.run("kmers qv --no-plots --hybrid -o h hybrid.mgk a.fa");
    assert!(!ran.stderr.contains("occurs less than"), "{}", ran.stderr);
    assert!((quality(&dir, "h") - 38.7).abs() < 0.5, "{}", quality(&dir, "h"));
    assert!(dir.run("kmers qv --hybrid -k 21 -o x r.fa a.fa").fails(2).contains("--hybrid"));
}

#[test]
fn what_is_no_assembly_of_the_reads_is_said() {
    let (dir, _) = sample();
    let mut random = Random(77);
    let other = [&random.bases(20_000)[..]].map(Record::from);
    dir.write("other.fa", fasta(&other, 80, "\n"));
    std::fs::copy(dir.path("a.fa"), dir.path("b.fa")).unwrap();
    let fastq = "@r\nACGTTGCAACGTTGCAACGTTGCATTT\n+\nIIIIIIIIIIIIIIIIIIIIIIIIIII\n";
    dir.write("reads.fq", fastq);
    for (run, part) in [
        ("r.mgk a.fa b.fa", "both assemblies have the same k-mers: is one of them given twice?"),
        ("r.mgk r2.fa", "r2.fa: has 8800 sequences of 100 bases on average"),
        ("r.mgk other.fa", "most k-mers of an assembly are in no read"),
    ] {
        let ran = dir.run(&format!("kmers qv --no-plots -o x {run}"));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let said = ran.warnings().iter().any(|warning| warning.contains(part));
        assert!(said, "{run}: {}", ran.stderr);
        assert!(!ran.stderr.contains("-0.00"), "{}", ran.stderr);
    }
    assert!(!dir.run("kmers qv --no-plots -o x r.mgk a.fa other.fa").stderr.contains("twice"));
    dir.write("empty.fq", "");
    dir.write("names.fa", ">a\n>b\n");
    dir.run(&format!("count -q -k {K} names.fa -o none.mgk")).ok();
    for (run, part) in [
        ("empty.fq a.fa", "empty.fq: is empty"),
        ("r.mgk reads.fq", "reads.fq: is FASTQ: an assembly is expected here"),
        ("names.fa a.fa -k 21", "names.fa: contains no k-mer of 21 bases"),
        ("none.mgk a.fa --hybrid", "none.mgk: contains no k-mer of 21 bases"),
    ] {
        let message = dir.run(&format!("kmers qv -o x {run}")).fails(1);
        assert!(message.contains(part), "{run}: {message}");
    }
}

#[test]
fn a_small_case_of_empty_reads() {
    let Some(folder) = cases("kmers") else { return };
    let dir = Dir::new();
    let (reads, assembly) = (folder.join("em.fq"), folder.join("tm.fa"));
    let run = format!("kmers qv -o x {} {}", reads.display(), assembly.display());
    assert!(dir.run(&run).fails(1).contains("em.fq: is empty"));
}

#[test]
fn text_is_read_as_often_as_a_verb_needs() {
    let (dir, _) = sample();
    dir.run("kmers dump -q r.mgk -o r.tsv").ok();
    dir.run("kmers dump -q r2.mgk -o r2.tsv.gz").ok();
    dir.run("kmers dump -q r.mgk -o r.dump.fa").ok();
    dir.run("kmers qv -q --no-plots -o own r.mgk a.fa").ok();
    dir.run("kmers dump -q --format jellyfish r.mgk -o r.columns").ok();
    for table in ["r.tsv", "r.dump.fa", "r.columns"] {
        dir.run(&format!("kmers qv -q --no-plots -o text {table} a.fa")).ok();
        assert_eq!(dir.read("text.qv"), dir.read("own.qv"), "{table}");
    }
    let parents = "--maternal r.tsv --paternal r2.tsv.gz";
    dir.run(&format!("kmers qv -q --no-plots -o text r.tsv a.fa {parents}")).ok();
    let parents = "--maternal r.mgk --paternal r2.mgk";
    dir.run(&format!("kmers qv -q --no-plots -o own r.mgk a.fa {parents}")).ok();
    let numbers = |prefix: &str| {
        let text = String::from_utf8(dir.read(&format!("{prefix}.hapmers.count"))).unwrap();
        text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(numbers("text"), numbers("own"));
    // A text table can also come from a pipe.
    let text = dir.read("r.tsv");
    let piped = dir.run_with("kmers qv -q --no-plots -o p /dev/stdin a.fa".split(' '), &text);
    piped.ok();
    assert_eq!(dir.read("p.qv"), dir.read("own.qv"));
    let expected = dir.run("kmers hetmers -q r.mgk").ok();
    assert_eq!(dir.run("kmers hetmers -q r.tsv").ok(), expected);
    let piped = dir.run_with("kmers hetmers -q -".split(' '), &text);
    assert_eq!(piped.ok(), expected);
}

#[test]
fn histograms_are_read_compressed_and_from_pipes() {
    let (dir, _) = sample();
    dir.run("kmers histogram -q r.mgk -o r.hist.gz").ok();
    dir.run("kmers histogram -q r.mgk -o r.hist").ok();
    let model = "kmers histogram --model -q --ploidy 1 -k 21";
    let expected = dir.run(&format!("{model} r.hist")).ok();
    assert!(expected.contains("genome_size"));
    assert_eq!(dir.run(&format!("{model} r.hist.gz")).ok(), expected);
    for name in ["-", "/dev/stdin"] {
        let run = format!("{model} {name}");
        assert_eq!(dir.run_with(run.split(' '), &dir.read("r.hist")).ok(), expected);
    }
}

#[test]
fn one_table_twice_is_said() {
    let (dir, _) = sample();
    std::os::unix::fs::symlink("r.mgk", dir.path("link.mgk")).unwrap();
    for other in ["./r.mgk", "link.mgk"] {
        let message = dir.run(&format!("kmers matrix r.mgk {other}")).fails(2);
        assert!(message.contains("are the same table: give each sample once"), "{message}");
        let ran = dir.run(&format!("kmers union -o u.mgk r.mgk {other}"));
        assert!(ran.warnings()[0].contains("its counts are taken twice"), "{}", ran.stderr);
    }
    dir.run("kmers reduce -q r.mgk --format kmc -o base").ok();
    assert!(dir.run("kmers matrix base base.kmc_suf").fails(2).contains("the same table"));
    // The same table with other limits is another sample.
    dir.run("kmers union -q -o u.mgk r.mgk:..5 r.mgk:20..").ok();
}

#[test]
fn bounds_that_hide_pairs_are_said() {
    let (dir, genome) = sample();
    let mut random = Random(9);
    let mut other = genome.clone();
    (50..other.len()).step_by(100).for_each(|at| other[at] = b"ACGT"[random.below(4)]);
    let both: Vec<Record> =
        [&genome, &other].iter().flat_map(|own| reads(&mut random, own, 30)).collect();
    dir.write("d.fa", fasta(&both, 80, "\n"));
    dir.run(&format!("count -q -k {K} --min-count 1 d.fa -o d.mgk")).ok();
    let warned = |operand: &str| {
        let ran = dir.run(&format!("kmers hetmers -o /dev/null {operand}"));
        ran.warnings().iter().any(|warning| warning.contains("their pairs are hidden"))
    };
    assert!(!warned("d.mgk"));
    assert!(!warned("d.mgk:6.."));
    assert!(warned("d.mgk:40..80"));
    assert!(warned("d.mgk:..30"));
}

/// Commands that read a table `db`, some beside a valid one.
const VERBS: [&str; 12] = [
    "dump -o x.tsv db",
    "union -o x.mgk db good.mgk",
    "intersect -o x.mgk db good.mgk",
    "reduce -o x.mgk db",
    "histogram db -o x.hist",
    "compare db good.mgk -o x.tsv",
    "query db ACGTTGCAACGTTGCAACGTT",
    "info db",
    "hetmers db -o x.tsv",
    "matrix db good.mgk -o x.tsv",
    "filter-reads db r.fa -o x.fa",
    "qv --no-plots -o x db a.fa",
];

#[test]
fn damaged_databases_of_kmc_are_refused_by_every_verb() {
    let (dir, _) = sample();
    std::fs::rename(dir.path("r2.mgk"), dir.path("good.mgk")).unwrap();
    let zeros = |bytes: &mut Vec<u8>| {
        let middle = bytes.len() / 2;
        bytes[middle..middle + 4096].fill(0);
    };
    let ones = |bytes: &mut Vec<u8>| {
        let middle = bytes.len() / 2;
        bytes[middle..middle + 4096].fill(0xff);
    };
    let check = |make: &dyn Fn(), damage: &dyn Fn(&mut Vec<u8>)| {
        make();
        for verb in VERBS {
            let ran = dir.run(&format!("kmers {verb}"));
            assert_eq!(ran.code, Some(0), "{verb}: {}", ran.stderr);
        }
        let mut bytes = dir.read("db.kmc_suf");
        damage(&mut bytes);
        dir.write("db.kmc_suf", &bytes);
        for verb in VERBS {
            let message = dir.run(&format!("kmers -q {verb}")).fails(1);
            assert!(message.contains("damaged"), "{verb}: {message}");
        }
    };
    let own = || drop(dir.run("kmers reduce -q r.mgk --format kmc -o db").ok());
    check(&own, &zeros);
    check(&own, &ones);
    if installed(&["kmc"]) {
        check(&|| drop(shell(dir.root(), "kmc -k21 -ci1 -fm r.fa db .")), &zeros);
    }
}
