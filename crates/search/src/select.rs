//! Selection of occurrences among the ends of alignments, by the rule of `map`: an occurrence silences worse ends near
//! it, and those whose alignments begin near its first letter.

/// An end of an alignment in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct End {
    /// The position after the last letter.
    pub(crate) position: usize,
    pub(crate) edits: usize,
}

/// Returns the largest distance between two ends of which one can silence the other, for a threshold of `e` edits.
pub(crate) fn reach(e: usize) -> usize {
    // Alignments that begin within e letters of each other end within 4 e.
    4 * e
}

/// Returns the indices of the ends that are occurrences, in increasing order, given sorted ends and the position at
/// which the alignment of an end begins.
///
/// Ends are taken in the order of their edits, then of their positions, except those one letter behind an end with fewer
/// edits, which may be those of alignments that end with a deletion. Each one that is taken silences the ends within
/// `e` letters of it, and those whose alignments begin within `e` letters of where its own one begins.
pub(crate) fn occurrences(
    ends: &[End],
    e: usize,
    mut start: impl FnMut(usize) -> usize,
) -> Vec<usize> {
    if ends.len() < 2 {
        return (0..ends.len()).collect();
    }
    let mut order: Vec<usize> = (0..ends.len()).collect();
    order.sort_by_key(|&at| ends[at].edits);
    let mut states = vec![State::Open; ends.len()];
    for at in order {
        if states[at] != State::Open || is_extended(ends, at) {
            continue;
        }
        let shares_start = near(ends, at, reach(e))
            .any(|other| states[other] == State::Taken && start(other).abs_diff(start(at)) <= e);
        if shares_start {
            continue;
        }
        near(ends, at, e).for_each(|near| states[near] = State::Silenced);
        states[at] = State::Taken;
    }
    (0..ends.len()).filter(|&at| states[at] == State::Taken).collect()
}

/// Whether an end is one letter behind an end with one edit less.
fn is_extended(ends: &[End], at: usize) -> bool {
    let End { position, edits } = ends[at];
    let before = |end: &End| end.position + 1 == position && end.edits + 1 == edits;
    at > 0 && before(&ends[at - 1])
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Silenced,
    Taken,
}

/// Returns the indices of the ends within `reach` letters of an end, including itself.
fn near(ends: &[End], at: usize, reach: usize) -> std::ops::Range<usize> {
    let is_near = |other: &&End| other.position.abs_diff(ends[at].position) <= reach;
    let before = ends[..at].iter().rev().take_while(is_near).count();
    let after = ends[at..].iter().take_while(is_near).count();
    at - before..at + after
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn occurrences_are_those_of_the_definition(
            steps in proptest::collection::vec((1usize..12, 0usize..4, 0usize..9), 0..40), e in 0usize..4,
        ) {
            let mut position = 20;
            let (mut ends, mut starts) = (Vec::new(), Vec::new());
            for (step, edits, length) in steps {
                position += step;
                ends.push(End { position, edits: edits.min(e) });
                starts.push(position - 10 - length.min(2 * e));
            }
            let at = |position: usize| ends.iter().position(|end| end.position == position).unwrap();
            let pairs = ends.iter().map(|end| (end.edits, end.position)).collect();
            let mut expected: Vec<usize> = crate::naive::silenced(pairs, e, |position| starts[at(position)])
                .into_iter()
                .map(|(_, position)| at(position))
                .collect();
            expected.sort_unstable();
            prop_assert_eq!(occurrences(&ends, e, |at| starts[at]), expected);
        }
    }
}
