//! Sorting of an index's positions on a device: consecutive parts are sorted together, as many at a time as fit
//! into memory. A stable radix sort by 32 bases keeps positions with the same bases in order.

use std::ops::Range;

use merganser_gpu::{Device, DeviceBuffer, DeviceInfo, Stream, Upload, primitives, read_memory};
use merganser_run::{Budget, Cancel, Progress};

use super::kernels::{self, BuildTask};
use crate::Error;
use crate::index::{Growing, Unsorted, grouped};

/// The number of positions of a piece, which is processed by one block.
const PIECE: u32 = if cfg!(test) { 64 } else { 4096 };
/// The number of positions that are copied to the host at a time.
const COPIED: usize = if cfg!(test) { 100 } else { 4 << 20 };
/// Device memory for each position of a group, in bytes: two keys, two positions, and the sort's scratch
/// memory.
const POSITION_BYTES: u64 = 25;
/// The number of threads that copy the reference to the device.
const COPIERS: usize = 8;
/// Device memory for rounding up of allocations, in bytes.
const SPARE: u64 = if cfg!(test) { 1 << 10 } else { 16 << 20 };

/// Sorts positions on the device with this ordinal, using at most `memory` bytes of its memory, and passes them
/// to `growing` piece by piece, together with the table of k-mers. Returns a description of the device.
///
/// # Errors
/// If the device fails or has too little memory, `growing` cannot take them, or the run was
/// cancelled.
pub(crate) fn sort(
    unsorted: &Unsorted<'_>,
    ordinal: u32,
    memory: Option<u64>,
    growing: &mut Growing,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<DeviceInfo, Error> {
    let device = Device::open(ordinal)?;
    let budget = Budget::of_device(device.available_within(memory)?);
    let pieces = cut(&unsorted.pieces);
    let groups = groups(unsorted, budget, (ordinal, pieces.len()))?;
    let mut sorter = Sorter::new(unsorted, &device, &pieces, &groups, cancel)?;
    let mut base = 0;
    for group in groups {
        cancel.check()?;
        let items = unsorted.totals[group.clone()].iter().sum::<u64>() as usize;
        sorter.sort(group, items, base, growing)?;
        progress.advance(items as u64);
        base += items as u32;
    }
    Ok(device.info().clone())
}

/// Splits stretches into pieces, one for each block.
fn cut(pieces: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let step = |&[from, to, _]: &[u32; 3]| {
        (from..to).step_by(PIECE as usize).map(move |at| [at, to.min(at.saturating_add(PIECE))])
    };
    pieces.iter().flat_map(step).collect()
}

/// Groups consecutive parts that are sorted together.
fn groups(
    unsorted: &Unsorted<'_>,
    budget: Budget,
    (ordinal, pieces): (u32, usize),
) -> Result<Vec<Range<usize>>, Error> {
    let planes = 8 * (unsorted.text.low.len() + unsorted.text.high.len()) as u64;
    let table = 4 * ((1u64 << (2 * unsorted.k)) + 1);
    let budget = budget.with(planes + table + 24 * pieces as u64 + SPARE);
    let largest = unsorted.totals.iter().copied().max().unwrap_or(0).max(1);
    budget.with(POSITION_BYTES * largest).check_device(ordinal, "building this index")?;
    Ok(grouped(&unsorted.totals, budget.left() / POSITION_BYTES))
}

/// The device buffers for building an index.
struct Sorter {
    k: usize,
    parts: usize,
    planes: DeviceBuffer<u64>,
    pieces: DeviceBuffer<[u32; 2]>,
    counts: DeviceBuffer<u32>,
    offsets: DeviceBuffer<u64>,
    keys: [DeviceBuffer<u64>; 2],
    positions: [DeviceBuffer<u32>; 2],
    table: DeviceBuffer<u32>,
    scratch: DeviceBuffer<u8>,
    stream: Stream,
}

impl Sorter {
    fn new(
        unsorted: &Unsorted<'_>,
        device: &Device,
        pieces: &[[u32; 2]],
        groups: &[Range<usize>],
        cancel: &Cancel,
    ) -> Result<Sorter, Error> {
        let stream = device.stream()?;
        let Unsorted { text, totals, k, .. } = unsorted;
        let size = |group: &Range<usize>| totals[group.clone()].iter().sum::<u64>() as usize;
        let most = groups.iter().map(size).max().unwrap_or(0);
        let widest = groups.iter().map(|group| group.len()).max().unwrap_or(0);
        let mut planes = device.alloc(text.low.len() + text.high.len())?;
        let mut upload = Upload::new(std::slice::from_ref(device))?;
        upload.add([text.low, text.high].map(bytemuck::cast_slice), [(0, planes.view_mut())]);
        upload.run(COPIERS, cancel, read_memory::<Error>)?;
        let mut on_device = device.alloc(pieces.len())?;
        stream.upload_now(pieces, on_device.view_mut())?;
        let scan = primitives::exclusive_scan_scratch::<u32>(device, pieces.len())?;
        let sort = primitives::sort_pairs_scratch::<u64>(device, most, 0..64)?;
        Ok(Sorter {
            k: *k,
            parts: totals.len(),
            planes,
            pieces: on_device,
            counts: device.alloc(pieces.len())?,
            offsets: device.alloc(pieces.len())?,
            keys: [device.alloc(most)?, device.alloc(most)?],
            positions: [device.alloc(most)?, device.alloc(most)?],
            table: device.alloc(widest * (1 << (2 * k)) / totals.len())?,
            scratch: device.alloc(scan.max(sort))?,
            stream,
        })
    }

    /// Sorts the `items` positions of a group; `base` positions precede them in the index.
    #[allow(unsafe_code, reason = "stages read and write where their task points to")]
    fn sort(
        &mut self,
        group: Range<usize>,
        items: usize,
        base: u32,
        growing: &mut Growing,
    ) -> Result<(), Error> {
        let kmers = group.len() * ((1 << (2 * self.k)) / self.parts);
        let room = self.keys[0].len().min(self.positions[0].len());
        assert!(items <= room && kmers <= self.table.len(), "a group beyond its memory");
        let stream = &self.stream;
        let of_part = (1 << (2 * self.k)) / self.parts;
        let mut task = BuildTask {
            planes: self.planes.view().as_ptr(),
            pieces: self.pieces.view().as_ptr(),
            counts: self.counts.view_mut().as_mut_ptr(),
            offsets: self.offsets.view().as_ptr(),
            keys: self.keys[0].view_mut().as_mut_ptr(),
            positions: self.positions[0].view_mut().as_mut_ptr(),
            table: self.table.view_mut().as_mut_ptr(),
            items: items as u64,
            stride: self.planes.len() as u32,
            piece_count: self.pieces.len() as u32,
            first_part: group.start as u32,
            last_part: group.end as u32,
            k: self.k as u32,
            first_kmer: (group.start * of_part) as u32,
            last_kmer: (group.end * of_part) as u32,
            base,
        };
        // SAFETY: the task points to this sorter's buffers, which were allocated for the largest group, and
        // holds the number of pieces.
        unsafe { kernels::count_positions(stream, &task)? };
        let (counts, sums) = (self.counts.view(), self.offsets.view_mut());
        primitives::exclusive_scan::<u32>(stream, counts, sums, self.scratch.view_mut())?;
        // SAFETY: as above; a group has as many positions as were counted, and there is room for these.
        unsafe { kernels::take_positions(stream, &task)? };
        let [first, second] = &mut self.keys;
        let keys = [first.slice_mut(..items), second.slice_mut(..items)];
        let [first, second] = &mut self.positions;
        let values = [first.slice_mut(..items), second.slice_mut(..items)];
        let sorted = primitives::sort_pairs(stream, keys, values, 0..64, self.scratch.view_mut())?;
        task.keys = self.keys[sorted].view_mut().as_mut_ptr();
        // SAFETY: as above; the table has room for the k-mers of any group.
        unsafe { kernels::table(stream, &task)? };
        download(stream, &self.positions[sorted], items, |part| growing.positions(part))?;
        download(stream, &self.table, kmers, |part| {
            growing.begins(part);
            Ok(())
        })
    }
}

/// Copies the first items of a buffer chunk by chunk: `take` processes one while the next one is copied.
fn download(
    stream: &Stream,
    from: &DeviceBuffer<u32>,
    items: usize,
    mut take: impl FnMut(&[u32]) -> Result<(), Error>,
) -> Result<(), Error> {
    let room = COPIED.min(items);
    let device = stream.device();
    let mut buffers = [device.alloc_pinned::<u32>(room)?, device.alloc_pinned::<u32>(room)?];
    let range = |at: usize| at..items.min(at + room);
    if items > 0 {
        stream.download(from.slice(range(0)), &mut buffers[0], 0)?;
    }
    for at in (0..items).step_by(room.max(1)) {
        let [now, next] = &mut buffers;
        if at + room < items {
            stream.download(from.slice(range(at + room)), next, 0)?;
        }
        take(&now.as_slice()?[..range(at).len()])?;
        buffers.swap(0, 1);
    }
    Ok(())
}
