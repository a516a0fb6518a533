//! Passes over reads whose alignments are kept.

use std::path::Path;

use merganser_io::{
    CommentTags, Error as IoError, FileKind, Input, KeepAlignments, ReadInput, RecordBatch,
    Records, WhichAlignments, is_file,
};

use super::Names;
use crate::{Error, RecordOptions};
use merganser_run::ConfigError;

/// The problem of mates in two files.
const APART: &str = "mates in two files of alignments: bring them together with samtools merge -n";

/// A pass over reads: the alignments that it keeps, and the names that it collects.
#[derive(Clone, Debug, Default)]
pub struct TemplatePass<'p> {
    keep: KeepAlignments,
    /// Where the names of reads are collected, if they are.
    names: Option<&'p Names>,
    /// The first input.
    input: Option<ReadInput>,
}

impl<'p> TemplatePass<'p> {
    /// A pass over reads that are not written as alignments. `tags` become comments of the reads.
    pub fn of_text(tags: &CommentTags) -> TemplatePass<'p> {
        let keep = KeepAlignments { tags: tags.clone(), ..KeepAlignments::default() };
        TemplatePass { keep, ..TemplatePass::default() }
    }

    /// A pass that decides on templates and writes them, with all their alignments, which must lie side by side.
    pub fn of_templates(segments: &[ReadInput]) -> TemplatePass<'p> {
        TemplatePass {
            input: segments.first().cloned(),
            ..TemplatePass::keeping(WhichAlignments::OfTemplates)
        }
    }

    /// A pass that decides on reads and collects the names of some.
    pub fn of_names(names: &'p Names) -> TemplatePass<'p> {
        TemplatePass { names: Some(names), ..TemplatePass::keeping(WhichAlignments::OfReads) }
    }

    /// A pass over alignments that are decided one by one.
    pub(super) fn of_alignments(input: &ReadInput) -> TemplatePass<'p> {
        TemplatePass { input: Some(input.clone()), ..TemplatePass::keeping(WhichAlignments::All) }
    }

    fn keeping(which: WhichAlignments) -> TemplatePass<'p> {
        TemplatePass {
            keep: KeepAlignments { which, ..KeepAlignments::default() },
            ..TemplatePass::default()
        }
    }

    /// Returns the alignments to keep, for the options of readers.
    pub fn keep(&self) -> &KeepAlignments {
        &self.keep
    }

    /// Whether the pass collects names, which take memory.
    pub fn collects_names(&self) -> bool {
        self.names.is_some()
    }

    /// Returns the number of alignments that count as skipped: none if they are written.
    pub fn skipped(&self, skipped: u64) -> u64 {
        if self.keep.which == WhichAlignments::None { skipped } else { 0 }
    }

    pub(super) fn input_name(&self) -> String {
        let input = self.input.as_ref().and_then(|input| input.inputs().next());
        input.map_or_else(String::new, |input| input.to_string())
    }

    /// Refuses alignments whose mates are in another file. It is called for each batch.
    ///
    /// # Errors
    /// Names the file.
    pub fn check(&self, batch: &RecordBatch) -> Result<(), Error> {
        let is_pair = matches!(self.input, Some(ReadInput::Pair(..)));
        if !is_pair || self.keep.header.get().is_none() || batch.is_empty() {
            return Ok(());
        }
        Err(problem_of(batch, 0, APART))
    }

    /// Adds the names of some reads of a batch, if the pass collects them.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub fn note(
        &self,
        batch: &RecordBatch,
        reads: impl Iterator<Item = usize>,
    ) -> Result<(), Error> {
        self.note_values(batch, reads.map(|read| (read, 0)))
    }

    /// Adds the names of some reads of a batch with values of these reads, if the pass collects them.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub fn note_values(
        &self,
        batch: &RecordBatch,
        mut reads: impl Iterator<Item = (usize, u32)>,
    ) -> Result<(), Error> {
        let (Some(names), Some(header)) = (self.names, self.keep.header.get()) else {
            return Ok(());
        };
        let Some(first) = reads.next() else { return Ok(()) };
        let mates = batch.mates();
        let all = std::iter::once(first).chain(reads).flat_map(|(read, value)| {
            let records = read * mates..(read + 1) * mates;
            records.map(move |at| (batch.alignments(at), value))
        });
        let noted = names.add(header, all);
        noted.map_err(|problem| problem_of(batch, first.0 * mates, &problem))
    }
}

/// Returns the error for a record that cannot be written as an alignment.
pub fn problem_of(batch: &RecordBatch, at: usize, problem: &str) -> Error {
    let (input, record) = batch.place(at);
    let (input, place) = (input.to_owned(), format!("record {record}"));
    Error::Io(IoError::Alignment { input, place, problem: problem.to_owned() })
}

/// Runs a job whose outputs are alignments, from a single input: `once` through it if its templates lie side by side,
/// which is an [error](IoError::Ungrouped) of `once` otherwise; `twice` if they do not and it is a regular file.
/// `can_begin_again` tells whether `once` can be followed by `twice`, which is not possible after bytes were taken from
/// or written to a stream.
///
/// # Errors
/// If there are several inputs, or as `once` or `twice`.
pub fn once_or_twice<T, E: From<ConfigError> + From<IoError>>(
    segments: &[ReadInput],
    can_begin_again: bool,
    is_ungrouped: impl FnOnce(&E) -> bool,
    once: impl FnOnce() -> Result<T, E>,
    twice: impl FnOnce(&Input) -> Result<T, E>,
) -> Result<T, E> {
    let input = match the_input_of::<E>(segments)? {
        ReadInput::Single(input) | ReadInput::Interleaved(input) if input.is_file() => input,
        _ => return once(),
    };
    if can_begin_again || !may_be_apart(input)? {
        return match once() {
            Err(error) if can_begin_again && is_ungrouped(&error) => twice(input),
            done => done,
        };
    }
    twice(input)
}

/// Returns the input whose reads are written as alignments.
///
/// # Errors
/// If there are several inputs, or mates in two files of alignments.
pub fn the_input_of<E: From<ConfigError> + From<IoError>>(
    segments: &[ReadInput],
) -> Result<&ReadInput, E> {
    let [segment] = segments else {
        return Err(ConfigError::new("alignments are written from one input at a time").into());
    };
    refuse_apart(segment)?;
    Ok(segment)
}

/// Refuses mates in two files of alignments, unless they are streams, whose kinds are not known yet.
fn refuse_apart(segment: &ReadInput) -> Result<(), IoError> {
    let ReadInput::Pair(first, second) = segment else { return Ok(()) };
    let is_alignments = |input: &&Input| {
        let kind = input.path().and_then(FileKind::of_path);
        kind.is_some_and(|kind| kind.is_reads() && kind != FileKind::Fastq)
    };
    let Some(input) = [first, second].into_iter().find(is_alignments) else { return Ok(()) };
    let (input, place) = (input.to_string(), "header".to_owned());
    Err(IoError::Alignment { input, place, problem: APART.to_owned() })
}

/// Whether an output is a file that appears at the end, so that it can be written from its beginning again.
pub fn can_begin_again(path: &Path) -> bool {
    path.as_os_str() != "-" && (is_file(path).unwrap_or(false) || !path.exists())
}

/// Whether the templates of a regular file may not lie side by side: it has alignments, and its header does not say
/// that they do; or it is CRAM, whose containers may end within templates; or its beginning cannot be read, of which the
/// run decides, whose memory is the limit. Only the header and the first records are read.
///
/// # Errors
/// If the file cannot be opened.
pub fn may_be_apart(input: &Input) -> Result<bool, IoError> {
    if input.path().and_then(FileKind::of_path) == Some(FileKind::Cram) {
        return Ok(true);
    }
    let pass = TemplatePass::keeping(WhichAlignments::OfReads);
    let options =
        RecordOptions { keep_alignments: pass.keep.clone(), ..RecordOptions::beginning() };
    let records = Records::open([ReadInput::from(input.clone())], options)?;
    let is_read = records.next(&mut RecordBatch::default()).is_ok();
    Ok(match pass.keep.header.get() {
        Some(header) => !header.is_grouped(),
        None => !is_read,
    })
}
