//! The problems that FASTA and FASTQ can have.

/// A problem of a FASTA line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FastaProblem {
    /// A sequence line begins as a FASTQ line does.
    #[error(
        "a sequence line begins with '{}', as in FASTQ: give FASTA and FASTQ as files of their own",
        char::from(*.0)
    )]
    Fastq(u8),
    /// A header begins in the middle of a sequence line.
    #[error(
        "'{}' within a sequence: was a file without a last line end joined with the next one? Join \
         them again with a line end between", char::from(*.0)
    )]
    Joined(u8),
    /// There are blanks before a header.
    #[error("blanks before a header: remove them, as '>' must be the first letter of its line")]
    Indented,
    /// A sequence line begins with a byte order mark.
    #[error("a byte order mark within the file: remove it, or give files one by one, not joined")]
    ByteOrderMark,
    /// There is no header before the first sequence.
    #[error("no header '>' before the first sequence (lines that begin with ';' are comments)")]
    NoHeader,
}

/// A problem of a FASTQ record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FastqProblem {
    /// The first line of a record does not begin with `@`.
    #[error(
        "a record should begin with '@', but this line begins with {}; {}", shown_byte(*.0),
        instead_of_a_record(*.0)
    )]
    Header(u8),
    /// The first line of a record is empty, and more records follow.
    #[error("an empty line where a record should begin; remove it")]
    Blank,
    /// The third line of a record does not begin with `+`.
    #[error("the third line of a record should begin with '+', but this one {}", begins(*.0))]
    Separator(Option<u8>),
    /// The sequence and the quality have several lines.
    #[error(
        "multi-line FASTQ is not supported; re-write it with 4 lines per record, e.g. seqtk seq"
    )]
    MultiLine,
    /// The sequence and the quality differ in length.
    #[error("the quality has {quality} letters, the sequence {sequence}; they must be equal")]
    Lengths {
        /// The length of the sequence.
        sequence: usize,
        /// The length of the quality.
        quality: usize,
    },
    /// The quality is too long, and another record seems to begin in it.
    #[error(
        "the quality has {quality} letters, the sequence {sequence}, and a record seems to begin after \
         these: was a file without a last line end joined with the next one?"
    )]
    Joined {
        /// The length of the sequence.
        sequence: usize,
        /// The length of the quality line.
        quality: usize,
    },
    /// The sequence contains a byte that does not occur in text.
    #[error("binary data (byte 0x{:02x}) in a sequence; is the file damaged?", .0)]
    Binary(u8),
    /// The sequence contains a byte that is not a letter.
    #[error("{} within the sequence; is the file damaged?", named_byte(*.0))]
    Letter(u8),
    /// The quality contains a byte that is not a printable letter.
    #[error(
        "{} among the qualities, which are letters from '!' to '~'; is the file damaged?",
        named_byte(*.0)
    )]
    Quality(u8),
    /// A quality is below the range of the requested offset.
    #[error(
        "quality {} is below those of Phred+64, which begin at ';': leave out `quality_offset`",
        shown_byte(*.0)
    )]
    NotPhred64(u8),
    /// The input ends within a record.
    #[error("the file ends within this record; is it truncated?")]
    Truncated,
}

/// Formats a byte of a text for messages: a printable letter in quotes, any other byte as its number.
pub fn shown_byte(byte: u8) -> String {
    if byte.is_ascii_graphic() {
        format!("'{}'", char::from(byte))
    } else {
        format!("byte 0x{byte:02x}")
    }
}

/// Formats a byte as [`shown_byte`] does, but blanks by their names.
fn named_byte(byte: u8) -> String {
    match byte {
        b' ' => "a blank".to_owned(),
        b'\t' => "a tab".to_owned(),
        b'\r' => "a carriage return".to_owned(),
        _ => shown_byte(byte),
    }
}

/// Returns the advice for a FASTQ line that begins with `byte` instead of beginning a record.
fn instead_of_a_record(byte: u8) -> &'static str {
    match byte {
        b'>' => "give FASTA and FASTQ as files of their own",
        0xef => "is it a byte order mark? Give files one by one, not joined",
        _ => "is a line missing or doubled above?",
    }
}

fn begins(byte: Option<u8>) -> String {
    byte.map_or_else(|| "is empty".to_owned(), |byte| format!("begins with {}", shown_byte(byte)))
}
