//! Het-mers: pairs of k-mers that differ only in their middle base ([`hetmers`]) or in any base
//! ([`hetmers_anywhere`]), as two haplotypes have them where they differ in one base. The counts of both tell how many haplotypes have the one and the other
//! (Ranallo-Benavidez et al. 2020, Smudgeplot).
//!
//! The two k-mers of a pair have the same first half, so they are close together among sorted k-mers. Those
//! with the same first half form four runs, one for each middle base, which are merged by their last halves.

mod anywhere;
mod neighbours;
mod records;

use std::collections::{BTreeMap, HashMap};

use merganser_run::{Cancel, Context, Progress};
use merganser_seq::kmer::Kmer;
use merganser_seq::with_kmer;

use crate::Error;
use crate::algebra::{Cut, Place, Session, Work};
use crate::description::FORWARD_ONLY;
use crate::formats::mgk::section_bits;
use crate::tables::AnyTable;

pub use anywhere::{Anywhere, HetPair, MAX_SUM, hetmers_anywhere};

/// The number of pairs with each two counts, the smaller count first.
pub type Pairs = BTreeMap<(u32, u32), u64>;

/// Finds all pairs of k-mers of `table` that differ only in the middle base of an odd k. Only k-mers with
/// counts that `cut` keeps are considered, and no third k-mer may differ from a pair in the same base.
///
/// The progress stages are `gathering` and `computing`, in bytes of the table.
///
/// # Errors
/// If k is even or 1, the table is not canonical or cannot be read, memory is too small, or the run was
/// cancelled ([`Error::Cancelled`]).
pub fn hetmers(table: &AnyTable, cut: Cut, context: &Context) -> Result<Pairs, Error> {
    let (progress, cancel) = (&*context.progress, &context.cancel);
    let k = table.description().k;
    if k.is_multiple_of(2) || k < 3 {
        let reason = format!(
            "its k is {k}: pairs of k-mers need an odd k of 3 or more, for a base in the middle"
        );
        return Err(Error::Table { path: table.path().to_owned(), reason });
    }
    canonical_only(table)?;
    let session = Session::new(std::slice::from_ref(table), 2, context)?;
    let done = with_kmer!(k, K => run::<K>(&session, cut, progress, cancel));
    progress.finish();
    cancel.over_error(done)
}

/// Returns an error for a table of k-mers of the forward strand.
fn canonical_only(table: &AnyTable) -> Result<(), Error> {
    if table.description().canonical {
        return Ok(());
    }
    let reason = FORWARD_ONLY.into();
    Err(Error::Table { path: table.path().to_owned(), reason })
}

fn run<K: Kmer>(
    session: &Session<'_>,
    cut: Cut,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Pairs, Error> {
    let ranges = session.ranges::<K>(progress, cancel)?;
    // A section must not end among k-mers with the same first half.
    let bits = section_bits(ranges[0].kmers(), session.k).min(session.k as u32 - 1);
    let engine = session.engine(&ranges, bits, progress, cancel);
    let workers =
        engine.run(|| Pairing { k: session.k, cut, open: Vec::new(), pairs: HashMap::new() })?;
    let mut pairs = Pairs::new();
    for (counts, number) in workers.into_iter().flat_map(|worker| worker.pairs) {
        *pairs.entry(counts).or_default() += number;
    }
    Ok(pairs)
}

/// The state of a worker.
struct Pairing<K> {
    k: usize,
    cut: Cut,
    /// The current k-mers with the same first half.
    open: Vec<(K, u32)>,
    pairs: HashMap<(u32, u32), u64>,
}

impl<K: Kmer> Work<K> for Pairing<K> {
    fn range(&mut self, place: Place, tables: &mut [Vec<(K, u32)>]) -> Result<bool, Error> {
        // The number of bits of the middle base and the last half.
        let (rest, cut) = (self.k as u32 + 1, self.cut);
        for &(kmer, count) in tables[0].iter().filter(|(_, count)| cut.keeps(*count)) {
            if self.open.last().is_some_and(|last| last.0.shr(rest) != kmer.shr(rest)) {
                self.close();
            }
            self.open.push((kmer, count));
        }
        if place.last {
            self.close();
        }
        Ok(true)
    }
}

impl<K: Kmer> Pairing<K> {
    /// Finds the pairs among the k-mers with the same first half.
    fn close(&mut self) {
        let half = self.k as u32 - 1;
        let last = K::from_low(1).shl(half).sub(K::from_low(1));
        let base = |kmer: K| kmer.shr(half).low() & 3;
        let ends =
            [0, 1, 2, 3].map(|letter| self.open.partition_point(|&(kmer, _)| base(kmer) <= letter));
        let [a, b, c, _] = ends;
        let mut runs = [&self.open[..a], &self.open[a..b], &self.open[b..c], &self.open[c..]];
        loop {
            let heads = runs.map(|run| run.first().map(|&(kmer, _)| kmer.and(last)));
            let Some(least) = heads.into_iter().flatten().min() else { break };
            let mut counts = [0; 4];
            let mut number = 0;
            for (run, head) in runs.iter_mut().zip(heads) {
                if head == Some(least) {
                    counts[number] = run[0].1;
                    number += 1;
                    *run = &run[1..];
                }
            }
            if number == 2 {
                let [one, other, ..] = counts;
                *self.pairs.entry((one.min(other), one.max(other))).or_default() += 1;
            }
        }
        self.open.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Finds pairs by the definition: compares each k-mer with all that differ in the middle base.
    fn naive(kmers: &BTreeMap<u64, u32>, k: usize) -> Pairs {
        let mut pairs = Pairs::new();
        for (&kmer, &count) in kmers {
            let others: Vec<u32> = (1..4u64)
                .filter_map(|other| kmers.get(&(kmer ^ other << (k - 1))).copied())
                .collect();
            if let [other] = others[..] {
                *pairs.entry((count.min(other), count.max(other))).or_default() += 1;
            }
        }
        // Each pair was found from both sides.
        pairs.values_mut().for_each(|number| *number /= 2);
        pairs
    }

    proptest! {
        #[test]
        fn pairs_are_those_of_the_definition(
            kmers in proptest::collection::btree_map(0u64..1 << 14, 1u32..5, 0..400),
            cuts in proptest::collection::vec(0usize..400, 0..4),
        ) {
            let k = 7;
            let expected = naive(&kmers, k);
            let all: Vec<(u64, u32)> = kmers.into_iter().collect();
            let mut pairing = Pairing { k, cut: Cut::NONE, open: Vec::new(), pairs: HashMap::new() };
            // Several ranges of one section.
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|&cut| cut < all.len()).collect();
            cuts.sort_unstable();
            cuts.push(all.len());
            let (mut from, ranges) = (0, cuts.len());
            for (at, to) in cuts.into_iter().enumerate() {
                let place = Place::of(0, at + 1 == ranges);
                pairing.range(place, &mut [all[from..to].to_vec()]).unwrap();
                from = to;
            }
            prop_assert_eq!(pairing.pairs.into_iter().collect::<Pairs>(), expected);
        }
    }
}
