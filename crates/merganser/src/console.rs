//! Messages on stderr.

use std::fmt::Display;
use std::fs;
use std::io::{IsTerminal, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use clap::ValueEnum;
use merganser_run::{Warnings, is_to_be_told};

use crate::colour;
use crate::failure::with_flags;

/// The level of a message; each level includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Level {
    // Only errors, as with --quiet.
    Error,
    // Also warnings.
    Warn,
    // Also the summary and a progress bar.
    Info,
    // Also the setup of the run and the time of each stage.
    Debug,
}

/// All warnings of the program: those that jobs add through their resources, and its own.
static WARNINGS: OnceLock<Warnings> = OnceLock::new();
/// The console of the program.
static CURRENT: OnceLock<Console> = OnceLock::new();
/// The number of warnings that have been printed.
static PRINTED: Mutex<usize> = Mutex::new(0);

/// Whether results are written to the file that messages go to.
static SHARED: AtomicBool = AtomicBool::new(false);

/// Takes note of an output. If it is the same file or pipe as stderr, only warnings and errors are printed from
/// then on: other messages would be mistaken for records, or make them unreadable. A terminal takes both.
pub(crate) fn note_output(path: &Path) {
    let stdout = path.as_os_str() == "-";
    let identity = |path: &Path| Some(fs::metadata(path).ok()?).map(|at| (at.dev(), at.ino()));
    let output = identity(if stdout { Path::new("/dev/stdout") } else { path });
    let messages = identity(Path::new("/dev/stderr"));
    let is_file = || fs::metadata("/dev/stdout").is_ok_and(|at| at.is_file());
    if stdout && !is_file() {
        STDOUT.store(true, Ordering::Relaxed);
    }
    if output.is_some() && output == messages && !std::io::stderr().is_terminal() {
        SHARED.store(true, Ordering::Relaxed);
    }
}

/// Whether results go to stdout and are not a file. The reader may print them on the terminal, in the line of a bar.
static STDOUT: AtomicBool = AtomicBool::new(false);

/// Whether a bar would be mixed with results.
pub(crate) fn prints_results() -> bool {
    STDOUT.load(Ordering::Relaxed)
}

/// Returns the warnings of the program, to which jobs add theirs. The console prints new ones with its own
/// next warning or error, or at the end.
pub(crate) fn warnings() -> Warnings {
    WARNINGS.get_or_init(Warnings::default).clone()
}

/// Returns the console of the program; before the command line is parsed, one that prints warnings and errors.
pub(crate) fn current() -> Console {
    CURRENT.get().copied().unwrap_or(Console { level: Level::Warn })
}

/// Prints messages up to a level on stderr.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Console {
    level: Level,
}

impl Console {
    pub(crate) fn new(level: Level) -> Console {
        Console { level }
    }

    /// Creates the console of the program.
    pub(crate) fn of_program(level: Level) -> Console {
        *CURRENT.get_or_init(|| Console::new(level))
    }

    /// Whether messages of this level are printed.
    pub(crate) fn says(&self, level: Level) -> bool {
        level <= self.level && (level <= Level::Warn || !SHARED.load(Ordering::Relaxed))
    }

    /// Whether a progress bar is shown.
    pub(crate) fn shows_progress(&self) -> bool {
        self.says(Level::Info) && std::io::stderr().is_terminal()
    }

    pub(crate) fn error(&self, message: impl Display) {
        self.print_warnings();
        self.write(Level::Error, &error_line(&message));
    }

    /// Prints the error that ends the run, unless another thread reports its end; returns whether it is reported here. The
    /// whole line is prepared first: if memory runs out meanwhile, that is reported instead.
    pub(crate) fn last_error(&self, message: impl Display) -> bool {
        self.print_warnings();
        let line = error_line(&message);
        let is_told_here = is_to_be_told();
        if is_told_here {
            self.write(Level::Error, &line);
        }
        is_told_here
    }

    pub(crate) fn warn(&self, message: impl Display) {
        warnings().push(message.to_string());
        self.print_warnings();
    }

    /// Prints the warnings that jobs have added since the last message.
    pub(crate) fn print_warnings(&self) {
        let warnings = warnings();
        // Threads of a job may print warnings, too.
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

    /// Prints a text of several lines, such as a help text or a plot.
    pub(crate) fn text(&self, text: &str) {
        let lines: Vec<String> = text.lines().map(harmless).collect();
        self.line(Level::Info, lines.join("\n"));
    }

    /// Prints a plot, in colours if stderr is a terminal.
    pub(crate) fn plot(&self, text: &str) {
        let lines: Vec<String> = text.trim_end().lines().map(harmless).collect();
        let text = lines.join("\n");
        self.line(Level::Info, if colour::is_wanted() { colour::plot(&text) } else { text });
    }

    pub(crate) fn debug(&self, message: impl Display) {
        self.line(Level::Debug, format_args!("debug: {}", harmless(&message.to_string())));
    }

    fn line(&self, level: Level, message: impl Display) {
        if self.says(level) {
            self.write(level, &format!("{message}\n"));
        }
    }

    /// Prints a line with its end. A closed stderr is not an error. Each line is a single write, so that it is not cut
    /// when the process ends.
    fn write(&self, level: Level, line: &str) {
        if self.says(level) {
            let _ = std::io::stderr().lock().write_all(line.as_bytes());
        }
    }
}

fn error_line(message: &impl Display) -> String {
    format!("error: {}\n", one_line(&message.to_string()))
}

/// Escapes control characters, so that a message stays one line and does not affect the terminal, whatever
/// names of files, samples and reads it contains.
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

/// The maximum numbers of characters at the beginning of a line, which says what is wrong, and at its end, which
/// says what to do.
const BEGINNING: usize = 1000;
const END: usize = 800;

/// Returns the text as one [`harmless`] line of limited length, whatever cells of tables it contains.
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
