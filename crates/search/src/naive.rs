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
