//! A table in memory, for look-ups at random.

use merganser_run::{Cancel, Progress};
use merganser_seq::kmer::Kmer;
use merganser_seq::with_kmer;

use crate::Error;
use crate::algebra::{Cut, Range, Resources, Session, Visit};
use crate::tables::AnyTable;

/// The counts of k-mers given by their letters, whatever their width.
pub trait Lookup: Sync {
    /// Bases of a k-mer.
    fn k(&self) -> usize;
    /// Replaces `counts` by those of all k-mers of `letters`, in order; 0 for those that are not in
    /// the table and those with a letter that is no base.
    fn counts(&self, letters: &[u8], counts: &mut Vec<u32>);
}

/// Sorted k-mers, found by their first bits.
struct Index<K> {
    k: usize,
    canonical: bool,
    /// First bits that choose an entry of `starts`.
    bits: u32,
    /// The number of k-mers with smaller first bits, and at the end that of all.
    starts: Vec<u64>,
    kmers: Vec<K>,
    counts: Vec<u32>,
}

/// The program itself and the reads that are under way.
const BASE_BYTES: u64 = 96 << 20;
/// First bits at most.
const MOST_BITS: u32 = 28;

/// Loads what of a table lies within a cut.
///
/// # Errors
/// If the table cannot be read, or does not fit into the memory.
pub fn open_lookup(
    table: &AnyTable,
    cut: Cut,
    resources: &Resources,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Box<dyn Lookup>, Error> {
    let tables = std::slice::from_ref(table);
    let session = Session::new(tables, 1, resources)?;
    let loaded = with_kmer!(session.k, K => load::<K>(&session, cut, progress, cancel));
    progress.finish();
    loaded.map_err(|error| if cancel.is_cancelled() { Error::Cancelled } else { error })
}

fn load<K: Kmer>(
    session: &Session<'_>,
    cut: Cut,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Box<dyn Lookup>, Error> {
    let ranges = session.ranges::<K>(progress, cancel)?;
    let most = ranges[0].kmers();
    let k = session.k;
    let bits = most.max(1).ilog2().saturating_sub(1).min(MOST_BITS).min(2 * k as u32);
    let starts_bytes = 8u64 << bits;
    let needed = BASE_BYTES + starts_bytes + most * (K::BYTES as u64 + 4);
    let budget = session.resources.memory;
    if needed > budget {
        return Err(Error::TableTooLargeForMemory {
            path: session.tables[0].path().to_owned(),
            needed,
            budget,
        });
    }
    let mut index = Index {
        k,
        canonical: session.canonical,
        bits,
        starts: vec![0; (1 << bits) + 1],
        kmers: Vec::with_capacity(most as usize),
        counts: Vec::with_capacity(most as usize),
    };
    session.visit(&ranges, progress, cancel, &mut Filling { index: &mut index, cut })?;
    for at in 1..index.starts.len() {
        index.starts[at] += index.starts[at - 1];
    }
    Ok(Box::new(index))
}

struct Filling<'f, K> {
    index: &'f mut Index<K>,
    cut: Cut,
}

impl<K: Kmer> Visit<K> for Filling<'_, K> {
    fn range(&mut self, range: Range<'_, K>) -> Result<(), Error> {
        let Index { k, bits, starts, kmers, counts, .. } = &mut *self.index;
        for &(kmer, count) in range.iter().filter(|(_, count)| self.cut.keeps(*count)) {
            starts[kmer.prefix(*k, *bits) as usize + 1] += 1;
            kmers.push(kmer);
            counts.push(count);
        }
        Ok(())
    }
}

impl<K: Kmer> Index<K> {
    #[inline]
    fn get(&self, kmer: K) -> u32 {
        let section = kmer.prefix(self.k, self.bits) as usize;
        let (from, to) = (self.starts[section] as usize, self.starts[section + 1] as usize);
        match self.kmers[from..to].binary_search(&kmer) {
            Ok(at) => self.counts[from + at],
            Err(_) => 0,
        }
    }
}

impl<K: Kmer> Lookup for Index<K> {
    fn k(&self) -> usize {
        self.k
    }

    fn counts(&self, letters: &[u8], counts: &mut Vec<u32>) {
        let k = self.k;
        counts.clear();
        let mask = K::mask(k);
        let (mut forward, mut reverse, mut known) = (K::default(), K::default(), 0);
        for (at, &letter) in letters.iter().enumerate() {
            match merganser_seq::base::code(letter) {
                Some(code) => {
                    forward = forward.push(code, mask);
                    reverse = reverse.push_complement(code, k);
                    known += 1;
                }
                None => known = 0,
            }
            if at + 1 >= k {
                let kmer = if self.canonical { forward.least(reverse) } else { forward };
                counts.push(if known >= k { self.get(kmer) } else { 0 });
            }
        }
    }
}
