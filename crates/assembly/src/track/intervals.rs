//! Intervals of the bases that k-mers of a class cover.

use std::collections::VecDeque;

/// The largest number of intervals that wait for an earlier one to end. If there are more, that one is divided; its parts
/// overlap by less than a k-mer, so that intervals are in the order of their starts.
const MAX_WAITING: usize = 1 << 16;

/// Consecutive k-mers of a class.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClassRun {
    /// The number of the class.
    pub(super) class: usize,
    /// The first base of the first k-mer, 0-based.
    pub(super) start: u64,
    /// The position after the last base of the last k-mer.
    pub(super) end: u64,
    /// The number of k-mers.
    pub(super) kmers: u64,
    /// The sums of their counts in the reads and in the sequences.
    pub(super) counts: [u64; 2],
    /// The number of bases that an earlier part of a divided interval covers, too.
    pub(super) repeated: u64,
}

/// The intervals of one sequence, in the order of their starts. Two k-mers of a class that share a base are in the same
/// interval. Intervals of different classes may overlap.
#[derive(Debug, Default)]
pub(super) struct Intervals {
    /// The intervals that have not been taken, in the order of their starts.
    waiting: VecDeque<ClassRun>,
    /// The number of intervals that were taken.
    taken: usize,
    /// The number of the interval of each class that may still grow.
    open: [Option<usize>; 4],
    /// The position that the intervals of each class have reached.
    ends: [u64; 4],
}

impl Intervals {
    /// Adds k-mers that begin after all earlier ones.
    pub(super) fn add(&mut self, run: ClassRun) {
        for class in 0..self.open.len() {
            if self.ends[class] <= run.start {
                self.open[class] = None;
            }
        }
        match self.open[run.class] {
            Some(number) => {
                let own = &mut self.waiting[number - self.taken];
                own.end = run.end;
                own.kmers += run.kmers;
                own.counts.iter_mut().zip(run.counts).for_each(|(sum, more)| *sum += more);
            }
            None => {
                self.open[run.class] = Some(self.taken + self.waiting.len());
                let repeated = self.ends[run.class].saturating_sub(run.start);
                self.waiting.push_back(ClassRun { repeated, ..run });
            }
        }
        self.ends[run.class] = run.end;
    }

    /// Removes the first interval, if it cannot grow.
    pub(super) fn next(&mut self) -> Option<ClassRun> {
        let first = self.waiting.front()?;
        let is_open = self.open[first.class] == Some(self.taken);
        if is_open && self.waiting.len() <= MAX_WAITING {
            return None;
        }
        if is_open {
            self.open[first.class] = None;
        }
        self.taken += 1;
        self.waiting.pop_front()
    }

    /// Ends all intervals, which are then to be taken before a new sequence begins.
    pub(super) fn end(&mut self) {
        self.open = [None; 4];
        self.ends = [0; 4];
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const K: u64 = 4;

    /// Returns the intervals of each class, found base by base, as class, start, end and number of k-mers.
    fn plain(classes: &[Option<usize>]) -> Vec<(usize, u64, u64, u64)> {
        let mut found: Vec<(usize, u64, u64, u64)> = Vec::new();
        for class in 0..4 {
            let starts: Vec<u64> = (0..classes.len())
                .filter(|&at| classes[at] == Some(class))
                .map(|at| at as u64)
                .collect();
            let mut last: Option<(usize, u64, u64, u64)> = None;
            for start in starts {
                match &mut last {
                    Some(own) if start < own.2 => (own.2, own.3) = (start + K, own.3 + 1),
                    _ => found.extend(last.replace((class, start, start + K, 1))),
                }
            }
            found.extend(last);
        }
        found.sort_by_key(|of| of.1);
        found
    }

    fn run(class: usize, start: u64, kmers: u64) -> ClassRun {
        let (end, counts) = (start + kmers - 1 + K, [kmers, 2 * kmers]);
        ClassRun { class, start, end, kmers, counts, repeated: 0 }
    }

    proptest! {
        #[test]
        fn intervals_are_those_of_each_base(
            classes in proptest::collection::vec(
                prop_oneof![2 => Just(None), 3 => (0usize..4).prop_map(Some)], 0..60),
            eager in any::<bool>(),
        ) {
            let (mut intervals, mut found) = (Intervals::default(), Vec::new());
            let mut take = |intervals: &mut Intervals| while let Some(own) = intervals.next() {
                assert_eq!(own.counts, [own.kmers, 2 * own.kmers]);
                found.push((own.class, own.start, own.end, own.kmers));
            };
            let mut start = 0;
            for same in classes.chunk_by(|one, other| one == other) {
                if let Some(class) = same[0] {
                    intervals.add(run(class, start, same.len() as u64));
                    if eager {
                        take(&mut intervals);
                    }
                }
                start += same.len() as u64;
            }
            intervals.end();
            take(&mut intervals);
            prop_assert_eq!(found, plain(&classes));
        }
    }

    #[test]
    fn a_long_interval_is_divided() {
        let (mut intervals, mut found) = (Intervals::default(), Vec::new());
        let many = 2 * MAX_WAITING as u64;
        let step = K;
        // Class 0 goes on, since its k-mers share bases; each k-mer of class 1 is an interval of its own.
        for at in 0..many {
            intervals.add(run(0, step * at, 2));
            intervals.add(run(1, step * at + 2, 1));
            found.extend(std::iter::from_fn(|| intervals.next()));
        }
        intervals.end();
        found.extend(std::iter::from_fn(|| intervals.next()));
        assert!(found.is_sorted_by_key(|of| of.start));
        let [long, short]: [Vec<&ClassRun>; 2] =
            [0, 1].map(|class| found.iter().filter(|of| of.class == class).collect());
        assert_eq!(short.len() as u64, many);
        assert!(long.len() > 1 && long.len() < 5, "{}", long.len());
        // Parts overlap by less than a k-mer.
        assert!(long.windows(2).all(|two| two[0].end == two[1].start + two[1].repeated));
        assert!(long.iter().all(|part| part.repeated < K) && long[0].repeated == 0);
        assert_eq!(long.iter().map(|of| of.kmers).sum::<u64>(), 2 * many);
        assert_eq!(long.last().map(|of| of.end), Some(step * (many - 1) + 1 + K));
    }
}
