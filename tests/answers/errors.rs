//! Invalid inputs: one line that says what is wrong and where, exit code 1, no outputs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use merganser_test_support::commands::ROWS;
use merganser_test_support::forms::gzip;
use merganser_test_support::reads::{fastq, untidy};
use merganser_test_support::world::{self, SMALL};
use merganser_test_support::{Dir, MERGANSER};

#[test]
fn bad_inputs() {
    let good = gzip(&fastq(&untidy(500, 1), "\n"));
    let mut wrong_sum = good.clone();
    let at = wrong_sum.len() - 6;
    wrong_sum[at] ^= 0x55;
    let twice = gzip(&gzip(b"@1\nACGT\n+\nIIII\n"));
    let cases: [(&str, &[u8]); 13] = [
        ("truncated.fq.gz", &good[..good.len() / 2]),
        ("truncated_in_trailer.fq.gz", &good[..good.len() - 3]),
        ("wrong_checksum.fq.gz", &wrong_sum),
        ("lengths.fq", b"@1\nACGT\n+\nIIII\n@2\nACGTA\n+\nIIII\n"),
        ("no_plus.fq", b"@1\nACGT\nACGT\nIIII\n"),
        ("no_at.fq", b"@1\nACGT\n+\nIIII\nread2\nACGT\n+\nIIII\n"),
        ("wrapped.fq", b"@1\nACGT\nACGT\n+\nIIII\nIIII\n"),
        ("ends_early.fq", b"@1\nACGT\n+\nIIII\n@2\nACGT\n"),
        ("binary.bin", b"\x7fELF\x02\x01\x01\0\0\0\0"),
        ("binary_within.fa", b">1\nACGT\nAC\x01\x02GT\n"),
        ("twice.fq.gz", &twice),
        ("text.txt", b"Dear reader,\nthese are no reads.\n"),
        ("old_mac.fa", b">1\rACGT\rACGT\r"),
    ];
    let mut text = String::new();
    for (name, bytes) in cases {
        let dir = Dir::new();
        dir.write(name, bytes);
        for threads in [1, 3] {
            let args = format!("count -k 3 -o out.mgk --histogram h --threads {threads} {name}");
            let message = dir.run(&args).fails(1);
            assert_eq!(dir.names(), [name]);
            if threads == 1 {
                text += &message;
            } else {
                assert!(text.ends_with(&message), "{message}");
            }
        }
    }
    insta::assert_snapshot!(text);
}

/// A missing input is reported before any work starts: the input before it is a pipe without a writer.
#[test]
fn missing_inputs_are_found_at_once() {
    let dir = Dir::new();
    dir.write("list", "missing_too.fq\n");
    fs::create_dir(dir.path("folder")).unwrap();
    merganser_test_support::tools::shell(dir.root(), "mkfifo pipe");
    let mut text = String::new();
    for input in ["missing.fq", "@missing.txt", "@list", "folder", "- -"] {
        text += &dir.run(&format!("count -k 3 -o out.mgk pipe {input}")).fails(1);
    }
    assert_eq!(dir.names(), ["folder", "list", "pipe"]);
    insta::assert_snapshot!(text);
}

#[test]
fn outputs_that_cannot_be_written() {
    let dir = Dir::new();
    dir.write("r.fa", ">1\nACGTACGTA\n");
    fs::create_dir(dir.path("folder")).unwrap();
    let mut text = String::new();
    for options in [
        "-o missing/out.mgk",
        "-o folder",
        "-o missing/out --format kmc",
        "-o out.mgk --histogram missing/h",
        "-o out.mgk --json missing/j",
        "-o out.tsv --format tsv --histogram out.tsv",
        "-o r.fa --format tsv",
        "-o /dev/full --format tsv",
        "--format none --histogram /dev/full",
        "-o out.mgk --tmp-dir r.fa/tmp",
    ] {
        text += &dir.run(&format!("count -k 3 --min-count 1 {options} r.fa -q")).fails(1);
        assert_eq!(dir.names(), ["folder", "r.fa"], "{options}");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_directory_that_may_not_be_written() {
    let dir = Dir::new();
    dir.write("r.fa", ">1\nACGTACGTA\n");
    fs::create_dir(dir.path("locked")).unwrap();
    fs::set_permissions(dir.path("locked"), fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(dir.path("locked/probe"), "").is_ok() {
        eprintln!("skipped: this user may write to all directories");
        return;
    }
    let message = dir.run("count -k 3 -o locked/x.mgk r.fa").fails(1);
    assert_eq!(
        message,
        "error: locked/x.mgk: cannot create this output file: the directory locked is not writable\n"
    );
}

/// Too little memory is reported before any work, with the required amount.
#[test]
fn too_little_memory() {
    let dir = Dir::new();
    dir.write("r.fa", ">1\nACGTACGTA\n");
    let args = "count -k 31 -o x.mgk --memory 20M --threads 4 --bins 512 r.fa";
    let message = dir.run(args).fails(1);
    assert!(message.starts_with("error: 4 threads and 512 bins need at least "), "{message}");
    assert!(message.contains("--memory gives 20.0 MiB"), "{message}");
    assert_eq!(dir.names(), ["r.fa"]);
}

/// Commands that only print report a full stdout. (`index --verify` prints to stderr, so it is excluded.)
#[test]
fn a_stdout_that_is_full() {
    let rows = || ROWS.iter().filter(|row| row.prints_alone() && !row.line.starts_with("index"));
    let dir = world::prepared(SMALL, rows());
    for row in rows() {
        let line = format!("{MERGANSER} {} -q > /dev/full", row.line);
        let output =
            Command::new("sh").args(["-c", &line]).current_dir(dir.root()).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        let what = row.line;
        assert_eq!(
            message,
            "error: stdout: cannot write: no space left on device
",
            "{what}"
        );
        assert_eq!(output.status.code(), Some(1), "{what}");
    }
}
