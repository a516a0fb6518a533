//! Tests of the examples about k-mers.

use std::f64::consts::PI;

use super::{Runs, stretches};
use merganser::kmers::AnyTable;

const READS: &str = "data/ERR1438863_1.fastq.gz";

pub(crate) fn count_kmers(runs: &Runs) {
    let printed = runs.ok(&format!("count_kmers 21 {READS} reads.mgk"));
    assert_eq!(printed, "2500 reads, 196613 k-mers\n9876 distinct k-mers in the table\n");
    let table = AnyTable::open(runs.path("reads.mgk")).unwrap();
    assert_eq!((table.description().k, table.description().kmers), (21, Some(9876)));
}

pub(crate) fn count_in_memory(runs: &Runs) {
    let expected = "\
CTGTCTCTTATACACATCTCC\t64
CGGAGATGTGTATAAGAGACA\t62
GTCTCTTATACACATCTCCGA\t57
";
    assert_eq!(runs.ok(&format!("count_in_memory 21 {READS} 3")), expected);
}

pub(crate) fn count_with_progress(runs: &Runs) {
    let output = runs.run(&format!("count_with_progress 21 {READS} reads.mgk 600"));
    let progress = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && progress.contains("\r100 %\n"), "{progress}");
    assert!(runs.path("reads.mgk").exists());

    let error = runs.fails(&format!("count_with_progress 21 {READS} cancelled.mgk 0"));
    assert!(error.ends_with("Error: interrupted\n"), "{error}");
    assert!(!runs.path("cancelled.mgk").exists());
}

pub(crate) fn count_within_memory(runs: &Runs) {
    let printed = runs.ok(&format!("count_within_memory 31 {READS} reads.mgk 1G scratch"));
    assert_eq!(printed, "7330 distinct k-mers in the table\n0 B of temporary files\n");
    assert!(!runs.path("scratch").exists());

    let error = runs.fails(&format!("count_within_memory 31 {READS} small.mgk 1M scratch"));
    assert!(error.contains("`memory` gives 1.00 MiB: raise it"), "{error}");
    assert!(!runs.path("small.mgk").exists());
}

pub(crate) fn count_plan(runs: &Runs) {
    let printed = runs.ok(&format!("count_plan 31 {READS} 1G"));
    assert!(
        printed.starts_with("at least ") && printed.contains(" of memory\n0 GPUs\n"),
        "{printed}"
    );

    let error = runs.fails(&format!("count_plan 31 {READS} 1M"));
    assert!(error.contains("`memory` gives 1.00 MiB: raise it"), "{error}");
}

pub(crate) fn count_histogram(runs: &Runs) {
    runs.write("reads.fa", ">1\nACGTTA\n>2\nCGTTAC\n");
    assert_eq!(runs.ok("count_histogram 5 reads.fa"), "1\t2\n2\t1\n");
}

pub(crate) fn spectrum_model(runs: &Runs) {
    // A genome of half a million bases, covered 60 times. In a tenth of the positions, both haplotypes have k-mers of
    // their own.
    let peak = |kmers: f64, mean: f64, count: f64| {
        kmers / (2.0 * PI * mean).sqrt() * (-(count - mean).powi(2) / (2.0 * mean)).exp()
    };
    let errors = |count: i32| 4e5 / 8f64.powi(count - 1);
    let row = |count: i32| {
        let kmers = peak(1e5, 30.0, count.into()) + peak(4.5e5, 60.0, count.into());
        format!("{count}\t{:.0}\n", kmers + errors(count))
    };
    runs.write("reads.hist", (1..200).map(row).collect::<String>());
    let expected = "\
genome size      497512 bases
heterozygosity   0.504 %
k-mer coverage   30.1
";
    assert_eq!(runs.ok("spectrum_model reads.hist 21 2"), expected);
}

/// Writes two tables of text and their names.
fn two_tables(runs: &Runs) {
    runs.write("a.tsv", "ACG\t4\nCCA\t2\nCTA\t1\n");
    runs.write("b.tsv", "ACG\t3\nGTA\t9\n");
}

pub(crate) fn kmers_query(runs: &Runs) {
    two_tables(runs);
    // CGT is the reverse complement of ACG.
    assert_eq!(runs.ok("kmers_query a.tsv CGT cca GGG"), "CGT\t4\ncca\t2\nGGG\t0\n");
    let error = "Error: \"ACGT has 4 bases, and k is 3\"\n";
    assert_eq!(runs.fails("kmers_query a.tsv ACG ACGT"), error);
}

pub(crate) fn kmers_combine(runs: &Runs) {
    two_tables(runs);
    let expected = [
        ("union", "4 k-mers\n", "ACG\t7\nCCA\t2\nCTA\t1\nGTA\t9\n"),
        ("intersection", "1 k-mers\n", "ACG\t3\n"),
        ("difference", "2 k-mers\n", "CCA\t2\nCTA\t1\n"),
    ];
    for (operation, printed, table) in expected {
        assert_eq!(runs.ok(&format!("kmers_combine {operation} out.mgk a.tsv b.tsv")), printed);
        runs.ok("kmers_convert out.mgk tsv out.tsv");
        assert_eq!(runs.read("out.tsv"), table);
    }
    assert!(runs.fails("kmers_combine xor out.mgk a.tsv b.tsv").contains("usage"));
}

pub(crate) fn kmers_compare(runs: &Runs) {
    two_tables(runs);
    // One of four k-mers is shared.
    let expected = "table\ttable\tshared\tjaccard\tmash\na.tsv\tb.tsv\t1\t0.2500\t0.3054\n";
    assert_eq!(runs.ok("kmers_compare a.tsv b.tsv"), expected);
}

pub(crate) fn kmers_convert(runs: &Runs) {
    two_tables(runs);
    let table = runs.read("a.tsv");
    let steps = [
        ("a.tsv kmc kmc", "text to kmc"),
        ("kmc mgk 1.mgk", "KMC1 to mgk"),
        ("1.mgk kff a.kff", "mgk to kff"),
        ("a.kff mgk 2.mgk", "KFF to mgk"),
        ("1.mgk jf a.jf", "mgk to jf"),
        ("a.jf mgk 3.mgk", "Jellyfish to mgk"),
        ("2.mgk tsv out.tsv", "mgk to tsv"),
    ];
    for (arguments, expected) in steps {
        let printed = runs.ok(&format!("kmers_convert {arguments}"));
        assert_eq!(printed, format!("3 3-mers, {expected}\n"));
    }
    assert_eq!(runs.read("out.tsv"), table);
    assert!(
        runs.fails("kmers_convert a.tsv csv out.csv").contains("'csv' is not one of mgk, kmc, ")
    );
}

pub(crate) fn kmers_matrix(runs: &Runs) {
    two_tables(runs);
    runs.write("c.tsv", "ACG\t1\nGTA\t5\n");
    assert_eq!(runs.ok("kmers_matrix out.tsv a.tsv b.tsv c.tsv"), "2 of 4 k-mers\n");
    assert_eq!(runs.read("out.tsv"), "kmer\ta\tb\tc\nACG\t4\t3\t1\nGTA\t0\t9\t5\n");
}

pub(crate) fn kmers_filter_reads(runs: &Runs) {
    let lambda = runs.lambda();
    runs.write("reference.fa", format!(">1\n{0}\n>2\n{0}\n", &lambda[..10_000]));
    runs.ok("count_kmers 21 reference.fa reference.mgk");
    // Of the read at 9,950, 30 of 80 k-mers are in the reference; of the one at 9,940, half.
    runs.write("reads.fa", stretches(&lambda[9900..10_100], 100, 10));
    let printed = runs.ok("kmers_filter_reads reference.mgk reads.fa kept.fa");
    assert_eq!(printed, "5 of 11 reads kept\n");
    assert_eq!(runs.read("kept.fa"), stretches(&lambda[9900..10_040], 100, 10));
}

pub(crate) fn assembly_quality(runs: &Runs) {
    // Almost every 13-mer of the genome occurs 17 or 18 times in the reads, a few of which have a wrong base. One base
    // of the assembly is wrong, and so 13 of its 48,488 k-mers: the error rate is 1 - (1 - 13 / 48488)^(1 / 13).
    let lambda = &runs.lambda()[..48_500];
    let wrong = |at: usize| {
        let (before, base, after) = (&lambda[..at], &lambda[at..=at], &lambda[at + 1..]);
        format!("{before}{}{after}", if base == "A" { "C" } else { "A" })
    };
    let reads = stretches(lambda, 100, 5) + &stretches(&wrong(20_000), 100, 500);
    runs.write("reads.fa", reads);
    runs.write("assembly.fa", format!(">1\n{}\n", wrong(30_000)));
    let expected = "\
k             13
QV            46.86
error rate    2.06e-5
completeness  99.97 %
";
    assert_eq!(runs.ok("assembly_quality reads.fa assembly.fa"), expected);
}
