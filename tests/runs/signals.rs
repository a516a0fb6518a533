//! Signals other than Ctrl-C, and ignored signals.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use merganser_test_support::reads::many;
use merganser_test_support::tools::installed;
use merganser_test_support::{Dir, MERGANSER};

/// A count with temporary files on disk during the whole run.
const COUNT: &str = "count -q -k 31 --min-count 1 -o out.mgk --storage disk --tmp-dir tmp --memory 300M --threads 2 -";

/// Starts the program after shell commands, with core dumps disabled.
fn start(dir: &Dir, commands: &str, args: &str) -> Child {
    let line = format!("ulimit -c 0; {commands}\nexec \"$0\" \"$@\"");
    Command::new("sh")
        .args(["-c", &line, &MERGANSER])
        .args(args.split_whitespace())
        .current_dir(dir.root())
        .env("MERGANSER_DEVICE", "cpu")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Sends a signal by name or number.
fn send(child: &Child, signal: &str) {
    let sent =
        Command::new("bash").args(["-c", &format!("kill -{signal} {}", child.id())]).status();
    assert!(sent.unwrap().success(), "{signal}");
}

/// An endless stream of reads that ends when requested.
struct Feed {
    stop: Arc<AtomicBool>,
    feeding: JoinHandle<()>,
}

impl Feed {
    fn to(mut stdin: ChildStdin) -> Feed {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let feeding = thread::spawn(move || {
            let reads = many(1);
            while !stopped.load(Ordering::Relaxed) && stdin.write_all(&reads).is_ok() {}
        });
        Feed { stop, feeding }
    }

    /// Ends the stream.
    fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.feeding.join().unwrap();
    }
}

/// Starts a count in a new directory and waits until it is working.
fn counting(commands: &str) -> (Dir, Child, Feed) {
    let dir = Dir::new();
    let mut child = start(&dir, commands, COUNT);
    let feed = Feed::to(child.stdin.take().unwrap());
    for _ in 0..12_000 {
        if dir.path("tmp").exists() {
            break;
        }
        sleep(Duration::from_millis(5));
    }
    (dir, child, feed)
}

fn stderr_of(child: Child) -> (std::process::ExitStatus, String) {
    let output = child.wait_with_output().unwrap();
    (output.status, String::from_utf8(output.stderr).unwrap())
}

/// A run that a signal ends leaves no files, and its exit status names the signal.
#[test]
fn whatever_signal_ends_a_run_leaves_nothing() {
    for (signal, number, name) in [
        ("QUIT", 3, "SIGQUIT"),
        ("USR1", 10, "SIGUSR1"),
        ("USR2", 12, "SIGUSR2"),
        ("ALRM", 14, "SIGALRM"),
        ("STKFLT", 16, "signal 16"),
        ("XCPU", 24, "SIGXCPU"),
        ("VTALRM", 26, "SIGVTALRM"),
        ("PROF", 27, "SIGPROF"),
        ("IO", 29, "SIGIO"),
        ("PWR", 30, "signal 30"),
        ("34", 34, "signal 34"),
        ("64", 64, "signal 64"),
    ] {
        let (dir, child, feed) = counting("");
        send(&child, signal);
        let (status, said) = stderr_of(child);
        feed.end();
        assert_eq!(said, format!("error: interrupted by {name}\n"));
        assert_eq!(status.signal(), Some(number), "{signal}");
        assert_eq!(dir.names(), [""; 0], "{signal}");
    }
}

/// Signals without effect do not disturb a run.
#[test]
fn signals_that_end_nothing() {
    let (dir, child, feed) = counting("");
    for signal in ["CHLD", "WINCH", "URG", "CONT", "PIPE", "XFSZ", "STOP", "CONT"] {
        send(&child, signal);
        sleep(Duration::from_millis(20));
    }
    feed.end();
    let (status, said) = stderr_of(child);
    assert!(status.success(), "{status}: {said}");
    assert_eq!(dir.names(), ["out.mgk"]);
}

/// Ignored signals stay ignored: `nohup` ignores SIGHUP, and shells ignore SIGINT and SIGQUIT for background jobs of
/// scripts.
#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let signals = ["HUP", "INT", "QUIT", "TERM", "USR1", "XCPU", "XFSZ", "ABRT"];
    let (dir, mut child, feed) = counting("trap '' HUP INT QUIT TERM USR1 XCPU XFSZ ABRT");
    for signal in signals {
        send(&child, signal);
        sleep(Duration::from_millis(100));
        assert!(child.try_wait().unwrap().is_none(), "{signal}");
    }
    feed.end();
    let (status, said) = stderr_of(child);
    assert!(status.success() && said.is_empty(), "{status}: {said}");
    assert_eq!(dir.names(), ["out.mgk"]);
}

/// Signals that are not ignored still end the run.
#[test]
fn after_nohup_a_run_is_stopped_by_ctrl_c() {
    if !installed(&["nohup"]) {
        return;
    }
    let (dir, mut child, feed) = counting("set -- \"$0\" \"$@\"; exec nohup \"$@\"");
    for _ in 0..2 {
        send(&child, "HUP");
        sleep(Duration::from_millis(150));
        assert!(child.try_wait().unwrap().is_none());
    }
    send(&child, "INT");
    let (status, said) = stderr_of(child);
    feed.end();
    assert_eq!(status.code(), Some(130), "{said}");
    assert!(said.ends_with("error: interrupted\n"), "{said}");
    assert_eq!(dir.names(), [""; 0]);
}

/// Signals also end runs that wait for their input or for a reader of their output.
#[test]
fn runs_that_wait_are_ended_too() {
    let dir = merganser_test_support::two_species::prepared();
    dir.write("many.fq", dir.read("1.fq").repeat(40));
    let made = Command::new("mkfifo").arg(dir.path("fifo")).status().unwrap();
    assert!(made.success());
    let before = dir.names();
    for args in [
        COUNT,
        "count -k 21 fifo -o o.mgk",
        "classify refs.mgdb --interactive",
        "classify refs.mgdb many.fq --report r --classified-out c.fq",
    ] {
        let child = start(&dir, "", args);
        sleep(Duration::from_millis(600));
        send(&child, "USR1");
        let begun = Instant::now();
        while !std::fs::read_to_string(format!("/proc/{}/stat", child.id()))
            .unwrap()
            .contains(") Z")
        {
            assert!(begun.elapsed() < Duration::from_secs(6), "{args}");
            sleep(Duration::from_millis(10));
        }
        let (status, said) = stderr_of(child);
        assert_eq!(
            (status.signal(), said.as_str()),
            (Some(10), "error: interrupted by SIGUSR1\n"),
            "{args}"
        );
        assert_eq!(dir.names(), before, "{args}");
    }
}
