//! The queries of one direction that are found by words, and what a scan needs to find them.

use super::cost::{Machine, bit_sliced, most_entries};
use super::neighbours::Neighbours;
use super::segments::{Segment, split};
use super::sides::Side;
use super::table::Table;
use super::windows::Matches;
use crate::queries::{Queries, Query};

/// The number of bits of the edits of a segment in an entry of the table.
const EDIT_BITS: u32 = 2;

/// A segment of a query, as the entries of a table name it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// The index of its query in [`Set::queries`].
    pub(crate) query: u32,
    /// The position in the query that is at the anchor.
    pub(crate) anchor: u32,
    /// Whether words end at the anchor; the side is then after it, otherwise before it.
    pub(crate) at_end: bool,
    /// The maximum number of edits of the query.
    pub(crate) edits: u32,
    pub(crate) side: Side,
}

/// Queries that are found by words.
#[derive(Debug)]
pub(crate) struct Set {
    /// The number of letters of a word.
    pub(crate) q: usize,
    pub(crate) table: Table,
    pub(crate) probes: Vec<Probe>,
    /// The numbers of the queries.
    pub(crate) queries: Vec<u32>,
    /// By index in `queries`.
    pub(crate) matches: Vec<Matches>,
    /// The number of letters of a text that sides are aligned to.
    pub(crate) columns: usize,
    /// The maximum number of letters of an alignment.
    pub(crate) reach: usize,
    /// The cycles for each letter of the text that other scans of these queries take.
    pub(crate) others: f64,
}

impl Set {
    /// Makes the set of queries with the given numbers and numbers of segments. Queries with words that are too frequent
    /// are left out, and those for which the table, with at most `room` entries, has no room.
    pub(crate) fn new(
        queries: &Queries,
        members: &[(u32, usize)],
        q: usize,
        room: usize,
        machine: Machine,
    ) -> Set {
        let mut set = Set {
            q,
            table: Table::default(),
            probes: Vec::new(),
            queries: Vec::new(),
            matches: Vec::new(),
            columns: 0,
            reach: 0,
            others: 0.0,
        };
        let mut pairs = Vec::new();
        let hamming = queries.hamming();
        for &(number, count) in members {
            let query = &queries.all()[number as usize];
            let others = bit_sliced(query, hamming, machine);
            let most = most_entries(others, q, machine.candidate(hamming));
            let (probes, end) = (set.probes.len(), pairs.len());
            let segments = split(query.sets.len(), query.edits, count, q).unwrap_or_default();
            let most = room.min(end + most);
            let added = segments.iter().all(|one| set.add(query, one, hamming, most, &mut pairs));
            if added && !segments.is_empty() {
                set.queries.push(number);
                set.matches.push(Matches::of(query));
                set.reach = set.reach.max(query.sets.len() + query.edits);
                set.others += others;
            } else {
                set.probes.truncate(probes);
                pairs.truncate(end);
            }
        }
        set.table = Table::new(q, &pairs);
        set
    }

    /// Adds a segment of the next query, and its words; returns `false` if these make more than `most` entries.
    fn add(
        &mut self,
        query: &Query,
        segment: &Segment,
        hamming: bool,
        most: usize,
        pairs: &mut Vec<(u32, u32)>,
    ) -> bool {
        let (before, after) = query.sets.split_at(segment.anchor());
        let side = match segment.at_end {
            true => Side::new(after.iter().copied()),
            false => Side::new(before.iter().rev().copied()),
        };
        self.columns = self.columns.max(side.letters() + query.edits);
        let entry = (self.probes.len() as u32) << EDIT_BITS;
        self.probes.push(Probe {
            query: self.queries.len() as u32,
            anchor: segment.anchor() as u32,
            at_end: segment.at_end,
            edits: query.edits as u32,
            side,
        });
        words(query, segment, self.q, hamming).visit(&mut |word, edits| {
            pairs.push((word, entry | edits as u32));
            pairs.len() < most
        })
    }

    /// Returns the bytes that making the set takes.
    pub(crate) fn bytes(&self) -> u64 {
        Table::bytes(self.q) + self.table.len() as u64 * Table::ENTRY
    }

    /// Returns the probe of an entry of the table, and the fewest edits that its segment has.
    #[inline(always)]
    pub(crate) fn probe(&self, entry: u32) -> (&Probe, usize) {
        (&self.probes[(entry >> EDIT_BITS) as usize], (entry & ((1 << EDIT_BITS) - 1)) as usize)
    }
}

/// Returns the words of a segment.
pub(crate) fn words(query: &Query, segment: &Segment, q: usize, hamming: bool) -> Neighbours {
    let sets = &query.sets[segment.letters.clone()];
    Neighbours::new(sets, segment.edits, segment.at_end, q, hamming)
}
