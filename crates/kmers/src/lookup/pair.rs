//! Two tables in which the same k-mers are looked up.

use std::sync::Mutex;

use merganser_run::locks::lock;
use merganser_run::{Context, each};

use super::{Lookup, LookupOptions, open_lookup, room};
use crate::Error;
use crate::tables::AnyTable;

/// Two tables with k-mers of the same length. [`Lookup::counts`] gives two counts for each k-mer: that in the first
/// table, then that in the second.
pub struct Pair<'p> {
    tables: [Box<dyn Lookup>; 2],
    context: &'p Context,
}

impl<'p> Pair<'p> {
    /// Prepares two tables, each within half of the memory. If only one of them then keeps all threads busy in each call,
    /// they also share the look-ups in the other.
    ///
    /// The progress stages are those of [`open_lookup`].
    ///
    /// # Errors
    /// Fails as [`open_lookup`] does.
    pub fn open(tables: [AnyTable; 2], options: &LookupOptions<'p>) -> Result<Pair<'p>, Error> {
        let held = tables.each_ref().map(|table| table.resident(options.context.threads));
        let half = room(&tables[0], options).saturating_sub(held[1]).div_ceil(2);
        let within_half = |table, held: u64| {
            let reserved = options.reserved + held + half;
            open_lookup(table, &LookupOptions { reserved, ..*options })
        };
        let [one, other] = tables;
        let tables = [within_half(one, held[1])?, within_half(other, held[0])?];
        Ok(Pair::new(tables, options.context))
    }

    /// Combines two tables.
    fn new(tables: [Box<dyn Lookup>; 2], context: &'p Context) -> Pair<'p> {
        debug_assert_eq!(tables[0].k(), tables[1].k());
        Pair { tables, context }
    }

    /// Looks up all k-mers in one of the tables.
    fn counts_in(
        &self,
        table: &dyn Lookup,
        letters: &[u8],
        stride: usize,
        counts: &mut Vec<u32>,
    ) -> Result<(), Error> {
        if table.takes_all_threads() || !self.takes_all_threads() {
            return table.counts(letters, stride, counts);
        }
        counts.clear();
        counts.resize(letters.len().div_ceil(stride), 0);
        let places = (table.letters_at_once() / stride).max(1);
        let parts: Vec<_> = counts.chunks_mut(places).enumerate().map(Mutex::new).collect();
        let Context { threads, cancel, .. } = self.context;
        let done = each(*threads, 0..parts.len(), cancel, |numbers| {
            let mut found = Vec::new();
            for part in numbers {
                let mut part = lock(&parts[part]);
                let (number, counts) = &mut *part;
                let start = *number * places * stride;
                let end = (start + (counts.len() - 1) * stride + self.k()).min(letters.len());
                table.counts(&letters[start..end], stride, &mut found)?;
                counts.copy_from_slice(&found[..counts.len()]);
            }
            Ok(())
        });
        done.map(drop)
    }
}

impl Lookup for Pair<'_> {
    fn k(&self) -> usize {
        self.tables[0].k()
    }

    fn width(&self) -> usize {
        2
    }

    fn letters_at_once(&self) -> usize {
        let [one, other] = self.tables.each_ref().map(|table| table.letters_at_once());
        one.min(other)
    }

    fn resident_bytes(&self) -> Option<u64> {
        let [one, other] = self.tables.each_ref().map(|table| table.resident_bytes());
        Some(one? + other?)
    }

    fn takes_all_threads(&self) -> bool {
        self.tables.iter().any(|table| table.takes_all_threads())
    }

    fn counts(&self, letters: &[u8], stride: usize, counts: &mut Vec<u32>) -> Result<(), Error> {
        let mut found: [Vec<u32>; 2] = Default::default();
        for (table, found) in self.tables.iter().zip(&mut found) {
            self.counts_in(&**table, letters, stride, found)?;
        }
        let [one, other] = &found;
        counts.clear();
        counts.extend(one.iter().zip(other).flat_map(|(&one, &other)| [one, other]));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LookupOptions, Use, open_lookup};
    use super::*;
    use crate::tables::AnyTable;
    use proptest::prelude::*;

    /// A table that pretends to keep all threads busy.
    struct Busy(Box<dyn Lookup>);

    impl Lookup for Busy {
        fn k(&self) -> usize {
            self.0.k()
        }

        fn letters_at_once(&self) -> usize {
            self.0.letters_at_once()
        }

        fn takes_all_threads(&self) -> bool {
            true
        }

        fn counts(&self, letters: &[u8], stride: usize, to: &mut Vec<u32>) -> Result<(), Error> {
            self.0.counts(letters, stride, to)
        }
    }

    /// A table that should be queried for few letters at a time.
    struct Small(Box<dyn Lookup>);

    impl Lookup for Small {
        fn k(&self) -> usize {
            self.0.k()
        }

        fn letters_at_once(&self) -> usize {
            5
        }

        fn takes_all_threads(&self) -> bool {
            false
        }

        fn counts(&self, letters: &[u8], stride: usize, to: &mut Vec<u32>) -> Result<(), Error> {
            self.0.counts(letters, stride, to)
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn each_k_mer_has_the_counts_of_both_tables(
            letters in proptest::collection::vec(proptest::sample::select(&b"ACGTN"[..]), 0..80),
            stride in 1usize..5,
            threads in 1usize..4,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let context = Context::new().threads(threads).memory(256 << 20);
            let open = |name: &str, text: &str| {
                let path = folder.path().join(name);
                std::fs::write(&path, text).unwrap();
                let table = AnyTable::open(&path).unwrap();
                let options = LookupOptions { purpose: Use::Reads, ..LookupOptions::new(&context) };
                open_lookup(table, &options).unwrap()
            };
            let one = || open("one", "ACG\t4\nCCA\t2\nAAA\t9\n");
            let other = || open("other", "ACG\t3\nCAC\t1\nGGA\t7\n");
            let (mut counts, mut of_one, mut of_other) = (Vec::new(), Vec::new(), Vec::new());
            one().counts(&letters, stride, &mut of_one).unwrap();
            other().counts(&letters, stride, &mut of_other).unwrap();
            let both: Vec<u32> =
                of_one.iter().zip(&of_other).flat_map(|(&one, &other)| [one, other]).collect();
            let pairs: [[Box<dyn Lookup>; 2]; 3] = [
                [one(), other()],
                [Box::new(Busy(one())), Box::new(Small(other()))],
                [Box::new(Small(one())), Box::new(Busy(other()))],
            ];
            for pair in pairs {
                Pair::new(pair, &context).counts(&letters, stride, &mut counts).unwrap();
                prop_assert_eq!(&counts, &both);
            }
        }
    }
}
