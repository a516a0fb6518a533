//! A block: up to 256 k-mers in order, by the differences between them, and their counts.
//!
//! The differences less 1 are Rice-coded: as many low bits as the mean difference has, the rest
//! in unary. Counts less 1 take a fixed number of bits, all ones for the few that need more, which
//! follow as whole numbers. The block's first k-mer and number of k-mers stand in the index.

use merganser_seq::kmer::Kmer;

use super::bits::{self, BitReader, BitWriter};

/// The most k-mers of a block.
pub(crate) const MOST: usize = 256;

/// Appends the block of `kmers`: 1 to [`MOST`] k-mers in rising order, counts at least 1.
pub(crate) fn encode<K: Kmer>(kmers: &[(K, u32)], out: &mut Vec<u8>) {
    let low_bits = rice_parameter(kmers);
    let width = count_width(kmers);
    out.push(low_bits as u8);
    out.push(width as u8);
    // The unary parts take at most four bits a k-mer together: see `rice_parameter`.
    let most = kmers.len() * (low_bits + width + 4) as usize + 64;
    let mut bits = BitWriter::new(out, most);
    let low_mask = (1u64 << low_bits.min(63)) - 1;
    for pair in kmers.windows(2) {
        let more = pair[1].0.sub(pair[0].0).sub(K::from_low(1));
        let zeros = more.shr(low_bits).low();
        if zeros + 1 + u64::from(low_bits) <= u64::from(bits::MOST) {
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
    let escape = (1u64 << width) - 1;
    for &(_, count) in kmers {
        bits.put(u64::from(count - 1).min(escape), width);
    }
    bits.finish();
    for &(_, count) in kmers.iter().filter(|(_, count)| u64::from(count - 1) >= escape) {
        out.extend_from_slice(&count.to_le_bytes());
    }
}

/// ⌊log2⌋ of the mean difference: then the unary parts are about one and a half bits each, and
/// all of them together at most four bits a k-mer, however uneven the differences are.
fn rice_parameter<K: Kmer>(kmers: &[(K, u32)]) -> u32 {
    let span = kmers[kmers.len() - 1].0.sub(kmers[0].0);
    let differences = (kmers.len() as u64 - 1).max(1);
    span.bit_len().saturating_sub(64 - differences.leading_zeros()).min(255)
}

/// The width that makes the counts of a block smallest, escapes included.
fn count_width<K>(kmers: &[(K, u32)]) -> u32 {
    // by_len[b]: counts less 1 that need b bits; one that is all ones needs one more.
    let mut by_len = [0u32; 34];
    for &(_, count) in kmers {
        by_len[(64 - u64::from(count).leading_zeros()) as usize] += 1;
    }
    let mut above = kmers.len() as u32;
    let mut best = (u32::MAX, 0);
    for width in 0..=32u32 {
        above -= by_len[width as usize];
        best = best.min((width * kmers.len() as u32 + 32 * above, width));
    }
    best.1
}

/// Appends the block's `len` k-mers, whose first is `first`, to `kmers`; false if the bytes are no
/// such block.
pub(crate) fn decode<K: Kmer>(
    bytes: &[u8],
    first: K,
    len: usize,
    kmers: &mut Vec<(K, u32)>,
) -> bool {
    let [low_bits, width, stream @ ..] = bytes else { return false };
    let (low_bits, width) = (u32::from(*low_bits), u32::from(*width));
    if width > 32 {
        return false;
    }
    let mut bits = BitReader::new(stream);
    let from = kmers.len();
    let mut kmer = first;
    kmers.push((kmer, 0));
    for _ in 1..len {
        let mut more = K::from_low(bits.get_unary()).shl(low_bits);
        if low_bits <= bits::MOST {
            more = more.or(K::from_low(bits.get(low_bits)));
        } else {
            let mut done = 0;
            while done < low_bits {
                let now = (low_bits - done).min(48);
                more = more.or(K::from_low(bits.get(now)).shl(done));
                done += now;
            }
        }
        kmer = kmer.add(more).add(K::from_low(1));
        kmers.push((kmer, 0));
    }
    decode_counts(&mut bits, width, stream, &mut kmers[from..]) && !bits.exhausted()
}

fn decode_counts<K>(
    bits: &mut BitReader<'_>,
    width: u32,
    stream: &[u8],
    kmers: &mut [(K, u32)],
) -> bool {
    let escape = (1u64 << width) - 1;
    let mut escapes = 0;
    for (_, count) in kmers.iter_mut() {
        let value = bits.get(width);
        escapes += usize::from(value == escape);
        *count = if value == escape { 0 } else { value as u32 + 1 };
    }
    let Some(start) = stream.len().checked_sub(4 * escapes) else { return false };
    let mut large = stream[start..].chunks_exact(4).map(u32::load);
    kmers.iter_mut().filter(|(_, count)| *count == 0).all(|(_, count)| {
        *count = large.next().unwrap_or(0);
        *count > 0
    })
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
        let mut decoded = Vec::new();
        assert!(decode(&bytes, kmers[0].0, kmers.len(), &mut decoded));
        assert_eq!(decoded, kmers);
        // A part of a block is no block (counts of no bits apart, whose block may end in padding).
        for cut in 0..2 {
            assert!(!decode(&bytes[..cut], kmers[0].0, kmers.len(), &mut Vec::new()));
        }
    }

    proptest! {
        #[test]
        fn blocks_come_back_at_every_width(
            values in proptest::collection::vec(0u64..1 << 26, 1..=MOST),
            counts in proptest::collection::vec(prop_oneof![1u32..200, Just(u32::MAX), any::<u32>().prop_map(|c| c.max(1))], MOST),
            shift in 0u32..190,
        ) {
            check::<u32>(&values, shift % 6, &counts);
            check::<u64>(&values, shift % 38, &counts);
            check::<u128>(&values, shift % 102, &counts);
            check::<Wide>(&values, shift, &counts);
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200), len in 1usize..=MOST) {
            decode::<u64>(&bytes, 0, len, &mut Vec::new());
            decode::<Wide>(&bytes, Wide::default(), len, &mut Vec::new());
        }
    }
}
