//! SAM, BAM and CRAM.
//!
//! Each read comes once: secondary and supplementary alignments (flags 0x900) are passed over. Reads
//! that were aligned to the reverse strand are turned back to how they were sequenced; mates get /1
//! and /2 behind their name, as `samtools fastq` has it.
//!
//! [`ReaderOptions`] and [`RecordOptions`] are those of the crate `merganser-io`, with which its readers open an input of
//! any format, told by its content. Options of that crate do not say who reads alignments, and cannot be opened.
#![forbid(unsafe_code)]

mod formats;
mod read;

pub use formats::AllFormats;

/// How a reader reads files of any format.
pub type ReaderOptions = merganser_io::ReaderOptions<AllFormats>;

/// How records of files of any format are read.
pub type RecordOptions = merganser_io::RecordOptions<AllFormats>;
