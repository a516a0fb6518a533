//! Sets of minimizers in memory: sorted numbers.

use crate::{Error, Params};

/// A set of minimizers. Each is kept as a number that is spread over the whole range, so that a set fills a table from
/// its beginning to its end, and its parts are of about the same size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinimizerSet {
    params: Params,
    /// Sorted, each once.
    spread: Vec<u64>,
}

/// An odd number has an inverse: so has the product with it. 2^64 divided by the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
const INVERSE: u64 = {
    // Newton's iteration doubles the bits that are right.
    let mut inverse = FACTOR;
    let mut step = 0;
    while step < 6 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(FACTOR.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
};

impl Params {
    /// The number that a minimizer is kept as.
    #[inline(always)]
    pub(crate) fn spread(self, value: u64) -> u64 {
        value.wrapping_mul(FACTOR) & self.mask()
    }

    /// The minimizer that a number stands for: its bases A C T G as 0 1 2 3, the first one in the lowest bits.
    #[inline(always)]
    pub(crate) fn value(self, spread: u64) -> u64 {
        spread.wrapping_mul(INVERSE) & self.mask()
    }
}

impl MinimizerSet {
    /// Of sorted numbers, each once.
    pub(crate) fn of_sorted(params: Params, spread: Vec<u64>) -> MinimizerSet {
        debug_assert!(spread.is_sorted_by(|a, b| a < b));
        MinimizerSet { params, spread }
    }

    /// Which minimizers these are.
    pub fn params(&self) -> Params {
        self.params
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.spread.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.spread.is_empty()
    }

    /// All of them in the order in which they are kept: the smaller of a k-mer and its reverse complement as a number,
    /// with A C T G as 0 1 2 3 and the first base in the lowest bits.
    pub fn values(&self) -> impl ExactSizeIterator<Item = u64> {
        self.spread.iter().map(|&spread| self.params.value(spread))
    }

    pub(crate) fn spread(&self) -> &[u64] {
        &self.spread
    }

    /// Adds those of another set.
    ///
    /// # Errors
    /// If the two are of different minimizers.
    pub fn unite(&mut self, other: &MinimizerSet) -> Result<(), Error> {
        self.fits(other)?;
        let mut all = Vec::with_capacity(self.len() + other.len());
        let mut left = other.spread.iter().copied().peekable();
        for &own in &self.spread {
            while let Some(next) = left.next_if(|&next| next < own) {
                all.push(next);
            }
            left.next_if_eq(&own);
            all.push(own);
        }
        all.extend(left);
        self.spread = all;
        Ok(())
    }

    /// Takes away those of another set.
    ///
    /// # Errors
    /// If the two are of different minimizers.
    pub fn subtract(&mut self, other: &MinimizerSet) -> Result<(), Error> {
        self.keep_if(other, false)
    }

    /// Takes away those that another set does not have.
    ///
    /// # Errors
    /// If the two are of different minimizers.
    pub fn intersect(&mut self, other: &MinimizerSet) -> Result<(), Error> {
        self.keep_if(other, true)
    }

    fn keep_if(&mut self, other: &MinimizerSet, there: bool) -> Result<(), Error> {
        self.fits(other)?;
        let mut left = other.spread.iter().copied().peekable();
        self.spread.retain(|&own| {
            while left.next_if(|&next| next < own).is_some() {}
            (left.peek() == Some(&own)) == there
        });
        Ok(())
    }

    fn fits(&self, other: &MinimizerSet) -> Result<(), Error> {
        let of = |params: Params| format!("k {} and w {}", params.k(), params.w());
        if self.params == other.params {
            return Ok(());
        }
        Err(Error::Mixed(format!(
            "sets of {} and of {} do not go together: build them with the same -k and -w",
            of(self.params),
            of(other.params)
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn set(values: &BTreeSet<u64>) -> MinimizerSet {
        let params = Params::new(5, 3).unwrap();
        let mut spread: Vec<u64> = values.iter().map(|&value| params.spread(value)).collect();
        spread.sort_unstable();
        MinimizerSet::of_sorted(params, spread)
    }

    proptest! {
        #[test]
        fn operations_are_those_of_sets(
            one in proptest::collection::btree_set(0u64..1024, 0..300),
            two in proptest::collection::btree_set(0u64..1024, 0..300),
        ) {
            let of = |apply: fn(&mut MinimizerSet, &MinimizerSet) -> Result<(), Error>| {
                let mut result = set(&one);
                apply(&mut result, &set(&two)).unwrap();
                assert!(result.spread.is_sorted_by(|a, b| a < b));
                result.values().collect::<BTreeSet<u64>>()
            };
            prop_assert_eq!(of(MinimizerSet::unite), &one | &two);
            prop_assert_eq!(of(MinimizerSet::subtract), &one - &two);
            prop_assert_eq!(of(MinimizerSet::intersect), &one & &two);
        }

        #[test]
        fn numbers_lead_back_to_minimizers(value in any::<u64>(), k in 0usize..16) {
            let params = Params::new(2 * k + 1, 1).unwrap();
            let value = value & params.mask();
            prop_assert_eq!(params.value(params.spread(value)), value);
        }
    }

    #[test]
    fn different_minimizers_do_not_go_together() {
        let other = MinimizerSet::of_sorted(Params::default(), vec![1]);
        let message = set(&BTreeSet::new()).unite(&other).unwrap_err().to_string();
        assert!(message.starts_with("sets of k 5 and w 3 and of k 31 and w 15 "), "{message}");
    }
}
