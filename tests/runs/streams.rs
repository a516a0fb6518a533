//! Outputs to streams that are already open, and closed streams.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::Command;

use merganser_test_support::tools::shell;
use merganser_test_support::{Dir, MERGANSER};

/// Runs a line of bash in which `$M` is the program; returns its exit code and stderr.
pub(crate) fn bash(dir: &Dir, line: &str) -> (Option<i32>, String) {
    let output = Command::new("bash")
        .args(["-c", line])
        .env("M", MERGANSER)
        .current_dir(dir.root())
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

pub(crate) fn with_table() -> Dir {
    let dir = Dir::new();
    dir.write("r.fa", ">r\nACGTACGTACGTTTGCATCAG\n");
    dir.run("count -q -k 5 --min-count 1 -o t.mgk r.fa").ok();
    dir
}

/// An output that is an open stream is written at the stream's position, and later writers continue behind it.
#[test]
fn open_streams_are_written_through() {
    let dir = with_table();
    let text = dir.run("kmers dump t.mgk").ok();
    symlink("/dev/stdout", dir.path("link")).unwrap();
    symlink("/proc/self/fd", dir.path("descriptors")).unwrap();
    let kept = format!("KEEP\n{text}END\n");
    for output in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1"] {
        written_through(&dir, &format!("-o {output} >>o.txt"), &kept);
    }
    for output in ["-o link >>o.txt", "-o descriptors/1 >>o.txt", "-o /dev/fd/3 3>>o.txt"] {
        written_through(&dir, output, &kept);
    }
    written_through(&dir, "-o /dev/stderr 2>>o.txt", &kept);
    written_through(&dir, "-o /dev/fd/5 5<>o.txt", &(text.clone() + "END\n"));
    // Several commands share one stream.
    let line = "{ echo A; $M kmers dump -q t.mgk -o /dev/stdout; echo B; } >o.txt";
    assert_eq!(bash(&dir, line), (Some(0), String::new()));
    assert_eq!(dir.read("o.txt"), format!("A\n{text}B\n").as_bytes());
    // Names with a compression suffix.
    symlink("/dev/stdout", dir.path("link.gz")).unwrap();
    let line = "$M kmers dump -q t.mgk -o link.gz >o.gz";
    assert_eq!(bash(&dir, line), (Some(0), String::new()));
    assert!(merganser_test_support::gunzip(&dir.path("o.gz")) == text.as_bytes());
}

#[track_caller]
fn written_through(dir: &Dir, output: &str, expected: &str) {
    let file = dir.write("o.txt", "KEEP\n");
    let before = fs::metadata(&file).unwrap().ino();
    let line = format!("$M kmers dump -q t.mgk {output}");
    assert_eq!(bash(dir, &line), (Some(0), String::new()), "{line}");
    shell(dir.root(), "echo END >>o.txt");
    assert_eq!(String::from_utf8(dir.read("o.txt")).unwrap(), expected, "{line}");
    assert_eq!(fs::metadata(&file).unwrap().ino(), before, "{line}");
}

/// Every output option accepts a stream, even if all outputs share one log.
#[test]
fn reports_and_summaries_go_to_streams() {
    let dir = merganser_test_support::two_species::prepared();
    for option in ["--report", "--mpa", "--krona", "--abundance", "--json", "-o", "--hits-per-ref"]
    {
        dir.write("log", "KEEP\n");
        let rest = if option == "-o" { "" } else { "--no-map" };
        let line = format!("$M classify -q refs.mgdb 1.fq {rest} {option} /dev/fd/3 3>>log");
        assert_eq!(bash(&dir, &line), (Some(0), String::new()));
        let log = dir.read("log");
        assert!(log.starts_with(b"KEEP\n") && log.len() > 20, "{line}");
    }
    dir.run("index -q g0.fa -o ref.mgi").ok();
    for line in [
        "$M map -q -e 3 ref.mgi 1.fq -o /dev/stdout >>log",
        "$M map -q -e 3 ref.mgi 1.fq --sort -o /dev/stdout >>log",
        "$M count -q -k 21 1.fq --format none --histogram /dev/stdout >>log",
        "$M kmers filter-reads -q <(printf 'ACGTA\\t1\\n') 1.fq -o /dev/stdout >>log",
    ] {
        dir.write("log", "KEEP\n");
        assert_eq!(bash(&dir, line), (Some(0), String::new()), "{line}");
        let log = dir.read("log");
        assert!(log.starts_with(b"KEEP\n") && log.len() > 20, "{line}");
    }
    assert!(!Path::new("/dev/stdout.bai").exists() && !Path::new("/dev/stdout.csi").exists());
}

/// Unwritable streams are refused before any work: the reads come from a pipe without a writer.
#[test]
fn streams_that_cannot_be_written_are_refused() {
    let dir = with_table();
    shell(dir.root(), "mkfifo pipe");
    let alone = "error: /dev/fd/9: cannot write: descriptor 9 is not open\n";
    let reading = "error: /dev/fd/9: cannot write: descriptor 9 is not open for writing\n";
    let count = "$M count -q -k 5 pipe --format tsv -o";
    for (line, message) in [
        (format!("{count} /dev/fd/9 9>&-"), alone),
        (format!("{count} x.tsv --json /dev/fd/9 9>&-"), alone),
        (format!("{count} /dev/fd/9 9<r.fa"), reading),
        (
            format!("{count} - 1<r.fa"),
            "error: stdout: cannot write: stdout is not open for writing\n",
        ),
        (format!("{count} - >&-"), "error: stdout: cannot write: stdout is closed\n"),
        (
            format!("{count} /dev/stdout >&-"),
            "error: /dev/stdout: cannot write: stdout is closed\n",
        ),
        (
            format!("{count} /dev/stderr 3>&2 2>&-"),
            // With stderr closed, the message is lost.
            "",
        ),
    ] {
        assert_eq!(bash(&dir, &line), (Some(1), message.to_owned()), "{line}");
    }
    assert_eq!(dir.names(), ["pipe", "r.fa", "t.mgk"]);
}

/// Descriptors that the program itself opened are not accepted as outputs.
#[test]
fn no_descriptor_of_the_program_itself_is_written() {
    let dir = with_table();
    for number in 3..20 {
        let name = format!("/dev/fd/{number}");
        let line = format!("$M kmers dump -q t.mgk -o {name} {number}>&-");
        let (code, message) = bash(&dir, &line);
        let says = |what: &str| message == format!("error: {name}: {what}\n");
        let is_input = says("is an input, and will not be replaced by an output");
        let is_closed = says(&format!("cannot write: descriptor {number} is not open"));
        assert!(code == Some(1) && (is_closed || is_input), "{message}");
    }
}

/// Formats whose header is written last, and outputs that are read again, cannot be streams.
#[test]
fn what_needs_a_file_goes_to_no_stream() {
    let dir = with_table();
    dir.write("g.fa", format!(">g\n{}\n", "ACGTTGCATTAGC".repeat(20)));
    let what = "error: /dev/stdout: cannot create this output file: a pipe, a device or an open stream cannot";
    let header = format!("{what} hold a format whose header is written last: name a file\n");
    let again = format!("{what} be read again: name a file\n");
    for (command, message) in [
        ("count -k 5 r.fa", &header),
        ("count -k 5 --format kff r.fa", &header),
        ("kmers convert --format kff t.mgk", &header),
        ("kmers matrix --format dense t.mgk r.mgk", &header),
        ("index g.fa", &again),
    ] {
        fs::copy(dir.path("t.mgk"), dir.path("r.mgk")).unwrap();
        for to in [">>log", "| cat >>log"] {
            dir.write("log", "KEEP\n");
            let line = format!("set -o pipefail; $M {command} -q -o /dev/stdout {to}");
            assert_eq!(bash(&dir, &line), (Some(1), message.clone()));
            assert_eq!(dir.read("log"), b"KEEP\n");
        }
    }
}

/// For closed streams, the standard library opens /dev/null instead; the program does not use it as a stream.
#[test]
fn closed_streams_are_no_devices() {
    let dir = merganser_test_support::two_species::prepared();
    dir.run("count -q -k 21 --min-count 1 -o t.mgk 1.fq").ok();
    let stdin = "error: stdin: cannot open: stdin is closed\n";
    let stdout = "error: stdout: cannot write: stdout is closed\n";
    for (line, message) in [
        ("kmers dump t.mgk >&-", stdout),
        ("kmers info t.mgk >&-", stdout),
        ("db info refs.mgdb >&-", stdout),
        ("devices >&-", stdout),
        ("--help >&-", stdout),
        ("--version >&-", stdout),
        ("count -k 21 -o o.mgk - <&-", stdin),
        ("classify refs.mgdb - <&-", stdin),
        ("classify refs.mgdb --interactive <&-", stdin),
        ("kmers dump - <&-", stdin),
        ("kmers query t.mgk --file - <&-", stdin),
        ("kmers histogram --model -k 21 - <&-", stdin),
        ("extract reads --taxid 11 --lines - 1.fq -o o.fq <&-", stdin),
        ("report merge - <&-", stdin),
        (
            "count -k 21 -o o.mgk /dev/stdin <&-",
            "error: /dev/stdin: cannot open: stdin is closed\n",
        ),
        (
            "classify refs.mgdb --sample-sheet /dev/stdin -o o{}.tsv <&-",
            "error: /dev/stdin: stdin is closed\n",
        ),
    ] {
        let (before, command) = (dir.names(), line.split_once(' ').unwrap());
        let quiet = if command.0.starts_with('-') || command.0 == "devices" { "" } else { "-q" };
        let line = format!("$M {line} {quiet}");
        assert_eq!(bash(&dir, &line), (Some(1), message.to_owned()), "{line}");
        assert_eq!(dir.names(), before, "{line}");
    }
    // These commands do not use the closed streams; daemons open /dev/null for reading and writing.
    for line in [
        "$M kmers dump -q t.mgk -o o.tsv <&- >&- 2>&-",
        "$M kmers dump -q t.mgk 1<>/dev/null",
        "$M count -q -k 21 -o o.mgk r.fa - 0<>/dev/null",
    ] {
        dir.write("r.fa", ">r\nACGTACGTACGTTTGCATCAGGATTACA\n");
        assert_eq!(bash(&dir, line), (Some(0), String::new()), "{line}");
    }
}

/// With stderr closed, messages are lost and never written to an output.
#[test]
fn a_closed_stderr_spoils_no_output() {
    let dir = with_table();
    let text = dir.run("kmers dump t.mgk").ok();
    for streams in ["2>&-", "<&- 2>&-", "<&- >&- 2>&-"] {
        let line = format!("$M kmers dump t.mgk -o o.tsv {streams}");
        assert_eq!(bash(&dir, &line).0, Some(0));
        assert_eq!(dir.read("o.tsv"), text.as_bytes());
    }
}
