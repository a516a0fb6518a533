//! SAM, BAM and CRAM, read and written.
//!
//! # Reading
//!
//! Each read comes once: secondary and supplementary alignments (flags 0x900) are passed over. Reads
//! that were aligned to the reverse strand are turned back to how they were sequenced; mates get /1
//! and /2 behind their name, as `samtools fastq` has it.
//!
//! [`ReaderOptions`] and [`RecordOptions`] are those of the crate `merganser-io`, with which its readers open an input of
//! any format, told by its content. Options of that crate do not say who reads alignments, and cannot be opened.
//!
//! # Writing
//!
//! A [`RecordStyle`] writes each [`Record`] as SAM or as uncompressed BAM. To sort, each worker puts records of BAM into its
//! [`Held`] of a [`Sorting`], in memory or on disk, and [`write_sorted`] writes all of them, as BAM or as CRAM,
//! with an index. The bytes depend on the records alone, not on the number of threads or the memory.
//! [`sort_records`] and [`write_blocks`] put the records of several BAM files into one.
#![forbid(unsafe_code)]

mod contig;
mod cram;
mod digest;
mod error;
mod fields;
mod formats;
mod joined;
mod operation;
mod read;
mod read_group;
mod record;
mod sorted;

pub use contig::{Contig, warn_of_names};
pub use cram::{Crai, Cram, END as CRAM_END, ReferenceLetters};
pub use digest::BlockDigest;
pub use error::Error;
pub use fields::Fields;
pub use formats::AllFormats;
pub use joined::{EachRecords, sort_records, write_blocks};
pub use operation::Operation;
pub use read_group::ReadGroup;
pub use record::{Format, MAX_OPERATIONS, Record, RecordPlace, RecordStyle, Tags, file_head, flag};
pub use sorted::{
    FileIndex, Form, Held, IndexKind, RecordIndex, Sorted, Sorting, Written, write as write_sorted,
};

/// Options of a reader of files of any format.
pub type ReaderOptions = merganser_io::ReaderOptions<AllFormats>;

/// Options of records of files of any format.
pub type RecordOptions = merganser_io::RecordOptions<AllFormats>;
