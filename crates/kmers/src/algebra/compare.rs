//! The similarity of tables: shared k-mers, Jaccard index, containment, Mash distance.

use merganser_run::{Cancel, Context, Progress};
use merganser_seq::kmer::Kmer;
use merganser_seq::with_kmer;

use super::engine::{Place, Work};
use super::expression::Cut;
use super::merge::SortedKmers;
use super::session::Session;
use crate::Error;
use crate::formats::mgk::section_bits;
use crate::tables::AnyTable;

/// The comparison of all pairs of tables.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The length of k-mers.
    pub k: usize,
    /// The number of distinct k-mers of each table, after its cut.
    pub kmers: Vec<u64>,
    /// The sum of the counts of each table, after its cut.
    pub occurrences: Vec<u64>,
    /// Each pair once, in the order (0, 1), (0, 2), … (1, 2), …
    pub pairs: Vec<Pair>,
}

/// The k-mers that two tables share.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pair {
    /// The indexes of the two tables.
    pub tables: (usize, usize),
    /// The number of distinct k-mers that both tables have.
    pub shared: u64,
    /// The sum over these k-mers of the smaller of the two counts.
    pub shared_occurrences: u64,
}

impl Comparison {
    /// Returns the Jaccard index: the number of shared k-mers over the number of k-mers in either table; 0 if both are
    /// empty.
    pub fn jaccard(&self, pair: &Pair) -> f64 {
        let (a, b) = pair.tables;
        ratio(pair.shared, self.kmers[a] + self.kmers[b] - pair.shared)
    }

    /// Returns the weighted Jaccard index: the sum of the smaller counts over the sum of the larger ones.
    pub fn weighted_jaccard(&self, pair: &Pair) -> f64 {
        let (a, b) = pair.tables;
        let all = self.occurrences[a] + self.occurrences[b] - pair.shared_occurrences;
        ratio(pair.shared_occurrences, all)
    }

    /// Returns the number of shared k-mers over the number in the first table, and over the number in the second.
    pub fn containment(&self, pair: &Pair) -> (f64, f64) {
        let (a, b) = pair.tables;
        (ratio(pair.shared, self.kmers[a]), ratio(pair.shared, self.kmers[b]))
    }

    /// Returns the Mash distance for the exact Jaccard index j: -ln(2j / (1 + j)) / k, 0 to 1 (Ondov et al.
    /// 2016, equation 4); 1 if nothing is shared.
    pub fn mash_distance(&self, pair: &Pair) -> f64 {
        let jaccard = self.jaccard(pair);
        if jaccard == 0.0 {
            return 1.0;
        }
        // Adding 0 turns the -0 of equal tables into 0.
        (-(2.0 * jaccard / (1.0 + jaccard)).ln() / self.k as f64).clamp(0.0, 1.0) + 0.0
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Compares each table with every other one.
///
/// # Errors
/// Fails as [`calculate`](super::calculate()) does.
pub fn compare(tables: &[AnyTable], context: &Context) -> Result<Comparison, Error> {
    compare_with(tables, &vec![Cut::NONE; tables.len()], context)
}

/// Compares each table with every other one, after its cut.
///
/// # Errors
/// Fails as [`calculate`](super::calculate()) does.
pub fn compare_with(
    tables: &[AnyTable],
    cuts: &[Cut],
    context: &Context,
) -> Result<Comparison, Error> {
    let (progress, cancel) = (&*context.progress, &context.cancel);
    let session = Session::new(tables, tables.len() as u64, context)?;
    let done = with_kmer!(session.k, K => run::<K>(&session, cuts, progress, cancel));
    progress.finish();
    cancel.over_error(done)
}

fn run<K: Kmer>(
    session: &Session<'_>,
    cuts: &[Cut],
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Comparison, Error> {
    let ranges = session.ranges::<K>(progress, cancel)?;
    let most = ranges.iter().map(|table| table.kmers()).max().unwrap_or(0);
    let bits = section_bits(most, session.k);
    let engine = session.engine(&ranges, bits, progress, cancel);
    let workers = engine.run(|| Comparing::new(cuts))?;
    let mut all = Comparing::new(cuts);
    workers.iter().for_each(|worker| all.add(worker));
    let Comparing { kmers, occurrences, pairs, .. } = all;
    Ok(Comparison { k: session.k, kmers, occurrences, pairs })
}

struct Comparing<'c> {
    cuts: &'c [Cut],
    kmers: Vec<u64>,
    occurrences: Vec<u64>,
    pairs: Vec<Pair>,
}

impl<'c> Comparing<'c> {
    fn new(cuts: &'c [Cut]) -> Comparing<'c> {
        let tables = cuts.len();
        let pairs = (0..tables).flat_map(|a| (a + 1..tables).map(move |b| (a, b)));
        let pairs = pairs.map(|tables| Pair { tables, ..Pair::default() }).collect();
        Comparing { cuts, kmers: vec![0; tables], occurrences: vec![0; tables], pairs }
    }

    fn add(&mut self, other: &Comparing<'_>) {
        let sums = |ours: &mut [u64], more: &[u64]| {
            ours.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        };
        sums(&mut self.kmers, &other.kmers);
        sums(&mut self.occurrences, &other.occurrences);
        for (pair, more) in self.pairs.iter_mut().zip(&other.pairs) {
            pair.shared += more.shared;
            pair.shared_occurrences += more.shared_occurrences;
        }
    }
}

impl<K: Kmer> Work<K> for Comparing<'_> {
    fn range(&mut self, _place: Place, tables: &mut [SortedKmers<K>]) -> Result<bool, Error> {
        for (table, run) in tables.iter_mut().enumerate() {
            let cut = self.cuts[table];
            if cut != Cut::NONE {
                run.retain(|&(_, count)| cut.keeps(count));
            }
            self.kmers[table] += run.len() as u64;
            self.occurrences[table] += run.iter().map(|&(_, count)| u64::from(count)).sum::<u64>();
        }
        for pair in &mut self.pairs {
            let (shared, occurrences) = common(&tables[pair.tables.0], &tables[pair.tables.1]);
            pair.shared += shared;
            pair.shared_occurrences += occurrences;
        }
        Ok(true)
    }
}

/// Returns the number of k-mers in both arrays and the sum of their smaller counts.
fn common<K: Kmer>(a: &[(K, u32)], b: &[(K, u32)]) -> (u64, u64) {
    let (mut i, mut j, mut shared, mut occurrences) = (0, 0, 0u64, 0u64);
    while i < a.len() && j < b.len() {
        let ((left, left_count), (right, right_count)) = (a[i], b[j]);
        let (not_after, not_before) = (left <= right, right <= left);
        let equal = u64::from(not_after & not_before);
        shared += equal;
        occurrences += equal * u64::from(left_count.min(right_count));
        i += usize::from(not_after);
        j += usize::from(not_before);
    }
    (shared, occurrences)
}
