//! Phase 1 on a device: batches of tiles become chunks of super-k-mers by bin.

use std::sync::Mutex;

use merganser_gpu::{
    Arena, Device, DeviceBuffer, PinnedBuffer, Result as GpuResult, Stream, primitives,
};
use merganser_run::locks::lock;

use super::chunks::Chunk;
use super::host_bins::{HostBins, Staging};
use super::kernels::{self, CUT_WORDS, Letters, Signatures, TILE_BASES, TILE_WORDS, Tiles};
use super::plan::Sizes;
use super::queue::Queue;
use crate::binmap::BinMap;
use crate::{Config, Error};

/// The state shared by all streams of a device.
pub(crate) struct Cutter<'c> {
    pub(crate) config: &'c Config,
    pub(crate) device: Device,
    pub(crate) bins: usize,
    /// The number of words of a record.
    pub(crate) words: usize,
    pub(crate) tiles: usize,
    bin_of: DeviceBuffer<u16>,
    multiplier: u32,
    shift: u32,
    pub(crate) arena: Arena,
}

impl<'c> Cutter<'c> {
    pub(crate) fn new(
        config: &'c Config,
        device: &Device,
        map: &BinMap,
        sizes: Sizes,
        record_bytes: u64,
    ) -> GpuResult<Cutter<'c>> {
        let (slots, multiplier, shift) = map.for_device();
        let mut bin_of = device.alloc(slots.len())?;
        device.stream()?.upload_now(slots, bin_of.view_mut())?;
        // Segments that are few and leave little unused.
        let segment = (record_bytes / 8).clamp(1 << 20, 1 << 30) as usize;
        let arena = Arena::new(device, segment, record_bytes);
        let device = device.clone();
        let Sizes { bins, words, tiles, .. } = sizes;
        Ok(Cutter { config, device, bins, words, tiles, bin_of, multiplier, shift, arena })
    }

    /// Runs one stream: cuts batches from the queue until it ends.
    pub(crate) fn run(
        &self,
        queue: &Queue,
        host: &HostBins<'_>,
        chunks: &Mutex<Vec<Chunk>>,
    ) -> Result<(), Error> {
        let mut lane = None;
        while let Some(batch) = queue.full() {
            if lane.is_none() {
                lane = Some(HostTiles::new(self)?);
            }
            let Some(HostTiles { packed, on_device, workspace, stream }) = lane.as_mut() else {
                continue;
            };
            let tiles = batch.tiles();
            let words = tiles * (TILE_WORDS + CUT_WORDS);
            batch.copy_to(packed.as_mut_slice()?);
            queue.put_empty(batch);
            stream.upload(packed, 0..words, on_device.view_mut())?;
            let letters = Letters::of_host(on_device.slice(..words), tiles);
            let chunk = workspace.cut(self, stream, (letters, tiles), host)?;
            lock(chunks).extend(chunk);
        }
        Ok(())
    }
}

/// A stream with the buffers for tiles that the host has packed.
struct HostTiles {
    packed: PinnedBuffer<u64>,
    on_device: DeviceBuffer<u64>,
    workspace: Workspace,
    /// Declared last, so that it is destroyed after the buffers that its work uses.
    stream: Stream,
}

impl HostTiles {
    fn new(cutter: &Cutter<'_>) -> GpuResult<HostTiles> {
        let (device, words) = (&cutter.device, cutter.tiles * (TILE_WORDS + CUT_WORDS));
        Ok(HostTiles {
            packed: device.alloc_pinned(words)?,
            on_device: device.alloc(words)?,
            workspace: Workspace::new(cutter)?,
            stream: device.stream()?,
        })
    }
}

/// The buffers in which one batch of tiles at a time is cut.
pub(super) struct Workspace {
    pieces: DeviceBuffer<u32>,
    piece_count: DeviceBuffer<u32>,
    counts: DeviceBuffer<u64>,
    sums: DeviceBuffer<u64>,
    scratch: DeviceBuffer<u8>,
    starts: DeviceBuffer<u64>,
    starts_here: PinnedBuffer<u64>,
    /// Records that do not stay on the device.
    passing: DeviceBuffer<u64>,
    staging: Staging,
}

impl Workspace {
    pub(super) fn new(cutter: &Cutter<'_>) -> GpuResult<Workspace> {
        let Cutter { device, bins, tiles, .. } = cutter;
        let counts = bins * tiles + 1;
        Ok(Workspace {
            pieces: device.alloc(tiles * TILE_BASES)?,
            piece_count: device.alloc(*tiles)?,
            counts: device.alloc(counts)?,
            sums: device.alloc(counts)?,
            scratch: device.alloc(primitives::exclusive_scan_scratch::<u64>(device, counts)?)?,
            starts: device.alloc(bins + 1)?,
            starts_here: device.alloc_pinned(bins + 1)?,
            passing: device.alloc(0)?,
            staging: Staging::default(),
        })
    }

    /// Cuts tiles, at most those of a batch. Returns the chunk; `None` if there are no records, or if they went to the
    /// host because the device has no room.
    pub(super) fn cut(
        &mut self,
        cutter: &Cutter<'_>,
        stream: &Stream,
        (letters, tiles): (Letters<'_>, usize),
        host: &HostBins<'_>,
    ) -> Result<Option<Chunk>, Error> {
        let config = cutter.config;
        let counts = cutter.bins * tiles + 1;
        let tiles = Tiles { letters, tiles, bins: cutter.bins, k: config.k, words: cutter.words };
        let signatures = Signatures {
            rule: config.rule,
            len: config.signature_bases(),
            canonical: config.is_canonical(),
            bin_of: cutter.bin_of.view(),
            multiplier: cutter.multiplier,
            shift: cutter.shift,
        };
        let pieces = kernels::cut(
            stream,
            tiles,
            &signatures,
            self.pieces.view_mut(),
            self.piece_count.view_mut(),
            self.counts.slice_mut(..counts),
        )?;
        let (sums, scratch) = (self.sums.slice_mut(..counts), self.scratch.view_mut());
        primitives::exclusive_scan::<u64>(stream, self.counts.slice(..counts), sums, scratch)?;
        kernels::bin_starts(stream, &tiles, self.sums.view(), self.starts.view_mut())?;
        stream.download(self.starts.view(), &mut self.starts_here, 0)?;
        let starts = self.starts_here.as_slice()?.to_vec();
        let records = (starts[cutter.bins] & 0xffff_ffff) as usize * cutter.words;
        if records == 0 {
            return Ok(None);
        }
        let write = |out| pieces.scatter(stream, self.sums.view(), out);
        if let Some(mut part) = cutter.arena.cut(records)? {
            write(part.view_mut())?;
            return Ok(Some(Chunk::new(part, starts)));
        }
        if self.passing.len() < records {
            // The old buffer is freed first, so that both are never allocated together.
            self.passing = cutter.device.alloc(0)?;
            self.passing = cutter.device.alloc(records + records / 8)?;
        }
        write(self.passing.slice_mut(..records))?;
        let records = self.passing.slice(..records);
        host.take_over(stream, records, &starts, &mut self.staging)?;
        Ok(None)
    }
}
