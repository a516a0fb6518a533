//! Alignments: what a reader needs of a crate that reads them, and how their formats are known.
//!
//! This crate knows SAM, BAM and CRAM by how they begin, and reads none of them. Whoever opens a reader names by the type
//! of the options ([`Formats`]) who reads them: options without that name cannot be opened, so that no job leaves
//! alignments out by mistake.

mod runs;
mod sniff;

use std::fmt;
use std::io::{self, Read};
use std::path::Path;

pub use runs::{MateRuns, Role};
pub(crate) use sniff::{Sniffed, sniff};

/// The first bytes of a CRAM file.
pub(crate) const CRAM_MAGIC: &[u8] = b"CRAM";

/// The formats of alignments that are read, named by a type.
///
/// Options must name them:
///
/// ```
/// # use merganser_io::{Input, Reader, ReaderOptions, SequencesOnly};
/// # let inputs: [Input; 0] = [];
/// let reader = Reader::open(&inputs, ReaderOptions::<SequencesOnly>::default())?;
/// # Ok::<(), merganser_io::Error>(())
/// ```
///
/// Without a name they have no default values, also where a type is written that leaves it out:
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
    /// The reader of alignments; `None` if files of them are refused.
    fn alignments(&self) -> Option<&'static dyn Alignments>;
}

/// FASTA and FASTQ alone: files of alignments are refused.
#[derive(Clone, Copy, Debug, Default)]
pub struct SequencesOnly;

impl Formats for SequencesOnly {
    fn alignments(&self) -> Option<&'static dyn Alignments> {
        None
    }
}

/// The formats of options of any type, once these are opened. It has no default value: only a type that says who reads
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

/// What is wrong with a record, in words, behind its number from 0 in what was read.
pub type Problem = (u64, String);

/// A reader of alignments.
///
/// SAM and BAM are cut between records in the order of the file, in a short time, and made FASTQ by
/// each worker; containers of CRAM are whole, and decoded by the workers.
pub trait Alignments: fmt::Debug + Send + Sync {
    /// Whether a line of SAM, without its end, is one of the header, or empty, and nothing is wrong with it.
    fn is_sam_header(&self, line: &[u8]) -> bool;

    /// Adds the reads of whole lines of SAM, header lines among them.
    ///
    /// # Errors
    /// What is wrong with a line.
    fn read_sam(&self, lines: &[u8], reads: &mut Reads) -> Result<(), Problem>;

    /// Returns the length of the header of BAM that `bytes` begin with; `None` if they end before it does.
    fn bam_header(&self, bytes: &[u8]) -> Option<usize>;

    /// Returns how much of `bytes` is whole records of BAM, and how many these are.
    ///
    /// # Errors
    /// The number, from 0, of a record whose size cannot be.
    fn whole_bam(&self, bytes: &[u8]) -> Result<(usize, u64), u64>;

    /// Returns how many bytes the record of BAM has that `bytes` begin with, as far as it says so.
    fn bam_record_size(&self, bytes: &[u8]) -> usize;

    /// Adds the reads of whole records of BAM.
    ///
    /// # Errors
    /// What is wrong with a record.
    fn read_bam(&self, records: &[u8], reads: &mut Reads) -> Result<(), Problem>;

    /// Opens a CRAM file, of which `reference` may have the sequences.
    ///
    /// # Errors
    /// If its header or the reference cannot be read; if CRAM is not built in.
    fn open_cram(
        &self,
        input: Box<dyn Read + Send>,
        reference: Option<&Path>,
    ) -> io::Result<Box<dyn Containers>>;
}

/// The containers of a file, one after the other.
pub trait Containers: Send {
    /// Returns the next container; `None` behind the last.
    ///
    /// # Errors
    /// If it cannot be read.
    fn next(&mut self) -> io::Result<Option<Box<dyn Container>>>;
}

/// Records that are decoded together, by any worker.
pub trait Container: Send {
    /// Adds the reads of its records.
    ///
    /// # Errors
    /// What is wrong with a record, whose number is that in the file.
    fn read(&self, reads: &mut Reads) -> Result<(), Problem>;
}

/// FASTQ in the making.
#[derive(Debug, Default)]
pub struct Reads {
    /// Its text.
    pub text: Vec<u8>,
    /// Records passed over.
    pub skipped: u64,
    /// Which of the others are mates side by side.
    pub mates: MateRuns,
}
