//! The k-mers of a text: a window of k letters that slides over it.

use merganser_seq::base;
use merganser_seq::kmer::Kmer;

use crate::tables::Description;

/// The rules for taking k-mers from letters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sliding {
    /// The length of k-mers.
    pub(crate) k: usize,
    /// Whether a k-mer is replaced by its reverse complement if that is smaller.
    pub(crate) canonical: bool,
    /// The distance of the positions at which k-mers begin, in letters.
    pub(crate) stride: usize,
}

impl Sliding {
    /// Returns the rules by which the k-mers of a table were taken.
    pub(crate) fn of(table: &Description, stride: usize) -> Sliding {
        Sliding { k: table.k, canonical: table.canonical, stride }
    }

    /// Sets `counts` to a 0 for each position.
    pub(crate) fn begin(&self, letters: &[u8], counts: &mut Vec<u32>) {
        counts.clear();
        counts.resize(self.places(letters.len()), 0);
    }

    /// Returns the number of positions at which k-mers can begin.
    pub(crate) fn places(&self, letters: usize) -> usize {
        letters.div_ceil(self.stride)
    }

    /// Calls `take` with every k-mer at one of the positions of `letters`, and with the index of its position.
    #[inline(always)]
    pub(crate) fn each<K: Kmer>(&self, letters: &[u8], mut take: impl FnMut(K, usize)) {
        let Sliding { k, canonical, stride } = *self;
        if stride > k {
            // k-mers do not overlap.
            for (place, letters) in letters.chunks(stride).enumerate() {
                let Some(kmer) = letters.get(..k).and_then(K::from_letters) else { continue };
                let own = if canonical { kmer.least(kmer.reverse_complement(k)) } else { kmer };
                take(own, place);
            }
            return;
        }
        let mask = K::mask(k);
        let (mut forward, mut reverse, mut known) = (K::default(), K::default(), 0);
        for (at, &letter) in letters.iter().enumerate() {
            let code = base::code_unchecked(letter);
            forward = forward.push(code, mask);
            reverse = reverse.push_complement(code, k);
            known = if base::is_base(letter) { known + 1 } else { 0 };
            if known >= k && (stride == 1 || (at + 1 - k).is_multiple_of(stride)) {
                let own = if canonical { forward.least(reverse) } else { forward };
                take(own, (at + 1 - k) / stride);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn k_mers_are_those_of_the_letters(
            letters in "[ACGTacgtuN\n]{0,80}", k in 1usize..40, stride in 1usize..50,
            canonical in any::<bool>(),
        ) {
            let letters = letters.as_bytes();
            let sliding = Sliding { k, canonical, stride };
            let mut found = Vec::new();
            sliding.each::<u128>(letters, |kmer, place| found.push((kmer, place)));
            let naive = |place: usize| {
                let kmer = u128::from_letters(letters.get(place * stride..)?.get(..k)?)?;
                let complement = kmer.reverse_complement(k);
                Some((if canonical { kmer.min(complement) } else { kmer }, place))
            };
            let expected: Vec<_> = (0..sliding.places(letters.len())).filter_map(naive).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
