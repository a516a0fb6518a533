//! Bytes that are letters, and binary data in what should be text.

/// Where `line` first has a byte that is no printable ASCII (33 to 126), blank or tab: a sign of
/// binary data. `None` for text, whatever its letters.
#[inline]
pub fn check_letters(line: &[u8]) -> Option<usize> {
    // A sum over the whole line, not a search, so that the compiler makes SIMD of it.
    let bad = line.iter().fold(false, |bad, &byte| bad | is_binary(byte));
    if bad { line.iter().position(|&byte| is_binary(byte)) } else { None }
}

/// Whether a line has only the printable ASCII from `A` on: all letters, and nothing that needs a
/// closer look (blanks, `>`, `@`, gaps, binary data).
#[inline]
pub(super) fn is_plain(line: &[u8]) -> bool {
    is_printable_from::<b'A'>(line)
}

/// Whether a line has only qualities, the printable ASCII without the blank.
#[inline]
pub(super) fn are_qualities(line: &[u8]) -> bool {
    is_printable_from::<b'!'>(line)
}

/// Bytes that are looked at together.
const LANES: usize = 16;

/// Whether all bytes lie from `FIRST` to `~`. Each line of each file is looked at so: a maximum in all
/// lanes, not a search, and the last lanes of the line once more, so that no byte is left to be looked
/// at alone.
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

/// Whether a byte separates letters of a sequence and is none: a blank, a tab, or a carriage return,
/// of which some line ends have two.
#[inline]
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

#[inline]
fn is_binary(byte: u8) -> bool {
    // A carriage return within a line is odd, but text.
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
