//! The k-mers of a child and its parents, counted by their presence in each. All thresholds of hap-mers follow from
//! these numbers, which can be added for ranges of k-mers.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use merganser_kmers::Histogram;
use merganser_kmers::algebra::Visitor;
use merganser_spectrum::first_valley;

use crate::parentage::Parentage;

/// The index of the child's table among those of the family.
pub(crate) const CHILD: usize = 0;
/// The indexes of the parents' tables.
pub(crate) const PARENTS: [usize; 2] = [1, 2];

/// Numbers of k-mers of a family.
#[derive(Clone, Debug, Default)]
pub(crate) struct Family {
    /// The k-mers that only one parent has, by their count in that parent's reads.
    pub(crate) own: [Histogram; 2],
    /// The part of them that the child has, too, by their counts in the reads of the parent and of the child.
    pub(crate) inherited: [HashMap<(u32, u32), u64>; 2],
    /// The child's k-mers that both parents have, by their count in the child's reads.
    pub(crate) both: Histogram,
    /// The child's k-mers that neither parent has.
    pub(crate) neither: Histogram,
    /// Whether the parent's reads have a k-mer.
    pub(crate) has_kmers: [bool; 2],
    pub(crate) limit: Limit,
}

/// A limit of the memory for [`Family::inherited`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Limit {
    /// The memory for entries; `None` without a limit.
    room: Option<Arc<Room>>,
    /// The thresholds of the parents' own k-mers, if they are known: the map then has 0 for counts up to the threshold, and
    /// `u32::MAX` for larger ones.
    known: Option<[u32; 2]>,
    /// Whether entries are missing because memory was too small.
    pub(crate) is_full: bool,
}

/// The memory of all parts of a family, in entries of [`Family::inherited`].
#[derive(Debug)]
pub(crate) struct Room(AtomicU64);

impl Room {
    /// The size of an entry in bytes: 17 in a hash map of which at most 4 of 7 places are free, and the same in a larger one
    /// while the map grows or parts are added.
    const ENTRY: u64 = 96;

    pub(crate) fn of_bytes(bytes: u64) -> Arc<Room> {
        Arc::new(Room(AtomicU64::new(bytes / Room::ENTRY)))
    }

    /// Takes the memory of an entry; returns whether there was enough.
    fn take(&self) -> bool {
        let less = |left: u64| left.checked_sub(1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

impl Family {
    /// Returns an empty family with entries in `room`. With the thresholds of the parents' own k-mers, it has an entry for each
    /// count in the child, not for each pair of counts.
    pub(crate) fn within(room: &Arc<Room>, known: Option<[u32; 2]>) -> Family {
        let limit = Limit { room: Some(room.clone()), known, is_full: false };
        Family { limit, ..Family::default() }
    }

    pub(crate) fn merge(&mut self, other: &Family) {
        for parent in 0..2 {
            self.own[parent].merge(&other.own[parent]);
            for (&counts, &more) in &other.inherited[parent] {
                let number = self.inherited[parent].entry(counts).or_default();
                *number = number.saturating_add(more);
            }
            self.has_kmers[parent] |= other.has_kmers[parent];
        }
        self.limit.is_full |= other.limit.is_full;
        self.both.merge(&other.both);
        self.neither.merge(&other.neither);
    }

    /// Returns the valley of the histogram of the k-mers that only one parent has, for each parent.
    pub(crate) fn own_thresholds(&self) -> [u32; 2] {
        self.own.each_ref().map(valley)
    }

    /// Returns the histograms of the child's k-mers by their parents, as in [`Trio::spectra`](crate::Trio::spectra).
    pub(crate) fn spectra(&self) -> [Histogram; 4] {
        let own = self.own_thresholds();
        let mut spectra =
            [self.neither.clone(), Histogram::default(), Histogram::default(), self.both.clone()];
        for (parent, (inherited, own)) in self.inherited.iter().zip(own).enumerate() {
            for (&(count, child), &number) in inherited {
                let class = if count > own { 1 + parent } else { 0 };
                spectra[class].add_many(child, number);
            }
        }
        spectra
    }

    /// Returns the numbers that tell whether these can be the parents; the child's k-mers with a larger count than
    /// `solid` belong to its genome.
    pub(crate) fn parentage(&self, solid: u32) -> Parentage {
        let neither = self.neither.distinct(solid.saturating_add(1), u32::MAX);
        let of = |parent: usize| {
            let solid = self.inherited[parent].iter().filter(|((_, child), _)| *child > solid);
            solid.map(|(_, &number)| number).fold(neither, u64::saturating_add)
        };
        Parentage {
            passed_on: [of(0), of(1)],
            neither,
            has_kmers: self.has_kmers,
            differ: self.own.iter().any(|own| own.max() > 0),
        }
    }
}

impl Visitor for Family {
    /// Adds a k-mer with its counts in the child and in both parents.
    fn kmer(&mut self, counts: &[u32]) {
        let (child, parents) = (counts[CHILD], PARENTS.map(|parent| counts[parent]));
        for (has_kmers, count) in self.has_kmers.iter_mut().zip(parents) {
            *has_kmers |= count > 0;
        }
        let (parent, count) = match parents {
            [0, 0] => return self.neither.add(child),
            [count, 0] => (0, count),
            [0, count] => (1, count),
            _ if child > 0 => return self.both.add(child),
            _ => return,
        };
        self.own[parent].add(count);
        if child > 0 {
            let above = |known: [u32; 2]| if count > known[parent] { u32::MAX } else { 0 };
            self.inherit(parent, (self.limit.known.map_or(count, above), child));
        }
    }
}

impl Family {
    /// Adds a k-mer that the child and only one parent have, by its counts in the reads of the parent and of the child.
    fn inherit(&mut self, parent: usize, counts: (u32, u32)) {
        match self.inherited[parent].entry(counts) {
            Entry::Occupied(mut number) => *number.get_mut() += 1,
            Entry::Vacant(place) if self.limit.room.as_ref().is_none_or(|room| room.take()) => {
                place.insert(1);
            }
            Entry::Vacant(_) => self.limit.is_full = true,
        }
    }
}

/// Returns the end of the valley between errors and genome, or 0 if there is no valley. Merqury's rule misses flat
/// valleys and returns a far later one, which discards hap-mers; in other cases the two rules agree.
pub(crate) fn valley(rows: &Histogram) -> u32 {
    first_valley(&rows.iter().collect::<Vec<_>>()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The numbers of parts add up, and the spectra and numbers are those of the definitions.
        #[test]
        fn thresholds_follow_from_the_numbers_of_all_parts(
            kmers in proptest::collection::vec((0u32..9, 0u32..9, 0u32..9), 0..200),
            solid in 0u32..5,
            cut in 0usize..200,
        ) {
            let kmers: Vec<[u32; 3]> =
                kmers.into_iter().map(|(c, m, f)| [c, m, f]).filter(|of| *of != [0; 3]).collect();
            let of = |kmers: &[[u32; 3]]| {
                let mut family = Family::default();
                kmers.iter().for_each(|counts| family.kmer(counts));
                family
            };
            let (one, other) = kmers.split_at(cut.min(kmers.len()));
            let mut family = of(one);
            family.merge(&of(other));

            // With known thresholds, less memory gives the same results.
            let room = Room::of_bytes(Room::ENTRY * 2 * 2 * 8);
            let mut known = Family::within(&room, Some(family.own_thresholds()));
            kmers.iter().for_each(|counts| known.kmer(counts));
            prop_assert!(!known.limit.is_full);
            for (one, other) in known.spectra().iter().zip(family.spectra()) {
                prop_assert_eq!(one.iter().collect::<Vec<_>>(), other.iter().collect::<Vec<_>>());
            }
            prop_assert_eq!(known.parentage(solid).passed_on, family.parentage(solid).passed_on);
            let pairs = family.inherited.iter().map(HashMap::len).sum::<usize>() as u64;
            let full = |entries: u64| {
                let room = Room::of_bytes(Room::ENTRY * entries);
                let mut family = Family::within(&room, None);
                kmers.iter().for_each(|counts| family.kmer(counts));
                family.limit.is_full
            };
            prop_assert!(!full(pairs) && (pairs == 0 || full(pairs - 1)));

            let number = |is: &dyn Fn(&[u32; 3]) -> bool| kmers.iter().filter(|of| is(of)).count() as u64;
            let own = family.own_thresholds();
            let class = |&[_, m, f]: &[u32; 3]| match (m, f) {
                (1.., 1..) => 3,
                (1.., 0) if m > own[0] => 1,
                (0, 1..) if f > own[1] => 2,
                _ => 0,
            };
            for (at, spectrum) in family.spectra().iter().enumerate() {
                for child in 1..9 {
                    let expected = number(&|of| of[0] == child && class(of) == at);
                    prop_assert_eq!(spectrum.distinct(child, child), expected);
                }
            }
            let parentage = family.parentage(solid);
            let lacks = |parent: usize| number(&|of| of[0] > solid && of[1 + parent] == 0);
            prop_assert_eq!(parentage.passed_on, [lacks(1), lacks(0)]);
            prop_assert_eq!(parentage.neither, number(&|of| of[0] > solid && of[1..] == [0, 0]));
            prop_assert_eq!(parentage.has_kmers, [1, 2].map(|at| number(&|of| of[at] > 0) > 0));
            prop_assert_eq!(parentage.differ, number(&|of| (of[1] > 0) != (of[2] > 0)) > 0);
        }
    }
}
