//! Phase 1 on a device: batches of tiles become chunks of super-k-mers by bin.

use std::sync::Mutex;

use merganser_gpu::{
    Arena, Device, DeviceBuffer, PinnedBuffer, Result as GpuResult, Stream, primitives,
};
use merganser_run::locks::{into_inner, lock};

use super::chunks::Chunk;
use super::host_bins::{HostBins, Staging};
use super::kernels::{self, Letters, Signatures, TILE_BASES, Tiles};
use super::letter_work::LetterWork;
use super::plan::Sizes;
use crate::binmap::BinMap;
use crate::{Config, Error};

/// The state shared by all streams of a device.
pub(crate) struct Cutter<'c, 'p> {
    config: &'c Config,
    device: Device,
    bins: usize,
    /// The number of words of a record.
    words: usize,
    /// The number of tiles that are cut at a time.
    tiles: usize,
    bin_of: DeviceBuffer<u16>,
    multiplier: u32,
    shift: u32,
    arena: Arena,
    /// The super-k-mers for which the device has no room.
    host: &'c HostBins<'p>,
    chunks: Mutex<Vec<Chunk>>,
}

impl<'c, 'p> Cutter<'c, 'p> {
    pub(crate) fn new(
        config: &'c Config,
        device: &Device,
        map: &BinMap,
        sizes: Sizes,
        record_bytes: u64,
        host: &'c HostBins<'p>,
    ) -> GpuResult<Cutter<'c, 'p>> {
        let (slots, multiplier, shift) = map.for_device();
        let mut bin_of = device.alloc(slots.len())?;
        device.stream()?.upload_now(slots, bin_of.view_mut())?;
        // Segments that are few and leave little unused.
        let segment = (record_bytes / 8).clamp(1 << 20, 1 << 30) as usize;
        let arena = Arena::new(device, segment, record_bytes);
        let device = device.clone();
        let Sizes { bins, words, tiles, .. } = sizes;
        let chunks = Mutex::default();
        Ok(Cutter {
            config,
            device,
            bins,
            words,
            tiles,
            bin_of,
            multiplier,
            shift,
            arena,
            host,
            chunks,
        })
    }

    /// Returns the super-k-mers that are on the device.
    pub(crate) fn finish(self) -> Vec<Chunk> {
        into_inner(self.chunks)
    }
}

impl LetterWork for Cutter<'_, '_> {
    type Workspace = Workspace;

    fn device(&self) -> &Device {
        &self.device
    }

    fn workspace(&self) -> GpuResult<Workspace> {
        Workspace::new(self)
    }

    fn process(
        &self,
        workspace: &mut Workspace,
        stream: &Stream,
        letters: Letters<'_>,
    ) -> Result<(), Error> {
        let all = letters.tiles();
        for tile in (0..all).step_by(self.tiles) {
            let tiles = (all - tile).min(self.tiles);
            let chunk = workspace.cut(self, stream, (letters.after_tiles(tile), tiles))?;
            lock(&self.chunks).extend(chunk);
        }
        Ok(())
    }
}

/// The buffers in which one batch of tiles at a time is cut.
pub(crate) struct Workspace {
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
    fn new(cutter: &Cutter<'_, '_>) -> GpuResult<Workspace> {
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
    fn cut(
        &mut self,
        cutter: &Cutter<'_, '_>,
        stream: &Stream,
        (letters, tiles): (Letters<'_>, usize),
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
        cutter.host.take_over(stream, records, &starts, &mut self.staging)?;
        Ok(None)
    }
}
