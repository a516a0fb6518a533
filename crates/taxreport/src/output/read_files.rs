//! The files of classified and of unclassified reads.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use merganser_alignments::{
    CopyByName, Names, ReadFormat, ReadFormats, Sink, SinkWriter, TemplatePass, may_be_apart,
    the_input_of,
};
use merganser_io::{CommentTags, Input, Output, OutputSet, ReadInput, longest_record};
use merganser_run::{ConfigError, Context};

use super::{Outputs, ReadOutput, TaxonTags};
use crate::Error;

/// The maximum number of copies of a long record in a second pass: there is one long record at a time.
const COPIES: u64 = 8;

/// The paths to which reads are written back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadPaths {
    /// The file for single reads, or for all reads.
    pub single: Option<PathBuf>,
    /// The files for first and for second mates.
    pub mates: Option<[PathBuf; 2]>,
}

impl ReadPaths {
    /// Names the files as Kraken 2 does: `#` becomes `_1` and `_2`. Single reads in the same run go to the
    /// name without `#`. If `path` has no `#`, there is one file for all reads.
    pub fn new(path: &Path, reads: &[ReadInput]) -> ReadPaths {
        let name = path.as_os_str().as_bytes();
        let Some(place) = name.iter().position(|&letter| letter == b'#') else {
            return ReadPaths { single: Some(path.to_owned()), mates: None };
        };
        let with = |by: &str| {
            let parts = [&name[..place], by.as_bytes(), &name[place + 1..]];
            PathBuf::from(OsString::from_vec(parts.concat()))
        };
        let pairs = reads.iter().any(ReadInput::is_paired);
        let singles = reads.iter().any(|input| !input.is_paired());
        ReadPaths {
            single: (singles || !pairs).then(|| with("")),
            mates: pairs.then(|| [with("_1"), with("_2")]),
        }
    }

    /// Returns all paths.
    pub fn all(&self) -> impl Iterator<Item = &Path> {
        self.single.iter().chain(self.mates.iter().flatten()).map(PathBuf::as_path)
    }
}

/// How reads are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadStyle {
    /// The format, whatever the names of the files are; otherwise the names decide.
    pub format: Option<ReadFormat>,
    /// The command line that headers of alignments name.
    pub command: String,
}

impl Default for ReadStyle {
    fn default() -> ReadStyle {
        ReadStyle { format: None, command: "merganser classify".to_owned() }
    }
}

impl ReadStyle {
    /// Whether the reads of these kinds are written as alignments.
    ///
    /// # Errors
    /// If only some are, or mates would be written to two files of alignments.
    pub fn are_alignments(&self, kinds: &[Option<ReadPaths>; 2]) -> Result<bool, ConfigError> {
        self.with_formats(kinds, |formats| formats.are_alignments())
    }

    fn with_formats<T>(
        &self,
        kinds: &[Option<ReadPaths>; 2],
        ask: impl FnOnce(ReadFormats<'_>) -> T,
    ) -> T {
        let paths = |kind: &ReadPaths| kind.all().map(Path::to_owned).collect::<Vec<_>>();
        let paths: Vec<Vec<PathBuf>> = kinds.iter().flatten().map(paths).collect();
        let paths: Vec<&[PathBuf]> = paths.iter().map(Vec::as_slice).collect();
        ask(ReadFormats { given: self.format, paths: &paths, tags: &CommentTags::None })
    }
}

/// The open files of classified and of unclassified reads.
///
/// If they are alignments (SAM, BAM or CRAM), all alignments of a template are written together, in their order and as they are
/// in the input, with the tags of a [`ReadTaxon`](super::ReadTaxon). If they may not lie side by side in a regular file, it is read again at
/// the end: a template is classified if one of its reads is, and each alignment has the tags of its read.
#[derive(Debug)]
pub struct ReadFiles(Writing);

/// How the files are written.
#[derive(Debug)]
enum Writing {
    /// While the reads are classified.
    Now(Box<Now>),
    /// After that, in a second pass over the input.
    Later(Box<Later>),
}

/// Files that are written while the reads are classified.
#[derive(Debug)]
struct Now {
    kinds: [Option<OpenReads>; 2],
    /// The pass over the reads, if they are written as alignments.
    pass: Option<TemplatePass<'static>>,
}

/// Files that are written in a second pass.
#[derive(Debug)]
struct Later {
    input: Input,
    sinks: [Option<Sink>; 2],
    /// The names of classified reads.
    names: Names,
    taxa: TaxonTags,
    command: String,
}

/// The open files of one kind of reads.
#[derive(Debug)]
enum OpenReads {
    Text(Box<OpenText>),
    Alignments(Box<SinkWriter>),
}

/// The open files of reads as text.
#[derive(Debug)]
struct OpenText {
    single: Option<Output>,
    mates: Option<[Output; 2]>,
}

impl ReadFiles {
    /// Creates the files of classified and of unclassified reads as members of `set`. Names of reads that are collected
    /// for a second pass take up to a quarter of `memory` bytes.
    ///
    /// # Errors
    /// If a file cannot be created; if only some of them are alignments, or the inputs cannot be written as such.
    pub fn create(
        paths: [Option<ReadPaths>; 2],
        style: &ReadStyle,
        reads: &[ReadInput],
        (set, memory): (&OutputSet, u64),
    ) -> Result<ReadFiles, Error> {
        let writing = match style.are_alignments(&paths)? {
            true => {
                Writing::alignments(&paths, style, the_input_of::<Error>(reads)?, (set, memory))?
            }
            false => {
                let open = |kind: &Option<ReadPaths>| {
                    kind.as_ref().map(|kind| OpenReads::text(kind, set)).transpose()
                };
                let kinds = [open(&paths[0])?, open(&paths[1])?];
                Writing::Now(Box::new(Now { kinds, pass: None }))
            }
        };
        Ok(ReadFiles(writing))
    }

    /// Returns the outputs of reads that a run writes to, without any others.
    pub fn streams(&mut self) -> Outputs<'_> {
        match &mut self.0 {
            Writing::Now(now) => {
                let [classified, unclassified] = &mut now.kinds;
                Outputs {
                    classified: classified.as_mut().map(OpenReads::stream),
                    unclassified: unclassified.as_mut().map(OpenReads::stream),
                    pass: now.pass.clone(),
                    ..Outputs::default()
                }
            }
            Writing::Later(later) => Outputs {
                classified: Some(ReadOutput { taxa: Some(&later.taxa), ..ReadOutput::default() }),
                pass: Some(TemplatePass::of_names(&later.names)),
                ..Outputs::default()
            },
        }
    }

    /// Writes what is left, and returns the files, to be finished.
    ///
    /// # Errors
    /// If a file cannot be written; if the input cannot be read again; if cancelled.
    pub fn end(self, context: &Context) -> Result<Vec<Output>, Error> {
        let mut outputs = Vec::new();
        match self.0 {
            Writing::Now(now) => {
                for kind in now.kinds.into_iter().flatten() {
                    outputs.extend(kind.end()?);
                }
            }
            Writing::Later(later) => later.write(context)?,
        }
        Ok(outputs)
    }
}

impl Writing {
    /// Creates files of alignments, which are written later if those of a template may not lie side by side.
    fn alignments(
        paths: &[Option<ReadPaths>; 2],
        style: &ReadStyle,
        reads: &ReadInput,
        (set, memory): (&OutputSet, u64),
    ) -> Result<Writing, Error> {
        let open = |kind: &ReadPaths| {
            let path = kind.single.as_deref().unwrap_or(Path::new("-"));
            let format = style.with_formats(paths, |formats| formats.of(path));
            Sink::create(set, path, format)
        };
        let [classified, unclassified] = paths;
        let sinks = [
            classified.as_ref().map(open).transpose()?,
            unclassified.as_ref().map(open).transpose()?,
        ];
        let command = style.command.clone();
        if let ReadInput::Single(input) | ReadInput::Interleaved(input) = reads
            && input.is_file()
            && may_be_apart(input)?
        {
            let (input, names) = (input.clone(), Names::new(memory / 4));
            let taxa = TaxonTags::default();
            return Ok(Writing::Later(Box::new(Later { input, sinks, names, taxa, command })));
        }
        let pass = TemplatePass::of_templates(std::slice::from_ref(reads));
        let kinds = sinks.map(|sink| {
            let sink = sink?;
            let form = sink.form(&pass, &command);
            Some(OpenReads::Alignments(Box::new(SinkWriter::new(sink, &form))))
        });
        Ok(Writing::Now(Box::new(Now { kinds, pass: Some(pass) })))
    }
}

impl Later {
    fn write(self, context: &Context) -> Result<(), Error> {
        let Later { input, sinks, names, taxa, command } = self;
        CopyByName {
            input: &input,
            names,
            tags: taxa.into_all(),
            sinks,
            command: &command,
            stage: "write",
            max_record: longest_record(context.budget() / 4, COPIES),
        }
        .run(context)?;
        Ok(())
    }
}

impl OpenReads {
    fn text(paths: &ReadPaths, set: &OutputSet) -> Result<OpenReads, Error> {
        let single = paths.single.as_deref().map(|path| set.output(path)).transpose()?;
        let mates = match &paths.mates {
            Some([one, two]) => Some([set.output(one)?, set.output(two)?]),
            None => None,
        };
        Ok(OpenReads::Text(Box::new(OpenText { single, mates })))
    }

    /// Writes the end, and returns the files.
    fn end(self) -> Result<Vec<Output>, Error> {
        match self {
            OpenReads::Text(text) => {
                let OpenText { single, mates } = *text;
                Ok(single.into_iter().chain(mates.into_iter().flatten()).collect())
            }
            OpenReads::Alignments(writer) => Ok(vec![writer.end()?]),
        }
    }

    fn stream(&mut self) -> ReadOutput<'_> {
        match self {
            OpenReads::Text(text) => ReadOutput {
                single: text.single.as_mut().map(|single| single as _),
                mates: text.mates.as_mut().map(|[one, two]| [one as _, two as _]),
                ..ReadOutput::default()
            },
            OpenReads::Alignments(writer) => {
                ReadOutput { alignments: Some(writer), ..ReadOutput::default() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_mates_have_numbers() {
        let bytes = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
        let pair = ReadInput::from(("1", "2"));
        let paths = ReadPaths::new(&bytes(b"\xe9#.fq"), std::slice::from_ref(&pair));
        assert_eq!(paths.mates, Some([bytes(b"\xe9_1.fq"), bytes(b"\xe9_2.fq")]));
        assert_eq!(paths.single, None);
        let both = ReadPaths::new(Path::new("a#.fq"), &[pair, ReadInput::from("3")]);
        assert!(both.all().eq(["a.fq", "a_1.fq", "a_2.fq"].map(Path::new)));
    }
}
