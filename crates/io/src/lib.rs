//! Reading of sequence files and writing of result files.
//!
//! Reading: a [`Reader`] returns chunks of FASTA or FASTQ text, from files in any usual compression or converted
//! from alignments, to any number of workers. Each worker parses its own [`Chunk`] into its own [`Sink`].
//! [`Records`] makes batches of them: reads, or pairs with checked mates.
//!
//! Writing: [`AtomicFile`] and [`Output`] create files that appear complete or not at all, those of an
//! [`OutputSet`] together. A [`SpillFile`] holds data that do not fit in memory during a run.

mod alignment;
mod beginning;
mod chunk;
mod compress;
mod content;
mod converted;
mod decimal;
mod error;
mod failures;
mod folders;
mod format;
mod identity;
mod input;
mod input_set;
mod job_error;
mod kind;
mod lines;
mod mapped;
mod mate_files;
mod names;
mod output;
mod phred;
mod profile;
mod reader;
mod records;
mod regular;
mod same;
mod shard;
mod spill;
mod stream;
mod suffix;
mod table_line;
mod there;

pub use alignment::{
    AlignmentBytes, AlignmentHeader, Alignments, AnyFormats, CommentTags, Container, Containers,
    Formats, InputHeaders, KeepAlignments, MateRuns, Problem, Reads, Role, SequencesOnly,
    WhichAlignments,
};
#[doc(hidden)]
pub use beginning::BYTE_ORDER_MARK;
pub use chunk::{Chunk, ChunkStats, RemoteChunk, Sink, check_letters};
pub use compress::{decompress, is_compressed, limit_memory, open_text};
#[doc(hidden)]
pub use content::{Content, fingerprint};
pub use converted::{Convert, Converted};
#[doc(hidden)]
pub use decimal::put_decimal;
pub use error::{Error, FastaProblem, FastqProblem, kind_of, lacks_files, reason, shown_byte};
pub use folders::expand_folders;
#[doc(hidden)]
pub use identity::FileIdentity;
pub use input::{Input, expand_inputs, index_of_reference, stdin, text_bytes};
pub use input_set::InputSet;
pub use kind::{FileKind, foreign};
pub use lines::{Lines, TextError, shown};
#[doc(hidden)]
pub use mapped::{MappedFile, SectionSum};
#[doc(hidden)]
pub use mate_files::find_files_of_mates;
pub use merganser_inflate::{BgzfBlocks, GzipMember};
#[doc(hidden)]
pub use names::{check_cell, check_stored_name};
pub use output::{
    AtomicFile, MadeDirectories, Output, OutputSet, StdoutWriter, TemporaryFolder, check_creation,
    check_output, finish_all, outputs_have_appeared, remove_temporaries,
};
pub use phred::{Phred, QualityOffset};
pub use profile::{
    LONGEST_READ, NoProfile, PROFILED_BASES, PROFILED_RECORDS, PositionGroup, QualitySummary,
    ReadProfile,
};
pub use reader::{LineChunk, LineReader, Place, Reader, ReaderOptions, longest_record};
pub use records::{
    Header, Keep, Needs, OwnedRecord, ReadInput, ReadShare, Record, RecordBatch, RecordIter,
    RecordOptions, RecordTimes, Records, Stretch, Unmated, are_mates, batch_starts, common_name,
    stem, walk,
};
#[doc(hidden)]
pub use regular::{in_stream, is_read_once, open_file};
#[doc(hidden)]
pub use same::{warn_of_repeated, warn_of_repeats};
#[doc(hidden)]
pub use shard::{read_bgzf_block, shard};
pub use spill::SpillFile;
#[doc(hidden)]
pub use stream::{is_open_stream, is_regular};
pub use suffix::{OutputCompression, OutputFormat};
#[doc(hidden)]
pub use table_line::{each_line, each_table_line, read_table, read_table_line};
#[doc(hidden)]
pub use there::{is_file, look_up, uninterrupted};
