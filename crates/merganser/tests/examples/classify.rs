//! Tests of the examples about classification.

use super::{Runs, stretches};

/// The report of the reads that [`write_reads`] writes.
const REPORT: &str = "  2.00\t1\t1\tU\t0\tunclassified
 98.00\t49\t0\tR\t1\troot
 98.00\t49\t0\tD\t10239\t  Viruses
 98.00\t49\t0\tD1\t2731341\t    Duplodnaviria
 98.00\t49\t0\tK\t2731360\t      Heunggongvirae
 98.00\t49\t0\tP\t2731618\t        Uroviricota
 98.00\t49\t0\tC\t2731619\t          Caudoviricetes
 98.00\t49\t0\tG\t186765\t            Lambdavirus
 98.00\t49\t0\tS\t10710\t              Lambdavirus lambda
 98.00\t49\t49\tS1\t2681611\t                Escherichia phage Lambda
";

/// Writes fragments of phage lambda, and a read that belongs to no genome of the databases.
fn write_reads(runs: &Runs) {
    let reads = stretches(&runs.lambda(), 100, 1000);
    runs.write("reads.fa", format!("{reads}>other\n{}\n", "GATTACAGTC".repeat(10)));
}

fn build(runs: &Runs) -> String {
    runs.ok("classify_build data/taxonomy viruses.mgdb data/genomes")
}

pub(crate) fn classify_build(runs: &Runs) {
    assert_eq!(build(runs), "3 sequences, 85883 bases\n");
    assert!(runs.path("viruses.mgdb").exists());
}

pub(crate) fn classify_reads(runs: &Runs) {
    write_reads(runs);
    build(runs);
    let printed = runs.ok("classify_reads viruses.mgdb reads.fa lines.tsv reads.kreport");
    assert_eq!(printed, "49 of 50 reads classified\n49\tLambdavirus lambda\n");
    assert_eq!(runs.read("lines.tsv").lines().count(), 50);
    assert_eq!(runs.read("reads.kreport"), REPORT);
}

pub(crate) fn classify_in_memory(runs: &Runs) {
    write_reads(runs);
    build(runs);
    let printed = runs.ok("classify_in_memory viruses.mgdb reads.fa 2");
    assert_eq!(printed, "49\tLambdavirus lambda\n1\tunclassified\n");
}

pub(crate) fn kraken2_classify(runs: &Runs) {
    write_reads(runs);
    let printed = runs.ok("kraken2_classify data/kraken2 reads.fa reads.kraken reads.kreport");
    assert_eq!(printed, "49 of 50 reads classified\n");
    let lines = runs.read("reads.kraken");
    // 66 k-mers of 35 bases.
    assert_eq!(lines.lines().next(), Some("C\t0\t2681611\t100\t2681611:66"));
    assert_eq!(runs.read("reads.kreport"), REPORT);
}

pub(crate) fn kraken2_build(runs: &Runs) {
    write_reads(runs);
    let printed = runs.ok("kraken2_build data/taxonomy built data/genomes");
    let expected = "3 sequences, 85883 bases, 26 taxa\n28079 of 51565 cells are used\n";
    assert_eq!(printed, expected);
    let printed = runs.ok("kraken2_classify built reads.fa reads.kraken reads.kreport");
    assert_eq!(printed, "49 of 50 reads classified\n");
}

pub(crate) fn bracken_distribution(runs: &Runs) {
    build(runs);
    let printed =
        runs.ok("bracken_distribution viruses.mgdb 100 viruses.kmer_distrib data/genomes");
    assert_eq!(printed, "3 taxa\n");
    // All reads of a genome have its taxid.
    let expected = "\
mapped_taxid\tgenome_taxids:kmers_mapped:total_genome_kmers
2681611\t2681611:48403:48403\x20
12092\t12092:7379:7379\x20
2697049\t2697049:29804:29804\x20
";
    assert_eq!(runs.read("viruses.kmer_distrib"), expected);
}

pub(crate) fn bracken_estimate(runs: &Runs) {
    // A genus with two species: a tenth of the reads of each genome is assigned to the genus. Of its 10 reads, two
    // thirds go to the species with twice as many reads.
    let report = "\
100.00\t40\t0\tR\t1\troot
100.00\t40\t10\tG\t10\t  Genus
50.00\t20\t20\tS\t11\t    First species
25.00\t10\t10\tS\t12\t    Second species
";
    runs.write("reads.kreport", report);
    let distribution = "\
mapped_taxid\tgenome_taxids:kmers_mapped:total_genome_kmers
10\t11:10:100 12:10:100
11\t11:90:100
12\t12:90:100
";
    runs.write("distribution", distribution);
    let expected = "\
name\ttaxonomy_id\ttaxonomy_lvl\tkraken_assigned_reads\tadded_reads\tnew_est_reads\tfraction_total_reads
First species\t11\tS\t20\t6\t26\t0.65000
Second species\t12\tS\t10\t3\t13\t0.32500
";
    assert_eq!(runs.ok("bracken_estimate reads.kreport distribution"), expected);
}

pub(crate) fn extract_reads(runs: &Runs) {
    write_reads(runs);
    runs.ok("kraken2_classify data/kraken2 reads.fa reads.kraken reads.kreport");
    // The genus of the species.
    let printed = runs.ok("extract_reads 186765 reads.kraken reads.kreport reads.fa out.fa");
    assert_eq!(printed, "49 of 50 reads extracted\n");
    assert_eq!(runs.read("out.fa"), stretches(&runs.lambda(), 100, 1000));
}
