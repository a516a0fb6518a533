//! Writes alignments that were [kept](merganser_io::KeepAlignments) beside their reads, as SAM, BAM or CRAM.

mod containers;
mod copy;
mod format;
mod header;
mod lines;
mod names;
mod pass;
pub(crate) mod reads;
mod sink;
mod tagged;

use std::sync::{Arc, OnceLock};

use merganser_io::{AlignmentHeader, KeepAlignments, RecordBatch};

use crate::cram::{self, Groups, Stored};
use crate::fields::records;
use crate::sequences::read_groups;
use crate::{Error, Fields, Format, flag};
pub use copy::{Copied, CopyByName};
pub use format::{ReadFormat, ReadFormats};
use header::References;
pub use names::Names;
pub use pass::{
    TemplatePass, can_begin_again, may_be_apart, once_or_twice, problem_of, the_input_of,
};
pub use sink::{Compression, Compressor, Sink, SinkForm, SinkWriter};

/// A writer of the alignments of reads. Each alignment is written as it is in the input. Reads without alignments, from
/// FASTQ or FASTA, become unmapped ones; a comment of their header whose fields are tags of SAM (`BC:Z:ACGT`, separated
/// by tabs, as `samtools fastq -T` writes them) becomes their tags, and other comments are left out.
#[derive(Debug)]
pub struct KeptWriter {
    format: Format,
    /// The header of the input, if it has alignments.
    source: Arc<OnceLock<AlignmentHeader>>,
    /// The command line, for the header.
    command: String,
    references: OnceLock<Result<References, String>>,
}

/// The name and the flags of an alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptAlignment<'a> {
    /// The name of the template.
    pub name: &'a [u8],
    /// The bits of [`flag`].
    pub flags: u16,
}

impl<'a> KeptAlignment<'a> {
    /// Returns the name and the flags of the first of these alignments, which have the form that `header` says. Their
    /// records must be whole, as those that a reader has kept are.
    pub fn first_of(header: &AlignmentHeader, alignments: &'a [u8]) -> KeptAlignment<'a> {
        match header {
            AlignmentHeader::Bam(_) => {
                let fields = Fields(alignments);
                let name = alignments.get(36..35 + usize::from(alignments[12]));
                KeptAlignment { name: name.unwrap_or_default(), flags: fields.flags() }
            }
            AlignmentHeader::Sam(_) => {
                let mut columns = alignments.splitn(3, |&byte| byte == b'\t');
                let name = columns.next().unwrap_or_default();
                let flags = columns.next().and_then(|text| std::str::from_utf8(text).ok());
                KeptAlignment { name, flags: flags.and_then(|text| text.parse().ok()).unwrap_or(0) }
            }
        }
    }

    /// Returns 1 or 2 for first and second mates, and 0 for single reads.
    fn mate(&self) -> usize {
        match self.flags & (flag::FIRST | flag::LAST) {
            flag::FIRST => 1,
            flag::LAST => 2,
            _ => 0,
        }
    }

    /// Whether the alignment is the primary one of its read.
    pub fn is_primary(&self) -> bool {
        self.flags & crate::read::NOT_PRIMARY == 0
    }
}

impl KeptWriter {
    /// Creates a writer of `format` for what a reader keeps. `command` is the command line that the header names.
    pub fn new(format: Format, keep: &KeepAlignments, command: &str) -> KeptWriter {
        let (source, command) = (Arc::clone(&keep.header), command.to_owned());
        KeptWriter { format, source, command, references: OnceLock::new() }
    }

    /// Returns the start of the file: the header of the input with another @PG line. That of BAM is not compressed. It
    /// is known once the reader has returned a batch or has ended.
    ///
    /// # Errors
    /// If the header of the input is invalid.
    pub fn head(&self) -> Result<Vec<u8>, String> {
        let text = self.source.get().map_or(header::OF_READS, AlignmentHeader::text);
        let references = self.references()?;
        let text = references.add_missing_to(header::with_program(text, &self.command));
        Ok(match self.format {
            Format::Sam => text,
            Format::Bam(_) => references.bam_header(&text),
            Format::Cram => {
                references.check_text(&text)?;
                cram::head(&text)
            }
        })
    }

    /// Appends the alignments of a record: lines of SAM, or records of BAM that are not compressed, also for CRAM.
    ///
    /// # Errors
    /// If an alignment cannot be written in this format, or the header of the input is invalid; the error names the
    /// record.
    pub fn put(&self, batch: &RecordBatch, at: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        self.append(batch, at, out).map_err(|problem| problem_of(batch, at, &problem))
    }

    /// Appends the alignments of a record with more tags, as columns of SAM: `tx:i:9606`, with tabs between them. They
    /// replace tags of the same names.
    ///
    /// # Errors
    /// Fails as [`put`](Self::put) does.
    pub fn put_tagged(
        &self,
        batch: &RecordBatch,
        at: usize,
        tags: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let mut alignments = Vec::new();
        self.put(batch, at, &mut alignments)?;
        tagged::put(self.format, &alignments, tags, out)
            .map_err(|problem| problem_of(batch, at, &problem))
    }

    fn append(&self, batch: &RecordBatch, at: usize, out: &mut Vec<u8>) -> Result<(), String> {
        let (alignments, begin) = (batch.alignments(at), out.len());
        let is_bam = self.format != Format::Sam;
        match self.source.get() {
            Some(AlignmentHeader::Bam(_)) if is_bam => out.extend_from_slice(alignments),
            Some(AlignmentHeader::Sam(_)) if !is_bam => out.extend_from_slice(alignments),
            Some(AlignmentHeader::Bam(_)) => self.references()?.lines_of(alignments, out)?,
            Some(AlignmentHeader::Sam(_)) => self.references()?.records_of(alignments, out)?,
            None => reads::put(batch, at, self.format, out)?,
        }
        if self.is_cram() { self.check(&out[begin..]) } else { Ok(()) }
    }

    fn is_cram(&self) -> bool {
        self.format == Format::Cram
    }

    /// Checks that CRAM can store records.
    fn check(&self, all: &[u8]) -> Result<(), String> {
        let contigs = self.references()?.len();
        let problem = records(all).find_map(|record| Stored::new(record).problem(contigs));
        problem.map_or(Ok(()), |problem| Err(problem.to_owned()))
    }

    /// Returns the numbers of the read groups of the header, by their IDs.
    fn groups(&self) -> Arc<Groups> {
        let text = self.source.get().map_or(&[][..], AlignmentHeader::text);
        let all: Vec<&[u8]> = read_groups(text).collect();
        let groups: Groups = all.iter().map(|id| id.to_vec()).zip(0..).collect();
        // Readers number repeated IDs and lines without one in different ways: then all groups are stored as text.
        let lines = text.split(|&byte| byte == b'\n').filter(|line| line.starts_with(b"@RG\t"));
        Arc::new(if groups.len() == lines.count() { groups } else { Groups::default() })
    }

    fn references(&self) -> Result<&References, String> {
        let of = || match self.source.get() {
            Some(header) => References::of(header),
            None => Ok(References::default()),
        };
        self.references.get_or_init(of).as_ref().map_err(Clone::clone)
    }
}
