//! Extracted reads as alignments: each as it is in the input, with all those of its template.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use merganser_alignments::{
    CopyByName, Names, ReadFormat, ReadFormats, Sink, SinkWriter, TemplatePass, can_begin_again,
    once_or_twice,
};
use merganser_io::{
    CommentTags, Error as IoError, Input, OutputSet, ReadInput, is_file, longest_record,
};
use merganser_run::{ConfigError, Context};

use super::worker::Written;
use super::{
    COPIES, ExtractConfig, ExtractFiles, ExtractOutcome, ExtractOutputs, STAGE, room, run_pass,
};
use crate::Error;
use crate::output::ReadPaths;

/// The files of extracted reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtractPaths {
    /// The files. Names in `.gz` are compressed, and those in `.sam`, `.bam` and `.cram` get alignments.
    pub reads: ReadPaths,
    /// The format, whatever the names are; otherwise the names decide.
    pub format: Option<ReadFormat>,
    /// The command line that headers of alignments name.
    pub command: String,
    /// The tags of alignments that become comments of reads that are written as text.
    pub tags: CommentTags,
}

impl ExtractPaths {
    /// Writes to files in formats by their names.
    pub fn new(reads: ReadPaths) -> ExtractPaths {
        let command = "merganser extract reads".to_owned();
        ExtractPaths { reads, format: None, command, tags: CommentTags::None }
    }

    /// Whether the reads are written as alignments.
    ///
    /// # Errors
    /// If only some are, mates would be written to two files of alignments, or tags to comments.
    pub fn are_alignments(&self) -> Result<bool, Error> {
        Ok(self.with_formats(|formats| formats.are_alignments())?)
    }

    fn with_formats<T>(&self, ask: impl FnOnce(ReadFormats<'_>) -> T) -> T {
        let paths: Vec<PathBuf> = self.reads.all().map(Path::to_owned).collect();
        ask(ReadFormats { given: self.format, paths: &[&paths], tags: &self.tags })
    }

    /// Creates the file of alignments as a member of `set`.
    fn create(&self, set: &OutputSet) -> Result<Sink, Error> {
        let path = self.reads.single.as_deref().unwrap_or(Path::new("-"));
        Ok(Sink::create(set, path, self.with_formats(|formats| formats.of(path)))?)
    }
}

/// Extracts reads like [`run()`](super::run), to files of `set`, which the caller commits.
///
/// If they are alignments (SAM, BAM or CRAM), all alignments of a template are extracted together, in their order and as they
/// are in the input. If they do not lie side by side in a regular file, it is read twice, and mates that do not lie side
/// by side are decided one by one: a template is extracted if one of its reads is of the taxa or, with
/// [`exclude`](ExtractConfig::exclude), if none is.
///
/// # Errors
/// Fails as [`run()`](super::run) does, and if the files cannot be alignments.
pub fn run_in(
    config: &ExtractConfig,
    lines: &Path,
    segments: &[ReadInput],
    (paths, set): (&ExtractPaths, &OutputSet),
    context: &Context,
) -> Result<ExtractOutcome, Error> {
    if paths.are_alignments()? {
        if config.fasta {
            return Err(ConfigError::new("alignments cannot be written as FASTA").into());
        }
        // What was read from a pipe is lost.
        let can_begin_again =
            is_file(lines).unwrap_or(false) && paths.reads.all().all(can_begin_again);
        return once_or_twice(
            segments,
            can_begin_again,
            |error| matches!(error, Error::Io(IoError::Ungrouped { .. })),
            || in_one_pass(config, lines, segments, (paths, set), context),
            |input| in_two_passes(config, lines, input, (paths, set), context),
        );
    }
    let mut files = ExtractFiles::create(&paths.reads, set)?;
    let pass = TemplatePass::of_text(&paths.tags);
    let written = Written::Text(files.streams());
    let outcome = run_pass(config, lines, (segments, &pass), written, context)?;
    files.finish()?;
    Ok(outcome)
}

/// Extracts templates whose alignments lie side by side.
fn in_one_pass(
    config: &ExtractConfig,
    lines: &Path,
    segments: &[ReadInput],
    (paths, set): (&ExtractPaths, &OutputSet),
    context: &Context,
) -> Result<ExtractOutcome, Error> {
    let sink = paths.create(set)?;
    let pass = TemplatePass::of_templates(segments);
    let form = sink.form(&pass, &paths.command);
    let written = Written::Alignments(Box::new(SinkWriter::new(sink, &form)));
    run_pass(config, lines, (segments, &pass), written, context)
}

/// Decides first, by primary alignments, and then writes all alignments by the names of their templates.
fn in_two_passes(
    config: &ExtractConfig,
    lines: &Path,
    input: &Input,
    (paths, set): (&ExtractPaths, &OutputSet),
    context: &Context,
) -> Result<ExtractOutcome, Error> {
    let sink = paths.create(set)?;
    let segments = [ReadInput::from(input.clone())];
    let names = Names::new(room(context)? / 4);
    let pass = TemplatePass::of_names(&names);
    let nothing = Written::Text(ExtractOutputs::default());
    let mut outcome = run_pass(config, lines, (&segments, &pass), nothing, context)?;
    let keeps_named = config.keeps_named();
    let sinks = if keeps_named { [Some(sink), None] } else { [None, Some(sink)] };
    let max_record = longest_record(room(context)? / 4, 2 * COPIES);
    let (command, stage, tags) = (&*paths.command, STAGE, HashMap::new());
    let copied =
        CopyByName { input, names, tags, sinks, command, stage, max_record }.run(context)?;
    outcome.extracted = copied.reads[usize::from(!keeps_named)];
    Ok(outcome)
}

impl ExtractConfig {
    /// Whether templates with a collected name are extracted, and not the others: the names are of the reads that decide
    /// about their templates whatever the mates are.
    pub(super) fn keeps_named(&self) -> bool {
        !self.exclude
    }
}
