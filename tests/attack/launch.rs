//! Starts the program and records how it ended.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::pulse::Pulse;
use crate::wait;
use merganser_test_support::MERGANSER;
use merganser_test_support::peak::peak as peak_of;

/// A command line to start. By default, stdin is empty and output goes to files.
pub(crate) struct Launch {
    pub(crate) args: Vec<OsString>,
    /// A program, with its arguments, that starts ours.
    pub(crate) wrapper: Vec<OsString>,
    pub(crate) stdin: Option<Stdio>,
    pub(crate) stdout: Option<Stdio>,
    pub(crate) stderr: Option<Stdio>,
    directory: PathBuf,
    /// The folder for the files of stdout and stderr.
    printed: PathBuf,
}

/// A running process.
pub(crate) struct Running {
    pub(crate) child: Child,
    begun: Instant,
    printed: PathBuf,
}

/// The end of a run.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: PathBuf,
    pub(crate) stderr: String,
    /// The peak resident size in bytes.
    pub(crate) peak: u64,
    pub(crate) took: Duration,
    /// The reason why the run was killed, if it hung.
    pub(crate) hung: Option<String>,
}

impl Launch {
    /// Returns a launch in `directory`, with stdout and stderr in `printed`.
    pub(crate) fn new(directory: &Path, printed: &Path, args: Vec<OsString>) -> Launch {
        let (directory, printed) = (directory.to_owned(), printed.to_owned());
        let wrapper = Vec::new();
        Launch { args, wrapper, stdin: None, stdout: None, stderr: None, directory, printed }
    }

    /// Runs commands of `sh` before the program.
    pub(crate) fn after(mut self, commands: &str) -> Launch {
        let line = format!("{commands} && exec \"$0\" \"$@\"");
        self.wrapper = ["sh", "-c", &line].map(OsString::from).to_vec();
        self
    }

    /// Returns the command line as it would be typed.
    pub(crate) fn line(&self) -> String {
        let name = OsString::from("merganser");
        let words = self.wrapper.iter().chain([&name]).chain(&self.args);
        words.map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn start(self) -> Running {
        let words: Vec<&OsStr> = self
            .wrapper
            .iter()
            .map(OsString::as_os_str)
            .chain([OsStr::new(&MERGANSER)])
            .chain(self.args.iter().map(OsString::as_os_str))
            .collect();
        let create = |name: &str| File::create(self.printed.join(name)).unwrap();
        let [stdout, stderr] = ["stdout", "stderr"].map(create);
        let child = Command::new(words[0])
            .args(&words[1..])
            .current_dir(&self.directory)
            .env_remove("TMPDIR")
            // Without `--device`: the memory of an emulated device is that of the process.
            .env("MERGANSER_DEVICE", "cpu")
            .stdin(self.stdin.unwrap_or_else(Stdio::null))
            .stdout(self.stdout.unwrap_or_else(|| stdout.into()))
            .stderr(self.stderr.unwrap_or_else(|| stderr.into()))
            .spawn()
            .unwrap();
        Running { child, begun: Instant::now(), printed: self.printed }
    }

    pub(crate) fn run(self) -> Ended {
        self.start().end()
    }
}

impl Running {
    pub(crate) fn signal(&self, signal: i32) {
        wait::signal(self.child.id(), signal);
    }

    /// Waits for the end of the run, or kills it if it hangs.
    pub(crate) fn end(self) -> Ended {
        let (mut hung, mut pulse, mut seen) = (None, Pulse::new(self.child.id()), 0);
        let (status, peak) = loop {
            if let Some(ended) = wait::ended(self.child.id()) {
                break ended;
            }
            seen = peak_of(&self.child.id().to_string()).max(seen);
            if hung.is_none() {
                hung = pulse.stopped();
                if hung.is_some() {
                    self.signal(libc::SIGKILL);
                }
            }
            thread::sleep(Duration::from_millis(3));
        };
        // The kernel's peak includes the size of this process at the fork. If it is no larger than that, use the
        // largest observed size instead, which may miss the last milliseconds.
        let peak = if peak > peak_of("self") { peak } else { seen };
        let stderr = fs::read(self.printed.join("stderr")).unwrap_or_default();
        Ended {
            code: status.code(),
            signal: status.signal(),
            stdout: self.printed.join("stdout"),
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
            peak,
            took: self.begun.elapsed(),
            hung,
        }
    }
}

/// Quotes a word for a shell.
fn quoted(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,@#%+".contains(letter);
    if text.chars().all(plain) && !text.is_empty() {
        return text.into_owned();
    }
    if text.len() > 300 {
        return format!("'{}… ({} bytes)'", text.chars().take(40).collect::<String>(), text.len());
    }
    match word.to_str() {
        Some(text) if !text.contains(|letter: char| letter.is_control()) => {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
        _ => format!("$'{}'", word.as_encoded_bytes().escape_ascii()),
    }
}
