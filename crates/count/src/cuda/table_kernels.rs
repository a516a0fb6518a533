//! Safe functions for the kernels that pack kept k-mers and encode tables.
#![allow(unsafe_code, reason = "foreign functions")]

use std::ffi::c_void;

use merganser_gpu::{DeviceSlice, DeviceSliceMut, RawStream, Result, Stream};
use merganser_kmers::scattered::{LARGE_COUNT_BYTES, Scattered};

use super::kernels::GpuKmer;

/// The largest number of k-mers of a table's block.
pub(crate) const TABLE_BLOCK: usize = 256;

merganser_gpu::shared! {
    /// The arguments for k-mers of any width: the layout is that of `uint32_t`.
    struct SplitArguments = "mgpu::split_arguments<uint32_t>" {
        kmers: *const c_void,
        counts: *const u32,
        count: u64,
        kmers_out: *mut c_void,
        counts_out: *mut u32,
        numbers: *mut u64,
    }

    /// The arguments for k-mers of any width: the layout is that of `uint32_t`.
    struct PackArguments = "mgpu::pack_arguments<uint32_t>" {
        kmers: *const c_void,
        counts: *const u32,
        count: u64,
        kmer_bytes: u32,
        large: bool,
        records: *mut u8,
    }

    struct PackedRuns = "mgpu::packed_runs" {
        records: *const u8,
        starts: *const u64,
        ranges: *const u32,
        runs: u32,
        kmer_bytes: u32,
        rest: i32,
    }

    /// The arguments for k-mers of any width: the layout is that of `uint32_t`.
    struct UnpackArguments = "mgpu::unpack_arguments<uint32_t>" {
        runs: PackedRuns,
        count: u64,
        kmers: *mut c_void,
        counts: *mut u32,
        made: *mut u64,
    }

    /// The arguments for k-mers of any width: the layout is that of `uint32_t`.
    struct BlockArguments = "mgpu::block_arguments<uint32_t>" {
        kmers: *const c_void,
        counts: *const u32,
        kmer_starts: *const u64,
        block_starts: *const u64,
        sections: u32,
        sizes: *mut u32,
        firsts: *mut c_void,
        places: *const u64,
        bytes: *mut u8,
    }
}

merganser_gpu::foreign! {
    fn merganser_count_split(key_bytes: u32, arguments: *const SplitArguments, stream: RawStream);
    fn merganser_count_pack(key_bytes: u32, arguments: *const PackArguments, stream: RawStream);
    fn merganser_count_unpack(key_bytes: u32, arguments: *const UnpackArguments, stream: RawStream);
    fn merganser_count_unpack_any(
        key_bytes: u32, arguments: *const UnpackArguments, stream: RawStream,
    );
    fn merganser_count_block_sizes(
        key_bytes: u32, arguments: *const BlockArguments, blocks: u32, stream: RawStream,
    );
    fn merganser_count_write_blocks(
        key_bytes: u32, arguments: *const BlockArguments, blocks: u32, stream: RawStream,
    );
}

/// k-mers and their counts; both slices have the same length.
pub(crate) struct Pairs<'p, K: GpuKmer> {
    pub(crate) kmers: DeviceSlice<'p, K::Word>,
    pub(crate) counts: DeviceSlice<'p, u32>,
}

/// Room for k-mers and their counts; both slices have the same length.
pub(crate) struct PairsMut<'p, K: GpuKmer> {
    pub(crate) kmers: DeviceSliceMut<'p, K::Word>,
    pub(crate) counts: DeviceSliceMut<'p, u32>,
}

impl<'p, K: GpuKmer> PairsMut<'p, K> {
    pub(crate) fn as_pairs(&self) -> Pairs<'_, K> {
        Pairs { kmers: self.kmers.as_slice(), counts: self.counts.as_slice() }
    }

    /// Borrows the pairs for a shorter time.
    pub(crate) fn reborrow(&mut self) -> PairsMut<'_, K> {
        PairsMut { kmers: self.kmers.reborrow(), counts: self.counts.reborrow() }
    }

    pub(crate) fn slice_mut(self, range: std::ops::Range<usize>) -> PairsMut<'p, K> {
        PairsMut {
            kmers: self.kmers.slice_mut(range.clone()),
            counts: self.counts.slice_mut(range),
        }
    }
}

/// Partitions k-mers, unordered: those with small counts go to the start of `to`, which has the same length,
/// those with large counts to its end; `numbers` becomes the number of each.
pub(crate) fn split<K: GpuKmer>(
    stream: &Stream,
    pairs: &Pairs<'_, K>,
    to: &mut PairsMut<'_, K>,
    mut numbers: DeviceSliceMut<'_, u64>,
) -> Result<()> {
    let count = pairs.kmers.len();
    assert!(pairs.counts.len() == count && to.kmers.len() == count && to.counts.len() == count);
    assert!(numbers.len() >= 2);
    stream.fill(numbers.reborrow(), 0)?;
    stream.launch("telling large counts apart", |raw| {
        let arguments = SplitArguments {
            kmers: pairs.kmers.as_ptr().cast(),
            counts: pairs.counts.as_ptr(),
            count: count as u64,
            kmers_out: to.kmers.as_mut_ptr().cast(),
            counts_out: to.counts.as_mut_ptr(),
            numbers: numbers.as_mut_ptr(),
        };
        // SAFETY: `to` has the length of `pairs`, and `numbers` holds two items.
        unsafe { merganser_count_split(K::KEY_BYTES, &arguments, raw) }
    })
}

/// The sizes of packed records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// The number of bytes of a k-mer in a record.
    kmer_bytes: usize,
    /// The number of low bits of a k-mer, below those of its range.
    rest: u32,
}

impl Layout {
    pub(crate) fn of<K: GpuKmer>(scattered: &Scattered<'_, K>) -> Layout {
        let records = scattered.records();
        let rest = 2 * records.k() as u32 - records.range_bits();
        Layout { kmer_bytes: records.kmer_bytes(), rest }
    }

    /// Returns the number of bytes of a record.
    pub(crate) fn bytes(&self, large: bool) -> usize {
        self.kmer_bytes + 1 + if large { LARGE_COUNT_BYTES } else { 0 }
    }
}

/// Packs k-mers, whose counts are all large or all small.
pub(crate) fn pack<K: GpuKmer>(
    stream: &Stream,
    pairs: &Pairs<'_, K>,
    layout: Layout,
    large: bool,
    mut records: DeviceSliceMut<'_, u8>,
) -> Result<()> {
    let count = pairs.kmers.len();
    assert!(pairs.counts.len() == count && records.len() >= count * layout.bytes(large));
    stream.launch("packing k-mers", |raw| {
        let arguments = PackArguments {
            kmers: pairs.kmers.as_ptr().cast(),
            counts: pairs.counts.as_ptr(),
            count: count as u64,
            kmer_bytes: layout.kmer_bytes as u32,
            large,
            records: records.as_mut_ptr(),
        };
        // SAFETY: `records` has room for all records.
        unsafe { merganser_count_pack(K::KEY_BYTES, &arguments, raw) }
    })
}

/// Runs of packed records; all records of a run are of one range.
pub(crate) struct Runs<'r> {
    pub(crate) records: DeviceSlice<'r, u8>,
    /// The start of each run, and the end of the last, in bytes: strictly increasing from 0.
    pub(crate) starts: DeviceSlice<'r, u64>,
    pub(crate) ranges: DeviceSlice<'r, u32>,
    pub(crate) layout: Layout,
}

impl Runs<'_> {
    fn arguments<K: GpuKmer>(&self, to: &mut PairsMut<'_, K>) -> UnpackArguments {
        assert!(self.starts.len() == self.ranges.len() + 1 && to.kmers.len() == to.counts.len());
        UnpackArguments {
            runs: PackedRuns {
                records: self.records.as_ptr(),
                starts: self.starts.as_ptr(),
                ranges: self.ranges.as_ptr(),
                runs: self.ranges.len() as u32,
                kmer_bytes: self.layout.kmer_bytes as u32,
                rest: self.layout.rest as i32,
            },
            count: to.kmers.len() as u64,
            kmers: to.kmers.as_mut_ptr().cast(),
            counts: to.counts.as_mut_ptr(),
            made: std::ptr::null_mut(),
        }
    }

    /// Unpacks runs with only small counts: as many k-mers as `to` has room for.
    pub(crate) fn unpack<K: GpuKmer>(
        &self,
        stream: &Stream,
        to: &mut PairsMut<'_, K>,
    ) -> Result<()> {
        assert!(self.records.len() >= to.kmers.len() * self.layout.bytes(false));
        let arguments = self.arguments(to);
        stream.launch("unpacking k-mers", |raw| {
            // SAFETY: there are `to.kmers.len()` records, each in a run, and room for their k-mers.
            unsafe { merganser_count_unpack(K::KEY_BYTES, &arguments, raw) }
        })
    }

    /// Unpacks any runs, unordered; waits, and returns the number of k-mers. Runs for which `to` has no room are
    /// skipped.
    pub(crate) fn unpack_any<K: GpuKmer>(
        &self,
        stream: &Stream,
        to: &mut PairsMut<'_, K>,
        mut made: DeviceSliceMut<'_, u64>,
    ) -> Result<u64> {
        assert!(!made.is_empty());
        stream.fill(made.reborrow(), 0)?;
        let arguments = UnpackArguments { made: made.as_mut_ptr(), ..self.arguments(to) };
        stream.launch("unpacking k-mers", |raw| {
            // SAFETY: runs consist of whole records and end where the next starts, and the kernel writes
            // only `count` k-mers.
            unsafe { merganser_count_unpack_any(K::KEY_BYTES, &arguments, raw) }
        })?;
        let mut number = [0];
        stream.download_now(made.as_slice().slice(..1), &mut number)?;
        Ok(number[0])
    }
}

/// Sorted k-mers that are to be encoded as a table's blocks.
pub(crate) struct Blocks<'b, K: GpuKmer> {
    pub(crate) pairs: Pairs<'b, K>,
    /// The index of each section's first k-mer, and the number of k-mers.
    pub(crate) kmer_starts: DeviceSlice<'b, u64>,
    /// The index of each section's first block, and the number of blocks.
    pub(crate) block_starts: DeviceSlice<'b, u64>,
    /// The number of blocks.
    pub(crate) blocks: usize,
}

impl<K: GpuKmer> Blocks<'_, K> {
    fn arguments(&self) -> BlockArguments {
        assert!(self.kmer_starts.len() == self.block_starts.len() && !self.kmer_starts.is_empty());
        BlockArguments {
            kmers: self.pairs.kmers.as_ptr().cast(),
            counts: self.pairs.counts.as_ptr(),
            kmer_starts: self.kmer_starts.as_ptr(),
            block_starts: self.block_starts.as_ptr(),
            sections: self.kmer_starts.len() as u32 - 1,
            sizes: std::ptr::null_mut(),
            firsts: std::ptr::null_mut(),
            places: std::ptr::null(),
            bytes: std::ptr::null_mut(),
        }
    }

    /// Computes the size in bytes and the first k-mer of each block.
    pub(crate) fn sizes(
        &self,
        stream: &Stream,
        mut sizes: DeviceSliceMut<'_, u32>,
        mut firsts: DeviceSliceMut<'_, K::Word>,
    ) -> Result<()> {
        assert!(sizes.len() >= self.blocks && firsts.len() >= self.blocks);
        let arguments = BlockArguments {
            sizes: sizes.as_mut_ptr(),
            firsts: firsts.as_mut_ptr().cast(),
            ..self.arguments()
        };
        stream.launch("measuring blocks", |raw| {
            // SAFETY: both outputs have an item for each block; the sections cover exactly the k-mers.
            unsafe {
                merganser_count_block_sizes(K::KEY_BYTES, &arguments, self.blocks as u32, raw)
            }
        })
    }

    /// Writes the blocks at `places`, the prefix sums of their sizes; `bytes` has room for all.
    pub(crate) fn write(
        &self,
        stream: &Stream,
        places: DeviceSlice<'_, u64>,
        mut bytes: DeviceSliceMut<'_, u8>,
    ) -> Result<()> {
        assert!(places.len() >= self.blocks);
        let arguments = BlockArguments {
            places: places.as_ptr(),
            bytes: bytes.as_mut_ptr(),
            ..self.arguments()
        };
        stream.launch("encoding blocks", |raw| {
            // SAFETY: the caller's buffer has as many bytes as the sizes add up to.
            unsafe {
                merganser_count_write_blocks(K::KEY_BYTES, &arguments, self.blocks as u32, raw)
            }
        })
    }
}
