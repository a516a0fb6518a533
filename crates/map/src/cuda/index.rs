//! The index in the memory of a device.

use std::sync::Mutex;

use merganser_gpu::{Device, DeviceBuffer, DeviceSliceMut, Pod};
use merganser_run::locks::lock;
use merganser_run::run_workers;

use crate::Error;
use crate::index::IndexView;

type Result<T> = std::result::Result<T, Error>;

/// An index on a device.
#[derive(Debug)]
pub(super) struct DeviceIndex {
    pub(super) device: Device,
    /// The planes of low bits, of high bits and, if there are any, of ambiguous letters.
    pub(super) planes: DeviceBuffer<u64>,
    pub(super) has_others: bool,
    pub(super) positions: DeviceBuffer<u32>,
    pub(super) table: DeviceBuffer<u32>,
    /// The first position of each contig, and the position after its last one.
    pub(super) contigs: DeviceBuffer<[u32; 2]>,
    /// Runs of ambiguous letters that match everything, in pieces.
    pub(super) gaps: DeviceBuffer<[u32; 2]>,
    pub(super) k: u32,
    pub(super) text_end: u32,
}

/// The maximum number of bases of such a piece.
const GAP_PIECE: u32 = 1024;
/// The number of bytes that are copied at a time.
const CHUNK: usize = 2 << 20;

impl DeviceIndex {
    /// Returns the number of bytes of an index on a device.
    pub(super) fn bytes(view: &IndexView<'_>, gaps: &[[u32; 2]]) -> u64 {
        let text = &view.text;
        let words = text.low.len() + text.high.len() + text.others.len();
        let numbers = view.positions.len() + view.table().len();
        let pairs = text.contigs.len() + pieces(gaps).count();
        (8 * (words + pairs) + 4 * numbers) as u64
    }

    /// Copies an index to a device on `threads` threads; calls `copied` with each chunk once it has been read.
    pub(super) fn new(
        device: &Device,
        view: &IndexView<'_>,
        gaps: &[[u32; 2]],
        threads: usize,
        copied: &(dyn Fn(&[u8]) + Sync),
    ) -> Result<DeviceIndex> {
        let text = &view.text;
        let planes = [text.low, text.high, text.others];
        let contigs: Vec<[u32; 2]> = text.contigs.iter().map(|at| [at.start, at.end()]).collect();
        let gaps: Vec<[u32; 2]> = pieces(gaps).collect();
        let mut index = DeviceIndex {
            device: device.clone(),
            planes: device.alloc(planes.iter().map(|plane| plane.len()).sum())?,
            has_others: !text.others.is_empty(),
            positions: device.alloc(view.positions.len())?,
            table: device.alloc(view.table().len())?,
            contigs: device.alloc(contigs.len())?,
            gaps: device.alloc(gaps.len())?,
            k: view.k() as u32,
            text_end: text.end(),
        };
        let mut transfers = Vec::new();
        let mut rest = index.planes.view_mut();
        for plane in planes {
            let (own, others) = rest.split_at_mut(plane.len());
            chunks(plane, own, &mut transfers);
            rest = others;
        }
        chunks(view.positions, index.positions.view_mut(), &mut transfers);
        chunks(view.table(), index.table.view_mut(), &mut transfers);
        chunks(&contigs, index.contigs.view_mut(), &mut transfers);
        chunks(&gaps, index.gaps.view_mut(), &mut transfers);
        copy(device, transfers, threads, copied)?;
        Ok(index)
    }
}

/// Splits runs into pieces, so that no device thread gets a long one.
fn pieces(gaps: &[[u32; 2]]) -> impl Iterator<Item = [u32; 2]> {
    gaps.iter().flat_map(|&[from, to]| {
        (from..to)
            .step_by(GAP_PIECE as usize)
            .map(move |at| [at, to.min(at.saturating_add(GAP_PIECE))])
    })
}

/// Copies arrays to device memory on `threads` threads.
pub(super) fn copy_all<T: Pod + bytemuck::NoUninit>(
    device: &Device,
    arrays: Vec<(&[T], DeviceSliceMut<'_, T>)>,
    threads: usize,
) -> Result<()> {
    let mut transfers = Vec::new();
    arrays.into_iter().for_each(|(from, to)| chunks(from, to, &mut transfers));
    copy(device, transfers, threads, &|_| ())
}

/// The bytes of a chunk, and their destination.
type Transfer<'a> = (&'a [u8], DeviceSliceMut<'a, u8>);

/// Splits a copy into chunks and appends them.
fn chunks<'a, T: Pod + bytemuck::NoUninit>(
    from: &'a [T],
    to: DeviceSliceMut<'a, T>,
    transfers: &mut Vec<Transfer<'a>>,
) {
    let mut rest = to.cast::<u8>();
    for chunk in bytemuck::cast_slice::<T, u8>(from).chunks(CHUNK) {
        let (own, others) = rest.split_at_mut(chunk.len());
        transfers.push((chunk, own));
        rest = others;
    }
}

/// Copies through pinned memory: each thread fills one buffer while the device reads its other one.
fn copy(
    device: &Device,
    transfers: Vec<Transfer<'_>>,
    threads: usize,
    copied: &(dyn Fn(&[u8]) + Sync),
) -> Result<()> {
    let threads = threads.clamp(1, transfers.len().max(1));
    let transfers = Mutex::new(transfers.into_iter());
    run_workers(threads, |_| {
        let stream = device.stream()?;
        let mut buffers = [device.alloc_pinned::<u8>(CHUNK)?, device.alloc_pinned(CHUNK)?];
        loop {
            let next = lock(&transfers).next();
            let Some((from, to)) = next else { return Ok(stream.synchronize()?) };
            buffers[0].as_mut_slice()?[..from.len()].copy_from_slice(from);
            copied(from);
            stream.upload(&mut buffers[0], 0..from.len(), to)?;
            buffers.swap(0, 1);
        }
    })
}
