//! Reading and writing of SAM, BAM and CRAM.
//!
//! # Reading
//!
//! Each read is returned once: secondary and supplementary alignments (flags 0x900) are skipped. Reads that were
//! aligned to the reverse strand are returned as they were sequenced. The names of mates get the suffixes /1 and /2,
//! as those of `samtools fastq` do.
//!
//! [`ReaderOptions`] and [`RecordOptions`] are the option types of the crate `merganser-io` with all alignment
//! formats. With them, its readers open an input of any format and detect the format by content. The generic option
//! types of that crate name no reader of alignments, so nothing can be opened with them.
//!
//! # Writing
//!
//! A [`RecordStyle`] writes each [`Record`] as SAM or as uncompressed BAM. To sort, each worker adds BAM records to
//! its [`Held`] of a [`Sorting`], in memory or on disk, and [`write_sorted`] writes all of them, as BAM or CRAM, with
//! an index. The bytes depend only on the records, not on the number of threads or the memory. [`sort_records`] and
//! [`write_blocks`] join the records of several BAM files.
#![forbid(unsafe_code)]

mod command;
mod contig;
mod cram;
mod digest;
mod error;
mod fields;
mod formats;
mod joined;
mod kept;
mod mates;
mod operation;
mod read;
mod read_group;
mod read_tags;
mod record;
mod sequences;
mod sorted;

pub use command::{put_files, quoted};
pub use contig::{Contig, warn_of_names};
pub use cram::{Crai, Cram, END as CRAM_END, ReferenceLetters};
pub use digest::BlockDigest;
pub use error::Error;
pub use fields::Fields;
pub use formats::AllFormats;
pub use joined::{EachRecords, sort_records, write_blocks};
pub use kept::{
    Compression, Compressor, Copied, CopyByName, KeptAlignment, KeptWriter, Names, ReadFormat,
    ReadFormats, Sink, SinkForm, SinkWriter, TemplatePass, can_begin_again, may_be_apart,
    once_or_twice, problem_of, the_input_of,
};
pub use mates::{MateFiles, compare_as_mates};
pub use operation::Operation;
#[doc(hidden)]
pub use read::NO_QUALITY;
pub use read_group::ReadGroup;
pub use read_tags::{ReadTags, TagRule};
pub use record::{
    Format, MAX_OPERATIONS, MateTags, Record, RecordPlace, RecordStyle, Tags, file_head, flag,
    name_problem,
};
pub use sorted::{
    FileIndex, Form, Held, IndexKind, RecordIndex, Sorted, Sorting, Written, write as write_sorted,
};

/// The options of a reader of files of any format.
pub type ReaderOptions = merganser_io::ReaderOptions<AllFormats>;

/// The options of a reader of records of any format. [`RecordOptions::default()`](merganser_io::RecordOptions) keeps
/// names and letters, and `RecordOptions::whole()` whole headers and qualities, too. Most programs need no other option.
pub type RecordOptions = merganser_io::RecordOptions<AllFormats>;
