//! edlib's tests and test data: distances of mutated sequences, by edlib itself.

use std::path::{Path, PathBuf};
use std::process::Command;

use merganser_test_support::Dir;
use merganser_test_support::tools::shell;

use super::data::{Cases, files, literals, peer};

/// Debian's Python, for which edlib is packaged.
const PYTHON: &str = "/usr/bin/python3";

/// Prints the distances of the pairs in `p.tsv`, in edlib's mode NW (global) or HW (the read anywhere in the segment). N
/// matches nothing, as in our programs.
const JUDGE: &str = "
import edlib, sys
for line in open('p.tsv'):
    read, segment = line.split()
    read, segment = read.replace('N', 'x'), segment.replace('N', 'y')
    print(edlib.align(read, segment, mode=sys.argv[1])['editDistance'])
";

fn has_edlib() -> bool {
    let ran = Command::new(PYTHON).args(["-c", "import edlib"]).output();
    let found = ran.is_ok_and(|ran| ran.status.success());
    if !found {
        eprintln!("skipped: edlib for {PYTHON} is not installed");
    }
    found
}

fn sequence(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().filter(|line| !line.starts_with('>')).map(str::trim).collect()
}

/// Returns the pairs of a sequence and its mutated form, of up to 10,000 bases, with the names of the latter.
fn pairs(folder: &Path) -> Vec<(String, String, String)> {
    let of_lengths = files(folder, ".fasta").into_iter().filter(|path| {
        path.components().any(|part| part.as_os_str().to_string_lossy().ends_with("bp"))
    });
    let (mutated, originals): (Vec<PathBuf>, Vec<PathBuf>) = of_lengths
        .partition(|path| path.file_name().unwrap().to_string_lossy().starts_with("mutated"));
    let original = |path: &Path| originals.iter().find(|other| other.parent() == path.parent());
    let pair = |path: &PathBuf| {
        let name = path.strip_prefix(folder).unwrap().display().to_string();
        (name, sequence(path), sequence(original(path).unwrap()))
    };
    mutated.iter().map(pair).collect()
}

#[test]
fn distances_of_mutated_sequences_are_edlibs() {
    let Some(folder) = peer("edlib/test_data/E_coli_DH1") else { return };
    if !has_edlib() {
        return;
    }
    let (dir, mut cases) = (Dir::new(), Cases::of("edlib, distances"));
    let pairs = pairs(&folder);
    let line = |(_, read, segment): &(String, String, String)| format!("{read}\t{segment}\n");
    dir.write("p.tsv", pairs.iter().map(line).collect::<String>());
    dir.write("judge.py", JUDGE);
    for (mode, align) in [("NW", "global"), ("HW", "semiglobal")] {
        let theirs = shell(dir.root(), &format!("{PYTHON} judge.py {mode}"));
        let theirs = String::from_utf8(theirs).unwrap();
        let ours = dir.run(&format!("filter -q p.tsv -e 100% --align {align}")).ok();
        let ours = ours.lines().skip(1).map(|line| line.split('\t').nth(2).unwrap());
        for ((name, _, _), (ours, theirs)) in pairs.iter().zip(ours.zip(theirs.lines())) {
            cases.add(&format!("{mode} {name}"), ours == theirs);
        }
    }
    cases.end(&[]);
}

/// Patterns of 50 and 100 bases in the first 10,000 bases of the genome.
#[test]
fn hits_of_mutated_sequences_are_edlibs() {
    let Some(folder) = peer("edlib/test_data/E_coli_DH1") else { return };
    if !has_edlib() {
        return;
    }
    let (dir, mut cases) = (Dir::new(), Cases::of("edlib, hits"));
    let text = sequence(&folder.join("prefixes/10kbp/e_coli_DH1_prefix10000.fasta"));
    dir.write("t.fa", format!(">t\n{text}\n"));
    let mut patterns = pairs(&folder);
    patterns.retain(|(_, pattern, _)| pattern.len() <= 128);
    let line = |(name, pattern, _): &(String, String, String)| format!("{name}\t{pattern}\n");
    dir.write("patterns", patterns.iter().map(line).collect::<String>());
    let pair = |(_, pattern, _): &(String, String, String)| format!("{pattern}\t{text}\n");
    dir.write("p.tsv", patterns.iter().map(pair).collect::<String>());
    dir.write("judge.py", JUDGE);
    let theirs = shell(dir.root(), &format!("{PYTHON} judge.py HW"));
    let table =
        dir.run("search -q --patterns patterns -e 60% --strand forward --all-ends t.fa").ok();
    let hits: Vec<Vec<&str>> =
        table.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    for ((name, pattern, _), theirs) in
        patterns.iter().zip(String::from_utf8(theirs).unwrap().lines())
    {
        let edits =
            hits.iter().filter(|hit| hit[3] == name).map(|hit| hit[4].parse::<usize>().unwrap());
        let theirs: usize = theirs.parse().unwrap();
        let expected = (theirs <= pattern.len() * 6 / 10).then_some(theirs);
        cases.add(name, edits.min() == expected);
    }
    cases.end(&[]);
}

fn best(pattern: &str, edits: usize, text: &str) -> Option<usize> {
    let dir = Dir::new();
    dir.write("t.fa", format!(">t\n{text}\n"));
    let table = dir.run(&format!("search -q -p {pattern} -e {edits} --strand forward t.fa")).ok();
    table.lines().skip(1).map(|line| line.split('\t').nth(4).unwrap().parse().unwrap()).min()
}

/// The tests of `runTests.cpp` that are DNA, in mode HW; other letters are replaced by bases.
#[test]
fn distances_are_those_of_unit_tests() {
    let mut cases = Cases::of("edlib, unit tests");
    let text = "GTGAGTCATCGAATCTTTGAACGCACCTTGCGCTCCTTGGT";
    cases.add("testCustomEqualityRelation", best("GTGNRTCARCGAANCTTTN", 3, text) == Some(1));
    cases.add("test15", best("AAACCC", 5, "CCCG") == Some(3));
    cases.add("test16", best("CCCAAA", 5, "GCCC") == Some(3));
    cases.add("test2", best("ACGT", 3, "ACGT") == Some(0));
    if let Some(path) = peer("edlib/test/runTests.cpp") {
        let source = std::fs::read_to_string(path).unwrap();
        let at = source.find("\"GCATATCAATAAGCGGAGGA\"").unwrap();
        let [pattern, text] = literals(&source[at..])[..2] else { panic!() };
        cases.add("test with degenerate nucleotides", best(pattern, 3, text) == Some(0));
    }
    let dir = Dir::new();
    dir.write("p.tsv", "AA\tC\n");
    let decision = dir.run("filter -q p.tsv -e 2").ok();
    cases.add("test13", decision.ends_with("0\t1\t2\n"));
    cases.end(&[]);
}
