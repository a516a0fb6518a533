//! The minimizers of a host, for look-ups: short ones in [lines](crate::host), long ones [sorted](crate::sorted).

use crate::host::LineLookup;
use crate::sorted::SortedLookup;
use crate::word::{ByWord, Word, by_word};
use crate::{MinimizerSet, Params};

/// The number of look-ups whose memory is prefetched together.
pub(crate) const TOGETHER: usize = 32;

/// A set of minimizers for look-ups.
pub(crate) trait Lookup: Sync {
    /// The integer that holds a minimizer.
    type Word: Word;

    fn params(&self) -> Params;

    /// Returns the number of minimizers.
    fn len(&self) -> usize;

    /// Returns the memory of the minimizers, in bytes.
    fn bytes(&self) -> u64;

    /// Whether the set contains a minimizer.
    fn contains(&self, value: Self::Word) -> bool;

    /// Looks up the values at the indices `asked`, and appends the indices of those that the set contains to `found`.
    fn look_up(&self, values: &[Self::Word], asked: &[u32], found: &mut Vec<u32>);
}

/// The minimizers of a host, for look-ups.
#[derive(Clone, Debug)]
pub struct MinimizerLookup(pub(crate) ByWord<LineLookup, SortedLookup>);

impl MinimizerLookup {
    /// Returns the parameters of the minimizers.
    pub fn params(&self) -> Params {
        by_word!(&self.0, lookup => lookup.params())
    }

    /// Returns the number of minimizers.
    pub fn len(&self) -> usize {
        by_word!(&self.0, lookup => lookup.len())
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the memory of the minimizers, in bytes.
    pub fn bytes(&self) -> u64 {
        by_word!(&self.0, lookup => lookup.bytes())
    }

    /// Whether the set contains a minimizer, given as by [`values`](MinimizerSet::values).
    pub fn contains(&self, value: u128) -> bool {
        by_word!(&self.0, lookup => lookup.contains(Word::truncated(value)))
    }
}

impl From<&MinimizerSet> for MinimizerLookup {
    fn from(set: &MinimizerSet) -> MinimizerLookup {
        let params = set.params();
        MinimizerLookup(match set.numbers() {
            ByWord::Short(numbers) => ByWord::Short(LineLookup::new(params, numbers)),
            ByWord::Long(numbers) => ByWord::Long(SortedLookup::new(params, numbers.clone())),
        })
    }
}
