//! Source of batches of reads together with their lines.
//!
//! Workers take batches of reads in any order. A worker waits for the turn of its batch, reads as many lines as the
//! batch has reads, and continues in parallel with the others. From the first read that is not at the position of
//! its line, workers no longer wait: all remaining lines are collected in a map of names.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use merganser_io::{RecordBatch, Records, stem};
use merganser_run::engine::{Source, Turns};
use merganser_run::format_size;

use super::decisions::Decisions;
use super::lines::{ReadLine, ReadLines};
use super::names::{Added, NameTable};
use super::{ExtractConfig, ExtractOutcome};
use crate::Error;
use merganser_io::shown;

/// A batch and the decisions of its lines.
#[derive(Default)]
pub(super) struct Step {
    pub(super) batch: RecordBatch,
    /// Whether each read is extracted. Reads after the last of these are looked up by name.
    pub(super) extracted: Vec<bool>,
}

/// The source of batches with their lines.
pub(super) struct Steps<'s> {
    records: Records,
    cursor: Turns<Cursor<'s>>,
    /// The names of the lines that are not in the order of the reads.
    names: OnceLock<NameTable>,
}

/// The position between two lines.
struct Cursor<'s> {
    path: PathBuf,
    decisions: Decisions<'s>,
    lines: ReadLines,
    line: ReadLine,
    /// Whether `line` has not been matched to a read yet.
    is_open: bool,
    /// The previous line, which belongs to the previous read.
    before: ReadLine,
    /// Whether the reads of the previous line are extracted.
    is_before_extracted: bool,
    /// The maximum memory of names in bytes.
    room: u64,
    /// Whether mates that share a line may be far apart.
    of_templates: bool,
    /// The read that was not at the position of its line.
    out_of_order: Option<String>,
    /// The number of reads that share the line of the previous read.
    shared: u64,
    /// The number of lines matched by position whose read has another line, with the opposite decision, among the
    /// remaining lines; and the first such read.
    doubled: (u64, Option<String>),
}

impl<'s> Steps<'s> {
    /// Opens the lines; `room` is the memory for names in bytes. `of_templates` tells whether mates that share a line may
    /// be far apart: then lines are found by name, too, after a read has had them.
    pub(super) fn new(
        records: Records,
        path: &Path,
        config: &'s ExtractConfig,
        (room, of_templates): (u64, bool),
    ) -> Result<Steps<'s>, Error> {
        let lines = ReadLines::open(path)?;
        let (path, line, before) =
            (shown(path).to_owned(), ReadLine::default(), ReadLine::default());
        let cursor = Cursor {
            path,
            decisions: Decisions::new(config),
            lines,
            line,
            is_open: false,
            before,
            is_before_extracted: false,
            room,
            of_templates,
            out_of_order: None,
            shared: 0,
            doubled: (0, None),
        };
        Ok(Steps { records, cursor: Turns::new(cursor), names: OnceLock::new() })
    }

    /// Whether a read that was not at the position of its line is extracted; `None` if it has no line.
    pub(super) fn by_name(&self, batch: &RecordBatch, read: usize) -> Option<bool> {
        let names = self.names.get()?;
        names_of(batch, read).into_iter().find_map(|name| names.get(name))
    }

    /// Reads the lines after the last read, and returns the counts of lines.
    pub(super) fn finish(self) -> Result<ExtractOutcome, Error> {
        let Steps { records, cursor, .. } = self;
        let mut cursor = cursor.into_inner();
        while cursor.is_open || cursor.lines.next(&mut cursor.line)? {
            cursor.decisions.extracts(&cursor.line);
            cursor.is_open = false;
        }
        let (unknown, first_unknown) = cursor.decisions.unknown();
        Ok(ExtractOutcome {
            unknown,
            first_unknown,
            skipped_alignments: records.skipped_alignments(),
            lines: cursor.lines.number(),
            out_of_order: cursor.out_of_order,
            shared: cursor.shared,
            doubled: cursor.doubled,
            ..ExtractOutcome::default()
        })
    }

    /// Reads the lines of a batch; returns `false` if the run was stopped before the batch's turn.
    fn follow(&self, step: &mut Step) -> Result<bool, Error> {
        step.extracted.clear();
        let followed = self.cursor.take(step.batch.number(), |cursor| match self.names.get() {
            None => cursor.follow(step, &self.names),
            Some(_) => Ok(()),
        });
        followed.transpose().map(|followed| followed.is_some())
    }
}

impl Source for Steps<'_> {
    type Batch = Step;
    type Error = Error;

    fn next(&self, step: &mut Step) -> Result<Option<u64>, Error> {
        match self.records.next(&mut step.batch)? {
            Some(bytes) => Ok(self.follow(step)?.then_some(bytes)),
            None => Ok(None),
        }
    }

    fn number(step: &Step) -> u64 {
        step.batch.number()
    }

    fn is_long(&self, step: &Step) -> bool {
        step.batch.is_long()
    }

    fn stop(&self, number: u64) {
        self.records.stop();
        self.cursor.stop(number);
    }
}

/// Returns the names that a line may have for a read: its own name, the name without the `/1` or `/2` of a mate,
/// and the common name of both mates.
fn names_of(batch: &RecordBatch, read: usize) -> [&[u8]; 3] {
    let first = read * batch.mates();
    let name = batch.record(first).name;
    [name, stem(name), batch.name(first)]
}

impl Cursor<'_> {
    /// Decides on the reads of a batch as long as each has the next line.
    fn follow(&mut self, step: &mut Step, names: &OnceLock<NameTable>) -> Result<(), Error> {
        let Step { batch, extracted } = step;
        for read in 0..batch.reads() {
            if !self.is_open {
                self.is_open = self.lines.next(&mut self.line)?;
            }
            let own = names_of(batch, read);
            if self.is_open && self.line.is_of(&own) {
                std::mem::swap(&mut self.line, &mut self.before);
                self.is_open = false;
                self.is_before_extracted = self.decisions.extracts(&self.before);
            } else if !self.before.is_of(&own) {
                if self.is_open {
                    self.out_of_order = Some(String::from_utf8_lossy(own[0]).into_owned());
                }
                let table = self.collect()?;
                // Set only once, because no worker uses the cursor afterwards.
                let _ = names.set(table);
                return Ok(());
            } else {
                // The second mate of the previous read: both share one line.
                self.shared += 1;
            }
            extracted.push(self.is_before_extracted);
        }
        Ok(())
    }

    /// Collects the names of all remaining lines.
    fn collect(&mut self) -> Result<NameTable, Error> {
        let before = self.lines.number() - u64::from(self.is_open);
        let mut names = NameTable::new(self.room);
        while self.is_open {
            let extracted = self.decisions.extracts(&self.line);
            match names.add(&self.line.name, extracted) {
                Added::Yes => {}
                Added::Contradiction => {
                    return Err(self.lines.error(&format!(
                        "read {} has another line with another taxon, and reads and lines are in \
                         different orders: they cannot be matched",
                        String::from_utf8_lossy(&self.line.name)
                    )));
                }
                Added::NoRoom => return Err(self.no_room(names.len())),
            }
            self.is_open = self.lines.next(&mut self.line)?;
        }
        self.find_doubled(before, &mut names)?;
        Ok(names)
    }

    /// Reads the first `before` lines again, which were matched by position, and looks up their names among those of
    /// the other lines, to which they are added if mates may be far apart. This is not possible for a pipe.
    fn find_doubled(&mut self, before: u64, names: &mut NameTable) -> Result<(), Error> {
        let is_needed = names.len() > 0 || self.of_templates;
        if !is_needed || !std::fs::metadata(&self.path).is_ok_and(|at| at.is_file()) {
            return Ok(());
        }
        let (mut lines, mut line) = (ReadLines::open(&self.path)?, ReadLine::default());
        while lines.number() < before && lines.next(&mut line)? {
            let wanted = self.decisions.wants(&line);
            match names.get(&line.name) {
                Some(other) if other != wanted => {
                    self.doubled.0 += 1;
                    let name = || String::from_utf8_lossy(&line.name).into_owned();
                    self.doubled.1.get_or_insert_with(name);
                }
                None if self.of_templates && names.add(&line.name, wanted) == Added::NoRoom => {
                    return Err(self.no_room(names.len()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn no_room(&self, names: usize) -> Error {
        let read = self.out_of_order.as_deref().unwrap_or_default();
        Error::content(
            &self.path,
            format!(
                "lines and reads are in different orders from read {read} on, and more than {names} \
                 names do not fit into {}: raise `memory`, or give reads in the order of the lines",
                format_size(self.room)
            ),
        )
    }
}
