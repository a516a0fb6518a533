//! BGZF files inflated on a device for readers on the host: threads read blocks, have them inflated, and copy the text back,
//! ahead of the reader.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::thread::{self, JoinHandle};

use merganser_inflate::bgzf::{Block, BlockWalk, End, MAX_BLOCK};
use merganser_inflate::{Ahead, InflateAhead, RemoteRoom, TextsAhead};
use merganser_run::locks::{lock, wait};

use super::compressed::Compressed;
use super::kernels::SLACK;
use crate::{BufferPool, Device, DeviceBuffer, PinnedBuffer, Pooled, Result, Stream};

/// The number of texts of a file that are read, inflated or used at the same time.
const TEXTS: usize = 8;
/// The sizes of a text: about 190 blocks, whose inflation takes as long as that of one.
const ROOM: RemoteRoom =
    RemoteRoom { bytes: 4 << 20, text: 12 << 20, headroom: 0, blocks: 1 << 13 };
/// The smallest file that is inflated on a device, in bytes.
const MIN_FILE: u64 = 16 << 20;
/// The number of files that are inflated at the same time: those of a pair.
const FILES: usize = 2;
/// Bytes that all texts of an inflater take, on the device and in pinned memory each.
const BYTES: u64 =
    (FILES * TEXTS * (ROOM.bytes + ROOM.text + 24 * ROOM.blocks + (64 << 10))) as u64;
/// The smallest memory of a device, and of the host, of which an inflater takes a part, in bytes.
const MIN_DEVICE: u64 = 8 << 30;
const MIN_HOST: u64 = 4 << 30;

/// Bytes of text that devices have inflated.
static INFLATED: AtomicU64 = AtomicU64::new(0);

/// Returns the number of bytes of text that devices have inflated for readers on the host, in all runs of the process.
pub fn inflated_bytes() -> u64 {
    INFLATED.load(Ordering::Relaxed)
}

/// A device that inflates BGZF files for readers on the host.
#[derive(Debug)]
pub struct DeviceInflater {
    /// The device, once it is open.
    device: OnceLock<Device>,
    min_file: u64,
    /// The number of files that are being inflated.
    files: Arc<AtomicUsize>,
}

impl DeviceInflater {
    /// Creates an inflater for a device that is still being opened. Until it is [set](Self::set), no file is inflated.
    pub fn late() -> Arc<DeviceInflater> {
        let device = OnceLock::new();
        Arc::new(DeviceInflater { device, min_file: MIN_FILE, files: Arc::default() })
    }

    /// Inflates files on a device from now on, unless a run that may use `limit` bytes of the device and `host` bytes of
    /// the host's memory has too little memory for that.
    pub fn set(&self, device: &Device, limit: Option<u64>, host: u64) {
        if Self::reserved(device, limit) > 0 && host >= MIN_HOST {
            // There is only one device to set.
            let _ = self.device.set(device.clone());
        }
    }

    /// Creates an inflater on a device beside other work, for a run that may use `limit` bytes of the device and `host`
    /// bytes of the host's memory. Memory is allocated when a file is opened.
    pub fn beside(device: &Device, limit: Option<u64>, host: u64) -> Arc<DeviceInflater> {
        let inflater = Self::late();
        inflater.set(device, limit, host);
        inflater
    }

    /// Creates an inflater of files of at least `min_file` bytes.
    #[doc(hidden)]
    pub fn of_files(device: &Device, min_file: u64) -> DeviceInflater {
        DeviceInflater { device: device.clone().into(), min_file, files: Arc::default() }
    }

    /// Returns the bytes of a device that are left to an inflater if a run may use `limit` bytes.
    pub(crate) fn reserved(device: &Device, limit: Option<u64>) -> u64 {
        match device.usable_within(limit) {
            MIN_DEVICE.. => BYTES,
            _ => 0,
        }
    }
}

impl Device {
    /// Returns what [`available_within`](Self::available_within) does without the bytes that a
    /// [`DeviceInflater`] takes.
    pub fn available_beside_inflater(&self, limit: Option<u64>) -> Result<u64> {
        Ok(self.available_within(limit)?.saturating_sub(DeviceInflater::reserved(self, limit)))
    }
}

impl InflateAhead for DeviceInflater {
    fn start(&self, file: &Arc<File>, walk: &BlockWalk) -> Option<Box<dyn TextsAhead>> {
        let device = self.device.get()?.clone();
        if walk.bytes_left() < self.min_file {
            return None;
        }
        let one_more = |files| (files < FILES).then_some(files + 1);
        self.files.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more).ok()?;
        let permit = Permit(Arc::clone(&self.files));
        let shared = Arc::new(Shared {
            file: Arc::clone(file),
            state: Mutex::new(State { walk: Some(walk.clone()), ..State::default() }),
            changed: Condvar::new(),
            slots: BufferPool::new(TEXTS, move || Slot::new(&device)),
        });
        let mut texts = Texts { shared, threads: Vec::new(), next: 0, _permit: permit };
        for _ in 0..TEXTS {
            let shared = Arc::clone(&texts.shared);
            // With fewer threads it takes longer.
            let thread = thread::Builder::new().spawn(move || shared.work());
            texts.threads.extend(thread);
        }
        (!texts.threads.is_empty()).then(|| Box::new(texts) as Box<dyn TextsAhead>)
    }
}

/// The right to inflate one of a limited number of files.
#[derive(Debug)]
struct Permit(Arc<AtomicUsize>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The buffers of one text.
#[derive(Debug)]
struct Slot {
    bytes: PinnedBuffer<u8>,
    compressed: Compressed,
    there: DeviceBuffer<u8>,
    text: PinnedBuffer<u8>,
    stream: Stream,
}

impl Slot {
    fn new(device: &Device) -> Result<Slot> {
        let stream = device.stream()?;
        Ok(Slot {
            bytes: device.alloc_pinned(ROOM.bytes)?,
            compressed: Compressed::new(device, ROOM, &stream)?,
            there: device.alloc(ROOM.text + SLACK)?,
            text: device.alloc_pinned(ROOM.text)?,
            stream,
        })
    }

    /// Inflates the blocks in `bytes`. Returns the length of the text; `None` if the device does not accept the blocks.
    fn inflate(&mut self, blocks: &[Block]) -> Result<Option<usize>> {
        let to = (self.there.view_mut(), 0);
        let length = self.compressed.inflate(&self.stream, &mut self.bytes, blocks, to)?;
        let Some(length) = length else { return Ok(None) };
        self.stream.download(self.there.slice(..length), &mut self.text, 0)?;
        let is_good = self.compressed.is_good(&self.stream)?;
        INFLATED.fetch_add(if is_good { length as u64 } else { 0 }, Ordering::Relaxed);
        Ok(is_good.then_some(length))
    }
}

/// A text that has arrived; its buffers are reused when it is dropped.
struct Arrived {
    slot: Pooled<Slot>,
    length: usize,
}

impl AsRef<[u8]> for Arrived {
    fn as_ref(&self) -> &[u8] {
        // The copy is complete, so this cannot fail.
        self.slot.text.as_slice().map_or(&[], |text| &text[..self.length])
    }
}

/// The state that the threads of a file share.
struct Shared {
    file: Arc<File>,
    state: Mutex<State>,
    changed: Condvar,
    slots: BufferPool<Slot>,
}

#[derive(Default)]
struct State {
    /// The position in the file; `None` when no more texts are begun.
    walk: Option<BlockWalk>,
    /// The number of texts begun.
    begun: u64,
    /// The texts that have arrived, by number.
    arrived: BTreeMap<u64, Ahead>,
    stopped: bool,
}

/// A text to inflate.
struct Task {
    number: u64,
    /// The position before the blocks.
    from: BlockWalk,
    blocks: Vec<Block>,
    length: usize,
}

impl Shared {
    /// A thread's loop.
    fn work(&self) {
        // The slot comes first: a text whose turn has come never waits for one.
        while let Ok(slot) = self.slots.take_if_open() {
            let Some(mut slot) = slot else { return };
            let Some(task) = self.begin() else { return };
            let inflated = self.inflate(&mut slot, &task);
            let ahead = match inflated {
                Some(length) => Ahead::Text(Arc::new(Arrived { slot, length }), task.length as u64),
                None => Ahead::Rest(task.from),
            };
            let mut state = lock(&self.state);
            if matches!(ahead, Ahead::Rest(_)) {
                state.walk = None;
            }
            self.put(state, task.number, ahead);
        }
        // Without buffers the host goes on from here.
        self.give_up();
    }

    /// Begins the next text; `None` if there are no more.
    fn begin(&self) -> Option<Task> {
        let mut state = lock(&self.state);
        let mut walk = state.walk.take().filter(|_| !state.stopped)?;
        let (from, mut blocks) = (walk.clone(), Vec::new());
        let read_at = |bytes: &mut [u8], offset| self.file.read_exact_at(bytes, offset);
        let is_full = |text, bytes, blocks| {
            text + MAX_BLOCK > ROOM.text || bytes + MAX_BLOCK > ROOM.bytes || blocks == ROOM.blocks
        };
        let end = walk.next(read_at, is_full, &mut blocks);
        let number = state.begun;
        state.begun += 1;
        let length = (walk.offset() - from.offset()) as usize;
        match end {
            Ok(End::More) => state.walk = Some(walk),
            Ok(End::Input | End::Other) if !blocks.is_empty() => {
                state.arrived.insert(number + 1, Ahead::Rest(walk));
            }
            // The host finds what follows the blocks or is wrong with them.
            _ => {
                self.put(state, number, Ahead::Rest(from));
                return None;
            }
        }
        Some(Task { number, from, blocks, length })
    }

    /// Reads and inflates the blocks of a text; `None` if the host must do it.
    fn inflate(&self, slot: &mut Slot, task: &Task) -> Option<usize> {
        let bytes = &mut slot.bytes.as_mut_slice().ok()?[..task.length];
        self.file.read_exact_at(bytes, task.from.offset()).ok()?;
        slot.inflate(&task.blocks).ok()?
    }

    /// Ends the texts at the current position, unless another thread has.
    fn give_up(&self) {
        let mut state = lock(&self.state);
        if let Some(walk) = state.walk.take() {
            let number = state.begun;
            self.put(state, number, Ahead::Rest(walk));
        }
    }

    /// Hands over the part of this number.
    fn put(&self, mut state: MutexGuard<'_, State>, number: u64, ahead: Ahead) {
        state.arrived.insert(number, ahead);
        drop(state);
        self.changed.notify_all();
    }
}

/// The texts of a file and the threads that make them.
struct Texts {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    next: u64,
    _permit: Permit,
}

impl TextsAhead for Texts {
    fn next(&mut self) -> Ahead {
        let mut state = lock(&self.shared.state);
        loop {
            if let Some(ahead) = state.arrived.remove(&self.next) {
                self.next += 1;
                return ahead;
            }
            state = wait(&self.shared.changed, state);
        }
    }
}

impl Drop for Texts {
    fn drop(&mut self) {
        let mut state = lock(&self.shared.state);
        state.stopped = true;
        state.arrived.clear();
        drop(state);
        self.shared.slots.close();
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}
