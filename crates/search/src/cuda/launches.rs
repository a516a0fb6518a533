//! The launches of a batch: which patterns are scanned in which tiles.

use std::ops::Range;

use super::patterns::BLOCK_PATTERNS;

/// The maximum number of patterns of a launch. More would not occupy a device better, and a launch that finds more ends
/// than there is room for is repeated.
const MAX_LAUNCH: usize = 2048;

/// A launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Launch {
    /// The number of rows of the kernel.
    pub(super) rows: u32,
    pub(super) patterns: Range<usize>,
    pub(super) tiles: Range<usize>,
}

impl Launch {
    /// Returns the launches for patterns by their number of rows.
    pub(super) fn all(classes: &[(u32, Range<usize>)], tiles: usize) -> Vec<Launch> {
        let mut launches = Vec::new();
        for (rows, patterns) in classes {
            for first in patterns.clone().step_by(MAX_LAUNCH) {
                let patterns = first..patterns.end.min(first + MAX_LAUNCH);
                launches.push(Launch { rows: *rows, patterns, tiles: 0..tiles });
            }
        }
        launches
    }

    /// Returns the halves of a launch; `None` for one pattern and tile.
    pub(super) fn halves(&self) -> Option<[Launch; 2]> {
        let Launch { rows, patterns, tiles } = self;
        if patterns.len() > 1 {
            let half = patterns.len().div_ceil(2);
            let whole = half.next_multiple_of(BLOCK_PATTERNS);
            let middle = patterns.start + if whole < patterns.len() { whole } else { half };
            let part = |patterns| Launch { rows: *rows, patterns, tiles: tiles.clone() };
            Some([part(patterns.start..middle), part(middle..patterns.end)])
        } else if tiles.len() > 1 {
            let middle = tiles.start + tiles.len() / 2;
            let part = |tiles| Launch { rows: *rows, patterns: patterns.clone(), tiles };
            Some([part(tiles.start..middle), part(middle..tiles.end)])
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_have_all_patterns_and_tiles() {
        let whole = Launch { rows: 23, patterns: 5..30, tiles: 0..5 };
        let mut left = vec![whole.clone()];
        let mut done = Vec::new();
        while let Some(launch) = left.pop() {
            match launch.halves() {
                Some(halves) => left.extend(halves),
                None => done.push((launch.patterns.start, launch.tiles.start)),
            }
        }
        done.sort_unstable();
        let expected = (5..30).flat_map(|pattern| (0..5).map(move |tile| (pattern, tile)));
        assert_eq!(done, expected.collect::<Vec<_>>());
        assert_eq!(whole.halves().map(|halves| halves[0].patterns.clone()), Some(5..21));
    }

    #[test]
    fn large_classes_are_divided() {
        let launches = Launch::all(&[(8, 0..3), (23, 3..5000)], 7);
        let ranges: Vec<_> =
            launches.iter().map(|launch| (launch.rows, launch.patterns.clone())).collect();
        assert_eq!(ranges, [(8, 0..3), (23, 3..2051), (23, 2051..4099), (23, 4099..5000)]);
    }
}
