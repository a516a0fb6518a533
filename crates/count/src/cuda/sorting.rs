//! Phase 3 where the host holds what stays: devices sort the ranges that are worth the way.

use std::sync::atomic::{AtomicUsize, Ordering};

use merganser_gpu::{
    Device, DeviceBuffer, Error as GpuError, PinnedBuffer, Result as GpuResult, Stream, primitives,
};
use merganser_kmers::scattered::sort_range;

use super::kernels::GpuKmer;
use crate::Error;
use crate::emit::{Sections, Sorting, Source};
use crate::results::Results;

/// Fewer k-mers are sorted here before they would have gone there and come back.
const LEAST_KMERS: usize = 1 << 15;

/// The host's results, whose ranges are sorted on devices.
pub(crate) struct SortedOnDevices<'s, 'p, K> {
    results: &'s Results<'p, K>,
    devices: &'s [Device],
    /// k-mers that each worker may sort on a device at a time.
    most: usize,
    workers: AtomicUsize,
}

impl<'s, 'p, K: GpuKmer> SortedOnDevices<'s, 'p, K> {
    /// For so many threads, which take the devices in turn; one uses up to `bytes` of a device's
    /// memory.
    pub(crate) fn new(
        results: &'s Results<'p, K>,
        devices: &'s [Device],
        bytes: u64,
    ) -> SortedOnDevices<'s, 'p, K> {
        // Two buffers of each, and what a sort needs besides.
        let kmer_bytes = 2 * (size_of::<K::Word>() as u64 + 4) / 16 * 17;
        let most = (bytes.saturating_sub(1 << 20) / kmer_bytes) as usize;
        SortedOnDevices { results, devices, most, workers: AtomicUsize::new(0) }
    }
}

impl<K: GpuKmer> Source<K> for SortedOnDevices<'_, '_, K> {
    fn sections(&self) -> Box<dyn Sections<K> + '_> {
        let worker = self.workers.fetch_add(1, Ordering::Relaxed);
        let device = self.devices[worker % self.devices.len()].clone();
        let k = self.results.scattered().k();
        let mut there = OnDevice { device, k, most: self.most, buffers: None };
        let sort = move |kmers: &mut Vec<_>, swap: &mut Vec<_>, bits| there.sort(kmers, swap, bits);
        Box::new(Sorting::new(self.results, Box::new(sort)))
    }
}

/// One worker's way over a device.
struct OnDevice<K: GpuKmer> {
    device: Device,
    k: usize,
    most: usize,
    buffers: Option<Buffers<K>>,
}

struct Buffers<K: GpuKmer> {
    stream: Stream,
    kmers: PinnedBuffer<K::Word>,
    counts: PinnedBuffer<u32>,
    kmers_there: [DeviceBuffer<K::Word>; 2],
    counts_there: [DeviceBuffer<u32>; 2],
    scratch: DeviceBuffer<u8>,
}

impl<K: GpuKmer> OnDevice<K> {
    /// Sorts as a [`Sorter`](crate::emit::Sorter).
    fn sort(
        &mut self,
        kmers: &mut Vec<(K, u32)>,
        swap: &mut Vec<(K, u32)>,
        bits: u32,
    ) -> Result<(), Error> {
        if (LEAST_KMERS..=self.most).contains(&kmers.len()) {
            match self.sort_there(kmers, bits) {
                // Then it is sorted here, and so are all that follow.
                Err(GpuError::OutOfMemory { .. }) => self.most = 0,
                done => return Ok(done?),
            }
        }
        sort_range(kmers, swap, self.k, bits);
        Ok(())
    }

    fn sort_there(&mut self, kmers: &mut [(K, u32)], bits: u32) -> GpuResult<()> {
        let len = kmers.len();
        if self.buffers.as_ref().is_none_or(|buffers| buffers.counts.len() < len) {
            // The old ones first, so that both are never there together.
            self.buffers = None;
            let room = (len + len / 4).min(self.most);
            self.buffers = Some(Buffers::new(&self.device, room, self.k)?);
        }
        let Some(buffers) = &mut self.buffers else { return Ok(()) };
        let keys = buffers.kmers.as_mut_slice()?.iter_mut();
        let counts = buffers.counts.as_mut_slice()?.iter_mut();
        for ((key, count), pair) in keys.zip(counts).zip(&*kmers) {
            (*key, *count) = (pair.0.key(), pair.1);
        }
        buffers.sort(len, 0..2 * self.k as u32 - bits)?;
        let (keys, counts) = (buffers.kmers.as_slice()?, buffers.counts.as_slice()?);
        for (pair, (&key, &count)) in kmers.iter_mut().zip(keys.iter().zip(counts)) {
            *pair = (K::from_key(key), count);
        }
        Ok(())
    }
}

impl<K: GpuKmer> Buffers<K> {
    fn new(device: &Device, room: usize, k: usize) -> GpuResult<Self> {
        let scratch = primitives::sort_pairs_scratch::<K::Word>(device, room, 0..2 * k as u32)?;
        Ok(Buffers {
            stream: device.stream()?,
            kmers_there: [device.alloc(room)?, device.alloc(room)?],
            counts_there: [device.alloc(room)?, device.alloc(room)?],
            scratch: device.alloc(scratch)?,
            kmers: device.alloc_pinned(room)?,
            counts: device.alloc_pinned(room)?,
        })
    }

    /// Sorts the first `len` of the pinned k-mers by some bits, and their counts with them.
    fn sort(&mut self, len: usize, bits: std::ops::Range<u32>) -> GpuResult<()> {
        let Buffers { stream, kmers, counts, kmers_there, counts_there, scratch } = self;
        stream.upload(kmers, 0..len, kmers_there[0].view_mut())?;
        stream.upload(counts, 0..len, counts_there[0].view_mut())?;
        let place = primitives::sort_pairs(
            stream,
            kmers_there.each_mut().map(|buffer| buffer.slice_mut(..len)),
            counts_there.each_mut().map(|buffer| buffer.slice_mut(..len)),
            bits,
            scratch.view_mut(),
        )?;
        stream.download(kmers_there[place].slice(..len), kmers, 0)?;
        stream.download(counts_there[place].slice(..len), counts, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use merganser_seq::kmer::Wide;

    /// k-mers of `k` bases whose first `bits` bits are those of `prefix`, sorted there and here.
    fn check<K: GpuKmer>(device: &Device, k: usize, bits: u32) {
        let len = LEAST_KMERS as u64 + 77;
        let rest = 2 * k as u32 - bits;
        let spread = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - rest.min(64));
        let prefix = K::from_low(5).shl(rest).and(K::mask(k));
        let mut kmers: Vec<(K, u32)> =
            (0..len).map(|i| (prefix.or(K::from_low(spread(i))), i as u32 + 1)).collect();
        kmers.sort_unstable();
        kmers.dedup_by_key(|(kmer, _)| *kmer);
        let expected = kmers.clone();
        kmers.sort_unstable_by_key(|&(_, count)| count);
        let mut sorter = OnDevice { device: device.clone(), k, most: usize::MAX, buffers: None };
        assert!(kmers.len() >= LEAST_KMERS || bits > 8, "enough to go there");
        sorter.sort(&mut kmers, &mut Vec::new(), bits).unwrap();
        assert!(kmers == expected, "k {k}, {bits} bits");
        assert!(sorter.buffers.is_some(), "it went there");
    }

    #[test]
    fn every_width_is_sorted_as_here() {
        let device = match Device::open(0) {
            Ok(device) => device,
            Err(error) => {
                assert!(std::env::var_os("MERGANSER_REQUIRE_GPU").is_none(), "{error}");
                return eprintln!("skipped: {error}");
            }
        };
        check::<u32>(&device, 16, 12);
        check::<u64>(&device, 28, 12);
        check::<u128>(&device, 55, 12);
        check::<Wide>(&device, 128, 12);
        check::<Wide>(&device, 70, 0);
    }
}
