//! Safe functions for the kernels that cut and count. The unsafe code of this crate is here, in
//! `gathering` and in `table_kernels`.
#![allow(unsafe_code, reason = "foreign functions")]

use std::ffi::c_void;

use merganser_gpu::primitives::SortKey;
use merganser_gpu::{DeviceSlice, DeviceSliceMut, RawStream, Result, Status, Stream};
use merganser_seq::kmer::{Kmer, Wide};
use merganser_seq::signature::{self, Rule};

/// The number of bases of a tile: a batch of the parsers.
pub(crate) const TILE_BASES: usize = 4096;
/// The number of 64-bit words of a tile's bases, 32 a word.
pub(crate) const TILE_WORDS: usize = TILE_BASES / 32;
/// The number of 64-bit words of a tile's cuts, one bit per base.
pub(crate) const CUT_WORDS: usize = TILE_BASES / 64;
/// The largest number of bins that the kernels support.
pub(crate) const MAX_BINS: usize = 1024;
/// The limit below which counts have a counter each on the device; larger counts are listed.
pub(crate) const COUNTERS: usize = 1024;
/// The number of keys that a block searches for runs at a time.
pub(crate) const RUN_TILE: usize = 4096;
/// The number of bits by which scrambled keys are sorted.
pub(crate) const SORTED_BITS: u32 = 40;
/// The number of words of the totals of a search for runs: kept, left over, large, then the counters.
pub(crate) const TOTAL_WORDS: usize = 3 + COUNTERS;

merganser_gpu::shared! {
    /// The map from signatures to bins.
    struct SignatureBins = "mgpu::bin_map" {
        bin_of: *const u16,
        multiplier: u32,
        shift: u32,
    }

    /// The bases of tiles.
    struct TileLetters = "mgpu::tile_letters" {
        bases: *const u64,
        cuts: *const u64,
        first: u64,
        end: u64,
        stride: u32,
        reserved: u32,
    }

    struct CutArguments = "mgpu::partition_arguments" {
        letters: TileLetters,
        bins: SignatureBins,
        bin_count: u32,
        tiles: u32,
        k: i32,
        p: i32,
        words: i32,
        canonical: bool,
        pieces: *mut u32,
        piece_count: *mut u32,
        counts: *mut u64,
    }

    struct ScatterArguments = "mgpu::scatter_arguments" {
        letters: TileLetters,
        pieces: *const u32,
        piece_count: *const u32,
        sums: *const u64,
        out: *mut u64,
        room: u64,
        bin_count: u32,
        tiles: u32,
        k: i32,
        words: i32,
    }

    /// The arguments for keys of any width: the layout is that of `uint32_t`.
    struct ExpandArguments = "mgpu::expand_arguments<uint32_t>" {
        records: *const u64,
        count: u64,
        k: i32,
        canonical: bool,
        parts: u32,
        part: u32,
        out: *mut c_void,
        room: u64,
        made: *mut u64,
    }

    /// The arguments for keys of any width: the layout is that of `uint32_t`.
    struct RunArguments = "mgpu::run_arguments<uint32_t>" {
        keys: *const c_void,
        count: u64,
        low_mask: u64,
        mixed: bool,
        k: i32,
        least: u32,
        most: u32,
        kmers: *mut c_void,
        counts: *mut u32,
        changes: *mut u8,
        left: *mut u64,
        left_room: u64,
        large: *mut u32,
        totals: *mut u64,
    }
}

merganser_gpu::foreign! {
    fn merganser_count_sizes(
        tile: *mut u32, bins: *mut u32, counters: *mut u32, run_tile: *mut u32,
        table_block: *mut u32,
    );
    fn merganser_count_cut(rule: u32, arguments: *const CutArguments, stream: RawStream);
    fn merganser_count_bin_starts(
        sums: *const u64, bins: u32, tiles: u32, starts: *mut u64, stream: RawStream,
    );
    fn merganser_count_scatter(arguments: *const ScatterArguments, stream: RawStream);
    fn merganser_count_expand(
        key_bytes: u32, arguments: *const ExpandArguments, stream: RawStream,
    );
    fn merganser_count_runs(key_bytes: u32, arguments: *const RunArguments, stream: RawStream);
    fn merganser_count_left_runs(
        key_bytes: u32, arguments: *const RunArguments, stream: RawStream,
    );
    fn merganser_count_bounds(
        key_bytes: u32, kmers: *const c_void, count: u64, k: i32, bits: i32, bounds: *mut u64,
        stream: RawStream,
    );
}

/// Bases in device memory, of which tiles are stretches of [`TILE_BASES`].
#[derive(Clone, Copy)]
pub(crate) struct Letters<'t> {
    /// 32 bases a word, the first in the top bits.
    pub(crate) bases: DeviceSlice<'t, u64>,
    /// The cuts of 64 bases a word, the first in the lowest bit. Those after `end` are unspecified.
    pub(crate) cuts: DeviceSlice<'t, u64>,
    /// The first base of the first tile.
    pub(crate) first: usize,
    /// The end of the bases.
    pub(crate) end: usize,
    /// The number of bases from one tile to the next.
    pub(crate) stride: usize,
}

impl<'t> Letters<'t> {
    /// Returns the bases of `tiles` tiles of the host: first the bases ([`TILE_WORDS`] words a tile), then the cuts
    /// ([`CUT_WORDS`] words a tile).
    pub(crate) fn of_host(packed: DeviceSlice<'t, u64>, tiles: usize) -> Letters<'t> {
        Letters {
            bases: packed.slice(..tiles * TILE_WORDS),
            cuts: packed.slice(tiles * TILE_WORDS..),
            first: 0,
            end: tiles * TILE_BASES,
            stride: TILE_BASES,
        }
    }

    /// Returns the number of tiles.
    pub(crate) fn tiles(&self) -> usize {
        let shared = TILE_BASES - self.stride;
        (self.end - self.first).saturating_sub(shared).div_ceil(self.stride)
    }

    /// Returns the letters after the first `number` tiles.
    pub(crate) fn after_tiles(self, number: usize) -> Letters<'t> {
        Letters { first: self.first + number * self.stride, ..self }
    }

    fn arguments(&self) -> TileLetters {
        TileLetters {
            bases: self.bases.as_ptr(),
            cuts: self.cuts.as_ptr(),
            first: self.first as u64,
            end: self.end as u64,
            stride: self.stride as u32,
            reserved: 0,
        }
    }

    /// Checks that `tiles` tiles can be read, with one more word if a tile begins within a word.
    fn check(&self, tiles: usize) {
        let end = self.first + tiles.saturating_sub(1) * self.stride + TILE_BASES;
        let more = usize::from(!(self.first | self.stride).is_multiple_of(64));
        assert!(self.bases.len() >= end.div_ceil(32) + more);
        assert!(self.cuts.len() >= end.min(self.end).div_ceil(64) + more);
    }
}

/// Tiles to cut, in device memory.
#[derive(Clone, Copy)]
pub(crate) struct Tiles<'t> {
    pub(crate) letters: Letters<'t>,
    pub(crate) tiles: usize,
    pub(crate) bins: usize,
    pub(crate) k: usize,
    /// The number of words of a record.
    pub(crate) words: usize,
}

/// The choice of signatures, and the map from signatures to bins.
pub(crate) struct Signatures<'t> {
    pub(crate) rule: Rule,
    pub(crate) len: usize,
    pub(crate) canonical: bool,
    pub(crate) bin_of: DeviceSlice<'t, u16>,
    pub(crate) multiplier: u32,
    pub(crate) shift: u32,
}

/// The positions of the super-k-mers of tiles, written by [`cut`] and not modified afterwards.
pub(crate) struct Pieces<'t> {
    tiles: Tiles<'t>,
    pieces: DeviceSliceMut<'t, u32>,
    piece_count: DeviceSliceMut<'t, u32>,
}

/// Cuts tiles into super-k-mers: writes the pieces, and for each (bin, tile) its number of
/// k-mers << 32 | records, with one more item for the total.
pub(crate) fn cut<'t>(
    stream: &Stream,
    tiles: Tiles<'t>,
    signatures: &Signatures<'_>,
    mut pieces: DeviceSliceMut<'t, u32>,
    mut piece_count: DeviceSliceMut<'t, u32>,
    mut counts: DeviceSliceMut<'_, u64>,
) -> Result<Pieces<'t>> {
    tiles.check(pieces.len(), piece_count.len(), counts.len());
    let slots = match signatures.shift {
        0 => signature::values(signatures.len),
        shift => 1 << (32 - shift),
    };
    assert!(signatures.bin_of.len() >= slots, "a bin for every signature");
    let rule = Rule::ALL.iter().position(|&rule| rule == signatures.rule).unwrap_or(0) as u32;
    stream.launch("cutting super-k-mers", |raw| {
        let arguments = CutArguments {
            letters: tiles.letters.arguments(),
            bins: SignatureBins {
                bin_of: signatures.bin_of.as_ptr(),
                multiplier: signatures.multiplier,
                shift: signatures.shift,
            },
            bin_count: tiles.bins as u32,
            tiles: tiles.tiles as u32,
            k: tiles.k as i32,
            p: signatures.len as i32,
            words: tiles.words as i32,
            canonical: signatures.canonical,
            pieces: pieces.as_mut_ptr(),
            piece_count: piece_count.as_mut_ptr(),
            counts: counts.as_mut_ptr(),
        };
        // SAFETY: `check` has verified the sizes of all buffers.
        unsafe { merganser_count_cut(rule, &arguments, raw) }
    })?;
    Ok(Pieces { tiles, pieces, piece_count })
}

/// Computes the totals before each bin, and over all, from the prefix sums of the counts of [`cut`].
pub(crate) fn bin_starts(
    stream: &Stream,
    tiles: &Tiles<'_>,
    sums: DeviceSlice<'_, u64>,
    mut starts: DeviceSliceMut<'_, u64>,
) -> Result<()> {
    assert!(sums.len() > tiles.bins * tiles.tiles && starts.len() > tiles.bins);
    stream.launch("finding the bins", |raw| {
        let (bins, tiles) = (tiles.bins as u32, tiles.tiles as u32);
        // SAFETY: the buffers have an item for each bin and one more.
        unsafe { merganser_count_bin_starts(sums.as_ptr(), bins, tiles, starts.as_mut_ptr(), raw) }
    })
}

impl Pieces<'_> {
    /// Writes the records by bin. `sums` are the prefix sums of the counts of [`cut`]; records for which `out`
    /// has no room are not written.
    pub(crate) fn scatter(
        &self,
        stream: &Stream,
        sums: DeviceSlice<'_, u64>,
        mut out: DeviceSliceMut<'_, u64>,
    ) -> Result<()> {
        let tiles = &self.tiles;
        tiles.check(self.pieces.len(), self.piece_count.len(), sums.len());
        stream.launch("sending super-k-mers to their bins", |raw| {
            let arguments = ScatterArguments {
                letters: tiles.letters.arguments(),
                pieces: self.pieces.as_slice().as_ptr(),
                piece_count: self.piece_count.as_slice().as_ptr(),
                sums: sums.as_ptr(),
                room: (out.len() / tiles.words) as u64,
                out: out.as_mut_ptr(),
                bin_count: tiles.bins as u32,
                tiles: tiles.tiles as u32,
                k: tiles.k as i32,
                words: tiles.words as i32,
            };
            // SAFETY: as in `cut`, which wrote the pieces; the kernel writes only `room` records.
            unsafe { merganser_count_scatter(&arguments, raw) }
        })
    }
}

impl Tiles<'_> {
    fn check(&self, pieces: usize, piece_counts: usize, counts: usize) {
        let Tiles { tiles, bins, .. } = *self;
        assert!(bins <= MAX_BINS);
        self.letters.check(tiles);
        assert!(pieces >= tiles * TILE_BASES && piece_counts >= tiles && counts > bins * tiles);
    }
}

/// A part of the k-mers of a bin, chosen by a hash: part `part` of `parts`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BinSubset {
    pub(crate) parts: u32,
    pub(crate) part: u32,
}

/// The buffers of a search for runs in `keys`, which are sorted by their low `bits` bits.
pub(crate) struct Runs<'r, T: SortKey> {
    pub(crate) keys: DeviceSlice<'r, T>,
    pub(crate) bits: u32,
    pub(crate) k: usize,
    /// The smallest count that is kept.
    pub(crate) least: u32,
    /// The largest count that is kept.
    pub(crate) most: u32,
    /// The kept k-mers; there are at most as many as runs.
    pub(crate) kmers: DeviceSliceMut<'r, T>,
    pub(crate) counts: DeviceSliceMut<'r, u32>,
    pub(crate) changes: DeviceSliceMut<'r, u8>,
    pub(crate) left: DeviceSliceMut<'r, u64>,
    pub(crate) large: DeviceSliceMut<'r, u32>,
    /// [`TOTAL_WORDS`] words; `count_runs` zeroes them.
    pub(crate) totals: DeviceSliceMut<'r, u64>,
}

impl<T: SortKey> Runs<'_, T> {
    fn check(&self) {
        let keys = self.keys.len();
        let kept = keys / self.least.max(1) as usize;
        assert!(self.least > self.most || (self.kmers.len() >= kept && self.counts.len() >= kept));
        assert!(self.changes.len() >= keys.div_ceil(RUN_TILE));
        assert!(self.large.len() >= keys / COUNTERS && self.totals.len() >= TOTAL_WORDS);
    }
}

/// A k-mer that devices can count, with its integer type on the device.
pub(crate) trait GpuKmer: Kmer {
    /// The type with the same bits in C++.
    type Word: SortKey;
    /// The number of 64-bit words of a super-k-mer's record.
    const WORDS: usize;
    /// The number of bytes of a key, by which kernels are chosen.
    const KEY_BYTES: u32 = size_of::<Self::Word>() as u32;

    fn from_key(key: Self::Word) -> Self;

    /// Expands records into scrambled k-mers, appended to the `made[0]` that are in `out`, and adds their
    /// number to `made[0]`; k-mers for which there is no room are only counted.
    fn expand(
        stream: &Stream,
        records: DeviceSlice<'_, u64>,
        k: usize,
        canonical: bool,
        part: BinSubset,
        mut out: DeviceSliceMut<'_, Self::Word>,
        mut made: DeviceSliceMut<'_, u64>,
    ) -> Result<()> {
        assert!(!made.is_empty());
        if records.is_empty() {
            return Ok(());
        }
        stream.launch("expanding super-k-mers", |raw| {
            let arguments = ExpandArguments {
                records: records.as_ptr(),
                count: (records.len() / Self::WORDS) as u64,
                k: k as i32,
                canonical,
                parts: part.parts,
                part: part.part,
                room: out.len() as u64,
                out: out.as_mut_ptr().cast(),
                made: made.as_mut_ptr(),
            };
            // SAFETY: `count` is the number of records, and the kernel writes only `room` keys.
            unsafe { merganser_count_expand(Self::KEY_BYTES, &arguments, raw) }
        })
    }

    /// Computes the index of the first k-mer with each prefix of `bits` bits, and the number of k-mers.
    fn bounds(
        stream: &Stream,
        kmers: DeviceSlice<'_, Self::Word>,
        k: usize,
        bits: u32,
        mut bounds: DeviceSliceMut<'_, u64>,
    ) -> Result<()> {
        assert!(bits <= 2 * k as u32 && bits < 32 && bounds.len() > 1 << bits);
        stream.launch("finding the sections", |raw| {
            let (count, k, bits) = (kmers.len() as u64, k as i32, bits as i32);
            let (kmers, bounds) = (kmers.as_ptr().cast(), bounds.as_mut_ptr());
            // SAFETY: `bounds` has an item for each prefix and one more.
            unsafe { merganser_count_bounds(Self::KEY_BYTES, kmers, count, k, bits, bounds, raw) }
        })
    }
}

/// Returns the bits by which keys of `k` bases are sorted: all, or [`SORTED_BITS`] of scrambled keys.
pub(crate) fn sorted_bits(k: usize) -> u32 {
    (2 * k as u32).min(if k <= 16 { 32 } else { SORTED_BITS })
}

/// The signature of a launcher of a search for runs.
type RunFace = unsafe extern "C" fn(u32, *const RunArguments, RawStream) -> Status;

/// Counts all runs, first those within tiles, then those left over, and returns the totals; `None`, with
/// the results unusable, if more are left over than the list holds.
pub(crate) fn count_runs<T: SortKey>(
    stream: &Stream,
    runs: &mut Runs<'_, T>,
) -> Result<Option<Vec<u64>>> {
    stream.fill(runs.totals.reborrow(), 0)?;
    launch_runs(stream, runs, merganser_count_runs)?;
    let mut found = vec![0; TOTAL_WORDS];
    stream.download_now(runs.totals.as_slice().slice(..TOTAL_WORDS), &mut found)?;
    match found[1] {
        0 => return Ok(Some(found)),
        listed if listed > runs.left.len() as u64 => return Ok(None),
        _ => launch_runs(stream, runs, merganser_count_left_runs)?,
    }
    stream.download_now(runs.totals.as_slice().slice(..TOTAL_WORDS), &mut found)?;
    Ok(Some(found))
}

fn launch_runs<T: SortKey>(stream: &Stream, runs: &mut Runs<'_, T>, face: RunFace) -> Result<()> {
    runs.check();
    if runs.keys.is_empty() {
        return Ok(());
    }
    let low_mask = if runs.bits >= 64 { u64::MAX } else { (1 << runs.bits) - 1 };
    stream.launch("counting runs", |raw| {
        let arguments = RunArguments {
            keys: runs.keys.as_ptr().cast(),
            count: runs.keys.len() as u64,
            low_mask,
            mixed: runs.bits < 2 * runs.k as u32,
            k: runs.k as i32,
            least: runs.least,
            most: runs.most,
            kmers: runs.kmers.as_mut_ptr().cast(),
            counts: runs.counts.as_mut_ptr(),
            changes: runs.changes.as_mut_ptr(),
            left: runs.left.as_mut_ptr(),
            left_room: runs.left.len() as u64,
            large: runs.large.as_mut_ptr(),
            totals: runs.totals.as_mut_ptr(),
        };
        // SAFETY: `check` has verified the room for what the kernel writes; `count_runs` launches the kernel
        // for the runs left over after the kernel that lists them.
        unsafe { face(size_of::<T>() as u32, &arguments, raw) }
    })
}

/// Implements [`GpuKmer`] for the k-mers that are their own keys, with the words of a record.
macro_rules! gpu_kmer {
    ($($K:ty: $words:literal)*) => {$(
        impl GpuKmer for $K {
            type Word = $K;
            const WORDS: usize = $words;

            #[inline(always)]
            fn from_key(key: $K) -> $K {
                key
            }
        }
    )*};
}

gpu_kmer! { u32: 1 u64: 2 u128: 4 }

impl GpuKmer for Wide {
    type Word = [u128; 2];
    const WORDS: usize = 8;

    #[inline(always)]
    fn from_key([high, low]: [u128; 2]) -> Wide {
        let mut bytes = [0; Wide::BYTES];
        low.store(&mut bytes);
        high.store(&mut bytes[16..]);
        Wide::load(&bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::table_kernels::TABLE_BLOCK;

    #[test]
    fn rust_and_cuda_agree_on_sizes() {
        let mut sizes = [0; 5];
        let [tile, bins, counters, run_tile, table_block] = &mut sizes;
        // SAFETY: the pointers are to locals.
        let status = unsafe { merganser_count_sizes(tile, bins, counters, run_tile, table_block) };
        if status == 0 {
            let expected = [TILE_BASES, MAX_BINS, COUNTERS, RUN_TILE, TABLE_BLOCK];
            assert_eq!(sizes.map(|n| n as usize), expected);
        }
        assert_eq!(TILE_BASES, crate::fragments::BATCH_BASES);
    }
}
