//! Detection of alignment formats by the beginning of a text.

use memchr::{memchr, memchr_iter};

/// The format that is detected from the beginning of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sniffed {
    Sam,
    Bam,
    /// Not an alignment format.
    Other,
    /// Undecided: more text is needed.
    Short,
}

/// Detects the format of decompressed text from its beginning. BAM is recognized by its magic, SAM by a header line
/// or by the columns of its first record.
pub(crate) fn sniff(text: &[u8]) -> Sniffed {
    const MAGIC: &[u8] = b"BAM\x01";
    if text.starts_with(&MAGIC[..MAGIC.len().min(text.len())]) && !text.is_empty() {
        return if text.len() < MAGIC.len() { Sniffed::Short } else { Sniffed::Bam };
    }
    let rest = after_comments(text);
    match rest {
        // Undecided until the line after the comments is there.
        [] if (1..MAX_COMMENTS).contains(&text.len()) => Sniffed::Short,
        // The limits of FASTQ apply to the endless line or comments.
        [] if !text.is_empty() => Sniffed::Other,
        [b'@', ..] => sniff_header(rest),
        [b'>', ..] => Sniffed::Other,
        _ => sniff_record(rest),
    }
}

/// The maximum size of the comments at the beginning, in bytes, if no other line was read.
const MAX_COMMENTS: usize = 1 << 20;

/// Skips comments, `@CO` lines, with which SAM may begin. The line after them distinguishes SAM from FASTQ.
fn after_comments(mut text: &[u8]) -> &[u8] {
    while text.starts_with(b"@CO\t") || text.starts_with(b"@CO\n") {
        text = memchr(b'\n', text).map_or(&[], |end| &text[end + 1..]);
    }
    text
}

/// Checks a text that begins with `@`. It is SAM if it begins with `@HD`, `@SQ`, `@RG` or `@PG`, a tab, and a
/// two-letter tag with a colon, which FASTQ headers do not have.
fn sniff_header(text: &[u8]) -> Sniffed {
    let known = [b"@HD\t", b"@SQ\t", b"@RG\t", b"@PG\t", b"@CO\t"];
    if !known.iter().any(|start| start.starts_with(&text[..text.len().min(4)])) {
        return Sniffed::Other;
    }
    match text.get(4..7) {
        Some([a, b, b':']) if a.is_ascii_alphabetic() && b.is_ascii_alphanumeric() => Sniffed::Sam,
        None if memchr(b'\n', text).is_none() => Sniffed::Short,
        _ => Sniffed::Other,
    }
}

/// The maximum size of the columns before the sequence. A longer line with too few tabs is not a record.
const MAX_BEFORE_SEQUENCE: usize = 1 << 16;

/// Checks whether a text begins with a SAM record: the columns before the sequence must be valid.
fn sniff_record(text: &[u8]) -> Sniffed {
    let end = memchr(b'\n', text);
    let line = &text[..end.unwrap_or(text.len())];
    let mut columns = [&[][..]; 9];
    let mut tabs = memchr_iter(b'\t', line);
    let mut start = 0;
    for column in &mut columns {
        let Some(tab) = tabs.next() else {
            let hopeless = end.is_some()
                || line.len() > MAX_BEFORE_SEQUENCE
                || line.iter().any(|byte| !matches!(byte, b'\t' | b' '..=b'~'));
            return if hopeless { Sniffed::Other } else { Sniffed::Short };
        };
        *column = &line[start..tab];
        start = tab + 1;
    }
    let [name, flags, reference, position, quality, cigar, next, mate, length] = columns;
    let number = |column: &[u8], most: i64| {
        let number = std::str::from_utf8(column).ok().and_then(|text| text.parse::<i64>().ok());
        number.is_some_and(|number| (0..=most).contains(&number))
    };
    let word = |column: &[u8]| !column.is_empty() && column.iter().all(u8::is_ascii_graphic);
    let length = length.strip_prefix(b"-").unwrap_or(length);
    let legal = [name, reference, next].into_iter().all(word)
        && number(flags, 0xffff)
        && number(quality, 255)
        && [position, mate, length].into_iter().all(|column| number(column, i64::MAX))
        && is_cigar(cigar);
    // The other columns are checked when the records are read.
    if legal { Sniffed::Sam } else { Sniffed::Other }
}

/// Whether a column is `*` or a list of lengths with their operations.
fn is_cigar(column: &[u8]) -> bool {
    let mut digits = false;
    column == b"*"
        || column.iter().all(|&byte| {
            let before = std::mem::replace(&mut digits, byte.is_ascii_digit());
            digits || before && b"MIDNSHPX=".contains(&byte)
        }) && !digits
            && !column.is_empty()
}

#[cfg(test)]
mod tests {
    use super::{MAX_COMMENTS, Sniffed, sniff};

    #[test]
    fn endless_comments_are_not_waited_for() {
        let line = [b"@CO\t".as_slice(), &vec![b'x'; MAX_COMMENTS]].concat();
        for text in [line, b"@CO\tx\n".repeat(MAX_COMMENTS / 6 + 1)] {
            assert!(matches!(sniff(&text[..100]), Sniffed::Short));
            assert!(matches!(sniff(&text), Sniffed::Other));
        }
        assert!(matches!(sniff(b"@CO\tx\n@SQ\tSN:a\tLN:9\n"), Sniffed::Sam));
    }
}
