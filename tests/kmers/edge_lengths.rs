//! Counts with every boundary value of k, for every kind of input, on one or both strands, compared with the oracle.

use merganser_test_support::oracle::{self, Rule, complement};
use merganser_test_support::reads::{Random, Record, fasta, fastq, untidy};
use merganser_test_support::{Dir, Ran};

macro_rules! for_each_k {
    ($($name:ident $k:literal),*) => {$(
        #[test]
        fn $name() {
            every_input($k);
        }
    )*};
}

for_each_k!(
    k_1 1, k_2 2, k_7 7, k_15 15, k_16 16, k_21 21, k_28 28, k_31 31, k_32 32, k_33 33, k_55 55,
    k_63 63, k_64 64, k_65 65, k_127 127, k_128 128
);

fn every_input(k: usize) {
    let dir = Dir::new();
    for (name, records, text) in inputs(k) {
        dir.write("input", &text);
        for canonical in [true, false] {
            check(&dir, name, &records, Rule::new(k, canonical));
        }
    }
    let records = untidy(120, 99);
    dir.write("input", fastq(&records, "\n"));
    check(&dir, "qualities", &records, Rule { min_quality: Some(2), ..Rule::new(k, true) });
    table_comes_back(&dir, k, &records);
}

fn inputs(k: usize) -> Vec<(&'static str, Vec<Record>, Vec<u8>)> {
    let some = untidy(150, k as u64);
    let mut unended = fastq(&some, "\r\n");
    unended.truncate(unended.len() - 2);
    let mut random = Random(k as u64);
    let around = [k - 1, k, k + 1].map(|length| Record::from(&random.bases(length)[..]));
    let palindromes: Vec<Record> = (0..9)
        .map(|_| {
            let half = random.bases(k.div_ceil(2));
            Record::from(&[&half[..], &complement(&half)].concat()[..])
        })
        .collect();
    let all_a = vec![Record::from(&[b'A'; 5000][..])];
    let all_n = vec![Record::from(&[b'N'; 700][..]); 3];
    let base = vec![Record::from(&b"g"[..])];
    vec![
        ("FASTQ", some.clone(), fastq(&some, "\n")),
        ("CRLF without last line end", some.clone(), unended),
        ("FASTA of one line", some.clone(), fasta(&some, 1000, "\n")),
        ("FASTA of many lines", some.clone(), fasta(&some, 60, "\n")),
        ("FASTA of tiny lines", some.clone(), fasta(&some, 3, "\r\n")),
        ("lengths around k", around.to_vec(), fastq(&around, "\n")),
        ("palindromes", palindromes.clone(), fasta(&palindromes, 80, "\n")),
        ("all A", all_a.clone(), fasta(&all_a, 100, "\n")),
        ("all N", all_n.clone(), fasta(&all_n, 50, "\n")),
        ("one base", base.clone(), fasta(&base, 50, "\n")),
        ("empty", vec![], vec![]),
    ]
}

fn check(dir: &Dir, name: &str, records: &[Record], rule: Rule) {
    let expected = oracle::count(records, rule);
    let ran = count(dir, rule, "--format tsv -o - --min-count 1 --histogram hist");
    let context = format!("{name}, {rule:?}");
    assert_eq!(ran.code, Some(0), "{context}: {}", ran.stderr);
    assert!(ran.stdout == oracle::tsv(&expected, 1).as_bytes(), "{context}: k-mers differ");
    assert!(dir.read("hist") == oracle::histogram(&expected).as_bytes(), "{context}: histogram");
}

fn count(dir: &Dir, rule: Rule, options: &str) -> Ran {
    let strands = if rule.canonical { "" } else { "--forward-only" };
    let quality = rule.min_quality.map_or(String::new(), |q| format!("--min-qual {q}"));
    dir.run(&format!("count -k {} {strands} {quality} {options} input", rule.k))
}

/// Asserts that a table has the right k-mers when it is dumped and queried, with a minimum count.
fn table_comes_back(dir: &Dir, k: usize, records: &[Record]) {
    let expected = oracle::count(records, Rule::new(k, true));
    count(dir, Rule::new(k, true), "-o t.mgk").ok();
    assert!(dir.run("kmers dump t.mgk").ok() == oracle::tsv(&expected, 2), "k {k}");
    assert_eq!(dir.run("kmers verify t.mgk").ok(), "t.mgk: ok\n");
    let kmers: Vec<&[u8]> = expected.keys().step_by(97).map(Vec::as_slice).collect();
    let wanted = kmers.concat();
    let lines: String = kmers
        .iter()
        .map(|&kmer| {
            let count = expected[kmer];
            let count = if count < 2 { 0 } else { count };
            format!("{}\t{count}\n", String::from_utf8_lossy(kmer))
        })
        .collect();
    let file: Vec<u8> = wanted.chunks(k).flat_map(|kmer| [kmer, b"\n"].concat()).collect();
    dir.write("kmers", file);
    assert_eq!(dir.run("kmers query t.mgk --file kmers").ok(), lines);
}

/// Sequences may have any length: 200 copies of 50,000 bases in one line contain each k-mer of the circular unit 199
/// times, and each k-mer of the linear unit once more.
#[test]
fn ten_million_bases_in_one_line() {
    let unit = Random(5).bases(50_000);
    let dir = Dir::new();
    dir.write("input", [&b">long\n"[..], &unit.repeat(200)].concat());
    for k in [1, 31, 32, 128] {
        for canonical in [true, false] {
            let rule = Rule::new(k, canonical);
            let circle = [&unit[..], &unit[..k - 1]].concat();
            let mut expected = oracle::count(&[Record::from(&circle[..])], rule);
            expected.values_mut().for_each(|count| *count *= 199);
            for (kmer, more) in oracle::count(&[Record::from(&unit[..])], rule) {
                *expected.get_mut(&kmer).unwrap() += more;
            }
            let counted = count(&dir, rule, "--format tsv -o - --min-count 1").ok();
            assert!(counted == oracle::tsv(&expected, 1), "{rule:?}");
        }
    }
}
