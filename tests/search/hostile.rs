//! Inputs and outputs that are empty, damaged, too short or too large.

use std::fs;
use std::process::Stdio;

use merganser_test_support::forms::gzip;
use merganser_test_support::reads::Random;
use merganser_test_support::tools::shell;
use merganser_test_support::{Dir, MERGANSER, program};

const HEADER: &str = "sequence\tstart\tend\tpattern\tedits\tstrand\tcigar\tletters\n";

#[test]
fn texts_without_hits_give_the_header() {
    let dir = Dir::new();
    dir.write("none.fa", "");
    dir.write("empty.fa", ">a\n>b\n\n");
    dir.write("short.fa", ">a\nACG\n>b\nA\n");
    for name in ["none.fa", "empty.fa", "short.fa"] {
        let ran = dir.run(&format!("search -p ACGTACGTA -e 2 {name}"));
        assert_eq!(ran.ok(), HEADER, "{name}");
        dir.run(&format!("search -q -p ACGTACGTA -e 2 {name} -o o.sam")).ok();
        let sam = String::from_utf8(dir.read("o.sam")).unwrap();
        assert!(sam.lines().all(|line| line.starts_with('@')), "{sam}");
    }
    // A text shorter than the pattern may have a hit.
    let hits = dir.run("search -q -p ACGT -e 1 short.fa --strand forward").ok();
    assert_eq!(hits.lines().nth(1), Some("a\t0\t3\tACGT\t1\t+\t3=1I\tACG"));
}

#[test]
fn patterns_of_128_letters_are_found() {
    let dir = Dir::new();
    let mut random = Random(3);
    let letters = random.bases(128);
    let mut changed = letters.clone();
    for at in (5..125).step_by(20) {
        changed[at] = if changed[at] == b'A' { b'C' } else { b'A' };
    }
    let text = [random.bases(500), changed, random.bases(300)].concat();
    dir.write("t.fa", format!(">a\n{}\n", String::from_utf8(text).unwrap()));
    dir.write("p", String::from_utf8(letters).unwrap());
    let hits = dir.run("search -q --patterns p -e 6 t.fa --format bed").ok();
    let fields: Vec<&str> = hits.trim_end().split('\t').collect();
    assert_eq!([fields[1], fields[2], fields[4], fields[5]], ["500", "628", "6", "+"]);
    assert_eq!(dir.run("search -q --patterns p -e 5 t.fa --format bed").ok(), "");
    // As many edits as letters match everywhere, one fewer does not; with very many hits, nothing goes wrong.
    let error = dir.run("search --patterns p -e 128 t.fa").fails(1);
    assert!(error.contains("match everywhere: give fewer edits (-e)"), "{error}");
    dir.run("search -q --patterns p -e 127 t.fa").ok();
    dir.run("search -q -p ACGT -e 3 --all-ends t.fa").ok();
}

#[test]
fn damaged_texts_leave_no_output() {
    let dir = Dir::new();
    let mut random = Random(5);
    let fasta: String = (0..500)
        .map(|number| format!(">s{number}\n{}\n", String::from_utf8(random.bases(300)).unwrap()))
        .collect();
    let packed = gzip(fasta.as_bytes());
    dir.write("cut.fa.gz", &packed[..packed.len() / 2]);
    dir.write("binary.fa", b">a\nACGT\x00\x01ACGT\n");
    dir.write("cut.fq", "@a\nACGT\n+\nIIII\n@b\nACGT\n+\nII");
    for name in ["cut.fa.gz", "binary.fa", "cut.fq"] {
        for output in ["o.tsv", "o.bam"] {
            let run = format!("search -q -p ACGTNACG -e 1 {name} -o {output} --counts c.tsv");
            let error = dir.run(&run).fails(1);
            assert!(error.starts_with(&format!("error: {name}: ")), "{error}");
            assert!(!dir.names().iter().any(|name| name == output || name == "c.tsv"), "{output}");
        }
    }
}

#[test]
fn outputs_never_replace_inputs() {
    let dir = Dir::new();
    let text = ">a\nACGTACGTGATTACA\n";
    dir.write("t.fa", text);
    dir.write("p.tsv", "GATTACA\n");
    for (args, file) in [
        ("-o t.fa --format tsv", "t.fa"),
        ("-o p.tsv", "p.tsv"),
        ("-o o.tsv --counts p.tsv", "p.tsv"),
        ("-o o.tsv --json t.fa", "t.fa"),
    ] {
        let error = dir.run(&format!("search --patterns p.tsv -e 1 t.fa {args}")).fails(1);
        assert!(error.starts_with(&format!("error: {file}: is an input")), "{error}");
    }
    let error = dir.run("search -p ACGT -e 0 t.fa -o o.tsv --counts o.tsv").fails(1);
    assert!(error.contains("two outputs cannot go to the same file"), "{error}");
    let error = dir.run("search -p ACGT -e 0 t.fa --counts -").fails(2);
    assert!(error.contains("-o and --counts both write to stdout"), "{error}");
    assert_eq!((dir.read("t.fa"), dir.names()), (text.into(), vec!["p.tsv".into(), "t.fa".into()]));
}

#[test]
fn full_disks_and_closed_pipes_end_the_run() {
    let dir = Dir::new();
    let mut random = Random(6);
    let text = String::from_utf8(random.bases(300_000)).unwrap();
    dir.write("t.fa", format!(">a\n{text}\n"));
    for name in ["/dev/full", "full.bam"] {
        if name == "full.bam" {
            std::os::unix::fs::symlink("/dev/full", dir.path(name)).unwrap();
        }
        let error = dir.run(&format!("search -p ACGTA -e 1 t.fa -o {name}")).fails(1);
        assert!(error.contains("no space left on device"), "{error}");
    }
    let mut running = program()
        .args("search -q -p ACGTA -e 1 t.fa".split(' '))
        .current_dir(dir.root())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(running.stdout.take());
    let ended = running.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), &ended.stderr[..]), (Some(0), &b""[..]));
    // A pipe gives what the file gives.
    let piped = shell(dir.root(), &format!("cat t.fa | {MERGANSER} search -q -p ACGTA -e 1 -"));
    assert_eq!(piped, dir.run("search -q -p ACGTA -e 1 t.fa").stdout);
}

#[test]
fn threads_and_repeated_files_change_nothing() {
    let dir = Dir::new();
    let mut random = Random(7);
    let unit = random.bases(11);
    // One sequence is longer than a stretch of 480 KiB, with repeats over its border.
    let long = [random.bases(470_000), unit.repeat(4_000), random.bases(600_000)].concat();
    let text = |letters: Vec<u8>| String::from_utf8(letters).unwrap();
    let short: String =
        (0..300).map(|at| format!(">s{at}\n{}\n", text(random.bases(at)))).collect();
    dir.write("t.fa", format!(">long\n{}\n{short}", text(long)));
    dir.write("p", format!("repeat\t{}\nACGTNACGTRAC\n", text(unit)));
    for output in ["o.tsv", "o.bed", "o.sam", "o.bam"] {
        let run = |threads: usize| {
            dir.run(&format!("search -q --patterns p -e 2 t.fa -o {output} --threads {threads}"))
                .ok();
            dir.read(output)
        };
        let one = run(1);
        assert!(one.len() > 10_000);
        assert!(one == run(3), "{output}");
        assert!(one == run(8), "{output}");
    }
    let once = dir.run("search -q --patterns p -e 2 t.fa --format bed").ok();
    let ran = dir.run("search --patterns p -e 2 t.fa t.fa --format bed");
    assert_eq!(ran.warnings().len(), 1, "{}", ran.stderr);
    assert_eq!(ran.ok(), once.repeat(2));
    let error = dir.run("search --patterns p -e 2 t.fa --memory 20M").fails(1);
    assert!(error.contains("--memory"), "{error}");
    dir.run("search -q --patterns p -e 2 t.fa --memory 100M -t 1 -o m.tsv").ok();
    assert_eq!(fs::read(dir.path("m.tsv")).unwrap(), dir.read("o.tsv"));
}

#[test]
fn hits_keep_to_the_memory() {
    let dir = Dir::new();
    dir.write("t.fa", format!(">a\n{}\n", "A".repeat(400_000)));
    let patterns: Vec<String> =
        (0..200).map(|number| format!("p{number}\tAAAAAAAAAAAAAA\n")).collect();
    dir.write("p", patterns.concat());
    let error = dir.run("search --patterns p -e 2 t.fa --memory 120M -t 1 -o o.tsv").fails(1);
    assert!(error.contains("t.fa: record 1: the patterns match at more places of a batch than --memory gives room for"), "{error}");
    assert!(!dir.names().contains(&"o.tsv".to_owned()));
    // One pattern has room.
    let hits = dir.run("search -q -p AAAAAAAAAAAAAA -e 2 t.fa --memory 2G -t 1").ok();
    // Every third end without edits is a hit.
    assert_eq!(hits.lines().count(), 1 + (400_000 - 14) / 3 + 1);
}
