//! Builds the library that makes calls fail (`shim.c`), and runs the program with it.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use merganser_test_support::program;

/// Kinds of calls, as in shim.c.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Open,
    Create,
    Read,
    Write,
    Sync,
    Rename,
    Resize,
    Status,
    Directory,
    Handle,
    Map,
    Memory,
    Thread,
    Allocation,
}

pub(crate) const KINDS: [Kind; 14] = [
    Kind::Open,
    Kind::Create,
    Kind::Read,
    Kind::Write,
    Kind::Sync,
    Kind::Rename,
    Kind::Resize,
    Kind::Status,
    Kind::Directory,
    Kind::Handle,
    Kind::Map,
    Kind::Memory,
    Kind::Thread,
    Kind::Allocation,
];

/// Modes of failure, as in shim.c.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Only this call fails.
    Once,
    /// This call and all later ones fail.
    FromThenOn,
    /// This call and all later ones transfer fewer bytes than requested.
    Less,
}

/// A fault: call `number` (from 1) returns `error`, or, in mode `Less`, transfers at most `error` bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    pub(crate) number: u64,
    pub(crate) error: i32,
    pub(crate) mode: Mode,
}

/// The library's record of a run.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) struck: u64,
    pub(crate) calls: [u64; KINDS.len()],
    /// The file of the first failed call; empty if it had none.
    pub(crate) path: String,
}

/// The end of a run.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The exit status; `None` if the run did not end in time and was killed.
    pub(crate) status: Option<ExitStatus>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    pub(crate) record: Record,
}

/// Longer than any run with a few reads takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// The first number in the record of shim.c if calls cannot be caught.
const NOT_CAUGHT: u64 = 2;
/// Bytes of the path in the record of shim.c.
const PATH: usize = 512;

/// The compiled library, in a directory with the files of runs.
#[derive(Debug)]
pub(crate) struct Shim {
    dir: TempDir,
}

impl Shim {
    /// Builds the library; returns `None`, with a message, where that is not possible.
    pub(crate) fn build() -> Option<Shim> {
        let shim = Shim { dir: tempfile::tempdir().unwrap() };
        let works =
            cfg!(all(target_os = "linux", target_env = "gnu")) && shim.compile() && shim.catches();
        if !works {
            // An emulator of another processor has no seccomp.
            let cannot = std::env::var_os("MERGANSER_TEST_PROGRAM").is_some()
                && shim.slot("first").state() == Some(NOT_CAUGHT);
            assert!(cannot || std::env::var_os("CI").is_none(), "calls cannot be caught here");
            eprintln!(
                "skipped: needs a C compiler, Linux with seccomp, glibc, and x86-64 or aarch64"
            );
        }
        works.then_some(shim)
    }

    fn compile(&self) -> bool {
        let source = merganser_test_support::root().join("tests/faults/shim.c");
        // A program for another processor needs a library for it.
        let mut compiler = Command::new(std::env::var("MERGANSER_SHIM_CC").unwrap_or("cc".into()));
        compiler
            .args(["-O1", "-fPIC", "-shared", "-o"])
            .arg(self.library())
            .arg(source)
            .arg("-ldl");
        compiler.status().is_ok_and(|status| status.success())
    }

    /// Whether the kernel allows catching calls.
    fn catches(&self) -> bool {
        let slot = self.slot("first");
        slot.run(["devices"].as_slice(), self.dir.path(), None, &[]).is_some()
    }

    fn library(&self) -> PathBuf {
        self.dir.path().join("shim.so")
    }

    /// Returns the files for one run at a time.
    pub(crate) fn slot(&self, name: &str) -> Slot {
        let file = |what: &str| self.dir.path().join(format!("{name}.{what}"));
        Slot {
            library: self.library(),
            record: file("record"),
            stdout: file("stdout"),
            stderr: file("stderr"),
        }
    }
}

/// The files of a run's record, stdout and stderr.
#[derive(Debug)]
pub(crate) struct Slot {
    library: PathBuf,
    record: PathBuf,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Slot {
    /// Returns the path of a file beside the record.
    pub(crate) fn beside(&self, extension: &str) -> PathBuf {
        self.record.with_extension(extension)
    }

    /// Runs the program in `place`, with temporary files in its folder `tmp`. Returns `None` if calls could not be
    /// caught.
    pub(crate) fn run<S: AsRef<OsStr>>(
        &self,
        args: &[S],
        place: &Path,
        fault: Option<Fault>,
        variables: &[(&str, String)],
    ) -> Option<Ended> {
        fs::write(&self.record, [0; 8 * (2 + KINDS.len()) + PATH]).unwrap();
        let mut command = program();
        command.args(args).current_dir(place).env("TMPDIR", place.join("tmp"));
        command.env("LD_PRELOAD", &self.library).env("MERGANSER_FAULT_RECORD", &self.record);
        command.env_remove("MERGANSER_FAULT").env_remove("RUST_BACKTRACE");
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        if let Some(Fault { kind, number, error, mode }) = fault {
            let text = format!("{}:{number}:{error}:{}", kind as i32, mode as i32);
            command.env("MERGANSER_FAULT", text);
        }
        command.stdin(Stdio::null()).stdout(File::create(&self.stdout).unwrap());
        command.stderr(File::create(&self.stderr).unwrap());
        let status = wait(command.spawn().unwrap());
        let record = self.record()?;
        let stderr = fs::read(&self.stderr).unwrap();
        Some(Ended {
            status,
            stdout: fs::read(&self.stdout).unwrap(),
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
            record,
        })
    }

    /// Returns the first number in the record, if there is a record.
    fn state(&self) -> Option<u64> {
        let bytes = fs::read(&self.record).ok()?;
        bytes.first_chunk().map(|number| u64::from_le_bytes(*number))
    }

    /// Reads the record; returns `None` if the library was not active.
    fn record(&self) -> Option<Record> {
        let bytes = fs::read(&self.record).unwrap();
        let (numbers, path) = bytes.split_at(8 * (2 + KINDS.len()));
        let numbers: Vec<u64> =
            numbers.chunks(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect();
        let path = path.split(|byte| *byte == 0).next().unwrap_or_default();
        let record = Record {
            struck: numbers[1],
            calls: numbers[2..].try_into().unwrap(),
            path: String::from_utf8_lossy(path).into_owned(),
        };
        (numbers[0] == 1).then_some(record)
    }
}

/// Waits for a run, with a time limit.
pub(crate) fn wait(mut child: Child) -> Option<ExitStatus> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}
