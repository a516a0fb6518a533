//! Uploads of databases and indexes to devices, through a ring of pinned buffers.
//!
//! Pinning memory takes longer than filling it, so that few buffers are reused: a thread takes a free one, reads the
//! next chunk to it, enqueues its copies, and returns it at once; the next thread that takes it waits for its copies.
//! Files are read by `pread` rather than through a map, where threads would spend most of their time on page faults.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use merganser_run::locks::lock;
use merganser_run::{Cancel, Cancelled, StartError, run_workers};

use crate::{BufferPool, Device, DeviceSliceMut, Error, PinnedBuffer, Pod, Stream};

/// The bytes of a buffer. On an H100 with 16 cores, buffers of 4 MiB reach 13 GB/s, those of 1 MiB 12, those of 256 KiB 7.
const BUFFER: usize = 4 << 20;
/// The buffers for each thread: it fills one while a device reads the other.
const BUFFERS_A_THREAD: usize = 2;
/// The maximum number of threads: more do not fill pinned memory faster.
const MAX_THREADS: usize = 16;

/// Copies to devices that are done together.
#[derive(Debug)]
pub struct Upload<'a> {
    streams: Vec<Stream>,
    chunks: Vec<Chunk<'a>>,
}

/// Device memory that receives the same bytes, with the number of its device.
pub type Target<'a, T> = (usize, DeviceSliceMut<'a, T>);

/// Parts of the source that together fit in a buffer, and the memory that receives them.
#[derive(Debug)]
struct Chunk<'a> {
    from: Vec<&'a [u8]>,
    to: Vec<Target<'a, u8>>,
    len: usize,
}

/// The work of an upload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uploaded {
    /// The bytes that were copied, over all devices.
    pub bytes: u64,
    /// The time from the first read to the end of the last copy.
    pub time: Duration,
}

impl Uploaded {
    /// Adds another upload.
    pub fn add(&mut self, other: Uploaded) {
        self.bytes += other.bytes;
        self.time += other.time;
    }

    /// Returns the work since `before`.
    #[must_use]
    pub fn since(self, before: Uploaded) -> Uploaded {
        Uploaded { bytes: self.bytes - before.bytes, time: self.time.saturating_sub(before.time) }
    }
}

impl<'a> Upload<'a> {
    /// Creates an upload to these devices, which targets refer to by their numbers in this list.
    ///
    /// # Errors
    /// If a device fails.
    pub fn new(devices: &[Device]) -> crate::Result<Upload<'a>> {
        let streams = devices.iter().map(Device::stream).collect::<Result<_, _>>()?;
        Ok(Upload { streams, chunks: Vec::new() })
    }

    /// Adds the bytes of `from`, one slice after the other, which go to each of the targets. They are only read
    /// by the function given to [`run`](Self::run).
    ///
    /// # Panics
    /// If a target has another length than all slices together.
    pub fn add<T: Pod>(
        &mut self,
        from: impl IntoIterator<Item = &'a [u8]>,
        to: impl IntoIterator<Item = Target<'a, T>>,
    ) {
        let mut rest: Vec<Target<'a, u8>> =
            to.into_iter().map(|(device, to)| (device, to.cast())).collect();
        if rest.is_empty() {
            return;
        }
        let (mut parts, mut len) = (Vec::new(), 0);
        for mut bytes in from {
            while !bytes.is_empty() {
                let (part, later) = bytes.split_at(bytes.len().min(BUFFER - len));
                parts.push(part);
                len += part.len();
                bytes = later;
                if len == BUFFER {
                    self.push(std::mem::take(&mut parts), len, &mut rest);
                    len = 0;
                }
            }
        }
        if len > 0 {
            self.push(parts, len, &mut rest);
        }
        assert!(rest.iter().all(|(_, rest)| rest.is_empty()), "a target is longer than its bytes");
    }

    /// Adds a chunk, whose targets are the beginnings of `rest`.
    fn push(&mut self, from: Vec<&'a [u8]>, len: usize, rest: &mut Vec<Target<'a, u8>>) {
        let (mut to, mut left) = (Vec::new(), Vec::new());
        for (device, target) in rest.drain(..) {
            let (now, later) = target.split_at_mut(len);
            to.push((device, now));
            left.push((device, later));
        }
        *rest = left;
        self.chunks.push(Chunk { from, to, len });
    }

    /// Copies everything with up to `threads` threads, and waits for the end. `read` copies a slice to pinned memory
    /// of the same length; if the slice is part of a mapped file, it should read the file instead.
    ///
    /// # Errors
    /// The first error in time of `read` or of a device; if a thread cannot be started; if cancelled.
    pub fn run<E>(
        self,
        threads: usize,
        cancel: &Cancel,
        read: impl Fn(&[u8], &mut [u8]) -> Result<(), E> + Sync,
    ) -> Result<Uploaded, E>
    where
        E: From<Error> + From<StartError> + From<Cancelled> + Send,
    {
        let begun = Instant::now();
        let Upload { streams, chunks } = self;
        let Some(longest) = chunks.iter().map(|chunk| chunk.len).max() else {
            return Ok(Uploaded::default());
        };
        let threads = threads.clamp(1, MAX_THREADS).min(chunks.len());
        let device = streams[chunks[0].to[0].0].device().clone();
        let ring: BufferPool<PinnedBuffer<u8>> =
            BufferPool::new(BUFFERS_A_THREAD * threads, move || device.alloc_pinned(longest));
        let bytes = chunks.iter().map(|chunk| (chunk.len * chunk.to.len()) as u64).sum();
        let chunks = Mutex::new(chunks.into_iter());
        let next = || lock(&chunks).next();
        let send = |Chunk { from, to, .. }: Chunk<'_>| {
            cancel.check()?;
            let mut buffer = ring.take()?;
            let (room, mut end) = (buffer.as_mut_slice()?, 0);
            for part in from {
                read(part, &mut room[end..end + part.len()])?;
                end += part.len();
            }
            for (device, to) in to {
                streams[device].upload(&mut buffer, 0..end, to)?;
            }
            Ok::<_, E>(())
        };
        run_workers(threads, |_| {
            while let Some(chunk) = next() {
                send(chunk).inspect_err(|_| {
                    // No thread takes another chunk.
                    lock(&chunks).by_ref().for_each(drop);
                })?;
            }
            Ok::<_, E>(())
        })?;
        streams.iter().try_for_each(Stream::synchronize)?;
        Ok(Uploaded { bytes, time: begun.elapsed() })
    }
}

/// Copies a slice of memory: the function for [`Upload::run`] if there is no file.
///
/// # Errors
/// Never fails.
pub fn read_memory<E>(from: &[u8], to: &mut [u8]) -> Result<(), E> {
    to.copy_from_slice(from);
    Ok(())
}
