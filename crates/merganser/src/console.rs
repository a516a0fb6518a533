//! Messages on stderr.

use std::fmt::Display;
use std::fs;
use std::io::{IsTerminal, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use clap::ValueEnum;
use merganser_run::Warnings;

use crate::failure::with_flags;

/// How much is said; each level includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Level {
    // Errors only, as --quiet.
    Error,
    // Warnings too.
    Warn,
    // The summary and a progress bar too.
    Info,
    // How the run was set up, and the time of each stage, too.
    Debug,
}

/// All warnings of the program: those of jobs, which have them in their resources, and its own.
static WARNINGS: OnceLock<Warnings> = OnceLock::new();
/// How many of them have been printed.
static PRINTED: Mutex<usize> = Mutex::new(0);

/// Results go where messages would go.
static SHARED: AtomicBool = AtomicBool::new(false);

/// Is told of an output. If it is the file or pipe that stderr is, too, nothing but warnings and errors is
/// said from then on: a summary among records would be taken for one, or make them unreadable. What is
/// doubtful is said even so. A terminal takes both.
pub(crate) fn note_output(path: &Path) {
    let stdout = path.as_os_str() == "-";
    let identity = |path: &Path| Some(fs::metadata(path).ok()?).map(|at| (at.dev(), at.ino()));
    let output = identity(if stdout { Path::new("/dev/stdout") } else { path });
    let messages = identity(Path::new("/dev/stderr"));
    if output.is_some() && output == messages && !std::io::stderr().is_terminal() {
        SHARED.store(true, Ordering::Relaxed);
    }
}

/// The warnings of the program, to which jobs add theirs. The console prints new ones with its own
/// next warning or error, or at the end.
pub(crate) fn warnings() -> Warnings {
    WARNINGS.get_or_init(Warnings::default).clone()
}

/// Stderr, as loud as it was asked to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Console {
    level: Level,
}

impl Console {
    pub(crate) fn new(level: Level) -> Console {
        Console { level }
    }

    /// Whether messages of this level are said.
    pub(crate) fn says(&self, level: Level) -> bool {
        level <= self.level && (level <= Level::Warn || !SHARED.load(Ordering::Relaxed))
    }

    /// Whether there is someone to look at a progress bar.
    pub(crate) fn shows_progress(&self) -> bool {
        self.says(Level::Info) && std::io::stderr().is_terminal()
    }

    pub(crate) fn error(&self, message: impl Display) {
        self.print_warnings();
        self.line(Level::Error, format_args!("error: {}", one_line(&message.to_string())));
    }

    pub(crate) fn warn(&self, message: impl Display) {
        warnings().push(message.to_string());
        self.print_warnings();
    }

    /// Prints the warnings that jobs have added since the last message.
    pub(crate) fn print_warnings(&self) {
        let warnings = warnings();
        // Threads of a job may print them, too.
        let mut printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
        let new = warnings.since(*printed);
        *printed += new.len();
        for message in new {
            let message = with_flags(&message);
            self.line(Level::Warn, format_args!("warning: {}", one_line(&message)));
        }
    }

    pub(crate) fn info(&self, message: impl Display) {
        self.line(Level::Info, harmless(&message.to_string()));
    }

    /// Prints a text of several lines: help, or a picture.
    pub(crate) fn text(&self, text: &str) {
        let lines: Vec<String> = text.lines().map(harmless).collect();
        self.line(Level::Info, lines.join("\n"));
    }

    pub(crate) fn debug(&self, message: impl Display) {
        self.line(Level::Debug, format_args!("debug: {}", harmless(&message.to_string())));
    }

    /// A stderr that is gone is no reason to fail a run. A line is written at once, so that none is cut
    /// where the process ends.
    fn line(&self, level: Level, message: impl Display) {
        if self.says(level) {
            let _ = std::io::stderr().lock().write_all(format!("{message}\n").as_bytes());
        }
    }
}

/// Escapes control characters: a line that people read stays one line and changes nothing on a terminal, whatever names of
/// files, samples and reads are in it.
pub(crate) fn harmless(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter.is_control() {
            true => line.extend(letter.escape_default()),
            false => line.push(letter),
        }
    }
    line
}

/// Letters of a line at the most: what was wrong stands at its beginning, what to do at its end.
const BEGINNING: usize = 1000;
const END: usize = 800;

/// The text in one [`harmless`] line that is not endless, whatever cells of tables are in it.
fn one_line(text: &str) -> String {
    let line = harmless(text);
    let letters = line.chars().count();
    if letters <= BEGINNING + END {
        return line;
    }
    let beginning = line.chars().take(BEGINNING);
    let end = line.chars().skip(letters - END);
    beginning.chain(" … ".chars()).chain(end).collect()
}

#[cfg(test)]
mod tests {
    use super::{BEGINNING, END, one_line};

    #[test]
    fn names_break_no_lines() {
        assert_eq!(one_line("ré\nads\u{1b}[2J\t.fq: x"), "ré\\nads\\u{1b}[2J\\t.fq: x");
    }

    #[test]
    fn no_line_is_endless() {
        let line = one_line(&format!("t.tsv: '{}' is no k-mer: cut it", "\0".repeat(3000)));
        assert!(line.starts_with("t.tsv: '\\u{0}\\u{0}") && line.ends_with("is no k-mer: cut it"));
        assert_eq!(line.chars().count(), BEGINNING + 3 + END);
    }
}
