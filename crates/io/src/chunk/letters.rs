//! Classification of bytes: letters, blanks, and binary data in text.

/// Returns the position of the first byte of `line` that is not printable ASCII (33 to 126), a blank, a tab or a
/// carriage return: a sign of binary data.
#[inline]
pub fn check_letters(line: &[u8]) -> Option<usize> {
    // A fold over the whole line instead of a search, so that the compiler vectorizes it.
    let bad = line.iter().fold(false, |bad, &byte| bad | is_binary(byte));
    if bad { line.iter().position(|&byte| is_binary(byte)) } else { None }
}

/// Whether a line contains only printable ASCII from `A` on: letters, and none of the bytes that need a closer
/// check (blanks, `>`, `@`, gaps, binary data).
#[inline]
pub(super) fn is_plain(line: &[u8]) -> bool {
    is_printable_from::<b'A'>(line)
}

/// Whether a line contains only quality letters: printable ASCII without the blank.
#[inline]
pub(super) fn are_qualities(line: &[u8]) -> bool {
    is_printable_from::<b'!'>(line)
}

/// The number of bytes that are compared together.
const LANES: usize = 16;

/// Whether all bytes are from `FIRST` to `~`. This runs on each line of each file, so it computes a maximum in all
/// lanes instead of a search. The last [`LANES`] bytes of the line overlap the others, so that no byte is left
/// over.
#[inline]
fn is_printable_from<const FIRST: u8>(line: &[u8]) -> bool {
    let above = |byte: u8| byte.wrapping_sub(FIRST);
    let most = match line.last_chunk::<LANES>() {
        Some(last) => {
            let (pieces, _) = line.as_chunks::<LANES>();
            let mut most = last.map(above);
            for piece in pieces {
                most = std::array::from_fn(|lane| most[lane].max(above(piece[lane])));
            }
            most.into_iter().fold(0, u8::max)
        }
        None => line.iter().fold(0, |most, &byte| most.max(above(byte))),
    };
    most <= b'~' - FIRST
}

/// Whether a byte may separate letters of a sequence: a blank, a tab, or a carriage return (some line ends have two).
#[inline]
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

#[inline]
fn is_binary(byte: u8) -> bool {
    // A carriage return within a line is unusual, but it is text.
    (byte < b' ') & (byte != b'\t') & (byte != b'\r') | (byte > b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_of_another_kind_is_seen_wherever_it_is() {
        for length in 0..70 {
            let line = vec![b'G'; length];
            assert!(is_plain(&line) && are_qualities(&line));
            for at in 0..length {
                for (byte, plain, quality) in [
                    (b'A', true, true),
                    (b'~', true, true),
                    (b'@', false, true),
                    (b'!', false, true),
                    (b' ', false, false),
                    (0, false, false),
                    (0x7f, false, false),
                    (0xff, false, false),
                ] {
                    let mut line = line.clone();
                    line[at] = byte;
                    let found = (is_plain(&line), are_qualities(&line));
                    assert_eq!(found, (plain, quality), "{byte} at {at} of {length}");
                }
            }
        }
    }
}
