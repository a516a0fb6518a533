//! From devices to the host's results: where no device has room for all k-mers that stay.
//!
//! A device sorts them by range, so that the host's threads copy runs of k-mers and need not send
//! each to its place.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use merganser_gpu::{
    Device, DeviceBuffer, DeviceSliceMut, PinnedBuffer, Pool, Pooled, Result as GpuResult, Stream,
    primitives,
};
use merganser_run::locks::lock;
use merganser_run::start_scoped;

use super::kernels::GpuKmer;
use crate::Error;
use crate::results::Results;

/// Bytes of a part: a copy of them takes several times as long as starting it.
const PART_BYTES: usize = 4 << 20;

/// Pinned memory for a part.
pub(crate) struct Part<K: GpuKmer> {
    kmers: PinnedBuffer<K::Word>,
    counts: PinnedBuffer<u32>,
}

/// A part of a device's k-mers, sorted by range, with their counts.
struct Pairs<K: GpuKmer> {
    part: Pooled<Part<K>>,
    /// The first of them, and the one after the last, among those of the device.
    from: usize,
    to: usize,
    /// Where each range begins among those of the device, and their number.
    bounds: Arc<Vec<u64>>,
}

/// The way to the writers.
pub(crate) struct ToHost<K: GpuKmer> {
    sender: SyncSender<Pairs<K>>,
    parts: Pool<Part<K>>,
    k: usize,
    range_bits: u32,
}

/// Device memory that k-mers of up to a number need to be sorted by range.
pub(crate) struct ByRange<K: GpuKmer> {
    counts: DeviceBuffer<u32>,
    scratch: DeviceBuffer<u8>,
    bounds: DeviceBuffer<u64>,
    kmer: std::marker::PhantomData<K>,
}

impl<K: GpuKmer> ByRange<K> {
    /// For up to `most` k-mers of `k` bases.
    pub(crate) fn new(device: &Device, most: usize, k: usize) -> GpuResult<Self> {
        let (bits, ranges) = sorted_by(k);
        let scratch = primitives::sort_pairs_scratch::<K::Word>(device, most, bits)?;
        Ok(ByRange {
            counts: device.alloc(most)?,
            scratch: device.alloc(scratch)?,
            bounds: device.alloc((1 << ranges) + 1)?,
            kmer: std::marker::PhantomData,
        })
    }
}

/// The bits that are a k-mer's range, and how many.
fn sorted_by(k: usize) -> (std::ops::Range<u32>, u32) {
    let range_bits = merganser_kmers::scattered::range_bits(k);
    (2 * k as u32 - range_bits..2 * k as u32, range_bits)
}

impl<K: GpuKmer> ToHost<K> {
    /// Sorts k-mers by range and sends them to the writers. The copies are enqueued, no more; the
    /// other buffer of k-mers is working space.
    ///
    /// # Errors
    /// What the device reports, or that the writers are gone, who have an error of their own.
    pub(crate) fn send(
        &self,
        stream: &Stream,
        kmers: [DeviceSliceMut<'_, K::Word>; 2],
        counts: DeviceSliceMut<'_, u32>,
        by_range: &mut ByRange<K>,
    ) -> Result<(), Error> {
        let total = counts.len();
        let ByRange { counts: other, scratch, bounds, .. } = by_range;
        let [mut first, mut second] = kmers;
        let (mut counts, mut other) = (counts, other.slice_mut(..total));
        let place = primitives::sort_pairs(
            stream,
            [first.reborrow(), second.reborrow()],
            [counts.reborrow(), other.reborrow()],
            sorted_by(self.k).0,
            scratch.view_mut(),
        )?;
        let (kmers, counts) = if place == 0 { (first, counts) } else { (second, other) };
        let (kmers, counts) = (kmers.as_slice(), counts.as_slice());
        K::bounds(stream, kmers, self.k, self.range_bits, bounds.view_mut())?;
        let bounds = Arc::new(stream.download_vec(bounds.view())?);
        let at_once = part_kmers::<K>();
        for from in (0..total).step_by(at_once) {
            let to = total.min(from + at_once);
            let mut part = self.parts.take()?;
            stream.download(kmers.slice(from..to), &mut part.kmers, 0)?;
            stream.download(counts.slice(from..to), &mut part.counts, 0)?;
            let pairs = Pairs { part, from, to, bounds: Arc::clone(&bounds) };
            self.sender.send(pairs).map_err(|_| Error::Cancelled)?;
        }
        Ok(())
    }
}

fn part_kmers<K: GpuKmer>() -> usize {
    PART_BYTES / (size_of::<K::Word>() + 4)
}

/// Runs `work` while `threads` threads put into the results what it sends them from devices, of
/// which `device` is one.
///
/// # Errors
/// What a thread reports, else what the work does.
pub(crate) fn with_writers<K: GpuKmer, T>(
    results: &Results<'_, K>,
    threads: usize,
    device: &Device,
    work: impl FnOnce(&ToHost<K>) -> Result<T, Error>,
) -> Result<T, Error> {
    let (sender, receiver) = sync_channel(threads);
    let receiver = Mutex::new(receiver);
    let device = device.clone();
    // One for each writer, and as many on their way.
    let parts = Pool::new(2 * threads.clamp(2, 16), move || {
        let most = part_kmers::<K>();
        Ok(Part { kmers: device.alloc_pinned(most)?, counts: device.alloc_pinned(most)? })
    });
    let scattered = results.scattered();
    let to_host = ToHost { sender, parts, k: scattered.k(), range_bits: scattered.range_bits() };
    thread::scope(|scope| {
        let start = |_| start_scoped(scope, || write(results, &receiver));
        let writers: Result<Vec<_>, _> = (0..threads).map(start).collect();
        // Without all of them there is no work; those that are there wait for the sender's end.
        let done = writers.as_ref().map(|_| work(&to_host));
        let done = done.map_err(|error| error.clone().into()).flatten();
        drop(to_host);
        let writers = writers?;
        let join = |writer: thread::ScopedJoinHandle<'_, _>| {
            writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let written: Vec<Result<(), Error>> = writers.into_iter().map(join).collect();
        written.into_iter().collect::<Result<(), _>>()?;
        done
    })
}

fn write<K: GpuKmer>(
    results: &Results<'_, K>,
    receiver: &Mutex<Receiver<Pairs<K>>>,
) -> Result<(), Error> {
    let mut buffer = Vec::new();
    let mut written = Ok(());
    while let Some(pairs) = { lock(receiver).recv().ok() } {
        // Who has failed goes on taking, so that no sender waits forever.
        if written.is_ok() {
            written = pairs.write(results, &mut buffer);
        }
    }
    written
}

impl<K: GpuKmer> Pairs<K> {
    /// Puts the k-mers into their ranges.
    fn write(&self, results: &Results<'_, K>, buffer: &mut Vec<u8>) -> Result<(), Error> {
        let Part { kmers, counts } = &*self.part;
        let (kmers, counts) = (kmers.as_slice()?, counts.as_slice()?);
        let mut range = self.bounds.partition_point(|&bound| bound <= self.from as u64) - 1;
        let mut at = self.from;
        while at < self.to {
            let end = (self.bounds[range + 1] as usize).min(self.to);
            let run = at - self.from..end - self.from;
            let pairs = kmers[run.clone()].iter().zip(&counts[run]);
            let pairs = pairs.map(|(&key, &count)| (K::from_key(key), count));
            if at < end {
                results.scattered().append(range, pairs, buffer)?;
            }
            (at, range) = (end, range + 1);
        }
        Ok(())
    }
}
