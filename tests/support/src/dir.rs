//! A directory for one test, and runs of the program in it.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;

use tempfile::TempDir;

/// The path of the program under test: the value of `MERGANSER_TEST_PROGRAM`, such as a script that runs the program on an
/// emulator; otherwise the program that cargo puts in the parent of the tests' folder.
pub const MERGANSER: Program = Program;

/// The type of [`MERGANSER`], whose path is known only at run time.
#[derive(Clone, Copy, Debug)]
pub struct Program;

impl Deref for Program {
    type Target = str;

    fn deref(&self) -> &str {
        static PATH: LazyLock<String> = LazyLock::new(|| {
            if let Ok(program) = std::env::var("MERGANSER_TEST_PROGRAM") {
                let found = std::fs::canonicalize(&program);
                let found = found.unwrap_or_else(|error| panic!("{program}: {error}"));
                return found.into_os_string().into_string().unwrap();
            }
            let test = std::env::current_exe().unwrap();
            let program = test.parent().and_then(Path::parent).unwrap().join("merganser");
            assert!(program.exists(), "{} is missing: run cargo build", program.display());
            program.into_os_string().into_string().unwrap()
        });
        &PATH
    }
}

impl AsRef<OsStr> for Program {
    fn as_ref(&self) -> &OsStr {
        OsStr::new(&**self)
    }
}

impl fmt::Display for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self)
    }
}

/// Returns a command that runs the program on the CPU unless `--device` is given, without the other variables that set
/// defaults of options.
pub fn program() -> Command {
    let mut command = Command::new(MERGANSER);
    for name in ["THREADS", "MEMORY", "TMPDIR"] {
        command.env_remove(format!("MERGANSER_{name}"));
    }
    command.env("MERGANSER_DEVICE", "cpu");
    command
}

/// A temporary directory of one test, removed when dropped.
#[derive(Debug)]
pub struct Dir(TempDir);

impl Dir {
    pub fn new() -> Dir {
        super::signals::default_signals();
        Dir(tempfile::Builder::new().prefix("merganser-test-").tempdir().unwrap())
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.path(name), bytes).unwrap();
        self.path(name)
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Returns the names in the directory, including hidden ones, sorted.
    pub fn names(&self) -> Vec<String> {
        names(self.root())
    }

    /// Runs the program in the directory with arguments separated by blanks.
    pub fn run(&self, args: &str) -> Ran {
        self.run_with(args.split_whitespace(), b"")
    }

    /// Starts the program in the directory; the caller reads its output or leaves it blocked.
    pub fn start(&self, args: &str, stdin: Stdio) -> Child {
        program()
            .args(args.split_whitespace())
            .current_dir(self.root())
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Runs the program in the directory with these arguments and this standard input.
    pub fn run_with<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
        stdin: &[u8],
    ) -> Ran {
        let args: Vec<OsString> = args.into_iter().map(|arg| arg.as_ref().to_owned()).collect();
        let mut command = program();
        if args.iter().any(|arg| arg == "--help") {
            // It shows the defaults.
            command.env_remove("MERGANSER_DEVICE");
        }
        let output = assert_cmd::Command::from_std(command)
            .current_dir(self.root())
            .env_remove("TMPDIR")
            .args(args)
            .write_stdin(stdin)
            .output()
            .unwrap();
        Ran::new(&output, self.root())
    }
}

pub fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The exit code and the outputs of a run.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    /// The messages, with the path of the test's directory replaced by `DIR`.
    pub stderr: String,
}

impl Ran {
    pub fn new(output: &Output, directory: &Path) -> Ran {
        let stderr = String::from_utf8_lossy(&output.stderr);
        Ran {
            code: output.status.code(),
            stdout: output.stdout.clone(),
            stderr: stderr.replace(&directory.display().to_string(), "DIR"),
        }
    }

    /// Asserts success and returns stdout as text.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        String::from_utf8(self.stdout).unwrap()
    }

    /// Asserts failure with this exit code, an empty stdout and exactly one line on stderr, and returns this line.
    #[track_caller]
    pub fn fails(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{}", self.stderr);
        assert_eq!(String::from_utf8_lossy(&self.stdout), "");
        assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
        assert!(self.stderr.starts_with("error: "), "{}", self.stderr);
        self.stderr
    }

    /// Returns the warnings on stderr.
    pub fn warnings(&self) -> Vec<&str> {
        self.stderr.lines().filter(|line| line.starts_with("warning: ")).collect()
    }
}

/// Returns the root folder of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}
