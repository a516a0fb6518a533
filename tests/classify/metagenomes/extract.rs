//! `merganser extract reads`, compared read by read with the lines.

use std::collections::{BTreeMap, BTreeSet};

use super::world::{World, lines};
use merganser_test_support::tools::{installed, shell};
use merganser_test_support::{Dir, gunzip};

/// Returns the taxids of reads by name.
fn taxa(text: &str) -> BTreeMap<String, u32> {
    lines(text).into_iter().map(|line| (line.id, line.taxid)).collect()
}

/// Returns the FASTQ records of reads with wanted taxa.
fn chosen(fastq: &[u8], taxa: &BTreeMap<String, u32>, wanted: &dyn Fn(u32) -> bool) -> String {
    let text = String::from_utf8(fastq.to_vec()).unwrap();
    let all: Vec<&str> = text.lines().collect();
    let of = |record: &&[&str]| {
        let name = record[0][1..].split_whitespace().next().unwrap();
        let stem = name.strip_suffix("/1").or(name.strip_suffix("/2")).unwrap_or(name);
        taxa.get(stem).or(taxa.get(name)).is_some_and(|taxid| wanted(*taxid))
    };
    all.chunks(4).filter(of).map(|record| record.join("\n") + "\n").collect()
}

/// Returns a world with pairs, their lines and their report, and the taxids.
fn pairs() -> (World, BTreeMap<String, u32>) {
    let world = World::built();
    let dir = &world.dir;
    dir.run("classify refs.mgdb -1 1.fq -2 2.fq -o l.tsv --report r.kreport -q").ok();
    let taxa = taxa(&String::from_utf8(dir.read("l.tsv")).unwrap());
    (world, taxa)
}

const PAIRS: &str = "--lines l.tsv -1 1.fq -2 2.fq -q";

#[test]
fn reads_of_taxa_are_those_that_the_lines_name() {
    let (world, taxa) = pairs();
    let dir = &world.dir;
    let check = |options: &str, wanted: &dyn Fn(u32) -> bool| {
        let expected = ["1.fq", "2.fq"].map(|name| chosen(&dir.read(name), &taxa, wanted));
        assert!(expected[0].lines().count() > 8, "{options}");
        let mut compressed: Option<Vec<u8>> = None;
        for threads in [1, 2, 5] {
            let run = format!("extract reads {PAIRS} {options} -t {threads}");
            dir.run(&format!("{run} -o o#.fq")).ok();
            dir.run(&format!("{run} -o z1.fq.gz --output2 z2.fq")).ok();
            for (mate, expected) in expected.iter().enumerate() {
                let found = String::from_utf8(dir.read(&format!("o_{}.fq", mate + 1))).unwrap();
                assert!(found == *expected, "{options} {threads} {}", mate + 1);
            }
            assert!(gunzip(&dir.path("z1.fq.gz")) == expected[0].as_bytes(), "{options} {threads}");
            let bytes = dir.read("z1.fq.gz");
            assert!(
                *compressed.get_or_insert_with(|| bytes.clone()) == bytes,
                "{options} {threads}"
            );
            assert!(dir.read("z2.fq") == expected[1].as_bytes(), "{options} {threads}");
        }
    };
    check("--taxid 11", &|taxid| taxid == 11);
    check("--taxid 0", &|taxid| taxid == 0);
    check("--taxid 12,21", &|taxid| taxid == 12 || taxid == 21);
    check("--taxid 11,0 --exclude", &|taxid| taxid != 11 && taxid != 0);
    let genus = |taxid| [10, 11, 12, 13].contains(&taxid);
    for tree in ["--report r.kreport", "--taxonomy tax", "--database refs.mgdb"] {
        check(&format!("--taxid 10 --include-children {tree}"), &genus);
        check(&format!("--taxid 10 --include-children --exclude {tree}"), &|taxid| !genus(taxid));
        check(&format!("--taxid 12 --include-parents {tree}"), &|taxid| {
            [1, 2, 3, 4, 5, 6, 10, 12].contains(&taxid)
        });
    }
}

/// Every input format and every output format.
#[test]
fn reads_come_and_go_in_all_formats() {
    let (world, taxa) = pairs();
    let dir = &world.dir;
    let text = |name: &str| String::from_utf8(dir.read(name)).unwrap();
    let [one, two] = ["1.fq", "2.fq"].map(|name| chosen(&dir.read(name), &taxa, &|at| at == 21));
    let [one_lines, two_lines] = [&one, &two].map(|text| text.lines().collect::<Vec<_>>());
    let mut turns = String::new();
    for (one, two) in one_lines.chunks(4).zip(two_lines.chunks(4)) {
        turns += &format!("{}\n{}\n", one.join("\n"), two.join("\n"));
    }
    let run = |args: &str| dir.run(&format!("extract reads --taxid 21 -q {args}")).ok();
    assert_eq!(run("--lines l.tsv -1 1.fq -2 2.fq"), turns);
    // Interleaved mates, with and without the option.
    let all: Vec<String> = ["1.fq", "2.fq"].map(text).to_vec();
    let [one_all, two_all]: [Vec<&str>; 2] = [0, 1].map(|mate: usize| all[mate].lines().collect());
    let mixed = one_all.chunks(4).zip(two_all.chunks(4));
    let mixed = mixed.map(|(one, two)| format!("{}\n{}\n", one.join("\n"), two.join("\n")));
    dir.write("i.fq", mixed.collect::<String>());
    assert_eq!(run("--lines l.tsv --interleaved i.fq"), turns);
    assert_eq!(run("--lines l.tsv i.fq"), turns);
    // Only the second mates.
    assert_eq!(run("--lines l.tsv 2.fq"), two);
    // Compressed inputs, FASTA, and lines from a pipe.
    shell(dir.root(), "gzip -k 1.fq 2.fq l.tsv");
    assert_eq!(run("--lines l.tsv.gz -1 1.fq.gz -2 2.fq.gz"), turns);
    let fasta = run("--lines l.tsv 1.fq --format fasta");
    let expected = one_lines.chunks(4).map(|at| format!(">{}\n{}\n", &at[0][1..], at[1]));
    assert_eq!(fasta, expected.collect::<String>());
    dir.write("1.fa", run("--lines l.tsv 1.fq --taxid 0,10,11,12,13 --format fasta"));
    assert_eq!(run("--lines l.tsv 1.fa"), fasta);
    let args = ["extract", "reads", "--taxid", "21", "-q", "--lines", "-", "1.fq"];
    assert_eq!(dir.run_with(args, &dir.read("l.tsv")).ok(), one);
    let message = dir.run_with(args, b"C\tr0\t21").fails(1);
    assert_eq!(message, "error: stdin: line 1: it has no line end: the file is cut short\n");
    let args = ["extract", "reads", "--taxid", "21", "-q", "--lines", "l.tsv", "-"];
    assert_eq!(dir.run_with(args, &dir.read("1.fq")).ok(), one);
    if installed(&["samtools"]) {
        shell(dir.root(), "samtools import -0 1.fq -o u.bam 2> /dev/null");
        let names = |text: &str| -> Vec<String> {
            let heads = text.lines().step_by(4).map(|head| head.split(' ').next().unwrap());
            heads.map(|head| head.trim_end_matches("/1").to_owned()).collect()
        };
        assert_eq!(names(&run("--lines l.tsv u.bam")), names(&one));
    }
    // Single reads after pairs, in the order of `classify`.
    dir.run("classify refs.mgdb -1 1.fq -2 2.fq -U i.fq -o b.tsv -q").ok();
    run("--lines b.tsv -1 1.fq -2 2.fq -U i.fq -o b#.fq.gz");
    assert!(gunzip(&dir.path("b_1.fq.gz")) == one.as_bytes());
    assert!(gunzip(&dir.path("b_2.fq.gz")) == two.as_bytes());
    let of_b: BTreeMap<String, u32> =
        lines(&text("b.tsv")).into_iter().skip(700).map(|line| (line.id, line.taxid)).collect();
    let singles = gunzip(&dir.path("b.fq.gz"));
    let mut expected = String::new();
    let mixed = text("i.fq");
    for record in mixed.lines().collect::<Vec<_>>().chunks(4) {
        let name = record[0][1..].split_whitespace().next().unwrap();
        if of_b[name] == 21 {
            expected += &(record.join("\n") + "\n");
        }
    }
    assert!(singles == expected.as_bytes());
}

/// Lines in another order, or only some of them, give the same reads.
#[test]
fn lines_in_another_order_are_found_by_name() {
    let (world, taxa) = pairs();
    let dir = &world.dir;
    let text = String::from_utf8(dir.read("l.tsv")).unwrap();
    let all: Vec<&str> = text.lines().collect();
    let expected = chosen(&dir.read("1.fq"), &taxa, &|at| at == 11);
    let write = |name: &str, lines: &[&str]| {
        dir.write(name, lines.iter().fold(String::new(), |text, line| text + line + "\n"));
    };
    let mut turned = all.clone();
    turned.reverse();
    write("turned.tsv", &turned);
    turned = all.clone();
    turned.swap(300, 650);
    write("swapped.tsv", &turned);
    write(
        "classified.tsv",
        &all.iter().copied().filter(|at| at.starts_with('C')).collect::<Vec<_>>(),
    );
    for name in ["turned", "swapped", "classified"] {
        for threads in [1, 4] {
            let ran = dir.run(&format!(
                "extract reads --taxid 11 --lines {name}.tsv -1 1.fq -2 2.fq -o o#.fq -t {threads}"
            ));
            assert!(ran.stderr.contains("in different orders from read r"), "{}", ran.stderr);
            assert!(ran.stderr.contains(" pairs were extracted"), "{}", ran.stderr);
            let lost = ran.warnings().len();
            assert_eq!(lost, usize::from(name == "classified"), "{}", ran.stderr);
            ran.ok();
            assert!(dir.read("o_1.fq") == expected.as_bytes(), "{name} {threads}");
        }
    }
    // Repeated lines of a read with the same taxon are accepted; contradictory ones are an error.
    let mut twice = all.clone();
    twice.push(twice[5]);
    twice.swap(0, 1);
    write("twice.tsv", &twice);
    dir.run("extract reads --taxid 11 --lines twice.tsv 1.fq -o o_1.fq -q").ok();
    assert!(dir.read("o_1.fq") == expected.as_bytes());
    let of = all.iter().find(|line| line.contains("\t11\t")).unwrap();
    let other = of.replace("\t11\t", "\t21\t");
    twice.push(&other);
    write("twice.tsv", &twice);
    let message = dir.run("extract reads --taxid 11 --lines twice.tsv 1.fq -o no.fq").fails(1);
    assert!(message.starts_with("error: twice.tsv: line 702: read r"), "{message}");
    assert!(message.contains("has another line with another taxon"), "{message}");
    assert!(!dir.path("no.fq").exists());
}

#[test]
fn names_that_do_not_fit_into_memory_are_an_error() {
    let (world, _) = pairs();
    let dir = &world.dir;
    let mut text = String::from("C\tnobody\t11\t1\t0:0\n");
    (0..400_000).for_each(|number| text += &format!("C\tread.number.{number}\t11\t1\t0:0\n"));
    dir.write("many.tsv", text);
    let run = "extract reads --taxid 11 --lines many.tsv 1.fq -o o.fq -t 1 --memory";
    let message = dir.run(&format!("{run} 50M")).fails(1);
    assert!(
        message.contains("names do not fit into ") && message.contains("--memory"),
        "{message}"
    );
    let message = dir.run(&format!("{run} 20M")).fails(1);
    assert!(message.contains("1 threads needs at least"), "{message}");
    assert!(!dir.path("o.fq").exists());
    let message = dir.run(&format!("{run} 1G")).fails(1);
    assert!(message.contains("none of the reads has a line in it"), "{message}");
}

/// Contradictory arguments and inputs are refused in one line, without output.
#[test]
fn what_does_not_go_together_is_refused() {
    let (world, _) = pairs();
    let dir = &world.dir;
    let text = String::from_utf8(dir.read("l.tsv")).unwrap();
    shell(
        dir.root(),
        "gzip -k l.tsv 1.fq; head -c 3000 l.tsv.gz > cut.tsv.gz; head -c 9000 1.fq.gz > cut.fq.gz",
    );
    dir.write("cut.tsv", &text[..text.len() - 5]);
    dir.write("empty.tsv", "");
    dir.write("other.tsv", text.replace("\tr", "\tq"));
    dir.run("classify refs.mgdb 1.fq --format metacache -o table.txt -q").ok();
    let before = dir.names();
    let mut said = String::new();
    for (args, code) in [
        ("--taxid 11 --lines cut.tsv 1.fq", 1),
        ("--taxid 11 --lines cut.tsv.gz 1.fq", 1),
        ("--taxid 11 --lines l.tsv cut.fq.gz", 1),
        ("--taxid 11 --lines empty.tsv 1.fq", 1),
        ("--taxid 11 --lines other.tsv 1.fq", 1),
        ("--taxid 11 --lines table.txt 1.fq", 1),
        ("--taxid 11 --lines r.kreport 1.fq", 1),
        ("--taxid 11 --lines 1.fq 1.fq", 1),
        ("--taxid 11 --lines refs.mgdb 1.fq", 1),
        ("--taxid 11 --lines none.tsv 1.fq", 1),
        ("--taxid 11 --lines l.tsv none.fq", 1),
        ("--taxid 11 --lines - -", 1),
        ("--taxid 11 --lines l.tsv", 2),
        ("--taxid 11 --lines l.tsv 1.fq --include-children", 2),
        ("--taxid 11 --lines l.tsv 1.fq --report r.kreport", 2),
        ("--taxid 11 --lines l.tsv 1.fq --output2 p.fq", 2),
    ] {
        said += &dir.run(&format!("extract reads {args} -o o.fq -q")).fails(code);
        assert_eq!(dir.names(), before, "{args}");
    }
    insta::assert_snapshot!(said);
}

/// Reads without lines and lines without reads, which may be intended, have a warning.
#[test]
fn reads_and_lines_without_each_other_are_told() {
    let (world, taxa) = pairs();
    let dir = &world.dir;
    let text = String::from_utf8(dir.read("l.tsv")).unwrap();
    let part: String = text.lines().take(690).fold(String::new(), |text, line| text + line + "\n");
    dir.write("part.tsv", part);
    let ran = dir.run("extract reads --taxid 11 --lines part.tsv 1.fq -o o.fq");
    let expected =
        "warning: part.tsv: 10 reads have no line in this file and are left out, first r690/1";
    assert_eq!(ran.warnings(), [expected]);
    assert!(!ran.stderr.contains("different orders"), "{}", ran.stderr);
    dir.write(
        "few.fq",
        dir.read("1.fq")
            .split_inclusive(|&at| at == b'\n')
            .take(400)
            .flatten()
            .copied()
            .collect::<Vec<u8>>(),
    );
    let ran = dir.run("extract reads --taxid 11 --lines l.tsv few.fq");
    assert_eq!(ran.warnings(), ["warning: l.tsv: 600 lines of this file are not of these reads"]);
    assert_eq!(ran.ok(), chosen(&dir.read("few.fq"), &taxa, &|at| at == 11));
    dir.write("none.fq", "");
    let ran = dir.run("extract reads --taxid 11 --lines l.tsv none.fq -o e.fq.gz");
    assert_eq!(ran.warnings().len(), 2, "{}", ran.stderr);
    assert_eq!(gunzip(&dir.path("e.fq.gz")), b"");
    let run = "extract reads --taxid 99 --include-children --report r.kreport --lines l.tsv 1.fq";
    let ran = dir.run(run);
    assert!(ran.warnings()[0].contains("first 99"), "{}", ran.stderr);
    assert_eq!(ran.ok(), "");
}

/// Lines from Kraken 2 itself are accepted, also with names of taxa.
#[test]
fn lines_of_kraken_2_are_read() {
    if !installed(&["kraken2"]) {
        return;
    }
    let dir = Dir::new();
    let data = merganser_test_support::root().join("tests/data");
    let database = data.join("kraken2").display().to_string();
    shell(dir.root(), &format!("cp {}/genomes/*.fna.gz . && gunzip *.fna.gz", data.display()));
    let mut reads = String::new();
    for name in dir.names() {
        let text = String::from_utf8(dir.read(&name)).unwrap();
        let letters: String = text.lines().skip(1).collect();
        for start in (0..letters.len() - 200).step_by(97) {
            reads += &format!(">{}.{start}\n{}\n", &name[..4], &letters[start..start + 150]);
        }
    }
    dir.write("r.fa", reads);
    for names in ["", "--use-names"] {
        shell(
            dir.root(),
            &format!(
                "kraken2 --db {database} --output k.tsv --report k.kreport {names} r.fa 2> /dev/null"
            ),
        );
        let extract = |args: &str| {
            let text = dir.run(&format!("extract reads --lines k.tsv r.fa -q {args}")).ok();
            let names: BTreeSet<String> =
                text.lines().step_by(2).map(|name| name[1..].to_owned()).collect();
            names
        };
        let [by_report, by_database] = ["--report k.kreport", &format!("--database {database}")]
            .map(|tree| extract(&format!("--taxid 10239 --include-children {tree}")));
        assert!(by_report == by_database && by_report.len() > 500, "{}", by_report.len());
        let corona = extract("--taxid 11118 --include-children --report k.kreport");
        assert!(corona.len() > 200 && corona.iter().all(|name| name.starts_with("SARS")));
        let whole = extract("--taxid 0 --exclude");
        assert!(whole.is_superset(&by_report));
    }
}
