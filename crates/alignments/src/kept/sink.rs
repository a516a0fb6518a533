//! Outputs of reads, as text or as alignments. Workers compress the texts of batches, which are written in the order of
//! the input.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use merganser_io::{BgzfBlocks, Output, OutputCompression, OutputSet};

use super::containers::{ContainerMaker, Numbering};
use super::{KeptWriter, ReadFormat, TemplatePass};
use crate::{CRAM_END, Error, Format};

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
    pub fn create(
        set: &OutputSet,
        path: &Path,
        format: ReadFormat,
    ) -> Result<Sink, merganser_io::Error> {
        let alignments = format.of_alignments();
        let is_stdout = path.as_os_str() == "-";
        let compression = match format {
            ReadFormat::Bam => Compression::Gzip(1),
            // Its containers are compressed.
            ReadFormat::Cram => Compression::None,
            _ if is_stdout => Compression::None,
            _ => Compression::of(path),
        };
        let output = match is_stdout {
            true => set.output(path)?,
            false => Output::File(set.file(path)?),
        };
        Ok(Sink { output, compression, alignments })
    }

    /// Whether the reads are written as alignments.
    pub fn has_alignments(&self) -> bool {
        self.alignments.is_some()
    }

    /// Returns the form of the texts of a pass. `command` is the command line that headers of alignments name.
    pub fn form(&self, pass: &TemplatePass<'_>, command: &str) -> SinkForm {
        let of = |format| Arc::new(KeptWriter::new(format, pass.keep(), command));
        SinkForm {
            compression: self.compression,
            alignments: self.alignments.map(of),
            input: pass.input_name().into(),
        }
    }
}

/// The form of the texts of an output.
#[derive(Clone, Debug)]
pub struct SinkForm {
    compression: Compression,
    alignments: Option<Arc<KeptWriter>>,
    /// The name of the input, for messages.
    input: Arc<str>,
}

impl SinkForm {
    /// Returns the writer of alignments, if the output has them.
    pub fn alignments(&self) -> Option<&KeptWriter> {
        self.alignments.as_deref()
    }

    /// Creates a compressor of texts.
    pub fn compressor(&self) -> Compressor {
        let writer = self.alignments.as_ref().filter(|writer| writer.is_cram());
        Compressor::new(self.compression, writer)
    }

    fn is_cram(&self) -> bool {
        self.alignments.as_ref().is_some_and(|writer| writer.is_cram())
    }
}

/// Compresses the texts of one output.
pub struct Compressor {
    compression: Compression,
    blocks: Option<BgzfBlocks>,
    /// The encoder of CRAM, if the output is that.
    containers: Option<ContainerMaker>,
}

impl std::fmt::Debug for Compressor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Compressor").field(&self.compression).finish()
    }
}

impl Compressor {
    fn new(compression: Compression, cram: Option<&Arc<KeptWriter>>) -> Compressor {
        let blocks = match compression {
            Compression::Gzip(level) => Some(BgzfBlocks::new(level)),
            _ => None,
        };
        let containers = cram.map(|writer| ContainerMaker::new(Arc::clone(writer)));
        Compressor { compression, blocks, containers }
    }

    /// Replaces a text by its compressed form.
    ///
    /// # Errors
    /// If Zstandard fails.
    pub fn compress(&mut self, text: &mut Vec<u8>) -> Result<(), std::io::Error> {
        if text.is_empty() {
            return Ok(());
        }
        if let Some(containers) = &mut self.containers {
            *text = containers.encode(text);
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

/// Writes the texts of one output in the order of their batches.
#[derive(Debug)]
pub struct SinkWriter {
    sink: Sink,
    /// The compressor of texts that workers have not compressed.
    pub compressor: Compressor,
    form: SinkForm,
    has_begun: bool,
    /// The number of bytes that were written.
    written: u64,
    /// The number of records that were written, if the output is CRAM.
    numbering: Option<Numbering>,
}

impl SinkWriter {
    /// Creates a writer of texts of this form.
    pub fn new(sink: Sink, form: &SinkForm) -> SinkWriter {
        let (compressor, form) = (form.compressor(), form.clone());
        let numbering = form.is_cram().then(Numbering::default);
        SinkWriter { sink, compressor, form, has_begun: false, written: 0, numbering }
    }

    /// Returns the form of the texts.
    pub fn form(&self) -> &SinkForm {
        &self.form
    }

    /// Writes a compressed text, after the header if it is the first.
    ///
    /// # Errors
    /// If the header of the input is invalid, or the output cannot be written.
    pub fn write(&mut self, text: &[u8]) -> Result<(), Error> {
        self.begin()?;
        match &mut self.numbering {
            Some(numbering) => self.sink.output.write_all(&numbering.close(text)?)?,
            None => self.sink.output.write_all(text)?,
        }
        self.written += text.len() as u64;
        Ok(())
    }

    /// Writes the end, and returns the output, which is to be finished.
    ///
    /// # Errors
    /// Fails as [`write`](Self::write) does.
    pub fn end(mut self) -> Result<Output, Error> {
        self.begin()?;
        match self.sink.compression {
            _ if self.numbering.is_some() => self.sink.output.write_all(&CRAM_END)?,
            Compression::Gzip(_) => self.sink.output.write_all(&BgzfBlocks::END)?,
            // An empty file is not valid Zstandard: write an empty frame.
            Compression::Zstd(level) if self.written == 0 => {
                self.sink.output.write_all(&zstd::bulk::compress(b"", i32::from(level))?)?;
            }
            _ => {}
        }
        Ok(self.sink.output)
    }

    /// Writes the header of alignments, unless it has been written.
    fn begin(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.has_begun, true) {
            return Ok(());
        }
        let Some(writer) = self.form.alignments() else { return Ok(()) };
        let mut head = writer.head().map_err(|problem| merganser_io::Error::Alignment {
            input: self.form.input.to_string(),
            place: "header".to_owned(),
            problem,
        })?;
        if self.numbering.is_none() {
            self.compressor.compress(&mut head)?;
        }
        self.sink.output.write_all(&head)?;
        self.written += head.len() as u64;
        Ok(())
    }
}
