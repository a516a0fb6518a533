//! Limits of the process (`ulimit`): reaching one is an ordinary error.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use merganser_test_support::commands::{ROWS, Row};
use merganser_test_support::world::{self, Size};
use merganser_test_support::{Dir, MERGANSER, Ran, names};

/// Runs the program with limits; temporary files are in `tmp`.
pub(crate) fn limited(dir: &Dir, limits: &str, args: &str) -> Ran {
    let output = Command::new("sh")
        .args(["-c", &format!("{limits} && exec \"$0\" \"$@\""), &MERGANSER])
        .args(args.split_whitespace())
        .current_dir(dir.root())
        .env("TMPDIR", dir.path("tmp"))
        .env("MERGANSER_DEVICE", "cpu")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Ran::new(&output, dir.root())
}

/// Returns command lines that write files of more than a few KB, all in `out`.
pub(crate) fn rows() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(|row| row.writes_kilobytes())
}

/// Returns a directory with inputs for these lines, and empty `out` and `tmp`.
pub(crate) fn prepared() -> Dir {
    world::prepared(Size { bases: 20_000, reads: 600 }, rows())
}

/// Asserts that a run left no files.
#[track_caller]
pub(crate) fn assert_only(dir: &Dir, before: &[String], what: &str) {
    assert_eq!(dir.names(), before, "{what}");
    for folder in ["out", "tmp"] {
        assert_eq!(names(&dir.path(folder)), [""; 0], "{what}");
    }
}

/// A file that would exceed the size limit is reported like a full disk.
#[test]
fn files_that_would_be_too_large() {
    let dir = prepared();
    let before = dir.names();
    for Row { line: args, .. } in rows() {
        // The limit is one block of 512 or 1024 bytes.
        let message = limited(&dir, "ulimit -f 1", &format!("{args} -q")).fails(1);
        assert!(
            message.ends_with("is allowed (ulimit -f)\n") || message.contains("--tmp-dir"),
            "{args}: {message}"
        );
        assert_only(&dir, &before, args);
    }
}

/// Removes the outputs of a successful run.
pub(crate) fn remove_outputs(dir: &Dir) {
    fs::remove_dir_all(dir.path("out")).unwrap();
    fs::create_dir(dir.path("out")).unwrap();
}

/// With any limit of the address space, a run either succeeds or fails with one line that says why and leaves no
/// files.
#[test]
fn little_address_space() {
    let dir = prepared();
    let before = dir.names();
    // The unoptimized program itself takes more than 50.
    for megabytes in [60, 70, 100, 180, 350, 800] {
        for Row { line: args, .. } in rows() {
            let limit = format!("ulimit -v {}", megabytes << 10);
            let ran = limited(&dir, &limit, &format!("{args} -q --threads 3"));
            let what = format!("{megabytes} MiB: {args}: {ran:?}");
            match ran.code {
                Some(0) => {
                    assert_eq!(ran.stderr, "", "{what}");
                    remove_outputs(&dir);
                }
                Some(1) => {
                    assert!(ran.stderr.starts_with("error: "), "{what}");
                    assert_eq!(ran.stderr.lines().count(), 1, "{what}");
                }
                _ => panic!("{what}"),
            }
            // The small jobs of this test fit into 800 MB.
            assert!(megabytes < 800 || ran.code == Some(0), "{what}");
            assert_only(&dir, &before, &what);
        }
    }
}

/// An allocation within `--memory` that fails is reported.
#[test]
fn an_allocation_that_fails() {
    let dir = prepared();
    dir.write("r.fa", merganser_test_support::reads::many(16));
    let before = dir.names();
    let args =
        "count -q -k 31 --min-count 1 --memory 4G --threads 2 --tmp-dir tmp/a -o out/o.mgk r.fa";
    let message = limited(&dir, "ulimit -v 110000", args).fails(1);
    // The allocation that fails may belong to a thread that is being started.
    let of_allocation = message.starts_with("error: out of memory: ")
        && message.contains("(ulimit -v) is 110000 KiB: lower --memory or --threads");
    let of_thread = message
        .starts_with("error: cannot start another thread: there is no memory left for it; lower");
    assert!(of_allocation || of_thread, "{message}");
    assert_only(&dir, &before, args);
    // The default budget is derived from the limit.
    limited(&dir, "ulimit -v 300000", "count -q -k 31 --min-count 1 --threads 2 -o out/o.mgk r.fa")
        .ok();
}

/// Threads that cannot start because there is no room for their stacks are reported.
#[test]
fn threads_that_cannot_start() {
    let dir = prepared();
    let before = dir.names();
    for args in [
        "kmers filter-reads t.mgk 1.fq -o out/o.fq",
        "classify refs.mgdb 1.fq -o out/o.tsv",
        "build --taxonomy tax -o out/o.mgdb g0.fa g1.fa",
    ] {
        let args = format!("{args} -q --threads 1000 --memory 100G");
        let message = limited(&dir, "ulimit -v 1000000", &args).fails(1);
        assert!(message.starts_with("error: cannot start another thread: "), "{args}: {message}");
        assert_only(&dir, &before, &args);
    }
    // Threads without work are not started.
    for args in ["kmers union t.mgk u.mgk -o out/o.mgk", "index g0.fa -o out/o.mgi"] {
        let args = format!("{args} -q --threads 1000 --memory 100G");
        limited(&dir, "ulimit -v 1000000", &args).ok();
    }
}

/// Threads that cannot start because of the user's limit of processes are reported. The limit does not apply to
/// root, so that the test runs the program as another user.
#[test]
fn a_user_with_few_processes() {
    let dir = prepared();
    for folder in ["", "out"] {
        fs::set_permissions(dir.path(folder), fs::Permissions::from_mode(0o777)).unwrap();
    }
    let unprivileged = "setpriv --reuid=65534 --regid=65534 --clear-groups bash -c";
    let run = |args: &str| {
        let limits = format!("exec {unprivileged} 'ulimit -u 2; exec \"$0\" \"$@\"' \"$0\" \"$@\"");
        limited(&dir, &limits, args)
    };
    if run("--help").code != Some(0) {
        eprintln!("skipped: cannot run the program as another user");
        return;
    }
    let before = dir.names();
    for args in ["count -k 21 -o out/o.mgk 1.fq", "map -e 5 ref.mgi 1.fq -o out/o.sam"] {
        let message = run(&format!("{args} -q --threads 4")).fails(1);
        let why = "error: cannot start another thread: resource temporarily unavailable; ";
        assert!(message.starts_with(why), "{args}: {message}");
        assert_only(&dir, &before, args);
    }
}

/// A run with few allowed open files either succeeds or fails with one line.
#[test]
fn few_open_files() {
    let dir = prepared();
    let before = dir.names();
    for files in [4, 5, 7] {
        for Row { line: args, .. } in rows() {
            let ran =
                limited(&dir, &format!("ulimit -n {files}"), &format!("{args} -q --threads 3"));
            let what = format!("{files} files: {args}: {ran:?}");
            match ran.code {
                Some(0) => remove_outputs(&dir),
                Some(1) => assert_eq!(ran.stderr.lines().count(), 1, "{what}"),
                _ => panic!("{what}"),
            }
            assert_only(&dir, &before, &what);
        }
    }
}
