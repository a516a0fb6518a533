//! Masks the stretches of a read that are the host's.

use crate::lookup::Lookup;
use crate::word::Word;
use crate::{Config, Mask, Minimizers, Params};

/// A masker, with its working space.
#[derive(Debug)]
pub(super) struct Masker<W> {
    mask: Mask,
    minimizers: Minimizers,
    values: Vec<W>,
    bounds: Vec<usize>,
    asked: Vec<u32>,
    found: Vec<u32>,
    /// The letters of the last read, masked.
    letters: Vec<u8>,
}

impl<W: Word> Masker<W> {
    pub(super) fn new(mask: Mask, params: Params) -> Masker<W> {
        Masker {
            mask,
            minimizers: Minimizers::new(params),
            values: Vec::new(),
            bounds: Vec::new(),
            asked: Vec::new(),
            found: Vec::new(),
            letters: Vec::new(),
        }
    }

    /// Returns the letters of a read with all windows masked whose minimizer the host has, and the number of letters in
    /// these windows.
    pub(super) fn mask(
        &mut self,
        config: &Config,
        host: &impl Lookup<Word = W>,
        letters: &[u8],
    ) -> (&[u8], u64) {
        self.letters.clear();
        self.letters.extend_from_slice(letters);
        let bases = host.params().bases();
        // Each window by itself has one minimizer or, with letters that are not bases, none.
        letters.windows(bases).for_each(|window| self.minimizers.push(window));
        self.values.clear();
        self.bounds.clear();
        self.minimizers.take(&mut self.values, &mut self.bounds);
        self.asked.clear();
        self.asked.extend(0..self.values.len() as u32);
        self.found.clear();
        host.look_up(&self.values, &self.asked, &mut self.found);
        let (mut masked, mut masked_to) = (0, 0);
        let is_counted = |&&at: &&u32| config.counts(host.params(), self.values[at as usize]);
        for &value in self.found.iter().filter(is_counted) {
            // The bounds are the numbers of values up to and with each window.
            let from = self.bounds.partition_point(|&bound| bound <= value as usize);
            let to = from + bases;
            let new = &mut self.letters[from.max(masked_to)..to];
            masked += new.len() as u64;
            new.iter_mut().for_each(|letter| *letter = self.mask.masked(*letter));
            masked_to = to;
        }
        (&self.letters, masked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naive;
    use crate::word::by_word;
    use crate::{MinimizerLookup, MinimizerSet};
    use merganser_test_random::Random;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn windows_of_the_host_are_masked(
            seed in any::<u64>(),
            host in 60usize..150,
            letters in "[ACGTNacgt]{0,60}",
            least in prop_oneof![Just(0.0), Just(0.9)],
            (k, w) in prop_oneof![Just((5, 3)), Just((7, 1)), Just((9, 5)), Just((33, 3)), Just((41, 1))],
        ) {
            let params = Params::new(k, w).unwrap();
            let config = Config { complexity_threshold: least, ..Config::default() };
            let host = Random(seed).bases(host);
            let known: BTreeSet<u128> = naive::minimizers(params, &host).into_iter().collect();
            let set = MinimizerSet::of_values(params, known.iter().copied());
            let lookup = MinimizerLookup::from(&set);
            // A read that begins with some of the host.
            let read = [&host[..params.bases().max(30)], letters.as_bytes()].concat();
            let mut is_masked = vec![false; read.len()];
            for (at, window) in read.windows(params.bases()).enumerate() {
                let mut found = naive::minimizers(params, window).into_iter();
                let is_complex = |value| naive::complexity(params, value) >= least as f32;
                if found.any(|value| known.contains(&value) && is_complex(value)) {
                    is_masked[at..at + params.bases()].fill(true);
                }
            }
            let expected: Vec<u8> =
                read.iter().zip(&is_masked).map(|(&letter, &is)| if is { b'N' } else { letter }).collect();
            by_word!(&lookup.0, lookup => {
                let mut masker = Masker::new(Mask::N, params);
                let (found, masked) = masker.mask(&config, lookup, &read);
                prop_assert_eq!(found, &expected[..]);
                prop_assert_eq!(masked as usize, is_masked.iter().filter(|&&is| is).count());
            });
        }
    }
}
