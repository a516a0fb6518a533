//! FastK's `.hist`: k, the least and the largest count, how often the k-mers beyond both ends occur, and how many k-mers
//! have each count. The last count has all larger ones, too.

use crate::Histogram;

/// Bytes before the numbers of k-mers.
const HEADER: usize = 28;
/// Counts of a histogram of FastK.
const LOW: u32 = 1;
pub(crate) const HIGH: u32 = 32_767;

/// The histogram that some bytes are, with k; `None` if they are none. What the last bin has of larger counts is taken for
/// k-mers of its count.
pub(crate) fn parse(bytes: &[u8]) -> Option<(Histogram, usize)> {
    let int = |at: usize| bytes.get(at..at + 4).map(super::number);
    let (k, low, high) = (int(0)?, int(4)?, int(8)?);
    let (low, high) = (u32::try_from(low).ok()?, u32::try_from(high).ok()?);
    let k = usize::try_from(k).ok().filter(|k| (1..=merganser_seq::kmer::MAX_K).contains(k))?;
    let bins = (low >= 1).then(|| high.checked_sub(low)).flatten()? as usize + 1;
    if bytes.len() != HEADER + 8 * bins {
        return None;
    }
    let mut histogram = Histogram::default();
    for (count, number) in (low..).zip(bytes[HEADER..].chunks_exact(8)) {
        histogram.add_many(count, u64::try_from(super::number(number)).ok()?);
    }
    Some((histogram, k))
}

/// A histogram as FastK writes it, of counts up to `high`, the last of which has all larger ones.
pub(crate) fn bytes(histogram: &Histogram, k: usize, high: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + 8 * high as usize);
    for number in [k as u32, LOW, high] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    // Occurrences of what is in the first and in the last bin.
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
        // By the layout: the bins of counts 1 and 32,767.
        assert_eq!(&written[28..36], &900u64.to_le_bytes());
        assert_eq!(&written[262_156..], &7u64.to_le_bytes());
        let beyond = 3 * 32_767 + 4 * 70_000u64;
        assert_eq!(&written[20..28], &beyond.to_le_bytes());
        let (back, k) = parse(&written).unwrap();
        assert_eq!(k, 31);
        assert_eq!(back.iter().collect::<Vec<_>>(), [(1, 900), (2, 30), (32_766, 2), (32_767, 7)]);
        assert!(parse(&written[..written.len() - 1]).is_none() && parse(b"1\t900\n").is_none());
    }
}
