//! Het-mers that differ in any base, by the rule of Smudgeplot 0.5: two k-mers are a pair if they differ in one
//! base, on either strand, and neither differs in one base from any other k-mer of the table.
//!
//! K-mers of both strands are sorted. Those that differ in their last half have the same first half, so they are
//! close together; those that differ in their first half do so in the last half of the other strand. The k-mers with
//! a partner, which are few, are scattered by hash twice: first to find the k-mers with only one partner, then
//! to find the pairs in which both are such.

use std::sync::atomic::{AtomicU64, Ordering};

use merganser_run::{Budget, Cancel, Context, Progress, Shortage, each, each_in_order};
use merganser_seq::kmer::Kmer;
use merganser_seq::with_kmer;
use merganser_store::Scattering;

use super::neighbours::{Member, neighbours};
use super::records::{Partner, PartnerRecords, Partners, by_kmer};
use super::{Pairs, canonical_only};
use crate::Error;
use crate::algebra::{Cut, Place, Session, Work};
use crate::formats::mgk::section_bits;
use crate::gathered::{Gathered, Gathering};
use crate::ranges::Ranges;
use crate::tables::AnyTable;

/// The largest sum of the counts of two k-mers that are compared, as in Smudgeplot: more are from repeats or
/// organelles.
pub const MAX_SUM: u32 = 1000;

/// The number of partners of a k-mer from which on further ones do not matter.
const SEVERAL: u8 = 2;

/// Pairs of k-mers that differ in any base.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Anywhere {
    /// The pairs by their counts.
    pub pairs: Pairs,
    /// The k-mers whose partner is their own reverse complement, which differs only in the middle base of an odd
    /// k. They are not among [`pairs`](Self::pairs).
    pub with_itself: Pairs,
}

/// Two k-mers of a pair, on the same strand.
#[derive(Clone, Copy, Debug)]
pub struct HetPair<'a> {
    /// The letters of the rarer k-mer (of the smaller one if both have the same count), which is canonical, and those
    /// of the other one.
    pub kmers: [&'a [u8]; 2],
    /// The counts, in the same order.
    pub counts: [u32; 2],
}

/// Finds all pairs of k-mers of `table` that differ in any one base, on either strand. Only k-mers with counts that
/// `cut` keeps are considered, and only pairs with counts whose sum is at most [`MAX_SUM`]. Neither k-mer has another
/// partner. `take` gets each pair, in an order that depends only on the table.
///
/// The progress stages are `gathering` and `computing`, in bytes of the table.
///
/// # Errors
/// If k is 1, the table is not canonical or cannot be read, memory is too small, `take` fails, or the run was cancelled
/// ([`Error::Cancelled`]).
pub fn hetmers_anywhere(
    table: &AnyTable,
    cut: Cut,
    context: &Context,
    mut take: impl FnMut(HetPair<'_>) -> Result<(), Error>,
) -> Result<Anywhere, Error> {
    let (progress, cancel) = (&*context.progress, &context.cancel);
    let k = table.description().k;
    if k < 2 {
        let reason = format!("its k is {k}: pairs of k-mers need a k of 2 or more");
        return Err(Error::Table { path: table.path().to_owned(), reason });
    }
    canonical_only(table)?;
    let session = Session::with_gatherings(std::slice::from_ref(table), 2, 3, context)?;
    let search = Search { session: &session, cut, progress, cancel };
    let done = with_kmer!(k, K => search.run::<K>(&mut take));
    progress.finish();
    cancel.over_error(done)
}

/// The parameters of a search.
struct Search<'s> {
    session: &'s Session<'s>,
    cut: Cut,
    progress: &'s dyn Progress,
    cancel: &'s Cancel,
}

impl Search<'_> {
    fn run<K: Kmer>(
        &self,
        take: &mut impl FnMut(HetPair<'_>) -> Result<(), Error>,
    ) -> Result<Anywhere, Error> {
        let strands = self.strands::<K>()?;
        let partners = self.partners(strands)?;
        let pairs = self.only_partners(partners)?;
        self.pairs(&pairs, take)
    }

    /// Gathers the k-mers of both strands.
    fn strands<K: Kmer>(&self) -> Result<Gathered<'_, K>, Error> {
        let session = self.session;
        let ranges = session.ranges::<K>(self.progress, self.cancel)?;
        let table = &session.tables[0];
        let (description, sorting) = (table.description(), session.sorting_bytes());
        let gathered = Gathered::new(table.path(), description, session.pool(), sorting);
        let bits = section_bits(ranges[0].kmers(), session.k);
        let engine = session.engine(&ranges, bits, self.progress, self.cancel);
        let (k, cut) = (session.k, self.cut);
        let workers = engine.run(|| BothStrands { k, cut, writer: gathered.writer() })?;
        workers.into_iter().try_for_each(|worker| worker.writer.finish())?;
        Ok(gathered.gathered())
    }

    /// Finds the k-mers with partners. Each gets a record for each partner, up to [`SEVERAL`] or a few more.
    fn partners<K: Kmer>(&self, strands: Gathered<'_, K>) -> Result<Partners<'_, K>, Error> {
        let (session, k) = (self.session, self.session.k);
        let partners = Partners::new(PartnerRecords::default(), session.pool());
        let ranges: Vec<Box<dyn Ranges<K> + '_>> = vec![Box::new(strands)];
        // A section must not end among k-mers with the same first half.
        let bits = section_bits(ranges[0].kmers(), k).min(2 * (k as u32 / 2));
        let engine = session.engine(&ranges, bits, self.progress, self.cancel);
        let room = Room::new(session, ranges[0].kmers());
        let workers = engine.run(|| Searching::new(k, &room, partners.writer()))?;
        workers.into_iter().try_for_each(|worker| worker.writer.finish())?;
        Ok(partners)
    }

    /// Selects the k-mers that have only one partner, under the smaller k-mer of both.
    fn only_partners<K: Kmer>(&self, partners: Partners<'_, K>) -> Result<Partners<'_, K>, Error> {
        let (session, k) = (self.session, self.session.k);
        let pairs = Partners::new(PartnerRecords::default(), session.pool());
        let most = self.most_records::<K>();
        each(session.context.threads, 0..partners.ranges(), self.cancel, |ranges| {
            let mut writer = pairs.writer();
            for range in ranges {
                by_kmer(&partners, range, most, |group| {
                    let [partner] = *group else { return Ok(()) };
                    let other = partner.of_other_strand(k);
                    if partner.kmer == other.kmer {
                        // Its partner is itself, so it is also the partner of its partner.
                        writer.keep(partner)?;
                    }
                    let smaller = if partner.kmer < other.kmer { partner } else { other };
                    Ok(writer.keep(smaller)?)
                })?;
            }
            Ok::<_, Error>(writer.finish()?)
        })?;
        Ok(pairs)
    }

    /// Counts the pairs of which both k-mers have only one partner: these have two equal records.
    fn pairs<K: Kmer>(
        &self,
        records: &Partners<'_, K>,
        take: &mut impl FnMut(HetPair<'_>) -> Result<(), Error>,
    ) -> Result<Anywhere, Error> {
        let (session, k) = (self.session, self.session.k);
        let most = self.most_records::<K>();
        let mut found = Anywhere::default();
        let mut letters = Vec::new();
        let mut from = 0;
        while from < records.ranges() {
            let to = self.at_once::<K>(records, from);
            let work = |(): &mut (), range| twice(records, range, most);
            let threads = session.context.threads;
            for pair in each_in_order(threads, from..to, self.cancel, || (), work)?.iter().flatten()
            {
                let other = pair.of_other_strand(k);
                let pairs =
                    if other.kmer == pair.kmer { &mut found.with_itself } else { &mut found.pairs };
                let rarer = if other.count < pair.count { other } else { *pair };
                let counts = [rarer.count, rarer.other_count].map(u32::from);
                *pairs.entry((counts[0], counts[1])).or_default() += 1;
                letters.clear();
                rarer.kmer.write_letters(k, &mut letters);
                rarer.other().write_letters(k, &mut letters);
                let (one, other) = letters.split_at(k);
                take(HetPair { kmers: [one, other], counts })?;
            }
            from = to;
        }
        Ok(found)
    }

    /// Returns the number of records that a worker sorts at a time.
    fn most_records<K: Kmer>(&self) -> u64 {
        self.session.sorting_bytes() / size_of::<(u64, Partner<K>)>() as u64
    }

    /// Returns the end of the ranges from `from` on whose pairs are in memory together.
    fn at_once<K: Kmer>(&self, records: &Partners<'_, K>, from: usize) -> usize {
        let mut left = self.most_records::<K>();
        let mut to = from;
        loop {
            left = left.saturating_sub(records.len(to));
            to += 1;
            if to == records.ranges() || left < records.len(to) {
                return to;
            }
        }
    }
}

/// Returns the records of a range that are there twice.
fn twice<K: Kmer>(
    records: &Partners<'_, K>,
    range: usize,
    most: u64,
) -> Result<Vec<Partner<K>>, Error> {
    let mut found = Vec::new();
    by_kmer(records, range, most, |group| {
        let equal = group.chunk_by(|one, other| one == other).filter(|equal| equal.len() > 1);
        found.extend(equal.map(|equal| equal[0]));
        Ok(())
    })?;
    Ok(found)
}

/// Gathers k-mers and their reverse complements.
struct BothStrands<'g, 'p, K> {
    k: usize,
    cut: Cut,
    writer: Gathering<'g, 'p, K>,
}

impl<K: Kmer> Work<K> for BothStrands<'_, '_, K> {
    fn range(&mut self, _place: Place, tables: &mut [Vec<(K, u32)>]) -> Result<bool, Error> {
        let keeps = |count| count < MAX_SUM && self.cut.keeps(count);
        for &(kmer, count) in tables[0].iter().filter(|(_, count)| keeps(*count)) {
            self.writer.add(kmer, count)?;
            let complement = kmer.reverse_complement(self.k);
            if complement != kmer {
                self.writer.add(complement, count)?;
            }
        }
        Ok(true)
    }
}

/// The memory for k-mers with the same first half, of all workers together.
struct Room {
    left: AtomicU64,
    budget: u64,
    /// The maximum number of k-mers that all workers hold at the same time.
    most: u64,
}

impl Room {
    /// The number of k-mers for which memory is taken at a time.
    const STEP: usize = 1 << 12;

    fn new(session: &Session<'_>, kmers: u64) -> Room {
        // The search writes no table.
        let left = AtomicU64::new(session.waiting_bytes());
        let of_worker = 1u64.checked_shl(2 * session.k.div_ceil(2) as u32).unwrap_or(u64::MAX);
        let of_all = of_worker.saturating_mul(session.context.threads as u64);
        Room { left, budget: session.context.budget(), most: of_all.min(kmers) }
    }

    /// Returns the memory of `kmers` k-mers, in bytes, while the array that has them grows.
    fn bytes<K>(kmers: u64) -> u64 {
        kmers.saturating_mul(3 * size_of::<Member<K>>() as u64 + 1)
    }

    /// Takes the memory of another [`STEP`](Self::STEP) k-mers.
    fn take<K>(&self) -> Result<(), Shortage> {
        let step = Room::bytes::<K>(Room::STEP as u64);
        let less = |left: u64| left.checked_sub(step);
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok() {
            return Ok(());
        }
        // An eighth of the memory is for them.
        let more = Room::bytes::<K>(self.most.saturating_add(Room::STEP as u64)).saturating_mul(8);
        let needed = Budget::of_part(self.budget).with(self.budget).with(more);
        Err(needed.shortage("k-mers with the same first half need", Shortage::FEWER_THREADS))
    }
}

/// Finds partners among the k-mers of both strands.
struct Searching<'s, 'p, K> {
    k: usize,
    room: &'s Room,
    /// The number of k-mers for which memory was taken.
    taken: usize,
    /// The current k-mers with the same first half.
    open: Vec<Member<K>>,
    /// The number of records of each.
    records: Vec<u8>,
    writer: Scattering<'s, 'p, PartnerRecords<K>>,
}

impl<K: Kmer> Work<K> for Searching<'_, '_, K> {
    fn range(&mut self, place: Place, tables: &mut [Vec<(K, u32)>]) -> Result<bool, Error> {
        let rest = self.rest();
        for &(kmer, count) in &tables[0] {
            if self.open.last().is_some_and(|last| last.kmer.shr(rest) != kmer.shr(rest)) {
                self.close()?;
            }
            if self.open.len() == self.taken {
                self.room.take::<K>()?;
                self.taken += Room::STEP;
            }
            self.open.push(Member { kmer, count, index: self.open.len() as u32 });
        }
        if place.last {
            self.close()?;
        }
        Ok(true)
    }
}

impl<'s, 'p, K: Kmer> Searching<'s, 'p, K> {
    fn new(k: usize, room: &'s Room, writer: Scattering<'s, 'p, PartnerRecords<K>>) -> Self {
        Searching { k, room, taken: 0, open: Vec::new(), records: Vec::new(), writer }
    }

    /// Returns the number of bits of the last half, with the middle base of an odd k.
    fn rest(&self) -> u32 {
        2 * self.k.div_ceil(2) as u32
    }

    /// Finds the partners among the k-mers with the same first half.
    fn close(&mut self) -> Result<(), Error> {
        let rest = self.rest();
        let mut done = Ok(());
        if self.open.len() > 1 {
            self.records.clear();
            self.records.resize(self.open.len(), 0);
            let Searching { k, open, records, writer, .. } = self;
            neighbours(open, 0..rest, &mut |one, other, right| {
                if one.count.saturating_add(other.count) <= MAX_SUM && done.is_ok() {
                    for (one, other) in [(one, other), (other, one)] {
                        let number = &mut records[one.index as usize];
                        if *number < SEVERAL && done.is_ok() {
                            done = keep(*k, (one, other), right, number, writer);
                        }
                    }
                }
            });
        }
        self.open.clear();
        done
    }
}

/// Adds `one`, in canonical form, with its partner `other`, and adds to `number` the records that this takes.
fn keep<K: Kmer>(
    k: usize,
    (one, other): (&Member<K>, &Member<K>),
    right: u32,
    number: &mut u8,
    writer: &mut Scattering<'_, '_, PartnerRecords<K>>,
) -> Result<(), Error> {
    let base = |member: &Member<K>| member.kmer.shr(right).low() & 3;
    let change = (base(one) ^ base(other)) as u8;
    let [count, other_count] = [one, other].map(|member| member.count as u16);
    let partner = Partner { kmer: one.kmer, right: right as u8, change, count, other_count };
    let complement = partner.reverse_complement(k);
    // The middle base is in the last half on both strands.
    let is_middle = right as usize + 1 == k;
    if is_middle && complement.kmer < partner.kmer {
        return Ok(());
    }
    // A k-mer that is its own reverse complement has the reverse complement of its partner as a partner, too.
    let times = if complement.kmer == partner.kmer { 2 } else { 1 };
    *number += times;
    let canonical = if complement.kmer < partner.kmer { complement } else { partner };
    (0..times).try_for_each(|_| Ok(writer.keep(canonical)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::open_tables;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::fmt::Write;

    type Counts = BTreeMap<Vec<u8>, u32>;
    /// The counts of a pair, and both k-mers in canonical form, the smaller one first.
    type Found = Vec<((u32, u32), [Vec<u8>; 2])>;

    fn complement(kmer: &[u8]) -> Vec<u8> {
        kmer.iter()
            .rev()
            .map(|base| b"TGCA"[b"ACGT".iter().position(|letter| letter == base).unwrap()])
            .collect()
    }

    fn canonical(kmer: &[u8]) -> Vec<u8> {
        complement(kmer).min(kmer.to_vec())
    }

    /// Returns the k-mers of both strands that differ from `kmer` in one base and have a count for which the sum of
    /// both is not too large.
    fn partners(strands: &Counts, kmer: &[u8]) -> Vec<Vec<u8>> {
        let mut partners = Vec::new();
        for at in 0..kmer.len() {
            for &base in b"ACGT".iter().filter(|&&base| base != kmer[at]) {
                let mut other = kmer.to_vec();
                other[at] = base;
                if strands.get(&other).is_some_and(|count| count + strands[kmer] <= MAX_SUM) {
                    partners.push(other);
                }
            }
        }
        partners
    }

    /// Finds pairs by the definition: among the k-mers of both strands, those that are each other's only partner.
    fn naive(kmers: &Counts, cut: Cut) -> Found {
        let kept = || kmers.iter().filter(|&(_, count)| cut.keeps(*count));
        let both =
            kept().flat_map(|(kmer, &count)| [(kmer.clone(), count), (complement(kmer), count)]);
        let strands: Counts = both.collect();
        let mut found = Found::new();
        for (kmer, &count) in kept() {
            let [other] = &partners(&strands, kmer)[..] else { continue };
            if partners(&strands, other).len() == 1 && *kmer <= canonical(other) {
                let counts = (count.min(strands[other]), count.max(strands[other]));
                found.push((counts, [kmer.clone(), canonical(other)]));
            }
        }
        found.sort();
        found
    }

    /// Returns what the search finds.
    fn search(kmers: &Counts, cut: Cut, (threads, memory): (usize, u64)) -> (Found, Anywhere) {
        let folder = tempfile::tempdir().unwrap();
        let mut text = String::new();
        for (kmer, count) in kmers {
            writeln!(text, "{}\t{count}", str::from_utf8(kmer).unwrap()).unwrap();
        }
        let path = folder.path().join("t.tsv");
        std::fs::write(&path, text).unwrap();
        let context = Context::new().threads(threads).memory(memory);
        let tables = open_tables(&[path], true, &context).unwrap();
        let mut found = Found::new();
        let anywhere = hetmers_anywhere(&tables[0], cut, &context, |pair| {
            let [one, other] = pair.kmers;
            assert_eq!(one, canonical(one));
            let counts = (pair.counts[0], pair.counts[1]);
            for (kmer, count) in pair.kmers.iter().zip(pair.counts) {
                assert_eq!(kmers[&canonical(kmer)], count);
            }
            let mut both = [one.to_vec(), canonical(other)];
            both.sort();
            found.push((counts, both));
            Ok(())
        });
        found.sort();
        (found, anywhere.unwrap())
    }

    fn check(kmers: &Counts, cut: Cut) {
        let expected = naive(kmers, cut);
        let mut counted = Anywhere::default();
        for (counts, [one, other]) in &expected {
            let pairs = if one == other { &mut counted.with_itself } else { &mut counted.pairs };
            *pairs.entry(*counts).or_default() += 1;
        }
        for limits in [(1, 1 << 30), (3, 100 << 20)] {
            assert_eq!(search(kmers, cut, limits), (expected.clone(), counted.clone()));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn pairs_are_those_of_the_definition(
            k in prop_oneof![2usize..10, 31usize..34, Just(65)],
            seeds in proptest::collection::vec(
                (any::<u64>(), 0usize..65, 1u32..4, prop_oneof![1u32..5, 498u32..503, Just(70_000)], any::<bool>()), 1..60),
            letters in 1usize..5,
            least in 1u32..3,
        ) {
            let mut kmers = Counts::new();
            let mut last = vec![b'A'; k];
            for (seed, at, change, count, is_near) in seeds {
                if is_near {
                    // One base differs from the previous k-mer.
                    let base = b"ACGT".iter().position(|&base| base == last[at % k]).unwrap();
                    last[at % k] = b"ACGT"[(base + change as usize) % 4];
                } else {
                    let base = |at: usize| (seed.rotate_left(7 * at as u32) as usize) % letters;
                    last = (0..k).map(|at| b"ACGT"[base(at)]).collect();
                    if change == 3 {
                        // Its reverse complement differs from it in the middle, or not at all.
                        let half = complement(&last[..k / 2]);
                        last[k.div_ceil(2)..].copy_from_slice(&half);
                    }
                }
                kmers.insert(canonical(&last), count);
            }
            check(&kmers, Cut { least, most: u32::MAX });
        }
    }
}
