//! Runs that continue an earlier one.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::{CORONA, HEPATITIS, LAMBDA, downloads, known, rows, statuses, summary};
use merganser_test_support::Dir;
use merganser_test_support::reads::Random;
use merganser_test_support::signals::{signal, wait};
use merganser_test_support::tools::shell;

#[test]
fn a_second_run_reads_what_is_new() {
    let dir = downloads();
    let run = |options: &str| dir.run(&format!("db prepare refseq -o library.tsv {options}"));
    let first = run("");
    assert_eq!(known(&first.stderr), 0, "{}", first.stderr);
    let before = dir.read("library.tsv");
    assert_eq!(known(&run("").stderr), 3);
    assert_eq!(known(&run("--verify").stderr), 0);
    assert!(dir.read("library.tsv") == before);
    shell(dir.root(), &format!("touch -d 2020-01-01 {CORONA}"));
    let refused = dir.run("build --taxonomy tax -o x.mgdb library.tsv").fails(1);
    let place = format!("library.tsv: line 4: {CORONA}: it was changed since it was checked");
    assert!(refused.contains(&place) && refused.contains("run merganser db prepare"), "{refused}");
    assert_eq!(known(&run("").stderr), 2);
    dir.run("build --taxonomy tax -q -o x.mgdb library.tsv").ok();
    // A new list of taxids is applied to known genomes.
    let list = summary().replace("2697049", "694009");
    dir.write("new.txt", list);
    let ran = run("--assembly-summary new.txt");
    assert_eq!(known(&ran.stderr), 3);
    assert_eq!(rows(&dir, "library.tsv")[CORONA]["taxon"], "694009");
    // A newly listed checksum is compared with the recorded one.
    let sums = format!("{}  GCF_009858895.2_ASM985889v3_genomic.fna.gz\n", "0".repeat(32));
    dir.write("sums", sums);
    let found = run("--md5 sums");
    assert_eq!(
        (found.code, known(&found.stderr)),
        (Some(0), 3),
        "found by its path: no other counts"
    );
    fs::remove_file(dir.path(CORONA).with_file_name("MD5SUMS")).unwrap();
    let wrong = run("--md5 sums -q").fails(1);
    assert!(
        wrong.contains("1 genomes are damaged, first refseq/viral/GCF_009858895.2/"),
        "{wrong}"
    );
    assert!(
        wrong.contains(&format!("but {} is listed for it; library.tsv", "0".repeat(32))),
        "{wrong}"
    );
}

/// `--verify` finds changes that size and time do not show.
#[test]
fn bytes_that_changed_by_themselves() {
    let dir = downloads();
    shell(dir.root(), "rm refseq/md5sum.txt; mkdir keep");
    let run = |options: &str| dir.run(&format!("db prepare refseq -q -o library.tsv {options}"));
    run("").ok();
    let rot = format!(
        "cp -p {HEPATITIS} keep/h && cp -p {LAMBDA} keep/l \
         && sed -i 's/ACGT/ACGA/' {HEPATITIS} && touch -r keep/h {HEPATITIS} \
         && dd if=keep/l bs=1 skip=5000 count=4 2> /dev/null | tr '\\000-\\377' '\\001-\\377\\000' \
         | dd of={LAMBDA} bs=1 seek=5000 conv=notrunc 2> /dev/null && touch -r keep/l {LAMBDA}"
    );
    shell(dir.root(), &rot);
    run("").ok();
    for options in ["--verify", "", "--verify"] {
        run(options).fails(1);
        let statuses = statuses(&dir, "library.tsv");
        let status = &statuses.iter().find(|(name, _)| name.contains("000860505")).unwrap().1;
        assert!(
            status.starts_with("damaged: its MD5 is ") && status.contains(", and was "),
            "{status}"
        );
        let damaged = statuses.iter().filter(|(_, status)| status.starts_with("damaged: "));
        assert_eq!(damaged.count(), 2, "{statuses:?}");
    }
    shell(dir.root(), &format!("cp -p keep/h {HEPATITIS} && cp -p keep/l {LAMBDA}"));
    run("").ok();
}

/// Returns a directory with sixty copies of a genome under different names, whose reading takes a while.
fn many() -> Dir {
    let dir = Dir::new();
    fs::create_dir(dir.path("d")).unwrap();
    let genome = String::from_utf8(Random(3).bases(6_000_000)).unwrap();
    dir.write("one.fna", format!(">x\n{genome}\n"));
    shell(dir.root(), "gzip -1 one.fna");
    let mut list = "#assembly_accession\ttaxid\n".to_owned();
    for number in 100..160 {
        let accession = format!("GCF_000000{number}.1");
        let name = format!("d/{accession}_genomic.fna.gz");
        fs::hard_link(dir.path("one.fna.gz"), dir.path(&name)).unwrap();
        list += &format!("{accession}\t562\n");
    }
    dir.write("d/assembly_summary.txt", list);
    dir
}

/// Stops a run when its journal has some lines; returns whether the run was still working.
fn stop(dir: &Dir, name: &str) -> bool {
    let mut child = dir.start("db prepare d -t 1 -o library.tsv", Stdio::null());
    let lines = || fs::read(dir.path("library.tsv.part")).unwrap_or_default();
    let count = || lines().iter().filter(|&&byte| byte == b'\n').count();
    let begun = Instant::now();
    let before = count();
    while count() < before + 5 && begun.elapsed() < Duration::from_secs(60) {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    if name == "KILL" {
        child.kill().unwrap();
        child.wait().unwrap();
    } else {
        signal(&child, name);
        assert_eq!(wait(dir, child).fails(130), "error: interrupted\n");
    }
    true
}

#[test]
fn a_run_that_was_stopped_is_gone_on_with() {
    for name in ["KILL", "INT"] {
        let dir = many();
        let names = ["d", "library.tsv.part", "one.fna.gz"];
        assert!(stop(&dir, name), "{name}");
        assert_eq!(dir.names(), names, "{name}");
        // The last line may be truncated.
        let mut journal = dir.read("library.tsv.part");
        journal.extend_from_slice(b"d/GCF_000000159.1_genomic.fna.gz\tGCF_0000001");
        dir.write("library.tsv.part", journal);
        assert!(stop(&dir, name), "{name}");
        let ran = dir.run("db prepare d -o library.tsv");
        let known = known(&ran.stderr);
        // The first line of the journal is a header.
        assert!((8..60).contains(&known), "{}", ran.stderr);
        ran.ok();
        assert_eq!(dir.names(), ["d", "library.tsv", "one.fna.gz"], "{name}");
        dir.run("db prepare d -q -o whole.tsv").ok();
        assert!(dir.read("library.tsv") == dir.read("whole.tsv"));
    }
}
