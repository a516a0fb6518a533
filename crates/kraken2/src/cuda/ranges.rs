//! Searches in tables that are larger than the memory of a device. Ranges of a table are copied to the device in turn;
//! while the searches of one are performed, the next is copied.

use std::ops::Range;
use std::sync::Mutex;

use merganser_gpu::{
    BufferPool, Device, DeviceBuffer, DeviceInfo, GpuConfig, PinnedBuffer, Result as GpuResult,
    Stream, Upload, Uploaded,
};
use merganser_run::locks::lock;
use merganser_run::{Budget, Cancel};

use super::kernels::{self, CellRange, CellRule};
use super::tables::rule;
use crate::Error;
use crate::held_ranges::RangeMemory;
use crate::table::{Table, WaitingSearch};

/// Searches that are performed together.
const TOGETHER: usize = 1 << 16;
/// The minimum size of a range in bytes; with less, copying takes longer than searching on the host.
const MIN_RANGE: u64 = 16 << 20;

/// A device that performs the searches in ranges of tables.
pub(crate) struct RangeGpu {
    device: Device,
    slots: BufferPool<Slot>,
    /// The maximum size of a range in bytes.
    range: u64,
    uploaded: Mutex<Uploaded>,
}

/// A range of a table on the device.
pub(crate) struct DeviceRange {
    bytes: DeviceBuffer<u64>,
    /// The layout of the table's cells, once there are some.
    rule: Option<CellRule>,
    /// The number of the first cell, and of the one after the last.
    cells: [u64; 2],
}

/// The buffers of searches that are performed together.
struct Slot {
    hashes: PinnedBuffer<u64>,
    hashes_there: DeviceBuffer<u64>,
    values: PinnedBuffer<u32>,
    values_there: DeviceBuffer<u32>,
    /// Declared last, so that it is destroyed after the buffers that its work uses.
    stream: Stream,
}

impl std::fmt::Debug for RangeGpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RangeGpu").field("range", &self.range).finish_non_exhaustive()
    }
}

impl RangeGpu {
    /// Opens the first of the devices, for `config.streams` threads and ranges of at least `least` bytes.
    ///
    /// # Errors
    /// If the device cannot be used, or has too little memory.
    pub(crate) fn open(config: &GpuConfig, least: u64) -> Result<RangeGpu, Error> {
        let device = Device::open(config.devices[0])?;
        let threads = config.streams.max(1);
        let searches = (threads * TOGETHER * (8 + 4)) as u64;
        let available = device.available_beside_inflater(config.memory)?;
        let budget = Budget::of_device(available).with(searches);
        budget
            .with(2 * MIN_RANGE.max(least))
            .check_device(device.ordinal(), "two ranges of the table")?;
        let slots = BufferPool::new(threads, {
            let device = device.clone();
            move || Slot::new(&device)
        });
        let range = budget.left() / 2 / 8 * 8;
        Ok(RangeGpu { device, slots, range, uploaded: Mutex::default() })
    }

    /// Returns the maximum size of a range in bytes.
    pub(crate) fn range(&self) -> u64 {
        self.range
    }

    /// Returns the facts about the device.
    pub(crate) fn info(&self) -> DeviceInfo {
        self.device.info().clone()
    }

    /// Returns what was copied to the device so far.
    pub(crate) fn uploaded(&self) -> Uploaded {
        *lock(&self.uploaded)
    }
}

impl RangeMemory for RangeGpu {
    type Held = DeviceRange;

    fn hold(&self, bytes: usize) -> Result<DeviceRange, Error> {
        let bytes = self.device.alloc(bytes.div_ceil(8))?;
        Ok(DeviceRange { bytes, rule: None, cells: [0, 0] })
    }

    fn load(
        &self,
        (table, cells): (&Table, Range<u64>),
        to: &mut DeviceRange,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let from = table.bytes_of(cells.clone());
        let padding = &[0; 8][..from.len().next_multiple_of(8) - from.len()];
        let mut upload = Upload::new(std::slice::from_ref(&self.device))?;
        let words = from.len().div_ceil(8);
        upload.add([from, padding], [(0, to.bytes.slice_mut(..words))]);
        (to.rule, to.cells) = (Some(rule(&table.all_cells())), [cells.start, cells.end]);
        let uploaded = upload.run(threads, cancel, |part, to| table.read(part, to))?;
        lock(&self.uploaded).add(uploaded);
        Ok(())
    }

    fn look_up<'s>(
        &self,
        table: &Table,
        range: &DeviceRange,
        searches: impl Iterator<Item = &'s mut [WaitingSearch]>,
    ) -> Result<(), Error> {
        let mut slot = self.slots.take()?;
        let mut together: Vec<&mut [WaitingSearch]> = Vec::new();
        let mut count = 0;
        for searches in searches.flat_map(|searches| searches.chunks_mut(TOGETHER)) {
            if count + searches.len() > TOGETHER {
                slot.look_up((table, range), &mut together)?;
                together.clear();
                count = 0;
            }
            count += searches.len();
            together.push(searches);
        }
        slot.look_up((table, range), &mut together)
    }
}

impl Slot {
    fn new(device: &Device) -> GpuResult<Slot> {
        Ok(Slot {
            hashes: device.alloc_pinned(TOGETHER)?,
            hashes_there: device.alloc(TOGETHER)?,
            values: device.alloc_pinned(TOGETHER)?,
            values_there: device.alloc(TOGETHER)?,
            stream: device.stream()?,
        })
    }

    /// Performs searches, at most [`TOGETHER`].
    fn look_up(
        &mut self,
        (table, range): (&Table, &DeviceRange),
        searches: &mut [&mut [WaitingSearch]],
    ) -> Result<(), Error> {
        let count = searches.iter().map(|searches| searches.len()).sum();
        let Slot { hashes, hashes_there, values, values_there, stream } = self;
        let all = searches.iter().flat_map(|searches| searches.iter());
        for (hash, search) in hashes.as_mut_slice()?.iter_mut().zip(all) {
            *hash = search.hash;
        }
        stream.upload(hashes, 0..count, hashes_there.view_mut())?;
        let Some(rule) = range.rule else { return Ok(()) };
        let cells = CellRange { rule, bytes: range.bytes.view(), cells: range.cells };
        let (from, to) = (hashes_there.slice(..count), values_there.slice_mut(..count));
        kernels::search(stream, cells, from, to)?;
        stream.download(values_there.slice(..count), values, 0)?;
        let all = searches.iter_mut().flat_map(|searches| searches.iter_mut());
        for (&value, search) in values.as_slice()?.iter().zip(all) {
            search.node = value;
        }
        searches.iter_mut().try_for_each(|searches| table.complete(searches))
    }
}
