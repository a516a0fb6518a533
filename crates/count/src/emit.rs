//! Phase 3: ranges of k-mers are sorted and encoded by all workers, and written in order.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use merganser_run::{Cancel, InOrder, InOrderSink, Otherwise, run_workers};
use merganser_seq::kmer::Kmer;

use crate::Error;
use crate::results::{Results, sort_range};
use crate::table::Header;

/// Turns a stretch of sorted k-mers into bytes, independently of all others.
pub(crate) trait Encoder<K>: Sync {
    type Part: Send;
    /// k-mers of which the parts of a divided section, the last one apart, have a multiple.
    const UNIT: usize = 1;
    fn encode(&self, kmers: &[(K, u32)]) -> Self::Part;
    /// As [`Encoder::encode`], of k-mers that go on with the section before.
    fn encode_more(&self, kmers: &[(K, u32)]) -> Self::Part {
        self.encode(kmers)
    }
}

/// Takes encoded stretches in the order of their k-mers, one for each section, empty ones too.
pub(crate) trait Sink<P>: Send {
    fn write(&mut self, part: P) -> Result<(), Error>;
    /// What is known only when all is written, for who begins without knowing it.
    fn totals(&mut self, _totals: &Totals) {}
    /// Ends the output and makes it appear; returns the time the disk took to confirm.
    fn finish(self) -> Result<Duration, Error>;
}

/// The numbers of a whole table.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) kmers: u64,
    pub(crate) occurrences: u64,
    pub(crate) largest_count: u32,
    pub(crate) total_kmers: u64,
    pub(crate) distinct_kmers: u64,
    pub(crate) saturated: bool,
}

impl Totals {
    pub(crate) fn put(&self, header: &mut Header) {
        header.kmers = self.kmers;
        header.occurrences = self.occurrences;
        header.largest_count = self.largest_count;
        header.total_kmers = self.total_kmers;
        header.distinct_kmers = self.distinct_kmers;
        header.saturated = self.saturated;
    }
}

/// Where the k-mers of a table come from.
pub(crate) trait Source<K>: Sync {
    /// One worker's way to them.
    fn sections(&self) -> Box<dyn Sections<K> + '_>;
}

/// Gives sections of a table.
pub(crate) trait Sections<K> {
    /// The k-mers whose first `section_bits` bits are `section`, in order.
    fn section(&mut self, section: usize, section_bits: u32) -> Result<&[(K, u32)], Error>;
}

/// A sink whose parts come from several workers.
pub(crate) struct Ordered<S>(pub(crate) S);

impl<P, S: Sink<P>> InOrderSink<P> for Ordered<S> {
    type Error = Error;

    fn write(&mut self, part: P) -> Result<Option<P>, Error> {
        self.0.write(part).map(|()| None)
    }
}

/// Sorts, encodes and writes all results, in 2^`section_bits` sections (at most as many as there
/// are ranges).
pub(crate) fn emit<K: Kmer, E: Encoder<K>, S: Sink<E::Part>>(
    source: &dyn Source<K>,
    section_bits: u32,
    threads: usize,
    cancel: &Cancel,
    encoder: &E,
    sink: S,
) -> Result<Duration, Error> {
    let next = AtomicUsize::new(0);
    // One for each thread is made while another one waits.
    let written = InOrder::new(Ordered(sink), 2 * threads.max(1) as u64, 0);
    run_workers(threads, |_| {
        let failed = Otherwise::new(|| written.stop());
        let mut sections = source.sections();
        loop {
            let section = next.fetch_add(1, Ordering::Relaxed);
            if section >> section_bits > 0 || !written.wait_for_room(section as u64) {
                failed.well();
                return Ok(());
            }
            if cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let part = encoder.encode(sections.section(section, section_bits)?);
            written.hand_in(section as u64, part);
        }
    })?;
    written.into_sink()?.0.finish()
}

impl<K: Kmer> Source<K> for Results<'_, K> {
    fn sections(&self) -> Box<dyn Sections<K> + '_> {
        let (buffer, range, swap, section) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Box::new(Sorting { results: self, buffer, range, swap, section })
    }
}

/// A worker's arrays.
struct Sorting<'s, 'p, K> {
    results: &'s Results<'p, K>,
    buffer: Vec<u8>,
    range: Vec<(K, u32)>,
    swap: Vec<(K, u32)>,
    section: Vec<(K, u32)>,
}

impl<K: Kmer> Sections<K> for Sorting<'_, '_, K> {
    /// Those of one or more ranges, sorted.
    fn section(&mut self, section: usize, section_bits: u32) -> Result<&[(K, u32)], Error> {
        let results = self.results;
        let finer = results.range_bits() - section_bits;
        self.section.clear();
        for range in section << finer..(section + 1) << finer {
            results.take(range, &mut self.buffer, &mut self.range)?;
            sort_range(&mut self.range, &mut self.swap, results.k(), results.range_bits());
            self.section.append(&mut self.range);
        }
        Ok(&self.section)
    }
}
