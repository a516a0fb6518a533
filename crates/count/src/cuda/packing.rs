//! Packing of the kept k-mers of a workspace: sorted by range and packed, they stay on the device as long as
//! they fit; the others go to the host.

use std::ops::Range;
use std::sync::Arc;

use merganser_gpu::{
    Arena, ArenaBuffer, Device, DeviceBuffer, DeviceSliceMut, Result as GpuResult, Stream,
    primitives,
};

use super::host_writers::{Packed, ToHost};
use super::kernels::GpuKmer;
use super::table_kernels::{self, Layout, Pairs, PairsMut};
use crate::Error;

/// Packed k-mers with small counts, in device memory, sorted by range.
pub(crate) struct PackedKmers {
    pub(crate) records: ArenaBuffer<u8>,
    /// The index of each range's first record, and the number of records.
    pub(crate) bounds: Arc<Vec<u64>>,
}

impl PackedKmers {
    /// Returns the record indices of some ranges.
    pub(crate) fn of(&self, ranges: &Range<usize>) -> Range<usize> {
        self.bounds[ranges.start] as usize..self.bounds[ranges.end] as usize
    }
}

/// The destinations of packed k-mers.
pub(crate) struct Sink<'s> {
    pub(crate) arena: &'s Arena,
    pub(crate) to_host: &'s ToHost,
    /// The records for which the arena had room.
    pub(crate) segments: Vec<PackedKmers>,
}

/// Device buffers in which up to a fixed number of k-mers are packed.
pub(crate) struct Packing<K: GpuKmer> {
    k: usize,
    layout: Layout,
    /// The bits of a k-mer that are its range.
    sorted: Range<u32>,
    counts: DeviceBuffer<u32>,
    numbers: DeviceBuffer<u64>,
    bounds: DeviceBuffer<u64>,
    scratch: DeviceBuffer<u8>,
    kmer: std::marker::PhantomData<K>,
}

impl<K: GpuKmer> Packing<K> {
    /// Returns buffers for up to `most` k-mers of `k` bases.
    pub(crate) fn new(device: &Device, most: usize, k: usize, layout: Layout) -> GpuResult<Self> {
        let range_bits = merganser_kmers::scattered::range_bits(k);
        let sorted = 2 * k as u32 - range_bits..2 * k as u32;
        let scratch = primitives::sort_pairs_scratch::<K::Word>(device, most, sorted.clone())?;
        Ok(Packing {
            k,
            layout,
            sorted,
            counts: device.alloc(most)?,
            numbers: device.alloc(2)?,
            bounds: device.alloc((1 << range_bits) + 1)?,
            scratch: device.alloc(scratch)?,
            kmer: std::marker::PhantomData,
        })
    }

    /// Packs the first k-mers of a buffer, one for each count. `other` is working space of the same size as
    /// the buffer: at least 32 bytes for each large count.
    pub(crate) fn keep(
        &mut self,
        stream: &Stream,
        [mut kmers, mut other]: [DeviceSliceMut<'_, K::Word>; 2],
        mut counts: DeviceSliceMut<'_, u32>,
        sink: &mut Sink<'_>,
    ) -> Result<(), Error> {
        let kept = counts.len();
        let from = Pairs { kmers: kmers.as_slice().slice(..kept), counts: counts.as_slice() };
        let mut to = PairsMut {
            kmers: other.reborrow().slice_mut(..kept),
            counts: self.counts.slice_mut(..kept),
        };
        table_kernels::split::<K>(stream, &from, &mut to, self.numbers.view_mut())?;
        let mut numbers = [0; 2];
        stream.download_now(self.numbers.view(), &mut numbers)?;
        let small = numbers[0] as usize;
        for (large, part) in [(false, 0..small), (true, small..kept)] {
            if part.is_empty() {
                continue;
            }
            let both = [other.reborrow(), kmers.reborrow()];
            let counts = counts.reborrow().slice_mut(part.clone());
            self.keep_alike(stream, (large, part), both, counts, sink)?;
        }
        Ok(())
    }

    /// Packs the k-mers `part` of the first of two buffers, whose counts are in `self` and are all `large` or
    /// all small; `counts` is working space.
    fn keep_alike(
        &mut self,
        stream: &Stream,
        (large, part): (bool, Range<usize>),
        [mut first, mut second]: [DeviceSliceMut<'_, K::Word>; 2],
        mut counts: DeviceSliceMut<'_, u32>,
        sink: &mut Sink<'_>,
    ) -> Result<(), Error> {
        let mut own_counts = self.counts.slice_mut(part.clone());
        let place = primitives::sort_pairs(
            stream,
            [first.reborrow().slice_mut(part.clone()), second.reborrow().slice_mut(part.clone())],
            [own_counts.reborrow(), counts.reborrow()],
            self.sorted.clone(),
            self.scratch.view_mut(),
        )?;
        let (kmers, counts, free) = match place {
            0 => (first, own_counts, second),
            _ => (second, counts, first),
        };
        let sorted = PairsMut::<K> { kmers: kmers.slice_mut(part.clone()), counts };
        let range_bits = self.sorted.len() as u32;
        let kmers = sorted.kmers.as_slice();
        K::bounds(stream, kmers, self.k, range_bits, self.bounds.view_mut())?;
        let bounds = Arc::new(stream.download_vec(self.bounds.view())?);
        let record_bytes = self.layout.bytes(large);
        let bytes = part.len() * record_bytes;
        if !large && let Some(mut records) = sink.arena.cut::<u8>(bytes)? {
            table_kernels::pack(
                stream,
                &sorted.as_pairs(),
                self.layout,
                large,
                records.view_mut(),
            )?;
            sink.segments.push(PackedKmers { records, bounds });
            return Ok(());
        }
        let mut records = free.cast::<u8>().slice_mut(..bytes);
        let to = records.reborrow();
        table_kernels::pack(stream, &sorted.as_pairs(), self.layout, large, to)?;
        let records = records.as_slice();
        sink.to_host.send(stream, &Packed { records, record_bytes, bounds: &bounds })
    }
}
