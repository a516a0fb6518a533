//! Reads and their lines, side by side.
//!
//! Workers take batches of reads as they come. For the lines each waits for its batch's turn, takes as
//! many as the batch has reads, and goes on beside the others. From the first read on that is not where
//! its line is, there are no turns to wait for: all lines that are left become a table of names.

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

/// A batch, and what its lines say.
#[derive(Default)]
pub(super) struct Step {
    pub(super) batch: RecordBatch,
    /// Whether each read is extracted; those behind the last of these are to be looked for by name.
    pub(super) extracted: Vec<bool>,
}

/// Where batches come from, with their lines.
pub(super) struct Steps<'s> {
    records: Records,
    cursor: Turns<Cursor<'s>>,
    /// Of the lines that are not in the order of the reads.
    names: OnceLock<NameTable>,
}

/// A place between two lines.
struct Cursor<'s> {
    path: PathBuf,
    decisions: Decisions<'s>,
    lines: ReadLines,
    line: ReadLine,
    /// The line is that of no read yet.
    is_open: bool,
    /// The line before, which the read before has,
    before: ReadLine,
    /// and whether its reads are extracted.
    is_before_extracted: bool,
    /// Bytes that names may take.
    room: u64,
    /// The read that was not where its line is.
    out_of_order: Option<String>,
}

impl<'s> Steps<'s> {
    /// Opens the lines; `room` is for names, in bytes.
    pub(super) fn new(
        records: Records,
        path: &Path,
        config: &'s ExtractConfig,
        room: u64,
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
            out_of_order: None,
        };
        Ok(Steps { records, cursor: Turns::new(cursor), names: OnceLock::new() })
    }

    /// Whether a read is extracted that was not where its line is; `None` if it has no line.
    pub(super) fn by_name(&self, batch: &RecordBatch, read: usize) -> Option<bool> {
        let names = self.names.get()?;
        names_of(batch, read).into_iter().find_map(|name| names.get(name))
    }

    /// Reads the lines behind the last read; gives what is known of lines.
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
            ..ExtractOutcome::default()
        })
    }

    /// Takes the lines of a batch; `false` if it is not wanted any more.
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

/// The names that a line may have for a read: its own, without the `/1` or `/2` of a mate, and what both
/// mates are called.
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
                // Once: nobody has the cursor after that.
                let _ = names.set(table);
                return Ok(());
            }
            // Else it is the other mate of the read before, and both have one line.
            extracted.push(self.is_before_extracted);
        }
        Ok(())
    }

    /// The names of all lines that are left.
    fn collect(&mut self) -> Result<NameTable, Error> {
        let mut names = NameTable::new(self.room);
        while self.is_open {
            let extracted = self.decisions.extracts(&self.line);
            match names.add(&self.line.name, extracted) {
                Added::Yes => {}
                Added::Contradiction => {
                    return Err(self.lines.error(&format!(
                        "read {} has another line of another taxon, and reads are in another order \
                         than lines: which of both it is cannot be told",
                        String::from_utf8_lossy(&self.line.name)
                    )));
                }
                Added::NoRoom => return Err(self.no_room(names.len())),
            }
            self.is_open = self.lines.next(&mut self.line)?;
        }
        Ok(names)
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
