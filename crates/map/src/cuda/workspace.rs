//! A stream with its buffers. The queries of a batch are looked up together, and their hits are found part by
//! part, as many queries at a time as fit into memory.

mod buffers;
mod find;
mod load;
mod stages;
mod task;

use std::ops::Range;
use std::sync::Arc;

use merganser_gpu::{DeviceBuffer, Event, PinnedBuffer, Result as GpuResult, Stream, primitives};

use super::index::DeviceIndex;
use super::kernels::{Counter, Four, QueryEntry, Task};
use crate::Config;
use crate::effort::DeviceTimes;
use crate::room::Room;
use buffers::Upload;
pub(super) use find::Found;
use load::Loading;
use task::task;

/// The capacity of a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// The maximum number of occurrences, candidates or windows.
    pub(crate) keys: usize,
    /// The maximum number of good ends.
    pub(crate) ends: usize,
}

/// The minimum scratch memory for improving seeds, in words of 16 bytes.
const MIN_SCRATCH: usize = 1 << 16;
/// The number of hits that are traced and copied at a time.
const HITS: usize = if cfg!(test) { 64 } else { 1 << 16 };
/// The maximum length and number of edits of a read on a device: `scan_kernel` of `cuda/verify.cuh` and
/// `max_edits` of `cuda/seeds.cuh`.
pub(super) const LONGEST: usize = 1024;
pub(super) const MAX_EDITS: usize = 127;
/// The maximum number of edits of a script: `max_edits_traced` of `cuda/trace.cuh`.
const MAX_TRACED: usize = 15;
/// The first entry of a script that is left to the host.
const LEFT_TO_HOST: u16 = u16::MAX;
/// The approximate bytes of buffers that grow with the batches.
const INPUTS: u64 = 24 << 20;

/// The minimum number of good ends that a workspace has room for.
const MIN_ENDS: usize = 1 << 12;

impl Sizes {
    /// Limits the number of good ends to the room for hits on the host, where scripts need additional memory.
    pub(super) fn within(self, room: Room) -> Sizes {
        Sizes { ends: self.ends.min((room.hits(0) / 4).max(MIN_ENDS)), ..self }
    }

    /// Returns the bytes of device memory of a workspace of this size.
    pub(super) fn bytes(self) -> u64 {
        let scratch = 16 * self.keys.max(MIN_SCRATCH);
        let sorted = 2 * 8 * (self.keys + self.ends);
        (scratch + sorted + self.ends + 2 * MAX_TRACED * HITS) as u64 + INPUTS
    }
}

/// A stream with its buffers.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(super) index: Arc<DeviceIndex>,
    sizes: Sizes,
    loading: Loading,
    words: Upload<u64>,
    queries: Upload<QueryEntry>,
    slots: Upload<u32>,
    extended: Upload<u64>,
    extended_at: Upload<u32>,
    seeds: DeviceBuffer<Four>,
    seed_counts: DeviceBuffer<u32>,
    offsets: DeviceBuffer<u64>,
    query_offsets: DeviceBuffer<u64>,
    offsets_here: Vec<u64>,
    to_improve: DeviceBuffer<u32>,
    keys: [DeviceBuffer<u64>; 2],
    windows: DeviceBuffer<Four>,
    ends: [DeviceBuffer<u64>; 2],
    states: DeviceBuffer<u8>,
    scripts: DeviceBuffer<u16>,
    counts: DeviceBuffer<u64>,
    counts_here: PinnedBuffer<u64>,
    hits_here: PinnedBuffer<u64>,
    scripts_here: PinnedBuffer<u16>,
    scratch: DeviceBuffer<u8>,
    task: Task,
    max_edits: usize,
    events: [Event; 4],
    pub(super) times: DeviceTimes,
    /// The stream. It is the last field, so that it is dropped after the buffers that its work uses.
    stream: Stream,
}

impl Workspace {
    pub(super) fn new(
        index: &Arc<DeviceIndex>,
        config: &Config,
        sizes: Sizes,
    ) -> GpuResult<Workspace> {
        let device = &index.device;
        let stream = device.stream()?;
        let [keys, ends] = [sizes.keys, sizes.ends];
        let hits = HITS.min(ends);
        let scratch = primitives::sort_keys_scratch::<u64>(device, keys.max(ends), 0..64)?;
        Ok(Workspace {
            index: Arc::clone(index),
            sizes,
            loading: Loading::default(),
            words: Upload::new(&stream)?,
            queries: Upload::new(&stream)?,
            slots: Upload::new(&stream)?,
            extended: Upload::new(&stream)?,
            extended_at: Upload::new(&stream)?,
            seeds: device.alloc(0)?,
            seed_counts: device.alloc(0)?,
            offsets: device.alloc(0)?,
            query_offsets: device.alloc(0)?,
            offsets_here: Vec::new(),
            to_improve: device.alloc(0)?,
            keys: [device.alloc(keys)?, device.alloc(keys)?],
            windows: device.alloc(keys.max(MIN_SCRATCH))?,
            ends: [device.alloc(ends)?, device.alloc(ends)?],
            states: device.alloc(ends)?,
            scripts: device.alloc(hits * MAX_TRACED)?,
            counts: device.alloc(Counter::COUNT)?,
            counts_here: device.alloc_pinned(Counter::COUNT)?,
            hits_here: device.alloc_pinned(hits)?,
            scripts_here: device.alloc_pinned(hits * MAX_TRACED)?,
            scratch: device.alloc(scratch)?,
            task: task(index, config, sizes),
            max_edits: 0,
            events: [
                device.timing_event()?,
                device.timing_event()?,
                device.timing_event()?,
                device.timing_event()?,
            ],
            times: DeviceTimes::default(),
            stream,
        })
    }

    /// Returns the room that some queries need.
    pub(super) fn load_of(&self, queries: Range<usize>) -> u64 {
        let gaps = self.index.gaps.len() * queries.len();
        self.offsets_here[queries.end] - self.offsets_here[queries.start] + gaps as u64
    }

    /// Returns the room of the workspace, in the same unit.
    pub(super) fn room(&self) -> u64 {
        self.sizes.keys as u64
    }
}

/// Returns the number of bits of a number.
fn bits(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}
