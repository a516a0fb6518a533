//! Interrupting runs with Ctrl-C.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use merganser_test_support::signals::{signal, wait};
use merganser_test_support::{Dir, program};

fn start(dir: &Dir, args: &str) -> Child {
    program()
        .args(args.split_whitespace())
        .current_dir(dir.root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Counts an endless stream of reads, so that the run is working whenever the signal arrives.
fn endless(dir: &Dir, args: &str) -> Child {
    let mut child = start(dir, args);
    let mut stdin = child.stdin.take().unwrap();
    let reads = merganser_test_support::reads::many(2);
    std::thread::spawn(move || while stdin.write_all(&reads).is_ok() {});
    child
}

#[test]
fn an_interrupted_run_ends_soon_and_leaves_nothing() {
    for (signal_name, storage) in [("INT", "disk"), ("INT", "auto"), ("TERM", "disk")] {
        let dir = Dir::new();
        let args = format!(
            "count -k 31 -o out.mgk --histogram h --storage {storage} --tmp-dir tmp --memory 300M \
             --threads 2 -"
        );
        let child = endless(&dir, &args);
        std::thread::sleep(Duration::from_millis(600));
        signal(&child, signal_name);
        let ran = wait(&dir, child);
        assert_eq!(ran.fails(130), "error: interrupted\n");
        assert_eq!(dir.names(), [""; 0]);
    }
}

/// A run is interrupted while it waits for a silent pipe: stdin, or a named pipe without a writer.
#[test]
fn an_interrupted_run_ends_though_its_input_keeps_silent() {
    for input in ["-", "fifo"] {
        let dir = Dir::new();
        let made = Command::new("mkfifo").arg(dir.root().join("fifo")).status().unwrap();
        assert!(made.success());
        let mut child = start(&dir, &format!("count -k 31 --threads 2 -o out.mgk {input}"));
        let silent = child.stdin.take();
        signal(&child, "INT");
        let ran = wait(&dir, child);
        drop(silent);
        assert_eq!(ran.fails(130), "error: interrupted\n");
        assert_eq!(dir.names(), ["fifo"]);
    }
}

/// `map` is interrupted within a batch. A batch can take minutes if a repetitive reference is scanned completely with
/// many edits.
#[test]
fn map_is_interrupted_within_a_batch() {
    let dir = Dir::new();
    let mut random = merganser_test_support::reads::Random(3);
    let unit = random.bases(40);
    let mut contig = b"A".repeat(60_000);
    while contig.len() < 1_000_000 {
        contig.extend_from_slice(&unit);
        let at = contig.len() - 1 - random.below(40);
        contig[at] = b"ACGT"[random.below(4)];
    }
    let text = &contig;
    let read = move |at: usize, len: usize| String::from_utf8(text[at..at + len].to_vec()).unwrap();
    dir.write("ref.fa", format!(">a\n{}\n", String::from_utf8(contig.clone()).unwrap()));
    let reads =
        |len: usize| (0..2000).map(move |at| format!(">{at}\n{}\n", read(59_900 + 37 * at, len)));
    dir.write("reads.fa", reads(600).collect::<String>());
    dir.write("short.fa", reads(100).collect::<String>());
    dir.write("2.fa", reads(590).collect::<String>());
    dir.run("index -q ref.fa -o ref.mgi").ok();
    let before = dir.names();
    for args in [
        "reads.fa -e 60",
        "reads.fa -e 60 --filter gatekeeper",
        "reads.fa -e 60 -2 2.fa --max-insert 100000",
        "reads.fa -e 12",
        "short.fa -e 15",
        "short.fa -e 60",
        "short.fa -e 60 --hamming",
    ] {
        let mut child = start(&dir, &format!("map -q ref.mgi --threads 2 -o out.sam {args}"));
        drop(child.stdin.take());
        std::thread::sleep(Duration::from_millis(1500));
        assert!(child.try_wait().unwrap().is_none(), "{args} has ended already");
        signal(&child, "INT");
        let sent = std::time::Instant::now();
        assert_eq!(wait(&dir, child).fails(130), "error: interrupted\n", "{args}");
        // The run needs at most 0.2 s to stop; the limit allows for a busy machine.
        assert!(sent.elapsed() < Duration::from_secs(3), "{args}: {:?}", sent.elapsed());
        assert_eq!(dir.names(), before, "{args}");
    }
}

/// Every command whose input may be a pipe can be interrupted while it waits for it.
#[test]
fn whatever_waits_for_a_pipe_can_be_interrupted() {
    let dir = merganser_test_support::two_species::prepared();
    dir.run("count -q -k 21 -o t.mgk 1.fq").ok();
    let made = Command::new("mkfifo").arg(dir.root().join("fifo")).status().unwrap();
    assert!(made.success());
    let before = dir.names();
    let commands = [
        "classify refs.mgdb fifo -o o",
        "build --taxonomy tax fifo -o o",
        "db add refs.mgdb --taxonomy tax fifo -o o",
        "index fifo -o o",
        "map -e 5 fifo 1.fq -o o",
        "kmers info fifo",
        "kmers union fifo t.mgk -o o",
        "kmers filter-reads t.mgk fifo -o o",
    ];
    let children = commands.map(|args| (args, start(&dir, args)));
    for (args, child) in children {
        signal(&child, "INT");
        assert_eq!(wait(&dir, child).fails(130), "error: interrupted\n", "{args}");
    }
    assert_eq!(dir.names(), before);
}

/// A run has at most `--threads` threads, apart from threads that only wait.
#[test]
fn no_more_threads_than_asked_for() {
    for threads in [1, 2] {
        let dir = Dir::new();
        let child = endless(
            &dir,
            &format!("count -k 31 --format none --threads {threads} --memory 300M -"),
        );
        std::thread::sleep(Duration::from_millis(400));
        let tasks = std::fs::read_dir(format!("/proc/{}/task", child.id()));
        let running = tasks.map_or(0, Iterator::count);
        signal(&child, "INT");
        wait(&dir, child);
        // One more thread waits for signals.
        assert!(running <= threads + 1, "{running} threads instead of {threads}");
    }
}
