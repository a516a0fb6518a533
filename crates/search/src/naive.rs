//! The literal definitions, for tests.

/// Returns (end, edits) of each end of an alignment of a pattern with at most `e` edits. Pattern and text are sets of
/// bases; an end is the position after the last letter.
pub fn ends(pattern: &[u8], text: &[u8], e: usize) -> Vec<(usize, usize)> {
    let mut column: Vec<usize> = (0..=pattern.len()).collect();
    let mut ends = Vec::new();
    for (end, &letter) in (1..).zip(text) {
        let mut diagonal = 0;
        for (i, &bases) in pattern.iter().enumerate() {
            let cost = diagonal + usize::from(bases & letter == 0);
            diagonal = column[i + 1];
            column[i + 1] = cost.min(diagonal + 1).min(column[i] + 1);
        }
        if column[pattern.len()] <= e {
            ends.push((end, column[pattern.len()]));
        }
    }
    ends
}

/// Selects ends, (edits, end), in the order of edits, then position. Each one that is selected silences those within
/// `e` letters of it, and those whose alignments begin within `e` letters of where its own one does.
pub fn silenced(
    mut ends: Vec<(usize, usize)>,
    e: usize,
    start: impl Fn(usize) -> usize,
) -> Vec<(usize, usize)> {
    ends.sort_unstable();
    let mut taken: Vec<(usize, usize)> = Vec::new();
    for (edits, end) in ends {
        let is_silenced = taken.iter().any(|&(_, other)| {
            other.abs_diff(end) <= e
                || (other.abs_diff(end) <= 4 * e && start(other).abs_diff(start(end)) <= e)
        });
        if !is_silenced {
            taken.push((edits, end));
        }
    }
    taken
}

/// Returns (end, mismatches) of each position of a pattern with at most `e` mismatches.
pub fn substitutions(pattern: &[u8], text: &[u8], e: usize) -> Vec<(usize, usize)> {
    let windows = (pattern.len()..).zip(text.windows(pattern.len()));
    windows
        .map(|(end, window)| {
            let differs = |(bases, letter): &(&u8, &u8)| **bases & **letter == 0;
            (end, pattern.iter().zip(window).filter(differs).count())
        })
        .filter(|&(_, mismatches)| mismatches <= e)
        .collect()
}
