//! A small run of each command, and its inputs.

use merganser_test_support::Dir;
use merganser_test_support::commands::{ROWS, Row};
use merganser_test_support::world::{self, Size};

/// The JSON summary, which contains times.
pub(crate) const SUMMARY: &str = "out/summary";

/// A command line whose outputs are in `out/`, or which changes existing files with names that begin with `own.`.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) text: String,
    takes_threads: bool,
}

impl Line {
    /// Returns the line of a row with additional options.
    pub(crate) fn new(row: &Row, options: &str) -> Line {
        let json = if row.takes_json() { format!(" --json {SUMMARY}") } else { String::new() };
        Line { text: format!("{}{json}{options}", row.line), takes_threads: row.takes_threads() }
    }

    /// Returns a line that accepts `--threads`.
    pub(crate) fn of(text: String) -> Line {
        Line { text, takes_threads: true }
    }

    pub(crate) fn arguments(&self, threads: u32) -> Vec<String> {
        let mut args: Vec<String> = self.text.split_whitespace().map(str::to_owned).collect();
        args.push("-q".into());
        if self.takes_threads {
            args.extend(["--threads".into(), threads.to_string()]);
        }
        args
    }
}

fn rows() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(|row| row.is_run_with_faults())
}

pub(crate) fn lines() -> Vec<Line> {
    rows().map(|row| Line::new(row, "")).collect()
}

/// Returns a directory with two genomes, 200 pairs of reads of them, taxa, and files made from these.
pub(crate) fn prepared() -> Dir {
    world::prepared(Size { bases: 6_000, reads: 200 }, rows())
}
