//! Text that may precede the first record: a byte order mark, blank lines, and FASTA comments.

use memchr::memchr;

/// The byte order mark of UTF-8, as written by editors on Windows and by spreadsheets. It is skipped.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Whether a text looks like UTF-16: it begins with a byte order mark of UTF-16, or with `>` or `@` in two bytes.
pub(crate) fn is_utf16(text: &[u8]) -> bool {
    matches!(
        text,
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [b'>' | b'@', 0, ..] | [0, b'>' | b'@', ..]
    )
}

/// Returns the text from its first record on; empty if the given text ends before the first record.
pub(crate) fn records(text: &[u8]) -> &[u8] {
    let mut text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).trim_ascii_start();
    while text.first() == Some(&b';') {
        text = memchr(b'\n', text).map_or(&[][..], |end| &text[end..]).trim_ascii_start();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_blanks_and_comments_come_before_records() {
        for text in ["", "\u{feff}", " \n", ";a\n", "\u{feff};a\n\r\n;b >c\n\n"] {
            let whole = format!("{text}>x\n;");
            assert_eq!(records(whole.as_bytes()), b">x\n;", "{text:?}");
        }
        assert_eq!(records(b";a comment that goes on"), b"");
    }

    #[test]
    fn utf16_is_known_with_and_without_its_mark() {
        for text in [&b"\xff\xfe>\0a\0"[..], b"\xfe\xff\0>\0a", b">\0a\0", b"\0@\0a"] {
            assert!(is_utf16(text), "{text:?}");
        }
        for text in [&b""[..], b">", b">a\n", b"\xef\xbb\xbf>a", b"\0", b"BAM\x01\0"] {
            assert!(!is_utf16(text), "{text:?}");
        }
    }
}
