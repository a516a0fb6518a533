//! The index: the positions of each word of bases in the reference.
//!
//! It lists all positions that are followed by at least [`SHORTEST`] bases of their contig, sorted by the next
//! 32 bases, then by position. A table gives, for each k-mer, the place in this list where its positions begin;
//! k is the largest number for which 4^k is at most the number of bases, limited to 8 to 14. The positions of
//! any word of [`SHORTEST`] to 32 bases are therefore adjacent in the list: for up to k bases the table gives
//! them directly, for longer words a bisection that compares with the reference does.

mod bisect;
mod fasta;
mod file;
mod growing;
mod parts;

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use merganser_run::{Cancel, Warnings};
use merganser_seq::planes::BASES_PER_WORD;

use crate::reference::{Reference, Text};
use crate::{Contig, Error, NMode, Topology};
pub(crate) use bisect::{Bisections, Lookup};
pub use fasta::fasta_of_index;
use file::Mapped;
pub(crate) use growing::Growing;
pub(crate) use parts::{Unsorted, grouped, pieces};

/// The length of the shortest seed, in bases.
pub const SHORTEST: usize = 8;
/// The maximum length of a seed, in bases: only the first bases of longer words are looked up.
pub const LONGEST: usize = 32;
const MAX_K: usize = 14;

/// An index with its reference, in memory or mapped from a file.
#[derive(Debug)]
pub struct Index {
    contigs: Vec<Contig>,
    k: usize,
    data: Data,
    /// The file of the index or, for an index in memory, of the reference.
    source: PathBuf,
    /// Whether it is in memory, and was built with [`Topology::Linear`].
    kept_linear: bool,
}

#[derive(Debug)]
enum Data {
    Owned { reference: Reference, positions: Vec<u32>, table: Vec<u32> },
    Mapped(Mapped),
}

/// A read-only view of an index, which workers search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexView<'a> {
    pub(crate) text: Text<'a>,
    pub(crate) positions: &'a [u32],
    table: &'a [u32],
    k: usize,
}

/// A word of a read to look up: the bit planes of its first 32 bases, and the same bases as a number with the
/// first base in the top bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) planes: [u64; 2],
    pub(crate) packed: u64,
}

/// Returns k for a reference of this many bases.
pub(crate) fn k_of(bases: u64) -> usize {
    (bases.max(1).ilog2() as usize / 2).clamp(SHORTEST, MAX_K)
}

impl Index {
    /// Opens an index file. This checks its header and its list of contigs; [`Index::check`] checks its tables.
    ///
    /// # Errors
    /// If the file cannot be mapped, is not an index, has another version, is truncated or is damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Index, Error> {
        let path = path.as_ref();
        let maker = "merganser index makes one of a reference in FASTA";
        let wanted = "a merganser index (.mgi)";
        if let Some(complaint) = merganser_io::foreign(path, &file::FORMAT.magic, wanted, maker) {
            return Err(Error::index(path, complaint));
        }
        let file = merganser_io::open_file(path);
        let file = file.map_err(|source| Error::File { path: path.to_owned(), source })?;
        Index::of_file(&file, path)
    }

    /// Returns the index in an open file, which messages call `path`.
    fn of_file(file: &File, path: &Path) -> Result<Index, Error> {
        let (mapped, contigs, k) = Mapped::of_file(file, path)?;
        Ok(Index {
            contigs,
            k,
            data: Data::Mapped(mapped),
            source: path.to_owned(),
            kept_linear: false,
        })
    }

    /// Verifies the checksums of all tables. [`run()`](crate::run()) and [`run_in_memory`](crate::run_in_memory) do so before
    /// they use the tables.
    ///
    /// The file is read once by `threads` threads. Later calls read it again only if it was written to since.
    ///
    /// # Errors
    /// If a section is damaged, the file cannot be read or was replaced, or the run is cancelled.
    pub fn check(&self, threads: usize, cancel: &Cancel) -> Result<(), Error> {
        match &self.data {
            Data::Mapped(mapped) => mapped.check(threads, cancel),
            Data::Owned { .. } => Ok(()),
        }
    }

    /// Returns the path of the index or, for an index in memory, of the reference that it was built from, as it was
    /// given; `-` for standard input.
    pub fn source(&self) -> &Path {
        &self.source
    }

    pub(crate) fn set_source(&mut self, source: &Path, topology: &Topology) {
        self.source = source.to_owned();
        self.kept_linear = *topology == Topology::Linear;
    }

    /// Whether the index is in memory, and all contigs are linear whatever their headers state.
    pub(crate) fn is_kept_linear(&self) -> bool {
        self.kept_linear
    }

    /// Returns the contigs in the order of the reference.
    pub fn contigs(&self) -> &[Contig] {
        &self.contigs
    }

    /// Returns the total number of bases of all contigs.
    pub fn bases(&self) -> u64 {
        self.contigs.iter().map(|contig| u64::from(contig.len)).sum()
    }

    /// Returns the length of the k-mers in the table.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Returns the number of positions in the index.
    pub fn positions(&self) -> u64 {
        match &self.data {
            Data::Owned { positions, .. } => positions.len() as u64,
            Data::Mapped(mapped) => mapped.positions().len() as u64,
        }
    }

    /// Adds a warning if the index contains no seed.
    pub(crate) fn warn_of_none(&self, warnings: &Warnings) {
        if self.positions() == 0 {
            warnings.push(format!(
                "the index has no positions, because the reference nowhere has {SHORTEST} bases in a row (N and other \
                 ambiguous letters do not count): no read of usual length can be mapped"
            ));
        }
    }

    /// Returns the number of bytes in memory once all of the index has been used.
    pub fn bytes(&self) -> u64 {
        if let Data::Mapped(mapped) = &self.data {
            return mapped.bytes();
        }
        let view = self.view();
        let words = view.text.low.len() + view.text.high.len() + view.text.others.len();
        (8 * words + 4 * (view.positions.len() + view.table.len())) as u64
    }

    /// Overwrites all positions of an index in memory, as damage could.
    #[cfg(test)]
    pub(crate) fn forge_positions(&mut self, forged: u32) {
        if let Data::Owned { positions, .. } = &mut self.data {
            positions.fill(forged);
        }
    }

    /// Reads a slice of the tables to `to`; from the file, if there is one: see [`merganser_io::MappedFile::read`].
    ///
    /// # Errors
    /// If the file cannot be read, or became shorter.
    pub(crate) fn read(&self, part: &[u8], to: &mut [u8]) -> Result<(), Error> {
        match &self.data {
            Data::Mapped(mapped) => mapped.read(part, to),
            Data::Owned { .. } => merganser_gpu::read_memory(part, to),
        }
    }

    /// Returns the view that workers search.
    ///
    /// # Panics
    /// If the index is a file that was not [checked](Self::check).
    pub(crate) fn view(&self) -> IndexView<'_> {
        let contigs = &self.contigs[..];
        let (text, positions, table) = match &self.data {
            Data::Owned { reference, positions, table } => {
                (Text { contigs, ..reference.text() }, &positions[..], &table[..])
            }
            Data::Mapped(mapped) => {
                assert!(
                    mapped.is_checked(),
                    "the tables of a file are checked before they are used"
                );
                (Text::of(contigs, mapped.planes()), mapped.positions(), mapped.table())
            }
        };
        IndexView { text, positions, table, k: self.k }
    }
}

/// The number of entries of a stretch of the table that is looked at to estimate repeats, and the number of stretches.
const STRETCH: usize = 1024;
const STRETCHES: usize = 4096;

impl<'a> IndexView<'a> {
    /// Returns the length of the k-mers in the table.
    #[inline]
    pub(crate) fn k(&self) -> usize {
        self.k
    }

    /// Returns the runs of ambiguous letters, by position, if these match everything; otherwise an empty list.
    pub(crate) fn gaps(&self, mode: NMode) -> Vec<[u32; 2]> {
        if mode == NMode::Match { self.text.gaps() } else { Vec::new() }
    }

    /// Returns the table: where the positions of each k-mer begin, then the number of positions.
    pub(crate) fn table(&self) -> &'a [u32] {
        self.table
    }

    /// Returns how many times as many places a k-mer of the reference has on average, weighted by its places, as in a
    /// reference of random bases: 1 for those, more for repeats. It is estimated from some stretches of the table.
    pub(crate) fn repeats(&self) -> u64 {
        let stretches = self.table.len() / STRETCH;
        let every = stretches.div_ceil(STRETCHES).max(1);
        let (mut kmers, mut places, mut squares) = (0u64, 0u64, 0u64);
        for stretch in self.table.chunks_exact(STRETCH).step_by(every) {
            for pair in stretch.windows(2) {
                let size = u64::from(pair[1].saturating_sub(pair[0]));
                kmers += 1;
                places += size;
                squares = squares.saturating_add(size * size);
            }
        }
        // Of n k-mers with p random places, each place has p/n others.
        let random = places.max(1) as f64 * (1.0 + places as f64 / kmers.max(1) as f64);
        ((squares as f64 / random).round() as u64).max(1)
    }

    /// Returns the range of [`IndexView::positions`] with the first `len` bases of a key, or with its first k
    /// bases if k is less. The range may include positions with fewer bases before the end of their contig or
    /// an N. For more than k bases, [`Bisections::narrow`] narrows it.
    #[inline]
    pub(crate) fn find_short(&self, key: &Key, len: usize) -> Range<usize> {
        debug_assert!((SHORTEST..=LONGEST).contains(&len));
        let within = len.min(self.k);
        let number = (key.packed >> (64 - 2 * within)) as usize;
        let shift = 2 * (self.k - within);
        self.bucket(number << shift, (number + 1) << shift)
    }

    /// Prefetches the table entry that [`IndexView::find_short`] reads first.
    #[inline]
    pub(crate) fn prefetch(&self, key: &Key, len: usize) {
        let within = len.min(self.k);
        let number = (key.packed >> (64 - 2 * within)) as usize;
        merganser_seq::simd::prefetch(self.table, number << (2 * (self.k - within)));
    }

    /// Returns the range between two table entries, clamped so that a damaged table cannot lead past the
    /// positions.
    #[inline]
    fn bucket(&self, from: usize, to: usize) -> Range<usize> {
        let most = self.positions.len();
        let start = (self.table[from] as usize).min(most);
        start..(self.table[to] as usize).clamp(start, most)
    }

    /// Whether the bases at a position equal those of a key wherever the mask has a bit.
    #[inline(always)]
    pub(crate) fn is_at(&self, position: u32, key: &Key, mask: u64) -> bool {
        let text = self.text.window(position as usize);
        ((text[0] ^ key.planes[0]) | (text[1] ^ key.planes[1])) & mask == 0
    }

    /// Compares the bases at a position with those of a key, over the bits of the mask.
    #[inline]
    fn compare(&self, position: u32, key: &Key, mask: u64) -> std::cmp::Ordering {
        let text = self.text.window(position as usize);
        let differs = ((text[0] ^ key.planes[0]) | (text[1] ^ key.planes[1])) & mask;
        // The lowest differing base; zero if all are equal, and then both codes are 0.
        let first = differs & differs.wrapping_neg();
        let code = |planes: [u64; 2]| {
            u8::from(planes[1] & first != 0) << 1 | u8::from(planes[0] & first != 0)
        };
        code(text).cmp(&code(key.planes))
    }
}

/// Interleaves the first 32 bits of two planes into a number with the first base in the top bits.
#[inline(always)]
pub(crate) fn interleave(planes: [u64; 2]) -> u64 {
    let spread = |plane: u64| {
        let x = plane & 0xffff_ffff;
        let x = (x | x << 16) & 0x0000_ffff_0000_ffff;
        let x = (x | x << 8) & 0x00ff_00ff_00ff_00ff;
        let x = (x | x << 4) & 0x0f0f_0f0f_0f0f_0f0f;
        let x = (x | x << 2) & 0x3333_3333_3333_3333;
        (x | x << 1) & 0x5555_5555_5555_5555
    };
    // Reversing the bits moves the first base to the top and swaps the two bits of each base.
    (spread(planes[0]) << 1 | spread(planes[1])).reverse_bits()
}

/// Returns the number of words of a plane that holds a reference up to a position, with padding.
pub(crate) fn words_to(end: u32) -> usize {
    (end as usize).div_ceil(BASES_PER_WORD) + crate::reference::PADDING
}

#[cfg(test)]
mod tests;
