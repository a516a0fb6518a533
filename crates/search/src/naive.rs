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

/// Selects ends, (edits, end), in the order of edits, then position, except those one letter behind an end with one edit
/// less. Each one that is selected silences those within `e` letters of it, and those whose alignments begin within `e`
/// letters of where its own one does.
pub fn silenced(
    mut ends: Vec<(usize, usize)>,
    e: usize,
    start: impl Fn(usize) -> usize,
) -> Vec<(usize, usize)> {
    ends.sort_unstable();
    let mut taken: Vec<(usize, usize)> = Vec::new();
    for &(edits, end) in &ends {
        let is_extended = edits > 0 && end > 0 && ends.contains(&(edits - 1, end - 1));
        let is_silenced = taken.iter().any(|&(_, other)| {
            other.abs_diff(end) <= e
                || (other.abs_diff(end) <= 4 * e && start(other).abs_diff(start(end)) <= e)
        });
        if !is_silenced && !is_extended {
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

/// Returns the fewest edits of aligning a whole pattern to a whole text.
pub fn distance(pattern: &[u8], text: &[u8]) -> usize {
    let mut column: Vec<usize> = (0..=pattern.len()).collect();
    for (j, &letter) in (1..).zip(text) {
        let mut diagonal = std::mem::replace(&mut column[0], j);
        for (i, &bases) in pattern.iter().enumerate() {
            let cost = diagonal + usize::from(bases & letter == 0);
            diagonal = column[i + 1];
            column[i + 1] = cost.min(diagonal + 1).min(column[i] + 1);
        }
    }
    column[pattern.len()]
}

/// Returns the fewest edits of an alignment of a pattern that ends at the end of a text, of which at most `seed.1` are in
/// the last `seed.0` letters of the pattern.
pub fn anchored(pattern: &[u8], text: &[u8], hamming: bool, seed: (usize, usize)) -> Option<usize> {
    let (rest, last) = pattern.split_at(pattern.len().saturating_sub(seed.0));
    let whole = |pattern: &[u8], text: &[u8]| match hamming {
        true if pattern.len() == text.len() => Some(distance_on_diagonal(pattern, text)),
        true => None,
        false => Some(distance(pattern, text)),
    };
    let mut least = None;
    for middle in 0..=text.len() {
        let Some(edits) = whole(last, &text[middle..]).filter(|&edits| edits <= seed.1) else {
            continue;
        };
        for start in 0..=middle {
            let all = whole(rest, &text[start..middle]).map(|more| edits + more);
            least = least.into_iter().chain(all).min();
        }
    }
    least
}

fn distance_on_diagonal(pattern: &[u8], text: &[u8]) -> usize {
    pattern.iter().zip(text).filter(|(bases, letter)| **bases & **letter == 0).count()
}

/// Returns (end, edits) of each end if letters outside the text cost `alpha` each, rounded down on each side. An end after
/// the text has that many letters of the pattern outside.
pub fn ends_with_overhang(
    pattern: &[u8],
    text: &[u8],
    e: usize,
    alpha: f64,
) -> Vec<(usize, usize)> {
    let cost = |letters: usize| (alpha * letters as f64).floor() as usize;
    let mut least = std::collections::BTreeMap::new();
    for before in 0..=pattern.len() {
        for after in 0..pattern.len().max(1) {
            let Some(rest) = pattern
                .len()
                .checked_sub(before + after)
                .filter(|_| before + after < pattern.len() || after == 0)
            else {
                continue;
            };
            let inner = &pattern[before..before + rest];
            // Letters before the text require that the alignment begins with it, letters after it that it ends there.
            for end in if after > 0 { text.len()..text.len() + 1 } else { 1..text.len() + 1 } {
                let starts = if before > 0 { 0..1 } else { 0..end + 1 };
                let edits = starts.map(|start| distance(inner, &text[start..end])).min().unwrap();
                let all = edits + cost(before) + cost(after);
                if all <= e {
                    let known = least.entry(end + after).or_insert(all);
                    *known = all.min(*known);
                }
            }
        }
    }
    least.into_iter().collect()
}
