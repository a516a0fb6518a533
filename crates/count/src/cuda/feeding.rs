//! The reading of a run with devices: the letters of the reads reach the devices as batches of tiles that the CPU has
//! packed, and as text of files that the devices inflate, parse and pack themselves.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::{env, iter, thread};

use merganser_gpu::{DeviceBuffer, PinnedBuffer, Result as GpuResult, Stream};
use merganser_io::Chunk as Text;
use merganser_run::locks::{into_inner, lock};
use merganser_run::{join, start_scoped};

use super::ingesting::{self, Ingester};
use super::kernels::{CUT_WORDS, Letters, TILE_WORDS};
use super::letter_work::LetterWork;
use super::packer::Packer;
use super::plan::{Budget, Sizes, Texts};
use super::queue::Queue;
use crate::Error;
use crate::fragments::Tally;
use crate::run::reading::{ReadContext, read_all};

/// Reads all input: all workers read, parse and pack what devices do not read themselves, while `with_devices` runs on a
/// thread of its own and takes their batches from the queue. It drops the sender once the devices take batches and
/// files. Returns the counts of what the workers have read, with its result.
pub(crate) fn read_beside<T: Send>(
    reading: &ReadContext<'_>,
    first: Option<Text>,
    queue: &Queue,
    with_devices: impl FnOnce(mpsc::Sender<()>) -> Result<T, Error> + Send,
) -> Result<(Tally, T), Error> {
    thread::scope(|scope| {
        let (ready, devices_ready) = mpsc::channel();
        let working = start_scoped(scope, move || {
            with_devices(ready).inspect_err(|_| {
                queue.abandon();
                reading.reader.stop();
            })
        })?;
        // For tests of what devices read, which must not depend on the time that they take to start.
        if env::var_os("MERGANSER_TEST_GPUS_ALONE").is_some() {
            let _ = devices_ready.recv();
        }
        let read = pack_all(reading, first, queue);
        match &read {
            Ok(_) => queue.close(),
            Err(_) => queue.abandon(),
        }
        match (read, join(working)) {
            // Packers stop with `Cancelled` when the devices fail; the devices' error is the cause.
            (Err(Error::Cancelled), Err(error)) => Err(error),
            (read, done) => Ok((read?, done?)),
        }
    })
}

fn pack_all(reading: &ReadContext<'_>, first: Option<Text>, queue: &Queue) -> Result<Tally, Error> {
    let (packers, tally) = read_all(reading, first, || Packer::new(queue))?;
    packers.into_iter().for_each(Packer::finish);
    Ok(tally)
}

/// Takes memory of the devices for texts that they read themselves, and announces these readers to the queue; `None` for
/// devices that read none.
pub(crate) fn take_texts<'b>(
    reading: &ReadContext<'_>,
    sizes: Sizes,
    budgets: impl ExactSizeIterator<Item = &'b mut Budget>,
    queue: &Queue,
) -> Vec<Option<Texts>> {
    let devices = budgets.len();
    if !ingesting::is_possible(reading.job.config) || !queue.add_sender() {
        return vec![None; devices];
    }
    let threads = reading.job.threads.div_ceil(devices.max(1));
    let texts: Vec<_> = budgets.map(|budget| budget.take_texts(sizes, threads)).collect();
    if texts.iter().all(Option::is_none) {
        queue.close();
    }
    texts
}

/// Processes the batches of the queue on `streams` streams of each device, and has the devices read what is left of files
/// that they can read, with these texts. Drops `ready` once this begins. Returns the counts of what the devices have read.
pub(crate) fn feed<W: LetterWork>(
    reading: &ReadContext<'_>,
    works: &[W],
    (texts, streams): (Vec<Option<Texts>>, usize),
    queue: &Queue,
    ready: mpsc::Sender<()>,
) -> Result<Tally, Error> {
    let readers: Vec<Ingester<'_, W>> = iter::zip(works, texts)
        .filter_map(|(work, texts)| Some((work, texts?)))
        .flat_map(|(work, texts)| iter::repeat_n((work, texts.room), texts.number))
        .map(|(work, room)| Ingester { work, reading, room, queue })
        .collect();
    if !readers.is_empty() {
        reading.reader.begin_remote();
    }
    drop(ready);
    let streams = works.len() * streams;
    let (left, tally) = (AtomicUsize::new(readers.len()), Mutex::new(Tally::default()));
    merganser_run::run_workers(streams + readers.len(), |number| {
        let done = match number.checked_sub(streams) {
            None => run_stream(&works[number % works.len()], queue),
            Some(number) => {
                let read = readers[number].run();
                if left.fetch_sub(1, Ordering::AcqRel) == 1 {
                    queue.close();
                }
                read.map(|part| lock(&tally).add(part))
            }
        };
        done.inspect_err(|_| {
            queue.abandon();
            reading.reader.stop();
        })
    })?;
    works.iter().try_for_each(|work| work.device().synchronize())?;
    Ok(into_inner(tally))
}

/// Processes batches from the queue on one stream until the queue ends.
fn run_stream<W: LetterWork>(work: &W, queue: &Queue) -> Result<(), Error> {
    let mut slot = None;
    while let Some(batch) = queue.full() {
        if slot.is_none() {
            slot = Some(HostTiles::new(work, queue.tiles())?);
        }
        let Some(HostTiles { packed, on_device, workspace, stream }) = slot.as_mut() else {
            continue;
        };
        let tiles = batch.tiles();
        let words = tiles * (TILE_WORDS + CUT_WORDS);
        batch.copy_to(packed.as_mut_slice()?);
        queue.put_empty(batch);
        stream.upload(packed, 0..words, on_device.view_mut())?;
        let letters = Letters::of_host(on_device.slice(..words), tiles);
        work.process(workspace, stream, letters)?;
    }
    Ok(())
}

/// A stream with the buffers for tiles that the host has packed.
struct HostTiles<W: LetterWork> {
    packed: PinnedBuffer<u64>,
    on_device: DeviceBuffer<u64>,
    workspace: W::Workspace,
    /// Declared last, so that it is destroyed after the buffers that its work uses.
    stream: Stream,
}

impl<W: LetterWork> HostTiles<W> {
    fn new(work: &W, tiles: usize) -> GpuResult<HostTiles<W>> {
        let (device, words) = (work.device(), tiles * (TILE_WORDS + CUT_WORDS));
        Ok(HostTiles {
            packed: device.alloc_pinned(words)?,
            on_device: device.alloc(words)?,
            workspace: work.workspace()?,
            stream: device.stream()?,
        })
    }
}
