//! The scan of a text by words.

use std::ops::Range;

use merganser_seq::base::is_base;
use merganser_seq::planes::{BASES_PER_WORD, TextPlanes, window};
use merganser_seq::simd::Level;

use super::cost::Machine;
use super::set::Set;
use super::sides::{LANES, Lanes, alive};
use super::table::look_up;
use super::windows::{Window, ends, join, mismatches};
use crate::letters::text_bases;
use crate::queries::Queries;
use crate::scan::Piece;
use crate::select::End;

/// The number of words of a text that are looked up together.
const CHUNK: usize = if cfg!(test) { 64 } else { 2048 };
/// The bits before the first letter in the planes of a text: words may begin before it.
const PAD: usize = BASES_PER_WORD;

/// A candidate in a lane: its entry, and the position of its anchor.
type Candidate = (u32, u32);

/// The working memory of scans by words.
#[derive(Debug)]
pub(crate) struct Seeker {
    level: Level,
    machine: Machine,
    planes: TextPlanes,
    words: Vec<u64>,
    /// The low and the high bits of the letters, from bit [`PAD`] on.
    bits: [Vec<u64>; 2],
    /// By letter: its bases in a text.
    bases: [u8; 256],
    /// Words that have a list: the bit where each one begins, and its list.
    hits: Vec<(u32, u32)>,
    /// The ranges of entries of these.
    lists: Vec<(u32, (u32, u32))>,
    lanes: Lanes,
    candidates: [Candidate; LANES],
    windows: Vec<Window>,
    found: Vec<(u32, End)>,
    /// The ends that other scans must find.
    left: Vec<Range<usize>>,
}

impl Seeker {
    pub(crate) fn new(level: Level, n_matches: bool) -> Seeker {
        Seeker {
            level,
            machine: Machine::of(level),
            planes: TextPlanes::default(),
            words: Vec::new(),
            bits: Default::default(),
            bases: std::array::from_fn(|letter| text_bases(letter as u8, n_matches)),
            hits: Vec::new(),
            lists: Vec::new(),
            lanes: Lanes::default(),
            candidates: [(0, 0); LANES],
            windows: Vec::new(),
            found: Vec::new(),
            left: Vec::new(),
        }
    }

    /// Finds the ends of the queries of a set in a piece. Returns them, sorted by the number of the query and position, and
    /// the ranges of ends that were left out, which have to be found in another way.
    pub(crate) fn scan(
        &mut self,
        set: &Set,
        queries: &Queries,
        piece: &Piece<'_>,
    ) -> (&[(u32, End)], &[Range<usize>]) {
        let letters = piece.letters;
        self.load(letters);
        self.found.clear();
        self.left.clear();
        self.leave_sets(set, letters);
        // A word may begin before the text, or end after it.
        let (first, last) = (PAD + 1 - set.q, PAD + letters.len());
        for from in (first..last).step_by(CHUNK) {
            let chunk = from..last.min(from + CHUNK);
            if !self.is_without_bases(set, letters, &chunk)
                && !self.chunk(set, queries, letters, &chunk)
            {
                let start = chunk.start.saturating_sub(PAD);
                self.left.push(start..chunk.end - PAD + set.reach + set.q + 1);
            }
        }
        self.finish(piece)
    }

    fn load(&mut self, letters: &[u8]) {
        self.planes.scan(self.level, letters);
        self.words.clear();
        self.planes.stretch(0, letters.len(), &mut self.words);
        let (low, high) = self.words.split_at(self.words.len() / 2);
        for (bits, plane) in self.bits.iter_mut().zip([low, high]) {
            bits.clear();
            bits.push(0);
            bits.extend_from_slice(plane);
            bits.extend([0; 2]);
        }
    }

    /// Leaves out ends whose alignments may have letters that are neither bases nor match nothing. A letter that matches
    /// nothing needs no care: replaced by any base, it has no more edits.
    fn leave_sets(&mut self, set: &Set, letters: &[u8]) {
        let mut at = self.planes.next_other(0);
        while at < letters.len() {
            if self.bases[usize::from(letters[at])] != 0 {
                let ends = at + 1..at + set.reach + 1;
                match self.left.last_mut().filter(|last| last.end >= ends.start) {
                    Some(last) => last.end = ends.end,
                    None => self.left.push(ends),
                }
            }
            at = self.planes.next_other(at + 1);
        }
    }

    /// Whether all words of a chunk have no bases: those of a gap.
    fn is_without_bases(&self, set: &Set, letters: &[u8], chunk: &Range<usize>) -> bool {
        let (from, to) =
            (chunk.start.saturating_sub(PAD), (chunk.end - PAD + set.q).min(letters.len()));
        !letters[from..to].iter().any(|&letter| is_base(letter))
    }

    /// Finds the ends of a chunk; returns `false` if this would take longer than another scan.
    fn chunk(
        &mut self,
        set: &Set,
        queries: &Queries,
        letters: &[u8],
        chunk: &Range<usize>,
    ) -> bool {
        look_up(self.level, &set.table, set.q, &self.bits, chunk.clone(), &mut self.hits);
        self.lists.clear();
        let range = |&(bit, list): &(u32, u32)| (bit, set.table.range(list as usize));
        self.lists.extend(self.hits.iter().map(range));
        let most = set.others * chunk.len() as f64;
        let candidates: usize =
            self.lists.iter().map(|(_, range)| (range.1 - range.0) as usize).sum();
        if candidates as f64 * self.machine.candidate(queries.hamming()) > most {
            return false;
        }
        self.windows.clear();
        for at in 0..self.lists.len() {
            let (bit, range) = self.lists[at];
            for &entry in set.table.entries(range) {
                let at_end = set.probe(entry).0.at_end;
                let anchor = (bit as usize + if at_end { set.q } else { 0 }).wrapping_sub(PAD);
                if anchor > letters.len() {
                    continue;
                }
                match queries.hamming() {
                    true => self.mismatches(set, queries, letters, entry, anchor),
                    false => self.candidate(set, entry, anchor),
                }
            }
        }
        self.test(set);
        join(&mut self.windows, set.reach);
        let columns: usize =
            self.windows.iter().map(|one| (one.last - one.first) as usize + set.reach).sum();
        if columns as f64 * Machine::COLUMN > most {
            return false;
        }
        for window in &self.windows {
            let number = set.queries[window.query as usize];
            let query = &queries.all()[number as usize];
            let matches = &set.matches[window.query as usize];
            ends(matches, query, letters, &self.bases, *window, |end| {
                self.found.push((number, end))
            });
        }
        true
    }

    /// Adds a candidate to the lanes.
    #[inline(always)]
    fn candidate(&mut self, set: &Set, entry: u32, anchor: usize) {
        let (probe, edits) = set.probe(entry);
        let at = anchor + PAD;
        let text = self.bits.each_ref().map(|bits| match probe.at_end {
            true => window(bits, at) as u32,
            false => (window(bits, at - 32) as u32).reverse_bits(),
        });
        self.candidates[self.lanes.count()] = (entry, anchor as u32);
        let most = probe.edits as usize - edits;
        if self.lanes.add(&probe.side, most, text) {
            self.test(set);
        }
    }

    /// Tests the candidates in the lanes; those that pass become windows.
    fn test(&mut self, set: &Set) {
        let mut lanes =
            if self.lanes.count() == 0 { 0 } else { alive(self.level, &self.lanes, set.columns) };
        while lanes != 0 {
            let (entry, anchor) = self.candidates[lanes.trailing_zeros() as usize];
            lanes &= lanes - 1;
            let (probe, edits) = set.probe(entry);
            let matches = &set.matches[probe.query as usize];
            // The letters after the anchor have no more edits than the query, less those of the word if it is before them.
            let most = probe.edits - if probe.at_end { edits as u32 } else { 0 };
            let end = anchor + matches.letters() - probe.anchor;
            self.windows.push(Window {
                query: probe.query,
                first: end.saturating_sub(most),
                last: end + most,
            });
        }
        self.lanes.clear();
    }

    /// Counts the mismatches of a candidate.
    #[inline(always)]
    fn mismatches(
        &mut self,
        set: &Set,
        queries: &Queries,
        letters: &[u8],
        entry: u32,
        anchor: usize,
    ) {
        let probe = set.probe(entry).0;
        let number = set.queries[probe.query as usize];
        let query = &queries.all()[number as usize];
        let position = anchor + query.sets.len() - probe.anchor as usize;
        if let Some(edits) = mismatches(query, letters, &self.bases, position) {
            self.found.push((number, End { position, edits }));
        }
    }

    /// Sorts what was found.
    fn finish(&mut self, piece: &Piece<'_>) -> (&[(u32, End)], &[Range<usize>]) {
        self.left.sort_unstable_by_key(|range| range.start);
        self.left.dedup_by(|next, range| {
            let meets = next.start <= range.end;
            if meets {
                range.end = range.end.max(next.end);
            }
            meets
        });
        for range in &mut self.left {
            *range = range.start.max(piece.owned.start)..range.end.min(piece.owned.end);
        }
        self.left.retain(|range| !range.is_empty());
        let left = &self.left;
        self.found.retain(|(_, end)| {
            let at = left.partition_point(|range| range.end <= end.position);
            piece.owned.contains(&end.position)
                && left.get(at).is_none_or(|range| !range.contains(&end.position))
        });
        self.found.sort_unstable();
        self.found.dedup();
        (&self.found, &self.left)
    }
}
