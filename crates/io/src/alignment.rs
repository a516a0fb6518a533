//! The interface to a crate that reads alignments, and the detection of their formats.
//!
//! This crate recognizes SAM, BAM and CRAM by their first bytes, but does not read them. The type of the options
//! ([`Formats`]) names the reader of alignments. Options without that type cannot be opened, so that no job omits
//! support for alignments by mistake.

mod comments;
mod kept;
mod runs;
mod sniff;

use std::fmt;
use std::io::{self, Read};
use std::path::Path;

pub use comments::CommentTags;
pub use kept::{AlignmentBytes, AlignmentHeader, InputHeaders, KeepAlignments, WhichAlignments};
pub use runs::{MateRuns, Role};
pub(crate) use sniff::{Sniffed, sniff};

/// The first bytes of a CRAM file.
pub(crate) const CRAM_MAGIC: &[u8] = b"CRAM";

/// The alignment formats that are read, named by a type.
///
/// The type must be stated in the options:
///
/// ```
/// # use merganser_io::{Input, Reader, ReaderOptions, SequencesOnly};
/// # let inputs: [Input; 0] = [];
/// let reader = Reader::open(&inputs, ReaderOptions::<SequencesOnly>::default())?;
/// # Ok::<(), merganser_io::Error>(())
/// ```
///
/// Without the type, options have no default value, even if their own type is written out:
///
/// ```compile_fail,E0283
/// # use merganser_io::{Input, Reader, ReaderOptions};
/// # let inputs: [Input; 0] = [];
/// let reader = Reader::open(&inputs, ReaderOptions::default())?;
/// # Ok::<(), merganser_io::Error>(())
/// ```
///
/// ```compile_fail,E0277
/// # use merganser_io::RecordOptions;
/// let options: RecordOptions = RecordOptions::default();
/// ```
pub trait Formats {
    /// Returns the reader of alignments; `None` if alignment files are rejected.
    fn alignments(&self) -> Option<&'static dyn Alignments>;
}

/// Only FASTA and FASTQ: alignment files are rejected.
#[derive(Clone, Copy, Debug, Default)]
pub struct SequencesOnly;

impl Formats for SequencesOnly {
    fn alignments(&self) -> Option<&'static dyn Alignments> {
        None
    }
}

/// The type-erased formats of opened options. It has no default value: only a type that names the reader of
/// alignments has one.
#[derive(Clone, Copy, Debug)]
pub struct AnyFormats(Option<&'static dyn Alignments>);

impl AnyFormats {
    pub(crate) fn of(formats: &impl Formats) -> AnyFormats {
        AnyFormats(formats.alignments())
    }
}

impl Formats for AnyFormats {
    fn alignments(&self) -> Option<&'static dyn Alignments> {
        self.0
    }
}

/// The number of an invalid record, counted from 0 in the given input, and a description of the problem.
pub type Problem = (u64, String);

/// A reader of alignments.
///
/// SAM and BAM are quickly cut between records in file order, and each worker converts its stretches to FASTQ. CRAM
/// is read as whole containers, which the workers decode.
pub trait Alignments: fmt::Debug + Send + Sync {
    /// Whether a SAM line, without its line end, is a valid header line or empty.
    fn is_sam_header(&self, line: &[u8]) -> bool;

    /// Adds the reads of whole SAM lines, which may include header lines.
    ///
    /// # Errors
    /// If a line is invalid.
    fn read_sam(&self, lines: &[u8], reads: &mut Reads) -> Result<(), Problem>;

    /// Returns the length of the BAM header at the start of `bytes`; `None` if `bytes` ends within it.
    fn bam_header(&self, bytes: &[u8]) -> Option<usize>;

    /// Returns the number of bytes of whole BAM records at the start of `bytes`, and the number of these records. With
    /// `templates`, the records at the end that have one name are not counted.
    ///
    /// # Errors
    /// If the size of a record is invalid: its number, from 0.
    fn whole_bam(&self, bytes: &[u8], templates: bool) -> Result<(usize, u64), u64>;

    /// Returns the size in bytes of the BAM record at the start of `bytes`, as far as it is known from these bytes.
    fn bam_record_size(&self, bytes: &[u8]) -> usize;

    /// Adds the reads of whole BAM records.
    ///
    /// # Errors
    /// If a record is invalid.
    fn read_bam(&self, records: &[u8], reads: &mut Reads) -> Result<(), Problem>;

    /// Opens a CRAM file. `reference` is the file with its reference sequences.
    ///
    /// # Errors
    /// If the header or the reference cannot be read, or if CRAM support is not built in.
    fn open_cram(
        &self,
        input: Box<dyn Read + Send>,
        reference: Option<&Path>,
    ) -> io::Result<Box<dyn Containers>>;
}

/// The containers of a CRAM file, in the order of the file.
pub trait Containers: Send {
    /// Returns the next container; `None` after the last.
    ///
    /// # Errors
    /// If the container cannot be read.
    fn next(&mut self) -> io::Result<Option<Box<dyn Container>>>;

    /// Returns the header of the file, in the form of BAM.
    fn header(&self) -> AlignmentHeader;
}

/// Records that are decoded together, by any worker.
pub trait Container: Send {
    /// Adds the reads of the records.
    ///
    /// # Errors
    /// If a record is invalid; its number is that in the file.
    fn read(&self, reads: &mut Reads) -> Result<(), Problem>;
}

/// FASTQ text under construction.
#[derive(Debug, Default)]
pub struct Reads {
    /// The FASTQ text.
    pub text: Vec<u8>,
    /// The number of records that were skipped.
    pub skipped: u64,
    /// The adjacent mates among the other records.
    pub mates: MateRuns,
    /// The tags that become comments of the reads.
    pub tags: CommentTags,
    /// The alignments that are kept.
    pub which: WhichAlignments,
    /// Whether the header says that all alignments of a template lie side by side.
    pub is_grouped: bool,
    /// Whether reading failed because they do not.
    pub is_ungrouped: bool,
    /// The alignments of each read, if any are kept.
    pub alignments: AlignmentBytes,
}
