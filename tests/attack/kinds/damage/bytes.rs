//! Random damage to bytes.

use merganser_test_support::reads::Random;

/// Numbers that make sums and products overflow, sizes absurd, or signs change.
pub(in crate::kinds) const EXTREME: [u64; 9] =
    [0, 1, u64::MAX, i64::MAX as u64, 1 << 63, u32::MAX as u64, 1 << 31, 1 << 40, 0x7fff_ffff];
/// Bytes that do not belong in texts, or only in other positions.
const WORDS: [&[u8]; 14] = [
    b"\t",
    b"\n",
    b"\r\n",
    b"\0",
    b"-1",
    b"99999999999999999999",
    b"1e400",
    b"\xff\xfe",
    b"\n\n\n",
    b"@",
    b">",
    b"\"",
    b"{",
    b"NaN",
];

/// Damages a file in one random way and returns a description.
pub(in crate::kinds) fn damage(bytes: &mut Vec<u8>, random: &mut Random) -> String {
    if bytes.is_empty() {
        bytes.push(random.next() as u8);
        return "a byte in an empty file".into();
    }
    let at = place(bytes.len(), random);
    let most = 1 << random.below(13);
    let span = (1 + random.below(most)).min(bytes.len() - at);
    match random.below(12) {
        0..3 => {
            let bit = random.below(8);
            bytes[at] ^= 1 << bit;
            format!("bit {bit} of byte {at}")
        }
        3 => {
            bytes.truncate(at);
            format!("cut at {at}")
        }
        4 => {
            let new: Vec<u8> = (0..span).map(|_| random.next() as u8).collect();
            bytes.splice(at..at, new);
            format!("{span} bytes inserted at {at}")
        }
        5 => {
            bytes.drain(at..at + span);
            format!("{span} bytes removed at {at}")
        }
        6 => {
            let value = [0, 0xff][random.below(2)];
            bytes[at..at + span].fill(value);
            format!("{span} times {value} at {at}")
        }
        7 => {
            let from = random.below(bytes.len() - span + 1);
            bytes.copy_within(from..from + span, at);
            format!("{span} bytes of {from} at {at}")
        }
        8 => swap(bytes, at, span, random),
        9 => number(bytes, at, random),
        10 => {
            let word = WORDS[random.below(WORDS.len())];
            bytes.splice(at..at, word.iter().copied());
            format!("{:?} at {at}", word.escape_ascii().to_string())
        }
        _ => {
            let (from, times) = (random.below(bytes.len()), 1 + random.below(4));
            let tail = bytes[from..].repeat(times);
            bytes.extend(&tail[..tail.len().min(1 << 20)]);
            format!("the bytes from {from} repeated {times} times at the end")
        }
    }
}

/// Returns a random position: anywhere, or near the start or end, where headers and directories are.
fn place(length: usize, random: &mut Random) -> usize {
    match random.below(4) {
        0 => random.below(length.min(256)),
        1 => length - 1 - random.below(length.min(256)),
        _ => random.below(length),
    }
}

fn swap(bytes: &mut [u8], at: usize, span: usize, random: &mut Random) -> String {
    let span = span.min(bytes.len() / 2).max(1);
    let at = at.min(bytes.len() - span);
    let other = random.below(bytes.len() - span + 1);
    if other.abs_diff(at) >= span {
        for step in 0..span {
            bytes.swap(at + step, other + step);
        }
    }
    format!("{span} bytes at {at} and at {other} swapped")
}

fn number(bytes: &mut [u8], at: usize, random: &mut Random) -> String {
    let width = [1, 2, 4, 8][random.below(4)].min(bytes.len());
    // Numbers are mostly aligned.
    let at = (at / width * width).min(bytes.len() - width);
    let value = EXTREME[random.below(EXTREME.len())];
    bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
    format!("{value:#x} as {width} bytes at {at}")
}
