//! Detection of mates that lie side by side among the reads of alignments, by their flags and names.

/// The role of a read in its pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// A single read, or a middle segment of a template.
    #[default]
    None,
    /// The first mate.
    First,
    /// The second mate.
    Second,
}

impl Role {
    /// Returns the role that the flags of an alignment give its read.
    pub fn of(flags: u16) -> Role {
        match flags & 0xc0 {
            0x40 => Role::First,
            0x80 => Role::Second,
            _ => Role::None,
        }
    }
}

/// The number of mates at the start of a file that decide whether mates lie side by side in it.
const WINDOW: u64 = 64;

/// The reads of a stretch of alignments, as alternating runs of adjacent mates and of other reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MateRuns {
    /// The end of each run, in reads, and whether its reads are adjacent mates.
    runs: Vec<(usize, bool)>,
    /// The numbers of first mates and of second mates.
    pub(crate) marked: [u64; 2],
    /// The number of mates among the first [`WINDOW`] mates, and the number of those that are adjacent to their mate.
    window: [u64; 2],
    /// The role of the last read if its mate has not been found.
    last: Role,
    /// The role of the first read, and its name if it is a mate.
    first: Role,
    begins: Vec<u8>,
    /// The name of the last mate, which may be followed by its mate.
    ends: Vec<u8>,
    /// Whether the header says that all alignments of a template lie side by side: a mate that is not beside its mate then
    /// has none.
    pub(crate) is_grouped: bool,
    /// Whether a second mate is followed by its first mate.
    pub(crate) is_reversed: bool,
}

impl MateRuns {
    /// Adds the next read.
    pub fn add(&mut self, role: Role, name: &[u8]) {
        let follows = role == Role::Second && self.last == Role::First && self.ends == name;
        if self.runs.is_empty() && role != Role::None {
            (self.first, self.begins) = (role, name.to_vec());
        }
        let in_window = self.marked[0] + self.marked[1] < WINDOW;
        match role {
            Role::First => self.marked[0] += 1,
            Role::Second => self.marked[1] += 1,
            Role::None => {}
        }
        if in_window && role != Role::None {
            self.window[0] += 1;
            self.window[1] += 2 * u64::from(follows);
        }
        if follows {
            self.pop();
            self.push(2, true);
            self.last = Role::None;
            return;
        }
        self.is_reversed |= role == Role::First && self.last == Role::Second && self.ends == name;
        self.push(1, false);
        self.last = role;
        if role != Role::None {
            self.ends.clear();
            self.ends.extend_from_slice(name);
        }
    }

    /// Returns the number of reads that are adjacent to their mate.
    pub(crate) fn paired(&self) -> u64 {
        let mut start = 0;
        let mut paired = 0;
        for &(end, mates) in &self.runs {
            paired += if mates { (end - start) as u64 } else { 0 };
            start = end;
        }
        paired
    }

    /// Whether at least half of the first mates in the file are adjacent to their mate; `None` if there are no mates, or
    /// only one whose mate may begin the next stretch. `goes_on` says that the first read is the mate of the read before.
    pub(crate) fn are_in_order(&self, goes_on: bool) -> Option<bool> {
        let [mut marked, mut paired] = self.window;
        if goes_on {
            (marked, paired) = (marked + 1, paired + 2);
        }
        let ends_in_window = self.ends_within_pair() && self.marked[0] + self.marked[1] <= WINDOW;
        marked -= u64::from(ends_in_window);
        (marked > 0).then_some(2 * paired >= marked)
    }

    /// Whether the last read is a first mate, whose mate may begin the next stretch.
    pub(crate) fn ends_within_pair(&self) -> bool {
        self.last == Role::First
    }

    /// Whether the first read of `next` is the mate of the last read.
    pub(crate) fn goes_on_in(&self, next: &MateRuns) -> bool {
        self.last == Role::First && next.first == Role::Second && self.ends == next.begins
    }

    /// Whether the last read is a second mate, and the first read of `next` its first mate.
    pub(crate) fn is_reversed_in(&self, next: &MateRuns) -> bool {
        self.last == Role::Second && next.first == Role::First && self.ends == next.begins
    }

    /// Returns the last read as a separate stretch, without its runs.
    pub(crate) fn last_read(&self) -> MateRuns {
        MateRuns { last: self.last, ends: self.ends.clone(), ..MateRuns::default() }
    }

    /// Removes the last read.
    pub(crate) fn pop(&mut self) {
        let before = self.runs.len().checked_sub(2).map_or(0, |at| self.runs[at].0);
        if let Some((end, _)) = self.runs.last_mut() {
            *end -= 1;
            if *end == before {
                self.runs.pop();
            }
        }
    }

    /// Removes the last read and returns it as a separate stretch.
    pub(crate) fn split_last(&mut self) -> MateRuns {
        self.pop();
        let (last, ends) = (std::mem::take(&mut self.last), std::mem::take(&mut self.ends));
        MateRuns { runs: vec![(1, false)], last, ends, ..MateRuns::default() }
    }

    /// Marks the only read as adjacent to its mate, which begins the next stretch.
    pub(crate) fn is_mate_of_next(&mut self) {
        self.runs = vec![(1, true)];
    }

    /// Marks the first read as adjacent to its mate, which ends the previous stretch.
    pub(crate) fn begins_with_mate(&mut self) {
        match &mut self.runs[..] {
            [(1, false), (_, true), ..] => drop(self.runs.remove(0)),
            [(1, mates), ..] => *mates = true,
            _ => self.runs.insert(0, (1, true)),
        }
    }

    /// Returns whether read `at` is adjacent to its mate, and the end of the run that contains it.
    pub(crate) fn run_at(&self, at: usize) -> (bool, usize) {
        let run = self.runs.get(self.runs.partition_point(|&(end, _)| end <= at));
        run.map_or((false, usize::MAX), |&(end, mates)| (mates, end))
    }

    /// Appends reads to the last run if it is of the same kind; otherwise adds a run.
    fn push(&mut self, reads: usize, mates: bool) {
        let end = self.runs.last().map_or(0, |run| run.0) + reads;
        match self.runs.last_mut() {
            Some((last, same)) if *same == mates => *last = end,
            _ => self.runs.push((end, mates)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(reads: &[(u16, &str)]) -> MateRuns {
        let mut runs = MateRuns::default();
        reads.iter().for_each(|(flags, name)| runs.add(Role::of(*flags), name.as_bytes()));
        runs
    }

    #[test]
    fn mates_side_by_side_are_runs() {
        let found = runs(&[(77, "a"), (141, "a"), (77, "b"), (141, "b"), (4, "c"), (77, "d")]);
        assert_eq!(found.runs, [(4, true), (6, false)]);
        assert_eq!((found.marked, found.paired()), ([3, 2], 4));
        assert_eq!(found.are_in_order(false), Some(true));
        assert_eq!((found.run_at(3), found.run_at(4)), ((true, 4), (false, 6)));
        // Different names, the second mate first, and single reads.
        let apart = runs(&[(77, "a"), (141, "b"), (141, "c"), (77, "c"), (4, "d"), (4, "d")]);
        assert_eq!((&apart.runs[..], apart.are_in_order(false)), (&[(6, false)][..], Some(false)));
        assert_eq!(runs(&[(4, "a"), (0, "a")]).are_in_order(false), None);
    }

    #[test]
    fn second_mates_may_come_first() {
        let (before, after) = (runs(&[(77, "a"), (141, "b")]), runs(&[(77, "b"), (141, "b")]));
        assert!(before.last_read().is_reversed_in(&after) && !before.is_reversed);
        assert!(!after.is_reversed_in(&before) && !before.is_reversed_in(&runs(&[(141, "b")])));
        assert!(runs(&[(141, "b"), (77, "b")]).is_reversed);
        assert!(!runs(&[(141, "b"), (77, "c"), (4, "c"), (77, "c")]).is_reversed);
    }

    #[test]
    fn pairs_may_lie_in_two_stretches() {
        let mut first = runs(&[(141, "z"), (77, "a"), (141, "a"), (77, "b")]);
        let mut next = runs(&[(141, "b"), (77, "c"), (141, "c")]);
        assert!(first.ends_within_pair() && first.goes_on_in(&next));
        assert!(!first.goes_on_in(&runs(&[(141, "c")])) && !first.goes_on_in(&runs(&[(77, "b")])));
        let mut half = first.split_last();
        assert!(half.goes_on_in(&next) && !first.ends_within_pair());
        half.is_mate_of_next();
        next.begins_with_mate();
        assert_eq!((first.runs, half.runs), (vec![(1, false), (3, true)], vec![(1, true)]));
        assert_eq!(next.runs, [(3, true)]);
        // A stretch may consist of one mate.
        let (one, two) = (runs(&[(77, "a")]), runs(&[(141, "a")]));
        assert_eq!((one.are_in_order(false), two.are_in_order(true)), (None, Some(true)));
        assert_eq!(two.are_in_order(false), Some(false));
        for (mut runs, expected) in [
            (runs(&[(141, "b")]), vec![(1, true)]),
            (runs(&[(141, "b"), (4, "x")]), vec![(1, true), (2, false)]),
        ] {
            runs.begins_with_mate();
            assert_eq!(runs.runs, expected);
        }
    }
}
