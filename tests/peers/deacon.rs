//! Deacon's tests of filtering and of indexes (`tests/filter_tests.rs`, `tests/index_tests.rs`).

use merganser_test_support::{Dir, gunzip, root};

use super::data::Cases;

/// Returns the first 120 bases of SARS-CoV-2.
fn virus() -> String {
    let text = gunzip(&root().join("tests/data/genomes/SARS-CoV-2_Wuhan-Hu-1.fna.gz"));
    let text = String::from_utf8(text).unwrap();
    let bases: String = text.lines().filter(|line| !line.starts_with('>')).collect();
    bases[..120].to_owned()
}

fn complement(bases: &str) -> String {
    let letters = merganser_test_support::oracle::complement(bases.as_bytes());
    String::from_utf8(letters).unwrap()
}

/// Filters reads in FASTA or FASTQ with the set of a host, and returns the kept ones.
fn filter(host: &str, index: &str, reads: &[&str], options: &str) -> String {
    let dir = Dir::new();
    dir.write("host.fa", host);
    dir.run(&format!("deplete index -q {index} host.fa -o host.mgd")).ok();
    let mut inputs = String::new();
    for (number, text) in (1..).zip(reads) {
        dir.write(&format!("{number}.fx"), text);
        let mate = if reads.len() == 2 { format!("-{number} ") } else { String::new() };
        inputs += &format!("{mate}{number}.fx ");
    }
    dir.run(&format!("deplete filter -q {options} host.mgd {inputs} -o -")).ok()
}

fn fastq(name: &str, bases: &str) -> String {
    format!("@{name}\n{bases}\n+\n{}\n", "~".repeat(bases.len()))
}

#[test]
fn reads_are_filtered_as_in_its_tests() {
    let mut cases = Cases::of("Deacon, filter");
    let virus = virus();
    let host = format!(">host\n{}\n", &virus[..60]);
    let [first, second] = [&virus[..60], &virus[60..]];
    for (strand, one, two) in [
        ("fwd", first.to_owned(), second.to_owned()),
        ("rev", complement(first), complement(second)),
    ] {
        let [one, two] = [fastq("one", &one), fastq("two", &two)];
        let kept = filter(&host, "", &[&one], "-a 1 -r 0.01");
        cases.add(&format!("filtration_{strand}, -a 1"), kept.is_empty());
        cases.add(&format!("filtration_{strand}"), filter(&host, "", &[&one], "").is_empty());
        let kept = filter(&host, "", &[&one, &two], "--any-names");
        cases.add(&format!("paired_filtration_{strand}"), kept.is_empty());
    }
    repeats(&mut cases);
    lines(&mut cases);
    cases.end(&[]);
}

fn repeats(cases: &mut Cases) {
    let host = format!(">r\n{}\n", "ACGT".repeat(28));
    let shared = "ACGT".repeat(16);
    let one = format!(">r/1\nAAAAAAAA{shared}AAAAAAAAA\n");
    let two = format!(">r/2\nTTTTTTTT{shared}TTTTTTTTTTT\n");
    let kept = filter(&host, "", &[&one, &two], "-a 2 -r 0.01");
    cases.add("shared_minimizer_counted_once", kept.lines().count() == 4);
    let homopolymer = format!(">a\n{}\n", "A".repeat(100));
    let reads = fastq("r", &"ACGTGCATAGCTGCATGCATGCATGCATGCATGCATGCAATGCAACGT".repeat(3));
    let kept = filter(&homopolymer, "", &[&reads], "--keep");
    cases.add("filter_to_file", kept.is_empty());
    let kept = filter(&homopolymer, "", &[""], "");
    cases.add("filter_empty_file", kept.is_empty());
}

fn lines(cases: &mut Cases) {
    let host = "ACGTTTAAGGCCAACCACACACACACACATT";
    let read = format!(">query\n{}\n{}\n", &host[..16], &host[16..]);
    let kept = filter(&format!(">ref\n{host}\n"), "-k 31 -w 1", &[&read], "-a 1 --keep");
    cases.add("multiline_fasta_matching", kept.replace('\n', "").contains(host));
    let host = ">reference\nAAAAA\nAAAAA\nAAAAA\nAAAAA\n";
    let read = ">query\nAAAAACAAAAACAAAAACAAAAA\n";
    let kept = filter(host, "-k 5 -w 5", &[read], "-a 1 -r 0 --keep");
    cases.add("newline_mapping_bug", kept.is_empty());
    let bases = ["ACGTGCATAGCTGCATGCAATGCAACGT", "TGCAGCATGCATTGCAGCATGCC"]
        .map(|bases| format!("{bases}{}", "ATGC".repeat(25)));
    let host: String = bases.iter().map(|bases| format!(">h\n{bases}\n")).collect();
    let reads = bases.map(|bases| fastq("r", &bases)).concat();
    let kept = filter(&host, "-k 41 -w 15", &[&reads], "-a 1 -r 0 --keep");
    cases.add("large_kmer_filter", kept.lines().count() == 8);
    // The pair of which no end of line follows the last quality.
    let kept = filter(&host, "", &[reads.trim_end()], "-a 1 -r 0 --keep");
    cases.add("fastq_parsing_no_trailing_newline", kept.lines().count() == 8);
    let kept = filter(&host, "", &[&reads], "-a 1 -r 0 --keep --rename");
    cases.add("filter_rename", kept.starts_with("@1\n") && kept.contains("\n@2\n"));
}

/// Returns the number of minimizers of a set.
fn minimizers(dir: &Dir, set: &str) -> u64 {
    let info = dir.run(&format!("deplete info --json {set}")).ok();
    let info: serde_json::Value = serde_json::from_str(&info).unwrap();
    info["minimizers"].as_u64().unwrap()
}

#[test]
fn sets_are_those_of_its_tests() {
    let (dir, mut cases) = (Dir::new(), Cases::of("Deacon, index"));
    dir.write("a.fa", format!(">test\n{}\n", "A".repeat(45)));
    dir.write("1.fa", format!(">s\n{}\n>t\n{}\n", "ACGT".repeat(14), "CGTA".repeat(14)));
    dir.write("2.fa", format!(">s\n{}\n>t\n{}\n", "TGCA".repeat(14), "GCAT".repeat(14)));
    for name in ["a", "1", "2"] {
        dir.run(&format!("deplete index -q {name}.fa -o {name}.idx")).ok();
    }
    cases.add("index_dump, one minimizer", minimizers(&dir, "a.idx") == 1);
    for verb in ["union", "diff"] {
        dir.run(&format!("deplete {verb} -q 1.idx 2.idx -o {verb}.idx")).ok();
    }
    let [one, two, union, diff] =
        ["1", "2", "union", "diff"].map(|name| minimizers(&dir, &format!("{name}.idx")));
    cases.add("index_union", union == one + two);
    cases.add("index_diff", diff == one);
    // A set without minimizers matches nothing, and is refused.
    let common = dir.run("deplete intersect -q 1.idx 2.idx -o common.idx");
    cases.add("index_intersect", common.code == Some(0));
    dir.run("deplete index -q -w 21 1.fa -o w21.idx").ok();
    let refused = dir.run("deplete diff -q 1.idx w21.idx -o x.idx").code == Some(1);
    cases.add("index_diff_w_mismatch_errors", refused);
    let bytes = dir.read("1.idx");
    dir.write("cut.idx", &bytes[..bytes.len() * 9 / 10]);
    cases.add("index_truncated", dir.run("deplete info cut.idx").code == Some(1));
    cases.end(&["index_intersect"]);
}
