//! Phase 3 on a device: the k-mers that stay, sorted, and read out by section.

use std::cell::OnceCell;

use merganser_gpu::{Device, DeviceBuffer, PinnedBuffer, Result as GpuResult, Stream, primitives};

use super::counting::Piece;
use super::kernels::GpuKmer;
use crate::Error;
use crate::emit::{Sections, Source, Stretches};

/// First bits by which sections can be found.
const BITS: u32 = 12;
/// k-mers that are brought to the host at a time.
const AT_ONCE: usize = 1 << 20;

/// All k-mers that stay in device memory, in order.
pub(crate) struct SortedTable<K: GpuKmer> {
    device: Device,
    kmers: DeviceBuffer<K::Word>,
    counts: DeviceBuffer<u32>,
    /// Where the k-mers of each prefix of `bits` bits begin, and their number.
    bounds: Vec<u64>,
    bits: u32,
}

impl<K: GpuKmer> SortedTable<K> {
    /// Bytes of device memory that sorting so many k-mers takes, about.
    pub(crate) fn bytes(kmers: u64) -> u64 {
        kmers * 2 * (size_of::<K::Word>() as u64 + 4) / 32 * 33 + (16 << 20)
    }

    /// How many k-mers, themselves in so many bytes of device memory, can be sorted there.
    pub(crate) fn most_kmers(bytes: u64) -> u64 {
        let each = size_of::<K::Word>() as u64 + 4;
        bytes.saturating_sub(Self::bytes(0)) / (3 * each + each / 16)
    }

    /// Gathers pieces, of whatever devices, on this one and sorts them.
    pub(crate) fn sort(device: &Device, pieces: Vec<Piece<K>>, k: usize) -> GpuResult<Self> {
        let total: usize = pieces.iter().map(|piece| piece.kmers.len()).sum();
        let stream = device.stream()?;
        let mut kmers = [device.alloc(total)?, device.alloc(total)?];
        let mut counts = [device.alloc(total)?, device.alloc(total)?];
        let mut at = 0;
        for piece in &pieces {
            let to = at..at + piece.kmers.len();
            stream.copy(piece.kmers.view(), kmers[0].slice_mut(to.clone()))?;
            stream.copy(piece.counts.view(), counts[0].slice_mut(to.clone()))?;
            at = to.end;
        }
        let key_bits = 0..2 * k as u32;
        let scratch = primitives::sort_pairs_scratch::<K::Word>(device, total, key_bits.clone())?;
        let mut scratch = device.alloc(scratch)?;
        let place = primitives::sort_pairs(
            &stream,
            kmers.each_mut().map(DeviceBuffer::view_mut),
            counts.each_mut().map(DeviceBuffer::view_mut),
            key_bits,
            scratch.view_mut(),
        )?;
        let ([kmers, other], [counts, other_counts]) = (kmers, counts);
        let (kmers, counts) = if place == 0 { (kmers, counts) } else { (other, other_counts) };
        let bits = BITS.min(2 * k as u32);
        let mut bounds = device.alloc((1 << bits) + 1)?;
        K::bounds(&stream, kmers.view(), k, bits, bounds.view_mut())?;
        let bounds = stream.download_vec(bounds.view())?;
        drop(pieces);
        Ok(SortedTable { device: device.clone(), kmers, counts, bounds, bits })
    }
}

impl<K: GpuKmer> Source<K> for SortedTable<K> {
    fn sections(&self) -> Box<dyn Sections<K> + '_> {
        Box::new(Download { table: self, workspace: OnceCell::new(), pairs: Vec::new() })
    }
}

/// One writer's way out of device memory.
struct Download<'t, K: GpuKmer> {
    table: &'t SortedTable<K>,
    workspace: OnceCell<Workspace<K>>,
    pairs: Vec<(K, u32)>,
}

struct Workspace<K: GpuKmer> {
    stream: Stream,
    kmers: PinnedBuffer<K::Word>,
    counts: PinnedBuffer<u32>,
}

impl<K: GpuKmer> Sections<K> for Download<'_, K> {
    fn section(
        &mut self,
        section: usize,
        section_bits: u32,
        each: Stretches<'_, K>,
    ) -> Result<(), Error> {
        let table = self.table;
        let finer = table.bits - section_bits;
        let bound = |section: usize| table.bounds[section << finer] as usize;
        let (mut start, end) = (bound(section), bound(section + 1));
        loop {
            let range = start..end.min(start + AT_ONCE);
            self.fetch(range.clone())?;
            each(&self.pairs, range.end == end)?;
            start = range.end;
            if start == end {
                return Ok(());
            }
        }
    }
}

impl<K: GpuKmer> Download<'_, K> {
    /// Brings a stretch of the table to the host.
    fn fetch(&mut self, range: std::ops::Range<usize>) -> Result<(), Error> {
        let table = self.table;
        if self.workspace.get().is_none_or(|workspace| workspace.counts.len() < range.len()) {
            let room = range.len().next_power_of_two();
            let workspace = Workspace {
                stream: table.device.stream()?,
                kmers: table.device.alloc_pinned(room)?,
                counts: table.device.alloc_pinned(room)?,
            };
            self.workspace = OnceCell::from(workspace);
        }
        self.pairs.clear();
        if let Some(Workspace { stream, kmers, counts }) = self.workspace.get_mut() {
            stream.download(table.kmers.slice(range.clone()), kmers, 0)?;
            stream.download(table.counts.slice(range.clone()), counts, 0)?;
            let (kmers, counts) = (kmers.as_slice()?, counts.as_slice()?);
            let pairs = kmers[..range.len()].iter().zip(&counts[..range.len()]);
            self.pairs.extend(pairs.map(|(&key, &count)| (K::from_key(key), count)));
        }
        Ok(())
    }
}
