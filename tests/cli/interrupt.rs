//! Ctrl-C.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Dir, MERGANSER, Ran};

fn start(dir: &Dir, args: &str) -> Child {
    Command::new(MERGANSER)
        .args(args.split_whitespace())
        .current_dir(dir.root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Counts reads that never end, so that the run is at work whenever the signal comes.
fn endless(dir: &Dir, args: &str) -> Child {
    let mut child = start(dir, args);
    let mut stdin = child.stdin.take().unwrap();
    let reads = crate::support::reads::many(2);
    std::thread::spawn(move || while stdin.write_all(&reads).is_ok() {});
    child
}

fn signal(child: &Child, name: &str) {
    let sent =
        Command::new("sh").args(["-c", &format!("kill -{name} {}", child.id())]).status().unwrap();
    assert!(sent.success());
}

fn wait(dir: &Dir, child: Child) -> Ran {
    Ran::new(&child.wait_with_output().unwrap(), dir.root())
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
        let sent = Instant::now();
        signal(&child, signal_name);
        let ran = wait(&dir, child);
        assert_eq!(ran.fails(130), "error: interrupted\n");
        assert!(sent.elapsed() < Duration::from_secs(5));
        assert_eq!(dir.names(), [""; 0]);
    }
}

/// A pipe that keeps silent: on stdin, and a named one that nobody has opened for writing.
#[test]
fn an_interrupted_run_ends_though_its_input_keeps_silent() {
    for input in ["-", "fifo"] {
        let dir = Dir::new();
        let made = Command::new("mkfifo").arg(dir.root().join("fifo")).status().unwrap();
        assert!(made.success());
        let mut child = start(&dir, &format!("count -k 31 --threads 2 -o out.mgk {input}"));
        let silent = child.stdin.take();
        std::thread::sleep(Duration::from_millis(300));
        let sent = Instant::now();
        signal(&child, "INT");
        let ran = wait(&dir, child);
        drop(silent);
        assert_eq!(ran.fails(130), "error: interrupted\n");
        assert!(sent.elapsed() < Duration::from_secs(3));
        assert_eq!(dir.names(), ["fifo"]);
    }
}

/// B1 row 12: `--threads` is the number in all, apart from those that only wait.
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
        // One more waits for signals.
        assert!(running <= threads + 1, "{running} threads instead of {threads}");
    }
}
