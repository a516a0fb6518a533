//! From devices to the host's results: where no device has room for all k-mers that stay.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use merganser_run::locks::lock;
use merganser_run::start_scoped;

use super::kernels::GpuKmer;
use crate::Error;
use crate::results::Results;

/// k-mers of a device with their counts, in no order.
pub(crate) type Pairs<K> = (Vec<<K as GpuKmer>::Word>, Vec<u32>);

/// Runs `work` while `threads` threads put into the results what it sends them.
///
/// # Errors
/// What a thread reports, else what the work does.
pub(crate) fn with_writers<K: GpuKmer, T>(
    results: &Results<'_, K>,
    threads: usize,
    work: impl FnOnce(&SyncSender<Pairs<K>>) -> Result<T, Error>,
) -> Result<T, Error> {
    let (sender, receiver) = sync_channel(2 * threads);
    let receiver = Mutex::new(receiver);
    thread::scope(|scope| {
        let start = |_| start_scoped(scope, || write(results, &receiver));
        let writers: Result<Vec<_>, _> = (0..threads).map(start).collect();
        // Without all of them there is no work; those that are there wait for the sender's end.
        let done = writers.as_ref().map(|_| work(&sender));
        let done = done.map_err(|error| error.clone().into()).flatten();
        drop(sender);
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
    let next = || lock(receiver).recv().ok();
    // Most runs send nothing: buffers are for those that do.
    let Some(first) = next() else { return Ok(()) };
    let mut writer = results.writer();
    let mut failed = None;
    for (kmers, counts) in std::iter::once(first).chain(std::iter::from_fn(next)) {
        // Who has failed goes on taking, so that no sender waits forever.
        if failed.is_none() {
            let mut pairs = kmers.iter().zip(&counts);
            failed = pairs.try_for_each(|(&key, &n)| writer.keep(K::from_key(key), n)).err();
        }
    }
    failed.map_or_else(|| writer.finish().map(drop), Err)
}
