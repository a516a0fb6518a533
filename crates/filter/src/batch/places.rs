//! Locations of a batch's sequences, for copying the batch to a device.

use super::{PackedReference, Pair, PairBatch, SegmentPlace};

/// The locations and lengths of a pair's sequences, and whether they have ambiguous letters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairPlace {
    /// The index of a word of the batch.
    pub(crate) read_at: usize,
    pub(crate) read_len: u32,
    pub(crate) read_others: bool,
    /// The index of a word of the batch or, if `in_reference`, of a base of the reference.
    pub(crate) segment_at: usize,
    pub(crate) segment_len: u32,
    pub(crate) segment_others: bool,
    pub(crate) in_reference: bool,
}

impl<'r> PairBatch<'r> {
    /// Returns the planes of all sequences.
    pub(crate) fn all_words(&self) -> &[u64] {
        &self.words
    }

    pub(crate) fn reference(&self) -> Option<&'r PackedReference> {
        self.reference
    }

    pub(crate) fn place(&self, index: usize) -> PairPlace {
        let Pair { read, segment } = self.pairs[index];
        let (in_reference, segment_at, segment_len) = match segment {
            SegmentPlace::InBatch(sequence) => (false, sequence.at, sequence.len),
            SegmentPlace::InReference { position, len } => (true, position, len),
        };
        let segment_others = match segment {
            SegmentPlace::InBatch(sequence) => sequence.others,
            SegmentPlace::InReference { .. } => self.views(index)[1].has_others(),
        };
        PairPlace {
            read_at: read.at,
            read_len: read.len,
            read_others: read.others,
            segment_at,
            segment_len,
            segment_others,
            in_reference,
        }
    }

    /// Returns the lengths of read and segment if they are the same for all pairs, all letters are bases, and
    /// the words are those of the first read, the first segment, the second read, and so on.
    pub(crate) fn uniform(&self) -> Option<[u32; 2]> {
        let Pair { read, segment: SegmentPlace::InBatch(segment) } = self.pairs.first()? else {
            return None;
        };
        let lens = [read.len, segment.len];
        let of_read = 2 * (read.len as usize).div_ceil(64);
        let of_pair = of_read + 2 * (segment.len as usize).div_ceil(64);
        let expected = |(i, pair): (usize, &Pair)| {
            let Pair { read, segment: SegmentPlace::InBatch(segment) } = pair else { return false };
            let at = i * of_pair;
            (read.at, segment.at, [read.len, segment.len]) == (at, at + of_read, lens)
                && !read.others
                && !segment.others
        };
        let all = self.words.len() == self.pairs.len() * of_pair
            && self.pairs.iter().enumerate().all(expected);
        all.then_some(lens)
    }
}

impl PackedReference {
    /// Returns the planes.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }
}
