//! What can be wrong with FASTA and FASTQ.

/// What can be wrong with a line of FASTA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FastaProblem {
    /// A sequence line begins as lines of FASTQ do.
    #[error(
        "a sequence line begins with '{}', as in FASTQ: give FASTA and FASTQ as files of their own",
        char::from(*.0)
    )]
    Fastq(u8),
    /// A header begins within a sequence line.
    #[error(
        "'{}' within a sequence: was a file without a last line end joined with the next one? Join \
         them again with a line end between", char::from(*.0)
    )]
    Joined(u8),
    /// Blanks come before a header.
    #[error("blanks before a header: remove them, as '>' is the first letter of its line")]
    Indented,
    /// A sequence line begins with one.
    #[error("a byte order mark within the file: remove it, or give files one by one, not joined")]
    ByteOrderMark,
    /// No header comes before the first sequence.
    #[error("no header '>' before the first sequence (lines that begin with ';' are comments)")]
    NoHeader,
}

/// What can be wrong with a FASTQ record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FastqProblem {
    /// The first line of a record has no `@`.
    #[error(
        "a record should begin with '@', this line begins with {}; {}", shown_byte(*.0),
        instead_of_a_record(*.0)
    )]
    Header(u8),
    /// The first line of a record is empty, and more follows.
    #[error("an empty line where a record should begin; remove it")]
    Blank,
    /// The third line of a record has no `+`.
    #[error("the third line of a record should begin with '+', this one {}", begins(*.0))]
    Separator(Option<u8>),
    /// Sequence and quality take several lines.
    #[error("multi-line FASTQ is not supported; re-write it with 4 lines a record, e.g. seqtk seq")]
    MultiLine,
    /// As many quality letters as bases are needed.
    #[error("the quality has {quality} letters, the sequence {sequence}; they must be equal")]
    Lengths {
        /// Bases of the sequence.
        sequence: usize,
        /// Letters of the quality.
        quality: usize,
    },
    /// A quality goes on with what seems to be another record.
    #[error(
        "the quality has {quality} letters, the sequence {sequence}, and a record seems to begin behind \
         these: was a file without a last line end joined with the next one?"
    )]
    Joined {
        /// Bases of the sequence.
        sequence: usize,
        /// Letters of the quality's line.
        quality: usize,
    },
    /// The sequence has a byte that no text has.
    #[error("binary data (byte 0x{:02x}) in a sequence; is the file damaged?", .0)]
    Binary(u8),
    /// The sequence has a byte between its letters that is none.
    #[error("{} within the sequence; is the file damaged?", named_byte(*.0))]
    Letter(u8),
    /// A quality is no printable letter.
    #[error(
        "{} among the qualities, which are letters from '!' to '~'; is the file damaged?",
        named_byte(*.0)
    )]
    Quality(u8),
    /// A quality is below those of the offset that was asked for.
    #[error(
        "quality {} is none of Phred+64, which begins at ';': leave out `quality_offset`",
        shown_byte(*.0)
    )]
    NotPhred64(u8),
    /// The input ends within a record.
    #[error("the file ends within this record; is it truncated?")]
    Truncated,
}

/// A byte of a text as messages show it: the letter in quotes, or its number if it is none.
pub fn shown_byte(byte: u8) -> String {
    if byte.is_ascii_graphic() {
        format!("'{}'", char::from(byte))
    } else {
        format!("byte 0x{byte:02x}")
    }
}

/// As [`shown_byte`], and blanks by their names.
fn named_byte(byte: u8) -> String {
    match byte {
        b' ' => "a blank".to_owned(),
        b'\t' => "a tab".to_owned(),
        b'\r' => "a carriage return".to_owned(),
        _ => shown_byte(byte),
    }
}

/// What to do about a line of FASTQ that begins with `byte` where a record should.
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
