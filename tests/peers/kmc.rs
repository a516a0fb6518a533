//! KMC's tests: the palindromes of `tests/kmc_CLI/data/issue-180` and the reads of `tests/py_kmc_api`.

use merganser_test_support::Dir;
use merganser_test_support::oracle::{Rule, count};
use merganser_test_support::reads::Record;

use super::data::Cases;

const PALINDROME: &str = ">palindrome\nAACTGACATGTCAGTT\n";
const OF_PALINDROME: &str = "AACTG\t2\nACATG\t2\nACTGA\t2\nATGTC\t2\nCTGAC\t2\nTGACA\t2\n";

const READS: [&str; 3] = [
    "GGCATTGCATGCAGTNNCAGTCATGCAGTCAGGCAGTCATGGCATGCAACGACGATCAGTCATGGTCGAG",
    "GGCATTGCATGCAGTNNCAGTCATGCAGTCAGGCAGTCATGGCATGCAACGACGATCAGTCATGGTCGAG",
    "GTCGATGCATCGATGCTGATGCTGCTGTGCTAGTAGCGTCTGAGGGCTA",
];

#[test]
fn inputs_of_tests_have_their_kmers() {
    let dir = Dir::new();
    let mut cases = Cases::of("KMC");
    dir.write("x.fa", PALINDROME);
    let found = dir.run("count -q -k 5 --min-count 1 x.fa --format tsv -o -").ok();
    cases.add("issue-180", found == OF_PALINDROME);
    let fastq = READS.map(|read| format!("@TEST\n{read}\n+TEST\n{}\n", "I".repeat(read.len())));
    dir.write("x.fq", fastq.concat());
    let records = READS.map(|read| Record::from(read.as_bytes()));
    let expected: String = count(&records, Rule::new(17, true))
        .iter()
        .map(|(kmer, count)| format!("{}\t{count}\n", String::from_utf8_lossy(kmer)))
        .collect();
    let found = dir.run("count -q -k 17 --min-count 1 x.fq --format tsv -o -").ok();
    cases.add("py_kmc_api", found == expected);
    cases.end(&[]);
}
