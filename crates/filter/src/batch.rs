//! A batch of pairs to decide: sequences as bit planes, and which of them to compare.

mod places;

use merganser_seq::planes::{self, Encoded, TextPlanes, window};
use merganser_seq::simd::Level;

use crate::Error;
pub(crate) use places::PairPlace;

/// A reference as bit planes, any stretch of which can be a segment.
#[derive(Clone, Debug)]
pub struct PackedReference {
    words: Vec<u64>,
    len: usize,
    others: bool,
}

impl PackedReference {
    /// Packs a reference, whose letters may be in either case.
    ///
    /// # Errors
    /// If it has a byte that is not an IUPAC letter.
    pub fn new(letters: &[u8]) -> Result<PackedReference, Error> {
        let mut words = Vec::new();
        let others = encode(letters, &mut words)?;
        Ok(PackedReference { words, len: letters.len(), others })
    }

    /// Returns the number of bases.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bases.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// Appends the planes of a sequence; returns whether it has ambiguous letters.
fn encode(letters: &[u8], words: &mut Vec<u64>) -> Result<bool, Error> {
    match planes::encode(Level::best(), letters, words) {
        Encoded::Bases => Ok(false),
        Encoded::Others => Ok(true),
        Encoded::Foreign(at) => Err(Error::Letter { at, byte: letters[at] }),
    }
}

/// A sequence of a batch. A read can be compared with any number of segments.
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    at: usize,
    len: u32,
    others: bool,
}

impl Sequence {
    /// Returns the index of the word after its planes.
    #[inline]
    fn end(self) -> usize {
        let planes = if self.others { 3 } else { 2 };
        self.at + planes * (self.len as usize).div_ceil(planes::BASES_PER_WORD)
    }
}

/// A pair of a read and a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    read: Sequence,
    segment: SegmentPlace,
}

#[derive(Clone, Copy, Debug)]
enum SegmentPlace {
    InBatch(Sequence),
    InReference { position: usize, len: u32 },
}

/// A batch of pairs of a read and a segment. A segment is a sequence of its own or a stretch of a reference.
/// Clearing and refilling a batch reuses its memory.
#[derive(Debug, Default)]
pub struct PairBatch<'r> {
    reference: Option<&'r PackedReference>,
    words: Vec<u64>,
    pairs: Vec<Pair>,
}

/// Checks the length of a sequence.
fn length(bases: usize) -> Result<u32, Error> {
    u32::try_from(bases).map_err(|_| Error::Long { bases })
}

impl<'r> PairBatch<'r> {
    /// Creates an empty batch without a reference.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty batch whose segments may be stretches of `reference`.
    pub fn with_reference(reference: &'r PackedReference) -> Self {
        Self { reference: Some(reference), ..Self::default() }
    }

    /// Removes all pairs and sequences.
    pub fn clear(&mut self) {
        self.words.clear();
        self.pairs.clear();
    }

    /// Returns the number of pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Adds a pair, given the letters of both sequences.
    ///
    /// # Errors
    /// If a sequence has a byte that is not an IUPAC letter, or 2^32 bases or more. The batch is then unchanged.
    pub fn push(&mut self, read: &[u8], segment: &[u8]) -> Result<(), Error> {
        let at = self.words.len();
        let read = self.add(read)?;
        let segment = self.add(segment).inspect_err(|_| self.words.truncate(at))?;
        self.pair(read, segment);
        Ok(())
    }

    /// Adds a sequence, which pairs can refer to.
    ///
    /// # Errors
    /// If it has a byte that is not an IUPAC letter, or 2^32 bases or more.
    pub fn add(&mut self, letters: &[u8]) -> Result<Sequence, Error> {
        let at = self.words.len();
        let len = length(letters.len())?;
        let others = encode(letters, &mut self.words)?;
        Ok(Sequence { at, len, others })
    }

    /// Adds the sequence of `len` bases at byte `at` of a text, all of which must be bases.
    #[inline]
    pub(crate) fn add_stretch(&mut self, text: &TextPlanes, at: usize, len: usize) -> Sequence {
        let sequence = Sequence { at: self.words.len(), len: len as u32, others: false };
        text.stretch(at, len, &mut self.words);
        sequence
    }

    /// Adds a pair of two sequences of this batch. Sequences that [`add`](Self::add) returned before the last
    /// [`clear`](Self::clear), or for another batch, refer to other bases here.
    ///
    /// # Panics
    /// If a sequence is not within this batch.
    #[inline]
    pub fn pair(&mut self, read: Sequence, segment: Sequence) {
        self.check(read);
        self.check(segment);
        self.pairs.push(Pair { read, segment: SegmentPlace::InBatch(segment) });
    }

    /// Checks that a sequence is within the batch, because devices read it without a check.
    #[inline]
    fn check(&self, sequence: Sequence) {
        assert!(sequence.end() <= self.words.len(), "a sequence of another batch");
    }

    /// Adds a pair of a read of this batch and the `len` bases of the reference at `position`.
    ///
    /// # Panics
    /// If the read is not within this batch, there is no reference, or the stretch is not within it or has 2^32 bases.
    pub fn candidate(&mut self, read: Sequence, position: usize, len: usize) {
        self.check(read);
        let reference = self.reference.expect("a candidate needs a reference");
        assert!(
            position <= reference.len && len <= reference.len - position,
            "{len} bases from {position} of a reference of {}",
            reference.len
        );
        let len = u32::try_from(len).expect("a stretch of fewer than 2^32 bases");
        self.pairs.push(Pair { read, segment: SegmentPlace::InReference { position, len } });
    }

    /// Returns a pair's lengths, and whether it may have ambiguous letters.
    #[inline]
    pub(crate) fn lengths(&self, index: usize) -> ([usize; 2], bool) {
        let Pair { read, segment } = &self.pairs[index];
        let (len, others) = match segment {
            SegmentPlace::InBatch(segment) => (segment.len, segment.others),
            SegmentPlace::InReference { len, .. } => {
                (*len, self.reference.is_some_and(|reference| reference.others))
            }
        };
        ([read.len as usize, len as usize], read.others || others)
    }

    /// Returns the low and high planes of a pair's sequences if both are in the batch and have `plane` words
    /// each.
    #[inline]
    pub(crate) fn words(&self, index: usize, plane: usize) -> Option<[&[u64]; 2]> {
        let Pair { read, segment: SegmentPlace::InBatch(segment) } = &self.pairs[index] else {
            return None;
        };
        let of = |sequence: &Sequence| {
            let same = (sequence.len as usize).div_ceil(planes::BASES_PER_WORD) == plane;
            same.then(|| &self.words[sequence.at..sequence.at + 2 * plane])
        };
        Some([of(read)?, of(segment)?])
    }

    /// Returns views of a pair's sequences.
    #[inline]
    pub(crate) fn views(&self, index: usize) -> [SequenceView<'_>; 2] {
        let pair = &self.pairs[index];
        let segment = match pair.segment {
            SegmentPlace::InBatch(sequence) => self.view(sequence),
            SegmentPlace::InReference { position, len } => self.stretch(position, len as usize),
        };
        [self.view(pair.read), segment]
    }

    #[inline(always)]
    fn view(&self, sequence: Sequence) -> SequenceView<'_> {
        let len = sequence.len as usize;
        let plane = len.div_ceil(planes::BASES_PER_WORD);
        let (low, words) = self.words[sequence.at..].split_at(plane);
        let (high, words) = words.split_at(plane);
        SequenceView { low, high, others: sequence.others.then(|| &words[..plane]), at: 0, len }
    }

    fn stretch(&self, position: usize, len: usize) -> SequenceView<'_> {
        let empty = SequenceView { low: &[], high: &[], others: None, at: 0, len: 0 };
        let Some(reference) = self.reference.filter(|_| len > 0) else { return empty };
        let plane = reference.len.div_ceil(planes::BASES_PER_WORD);
        let words = position / 64..(position + len).div_ceil(64);
        let of = |number: usize| &reference.words[number * plane..][words.clone()];
        let view =
            SequenceView { low: of(0), high: of(1), others: None, at: (position % 64) as u32, len };
        let others = reference.others.then(|| of(2));
        let met = |plane: &&[u64]| {
            let mut view = (0..len.div_ceil(64)).map(|i| window(plane, view.at as usize + 64 * i));
            let kept = u64::MAX >> ((64 - len % 64) % 64);
            let last = view.next_back().unwrap_or(0) & kept;
            last != 0 || view.any(|word| word != 0)
        };
        SequenceView { others: others.filter(met), ..view }
    }
}

/// A view of a sequence's planes. Bits past its end are unspecified.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SequenceView<'a> {
    low: &'a [u64],
    high: &'a [u64],
    others: Option<&'a [u64]>,
    /// The bit of the first word at which the sequence begins, below 64.
    at: u32,
    len: usize,
}

impl SequenceView<'_> {
    /// Returns the number of bases.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether there are ambiguous letters.
    #[inline]
    pub(crate) fn has_others(&self) -> bool {
        self.others.is_some()
    }

    /// Returns the low and the high bits of 64 bases from base 64i on.
    #[inline(always)]
    pub(crate) fn word(&self, i: usize) -> [u64; 2] {
        if self.at == 0 {
            return [self.low, self.high].map(|plane| plane.get(i).copied().unwrap_or(0));
        }
        [self.low, self.high].map(|plane| window(plane, self.at as usize + 64 * i))
    }

    /// Returns a bit for each ambiguous letter among 64 bases from base 64i on.
    #[inline]
    pub(crate) fn others(&self, i: usize) -> u64 {
        self.others.map_or(0, |plane| window(plane, self.at as usize + 64 * i))
    }

    /// Returns the low bits, high bits and ambiguity bits of 64 bases from base `from` on, which may be
    /// negative.
    #[inline]
    pub(crate) fn window(&self, from: isize) -> [u64; 3] {
        let part = |plane: &[u64]| {
            let at = from + self.at as isize;
            if at >= 0 {
                window(plane, at as usize)
            } else if at > -64 {
                plane.first().copied().unwrap_or(0) << -at
            } else {
                0
            }
        };
        [part(self.low), part(self.high), self.others.map_or(0, part)]
    }

    /// Returns the code of a base, and whether the letter is ambiguous.
    #[inline]
    pub(crate) fn base(&self, i: usize) -> (u8, bool) {
        let at = self.at as usize + i;
        let bit = |plane: &[u64]| (plane[at / 64] >> (at % 64) & 1) as u8;
        (bit(self.high) << 1 | bit(self.low), self.others.is_some_and(|plane| bit(plane) == 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_that_are_too_long_are_refused() {
        assert_eq!(length((1 << 32) - 1).unwrap(), u32::MAX);
        assert!(
            length(1 << 32).unwrap_err().to_string().starts_with("4294967296 bases are too many")
        );
    }

    #[test]
    fn a_stretch_of_a_reference_is_the_same_sequence() {
        let letters: Vec<u8> = (0..300).map(|i| b"ACGTTGNCA"[i * i % 9]).collect();
        let reference = PackedReference::new(&letters).unwrap();
        let mut batch = PairBatch::with_reference(&reference);
        let read = batch.add(b"ACGT").unwrap();
        for position in [0, 1, 63, 64, 65, 200, 300] {
            for len in [0, 1, 2, 64, 65, 99] {
                if position + len > 300 {
                    continue;
                }
                batch.candidate(read, position, len);
                let text = &letters[position..position + len];
                batch.push(b"A", text).unwrap();
                let [_, stretch] = batch.views(batch.len() - 2);
                let [_, own] = batch.views(batch.len() - 1);
                assert_eq!(stretch.len(), len);
                assert_eq!(stretch.has_others(), text.contains(&b'N'), "{position} {len}");
                for (i, &letter) in text.iter().enumerate() {
                    assert_eq!(stretch.base(i).1, letter == b'N');
                    if letter != b'N' {
                        assert_eq!(stretch.base(i), own.base(i));
                    }
                }
            }
        }
    }

    #[test]
    fn a_bad_letter_leaves_the_batch_as_it_was() {
        let mut batch = PairBatch::new();
        let error = batch.push(b"ACGT", b"AC-T").unwrap_err();
        assert_eq!(error.to_string(), "'-' at base 3 is no letter of DNA");
        assert_eq!((batch.len(), batch.words.len()), (0, 0));
    }

    #[test]
    fn sequences_of_other_batches_are_refused() {
        let mut other = PairBatch::new();
        let short = other.add(b"ACGT").unwrap();
        let long = other.add(&[b'A'; 65]).unwrap();
        let unknown = other.add(b"ACGN").unwrap();
        let mut batch = PairBatch::new();
        let own = batch.add(b"ACGT").unwrap();
        batch.pair(own, own);
        // The same begin, but one plane more than the batch has words for.
        let larger = Sequence { others: true, ..short };
        for foreign in [long, unknown, larger] {
            for pair in [[own, foreign], [foreign, own]] {
                let refused = std::panic::catch_unwind(|| {
                    let mut batch = PairBatch { words: batch.words.clone(), ..PairBatch::new() };
                    batch.pair(pair[0], pair[1]);
                });
                assert!(refused.is_err(), "{foreign:?}");
            }
        }
        batch.clear();
        assert!(std::panic::catch_unwind(move || batch.pair(own, own)).is_err());
    }
}
