//! A block: up to 256 k-mers in ascending order, coded by their differences, and their counts.
//!
//! The differences less 1 are Rice-coded: the number of low bits is that of the mean difference, and the rest is in
//! unary. Counts less 1 take a fixed number of bits. The few counts that need more bits are coded as all ones there,
//! and follow as 32-bit numbers. The first k-mer and the number of k-mers of a block are in the index.

use merganser_seq::kmer::Kmer;

use super::bits::{self, BitReader, BitWriter};

/// The largest number of k-mers in a block.
pub(crate) const MAX: usize = 256;

/// Appends a block of 1 to [`MAX`] k-mers, in ascending order, with counts of at least 1.
pub(crate) fn encode<K: Kmer>(kmers: &[(K, u32)], out: &mut Vec<u8>) {
    let low_bits = rice_parameter(kmers);
    let width = count_width(kmers);
    out.push(low_bits as u8);
    out.push(width as u8);
    // The unary parts take at most four bits per k-mer in total: see `rice_parameter`.
    let most = kmers.len() * (low_bits + width + 4) as usize + 64;
    let mut bits = BitWriter::new(out, most);
    let low_mask = (1u64 << low_bits.min(63)) - 1;
    for pair in kmers.windows(2) {
        let more = pair[1].0.sub(pair[0].0).sub(K::from_low(1));
        let zeros = more.shr(low_bits).low();
        if zeros + 1 + u64::from(low_bits) <= u64::from(bits::MAX) {
            bits.put(((more.low() & low_mask) << 1 | 1) << zeros, zeros as u32 + 1 + low_bits);
            continue;
        }
        bits.put_unary(zeros);
        let mut done = 0;
        while done < low_bits {
            let now = (low_bits - done).min(48);
            bits.put(more.shr(done).low() & ((1u64 << now) - 1), now);
            done += now;
        }
    }
    put_counts(kmers, width, &mut bits);
    bits.finish();
    let escape = (1u64 << width) - 1;
    for &(_, count) in kmers.iter().filter(|(_, count)| u64::from(count - 1) >= escape) {
        out.extend_from_slice(&count.to_le_bytes());
    }
}

/// Writes the counts less 1, four at a time if they fit into a word.
fn put_counts<K>(kmers: &[(K, u32)], width: u32, bits: &mut BitWriter<'_>) {
    let escape = (1u64 << width) - 1;
    let value = |count: u32| u64::from(count - 1).min(escape);
    let (fours, rest) = kmers.as_chunks::<4>();
    let (fours, rest) = if 4 * width <= bits::MAX { (fours, rest) } else { (&[][..], kmers) };
    for [a, b, c, d] in fours {
        let (low, high) = (value(a.1) | value(b.1) << width, value(c.1) | value(d.1) << width);
        bits.put(low | high << (2 * width), 4 * width);
    }
    for &(_, count) in rest {
        bits.put(value(count), width);
    }
}

/// Returns ⌊log2⌋ of the mean difference. With it, unary parts have about one and a half bits each, and at most
/// four bits per k-mer in total, however uneven the differences are.
fn rice_parameter<K: Kmer>(kmers: &[(K, u32)]) -> u32 {
    let span = kmers[kmers.len() - 1].0.sub(kmers[0].0);
    let differences = (kmers.len() as u64 - 1).max(1);
    span.bit_len().saturating_sub(64 - differences.leading_zeros()).min(255)
}

/// Returns the width with the smallest total size of the counts, including those that do not fit.
fn count_width<K>(kmers: &[(K, u32)]) -> u32 {
    // by_len[b] is the number of counts whose value (count - 1) needs b bits; one of all ones needs one more bit. Most
    // counts have the same few lengths: four arrays avoid waiting for the previous increment of the same
    // counter.
    let mut by_len = [[0u32; 33]; 4];
    for (at, &(_, count)) in kmers.iter().enumerate() {
        by_len[at % 4][(32 - count.leading_zeros()) as usize] += 1;
    }
    let mut above = kmers.len() as u32;
    let mut best = (u32::MAX, 0);
    for width in 0..=32u32 {
        above -= by_len.iter().map(|lane| lane[width as usize]).sum::<u32>();
        best = best.min((width * kmers.len() as u32 + 32 * above, width));
        if above == 0 {
            break;
        }
    }
    best.1
}

/// An encoded block, and its entry in the index.
#[derive(Clone, Copy)]
pub(crate) struct Coded<'b, K> {
    /// The block, followed by at least 8 other bytes.
    pub(crate) bytes: &'b [u8],
    /// The length of the block in bytes.
    pub(crate) len: usize,
    pub(crate) first: K,
    pub(crate) kmers: usize,
}

/// Appends the k-mers of `N` blocks. The blocks are decoded together, since a difference depends on the
/// previous one of the same block, but not on those of other blocks. Returns false if the bytes are not valid
/// blocks.
pub(crate) fn decode<K: Kmer, const N: usize>(
    blocks: [Coded<'_, K>; N],
    kmers: &mut Vec<(K, u32)>,
) -> bool {
    let from = kmers.len();
    let all = from + blocks.iter().map(|block| block.kmers).sum::<usize>();
    kmers.resize(all, (K::default(), 0));
    let mut rest = &mut kmers[from..];
    let mut rows: [&mut [(K, u32)]; N] = blocks.map(|block| {
        let (row, behind) = std::mem::take(&mut rest).split_at_mut(block.kmers);
        rest = behind;
        row
    });
    let shortest = blocks.iter().map(|block| block.kmers).min().unwrap_or(0);
    let mut differences = blocks.map(Differences::new);
    for (row, block) in rows.iter_mut().zip(&blocks) {
        row[0].0 = block.first;
    }
    // Slices of equal length let the compiler drop the bounds checks.
    let mut heads = rows.each_mut().map(|row| &mut row[..shortest]);
    for at in 1..shortest {
        for (head, differences) in heads.iter_mut().zip(&mut differences) {
            head[at].0 = differences.pass();
        }
    }
    let mut lanes = rows.into_iter().zip(differences).zip(&blocks);
    lanes.all(|((row, mut differences), block)| {
        for entry in &mut row[shortest..] {
            entry.0 = differences.pass();
        }
        differences.counts(block, row)
    })
}

/// Decodes the k-mers of a block one after the other.
struct Differences<'b, K> {
    bits: BitReader<'b>,
    low_bits: u32,
    kmer: K,
}

impl<'b, K: Kmer> Differences<'b, K> {
    /// Creates a decoder, positioned after the first k-mer.
    fn new(block: Coded<'b, K>) -> Differences<'b, K> {
        let low_bits = block.bytes.first().map_or(0, |&bits| u32::from(bits));
        let bits = BitReader::new(block.bytes.get(2..).unwrap_or_default());
        Differences { bits, low_bits, kmer: block.first }
    }

    /// Decodes the next k-mer.
    #[inline(always)]
    fn pass(&mut self) -> K {
        let more = match self.bits.get_rice(self.low_bits) {
            Some((zeros, low)) => K::from_low(zeros).shl(self.low_bits).or(K::from_low(low)),
            None => {
                let (more, bits) = wide(self.bits, self.low_bits);
                self.bits = bits;
                more
            }
        };
        self.kmer = self.kmer.add(more).add(K::from_low(1));
        self.kmer
    }

    /// Decodes the counts, which follow the last difference; returns false if the block does not end with them.
    fn counts(mut self, block: &Coded<'_, K>, kmers: &mut [(K, u32)]) -> bool {
        let width = u32::from(block.bytes.get(1).copied().unwrap_or(u8::MAX));
        if width > 32 {
            return false;
        }
        let escape = (1u64 << width) - 1;
        let (mut escapes, mut place) = (0, 0);
        for (_, count) in kmers.iter_mut() {
            let value = self.bits.look(place, width);
            place += width as usize;
            escapes += usize::from(value == escape);
            *count = if value == escape { 0 } else { value as u32 + 1 };
        }
        self.bits.pass(place);
        let start = 2 + self.bits.at().div_ceil(8);
        let Some(large) = block.bytes[..block.len].get(start..) else { return false };
        if large.len() < 4 * escapes {
            return false;
        }
        let mut large = large[large.len() - 4 * escapes..].chunks_exact(4).map(u32::load);
        escapes == 0
            || kmers.iter_mut().filter(|(_, count)| *count == 0).all(|(_, count)| {
                *count = large.next().unwrap_or(0);
                *count > 0
            })
    }
}

/// Decodes a difference that does not fit into a word. Takes and returns the reader by value, so that the fast
/// path can keep it in registers.
#[cold]
fn wide<K: Kmer>(mut bits: BitReader<'_>, low_bits: u32) -> (K, BitReader<'_>) {
    let mut more = K::from_low(bits.get_unary()).shl(low_bits);
    let mut done = 0;
    while done < low_bits {
        let now = (low_bits - done).min(48);
        more = more.or(K::from_low(bits.get(now)).shl(done));
        done += now;
    }
    (more, bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use merganser_seq::kmer::Wide;
    use proptest::prelude::*;

    fn check<K: Kmer>(values: &[u64], shift: u32, counts: &[u32]) {
        let mut kmers: Vec<K> = values.iter().map(|&v| K::from_low(v).shl(shift)).collect();
        kmers.sort_unstable();
        kmers.dedup();
        let kmers: Vec<(K, u32)> = kmers.into_iter().zip(counts.iter().copied()).collect();
        let mut bytes = Vec::new();
        encode(&kmers, &mut bytes);
        let mut decoded = kmers[..1].to_vec();
        let len = bytes.len();
        // Blocks of different lengths; bytes after a block must not matter.
        let start = kmers.len() / 3;
        encode(&kmers[start..], &mut bytes);
        bytes.extend([0xb7; 8]);
        let whole = Coded { bytes: &bytes, len, first: kmers[0].0, kmers: kmers.len() };
        let (first, number) = (kmers[start].0, kmers.len() - start);
        let behind = &bytes[len..];
        let part = Coded { bytes: behind, len: behind.len() - 8, first, kmers: number };
        assert!(decode([whole, part], &mut decoded));
        assert!(decode([part, whole], &mut decoded));
        assert!(decode([whole], &mut decoded));
        let (all, part) = (&kmers[..], &kmers[start..]);
        let parts = [&all[..1], all, part, part, all, all];
        assert_eq!(decoded, parts.concat());
        // A truncated block must be refused.
        for cut in (0..len).step_by(1 + len / 4).chain([len - 1]) {
            let cut = Coded { bytes: &bytes[..cut + 8], len: cut, ..whole };
            assert!(!decode([cut], &mut Vec::new()));
            assert!(!decode([whole, cut], &mut Vec::new()));
        }
    }

    proptest! {
        // Each case has four widths.
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn blocks_come_back_at_every_width(
            values in proptest::collection::vec(0u64..1 << 26, 1..=MAX),
            counts in proptest::collection::vec(prop_oneof![1u32..200, Just(u32::MAX), any::<u32>().prop_map(|c| c.max(1))], MAX),
            shift in 0u32..190,
        ) {
            check::<u32>(&values, shift % 6, &counts);
            check::<u64>(&values, shift % 38, &counts);
            check::<u128>(&values, shift % 102, &counts);
            check::<Wide>(&values, shift, &counts);
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200), len in 1usize..=MAX) {
            let any = Coded { bytes: &bytes, len: bytes.len(), first: 0u64, kmers: len };
            decode([any], &mut Vec::new());
            decode([any, Coded { kmers: 1, ..any }], &mut Vec::new());
            let first = Wide::default();
            decode([Coded { bytes: &bytes, len: bytes.len(), first, kmers: len }], &mut Vec::new());
        }
    }
}
