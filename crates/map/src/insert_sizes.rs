//! The insert sizes of a library, learned from pairs.

/// The minimum number of pairs from which insert sizes are learned.
pub(crate) const MIN_PAIRS: usize = 1000;
/// The maximum number of pairs from which insert sizes are learned.
pub(crate) const MAX_PAIRS: usize = 100_000;

/// Insert sizes that were learned from the first pairs of the input whose mates both have one best hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InsertSizes {
    /// The number of pairs, at most 100,000.
    pub pairs: u64,
    /// The lower quartile, the median and the upper quartile, in bases.
    pub quartiles: [u32; 3],
    /// The minimum and the maximum insert size of concordant pairs, in bases.
    pub range: [u32; 2],
}

impl InsertSizes {
    /// Learns from the insert sizes of pairs, in any order; `None` if there are fewer than 1,000.
    ///
    /// The range is BWA-MEM's: three times the distance between the quartiles beyond each of them, widened to four
    /// standard deviations around the mean, which are those of the pairs within twice that distance.
    pub(crate) fn learn(mut sizes: Vec<u32>) -> Option<InsertSizes> {
        if sizes.len() < MIN_PAIRS {
            return None;
        }
        sizes.sort_unstable();
        let quartiles = [1, 2, 3].map(|quarter| sizes[quarter * sizes.len() / 4]);
        let [low, _, high] = quartiles.map(f64::from);
        let beyond = |times: f64| [low - times * (high - low), high + times * (high - low)];
        let [from, to] = beyond(2.0);
        let is_usual = |size: &u32| (from..=to).contains(&f64::from(*size));
        let usual: Vec<u64> = sizes.iter().copied().filter(is_usual).map(u64::from).collect();
        // Sums of integers do not depend on their order.
        let count = usual.len() as f64;
        let mean = usual.iter().sum::<u64>() as f64 / count;
        let squares = usual.iter().map(|size| size * size).sum::<u64>() as f64;
        let deviation = (squares / count - mean * mean).max(0.0).sqrt();
        let [least, most] = beyond(3.0);
        let least = least.min(mean - 4.0 * deviation).round().max(1.0);
        let most = most.max(mean + 4.0 * deviation).round();
        Some(InsertSizes {
            pairs: sizes.len() as u64,
            quartiles,
            range: [least as u32, most as u32],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_bwa() {
        assert_eq!(InsertSizes::learn(vec![300; MIN_PAIRS - 1]), None);
        let same = InsertSizes::learn(vec![300; MIN_PAIRS]).unwrap();
        assert_eq!((same.quartiles, same.range), ([300; 3], [300; 2]));
        // From 200 to 399, evenly: quartiles 250, 300, 350; three times 100 beyond them.
        let even = InsertSizes::learn((0..4000).map(|number| 200 + number % 200).collect());
        let even = even.unwrap();
        assert_eq!((even.pairs, even.quartiles), (4000, [250, 300, 350]));
        assert_eq!(even.range, [1, 650]);
        // Pairs far away from the others hardly change the quartiles, and not the deviation.
        let mut sizes: Vec<u32> = (0..4000).map(|number| 400 + number % 41).collect();
        let before = InsertSizes::learn(sizes.clone()).unwrap();
        assert_eq!((before.quartiles, before.range), ([410, 420, 430], [350, 490]));
        sizes.extend([9_000_000; 40]);
        assert_eq!(InsertSizes::learn(sizes).unwrap().range, [347, 494]);
    }
}
