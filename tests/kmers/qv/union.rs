//! `kmers qv --reads`: the union of tables and reads of several technologies.

use super::{K, Sample};
use merganser_test_support::Dir;

/// Returns a directory with reads of two technologies, `a` and `b`, of one genome, and their tables.
fn two_technologies(seed: u64) -> Dir {
    let dir = Dir::new();
    let sample = Sample::new(seed);
    sample.write(&dir);
    let (a, b) = sample.reads.split_at(sample.reads.len() / 2);
    dir.write("a.fa", super::fasta(a));
    dir.write("b.fa", super::fasta(b));
    for name in ["a", "b"] {
        dir.run(&format!("count -q -k {K} --min-count 1 {name}.fa -o {name}.mgk")).ok();
    }
    dir
}

/// Returns the names and bytes of the files whose names begin with a prefix.
fn files(dir: &Dir, prefix: &str) -> Vec<(String, Vec<u8>)> {
    let names = dir.names().into_iter().filter(|name| name.starts_with(prefix));
    names.map(|name| (name.clone(), dir.read(&name))).collect()
}

#[test]
fn the_union_is_the_one_that_kmers_union_writes() {
    let dir = two_technologies(41);
    for (operands, bounds) in [("a.mgk:2.. b.mgk:2..", "--hybrid"), ("a.mgk b.mgk", "")] {
        dir.run(&format!("kmers union -q -o a+b.mgk {operands}")).ok();
        dir.run(&format!("kmers qv -q -o s {bounds} a+b.mgk one.fasta other.fa")).ok();
        let expected = files(&dir, "s.");
        assert!(expected.len() > 20);
        expected.iter().for_each(|(name, _)| std::fs::remove_file(dir.path(name)).unwrap());
        let each = operands.split(' ').map(|operand| format!("--reads {operand} "));
        let each: String = each.collect();
        dir.run(&format!("kmers qv -q -o s {each}one.fasta other.fa --json s.json")).ok();
        let (json, found): (Vec<_>, Vec<_>) =
            files(&dir, "s.").into_iter().partition(|(name, _)| name == "s.json");
        assert!(found == expected, "{operands}");
        let json: serde_json::Value = serde_json::from_slice(&json[0].1).unwrap();
        let given: Vec<&str> = operands.split(' ').collect();
        assert_eq!(json["inputs"]["reads"], serde_json::json!(given));
        std::fs::remove_file(dir.path("s.json")).unwrap();
    }
    // Reads are counted with the k of the tables, and a cut applies to their counts.
    dir.run("kmers union -q -o a+b.mgk a.mgk:2.. b.mgk:3..").ok();
    dir.run("kmers qv -q -o s --hybrid a+b.mgk one.fasta").ok();
    let expected = files(&dir, "s.");
    dir.run("kmers qv -q -o s --reads a.mgk:2.. --reads b.fa:3.. one.fasta -t 2").ok();
    // The name of the second reads is that of their file.
    let renamed = files(&dir, "s.a+b.fa.");
    assert_eq!(renamed.len(), 3);
    let names: Vec<String> = renamed.iter().map(|(name, _)| name.replace("b.fa.", "b.")).collect();
    for (name, bytes) in files(&dir, "s.").iter().filter(|(name, _)| !name.starts_with("s.a+b")) {
        let before = expected.iter().find(|(before, _)| before == name).unwrap();
        assert!(before.1 == *bytes, "{name}");
    }
    for (name, (_, bytes)) in names.iter().zip(&renamed) {
        assert!(expected.iter().any(|(before, was)| before == name && was == bytes), "{name}");
    }
}

#[test]
fn ranges_of_a_union_are_those_of_its_table() {
    let dir = two_technologies(42);
    dir.run("kmers union -q -o a+b.mgk a.mgk:2.. b.mgk:2..").ok();
    dir.run("kmers qv -q -o s --hybrid a+b.mgk one.fasta").ok();
    let expected = files(&dir, "s.");
    for number in [1, 2] {
        let range = format!("--range {number}/2 -o r{number}.mgq");
        dir.run(&format!("kmers qv -q --reads a.mgk:2.. --reads b.mgk:2.. one.fasta {range}")).ok();
    }
    let run = dir.run("kmers qv -o s one.fasta --ranges r2.mgq r1.mgq");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(!run.stderr.contains("low counts"), "{}", run.stderr);
    assert!(files(&dir, "s.") == expected);
}

#[test]
fn mistakes_are_one_line() {
    let dir = two_technologies(43);
    dir.run("count -q -k 17 --min-count 1 b.fa -o other.mgk").ok();
    dir.run(&format!("count -q -k {K} --min-count 3 b.fa -o cut.mgk")).ok();
    dir.run(&format!("count -q -k {K} --min-count 1 --hpc b.fa -o hpc.mgk")).ok();
    std::os::unix::fs::symlink("a.mgk", dir.path("link.mgk")).unwrap();
    dir.write("none.fa", "");
    let before = dir.names();
    let refused = |code: i32, run: &str, part: &str| {
        let message = dir.run(&format!("kmers qv -o s {run}")).fails(code);
        assert!(message.contains(part), "{run}: {message}");
        assert_eq!(dir.names(), before, "{run}");
    };
    for (run, part) in [
        ("--reads a.mgk --reads other.mgk", "other.mgk: its k is 17, and that of a.mgk is 15"),
        ("--reads a.mgk:2.. --reads cut.mgk:2..", "cut.mgk: k-mers that occur less than 3 times"),
        ("--reads a.mgk:2.. --reads cut.mgk", "cut.mgk: k-mers that occur less than 3 times"),
        ("--reads a.mgk:2.. --reads b.mgk:2..90", "b.mgk: an upper bound of the counts"),
        ("--reads a.mgk --reads hpc.mgk", "hpc.mgk: either its reads or those of a.mgk"),
        ("--reads a.mgk --reads missing.mgk", "missing.mgk: "),
        ("--reads none.fa -k 15", "none.fa: "),
    ] {
        refused(1, &format!("{run} one.fasta"), part);
    }
    for (run, part) in [
        (
            "--reads a.mgk:2.. --reads a.mgk:3.. one.fasta",
            "--reads: a.mgk and a.mgk are the same file",
        ),
        (
            "--reads a.mgk:2.. --reads link.mgk one.fasta",
            "--reads: link.mgk and a.mgk are the same file",
        ),
        ("--reads a.mgk:9..2 one.fasta", "a.mgk:9..2: "),
        ("--reads a.mgk:2..", "an assembly is missing: give it after the reads (--reads)"),
        ("--range 1/2 --reads a.mgk --reads b.fa one.fasta", "--range: the reads must be a table"),
    ] {
        refused(2, run, part);
    }
    let run = dir.run("kmers qv -o s --hybrid --reads a.mgk --reads b.mgk one.fasta");
    assert_eq!(run.code, Some(2));
    // One technology alone: correct k-mers that occur once count as errors.
    let run = dir.run("kmers qv -o s --reads a.mgk:2.. one.fasta");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("if low counts were cut off"), "{}", run.stderr);
}
