//! Filtered reads as alignments: each as it is in the input, with all those of its template.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;

use merganser_alignments::{
    CopyByName, Names, ReadFormat, ReadFormats, Sink, SinkForm, SinkWriter, TemplatePass,
    can_begin_again, once_or_twice,
};
use merganser_io::{CommentTags, Error as IoError, Input, OutputSet, ReadInput, finish_all};
use merganser_run::ConfigError;
use merganser_run::locks::{into_inner, lock};

use super::{Filter, FilterConfig, Filtered, filter_text};
use crate::Error;
use crate::reads::Job;
use crate::reads::batch;
use crate::reads::mates::Mates;

/// The number of copies of a record that are in memory while it is copied to an output.
const COPIES: u64 = 8;

/// The files of reads that a filter keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterOutputs {
    /// A file for all reads, or two for first and second mates. Names in `.gz` are compressed, those in `.sam`,
    /// `.bam` and `.cram` get alignments, and `-` is standard output.
    pub paths: Vec<PathBuf>,
    /// The format, whatever the names are; otherwise the names decide.
    pub format: Option<ReadFormat>,
    /// The command line that headers of alignments name.
    pub command: String,
    /// The tags of alignments that become comments of reads that are written as text.
    pub tags: CommentTags,
}

impl FilterOutputs {
    /// Writes to files in formats by their names.
    pub fn new(paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> FilterOutputs {
        let paths = paths.into_iter().map(Into::into).collect();
        let command = "merganser kmers filter-reads".to_owned();
        FilterOutputs { paths, format: None, command, tags: CommentTags::None }
    }

    /// Whether the reads are written as alignments.
    ///
    /// # Errors
    /// If that is not possible with this configuration, or for these files.
    pub fn are_alignments(&self, config: &FilterConfig) -> Result<bool, Error> {
        let are_alignments = self.with_formats(|formats| formats.are_alignments())?;
        if are_alignments && (config.trim || config.mask.is_some()) {
            let problem =
                "`trim` and `mask` are for FASTQ and FASTA: alignments are written as they are";
            return Err(ConfigError::new(problem).into());
        }
        Ok(are_alignments)
    }

    /// Creates the file of alignments as a member of `set`.
    fn create(&self, set: &OutputSet) -> Result<Sink, Error> {
        let path = &self.paths[0];
        Ok(Sink::create(set, path, self.with_formats(|formats| formats.of(path)))?)
    }

    fn with_formats<T>(&self, ask: impl FnOnce(ReadFormats<'_>) -> T) -> T {
        ask(ReadFormats { given: self.format, paths: &[&self.paths], tags: &self.tags })
    }
}

/// Filters reads like [`filter_reads_with`](super::filter_reads_with), to files of `set`, which the caller commits.
///
/// If they are alignments (SAM, BAM or CRAM), all alignments of a template are kept or removed together, in their order and as
/// they are in the input. If they do not lie side by side in a regular file, it is read twice, and mates that do not lie
/// side by side are decided one by one: a pair is kept [if any mate would be](Mates::Any) or
/// [if both would be](Mates::Both); [otherwise](Mates::Together) it is an error.
///
/// # Errors
/// If the configuration is [invalid](FilterConfig::validate), an input is invalid, mates do not belong together, an output cannot
/// be written, or it cannot be alignments.
pub fn filter_reads_in(
    config: &FilterConfig,
    job: Job<'_>,
    segments: &[ReadInput],
    (outputs, set): (&FilterOutputs, &OutputSet),
) -> Result<Filtered, Error> {
    config.validate()?;
    if outputs.are_alignments(config)? {
        return filter_alignments(config, job, segments, (outputs, set));
    }
    let files = outputs.paths.iter().map(|path| set.output(path));
    let mut files = files.collect::<Result<Vec<_>, _>>()?;
    let filtered = filter_text(config, job, segments, &mut files, &outputs.tags)?;
    finish_all(files)?;
    Ok(filtered)
}

fn filter_alignments(
    config: &FilterConfig,
    job: Job<'_>,
    segments: &[ReadInput],
    (outputs, set): (&FilterOutputs, &OutputSet),
) -> Result<Filtered, Error> {
    // The hits of both mates can be added only where these are side by side.
    let only_once = config.pairs == Mates::Together;
    once_or_twice(
        segments,
        only_once || outputs.paths.iter().all(|path| can_begin_again(path)),
        |error| !only_once && matches!(error, Error::Io(IoError::Ungrouped { .. })),
        || in_one_pass(config, job, segments, outputs, set),
        |input| in_two_passes(config, job, input, outputs, set),
    )
}

/// Filters templates whose alignments lie side by side.
fn in_one_pass(
    config: &FilterConfig,
    job: Job<'_>,
    segments: &[ReadInput],
    outputs: &FilterOutputs,
    set: &OutputSet,
) -> Result<Filtered, Error> {
    let sink = outputs.create(set)?;
    let pass = TemplatePass::of_templates(segments);
    let form = sink.form(&pass, &outputs.command);
    let writer = Mutex::new(SinkWriter::new(sink, &form));
    let alignments = Alignments { pass, output: Some(AlignmentOutput { form, writer }) };
    let filter = Filter::new(config, &job, 1, alignments);
    let filtered = filter.run(job, segments, &mut [])?;
    let output = filter.alignments.output.map(|output| into_inner(output.writer).end());
    finish_all(output.transpose()?)?;
    Ok(filtered)
}

/// Decides first, by primary alignments, and then writes all alignments by the names of their templates.
fn in_two_passes(
    config: &FilterConfig,
    job: Job<'_>,
    input: &Input,
    outputs: &FilterOutputs,
    set: &OutputSet,
) -> Result<Filtered, Error> {
    let sink = outputs.create(set)?;
    let record_bytes = job.record_bytes / 2;
    let names = Names::new(record_bytes);
    let alignments = Alignments { pass: TemplatePass::of_names(&names), output: None };
    let filter = Filter::new(config, &job, 0, alignments);
    filter.run(Job { record_bytes, ..job }, &[ReadInput::from(input.clone())], &mut [])?;
    drop(filter);
    let keeps_named = config.keeps_named();
    let sinks = if keeps_named { [Some(sink), None] } else { [None, Some(sink)] };
    let copy = CopyByName {
        input,
        names,
        tags: HashMap::new(),
        sinks,
        command: &outputs.command,
        stage: batch::FILTERING,
        max_record: merganser_io::longest_record(record_bytes, COPIES),
    };
    let copied = copy.run(job.context)?;
    let (reads, kept) = (copied.reads.iter().sum(), copied.reads[usize::from(!keeps_named)]);
    Ok(Filtered { reads, kept, ..Filtered::default() })
}

/// The alignments of the reads of a pass.
pub(super) struct Alignments<'a> {
    pub(super) pass: TemplatePass<'a>,
    /// The output, if the pass has one for alignments.
    pub(super) output: Option<AlignmentOutput>,
}

/// An output of alignments.
pub(super) struct AlignmentOutput {
    pub(super) form: SinkForm,
    writer: Mutex<SinkWriter>,
}

impl AlignmentOutput {
    /// Compresses the text of a batch.
    pub(super) fn compress(&self, text: &mut Vec<u8>) -> Result<(), Error> {
        Ok(self.form.compressor().compress(text)?)
    }

    /// Writes the text of the next batch.
    pub(super) fn write(&self, text: &[u8]) -> Result<(), Error> {
        Ok(lock(&self.writer).write(text)?)
    }
}

impl FilterConfig {
    /// Whether reads with a collected name are kept, and not the others: the names are of the reads that decide about
    /// their templates whatever the mates are.
    pub(super) fn keeps_named(&self) -> bool {
        (self.pairs == Mates::Both) == self.invert
    }
}
