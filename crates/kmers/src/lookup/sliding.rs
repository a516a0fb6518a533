//! The k-mers of letters: a window of k letters that slides over them.

use merganser_seq::base;
use merganser_seq::kmer::Kmer;

use crate::tables::Description;

/// How k-mers are taken from letters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sliding {
    /// Bases of a k-mer.
    pub(crate) k: usize,
    /// The smaller of a k-mer and its reverse complement stands for both.
    pub(crate) canonical: bool,
    /// A k-mer may begin at every so many letters.
    pub(crate) stride: usize,
}

impl Sliding {
    /// As the k-mers of a table were taken.
    pub(crate) fn of(table: &Description, stride: usize) -> Sliding {
        Sliding { k: table.k, canonical: table.canonical, stride }
    }

    /// `counts` becomes a 0 for each place.
    pub(crate) fn begin(&self, letters: &[u8], counts: &mut Vec<u32>) {
        counts.clear();
        counts.resize(self.places(letters.len()), 0);
    }

    /// The number of places where a k-mer may begin.
    pub(crate) fn places(&self, letters: usize) -> usize {
        letters.div_ceil(self.stride)
    }

    /// Gives `take` every k-mer that stands at one of the `places` of `letters`, and its place.
    #[inline(always)]
    pub(crate) fn each<K: Kmer>(&self, letters: &[u8], mut take: impl FnMut(K, usize)) {
        let Sliding { k, canonical, stride } = *self;
        if stride > k {
            // Nothing is shared by two k-mers.
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
