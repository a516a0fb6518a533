//! Outputs of samples, in the order of the input. Workers compress the texts.

use std::path::PathBuf;
use std::time::Duration;

use merganser_alignments::{ReadFormat, Sink, SinkForm, SinkWriter, TemplatePass};
use merganser_io::{OutputSet, finish_all};
use merganser_run::{ConfigError, InOrderSink, raise_open_file_limit};

use super::Samples;
use crate::Error;

/// The number of files besides the outputs that may be open: inputs, lists, streams.
const OTHER_FILES: u64 = 32;

/// The paths of the outputs of demultiplexing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SamplePaths {
    /// The path of the reads of a sample, with `{}` for its name. Names in `.gz` and `.zst` are compressed.
    pub template: String,
    /// The file of the refused reads, if it is wanted.
    pub unassigned: Option<PathBuf>,
}

impl SamplePaths {
    /// Returns the paths of all outputs, that of refused reads last.
    ///
    /// # Errors
    /// If the template has no `{}`, or a path asks for alignments.
    pub fn all(&self, samples: &Samples) -> Result<Vec<PathBuf>, Error> {
        let wrong = |problem: String| Err(Error::Config(ConfigError::new(problem)));
        if !self.template.contains("{}") {
            let template = &self.template;
            return wrong(format!(
                "the output {template} has no {{}} for the sample's name: give out/{{}}.fq.gz"
            ));
        }
        let of_sample = |name: &str| PathBuf::from(self.template.replace("{}", name));
        let paths = samples.all().iter().map(|sample| of_sample(sample.name()));
        let paths: Vec<PathBuf> = paths.chain(self.unassigned.clone()).collect();
        let has_alignments = |path: &&PathBuf| {
            ReadFormat::of_name(path).is_some_and(|format| format.of_alignments().is_some())
        };
        match paths.iter().find(has_alignments) {
            Some(path) => wrong(format!(
                "{}: reads of samples are written as FASTQ or FASTA: name it .fq.gz",
                path.display()
            )),
            None => Ok(paths),
        }
    }

    /// Creates the files as members of `set`.
    pub(crate) fn create(&self, samples: &Samples, set: &OutputSet) -> Result<Vec<Sink>, Error> {
        let paths = self.all(samples)?;
        let limit = raise_open_file_limit();
        if paths.len() as u64 + OTHER_FILES > limit {
            let problem = format!(
                "{} outputs are open at the same time, and the system allows {limit} files: raise it (ulimit -n)",
                paths.len()
            );
            return Err(Error::Input(problem));
        }
        let sink = |path: &PathBuf| Ok(Sink::create(set, path, ReadFormat::Fastq)?);
        paths.iter().map(sink).collect()
    }
}

/// The texts of a batch, one for each output.
pub(super) type Parts = Vec<Vec<u8>>;

/// Writes the texts of batches in their order.
pub(super) struct Writer {
    outputs: Vec<SinkWriter>,
}

impl Writer {
    pub(super) fn new(sinks: Vec<Sink>, forms: &[SinkForm]) -> Writer {
        let writers = sinks.into_iter().zip(forms).map(|(sink, form)| SinkWriter::new(sink, form));
        Writer { outputs: writers.collect() }
    }

    /// Ends and commits all outputs, and returns the time that the disk took.
    pub(super) fn finish(self) -> Result<Duration, Error> {
        let ended = self.outputs.into_iter().map(SinkWriter::end);
        Ok(finish_all(ended.collect::<Result<Vec<_>, _>>()?)?)
    }
}

impl InOrderSink<Parts> for Writer {
    type Error = Error;

    fn write(&mut self, mut parts: Parts) -> Result<Option<Parts>, Error> {
        for (part, output) in parts.iter_mut().zip(&mut self.outputs) {
            if !part.is_empty() {
                output.write(part)?;
                part.clear();
            }
        }
        Ok(Some(parts))
    }
}

/// Returns the forms of the texts of outputs.
pub(super) fn forms(sinks: &[Sink], pass: &TemplatePass<'_>) -> Vec<SinkForm> {
    sinks.iter().map(|sink| sink.form(pass, "")).collect()
}
