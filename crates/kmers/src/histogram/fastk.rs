//! FastK's `.hist` files: k, the least and the largest count, the numbers of occurrences of the k-mers at both
//! ends, and the number of k-mers with each count. The largest count includes all larger ones.

use super::{Histogram, HistogramFile};
use crate::formats::fastk;

/// The size of the header before the numbers of k-mers.
const HEADER: usize = 28;
/// The smallest count of a histogram of FastK.
const LOW: u32 = 1;
/// The largest count of a histogram of FastK.
pub(crate) const HIGH: u32 = 32_767;

/// Parses a histogram; `None` if the bytes are not valid. k-mers of the last row are taken to have its count;
/// the header tells how often they occur in total.
pub(crate) fn parse(bytes: &[u8]) -> Option<HistogramFile> {
    let int = |at: usize| bytes.get(at..at + 4).map(fastk::number);
    let (k, low, high) = (int(0)?, int(4)?, int(8)?);
    let (low, high) = (u32::try_from(low).ok()?, u32::try_from(high).ok()?);
    let k = usize::try_from(k).ok().filter(|k| (1..=merganser_seq::kmer::MAX_K).contains(k))?;
    let bins = (low >= 1).then(|| high.checked_sub(low)).flatten()? as usize + 1;
    if bytes.len() != HEADER + 8 * bins {
        return None;
    }
    let mut histogram = Histogram::default();
    for (count, number) in (low..).zip(bytes[HEADER..].chunks_exact(8)) {
        histogram.add_many(count, u64::try_from(fastk::number(number)).ok()?);
    }
    let at_high = u64::try_from(fastk::number(&bytes[HEADER - 8..HEADER])).ok();
    // A number below that of the row itself is invalid.
    let at_high = at_high.filter(|&all| all >= histogram.total(high, high));
    let total = at_high.map(|all| histogram.total(1, high - 1).saturating_add(all));
    Some(HistogramFile { histogram, k: Some(k), total })
}

/// Returns a histogram in FastK's format, with counts up to `high`, which includes all larger ones.
pub(crate) fn bytes(histogram: &Histogram, k: usize, high: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + 8 * high as usize);
    for number in [k as u32, LOW, high] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    // The occurrences of the k-mers in the first and in the last row.
    let ends = [histogram.total(1, LOW), histogram.total(high, u32::MAX)];
    ends.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    let mut bins = vec![0; high as usize];
    for (count, number) in histogram.iter() {
        bins[count.min(high) as usize - 1] += number;
    }
    bins.iter().for_each(|number: &u64| bytes.extend_from_slice(&number.to_le_bytes()));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histograms_come_back() {
        let mut histogram = Histogram::default();
        for (count, number) in [(1, 900), (2, 30), (32_766, 2), (32_767, 3), (70_000, 4)] {
            histogram.add_many(count, number);
        }
        let written = bytes(&histogram, 31, HIGH);
        assert_eq!(written.len(), 262_164);
        // The rows of counts 1 and 32,767, at their offsets in the layout.
        assert_eq!(&written[28..36], &900u64.to_le_bytes());
        assert_eq!(&written[262_156..], &7u64.to_le_bytes());
        let beyond = 3 * 32_767 + 4 * 70_000u64;
        assert_eq!(&written[20..28], &beyond.to_le_bytes());
        let file = parse(&written).unwrap();
        assert_eq!((file.k, file.total), (Some(31), Some(histogram.total(1, u32::MAX))));
        let back = file.histogram;
        assert_eq!(back.iter().collect::<Vec<_>>(), [(1, 900), (2, 30), (32_766, 2), (32_767, 7)]);
        assert!(parse(&written[..written.len() - 1]).is_none() && parse(b"1\t900\n").is_none());
    }
}
