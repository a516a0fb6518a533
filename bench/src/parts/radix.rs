//! Radix sorts of k-mers: what the hash table is held against.

use merganser_seq::kmer::Kmer;

/// Sorts by the low `bits` bits from the least significant, in digits of `DIGIT` bits; those above are zero. `spare` and
/// `counts` are working space.
///
/// All digits are counted in one pass; a digit that all values share costs no pass of its own.
pub(crate) fn sort<K: Kmer, const DIGIT: u32>(
    values: &mut Vec<K>,
    spare: &mut Vec<K>,
    counts: &mut Vec<u32>,
    bits: u32,
) {
    count_digits::<K, DIGIT>(values, counts, bits);
    spare.resize(values.len(), K::default());
    for (digit, counts) in counts.chunks_exact_mut(1 << DIGIT).enumerate() {
        if counts.iter().any(|&count| count as usize == values.len()) {
            continue;
        }
        let mut sum = 0;
        for count in &mut *counts {
            sum += std::mem::replace(count, sum);
        }
        scatter::<K, DIGIT>(values, spare, counts, digit as u32 * DIGIT);
        std::mem::swap(values, spare);
    }
}

fn count_digits<K: Kmer, const DIGIT: u32>(values: &[K], counts: &mut Vec<u32>, bits: u32) {
    let mask = (1 << DIGIT) - 1;
    counts.clear();
    counts.resize((bits.div_ceil(DIGIT) as usize) << DIGIT, 0);
    for &value in values {
        let mut rest = value;
        for counts in counts.chunks_exact_mut(1 << DIGIT) {
            counts[rest.low() as usize & mask] += 1;
            rest = rest.shr(DIGIT);
        }
    }
}

fn scatter<K: Kmer, const DIGIT: u32>(from: &[K], to: &mut [K], next: &mut [u32], shift: u32) {
    let mask = (1 << DIGIT) - 1;
    for &value in from {
        let next = &mut next[value.shr(shift).low() as usize & mask];
        to[*next as usize] = value;
        *next += 1;
    }
}

/// Digits of [`sort_from_top`].
const TOP_DIGIT: u32 = 8;
/// Values that are few enough for the standard library's sort.
const FEW: usize = 256;

/// Sorts by the low `bits` bits (at least two digits) from the most significant: two digits of
/// 8 bits at most, then what has the same digits by the standard library.
pub(crate) fn sort_from_top<K: Kmer>(values: &mut [K], spare: &mut Vec<K>, bits: u32) {
    if spare.len() < values.len() {
        spare.resize(values.len(), K::default());
    }
    by_digit(values, spare, bits - TOP_DIGIT, 2);
}

fn by_digit<K: Kmer>(values: &mut [K], spare: &mut [K], shift: u32, digits: u32) {
    if digits == 0 || values.len() <= FEW {
        values.sort_unstable();
        return;
    }
    let mut ends = [0; 1 << TOP_DIGIT];
    let mask = ends.len() - 1;
    for value in &*values {
        ends[value.shr(shift).low() as usize & mask] += 1;
    }
    let mut sum = 0;
    for end in &mut ends {
        sum += std::mem::replace(end, sum);
    }
    let spare = &mut spare[..values.len()];
    scatter::<K, TOP_DIGIT>(values, spare, &mut ends, shift);
    values.copy_from_slice(spare);
    let mut from = 0;
    for end in ends.map(|end| end as usize) {
        by_digit(&mut values[from..end], &mut *spare, shift - TOP_DIGIT, digits - 1);
        from = end;
    }
}

/// Gives `visit` each value of a sorted slice once, with how often it is there.
#[inline(always)]
pub(crate) fn runs<K: Kmer>(sorted: &[K], mut visit: impl FnMut(K, u32)) {
    let mut from = 0;
    for i in 1..=sorted.len() {
        if sorted.get(i) != Some(&sorted[from]) {
            visit(sorted[from], (i - from) as u32);
            from = i;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<K: Kmer, const DIGIT: u32>(bits: u32) {
        let mask = K::mask(bits as usize / 2);
        let mut state = 1u64;
        let mut values: Vec<K> = (0..5003)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let value = K::from_low(state >> 33).or(K::from_low(state >> 40).shl(bits / 2));
                value.and(mask).shr(3).shl(3)
            })
            .collect();
        let mut expected = values.clone();
        expected.sort_unstable();
        sort::<K, DIGIT>(&mut values, &mut Vec::new(), &mut vec![7], bits);
        assert_eq!(values, expected);
        for (i, value) in values.iter_mut().enumerate() {
            *value = expected[i * 7 % expected.len()];
        }
        sort_from_top(&mut values, &mut Vec::new(), bits);
        assert_eq!(values, expected);
        let mut back = Vec::new();
        runs(&values, |value, times| back.extend((0..times).map(|_| value)));
        assert_eq!(back, expected);
    }

    #[test]
    fn order_is_that_of_the_standard_library() {
        check::<u32, 8>(32);
        check::<u64, 8>(56);
        check::<u64, 11>(56);
        check::<u128, 8>(110);
        check::<u128, 11>(110);
        runs::<u64>(&[], |_, _| panic!("there is none"));
    }
}
