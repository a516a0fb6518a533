//! Sets of minimizers in memory, as sorted numbers.

use crate::{Error, Params};

/// A set of minimizers. Each is stored as a number; the numbers are spread over the whole range, so that a hash set
/// fills evenly and its sections have about the same size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinimizerSet {
    params: Params,
    /// The sorted numbers, without duplicates.
    spread: Vec<u64>,
}

/// The factor that spreads numbers: 2^64 divided by the golden ratio. It is odd, so that it has an inverse.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
const INVERSE: u64 = {
    // Each step of Newton's iteration doubles the number of correct bits.
    let mut inverse = FACTOR;
    let mut step = 0;
    while step < 6 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(FACTOR.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
};

impl Params {
    /// Returns the number that a minimizer is stored as.
    #[inline(always)]
    pub(crate) fn spread(self, value: u64) -> u64 {
        value.wrapping_mul(FACTOR) & self.mask()
    }

    /// Returns the minimizer of a number: its bases A C T G as 0 1 2 3, the first one in the lowest bits.
    #[inline(always)]
    pub(crate) fn value(self, spread: u64) -> u64 {
        spread.wrapping_mul(INVERSE) & self.mask()
    }
}

impl MinimizerSet {
    /// Makes a set of sorted numbers without duplicates.
    pub(crate) fn of_sorted(params: Params, spread: Vec<u64>) -> MinimizerSet {
        debug_assert!(spread.is_sorted_by(|a, b| a < b));
        MinimizerSet { params, spread }
    }

    /// Returns the parameters of the minimizers.
    pub fn params(&self) -> Params {
        self.params
    }

    /// Returns the number of minimizers.
    pub fn len(&self) -> usize {
        self.spread.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.spread.is_empty()
    }

    /// Returns all minimizers in the order in which they are stored. Each is the smaller of a k-mer and its reverse
    /// complement as a number, with A C T G as 0 1 2 3 and the first base in the lowest bits.
    pub fn values(&self) -> impl ExactSizeIterator<Item = u64> {
        self.spread.iter().map(|&spread| self.params.value(spread))
    }

    pub(crate) fn spread(&self) -> &[u64] {
        &self.spread
    }

    /// Adds the minimizers of another set.
    ///
    /// # Errors
    /// If the sets have different parameters.
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

    /// Removes the minimizers of another set.
    ///
    /// # Errors
    /// If the sets have different parameters.
    pub fn subtract(&mut self, other: &MinimizerSet) -> Result<(), Error> {
        self.keep_if(other, false)
    }

    /// Removes the minimizers that are not in another set.
    ///
    /// # Errors
    /// If the sets have different parameters.
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
            "sets of {} and of {} cannot be combined: build them with the same -k and -w",
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
