//! Visits the k-mers of several tables, each with its counts in all of them.

use merganser_run::{Cancel, Context, Progress, Shard};
use merganser_seq::kmer::Kmer;
use merganser_seq::with_kmer;

use super::engine::{Place, Work};
use super::merge::SortedKmers;
use super::session::Session;
use crate::Error;
use crate::formats::mgk::section_bits;
use crate::tables::AnyTable;
use crate::tables::clipped::clipped;

/// A receiver of the counts of k-mers.
pub trait Visitor: Send {
    /// Takes the counts of a k-mer that some table has: its count in each table, in their order, 0 if the table does not have it.
    fn kmer(&mut self, counts: &[u32]);
}

/// Passes the counts of each k-mer that some table has, or of each k-mer of a range of `.mgk` tables, to a visitor. `make` creates one
/// visitor for each thread; they are returned at the end. The k-mers come in no particular order. The borders
/// of ranges depend only on the tables.
///
/// The progress stages are `gathering` and `computing`, in bytes of tables.
///
/// # Errors
/// Fails as [`calculate`](super::calculate) does; also if a range is requested of tables that are not `.mgk`.
pub fn visit<V: Visitor>(
    tables: &[AnyTable],
    range: Option<Shard>,
    context: &Context,
    make: impl Fn() -> V + Sync,
) -> Result<Vec<V>, Error> {
    let (progress, cancel) = (&*context.progress, &context.cancel);
    let session = Session::new(tables, tables.len() as u64, context)?;
    let done = with_kmer!(session.k, K => run::<K, V>(&session, range, &make, progress, cancel));
    progress.finish();
    cancel.over_error(done)
}

fn run<K: Kmer, V: Visitor>(
    session: &Session<'_>,
    range: Option<Shard>,
    make: &(impl Fn() -> V + Sync),
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Vec<V>, Error> {
    let ranges = match range {
        Some(range) => clipped::<K>(session.tables, session.k, range)?,
        None => session.ranges::<K>(progress, cancel)?,
    };
    let most = ranges.iter().map(|table| table.kmers()).max().unwrap_or(0);
    let engine = session.engine(&ranges, section_bits(most, session.k), progress, cancel);
    let workers = engine.run(|| Visiting { visitor: make(), counts: vec![0; ranges.len()] })?;
    Ok(workers.into_iter().map(|worker| worker.visitor).collect())
}

struct Visiting<V> {
    visitor: V,
    counts: Vec<u32>,
}

impl<K: Kmer, V: Visitor> Work<K> for Visiting<V> {
    fn range(&mut self, _place: Place, tables: &mut [SortedKmers<K>]) -> Result<bool, Error> {
        match tables {
            [one, other] => self.two(one, other),
            tables => self.any(tables),
        }
        Ok(true)
    }
}

impl<V: Visitor> Visiting<V> {
    /// Visits the k-mers of two tables, without branches that depend on the comparison of k-mers.
    fn two<K: Kmer>(&mut self, one: &[(K, u32)], other: &[(K, u32)]) {
        let (mut i, mut j) = (0, 0);
        while let (Some(&(a, count)), Some(&(b, other_count))) = (one.get(i), other.get(j)) {
            let (has_one, has_other) = (a <= b, b <= a);
            let counts = [u32::from(has_one) * count, u32::from(has_other) * other_count];
            self.visitor.kmer(&counts);
            i += usize::from(has_one);
            j += usize::from(has_other);
        }
        one[i..].iter().for_each(|&(_, count)| self.visitor.kmer(&[count, 0]));
        other[j..].iter().for_each(|&(_, count)| self.visitor.kmer(&[0, count]));
    }

    fn any<K: Kmer>(&mut self, tables: &[SortedKmers<K>]) {
        let mut next = vec![0; tables.len()];
        loop {
            let heads = tables.iter().zip(&next).filter_map(|(run, &at)| run.get(at));
            let Some(least) = heads.map(|&(kmer, _)| kmer).min() else { return };
            for ((run, next), count) in tables.iter().zip(&mut next).zip(&mut self.counts) {
                let own = run.get(*next).filter(|&&(kmer, _)| kmer == least);
                *count = own.map_or(0, |&(_, count)| count);
                *next += usize::from(own.is_some());
            }
            self.visitor.kmer(&self.counts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    struct All(Vec<Vec<u32>>);

    impl Visitor for All {
        fn kmer(&mut self, counts: &[u32]) {
            self.0.push(counts.to_vec());
        }
    }

    proptest! {
        #[test]
        fn every_kmer_is_shown_once_with_all_counts(
            tables in proptest::collection::vec(
                proptest::collection::btree_map(0u64..60, 1u32..9, 0..40), 1..4),
        ) {
            let kmers: BTreeSet<u64> = tables.iter().flat_map(BTreeMap::keys).copied().collect();
            let expected: Vec<Vec<u32>> = kmers
                .iter()
                .map(|kmer| tables.iter().map(|table| table.get(kmer).copied().unwrap_or(0)).collect())
                .collect();
            let mut runs: Vec<SortedKmers<u64>> = tables.into_iter().map(|table| table.into_iter().collect()).collect();
            let mut visiting = Visiting { visitor: All(Vec::new()), counts: vec![0; runs.len()] };
            visiting.range(Place { section: 0, last: true }, &mut runs).unwrap();
            prop_assert_eq!(visiting.visitor.0, expected);
        }
    }
}
