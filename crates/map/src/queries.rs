//! The reads of a batch on both strands, encoded for the stages of mapping.

use merganser_seq::base::{UPPER_COMPLEMENT, code};
use merganser_seq::planes::{self, BASES_PER_WORD, window};
use merganser_seq::simd::Level;

use crate::NMode;
use crate::index::{Key, interleave};
use crate::reference::Text;

/// Reads on both strands: query 2i is read i, query 2i + 1 its reverse complement.
#[derive(Debug, Default)]
pub(crate) struct Queries {
    /// The low bits, the high bits and, if there are any, the bits of ambiguous letters of each query.
    words: Vec<u64>,
    entries: Vec<Entry>,
    letters: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: usize,
    len: u32,
    /// The number of ambiguous letters.
    others: u32,
    edits: u32,
    most: u32,
    clips: [u32; 2],
}

/// A read on one strand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query<'a> {
    pub(crate) low: &'a [u64],
    pub(crate) high: &'a [u64],
    /// Bits of ambiguous letters; empty if there is no such letter.
    pub(crate) others: &'a [u64],
    pub(crate) len: usize,
    pub(crate) unknown: usize,
    /// The maximum number of edits of the current search.
    pub(crate) edits: usize,
    /// The maximum number of edits of a hit.
    pub(crate) most: usize,
    /// The numbers of bases of the read before and after the query, if it is only a part of the read.
    pub(crate) clips: [u32; 2],
}

impl Queries {
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.entries.clear();
    }

    /// Adds a read and its reverse complement. Its letters may be any IUPAC letters in either case; the index
    /// of any other letter is returned as the error.
    pub(crate) fn push(&mut self, read: &[u8], edits: usize) -> Result<(), usize> {
        self.add(read, edits)?;
        let mut letters = std::mem::take(&mut self.letters);
        letters.clear();
        letters.extend(read.iter().rev().map(|&letter| UPPER_COMPLEMENT[usize::from(letter)]));
        let added = self.add(&letters, edits);
        self.letters = letters;
        added
    }

    fn add(&mut self, letters: &[u8], edits: usize) -> Result<(), usize> {
        let at = self.words.len();
        let others = match planes::encode(Level::best(), letters, &mut self.words) {
            planes::Encoded::Bases => 0,
            planes::Encoded::Others => {
                letters.iter().filter(|&&letter| code(letter).is_none()).count() as u32
            }
            planes::Encoded::Foreign(at) => return Err(at),
        };
        let edits = edits as u32;
        let (len, clips) = (letters.len() as u32, [0; 2]);
        self.entries.push(Entry { at, len, others, edits, most: edits, clips });
        Ok(())
    }

    /// Replaces a read, which has these letters, by a part of it, whose hits have at most `edits` edits.
    pub(crate) fn crop(
        &mut self,
        read: usize,
        letters: &[u8],
        part: std::ops::Range<usize>,
        edits: usize,
    ) {
        let clips = [part.start, letters.len() - part.end].map(|bases| bases as u32);
        let of_part = self.entries.len();
        // The letters are valid, as those of the whole read are.
        if self.push(&letters[part], edits).is_ok() {
            self.entries.swap(2 * read, of_part);
            self.entries.swap(2 * read + 1, of_part + 1);
            self.entries[2 * read].clips = clips;
            self.entries[2 * read + 1].clips = [clips[1], clips[0]];
        }
        self.entries.truncate(of_part);
    }

    /// Sets the maximum number of edits of the next search for a read.
    pub(crate) fn look_for(&mut self, read: usize, edits: usize) {
        for entry in &mut self.entries[2 * read..2 * read + 2] {
            entry.edits = edits as u32;
        }
    }

    /// Returns the words of all planes.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the index of a query's first word.
    pub(crate) fn word(&self, number: usize) -> usize {
        self.entries[number].at
    }

    #[inline]
    pub(crate) fn get(&self, number: usize) -> Query<'_> {
        let Entry { at, len, others, edits, most, clips } = self.entries[number];
        let plane = (len as usize).div_ceil(BASES_PER_WORD);
        let words = &self.words[at..];
        Query {
            low: &words[..plane],
            high: &words[plane..2 * plane],
            others: if others > 0 { &words[2 * plane..3 * plane] } else { &[] },
            len: len as usize,
            unknown: others as usize,
            edits: edits as usize,
            most: most as usize,
            clips,
        }
    }
}

impl<'a> Query<'a> {
    /// Returns the same query, to be searched with up to `edits` edits.
    pub(crate) fn up_to(self, edits: usize) -> Query<'a> {
        Query { edits, ..self }
    }
}

impl Query<'_> {
    /// Returns the 32 bases at `at`, with zeros past the end of the query.
    #[inline]
    pub(crate) fn key(&self, at: usize) -> Key {
        let planes = [window(self.low, at), window(self.high, at)];
        Key { planes, packed: interleave(planes) }
    }

    /// Returns the code of a base; 4 if the letter is ambiguous.
    #[inline]
    pub(crate) fn code(&self, at: usize) -> u8 {
        planes::code(self.low, self.high, self.others, at)
    }

    /// Returns a bit for each mismatch of 64 bases of the query, from base 64 `word` on, with the reference at
    /// `at`.
    #[inline(always)]
    pub(crate) fn mismatches(&self, text: &Text<'_>, at: usize, word: usize, mode: NMode) -> u64 {
        let kept = u64::MAX >> (64 - (self.len - 64 * word).min(64));
        let [low, high] = text.window(at);
        let differs = (low ^ self.low[word]) | (high ^ self.high[word]);
        let mut others = self.others.get(word).copied().unwrap_or(0);
        if !text.others.is_empty() {
            others |= window(text.others, at);
        }
        if mode == NMode::Match { differs & !others & kept } else { (differs | others) & kept }
    }

    /// Whether a range of the query has ambiguous letters.
    #[inline]
    pub(crate) fn has_others(&self, from: usize, to: usize) -> bool {
        planes::has_any(self.others, from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_strands_are_there() {
        let mut queries = Queries::default();
        queries.push(b"ACGTTGN", 2).unwrap();
        let codes = |query: Query<'_>| (0..query.len).map(|at| query.code(at)).collect::<Vec<_>>();
        assert_eq!(codes(queries.get(0)), [0, 1, 2, 3, 3, 2, 4]);
        assert_eq!(codes(queries.get(1)), [4, 1, 0, 0, 1, 2, 3]);
        assert_eq!(queries.get(0).unknown, 1);
        assert!(queries.get(0).has_others(6, 7) && !queries.get(0).has_others(0, 6));
        assert_eq!(queries.push(b"AC-", 1), Err(2));
    }

    #[test]
    fn keys_have_the_first_base_on_top() {
        let mut queries = Queries::default();
        queries.push(b"CATG", 0).unwrap();
        let key = queries.get(0).key(0);
        assert_eq!(key.packed >> 56, 0b01_00_11_10);
        assert_eq!(key.packed << 8, 0);
    }
}
