//! Read groups of the inputs, which the output keeps with the tags of the reads.
//!
//! The header of the output is written before most of the inputs are read. Therefore the headers of files are read in
//! advance, and the header of a stream counts only if it is among the first reads.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use merganser_alignments::{ReadGroup, RecordOptions, TagRule};
use merganser_io::{
    AlignmentHeader, CommentTags, Input, InputHeaders, KeepAlignments, ReadInput, RecordBatch,
    Records,
};
use merganser_run::{Context, Warnings};

use crate::source::{ReadBatch, longest_record};
use crate::{Config, Error};

/// A read group and the file whose header describes it.
struct Described {
    group: ReadGroup,
    file: String,
}

/// The tags of reads that their records keep, and the read groups of the output.
pub(crate) struct KeptTags {
    rule: TagRule,
    /// The read groups of the options, if they replace those of the inputs.
    given: Option<Vec<ReadGroup>>,
    /// The read groups of each segment; `None` if it has a stream.
    ahead: Vec<Option<Vec<Described>>>,
    /// The headers of the inputs of the run.
    headers: InputHeaders,
    groups: OnceLock<Vec<ReadGroup>>,
    warnings: Warnings,
    has_warned: AtomicBool,
}

impl KeptTags {
    /// Reads the headers of the files of `inputs`, if their read groups are kept.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub(crate) fn new(
        config: &Config,
        inputs: &[ReadInput],
        context: &Context,
    ) -> Result<KeptTags, Error> {
        let keeps_groups = keeps_groups(config);
        let longest = longest_record(context.budget());
        let ahead = match keeps_groups {
            true => inputs.iter().map(|one| ahead(one, longest)).collect::<Result<_, _>>()?,
            false => Vec::new(),
        };
        Ok(KeptTags {
            rule: tag_rule(config),
            given: (!keeps_groups).then(|| config.read_groups.clone()),
            ahead,
            headers: InputHeaders::default(),
            groups: OnceLock::new(),
            warnings: context.warnings.clone(),
            has_warned: AtomicBool::new(false),
        })
    }

    /// Returns the rule for the tags of reads.
    pub(crate) fn rule(&self) -> &TagRule {
        &self.rule
    }

    /// Returns where the reader of the inputs puts their headers, if their read groups are kept.
    pub(crate) fn headers(&self) -> Option<InputHeaders> {
        self.given.is_none().then(|| self.headers.clone())
    }

    /// Returns the read groups of the output. If the first input is a stream, its first batch must have been read.
    ///
    /// # Errors
    /// If two inputs have different read groups of the same ID.
    pub(crate) fn groups(&self) -> Result<&[ReadGroup], Error> {
        if let Some(groups) = self.given.as_deref().or(self.groups.get().map(|groups| &groups[..]))
        {
            return Ok(groups);
        }
        let streamed = match self.ahead.first() {
            Some(None) => described(&self.headers, 0)?,
            _ => Vec::new(),
        };
        let mut all: Vec<&Described> = Vec::new();
        for one in streamed.iter().chain(self.ahead.iter().flatten().flatten()) {
            match all.iter().find(|known| known.group.id() == one.group.id()) {
                None => all.push(one),
                Some(known) if known.group.is_same(&one.group) => {}
                Some(known) => return Err(conflict(known, one)),
            }
        }
        let groups = all.into_iter().map(|one| one.group.clone()).collect();
        Ok(self.groups.get_or_init(|| groups))
    }

    /// Checks that the output has the read groups of a segment, of which a batch has been read.
    ///
    /// # Errors
    /// If it does not, or two inputs have different read groups of the same ID.
    pub(crate) fn check(&self, segment: usize) -> Result<(), Error> {
        let groups = self.groups()?;
        if segment == 0 || !matches!(self.ahead.get(segment), Some(None)) {
            return Ok(());
        }
        for Described { group, file } in described(&self.headers, segment)? {
            if !groups.iter().any(|known| known.is_same(&group)) {
                let id = group.id();
                return Err(Error::Input(format!(
                    "{file}: its read group {id} is not in the header of the output, which was written before \
                     this stream was read: give it as the first input or as a file, or give `read_group`"
                )));
            }
        }
        Ok(())
    }

    /// Warns if no header describes the read group of a read, once.
    pub(crate) fn note_group(&self, batch: &ReadBatch, read: usize, id: &[u8]) {
        let is_known = |groups: &[ReadGroup]| groups.iter().any(|one| one.id().as_bytes() == id);
        if self.groups().is_ok_and(is_known) || self.has_warned.swap(true, Ordering::Relaxed) {
            return;
        }
        let id = String::from_utf8_lossy(id);
        let problem = format!(
            "has the read group {id}, which no header describes: other programs may refuse the output; give \
             `read_group` to replace it"
        );
        self.warnings.push(batch.error(read, problem).to_string());
    }
}

fn keeps_groups(config: &Config) -> bool {
    config.tags.is_some() && config.read_groups.is_empty()
}

/// Returns the rule for the tags of reads.
fn tag_rule(config: &Config) -> TagRule {
    let none = CommentTags::None;
    TagRule::new(config.tags.as_ref().unwrap_or(&none), keeps_groups(config))
}

/// Returns the tags of alignments that become comments of reads; `None` if no comments are kept.
pub(crate) fn tags_of_reader(config: &Config) -> Option<CommentTags> {
    config.tags.is_some().then(|| tag_rule(config).of_reader())
}

/// Returns the read groups of a segment of files; `None` if it has a stream. `max_record` is the limit of the run.
fn ahead(segment: &ReadInput, max_record: usize) -> Result<Option<Vec<Described>>, Error> {
    if !segment.inputs().all(Input::is_file) {
        return Ok(None);
    }
    let headers = InputHeaders::default();
    let keep = KeepAlignments { headers: Some(headers.clone()), ..KeepAlignments::default() };
    // The first records are read again, with the options of the run, and then checked.
    let options = RecordOptions {
        keep_alignments: keep,
        any_names: true,
        max_record,
        ..RecordOptions::beginning()
    };
    Records::open([segment.clone()], options)?.next(&mut RecordBatch::default())?;
    described(&headers, 0).map(Some)
}

/// Returns the read groups of the files of a segment.
fn described(headers: &InputHeaders, segment: usize) -> Result<Vec<Described>, Error> {
    let mut found = Vec::new();
    headers.each(segment, |file, header: &AlignmentHeader| {
        let lines = header.text().split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
        for line in lines.filter(|line| line.starts_with(b"@RG\t")) {
            let group = ReadGroup::of_header(line).map_err(|problem| {
                Error::Input(format!(
                    "{file}: a read group (@RG) of its header: {problem}: give `read_group`, which replaces it"
                ))
            })?;
            found.push(Described { group, file: file.to_owned() });
        }
        Ok::<(), Error>(())
    })?;
    Ok(found)
}

fn conflict(one: &Described, two: &Described) -> Error {
    Error::Input(format!(
        "{}: its read group {} differs from that of {}: rename it in one of them (samtools addreplacerg), or \
         give `read_group` for all reads",
        two.file,
        two.group.id(),
        one.file
    ))
}
