//! Outputs of reads, in the order of the input. Workers compress the texts.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use merganser_alignments::{Format, KeptWriter};
use merganser_io::{
    BgzfBlocks, KeepAlignments, Output, OutputCompression, OutputFormat, OutputSet, finish_all,
    put_decimal,
};
use merganser_run::InOrderSink;

use super::{Form, Parts, Shape};
use crate::Error;

/// The compression of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// No compression.
    None,
    /// BGZF, at a level from 0 to 12.
    Gzip(u8),
    /// Zstandard frames, at a level from 1 to 19.
    Zstd(u8),
}

impl Compression {
    /// Returns the compression that a name asks for: gzip for `.gz`, Zstandard for `.zst`, each at its fastest level.
    pub fn of(path: &Path) -> Compression {
        match OutputCompression::of_name(path) {
            Some(OutputCompression::Gzip) => Compression::Gzip(1),
            Some(OutputCompression::Zstd) => Compression::Zstd(1),
            _ => Compression::None,
        }
    }
}

merganser_run::named! {
    /// The format of reads that are written.
    pub enum ReadFormat {
        /// FASTQ, or FASTA for reads without qualities.
        Fastq = "fastq",
        /// Alignments, as text.
        Sam = "sam",
        /// Alignments, compressed.
        Bam = "bam",
    }
}

impl ReadFormat {
    /// Returns the format that a name asks for, if it does.
    fn of(path: &Path) -> Option<ReadFormat> {
        match OutputFormat::of_name(path)? {
            OutputFormat::Sam => Some(ReadFormat::Sam),
            OutputFormat::Bam => Some(ReadFormat::Bam),
            _ => Some(ReadFormat::Fastq),
        }
    }

    /// Returns the format of alignments, if the reads are written as such. Workers compress BAM.
    fn of_alignments(self) -> Option<Format> {
        match self {
            ReadFormat::Fastq => None,
            ReadFormat::Sam => Some(Format::Sam),
            ReadFormat::Bam => Some(Format::Bam(1)),
        }
    }
}

/// An open output.
#[derive(Debug)]
pub struct Sink {
    output: Output,
    compression: Compression,
    /// The format of alignments, if the reads are written as such.
    alignments: Option<Format>,
}

impl Sink {
    /// Creates an output of `set`: a file that is compressed as its name asks, or standard output for `-`.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(set: &OutputSet, path: &Path, format: ReadFormat) -> Result<Sink, Error> {
        let alignments = format.of_alignments();
        let is_stdout = path.as_os_str() == "-";
        let compression = match format {
            ReadFormat::Bam => Compression::Gzip(1),
            _ if is_stdout => Compression::None,
            _ => Compression::of(path),
        };
        let output = match is_stdout {
            true => set.output(path)?,
            false => Output::File(set.file(path)?),
        };
        Ok(Sink { output, compression, alignments })
    }
}

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
}

impl Default for OutputPaths {
    /// Returns no paths, for formats by their names.
    fn default() -> OutputPaths {
        let command = "merganser deplete filter".to_owned();
        OutputPaths { kept: Vec::new(), others: Vec::new(), format: None, command }
    }
}

impl OutputPaths {
    /// Writes the kept reads to one file. Names in `.gz` and `.zst` are compressed, those in `.sam` and `.bam` get
    /// alignments, and `-` is standard output.
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
        let others = || self.all().find_map(|path| ReadFormat::of(path));
        let format = self.format.or_else(|| ReadFormat::of(path)).or_else(others);
        format.unwrap_or(ReadFormat::Fastq)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.kept.iter().chain(&self.others)
    }

    /// Whether any reads are written as alignments.
    pub fn has_alignments(&self) -> bool {
        self.all().any(|path| self.is_alignments_at(path))
    }

    fn is_alignments_at(&self, path: &Path) -> bool {
        self.format_of(path).of_alignments().is_some()
    }

    /// Whether the reads are written as alignments.
    ///
    /// # Errors
    /// If only some are, or mates would be written to two files of alignments.
    pub(super) fn are_alignments(&self) -> Result<bool, Error> {
        let problem = match self.has_alignments() {
            false => return Ok(false),
            true if !self.all().all(|path| self.is_alignments_at(path)) => {
                "all outputs for reads must be alignments (SAM, BAM) if one is"
            }
            true if self.kept.len() > 1 || self.others.len() > 1 => {
                "alignments of both mates belong into one file: give a single output"
            }
            true => return Ok(true),
        };
        Err(refused(problem))
    }

    /// Creates the files as members of `set`.
    ///
    /// # Errors
    /// If a file cannot be created.
    pub fn create(&self, set: &OutputSet) -> Result<Outputs, Error> {
        let sinks = |paths: &[PathBuf]| {
            let sink = |path: &PathBuf| Sink::create(set, path, self.format_of(path));
            paths.iter().map(sink).collect::<Result<Vec<_>, Error>>()
        };
        let (kept, others) = (sinks(&self.kept)?, sinks(&self.others)?);
        Ok(Outputs { kept, others, command: self.command.clone() })
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
}

impl Outputs {
    /// Whether the reads are written as alignments.
    pub(super) fn are_alignments(&self) -> bool {
        self.kept.iter().chain(&self.others).any(|sink| sink.alignments.is_some())
    }

    /// Returns the forms of the outputs. `keep` is what the reader keeps for those with alignments.
    pub(super) fn shape(&self, keep: &KeepAlignments) -> Shape {
        let of = |format| Arc::new(KeptWriter::new(format, keep, &self.command));
        let form = |sink: &Sink| Form {
            compression: sink.compression,
            alignments: sink.alignments.map(of),
        };
        let of = |sinks: &[Sink]| sinks.iter().map(form).collect();
        Shape { kept: of(&self.kept), others: of(&self.others) }
    }
}

/// Returns the error for arguments that cannot be used together.
pub(super) fn refused(problem: &str) -> Error {
    Error::Config(merganser_run::ConfigError::new(problem))
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

/// Compresses the texts of one output.
pub(super) struct Compressor {
    compression: Compression,
    blocks: Option<BgzfBlocks>,
}

impl Compressor {
    pub(super) fn new(compression: Compression) -> Compressor {
        let blocks = match compression {
            Compression::Gzip(level) => Some(BgzfBlocks::new(level)),
            _ => None,
        };
        Compressor { compression, blocks }
    }

    /// Replaces a text by its compressed form.
    pub(super) fn compress(&mut self, text: &mut Vec<u8>) -> Result<(), Error> {
        if text.is_empty() {
            return Ok(());
        }
        match (&mut self.blocks, self.compression) {
            (Some(blocks), _) => {
                let mut out = Vec::with_capacity(text.len() / 3);
                blocks.compress(text, true, &mut out);
                *text = out;
            }
            (None, Compression::Zstd(level)) => {
                *text = zstd::bulk::compress(text, i32::from(level))?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// Writes the texts of batches in their order.
pub(super) struct Writer {
    sinks: Vec<Sink>,
    compressors: Vec<Compressor>,
    /// The writers of alignments whose header has not been written yet.
    heads: Vec<Option<Arc<KeptWriter>>>,
    /// The bytes that were written to each output.
    written: Vec<u64>,
    /// The number of reads or pairs that have got a name.
    numbered: u64,
    text: Vec<u8>,
}

impl Writer {
    pub(super) fn new(outputs: Outputs, shape: &Shape) -> Writer {
        let sinks: Vec<Sink> = outputs.kept.into_iter().chain(outputs.others).collect();
        // For texts with names; the others are compressed by workers.
        let compressors = sinks.iter().map(|sink| Compressor::new(sink.compression));
        let (compressors, written) = (compressors.collect(), vec![0; sinks.len()]);
        let heads = shape.all().map(|form| form.alignments.clone()).collect();
        Writer { sinks, compressors, heads, written, numbered: 0, text: Vec::new() }
    }

    /// Ends and commits all outputs, and returns the time that the disk took.
    pub(super) fn finish(mut self) -> Result<Duration, Error> {
        self.begin()?;
        for (sink, &written) in self.sinks.iter_mut().zip(&self.written) {
            match sink.compression {
                Compression::Gzip(_) => sink.output.write_all(&BgzfBlocks::END)?,
                // An empty file is not valid Zstandard: write an empty frame.
                Compression::Zstd(level) if written == 0 => {
                    sink.output.write_all(&zstd::bulk::compress(b"", i32::from(level))?)?;
                }
                _ => {}
            }
        }
        Ok(finish_all(self.sinks.into_iter().map(|sink| sink.output))?)
    }

    /// Writes the headers of alignments, unless they have been written.
    fn begin(&mut self) -> Result<(), Error> {
        for (number, head) in self.heads.iter_mut().enumerate() {
            let Some(writer) = head.take() else { continue };
            let mut head = writer.head().map_err(Error::Alignments)?;
            self.compressors[number].compress(&mut head)?;
            self.sinks[number].output.write_all(&head)?;
            self.written[number] += head.len() as u64;
        }
        Ok(())
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
        self.begin()?;
        let last = |part: &OutputText| part.names.last().map_or(0, |name| name.number);
        let numbered = parts.iter().map(last).max().unwrap_or(0);
        for (number, part) in parts.iter().enumerate() {
            let mut named = Vec::new();
            let text = if part.names.is_empty() {
                &part.text
            } else {
                self.name(part);
                named.append(&mut self.text);
                self.compressors[number].compress(&mut named)?;
                &named
            };
            self.sinks[number].output.write_all(text)?;
            self.written[number] += text.len() as u64;
        }
        self.numbered += numbered;
        for part in &mut parts {
            part.text.clear();
            part.names.clear();
        }
        Ok(Some(parts))
    }
}
