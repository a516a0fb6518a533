//! Outputs whose names belong to other users or are write-protected, and temporary directories that runs share.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::process::Command;

use crate::streams::{bash, with_table};
use merganser_test_support::tools::by_chance;
use merganser_test_support::{Dir, MERGANSER, names};

const NOBODY: [&str; 3] = ["--reuid=65534", "--regid=65534", "--clear-groups"];

/// Whether the test can run the program as another user; prints a message if not.
fn is_root(dir: &Dir) -> bool {
    fs::set_permissions(dir.root(), Permissions::from_mode(0o777)).unwrap();
    let can = by_chance("setpriv")
        && Command::new("setpriv")
            .args(NOBODY)
            .args([&*MERGANSER, "--version"])
            .current_dir(dir.root())
            .output()
            .is_ok_and(|output| output.status.success());
    if !can {
        eprintln!("skipped: cannot run the program as another user");
    }
    can
}

/// Runs the program as a user without privileges.
fn as_nobody(dir: &Dir, args: &str) -> (Option<i32>, String) {
    let line = format!("exec setpriv {} \"$M\" {args}", NOBODY.join(" "));
    bash(dir, &line)
}

#[test]
fn in_a_sticky_folder_nothing_stays_of_a_refusal() {
    let dir = with_table();
    if !is_root(&dir) {
        return;
    }
    fs::create_dir(dir.path("sticky")).unwrap();
    fs::set_permissions(dir.path("sticky"), Permissions::from_mode(0o1777)).unwrap();
    dir.write("sticky/o.tsv", "theirs");
    fs::set_permissions(dir.path("sticky/o.tsv"), Permissions::from_mode(0o666)).unwrap();
    let (code, message) = as_nobody(&dir, "kmers dump -q t.mgk -o sticky/o.tsv");
    assert_eq!(code, Some(1), "{message}");
    assert!(
        message.contains("belongs to another user, and its folder has the sticky bit"),
        "{message}"
    );
    // Another user creates the file after the run has begun.
    let run = r#"exec "$M" count -q -k 5 <(sleep 2; cat r.fa) --format tsv -o sticky/late.tsv"#;
    let line = format!(
        "setpriv {} bash -c '{run}' & sleep 1; echo theirs >sticky/late.tsv; \
         chmod 666 sticky/late.tsv; wait $!",
        NOBODY.join(" ")
    );
    let (code, message) = bash(&dir, &line);
    assert_eq!(code, Some(1), "{message}");
    assert_eq!(message, "error: sticky/late.tsv: cannot write: operation not permitted\n");
    assert_eq!(names(&dir.path("sticky")), ["late.tsv", "o.tsv"]);
    assert_eq!(dir.read("sticky/o.tsv"), b"theirs");
    assert_eq!(dir.read("sticky/late.tsv"), b"theirs\n");
}

#[test]
fn what_root_replaces_stays_its_owners() {
    let dir = with_table();
    let file = dir.write("o.tsv", "old");
    if chown(&file, Some(1234), Some(2345)).is_err() {
        eprintln!("skipped: this user may not change the owner of files");
        return;
    }
    fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
    dir.run("kmers dump -q t.mgk -o o.tsv").ok();
    let at = fs::metadata(&file).unwrap();
    assert_eq!((at.uid(), at.gid(), at.mode() & 0o7777), (1234, 2345, 0o640));
    assert_ne!(dir.read("o.tsv"), b"old");
}

#[test]
fn write_protected_files_are_not_replaced() {
    let dir = with_table();
    let file = dir.write("o.tsv", "old");
    fs::set_permissions(&file, Permissions::from_mode(0o444)).unwrap();
    if is_root(&dir) {
        // The program does what the system allows: root may write all files.
        dir.run("kmers dump -q t.mgk -o o.tsv").ok();
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o7777, 0o444);
        chown(&file, Some(65534), Some(65534)).unwrap();
    }
    dir.write("o.tsv.before", dir.read("o.tsv"));
    for option in ["-o", "--format fasta -o"] {
        let (code, message) = match by_chance("setpriv") && is_root(&dir) {
            true => as_nobody(&dir, &format!("kmers dump -q t.mgk {option} o.tsv")),
            false => bash(&dir, &format!("$M kmers dump -q t.mgk {option} o.tsv")),
        };
        assert_eq!(code, Some(1), "{message}");
        let reason = "the existing file is write-protected: make it writable (chmod u+w), remove it, or choose \
                      another name";
        assert_eq!(message, format!("error: o.tsv: cannot create this output file: {reason}\n"));
        assert_eq!(dir.read("o.tsv"), dir.read("o.tsv.before"));
    }
}

/// The last of several runs that share a missing temporary directory removes it.
#[test]
fn a_missing_tmp_dir_is_gone_after_the_last_run() {
    let dir = Dir::new();
    let genome = "ACGTTGCATTAGCCATGACTAGGACTTACGGACATTAGAC".repeat(5);
    dir.write("r.fa", format!(">r\n{genome}\n"));
    dir.write("g.fa", format!(">g\n{genome}\n"));
    for round in 0..8 {
        let run = "$M kmers qv -q -k 21 --no-plots -o q$n r.fa g.fa --tmp-dir tmp/a";
        let pause = f64::from(round) / 100.0;
        let line = format!("for n in 1 2 3; do {run} & sleep {pause}; done; wait");
        assert_eq!(bash(&dir, &line), (Some(0), String::new()));
        assert!(!dir.path("tmp").exists(), "{:?}", names(&dir.path("tmp")));
    }
}
