//! Transfer of the kept k-mers for which devices have no room to the host's results.
//!
//! A device has sorted them by range and packed them, so that the host's threads only copy bytes.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use merganser_gpu::{BufferPool, Device, DeviceSlice, PinnedBuffer, Pooled, Stream};
use merganser_run::locks::lock;
use merganser_run::{join, start_scoped};
use merganser_seq::kmer::Kmer;

use crate::Error;
use crate::results::Results;

/// Bytes of a part, enough that its copy takes several times as long as starting the copy.
const PART_BYTES: usize = 4 << 20;

/// Packed records of k-mers, sorted by range.
pub(crate) struct Packed<'p> {
    pub(crate) records: DeviceSlice<'p, u8>,
    /// The number of bytes of a record.
    pub(crate) record_bytes: usize,
    /// The index of each range's first record, and the number of records.
    pub(crate) bounds: &'p Arc<Vec<u64>>,
}

/// A part of a device's records, on the host.
struct HostRecords {
    bytes: Pooled<PinnedBuffer<u8>>,
    record_bytes: usize,
    /// The index, among the device's records, of the first record of the part.
    from: usize,
    /// The index after its last record.
    to: usize,
    bounds: Arc<Vec<u64>>,
}

/// The sending end of the channel to the writers.
pub(crate) struct ToHost {
    sender: SyncSender<HostRecords>,
    buffers: BufferPool<PinnedBuffer<u8>>,
}

impl ToHost {
    /// Sends records to the writers; the copies are only enqueued.
    ///
    /// # Errors
    /// The device's error, or [`Error::Cancelled`] if the writers have ended; they report the cause.
    pub(crate) fn send(&self, stream: &Stream, packed: &Packed<'_>) -> Result<(), Error> {
        let &Packed { records, record_bytes, bounds } = packed;
        let total = records.len() / record_bytes;
        let at_once = PART_BYTES / record_bytes;
        for from in (0..total).step_by(at_once) {
            let to = total.min(from + at_once);
            let mut bytes = self.buffers.take()?;
            let part = records.slice(from * record_bytes..to * record_bytes);
            stream.download(part, &mut bytes, 0)?;
            let bounds = Arc::clone(bounds);
            let part = HostRecords { bytes, record_bytes, from, to, bounds };
            self.sender.send(part).map_err(|_| Error::Cancelled)?;
        }
        Ok(())
    }
}

/// Runs `work` while `threads` threads write the records that it sends from devices to the
/// results. `device` is any of these devices.
///
/// # Errors
/// The error of a writer, otherwise the error of `work`.
pub(crate) fn with_writers<K: Kmer, T>(
    results: &Results<'_, K>,
    threads: usize,
    device: &Device,
    work: impl FnOnce(&ToHost) -> Result<T, Error>,
) -> Result<T, Error> {
    let (sender, receiver) = sync_channel(threads);
    let receiver = Mutex::new(receiver);
    let device = device.clone();
    // One for each writer, and one for each part in the channel.
    let buffers =
        BufferPool::new(2 * threads.clamp(2, 16), move || device.alloc_pinned(PART_BYTES));
    let to_host = ToHost { sender, buffers };
    thread::scope(|scope| {
        let start = |_| start_scoped(scope, || write(results, &receiver));
        let writers: Result<Vec<_>, _> = (0..threads).map(start).collect();
        // `work` does not run unless all writers have started; those that have started end with the sender.
        let done = writers.as_ref().map(|_| work(&to_host));
        let done = done.map_err(|error| error.clone().into()).flatten();
        drop(to_host);
        let writers = writers?;
        let written: Vec<Result<(), Error>> = writers.into_iter().map(join).collect();
        written.into_iter().collect::<Result<(), _>>()?;
        done
    })
}

fn write<K: Kmer>(
    results: &Results<'_, K>,
    receiver: &Mutex<Receiver<HostRecords>>,
) -> Result<(), Error> {
    let mut written = Ok(());
    while let Some(part) = { lock(receiver).recv().ok() } {
        // After a failure the thread keeps receiving, so that no sender blocks forever.
        if written.is_ok() {
            written = part.write(results);
        }
    }
    written
}

impl HostRecords {
    /// Appends the records to their ranges.
    fn write<K: Kmer>(&self, results: &Results<'_, K>) -> Result<(), Error> {
        let bytes = self.bytes.as_slice()?;
        let mut range = self.bounds.partition_point(|&bound| bound <= self.from as u64) - 1;
        let mut at = self.from;
        while at < self.to {
            let end = (self.bounds[range + 1] as usize).min(self.to);
            let [from, to] = [at, end].map(|record| (record - self.from) * self.record_bytes);
            results.scattered().append(range, &bytes[from..to], self.record_bytes)?;
            (at, range) = (end, range + 1);
        }
        Ok(())
    }
}
