//! Segments of a query, one of which matches a text with few edits wherever the query does.
//!
//! The edits within the segments are at most those of the query. If the numbers of edits that segments may have sum to
//! e + 1 less the number of segments, an alignment with at most e edits has a segment with no more edits than this one may
//! have (the pigeonhole principle). Letters of the text between two segments count for neither.

use std::ops::Range;

use super::neighbours::MAX_EDITS;

/// A segment of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) letters: Range<usize>,
    /// The maximum number of edits.
    pub(crate) edits: usize,
    /// Whether its last letter is aligned to the end of a word of the text; otherwise, its first letter to the start.
    pub(crate) at_end: bool,
}

impl Segment {
    /// Returns the position in the query that a word is next to.
    pub(crate) fn anchor(&self) -> usize {
        if self.at_end { self.letters.end } else { self.letters.start }
    }
}

/// Divides a query of `length` letters with `edits` edits into `count` segments, for words of `q` letters; `None` if they
/// would have too many edits or too few letters.
pub(crate) fn split(length: usize, edits: usize, count: usize, q: usize) -> Option<Vec<Segment>> {
    let spare = (edits + 1).checked_sub(count)?;
    let share = |whole: usize, at: usize| whole / count + usize::from(at < whole % count);
    let mut start = 0;
    let segments = (0..count).map(|at| {
        let letters = if count == 1 { length.min(q) } else { share(length, at) };
        let segment = start..start + letters;
        start += letters;
        // The side with more letters decides whether a word is followed up.
        let at_end = length - segment.end >= segment.start;
        Segment { letters: segment, edits: share(spare, at), at_end }
    });
    let segments: Vec<Segment> = segments.collect();
    let is_good = |one: &Segment| one.edits <= MAX_EDITS && one.edits + 1 < one.letters.len();
    segments.iter().all(is_good).then_some(segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_share_letters_and_edits() {
        let split = |length, edits, count| {
            let segments = split(length, edits, count, 12)?.into_iter();
            Some(segments.map(|one| (one.letters, one.edits, one.at_end)).collect::<Vec<_>>())
        };
        assert_eq!(split(23, 4, 2).unwrap(), [(0..12, 2, true), (12..23, 1, false)]);
        assert_eq!(split(23, 0, 1).unwrap(), [(0..12, 0, true)]);
        assert_eq!(
            split(41, 5, 3).unwrap(),
            [(0..14, 1, true), (14..28, 1, false), (28..41, 1, false)]
        );
        assert_eq!((split(23, 0, 2), split(23, 9, 2), split(4, 3, 2)), (None, None, None));
    }
}
