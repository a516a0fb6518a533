//! Changes of numbers and texts at fixed positions.

use super::bytes;
use merganser_test_support::reads::Random;

/// Bytes that replace letters of names.
const PARTS: [&[u8]; 12] = [
    b"../",
    b"/..",
    b"/",
    b".",
    b"\t",
    b"\n",
    b"\x1b[2J",
    b"\0",
    b"\r",
    b"\x7f",
    b"\xff",
    b"\xc2\x85",
];

/// Changes a number in the header, a number elsewhere, letters of a name, or random bytes; returns a description.
pub(super) fn change(bytes: &mut Vec<u8>, header: usize, random: &mut Random) -> String {
    match random.below(8) {
        0..3 => {
            let at = 8 + random.below(header.min(bytes.len()).saturating_sub(8).max(1));
            number(bytes, at, random)
        }
        3..5 => {
            let at = random.below(bytes.len());
            number(bytes, at, random)
        }
        5..7 => letters(bytes, random),
        _ => bytes::damage(bytes, random),
    }
}

/// Replaces a number by an extreme one or a slightly different one.
fn number(bytes: &mut [u8], at: usize, random: &mut Random) -> String {
    let width = [1, 4, 8][random.below(3)].min(bytes.len());
    let at = (at / width * width).min(bytes.len() - width);
    let place = &mut bytes[at..at + width];
    let mut old = [0; 8];
    old[..width].copy_from_slice(place);
    let old = u64::from_le_bytes(old);
    let extreme = bytes::EXTREME[random.below(bytes::EXTREME.len())];
    let all =
        [extreme, extreme, old.wrapping_add(1), old.wrapping_sub(1), old ^ 1 << random.below(8)];
    let value = all[random.below(all.len())];
    place.copy_from_slice(&value.to_le_bytes()[..width]);
    format!("{value:#x} for {old:#x} as {width} bytes at {at}")
}

/// Overwrites letters of a name without changing its length.
fn letters(bytes: &mut [u8], random: &mut Random) -> String {
    let is_name = |at: &usize| bytes[*at..].iter().take(2).all(u8::is_ascii_alphanumeric);
    // Names can be anywhere and are rare among other bytes.
    let from = random.below(bytes.len());
    let Some(at) = (from..bytes.len()).chain(0..from).find(is_name) else {
        return "no letters found".into();
    };
    let part = PARTS[random.below(PARTS.len())];
    let length = part.len().min(bytes.len() - at);
    bytes[at..at + length].copy_from_slice(&part[..length]);
    format!("{:?} at {at}", part.escape_ascii().to_string())
}
