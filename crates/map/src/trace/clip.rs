//! Soft clipping of the ends of a read whose alignment costs more than clipping them.

use crate::Operation;

/// The score of a match. The scores are BWA-MEM's defaults (Li, 2013).
pub(crate) const MATCH: i64 = 1;
/// The score of a mismatch.
pub(crate) const MISMATCH: i64 = -4;
/// The scores of a gap and of each base in it.
pub(super) const GAP: [i64; 2] = [-6, -1];
/// The score of a clipped end.
pub(super) const CLIP: i64 = -5;

/// Returns the score of an alignment, whose runs include clipped ends.
pub(super) fn total(runs: &[(Operation, u32)]) -> i64 {
    let clipped = runs.iter().filter(|run| run.0 == Operation::Clip).count() as i64;
    runs.iter().map(score).sum::<i64>() + CLIP * clipped
}

/// Returns the score of a run.
fn score(&(operation, len): &(Operation, u32)) -> i64 {
    let len = i64::from(len);
    match operation {
        Operation::Match | Operation::Aligned => MATCH * len,
        Operation::Mismatch => MISMATCH * len,
        Operation::Insertion | Operation::Deletion => GAP[0] + GAP[1] * len,
        Operation::Clip => 0,
    }
}

/// Returns the range of runs that are left after clipping the ends that cost more than clipping. Among choices
/// with the same score, this is the one that keeps the most bases of the read, then the first one. Neighbouring
/// runs must differ.
pub(super) fn kept(runs: &[(Operation, u32)]) -> std::ops::Range<usize> {
    let penalty = |is_clipped: bool| if is_clipped { CLIP } else { 0 };
    // The best start of the kept runs for the current end: its penalty minus the score of all runs before it,
    // minus the bases of the read before it, and its index.
    let mut start = (0, 0, 0);
    let mut best = (i64::MIN, 0, 0..runs.len());
    let (mut sum, mut bases) = (0, 0);
    for (at, run) in runs.iter().enumerate() {
        let from = (penalty(at > 0) - sum, -bases, at);
        if (from.0, from.1) > (start.0, start.1) {
            start = from;
        }
        sum += score(run);
        bases += i64::from(run.0.in_read(run.1));
        let end = at + 1;
        let all = (sum + start.0 + penalty(end < runs.len()), bases + start.1);
        if all > (best.0, best.1) {
            best = (all.0, all.1, start.2..end);
        }
    }
    best.2
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the best score of all stretches, found column by column.
    fn plain(columns: &[Operation]) -> (i64, usize) {
        let mut best = (i64::MIN, 0);
        for from in 0..columns.len() {
            for to in from + 1..=columns.len() {
                let part = &columns[from..to];
                let runs = part.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32));
                let clipped = i64::from(from > 0) + i64::from(to < columns.len());
                let total = runs.map(|run| score(&run)).sum::<i64>() + CLIP * clipped;
                let bases = part.iter().filter(|&&column| column != Operation::Deletion).count();
                best = best.max((total, bases));
            }
        }
        best
    }

    proptest! {
        #[test]
        fn what_is_kept_is_the_best_of_all_stretches(
            mut runs in proptest::collection::vec((0usize..4, 1u32..12), 1..14),
            at in any::<u16>(),
        ) {
            // A stretch without any match could be cut within its runs, so there is a long match.
            runs.insert(usize::from(at) % runs.len(), (0, 8));
            let kinds =
                [Operation::Match, Operation::Mismatch, Operation::Insertion, Operation::Deletion];
            let mut joined: Vec<(Operation, u32)> = Vec::new();
            for (kind, len) in runs {
                // Matches are the longest runs.
                let run = (kinds[kind], if kind == 0 { 2 * len } else { 1 + len / 5 });
                match joined.last_mut() {
                    Some(last) if last.0 == run.0 => last.1 += run.1,
                    _ => joined.push(run),
                }
            }
            let columns: Vec<Operation> =
                joined.iter().flat_map(|&(operation, len)| vec![operation; len as usize]).collect();
            let range = kept(&joined);
            let part = &joined[range.clone()];
            let clipped = i64::from(range.start > 0) + i64::from(range.end < joined.len());
            let total = part.iter().map(score).sum::<i64>() + CLIP * clipped;
            let bases: u32 = part.iter().map(|run| run.0.in_read(run.1)).sum();
            prop_assert_eq!((total, bases as usize), plain(&columns));
        }
    }

    #[test]
    fn ends_are_clipped_that_cost_more_than_clipping() {
        use Operation::{Insertion, Match, Mismatch};
        // A mismatch costs 4; two more matches after it do not make up for that.
        assert_eq!(kept(&[(Match, 50), (Mismatch, 1), (Match, 2)]), 0..3);
        assert_eq!(kept(&[(Match, 50), (Mismatch, 2), (Match, 2)]), 0..1);
        assert_eq!(kept(&[(Mismatch, 1), (Match, 1), (Mismatch, 2), (Match, 90)]), 3..4);
        assert_eq!(kept(&[(Match, 4), (Insertion, 3), (Match, 90), (Mismatch, 1)]), 0..4);
        assert_eq!(kept(&[(Match, 4), (Insertion, 4), (Match, 90), (Mismatch, 1)]), 2..4);
        assert_eq!(kept(&[(Mismatch, 3)]), 0..1);
    }
}
