//! Outputs of reads, in the order of the input. Workers compress the texts.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use merganser_alignments::{ReadFormat, ReadFormats, Sink, SinkWriter, TemplatePass};
use merganser_io::{CommentTags, OutputSet, finish_all, put_decimal};
use merganser_run::InOrderSink;

use super::{Parts, Shape};
use crate::Error;

/// The paths of a run's outputs: one each for all reads, or two for first and second mates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputPaths {
    /// The files of the reads that are kept.
    pub kept: Vec<PathBuf>,
    /// The files of the other reads; empty if they are not wanted.
    pub others: Vec<PathBuf>,
    /// The format, whatever the names are; otherwise the names decide. An output whose name asks for no format has that
    /// of the others.
    pub format: Option<ReadFormat>,
    /// The command line that headers of alignments name.
    pub command: String,
    /// The tags of alignments that become comments of reads that are written as text.
    pub tags: CommentTags,
}

/// Returns the files of first and second mates for a name with `#`, whose last one becomes 1 and 2; `None` if the name of
/// the file has none.
///
/// ```
/// use merganser_deplete::mate_paths;
///
/// let mates = mate_paths("out#/clean_#.fq".as_ref()).unwrap();
/// assert_eq!(mates, ["out#/clean_1.fq", "out#/clean_2.fq"].map(std::path::PathBuf::from));
/// assert_eq!(mate_paths("out#/clean.fq".as_ref()), None);
/// ```
pub fn mate_paths(path: &Path) -> Option<[PathBuf; 2]> {
    let name = path.file_name()?.as_bytes();
    let place = name.iter().rposition(|&letter| letter == b'#')?;
    let mate = |mate: &[u8]| {
        let name = [&name[..place], mate, &name[place + 1..]].concat();
        path.with_file_name(OsString::from_vec(name))
    };
    Some([mate(b"1"), mate(b"2")])
}

impl Default for OutputPaths {
    /// Returns no paths, for formats by their names.
    fn default() -> OutputPaths {
        let command = "merganser deplete filter".to_owned();
        let (kept, others, tags) = (Vec::new(), Vec::new(), CommentTags::None);
        OutputPaths { kept, others, format: None, command, tags }
    }
}

impl OutputPaths {
    /// Writes the kept reads to one file. Names in `.gz` and `.zst` are compressed, those in `.sam`, `.bam` and
    /// `.cram` get alignments, and `-` is standard output.
    pub fn new(kept: impl Into<PathBuf>) -> OutputPaths {
        OutputPaths { kept: vec![kept.into()], ..OutputPaths::default() }
    }

    /// Writes second mates of kept pairs to a file of their own.
    #[must_use]
    pub fn mates(mut self, second: impl Into<PathBuf>) -> OutputPaths {
        self.kept.push(second.into());
        self
    }

    /// Also writes the reads that are removed: to one file, or to two for first and second mates.
    #[must_use]
    pub fn others(self, paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> OutputPaths {
        OutputPaths { others: paths.into_iter().map(Into::into).collect(), ..self }
    }

    /// Returns the format of an output. One whose name asks for none has that of the others.
    pub fn format_of(&self, path: &Path) -> ReadFormat {
        self.with_formats(|formats| formats.of(path))
    }

    /// Whether any reads are written as alignments.
    pub fn has_alignments(&self) -> bool {
        self.with_formats(|formats| formats.have_alignments())
    }

    /// Whether the reads are written as alignments.
    ///
    /// # Errors
    /// If only some are, mates would be written to two files of alignments, or tags to comments.
    pub(super) fn are_alignments(&self) -> Result<bool, Error> {
        Ok(self.with_formats(|formats| formats.are_alignments())?)
    }

    fn with_formats<T>(&self, ask: impl FnOnce(ReadFormats<'_>) -> T) -> T {
        ask(ReadFormats {
            given: self.format,
            paths: &[&self.kept, &self.others],
            tags: &self.tags,
        })
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.kept.iter().chain(&self.others)
    }

    /// Creates the files as members of `set`.
    ///
    /// # Errors
    /// If a file cannot be created.
    pub fn create(&self, set: &OutputSet) -> Result<Outputs, Error> {
        let sinks = |paths: &[PathBuf]| {
            let sink = |path: &PathBuf| Sink::create(set, path, self.format_of(path));
            paths.iter().map(sink).collect::<Result<Vec<_>, _>>()
        };
        let (kept, others) = (sinks(&self.kept)?, sinks(&self.others)?);
        Ok(Outputs { kept, others, command: self.command.clone(), tags: self.tags.clone() })
    }
}

/// Open outputs: one for all reads, or two for first and second mates.
#[derive(Debug)]
pub struct Outputs {
    /// The outputs of the reads that are kept.
    pub kept: Vec<Sink>,
    /// The outputs of the other reads; empty if they are not wanted.
    pub others: Vec<Sink>,
    /// The command line that headers of alignments name.
    pub command: String,
    /// The tags of alignments that become comments of reads that are written as text.
    pub tags: CommentTags,
}

impl Outputs {
    /// Whether the reads are written as alignments.
    pub(super) fn are_alignments(&self) -> bool {
        self.kept.iter().chain(&self.others).any(Sink::has_alignments)
    }

    /// Returns the forms of the texts of a pass.
    pub(super) fn shape(&self, pass: &TemplatePass<'_>) -> Shape {
        let form = |sink: &Sink| sink.form(pass, &self.command);
        let of = |sinks: &[Sink]| sinks.iter().map(form).collect();
        Shape { kept: of(&self.kept), others: of(&self.others) }
    }
}

/// The text of a batch for one output.
#[derive(Debug, Default)]
pub(super) struct OutputText {
    pub(super) text: Vec<u8>,
    /// The names that are still missing, in the order of the records; if there are any, `text` is not compressed yet.
    pub(super) names: Vec<Name>,
}

/// A missing name: its position in the text, the number of the kept read in the batch, and the mate, 1 or 2, or 0 for
/// single reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    pub(super) at: usize,
    pub(super) number: u64,
    pub(super) mate: u8,
}

/// Writes the texts of batches in their order.
pub(super) struct Writer {
    outputs: Vec<SinkWriter>,
    /// The number of reads or pairs that have got a name.
    numbered: u64,
    text: Vec<u8>,
}

impl Writer {
    pub(super) fn new(outputs: Outputs, shape: &Shape) -> Writer {
        let sinks = outputs.kept.into_iter().chain(outputs.others);
        let writers = sinks.zip(shape.all()).map(|(sink, form)| SinkWriter::new(sink, form));
        Writer { outputs: writers.collect(), numbered: 0, text: Vec::new() }
    }

    /// Ends and commits all outputs, and returns the time that the disk took.
    pub(super) fn finish(self) -> Result<Duration, Error> {
        let ended = self.outputs.into_iter().map(SinkWriter::end);
        Ok(finish_all(ended.collect::<Result<Vec<_>, _>>()?)?)
    }

    /// Inserts the names into a text.
    fn name(&mut self, part: &OutputText) {
        self.text.clear();
        let mut from = 0;
        for name in &part.names {
            self.text.extend_from_slice(&part.text[from..name.at]);
            from = name.at;
            put_decimal(self.numbered + name.number, &mut self.text);
            if name.mate > 0 {
                self.text.extend_from_slice(&[b' ', b'/', b'0' + name.mate]);
            }
        }
        self.text.extend_from_slice(&part.text[from..]);
    }
}

impl InOrderSink<Parts> for Writer {
    type Error = Error;

    fn write(&mut self, mut parts: Parts) -> Result<Option<Parts>, Error> {
        let last = |part: &OutputText| part.names.last().map_or(0, |name| name.number);
        let numbered = parts.iter().map(last).max().unwrap_or(0);
        for (number, part) in parts.iter().enumerate() {
            let mut named = Vec::new();
            let text = if part.names.is_empty() {
                &part.text
            } else {
                self.name(part);
                named.append(&mut self.text);
                self.outputs[number].compressor.compress(&mut named)?;
                &named
            };
            self.outputs[number].write(text)?;
        }
        self.numbered += numbered;
        for part in &mut parts {
            part.text.clear();
            part.names.clear();
        }
        Ok(Some(parts))
    }
}
