//! Ways to count the k-mers of a bin.

use super::bins::Depth;
use super::records::{PADDING, expand, expand_all};
use super::{clock, markdown, radix};
use anyhow::{Result, ensure};
use merganser_count::parts::{Dedupe, KmerMap, Width};
use merganser_count::superkmer::record_bytes;
use merganser_kmers::Histogram;
use std::num::NonZeroUsize;

/// k-mers looked up together, as in counting.
const AT_ONCE: usize = 256;
/// Bytes of a hash table: more than any bin needs.
const TABLE_BYTES: u64 = 1 << 30;

/// A way to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Radix8,
    Radix11,
    RadixTop,
    StdSort,
    Table,
    /// Equal super-k-mers counted first, in every bin.
    AlwaysDedupe,
    /// Equal super-k-mers counted first, where that paid in the bins before.
    Dedupe,
}

impl Method {
    const ALL: [Self; 7] = [
        Self::Radix8,
        Self::Radix11,
        Self::RadixTop,
        Self::StdSort,
        Self::Table,
        Self::AlwaysDedupe,
        Self::Dedupe,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Radix8 => "radix sort from the last, 8-bit digits",
            Self::Radix11 => "radix sort from the last, 11-bit digits",
            Self::RadixTop => "two 8-bit digits from the first, then `sort_unstable`",
            Self::StdSort => "`sort_unstable`",
            Self::Table => "hash table",
            Self::AlwaysDedupe => "equal super-k-mers first, always",
            Self::Dedupe => "equal super-k-mers first, where it pays (the default)",
        }
    }
}

/// What all methods must agree on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Found {
    distinct: u64,
    kmers: u64,
    /// Over all k-mers and counts, in any order.
    check: u64,
}

impl Found {
    #[inline(always)]
    fn add<K: Width>(&mut self, kmer: K, count: u32) {
        self.distinct += 1;
        self.kmers += u64::from(count);
        self.check = self.check.wrapping_add((kmer.low() | 1).wrapping_mul(u64::from(count)));
    }
}

/// One worker and its memory.
struct Worker<K: Width> {
    k: usize,
    histogram: Histogram,
    kmers: Vec<K>,
    spare: Vec<K>,
    counts: Vec<u32>,
    lookups: Lookups<K>,
    dedupe: Dedupe<K>,
    expected: usize,
}

impl<K: Width> Worker<K> {
    fn new(k: usize) -> Self {
        let lookups =
            Lookups { table: KmerMap::new(TABLE_BYTES), pending: Vec::with_capacity(AT_ONCE) };
        Self {
            k,
            histogram: Histogram::default(),
            kmers: Vec::new(),
            spare: Vec::new(),
            counts: Vec::new(),
            lookups,
            dedupe: Dedupe::new(),
            expected: 0,
        }
    }

    fn count(&mut self, method: Method, bin: &[u8], found: &mut Found) {
        match method {
            Method::Radix8 | Method::Radix11 | Method::RadixTop | Method::StdSort => {
                self.by_sort(method, bin, found);
            }
            Method::Table | Method::AlwaysDedupe | Method::Dedupe => {
                self.lookups.table.clear(self.expected);
                if method == Method::Table {
                    expand_all(bin, self.k, |kmer| self.lookups.add(kmer, 1));
                } else {
                    self.after_dedupe(method == Method::AlwaysDedupe, bin);
                }
                self.lookups.settle();
                self.read_out(found);
            }
        }
    }

    fn by_sort(&mut self, method: Method, bin: &[u8], found: &mut Found) {
        let Self { k, histogram, kmers, spare, counts, .. } = self;
        let bits = 2 * *k as u32;
        expand_into(bin, *k, kmers);
        match method {
            Method::Radix8 => radix::sort::<K, 8>(kmers, spare, counts, bits),
            Method::Radix11 => radix::sort::<K, 11>(kmers, spare, counts, bits),
            // The digits must exist: k = 5 has ten bits.
            Method::RadixTop if bits >= 16 => radix::sort_from_top(kmers, spare, bits),
            _ => kmers.sort_unstable(),
        }
        radix::runs(kmers, |kmer, count| {
            histogram.add(count);
            found.add(kmer, count);
        });
    }

    /// As the counter of a run does it, bin by bin.
    fn after_dedupe(&mut self, always: bool, bin: &[u8]) {
        let Self { k, lookups, dedupe, .. } = self;
        let records = bin.len() / record_bytes(1, *k) + 1;
        let start = |dedupe: &mut Dedupe<K>| loop {
            let started = dedupe.start(records);
            if started || !always {
                return started;
            }
        };
        let drain = |dedupe: &mut Dedupe<K>, lookups: &mut Lookups<K>| {
            dedupe.drain(|record, weight| {
                let kmers = usize::from(record[0]) + 1;
                expand(&record[1..], kmers, *k, |kmer| lookups.add(kmer, weight));
            });
        };
        let (mut gathering, mut gathered, mut at) = (start(dedupe), 0, 0);
        while at + PADDING < bin.len() {
            let kmers = usize::from(bin[at]) + 1;
            let len = record_bytes(kmers, *k);
            if gathering && dedupe.add(&bin[at..], len) {
                gathered += 1;
                if gathered == Dedupe::<K>::GROUP {
                    drain(dedupe, lookups);
                    (gathering, gathered) = (start(dedupe), 0);
                }
            } else {
                expand(&bin[at + 1..], kmers, *k, |kmer| lookups.add(kmer, 1));
            }
            at += len;
        }
        if gathering {
            drain(dedupe, lookups);
        }
    }

    fn read_out(&mut self, found: &mut Found) {
        let before = found.distinct;
        let outcome = self.lookups.table.read_out(&mut self.histogram, 1, u32::MAX, |kmers| {
            kmers.iter().for_each(|&(kmer, count)| found.add(kmer, count));
            Ok::<_, std::convert::Infallible>(())
        });
        match outcome {
            Ok(()) => self.expected = (found.distinct - before) as usize,
            Err(never) => match never {},
        }
    }
}

#[inline(always)]
fn expand_into<K: Width>(bin: &[u8], k: usize, kmers: &mut Vec<K>) {
    kmers.clear();
    expand_all(bin, k, |kmer| kmers.push(kmer));
}

/// A hash table and the k-mers on their way to it.
struct Lookups<K: Width> {
    table: KmerMap<K>,
    pending: Vec<(K, u64, u32)>,
}

impl<K: Width> Lookups<K> {
    #[inline(always)]
    fn add(&mut self, kmer: K, weight: u32) {
        let hash = kmer.hash();
        self.table.prefetch(hash);
        self.pending.push((kmer, hash, weight));
        if self.pending.len() >= AT_ONCE {
            self.settle();
        }
    }

    #[inline]
    fn settle(&mut self) {
        assert!(self.table.reserve(self.pending.len()), "a bin has more k-mers than a table holds");
        for &(_, hash, _) in &self.pending {
            self.table.prefetch_likely(hash);
        }
        for &(kmer, hash, weight) in &self.pending {
            self.table.add(kmer, hash, weight);
        }
        self.pending.clear();
    }
}

/// Seconds to write all k-mers out, which the sorts begin with.
fn expansion<K: Width>(threads: NonZeroUsize, depth: &Depth, k: usize) -> f64 {
    let make = || {
        let mut kmers: Vec<K> = Vec::new();
        move || {
            for bin in &depth.bins {
                expand_into(bin, k, &mut kmers);
                std::hint::black_box(&kmers);
            }
        }
    };
    clock::best(threads, make).0
}

/// Seconds of a method, and what it found.
fn measure<K: Width>(
    threads: NonZeroUsize,
    depth: &Depth,
    k: usize,
    method: Method,
) -> (f64, Found) {
    clock::best(threads, || {
        let mut worker = Worker::<K>::new(k);
        move || {
            let mut found = Found::default();
            depth.bins.iter().for_each(|bin| worker.count(method, bin, &mut found));
            found
        }
    })
}

/// The table of methods at each depth.
///
/// # Errors
///
/// If two methods count differently.
pub(crate) fn report<K: Width>(
    threads: NonZeroUsize,
    depths: &[Depth],
    k: usize,
) -> Result<String> {
    let mut rows: Vec<Vec<String>> =
        Method::ALL.iter().map(|method| vec![method.name().to_owned()]).collect();
    let mut expand_row = vec!["k-mers written out only".to_owned()];
    let mut facts = String::new();
    for depth in depths {
        let mut agreed = None;
        for (row, &method) in rows.iter_mut().zip(&Method::ALL) {
            let (seconds, found) = measure::<K>(threads, depth, k, method);
            ensure!(
                found == *agreed.get_or_insert(found),
                "k = {k}: {} finds {found:?}, the first method {agreed:?}",
                method.name()
            );
            row.push(markdown::nanoseconds(seconds, depth.kmers));
        }
        expand_row.push(markdown::nanoseconds(expansion::<K>(threads, depth, k), depth.kmers));
        facts.push_str(&fact(depth, agreed.unwrap_or_default()));
    }
    rows.insert(0, expand_row);
    let names: Vec<String> = depths.iter().map(|depth| reads(depth.every)).collect();
    let mut headers = vec!["ns a k-mer"];
    headers.extend(names.iter().map(String::as_str));
    Ok(format!("### Counting, k = {k}\n\n{}{facts}\n", markdown::table(&headers, &rows)))
}

fn reads(every: u64) -> String {
    if every == 1 { "all reads".into() } else { format!("1 read in {every}") }
}

/// What the bins of a depth hold, as a list item.
fn fact(depth: &Depth, found: Found) -> String {
    let bins = depth.bins.len() as u64;
    format!(
        "- {}: {} of {} bins, {} k-mers a bin, {:.1} a super-k-mer, {:.2} occurrences a distinct k-mer\n",
        reads(depth.every),
        bins,
        depth.all,
        markdown::grouped(found.kmers / bins),
        depth.kmers as f64 / depth.super_kmers.max(1) as f64,
        found.kmers as f64 / found.distinct.max(1) as f64,
    )
}
