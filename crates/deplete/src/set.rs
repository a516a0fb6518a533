//! Sets of minimizers in memory, as sorted numbers.

use crate::word::{ByWord, Word, by_word};
use crate::{Error, Params};

/// A set of minimizers. Each is stored as a number; the numbers are spread over the whole range, so that a hash set
/// fills evenly and its sections have about the same size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinimizerSet {
    params: Params,
    /// The sorted numbers, without duplicates.
    numbers: Numbers,
}

/// The numbers of minimizers.
pub(crate) type Numbers = ByWord<Vec<u64>, Vec<u128>>;

impl MinimizerSet {
    /// Makes a set of sorted numbers without duplicates.
    pub(crate) fn of_sorted(params: Params, numbers: Numbers) -> MinimizerSet {
        debug_assert!(by_word!(&numbers, numbers => numbers.is_sorted_by(|a, b| a < b)));
        MinimizerSet { params, numbers }
    }

    /// Makes a set of minimizers in any order.
    #[cfg(test)]
    pub(crate) fn of_values(
        params: Params,
        values: impl IntoIterator<Item = u128>,
    ) -> MinimizerSet {
        fn numbers<W: Word>(params: Params, values: impl Iterator<Item = u128>) -> Vec<W> {
            let numbers = values.map(|value| params.spread(W::truncated(value)));
            let numbers: std::collections::BTreeSet<W> = numbers.collect();
            numbers.into_iter().collect()
        }
        let values = values.into_iter();
        let numbers = match params.are_long() {
            false => ByWord::Short(numbers(params, values)),
            true => ByWord::Long(numbers(params, values)),
        };
        MinimizerSet::of_sorted(params, numbers)
    }

    /// Returns the parameters of the minimizers.
    pub fn params(&self) -> Params {
        self.params
    }

    /// Returns the number of minimizers.
    pub fn len(&self) -> usize {
        by_word!(&self.numbers, numbers => numbers.len())
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the memory of the minimizers, in bytes.
    pub fn bytes(&self) -> u64 {
        self.params.word_bytes() * self.len() as u64
    }

    /// Returns all minimizers in the order in which they are stored. Each is the smaller of a k-mer and its reverse
    /// complement as a number, with A C T G as 0 1 2 3 and the first base in the lowest bits.
    pub fn values(&self) -> impl ExactSizeIterator<Item = u128> {
        (0..self.len())
            .map(|at| by_word!(&self.numbers, numbers => value_of(self.params, numbers[at])))
    }

    pub(crate) fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    /// Adds the minimizers of another set.
    ///
    /// # Errors
    /// If the sets have different parameters.
    pub fn unite(&mut self, other: &MinimizerSet) -> Result<(), Error> {
        self.fits(other)?;
        match (&mut self.numbers, &other.numbers) {
            (ByWord::Short(own), ByWord::Short(other)) => *own = united(own, other),
            (ByWord::Long(own), ByWord::Long(other)) => *own = united(own, other),
            _ => unreachable!("the same k"),
        }
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
        match (&mut self.numbers, &other.numbers) {
            (ByWord::Short(own), ByWord::Short(other)) => keep_if(own, other, there),
            (ByWord::Long(own), ByWord::Long(other)) => keep_if(own, other, there),
            _ => unreachable!("the same k"),
        }
        Ok(())
    }

    fn fits(&self, other: &MinimizerSet) -> Result<(), Error> {
        let of = |params: Params| format!("k {} and w {}", params.k(), params.w());
        if self.params == other.params {
            return Ok(());
        }
        Err(Error::Mixed(format!(
            "sets of {} and of {} cannot be combined: build them with the same `k` and `w`",
            of(self.params),
            of(other.params)
        )))
    }
}

/// Returns the minimizer of a number.
fn value_of<W: Word>(params: Params, number: W) -> u128 {
    params.value(number).into()
}

/// Merges sorted numbers, without duplicates.
fn united<W: Word>(one: &[W], other: &[W]) -> Vec<W> {
    let mut all = Vec::with_capacity(one.len() + other.len());
    let mut left = other.iter().copied().peekable();
    for &own in one {
        while let Some(next) = left.next_if(|&next| next < own) {
            all.push(next);
        }
        left.next_if_eq(&own);
        all.push(own);
    }
    all.extend(left);
    all
}

/// Keeps the sorted numbers that are among others, or those that are not.
fn keep_if<W: Word>(numbers: &mut Vec<W>, others: &[W], there: bool) {
    let mut left = others.iter().copied().peekable();
    numbers.retain(|&own| {
        while left.next_if(|&next| next < own).is_some() {}
        (left.peek() == Some(&own)) == there
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn operations_are_those_of_sets(
            one in proptest::collection::btree_set(0u128..1024, 0..300),
            two in proptest::collection::btree_set(0u128..1024, 0..300),
            k in proptest::sample::select(vec![5, 31, 33, 61]),
        ) {
            let params = Params::new(k, 3).unwrap();
            let set = |values: &BTreeSet<u128>| MinimizerSet::of_values(params, values.iter().copied());
            let of = |apply: fn(&mut MinimizerSet, &MinimizerSet) -> Result<(), Error>| {
                let mut result = set(&one);
                apply(&mut result, &set(&two)).unwrap();
                let found: BTreeSet<u128> = result.values().collect();
                assert_eq!(result, set(&found));
                found
            };
            prop_assert_eq!(of(MinimizerSet::unite), &one | &two);
            prop_assert_eq!(of(MinimizerSet::subtract), &one - &two);
            prop_assert_eq!(of(MinimizerSet::intersect), &one & &two);
        }

        #[test]
        fn numbers_lead_back_to_minimizers(value in any::<u128>(), half in 0usize..31) {
            let params = Params::new(2 * half + 1, 1).unwrap();
            if params.are_long() {
                let value = value & params.mask::<u128>();
                prop_assert_eq!(params.value(params.spread(value)), value);
            } else {
                let value = value as u64 & params.mask::<u64>();
                prop_assert_eq!(params.value(params.spread(value)), value);
            }
        }
    }

    #[test]
    fn different_minimizers_do_not_go_together() {
        let set = |k, w| MinimizerSet::of_values(Params::new(k, w).unwrap(), [1]);
        for (k, other) in [(5, 31), (31, 61)] {
            let message = set(k, 3).unite(&set(other, 15)).unwrap_err().to_string();
            let expected = format!("sets of k {k} and w 3 and of k {other} and w 15 ");
            assert!(message.starts_with(&expected), "{message}");
        }
    }
}
