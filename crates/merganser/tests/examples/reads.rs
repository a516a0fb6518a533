//! Tests of the examples about records, pairs, mapping, host reads, devices and errors.

use super::{Runs, reverse_complement, stretches};
use merganser_test_support::gunzip;

const GENOME: &str = "data/genomes/Escherichia_phage_lambda.fna.gz";
const READS_1: &str = "data/ERR1438863_1.fastq.gz";
const READS_2: &str = "data/ERR1438863_2.fastq.gz";

pub(crate) fn read_records(runs: &Runs) {
    runs.write("reads.fa", ">one text\nACGT\nGG\n>two\nTTTT\n");
    let expected = "one\t6\t66.7\ntwo\t4\t0.0\n";
    assert_eq!(runs.ok("read_records reads.fa"), expected);
    runs.write("reads.sam", "one\t4\t*\t0\t0\t*\t*\t0\t0\tACGTGG\tIIIIII\n");
    assert_eq!(runs.ok("read_records reads.sam"), "one\t6\t66.7\n");
    assert_eq!(runs.ok(&format!("read_records {GENOME}")), "NC_001416.1\t48502\t49.9\n");
}

pub(crate) fn count_pairs(runs: &Runs) {
    let printed = runs.ok(&format!("count_pairs {READS_1} {READS_2}"));
    assert_eq!(printed, "2500 pairs, 246613 and 244134 bases\n");
    runs.write("1.fa", ">a/1\nACGT\n>b/1\nAC\n");
    runs.write("2.fa", ">a/2\nACG\n>b/2\nA\n");
    assert_eq!(runs.ok("count_pairs 1.fa 2.fa"), "2 pairs, 6 and 4 bases\n");
    runs.write("2.fa", ">a/2\nACG\n>c/2\nA\n");
    assert!(!runs.fails("count_pairs 1.fa 2.fa").contains("usage"));
}

/// Returns reads of 100 bases from every 10,000th base on, each second one from the reverse strand, as FASTQ.
fn reads_of_both_strands(runs: &Runs) -> String {
    let lambda = runs.lambda();
    let read = |number: usize| {
        let letters = &lambda[10_000 * number..][..100];
        let letters =
            if number.is_multiple_of(2) { letters.into() } else { reverse_complement(letters) };
        format!("@{number}\n{letters}\n+\n{}{}\n", "I".repeat(99), number)
    };
    (0..5).map(read).collect()
}

pub(crate) fn bam_to_fastq(runs: &Runs) {
    let reads = reads_of_both_strands(runs);
    runs.write("reads.fq", &reads);
    runs.ok(&format!("map_index {GENOME} lambda.mgi"));
    runs.ok("map_reads lambda.mgi reads.fq reads.bam");
    assert_eq!(runs.ok("bam_to_fastq reads.bam out.fq.gz"), "5 reads\n");
    assert_eq!(String::from_utf8(gunzip(&runs.path("out.fq.gz"))).unwrap(), reads);
}

pub(crate) fn filter_in_memory(runs: &Runs) {
    let expected = "GATTACA\tGATACA\t1\nGATTACA\tCCCCCCC\trejected\n";
    let command = "filter_in_memory 2 GATTACA GATACA GATTACA CCCCCCC";
    assert_eq!(runs.ok(command), expected);
    assert!(runs.fails("filter_in_memory 2 GATTACA").contains("usage"));
}

pub(crate) fn filter_pairs(runs: &Runs) {
    runs.write(
        "pairs.tsv",
        "ACGTACGTAC\tACGTACGTAC\nACGTACGTAC\tACGAACGTAC\nACGTACGTAC\tTTTTTTTTTT\n",
    );
    let printed = runs.ok("filter_pairs 10% pairs.tsv decisions.tsv");
    assert_eq!(printed, "2 of 3 pairs accepted\n0 edits\t1\n1 edits\t1\n");
    let expected = "index\taccept\tedits\n0\t1\t0\n1\t1\t1\n2\t0\t-1\n";
    assert_eq!(runs.read("decisions.tsv"), expected);
}

pub(crate) fn map_index(runs: &Runs) {
    assert_eq!(runs.ok(&format!("map_index {GENOME} lambda.mgi")), "NC_001416.1\t48502\n");
    assert!(runs.path("lambda.mgi").exists());
}

pub(crate) fn map_reads(runs: &Runs) {
    let none = format!("@none\n{}\n+\n{}\n", "ACGTT".repeat(20), "I".repeat(100));
    runs.write("reads.fq", reads_of_both_strands(runs) + &none);
    runs.ok(&format!("map_index {GENOME} lambda.mgi"));
    let printed = runs.ok("map_reads lambda.mgi reads.fq reads.bam");
    assert_eq!(printed, "5 of 6 reads mapped\n");
    assert!(runs.path("reads.bam.bai").exists());
    assert_eq!(runs.ok("read_records reads.bam").lines().count(), 6);
}

pub(crate) fn map_in_memory(runs: &Runs) {
    // Lacks the base at 10,050; the other is from the reverse strand and has a wrong base.
    let lambda = runs.lambda();
    let first = [&lambda[10_000..10_050], &lambda[10_051..10_100]].concat();
    let wrong = if &lambda[20_010..20_011] == "A" { "C" } else { "A" };
    let second = [&lambda[20_000..20_010], wrong, &lambda[20_011..20_040]].concat();
    let second = reverse_complement(&second);
    let printed = runs.ok(&format!("map_in_memory {GENOME} {first} {second}"));
    let expected = "NC_001416.1\t10000\t+\t1\t50=1D49=\nNC_001416.1\t20000\t-\t1\t10=1X29=\n";
    let places: String =
        printed.lines().map(|line| line.split_once('\t').unwrap().1.to_owned() + "\n").collect();
    assert_eq!(places, expected);
}

pub(crate) fn map_pairs(runs: &Runs) {
    // Pairs that span 300 bases, one that spans too many, and one with an unknown second mate.
    let lambda = runs.lambda();
    let mate = |name: &str, letters: &str| format!(">{name}\n{letters}\n");
    let ends = |start: usize, end: usize| {
        [lambda[start..start + 100].to_owned(), reverse_complement(&lambda[end - 100..end])]
    };
    let mut pairs = [ends(1000, 1300), ends(2000, 2300), ends(5000, 40_000), ends(7000, 7300)];
    pairs[3][1] = "ACCA".repeat(25);
    for (file, which) in [("1.fa", 0), ("2.fa", 1)] {
        let lines = pairs
            .iter()
            .enumerate()
            .map(|(number, pair)| mate(&format!("p{number}"), &pair[which]));
        runs.write(file, lines.collect::<String>());
    }
    runs.ok(&format!("map_index {GENOME} lambda.mgi"));
    let printed = runs.ok("map_pairs lambda.mgi 1.fa 2.fa pairs.sam");
    assert_eq!(printed, "4 pairs\n2 concordant\n1 discordant\n1 with one mapped mate\n");
    let sam = runs.read("pairs.sam");
    let records: Vec<Vec<&str>> = sam
        .lines()
        .filter(|line| !line.starts_with('@'))
        .map(|line| line.split('\t').collect())
        .collect();
    assert_eq!(records.len(), 8);
    assert_eq!(records[0][..6], ["p0", "99", "NC_001416.1", "1001", "60", "100M"]);
}

pub(crate) fn deplete_build(runs: &Runs) {
    let printed = runs.ok(&format!("deplete_build host.mgd {GENOME}"));
    assert_eq!(printed, "6036 minimizers of 31 bases\n");
    runs.ok(&format!("deplete_build host.idx {GENOME}"));
    assert!(runs.path("host.idx").exists());
}

pub(crate) fn deplete_reads(runs: &Runs) {
    let lambda = runs.lambda();
    let other = reverse_complement(&"GATTACAGTC".repeat(10));
    runs.write("1.fa", format!(">host\n{}\n>other\n{other}\n", &lambda[1000..1100]));
    runs.write("2.fa", format!(">host\n{}\n>other\n{other}\n", &lambda[1200..1300]));
    runs.ok(&format!("deplete_build host.mgd {GENOME}"));
    let printed = runs.ok("deplete_reads host.mgd 1.fa 2.fa kept_1.fa kept_2.fa");
    assert_eq!(printed, "2 of 4 reads kept\n200 of 400 bases kept\n");
    assert_eq!(runs.read("kept_1.fa"), format!(">other\n{other}\n"));
    assert_eq!(runs.read("kept_2.fa"), runs.read("kept_1.fa"));
}

pub(crate) fn list_devices(runs: &Runs) {
    let printed = runs.ok("list_devices");
    if cfg!(feature = "cuda") {
        assert!(printed.starts_with("cuda:") || printed.starts_with("build "), "{printed}");
    } else {
        let expected = "\
build    no CUDA
cannot use CUDA: not built in
hint: build with `--features cuda` (needs a CUDA toolkit)
";
        assert_eq!(printed, expected);
    }
}

pub(crate) fn handle_errors(runs: &Runs) {
    runs.write("reads.fa", stretches(&runs.lambda()[..200], 100, 50));
    assert_eq!(runs.ok("handle_errors reads.fa 1"), "3 reads, 180 k-mers\n");
    let expected = "wrong argument: MIN_COUNT 0 is out of range: 1 or more, or 0 with a `panel`\n";
    assert_eq!(runs.ok("handle_errors reads.fa 0"), expected);
    let expected = "failed: missing.fa: cannot open: no such file or directory\n";
    assert_eq!(runs.ok("handle_errors missing.fa 1"), expected);
    runs.write("short.fa", ">1\nACGT\n");
    let expected = "\
1 reads, 0 k-mers
warning: no k-mers: its only record has no 21 usable bases in a row
";
    assert_eq!(runs.ok("handle_errors short.fa 1"), expected);
}
