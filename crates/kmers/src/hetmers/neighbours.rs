//! Finds k-mers that differ in one base of their last half among k-mers with the same first half.
//!
//! Few k-mers are compared with each other. Many are divided twice: two k-mers that differ in one base are equal
//! in one half of the bases that may differ. They are grouped by each half, and searched in the other one.

use std::ops::Range;

use merganser_seq::kmer::Kmer;

/// The largest number of k-mers that are compared with each other. At least 4, the largest number of k-mers that
/// are equal in all bases but one.
const FEW: usize = 12;

/// A k-mer of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member<K> {
    pub(super) kmer: K,
    pub(super) count: u32,
    /// The index of the k-mer in the group.
    pub(super) index: u32,
}

/// Calls `found` with each two k-mers that differ in exactly one base, and with the number of bits to the right of
/// this base. `members` agree in all bits outside `bits`, an even number of the last bits; they are reordered.
pub(super) fn neighbours<K: Kmer>(
    members: &mut [Member<K>],
    bits: Range<u32>,
    found: &mut impl FnMut(&Member<K>, &Member<K>, u32),
) {
    if members.len() <= FEW {
        return compare(members, found);
    }
    let middle = bits.start + (bits.end - bits.start) / 4 * 2;
    for (equal, other) in
        [(middle..bits.end, bits.start..middle), (bits.start..middle, middle..bits.end)]
    {
        let mask = K::mask(((equal.end - equal.start) / 2) as usize);
        let part = |member: &Member<K>| member.kmer.shr(equal.start).and(mask);
        members.sort_unstable_by_key(part);
        for group in members.chunk_by_mut(|one, other| part(one) == part(other)) {
            neighbours(group, other.clone(), found);
        }
    }
}

fn compare<K: Kmer>(members: &[Member<K>], found: &mut impl FnMut(&Member<K>, &Member<K>, u32)) {
    for (at, one) in members.iter().enumerate() {
        for other in &members[at + 1..] {
            if let Some(right) = only_difference(one.kmer, other.kmer) {
                found(one, other, right);
            }
        }
    }
}

/// Returns the number of bits to the right of the only base in which two distinct k-mers differ; `None` if they
/// differ in several bases.
#[inline(always)]
fn only_difference<K: Kmer>(one: K, other: K) -> Option<u32> {
    let difference = one.or(other).sub(one.and(other));
    let right = (difference.bit_len() - 1) & !1;
    (difference.shr(right).shl(right) == difference).then_some(right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(kmers: &[u64], bits: u32) -> Vec<(u64, u64, u32)> {
        let mut pairs = Vec::new();
        for &one in kmers {
            for right in (0..bits).step_by(2) {
                for base in 1..4 {
                    let other = one ^ base << right;
                    if one < other && kmers.contains(&other) {
                        pairs.push((one, other, right));
                    }
                }
            }
        }
        pairs.sort_unstable();
        pairs
    }

    proptest! {
        #[test]
        fn neighbours_are_those_of_the_definition(
            kmers in proptest::collection::btree_set(0u64..1 << 14, 0..300),
            dense in proptest::collection::btree_set(0u64..1 << 8, 0..256),
            spread in any::<bool>(),
        ) {
            let kmers: Vec<u64> = if spread { kmers } else { dense }.into_iter().collect();
            let member = |(index, &kmer): (usize, &u64)| Member { kmer, count: 1, index: index as u32 };
            let mut members: Vec<_> = kmers.iter().enumerate().map(member).collect();
            let mut pairs = Vec::new();
            neighbours(&mut members, 0..14, &mut |one, other, right| {
                pairs.push((one.kmer.min(other.kmer), one.kmer.max(other.kmer), right));
            });
            pairs.sort_unstable();
            prop_assert_eq!(pairs, naive(&kmers, 14));
        }
    }
}
