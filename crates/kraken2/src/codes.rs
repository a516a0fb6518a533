//! Sets of codes of minimizers: a hash set while there are few codes, a bit set when there are many.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

/// Upper bits of a code that are taken from a hash. A code with data in its lowest bits as well is odd.
pub(super) const CODE_BITS: u32 = 25;
/// The size at which a set of even codes becomes a bit set of 4 MiB, about as much memory as the hash set takes.
const MAX_FEW: usize = if cfg!(test) { 1 << 11 } else { 1 << 18 };

type Few = HashSet<u32, BuildHasherDefault<CodeHasher>>;

/// A hasher for codes, which are hashes already: their upper bits are spread over a word, as the lowest are mostly 0.
#[derive(Debug, Default)]
pub(super) struct CodeHasher(u64);

impl Hasher for CodeHasher {
    fn finish(&self) -> u64 {
        // Hash sets choose a bucket by the lower bits, which in a product depend only on lower bits.
        self.0.rotate_left(32)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(u32::from(byte)));
    }

    fn write_u32(&mut self, code: u32) {
        self.0 = (self.0 ^ u64::from(code)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// A set of codes.
#[derive(Clone, Debug, Default)]
pub(super) struct Codes {
    few: Few,
    many: Option<Many>,
}

/// Even codes as a bit set, with a bit for each possible code.
#[derive(Clone, Debug)]
struct Many {
    bits: Box<[u64]>,
    len: usize,
}

impl Many {
    fn place(code: u32) -> (usize, u64) {
        let number = code >> (32 - CODE_BITS);
        (number as usize / 64, 1 << (number % 64))
    }

    fn insert(&mut self, code: u32) -> bool {
        let (word, bit) = Many::place(code);
        let new = self.bits[word] & bit == 0;
        self.bits[word] |= bit;
        self.len += usize::from(new);
        new
    }
}

impl Codes {
    /// Returns the number of codes in the set.
    pub(super) fn len(&self) -> usize {
        self.few.len() + self.many.as_ref().map_or(0, |many| many.len)
    }

    /// Whether the set contains a code.
    pub(super) fn contains(&self, code: u32) -> bool {
        match &self.many {
            Some(many) if code & 1 == 0 => {
                let (word, bit) = Many::place(code);
                many.bits[word] & bit != 0
            }
            _ => self.few.contains(&code),
        }
    }

    /// Adds a code and returns whether it is new.
    pub(super) fn insert(&mut self, code: u32) -> bool {
        match &mut self.many {
            Some(many) if code & 1 == 0 => many.insert(code),
            _ => {
                let new = self.few.insert(code);
                if self.many.is_none() && self.few.len() > MAX_FEW {
                    self.make_many();
                }
                new
            }
        }
    }

    fn make_many(&mut self) {
        let mut many = Many { bits: vec![0; (1 << CODE_BITS) / 64].into(), len: 0 };
        self.few.retain(|&code| code & 1 == 1 || !many.insert(code));
        self.few.shrink_to_fit();
        self.many = Some(many);
    }

    /// Calls `each` with all codes, in no particular order.
    pub(super) fn for_each(&self, mut each: impl FnMut(u32)) {
        self.few.iter().for_each(|&code| each(code));
        let Some(many) = &self.many else { return };
        for (word, &bits) in many.bits.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let number = 64 * word as u32 + bits.trailing_zeros();
                each(number << (32 - CODE_BITS));
                bits &= bits - 1;
            }
        }
    }

    /// Adds all codes of another set.
    pub(super) fn merge(&mut self, mut other: Codes) {
        if self.len() < other.len() {
            std::mem::swap(self, &mut other);
        }
        match (&mut self.many, &other.many) {
            (Some(own), Some(others)) => {
                own.len = 0;
                for (own_bits, bits) in own.bits.iter_mut().zip(&others.bits) {
                    *own_bits |= bits;
                    own.len += own_bits.count_ones() as usize;
                }
                self.few.extend(other.few);
            }
            _ => other.for_each(|code| {
                self.insert(code);
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Even codes with many duplicates, and some odd codes.
    fn codes() -> impl Strategy<Value = Vec<u32>> {
        let even = (0u32..6000).prop_map(|number| number.wrapping_mul(0x9e37_79b1) >> 7 << 7);
        let odd = (0u32..4096, 1u32..40).prop_map(|(index, rank)| index << 20 | rank << 1 | 1);
        let few =
            proptest::collection::vec(prop_oneof![20 => even.clone(), 1 => odd.clone()], 0..9);
        let many = proptest::collection::vec(prop_oneof![20 => even, 1 => odd], 2000..6000);
        prop_oneof![few, many]
    }

    fn all(codes: &Codes) -> BTreeSet<u32> {
        let mut all = BTreeSet::new();
        codes.for_each(|code| assert!(all.insert(code)));
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn they_are_sets(one in codes(), other in codes()) {
            let mut expected = BTreeSet::new();
            let mut sets = [Codes::default(), Codes::default()];
            for &code in &one {
                prop_assert_eq!(sets[0].insert(code), expected.insert(code));
            }
            prop_assert_eq!(&all(&sets[0]), &expected);
            for &code in &other {
                prop_assert_eq!(sets[0].contains(code), expected.contains(&code));
                sets[1].insert(code);
            }
            expected.extend(&other);
            let [mut own, other] = sets;
            own.merge(other);
            prop_assert_eq!(own.len(), expected.len());
            prop_assert_eq!(all(&own), expected);
        }
    }
}
