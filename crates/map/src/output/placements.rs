//! Statistics about the places of reads, from which reports draw charts.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Numbers of reads by hits, edits and contigs, and of pairs by insert size; see [`Config::placements`].
///
/// [`Config::placements`]: crate::Config::placements
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Placements {
    /// The number of reads by their number of records with a place; both mates of a pair count.
    pub hits: BTreeMap<u32, u64>,
    /// The number of reads by the edits of their first record.
    pub edits: BTreeMap<u32, u64>,
    /// The number of concordant pairs by the length in bases that their first combination spans.
    pub inserts: BTreeMap<u64, u64>,
    /// The number of reads whose first record is on each contig, and the number of their bases.
    pub contigs: Vec<(u64, u64)>,
    /// The number of mapped reads by the mapping quality of their first record.
    pub qualities: BTreeMap<u8, u64>,
    /// The length of a window in bases.
    pub window: u64,
    /// For the eight longest contigs, by number, the bases of reads in each window, as far as their first record says.
    pub windows: BTreeMap<u32, Vec<u64>>,
}

/// The shortest window, and the number of windows of a reference that is long enough.
const MIN_WINDOW: u64 = 100;
const WINDOWS: u64 = 4000;
/// The largest number of contigs with windows.
const DRAWN: usize = 8;

/// The first record of a read.
pub(crate) struct FirstRecord {
    /// The number of records.
    pub(crate) hits: u32,
    pub(crate) edits: u32,
    pub(crate) quality: u8,
    pub(crate) contig: u32,
    /// The position in the contig, from 0.
    pub(crate) start: u64,
    /// The number of bases of the read.
    pub(crate) bases: u64,
    /// The length of the contig if it is circular.
    pub(crate) circle: Option<u64>,
}

impl Placements {
    pub(crate) fn of_contigs(lengths: impl Iterator<Item = u64> + Clone) -> Placements {
        let window = (lengths.clone().sum::<u64>() / WINDOWS).max(MIN_WINDOW);
        let mut longest: Vec<(Reverse<u64>, u32)> = lengths.map(Reverse).zip(0..).collect();
        let contigs = vec![(0, 0); longest.len()];
        longest.sort_unstable();
        let longest = longest.into_iter().take(DRAWN).filter(|(length, _)| length.0 > 0);
        let windows = longest
            .map(|(Reverse(length), contig)| (contig, vec![0; length.div_ceil(window) as usize]));
        Placements { contigs, window, windows: windows.collect(), ..Placements::default() }
    }

    /// Returns an upper bound of the memory of the statistics for `contigs` contigs, in bytes.
    pub(crate) fn bytes(contigs: usize) -> u64 {
        let windows = (WINDOWS + DRAWN as u64) * size_of::<u64>() as u64;
        // While the longest are found, there is another array.
        2 * (contigs * size_of::<(u64, u64)>()) as u64 + windows
    }

    /// Counts a read without a place.
    pub(crate) fn unplaced(&mut self) {
        *self.hits.entry(0).or_default() += 1;
    }

    /// Counts a read with a place.
    pub(crate) fn placed(&mut self, first: &FirstRecord) {
        let FirstRecord { hits, edits, quality, contig, bases, .. } = *first;
        *self.hits.entry(hits).or_default() += 1;
        *self.edits.entry(edits).or_default() += 1;
        *self.qualities.entry(quality).or_default() += 1;
        let (reads, sum) = &mut self.contigs[contig as usize];
        *reads += 1;
        *sum += bases;
        self.cover(first);
    }

    /// Adds the bases of a read to the windows from its start. Those beyond a linear contig's end are in the last window.
    fn cover(&mut self, first: &FirstRecord) {
        let Some(windows) = self.windows.get_mut(&first.contig) else { return };
        let last = windows.len() - 1;
        let (mut at, mut left) = (first.start, first.bases);
        while left > 0 {
            at = first.circle.map_or(at, |length| at % length);
            let number = ((at / self.window) as usize).min(last);
            let room = match (number == last, first.circle) {
                (true, Some(length)) => length - at,
                (true, None) => left,
                (false, _) => self.window - at % self.window,
            };
            let here = left.min(room);
            windows[number] += here;
            (at, left) = (at + here, left - here);
        }
    }

    /// Counts a concordant pair that spans this many bases.
    pub(crate) fn insert(&mut self, bases: u64) {
        *self.inserts.entry(bases).or_default() += 1;
    }

    pub(crate) fn add(&mut self, other: Placements) {
        let sums = [(&mut self.hits, other.hits), (&mut self.edits, other.edits)];
        for (sum, more) in sums {
            more.into_iter().for_each(|(value, reads)| *sum.entry(value).or_default() += reads);
        }
        for (bases, pairs) in other.inserts {
            *self.inserts.entry(bases).or_default() += pairs;
        }
        for (quality, reads) in other.qualities {
            *self.qualities.entry(quality).or_default() += reads;
        }
        let windows = self.windows.values_mut().flatten();
        let windows = windows.zip(other.windows.into_values().flatten());
        windows.for_each(|(sum, more)| *sum += more);
        for ((reads, bases), more) in self.contigs.iter_mut().zip(other.contigs) {
            *reads += more.0;
            *bases += more.1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(contig: u32, start: u64, bases: u64) -> FirstRecord {
        FirstRecord { hits: 1, edits: 0, quality: 60, contig, start, bases, circle: None }
    }

    #[test]
    fn windows_have_the_bases_of_reads() {
        let mut placements = Placements::of_contigs([250, 0, 99].into_iter());
        assert_eq!(placements.window, MIN_WINDOW);
        assert_eq!(placements.windows, BTreeMap::from([(0, vec![0; 3]), (2, vec![0])]));
        placements.placed(&read(0, 90, 150));
        placements.placed(&read(2, 0, 120));
        placements.placed(&read(0, 240, 20));
        assert_eq!(placements.windows, BTreeMap::from([(0, vec![10, 100, 60]), (2, vec![120])]));
        let mut twice = placements.clone();
        twice.add(placements.clone());
        assert_eq!(twice.windows[&0], [20, 200, 120]);
        assert_eq!(twice.qualities, BTreeMap::from([(60, 6)]));
        let whole: u64 = placements.windows.values().flatten().sum();
        assert_eq!(whole, placements.contigs.iter().map(|contig| contig.1).sum::<u64>());
    }

    #[test]
    fn windows_of_circular_contigs_have_the_bases_of_every_round() {
        let mut placements = Placements::of_contigs([250].into_iter());
        // From the middle of the last window around the contig, and at the start of its second round.
        for (start, bases) in [(240, 10 + 250 + 20), (260, 5)] {
            placements.placed(&FirstRecord { circle: Some(250), ..read(0, start, bases) });
        }
        let whole = [100 + 20 + 5, 100, 50 + 10];
        assert_eq!(placements.windows[&0], whole);
    }

    #[test]
    fn windows_of_long_references_are_few() {
        let lengths = [3_000_000_000, 1000, 1000].into_iter().chain([300; 1000]);
        let placements = Placements::of_contigs(lengths);
        let windows: usize = placements.windows.values().map(Vec::len).sum();
        assert!(windows as u64 <= WINDOWS + 8, "{windows}");
        assert_eq!(placements.windows.len(), DRAWN);
    }
}
