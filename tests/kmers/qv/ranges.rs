//! `kmers qv --range`, and joining the ranges.

use super::{K, Sample};
use merganser_test_support::Dir;

fn prepared(seed: u64, hpc: &str) -> Dir {
    let dir = Dir::new();
    Sample::new(seed).write(&dir);
    dir.run(&format!("count -q -k {K} --min-count 1 {hpc} reads.fa -o reads.mgk")).ok();
    dir
}

#[test]
fn the_files_are_those_of_one_run() {
    for (hpc, assemblies, ranges) in
        [("", "one.fasta", 1), ("", "one.fasta other.fa", 3), ("--hpc", "other.fa one.fasta", 7)]
    {
        let dir = prepared(31, hpc);
        let before = dir.names();
        let mut files = String::new();
        for number in (1..=ranges).rev() {
            let threads = 1 + number % 2;
            let range = format!("--range {number}/{ranges} -t {threads} -o r{number}.mgq");
            dir.run(&format!("kmers qv -q reads.mgk {assemblies} {hpc} {range}")).ok();
            files += &format!(" r{number}.mgq");
        }
        let made = dir.names();
        assert_eq!(made.len(), before.len() + ranges);
        let options = "-o s --report-data page.json --sample-name a";
        dir.run(&format!("kmers qv -q {assemblies} {options} --ranges{files}")).ok();
        let joined = dir.names();
        let written: Vec<&String> = joined.iter().filter(|name| !made.contains(name)).collect();
        assert!(written.len() > 20, "{written:?}");
        let results: Vec<Vec<u8>> = written.iter().map(|name| dir.read(name)).collect();
        let inputs = |data: &[u8]| -> serde_json::Value {
            let mut data: serde_json::Value = serde_json::from_slice(data).unwrap();
            data.as_object_mut().unwrap().remove("inputs");
            data
        };
        dir.run(&format!("kmers qv -q reads.mgk {assemblies} {hpc} {options}")).ok();
        assert_eq!(dir.names(), joined);
        for (name, joined) in written.iter().zip(results) {
            let whole = dir.read(name);
            match &name[..] {
                // The page contains the names of the inputs.
                "page.json" => assert_eq!(inputs(&joined), inputs(&whole)),
                name => assert!(joined == whole, "{hpc} {ranges} {name}"),
            }
        }
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let dir = prepared(32, "");
    dir.run(&format!("count -q -k {K} --min-count 1 one.fasta -o others.mgk")).ok();
    dir.run("kmers convert -q --format kff reads.mgk -o reads.kff").ok();
    let range = |name: &str, rest: &str| {
        dir.run(&format!("kmers qv -q -o {name}.mgq {rest}")).ok();
    };
    range("a", "reads.mgk one.fasta --range 1/2");
    range("b", "reads.mgk one.fasta --range 2/2");
    range("reads", "others.mgk one.fasta --range 2/2");
    range("two", "reads.mgk one.fasta other.fa --range 2/2");
    range("three", "reads.mgk one.fasta --range 2/3");
    let b = dir.read("b.mgq");
    dir.write("cut.mgq", &b[..b.len() - 1]);
    dir.write("head.mgq", &b[..10]);
    dir.write("empty.mgq", "");
    for (name, at) in [("digit", 60), ("table", b.len() - 30), ("sum", b.len() - 1)] {
        let mut changed = b.clone();
        changed[at] ^= 1;
        dir.write(&format!("{name}.mgq"), changed);
    }
    std::fs::create_dir(dir.path("moved")).unwrap();
    dir.write("moved/one.fasta", dir.read("other.fa"));
    let before = dir.names();
    let mut said = String::new();
    let mut refuse = |code: i32, args: &str| {
        let args = format!("kmers qv {args} -o s");
        said += &format!("$ merganser {args}\n{}", dir.run(&args).fails(code));
        assert_eq!(dir.names(), before, "{args}");
    };
    for name in
        ["reads", "two", "three", "a", "cut", "head", "empty", "digit", "table", "sum", "missing"]
    {
        refuse(1, &format!("one.fasta --ranges a.mgq {name}.mgq"));
    }
    refuse(1, "one.fasta --ranges a.mgq");
    refuse(1, "one.fasta --ranges a.mgq reads.mgk");
    refuse(1, "other.fa --ranges a.mgq b.mgq");
    refuse(1, "one.fasta other.fa --ranges a.mgq b.mgq");
    refuse(1, "moved/one.fasta --ranges a.mgq b.mgq");
    refuse(2, "--ranges a.mgq b.mgq");
    refuse(2, &format!("reads.fa one.fasta -k {K} --range 1/2"));
    refuse(1, "reads.kff one.fasta --range 1/2");
    insta::assert_snapshot!(said);
    let refused = [
        "--range 0/2",
        "--range 1/2 --solid 3",
        "--range 1/2 --block-markers 3",
        // Without haplotypes, there are no blocks.
        "--block-markers 3",
        "--block-bases 900",
    ];
    for options in refused {
        let run = dir.run(&format!("kmers qv reads.mgk one.fasta -o s {options}"));
        assert_eq!(run.code, Some(2), "{options}: {}", run.stderr);
        assert_eq!(dir.names(), before, "{options}");
    }
}
