//! Recognition of mates by their names, and the common name of a pair.
//!
//! Two names are those of mates if they are equal, if they differ only in a final `/1` or `/2`, or if they differ
//! in exactly one character, which is `1` in the first name and `2` in the second. That character must either be
//! the last one, after one of `/ . _ : -`, or follow an `R` that begins a part of the name, and end that part.

use std::cmp::Ordering;
use std::fmt;

/// The characters that separate the parts of a name.
const SEPARATORS: &[u8] = b"/._:-";

/// The reason why two records are not a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmated {
    /// The names are those of different reads.
    Names,
    /// The names are those of different reads in a file of alignments.
    Alignments,
    /// Both are first mates (1) or second mates (2).
    Both(u8),
    /// The second mate comes before the first.
    Swapped,
}

impl fmt::Display for Unmated {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unmated::Names => formatter.write_str(
                "mates must have the same name, except for a final 1 and 2; if they do belong together, \
                 `any_names` pairs them by position",
            ),
            Unmated::Alignments => formatter.write_str(
                "mates must lie side by side, the first one first: sort the file with samtools collate",
            ),
            Unmated::Both(1) => formatter.write_str(
                "both are first mates: give the file of second mates too; if they do belong together, \
                 `any_names` pairs them by position",
            ),
            Unmated::Both(_) => formatter.write_str(
                "both are second mates: give the file of first mates too; if they do belong together, \
                 `any_names` pairs them by position",
            ),
            Unmated::Swapped => formatter.write_str(
                "the second mate comes first: swap the files; `any_names` pairs mates by position",
            ),
        }
    }
}

/// Returns a name without the `/1` or `/2` of a mate.
pub fn stem(name: &[u8]) -> &[u8] {
    match name {
        [stem @ .., b'/', b'1' | b'2'] => stem,
        _ => name,
    }
}

/// Returns the mate number in a final `/1` or `/2` of a name; 0 if there is no such number.
fn final_number(name: &[u8]) -> u8 {
    match name {
        [.., b'/', number @ (b'1' | b'2')] => number - b'0',
        _ => 0,
    }
}

/// Returns the mate number in the comment of a header: in `1:N:0:…`, as written by Illumina's software, or in a final
/// `/1`, as written by the ENA; 0 if there is no such number.
pub(super) fn comment_number(comment: &[u8]) -> u8 {
    match comment {
        [number @ (b'1' | b'2'), b':', b'Y' | b'N', b':', ..] => number - b'0',
        _ => final_number(comment),
    }
}

/// Returns the position at which two names differ if they differ only there, in a `1` of the first and a `2` of the
/// second name, and if that is a mate number.
fn number_at(one: &[u8], two: &[u8]) -> Option<usize> {
    if one.len() != two.len() {
        return None;
    }
    let at = one.iter().zip(two).position(|(one, two)| one != two)?;
    let after = &one[at + 1..];
    if (one[at], two[at]) != (b'1', b'2') || after != &two[at + 1..] {
        return None;
    }
    let ends = |byte: Option<&u8>| byte.is_none_or(|byte| SEPARATORS.contains(byte));
    let is_number = match one[..at] {
        [.., before] if SEPARATORS.contains(&before) => after.is_empty(),
        [ref before @ .., b'R'] => ends(before.last()) && ends(after.first()) && one.len() > 2,
        _ => false,
    };
    is_number.then_some(at)
}

/// Whether two names are those of a first and a second mate.
pub fn are_mates(one: &[u8], two: &[u8]) -> bool {
    problem([one, two], [0, 0]).is_none()
}

/// Returns the common name of two mates: their name without the mate number and the separator before it. If text
/// follows the number (`x_R1_001`), or if the names are not those of mates, it is the name of the first mate
/// without a final `/1` or `/2`.
pub fn common_name<'n>(one: &'n [u8], two: &[u8]) -> &'n [u8] {
    let own = stem(one);
    if own.len() < one.len() || one == two {
        return if own.is_empty() { one } else { own };
    }
    let common = match number_at(one, two) {
        Some(at) if at + 1 == one.len() => match one[..at] {
            [ref before @ .., _, b'R'] => before,
            [ref before @ .., _] => before,
            [] => one,
        },
        _ => one,
    };
    if common.is_empty() { one } else { common }
}

/// Returns the reason why two records with these names, and these mate numbers in their comments, are not a pair.
#[inline]
pub(super) fn problem([one, two]: [&[u8]; 2], comments: [u8; 2]) -> Option<Unmated> {
    let numbers = [final_number(one), final_number(two)];
    let by_numbers = |numbers: [u8; 2]| match numbers {
        [one, two] if one == two && one > 0 => Some(Unmated::Both(one)),
        [2, 1] => Some(Unmated::Swapped),
        _ => None,
    };
    if one == two {
        return by_numbers(numbers).or_else(|| by_numbers(comments));
    }
    if stem(one) == stem(two) {
        return by_numbers(numbers);
    }
    if number_at(one, two).is_some() {
        return None;
    }
    Some(if number_at(two, one).is_some() { Unmated::Swapped } else { Unmated::Names })
}

/// The certainty that two consecutive records, with certain mate numbers in their comments, are mates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sureness {
    /// They are not mates.
    No,
    /// Their names end in `_1` and `_2` or similar, as names of other records may.
    Likely,
    /// They have the same name.
    Same,
    /// They have the same name and the numbers 1 and 2.
    Numbered,
}

pub(super) fn sureness([one, two]: [&[u8]; 2], comments: [u8; 2]) -> Sureness {
    if problem([one, two], comments).is_some() || one.is_empty() {
        return Sureness::No;
    }
    match [final_number(one), final_number(two)] {
        [1, 2] => Sureness::Numbered,
        _ if one == two && comments == [1, 2] => Sureness::Numbered,
        _ if one == two => Sureness::Same,
        _ => Sureness::Likely,
    }
}

/// Which of two files has the first mates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstMate {
    InFirst,
    InSecond,
    /// Both mates have the same name and no numbers.
    Either,
}

/// Returns how certain it is that two reads with these headers are mates, in any order, and which one is the first.
pub(crate) fn likely_mates(headers: [&[u8]; 2]) -> (Sureness, FirstMate) {
    let [one, two] = headers.map(|header| {
        let end = header.iter().position(u8::is_ascii_whitespace).unwrap_or(header.len());
        (&header[..end], comment_number(header[end..].trim_ascii_start()))
    });
    let of = |one: (_, u8), two: (_, u8)| sureness([one.0, two.0], [one.1, two.1]);
    let (forward, swapped) = (of(one, two), of(two, one));
    let first = match forward.cmp(&swapped) {
        Ordering::Less => FirstMate::InSecond,
        Ordering::Equal => FirstMate::Either,
        Ordering::Greater => FirstMate::InFirst,
    };
    (forward.max(swapped), first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(one: &str, two: &str) -> Option<Unmated> {
        problem([one.as_bytes(), two.as_bytes()], [0, 0])
    }

    #[test]
    fn names_of_mates_and_of_their_pair() {
        for (one, two, common) in [
            ("a", "a", "a"),
            ("a/1", "a/2", "a"),
            ("a", "a/2", "a"),
            ("SRR1.1.1", "SRR1.1.2", "SRR1.1"),
            ("r_1", "r_2", "r"),
            ("r:1", "r:2", "r"),
            ("r-1", "r-2", "r"),
            ("r_R1", "r_R2", "r"),
            ("r.R1/1", "r.R1/2", "r.R1"),
            ("x_R1_001", "x_R2_001", "x_R1_001"),
            ("x:R1:001", "x:R2:001", "x:R1:001"),
            ("R1.7", "R2.7", "R1.7"),
            ("/1", "/2", "/1"),
            (".1", ".2", ".1"),
            ("SRR1.1", "SRR1.1", "SRR1.1"),
        ] {
            assert_eq!(found(one, two), None, "{one} {two}");
            let name = common_name(one.as_bytes(), two.as_bytes());
            assert_eq!(name, common.as_bytes(), "{one} {two}");
        }
    }

    #[test]
    fn other_names_are_no_mates() {
        for (one, two) in [
            ("a", "b"),
            ("a1", "a2"),
            ("a.11", "a.12"),
            ("a.2", "a.3"),
            ("a.1.1", "a.2.2"),
            ("x_R1001", "x_R2001"),
            ("xR1_001", "xR2_001"),
            ("x_1_001", "x_2_001"),
            ("R1", "R2"),
            ("1", "2"),
            ("a.1", "a.2x"),
            ("a/1", "b/2"),
            ("a/1", "a/3"),
        ] {
            assert_eq!(found(one, two), Some(Unmated::Names), "{one} {two}");
        }
        for (one, two) in [("a/2", "a/1"), ("a.2", "a.1"), ("x_R2_1", "x_R1_1")] {
            assert_eq!(found(one, two), Some(Unmated::Swapped), "{one} {two}");
        }
        assert_eq!(found("a/1", "a/1"), Some(Unmated::Both(1)));
        assert_eq!(found("a/2", "a/2"), Some(Unmated::Both(2)));
    }

    #[test]
    fn comments_have_numbers_of_mates() {
        let numbers = ["1:N:0:ACGT", "2:Y:18:1", "3:N:0", "1", "1:2", "length=100", "A:1/2", ""];
        let found = numbers.map(|comment| comment_number(comment.as_bytes()));
        assert_eq!(found, [1, 2, 0, 0, 0, 0, 2, 0]);
        let both = |numbers| problem([b"a", b"a"], numbers);
        assert_eq!(both([1, 2]), None);
        assert_eq!(both([1, 1]), Some(Unmated::Both(1)));
        assert_eq!(both([2, 1]), Some(Unmated::Swapped));
        // Reads 1 and 3 of a run with an index read between them.
        assert_eq!(both([1, 0]), None);
        assert_eq!(sureness([b"a", b"a"], [1, 2]), Sureness::Numbered);
        assert_eq!(sureness([b"a", b"a"], [0, 0]), Sureness::Same);
        assert_eq!(sureness([b"a_1", b"a_2"], [0, 0]), Sureness::Likely);
        assert_eq!(sureness([b"a_2", b"a_3"], [0, 0]), Sureness::No);
    }
}
