//! Tests of error messages.

use crate::common::{options, read_alone, read_together, reader_of};
use merganser_io::{Input, Reader, check_letters};

fn message_at(text: &[u8], chunk: usize) -> String {
    read_alone(&reader_of(text, options(chunk, 3, 1)), 4)
        .map(|sink| sink.records)
        .unwrap_err()
        .to_string()
}

/// Returns the message, which must not depend on where chunks end.
fn message(text: &str) -> String {
    let whole = message_at(text.as_bytes(), 1 << 16);
    for chunk in [16, 40] {
        assert_eq!(message_at(text.as_bytes(), chunk), whole, "chunks of {chunk}");
    }
    whole
}

#[test]
fn malformed_fastq() {
    let good = "@r\nACGT\n+\nIIII\n";
    let cases = [
        (
            "ACGT\n+\nIIII\n",
            "record 2, line 5: a record should begin with '@', but this line begins with 'A'; is a line \
             missing or doubled above?",
        ),
        (
            "\n@r\nACGT\n+\nIIII\n",
            "record 2, line 5: an empty line where a record should begin; remove it",
        ),
        (
            "@r\nACGT\nIIII\n@s\nA\n+\nI\n",
            "record 2, line 7: the third line of a record should begin with '+', but this one begins \
             with 'I'",
        ),
        (
            "@r\nACGT\n\nIIII\n",
            "record 2, line 7: the third line of a record should begin with '+', but this one is empty",
        ),
        (
            "@r\nACGT\n+\nIII\n@s\nA\n+\nI\n",
            "record 2, line 8: the quality has 3 letters, the sequence 4; they must be equal",
        ),
        (
            "@r\nACG\n+\nIIII\n",
            "record 2, line 8: the quality has 4 letters, the sequence 3; they must be equal",
        ),
        ("@r\nACGT\n+\nII", "record 2, line 8: the file ends within this record; is it truncated?"),
        ("@r\nACGT\n+\n", "record 2, line 8: the file ends within this record; is it truncated?"),
        ("@r\nACGT\n", "record 2, line 7: the file ends within this record; is it truncated?"),
        ("@r\nACG", "record 2, line 7: the file ends within this record; is it truncated?"),
        ("@r", "record 2, line 5: the file ends within this record; is it truncated?"),
    ];
    for (text, expected) in cases {
        assert_eq!(message(&format!("{good}{text}")), format!("test: {expected}"), "{text:?}");
    }
    assert_eq!(
        message("\n\n@r\nA\n+\nIII\n"),
        "test: record 1, line 6: the quality has 3 letters, the sequence 1; they must be equal"
    );
}

#[test]
fn wrapped_fastq_is_recognised() {
    let text = "@r\nACGT\nACGT\nAC\n+\nIIII\nIIII\nII\n@s\nACGT\nAC\n+\nIIII\nII\n";
    assert_eq!(
        message_at(text.as_bytes(), 1 << 16),
        "test: record 1, line 3: multi-line FASTQ is not supported; re-write it with 4 lines per \
         record, e.g. seqtk seq"
    );
}

#[test]
fn other_formats() {
    let cases: [(&[u8], &str); 6] = [
        (b"ACGT\n", "test: not FASTA or FASTQ: starts with 'A'; a list of files is given as @LIST"),
        (b"\n \x00\x01", "test: not FASTA or FASTQ: starts with byte 0x00"),
        (
            b"CRAM\x02\x01aaaaaaaaaaaaaaaaaaaa",
            "test: not FASTA or FASTQ, but CRAM: merganser count, classify and map read it",
        ),
        (
            b"BAM\x01",
            "test: not FASTA or FASTQ, but BAM: merganser count, classify and map read it",
        ),
        (
            b"@HD\tVN:1.6\n",
            "test: not FASTA or FASTQ, but SAM: merganser count, classify and map read it",
        ),
        (
            b">a\rACGT\r>b\rAC\r",
            "test: lines end in a carriage return alone (old Mac format); convert it with \
             tr '\\r' '\\n'",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(message_at(text, 1 << 16), expected);
    }
}

/// A carriage return in a first line of SAM does not end it, also if the line is longer than a chunk.
#[test]
fn first_lines_with_a_carriage_return() {
    for chunk in [1, 5, 1 << 16] {
        let sam =
            message_at(b"@CO\ta return:\rin a comment\nr\t4\t*\t0\t0\t*\t*\t0\t0\tA\tI\n", chunk);
        assert!(sam.contains("but SAM"), "{chunk}: {sam}");
        assert!(message_at(b">a\rACGT\r>b\rAC\r", chunk).contains("old Mac format"), "{chunk}");
    }
}

#[test]
fn headers_without_end() {
    for first in ["@", ">"] {
        let text = format!("{first}{}", "x".repeat(17 << 20));
        assert_eq!(
            message_at(text.as_bytes(), 1 << 20),
            "test: line 1: a header of more than 16.0 MiB; is this a text file?"
        );
    }
    // A sequence may be as long.
    let text = format!("@r\n{0}\n+\n{0}\n", "A".repeat(17 << 20));
    let reader = reader_of(text.as_bytes(), options(1 << 20, 0, 1));
    assert_eq!(read_alone(&reader, 0).unwrap().records[0].sequence.len(), 17 << 20);
    for text in ["@a\rACGT\r+\rIIII\r", ">a\rACGT\r"] {
        let error = message_at(text.repeat(100).as_bytes(), 64);
        assert!(error.contains("old Mac format"), "{error}");
    }
}

#[test]
fn binary_data() {
    assert_eq!(
        message_at(b">a\nACGT\nAC\0GT\n", 1 << 16),
        "test: line 3: binary data (byte 0x00) in a sequence; is the file damaged?"
    );
    assert_eq!(
        message_at(b"@a\xff\nACG\xe9\n+\nIIII\n", 1 << 16),
        "test: line 2: binary data (byte 0xe9) in a sequence; is the file damaged?"
    );
    assert_eq!(check_letters(b"ACGTNacgtu-*. \t\r~"), None);
    assert_eq!(check_letters(b"AC\x01G\x00"), Some(2));
    assert_eq!(check_letters(b"\x7f"), Some(0));
}

#[test]
fn binary_data_are_found_wherever_they_are() {
    let fasta = format!(">a\n{}\nAC\x07\n", "ACGT\n".repeat(40_000));
    let fastq = format!("{}@b\nAC\x07\n+\nIII\n", "@a\nACGT\n+\nIIII\n".repeat(10_000));
    for (text, place) in [(fasta, "line 40003"), (fastq, "record 10001, line 40002")] {
        assert_eq!(
            message_at(text.as_bytes(), 4096),
            format!("test: {place}: binary data (byte 0x07) in a sequence; is the file damaged?")
        );
    }
}

/// A line that is not FASTA is an error at that line, wherever chunks end; the records before it are unchanged.
#[test]
fn lines_that_are_no_fasta() {
    let fastq = |byte| {
        format!(
            "a sequence line begins with '{byte}', as in FASTQ: give FASTA and FASTQ as files of their own"
        )
    };
    let joined = |byte| {
        format!(
            "'{byte}' within a sequence: was a file without a last line end joined with the next one? \
             Join them again with a line end between"
        )
    };
    let cases = [
        ("ACGT\n@r1\nACGT\n+\nIIII\n", 4, fastq('@')),
        ("ACGT\n\n;x\n+\n", 6, fastq('+')),
        ("ACGTACGTACGTACGTACGTACGTACGT>c\nACGT\n", 3, joined('>')),
        ("ACGT\nACGTACGTACGTACGTACGTACGTACGT@r1\nACGT\n+\n", 4, joined('@')),
        (
            "ACGT \n >b\n",
            4,
            "blanks before a header: remove them, as '>' must be the first letter of its line"
                .to_owned(),
        ),
        (
            "ACGT\n\u{feff}>b\nACGT\n",
            4,
            "a byte order mark within the file: remove it, or give files one by one, not joined"
                .to_owned(),
        ),
    ];
    for (text, line, problem) in cases {
        let text = format!(">a\nACGT\n{text}");
        assert_eq!(message(&text), format!("test: line {line}: {problem}"), "{text:?}");
    }
    assert_eq!(
        message(";a\n\n;b\nACGT\n"),
        "test: line 4: no header '>' before the first sequence (lines that begin with ';' are comments)"
    );
}

#[test]
fn lines_that_are_no_fastq() {
    let good = "@r\nACGT\n+\nIIII\n";
    let joined = "the quality has 7 letters, the sequence 4, and a record seems to begin after these: \
                  was a file without a last line end joined with the next one?";
    let cases = [
        (
            ">c\nACGT\n",
            5,
            "a record should begin with '@', but this line begins with '>'; give FASTA and FASTQ as files \
             of their own",
        ),
        ("@s\nACGT\n+\nIIII@r1\nACGT\n+\nIIII\n", 8, joined),
        ("@s\nACGT\n+\nIIII>c1\nACGT\n", 8, joined),
        (
            "\u{feff}@s\nACGT\n+\nIIII\n",
            5,
            "a record should begin with '@', but this line begins with byte 0xef; is it a byte order \
             mark? Give files one by one, not joined",
        ),
        (
            "@s\nACGT\n+\n    \n",
            8,
            "a blank among the qualities, which are letters from '!' to '~'; is the file damaged?",
        ),
        (
            "@s\nACGT\n+\nII\u{1f}I\n",
            8,
            "byte 0x1f among the qualities, which are letters from '!' to '~'; is the file damaged?",
        ),
        ("@s\nAC GT\n+\nIIIII\n", 6, "a blank within the sequence; is the file damaged?"),
        ("@s\nAC>GT\n+\nIIIII\n", 6, "'>' within the sequence; is the file damaged?"),
        (
            "@s\nACGT \n+\nIIIII\n",
            8,
            "the quality has 5 letters, the sequence 4; they must be equal",
        ),
    ];
    for (text, line, problem) in cases {
        let expected = format!("test: record 2, line {line}: {problem}");
        assert_eq!(message(&format!("{good}{text}")), expected, "{text:?}");
    }
}

#[test]
fn utf16_is_named() {
    for text in [&b"\xff\xfe>\0a\0\n\0A\0\n\0"[..], b"\xfe\xff\0@\0a", b">\0a\0\n\0A\0"] {
        assert_eq!(
            message_at(text, 1 << 16),
            "test: UTF-16 text; convert it with iconv -f UTF-16 -t UTF-8"
        );
    }
}

#[test]
fn the_earliest_error_is_reported_whoever_is_first() {
    let mut text = "@r\nACGT\n+\nIIII\n".repeat(20);
    text += "@broken\nACGT\nIIII\n";
    text += &"@r\nACGT\n+\nIIII\n".repeat(2000);
    for _ in 0..50 {
        let reader = reader_of(text.as_bytes(), options(100, 0, 3));
        let error = read_together(&reader, 3, 0).unwrap_err().to_string();
        assert_eq!(
            error,
            "test: record 21, line 83: the third line of a record should begin with '+', but this one \
             begins with 'I'"
        );
    }
}

#[test]
fn missing_files_are_found_before_work_begins() {
    let open = |names: &[&str]| {
        let inputs: Vec<_> = names.iter().map(|name| Input::File(name.into())).collect();
        Reader::open(&inputs, options(64, 0, 1)).map(|_| ()).unwrap_err().to_string()
    };
    assert_eq!(
        open(&["/dev/null", "/no/such.fq"]),
        "/no/such.fq: cannot open: no such file or directory"
    );
    assert_eq!(open(&["/"]), "/: cannot open: it is a directory; name the files in it");
}

#[test]
fn damaged_files_are_named() {
    let text = b"@r\nACGT\n+\nIIII\n";
    let gzip = merganser_test_forms::gzip(text);
    assert_eq!(
        message_at(&gzip[..gzip.len() - 3], 1 << 16),
        "test: truncated: the gzip data end before they are complete; copy or download the file \
         again"
    );
    let mut wrong = gzip.clone();
    let sum = wrong.len() - 8;
    wrong[sum] ^= 1;
    assert_eq!(
        message_at(&wrong, 1 << 16),
        "test: corrupt gzip data (corrupt gzip stream does not have a matching checksum); copy or \
         download the file again"
    );
    let mut block = merganser_test_forms::bgzf_block(text);
    let sum = block.len() - 8;
    block[sum] ^= 1;
    let error = message_at(&block, 1 << 16);
    assert!(error.starts_with("test: corrupt BGZF data ("), "{error}");
}
