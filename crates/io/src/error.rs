//! The errors of this crate. Each message says what is wrong, where, and what to do.

mod problems;
mod system;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use merganser_run::{Fault, FaultKind};

pub use self::problems::{FastaProblem, FastqProblem, shown_byte};
pub(crate) use self::system::without_name;
pub use self::system::{kind_of, lacks_files, reason};
use crate::{FileKind, Unmated};

/// An error of reading or writing. Clones are cheap, and the messages are meant for users.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An input does not exist, is a directory, or cannot be read.
    #[error("{input}: cannot open: {reason}")]
    Open {
        /// The input, as given.
        input: String,
        /// The problem.
        reason: String,
    },
    /// The system failed to read from an input.
    #[error("{input}: cannot read: {}", reason(cause))]
    Read {
        /// The input, as given.
        input: String,
        /// The error of the system.
        cause: Arc<io::Error>,
    },
    /// A plain file became shorter while it was being read.
    #[error("{input}: the file became shorter while it was being read; is it still being written?")]
    Shrunk {
        /// The input, as given.
        input: String,
    },
    /// A file was modified while it was in use.
    #[error("{input}: the file was changed while it was in use: run again with an unchanging file")]
    Changed {
        /// The input, as given.
        input: String,
    },
    /// A compressed input ends before its data are complete.
    #[error(
        "{input}: truncated: the {compression} data end before they are complete; copy or download \
         the file again"
    )]
    Truncated {
        /// The input, as given.
        input: String,
        /// The compression, e.g. `gzip`.
        compression: &'static str,
    },
    /// A compressed input cannot be decompressed, or its checksum is wrong.
    #[error("{input}: corrupt {compression} data ({detail}); copy or download the file again")]
    Corrupt {
        /// The input, as given.
        input: String,
        /// The compression, e.g. `gzip`.
        compression: &'static str,
        /// The message of the decompressor.
        detail: String,
    },
    /// Data were compressed with a larger window (zstd's `--long`, or the dictionary of xz) than the memory allows.
    #[error(
        "{input}: its {compression} data need a window of more than {} in memory: give more `memory`, or \
         compress it again {}",
        merganser_run::format_size(*limit),
        if *compression == "zstd" { "without --long" } else { "with a smaller dictionary, such as that of xz -9" }
    )]
    Window {
        /// The input, as given.
        input: String,
        /// The compression format.
        compression: &'static str,
        /// The largest window that the memory allows, in bytes.
        limit: u64,
    },
    /// The input is neither FASTA nor FASTQ.
    #[error("{input}: {}", not_sequences(*byte, *kind))]
    UnknownFormat {
        /// The input, as given.
        input: String,
        /// The kind of the input, if it is known.
        kind: Option<FileKind>,
        /// The first byte after decompression that is not blank.
        byte: u8,
    },
    /// An alignment in a SAM, BAM or CRAM file cannot be read.
    #[error("{input}: {place}: {problem}")]
    Alignment {
        /// The input, as given.
        input: String,
        /// The location: `line 7` or `record 7`, from 1; or `CRAM`.
        place: String,
        /// The problem and its remedy.
        problem: String,
    },
    /// The alignments of a template do not lie side by side.
    #[error(
        "{input}: {place}: {problem}; bring the alignments of each read together with samtools collate -u -O"
    )]
    Ungrouped {
        /// The input, as given.
        input: String,
        /// The location: `line 7` or `record 7`, from 1.
        place: String,
        /// The problem.
        problem: String,
    },
    /// The lines end as in the classic Mac OS.
    #[error(
        "{input}: lines end in a carriage return alone (old Mac format); convert it with \
         tr '\\r' '\\n'"
    )]
    MacLineEnds {
        /// The input, as given.
        input: String,
    },
    /// A header line is too long.
    #[error(
        "{input}: line {line}: a header of more than {}; is this a text file?",
        merganser_run::format_size(*limit)
    )]
    LongHeader {
        /// The input, as given.
        input: String,
        /// The line's number in the file (after decompression), from 1.
        line: u64,
        /// The maximum length in bytes.
        limit: u64,
    },
    /// A line, or a group of lines that belong together, is too long.
    #[error(
        "{input}: line {line}: a line of more than {}, for which there is no memory; is this the \
         right file? If so, cut the line or give more `memory`",
        merganser_run::format_size(*limit)
    )]
    LongLine {
        /// The input, as given.
        input: String,
        /// The line's number in the file (after decompression), from 1.
        line: u64,
        /// The maximum length in bytes.
        limit: u64,
    },
    /// A record that cannot be cut is longer than the memory allows.
    #[error(
        "{input}: record {record}: longer than {}, the most that the memory has room for: give more \
         --memory, or cut the record",
        merganser_run::format_size(*limit)
    )]
    LongRecord {
        /// The input, as given.
        input: String,
        /// The record's number in the file, from 1.
        record: u64,
        /// The maximum length in bytes.
        limit: u64,
    },
    /// A FASTQ record is malformed.
    #[error("{input}: record {record}, line {line}: {problem}")]
    Fastq {
        /// The input, as given.
        input: String,
        /// The record's number in the file, from 1.
        record: u64,
        /// The line's number in the file (after decompression), from 1.
        line: u64,
        /// The problem.
        problem: FastqProblem,
    },
    /// A line is not valid FASTA.
    #[error("{input}: line {line}: {problem}")]
    Fasta {
        /// The input, as given.
        input: String,
        /// The line's number in the file (after decompression), from 1.
        line: u64,
        /// The problem.
        problem: FastaProblem,
    },
    /// The text is encoded in UTF-16.
    #[error("{input}: UTF-16 text; convert it with iconv -f UTF-16 -t UTF-8")]
    Utf16 {
        /// The input, as given.
        input: String,
    },
    /// A BAM file lacks the empty block at its end.
    #[error(
        "{input}: truncated: the BAM data end without their end-of-file block; copy or download the \
         file again (if it is whole, samtools view -b writes one that has it)"
    )]
    NoEndBlock {
        /// The input, as given.
        input: String,
    },
    /// A sequence line contains bytes that do not occur in text.
    #[error(
        "{input}: line {line}: binary data (byte 0x{byte:02x}) in a sequence; is the file damaged?"
    )]
    Binary {
        /// The input, as given.
        input: String,
        /// The line's number in the file (after decompression), from 1.
        line: u64,
        /// The offending byte.
        byte: u8,
    },
    /// One of two mate files has more records than the other.
    #[error(
        "{shorter}: ends after {records} records, but {longer} has more: mates must come in pairs"
    )]
    MateCount {
        /// The file with fewer records.
        shorter: String,
        /// The number of its records.
        records: u64,
        /// The file with more records.
        longer: String,
    },
    /// An interleaved file has an odd number of records.
    #[error(
        "{input}: record {record}, the last one, has no mate: interleaved files have an even number \
         of records"
    )]
    NoMate {
        /// The input, as given.
        input: String,
        /// The number of records.
        record: u64,
    },
    /// The names of two records show that they are not mates.
    #[error("{input}: record {record} is {name}, but its mate in {other} is {mate}: {problem}")]
    MateNames {
        /// The file of the first mate.
        input: String,
        /// The number of its record, from 1.
        record: u64,
        /// The name of the first mate.
        name: String,
        /// The file of the second mate.
        other: String,
        /// The name of the second mate.
        mate: String,
        /// The reason why they are not mates.
        problem: Unmated,
    },
    /// Mates lie apart in a file of alignments.
    #[error(
        "{input}: reads are mates by their flags, but do not lie side by side, the first one first; bring the mates \
         together: samtools collate -u -O {input} | merganser … -"
    )]
    MatesApart {
        /// The input, as given.
        input: String,
    },
    /// One file is given both for first and for second mates.
    #[error(
        "{first} and {second}: the same file as first and as second mates: give the two files of a \
         pair, or one file with `interleaved`"
    )]
    OwnMates {
        /// The file of first mates, as given.
        first: String,
        /// The file of second mates, as given.
        second: String,
    },
    /// A list of inputs cannot be read.
    #[error("{list}: cannot read this list of input files: {reason}", list = list.display())]
    List {
        /// The list, without its `@`.
        list: PathBuf,
        /// The problem.
        reason: String,
    },
    /// Standard input is given more than once.
    #[error("standard input ('-') is given more than once; it can be read only once")]
    StdinTwice,
    /// An output cannot be created.
    #[error("{path}: cannot create this output file: {reason}", path = path.display())]
    Create {
        /// The output, as given.
        path: PathBuf,
        /// The problem.
        reason: String,
    },
    /// An output cannot be written.
    #[error("{path}: cannot write: {}", reason(cause), path = path.display())]
    Write {
        /// The output, as given; `stdout` for standard output.
        path: PathBuf,
        /// The error of the system.
        cause: Arc<io::Error>,
    },
    /// The directory for temporary files is unusable.
    #[error(
        "{dir}: cannot make a temporary file here: {reason}; choose another directory with `temp_dir`",
        dir = dir.display()
    )]
    TemporaryDirectory {
        /// The directory.
        dir: PathBuf,
        /// The problem.
        reason: String,
    },
    /// A temporary file cannot be written or read back.
    #[error(
        "{dir}: cannot {action} a temporary file: {}; {advice} with `temp_dir`", reason(cause),
        dir = dir.display(), advice = temporary_advice(cause)
    )]
    Temporary {
        /// The directory that contains it.
        dir: PathBuf,
        /// `write` or `read`.
        action: &'static str,
        /// The error of the system.
        cause: Arc<io::Error>,
    },
    /// Blocks do not fit in memory, and temporary files are not allowed.
    #[error(
        "the bins do not fit in the {} that `memory` leaves for them: raise `memory`, or use \
         `storage` auto or disk",
        merganser_run::format_size(*limit)
    )]
    RamFull {
        /// The maximum number of bytes of blocks in memory.
        limit: u64,
    },
    /// A thread cannot be started.
    #[error(transparent)]
    Start(#[from] merganser_run::StartError),
}

impl std::fmt::Debug for Error {
    /// Writes the message, so that a `main` that returns the error prints its one line.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, formatter)
    }
}

impl Error {
    /// Returns the location of the error, as far as it is known: a file, and the number of a record in it, from 1.
    pub fn place(&self) -> (Option<String>, Option<u64>) {
        use Error as E;
        let of = |path: &Path| Some(path.display().to_string());
        match self {
            E::LongRecord { input, record, .. }
            | E::Fastq { input, record, .. }
            | E::NoMate { input, record }
            | E::MateNames { input, record, .. } => (Some(input.clone()), Some(*record)),
            E::Open { input, .. }
            | E::Read { input, .. }
            | E::Shrunk { input }
            | E::Changed { input }
            | E::Truncated { input, .. }
            | E::Corrupt { input, .. }
            | E::Window { input, .. }
            | E::MatesApart { input }
            | E::UnknownFormat { input, .. }
            | E::Alignment { input, .. }
            | E::Fasta { input, .. }
            | E::Utf16 { input }
            | E::NoEndBlock { input }
            | E::MacLineEnds { input }
            | E::LongHeader { input, .. }
            | E::LongLine { input, .. }
            | E::Binary { input, .. }
            | E::MateCount { shorter: input, .. }
            | E::OwnMates { first: input, .. } => (Some(input.clone()), None),
            E::List { list: path, .. } | E::Create { path, .. } | E::Write { path, .. } => {
                (of(path), None)
            }
            E::TemporaryDirectory { dir, .. } | E::Temporary { dir, .. } => (of(dir), None),
            _ => (None, None),
        }
    }

    /// Whether the error is a closed output pipe, after which a run ends quietly.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Write { cause, .. } if cause.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Converts an error of one of this crate's writers for `path`: an [`Error`] wrapped in an [`io::Error`] is
    /// unwrapped.
    pub(crate) fn of_write(error: io::Error, path: &Path) -> Self {
        error
            .downcast::<Error>()
            .unwrap_or_else(|cause| Self::Write { path: path.to_owned(), cause: Arc::new(cause) })
    }
}

impl Fault for Error {
    fn kind(&self) -> FaultKind {
        match self {
            _ if self.is_broken_pipe() => FaultKind::ClosedPipe,
            _ => FaultKind::Failed,
        }
    }
}

/// Wraps an [`Error`] so that an `impl Write` passes on its whole message, including the path.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Read { cause, .. }
            | Error::Write { cause, .. }
            | Error::Temporary { cause, .. } => cause.kind(),
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}

/// Describes an input that is not FASTA or FASTQ.
fn not_sequences(byte: u8, kind: Option<FileKind>) -> String {
    match kind {
        Some(kind) => kind.instead_of("FASTA or FASTQ", None),
        // The first byte of gzip.
        None if byte == 0x1f => {
            "not FASTA or FASTQ: it is compressed twice: decompress it once".to_owned()
        }
        None if byte.is_ascii_graphic() => format!(
            "not FASTA or FASTQ: starts with '{}'; a list of files is given as @LIST",
            char::from(byte)
        ),
        None => format!("not FASTA or FASTQ: starts with byte 0x{byte:02x}"),
    }
}

fn temporary_advice(cause: &io::Error) -> &'static str {
    if cause.kind() == io::ErrorKind::StorageFull {
        "make room or choose a larger disk"
    } else {
        "choose another directory"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_disks_are_named() {
        let cause = Arc::new(io::Error::from_raw_os_error(28));
        let error =
            Error::Temporary { dir: "/tmp/x".into(), action: "write", cause: cause.clone() };
        assert_eq!(
            error.to_string(),
            "/tmp/x: cannot write a temporary file: no space left on device; make room or choose a \
             larger disk with `temp_dir`"
        );
        let error = Error::Write { path: "t.mgk".into(), cause };
        assert_eq!(error.to_string(), "t.mgk: cannot write: no space left on device");
        assert_eq!(io::Error::from(error).kind(), io::ErrorKind::StorageFull);
    }
}
