//! The index: where each stretch of bases occurs in the reference.
//!
//! All positions from which at least [`SHORTEST`] bases of a contig follow, sorted by the 32 bases
//! from there on, then by position; and for each k-mer (k is the largest for which 4^k is at most
//! the number of bases, 8 to 14) where its positions begin. The positions of any sequence of
//! [`SHORTEST`] to 32 bases are then neighbours: k-mers lead to them directly, longer sequences by
//! a look at the reference.

mod bisect;
mod file;
mod growing;
mod parts;

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use merganser_run::{Cancel, Warnings};
use merganser_seq::planes::BASES_PER_WORD;

use crate::reference::{Reference, Text};
use crate::{Contig, Error, NMode};
pub(crate) use bisect::{Bisections, Lookup};
use file::Mapped;
pub(crate) use growing::Growing;
pub(crate) use parts::{Unsorted, grouped, pieces};

/// The shortest seed, in bases.
pub const SHORTEST: usize = 8;
/// The longest: a longer one is looked up by its first so many bases.
pub const LONGEST: usize = 32;
const MAX_K: usize = 14;

/// An index with its reference, in memory or mapped from a file.
#[derive(Debug)]
pub struct Index {
    contigs: Vec<Contig>,
    k: usize,
    data: Data,
}

#[derive(Debug)]
enum Data {
    Owned { reference: Reference, positions: Vec<u32>, table: Vec<u32> },
    Mapped(Mapped),
}

/// What workers look things up in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexView<'a> {
    pub(crate) text: Text<'a>,
    pub(crate) positions: &'a [u32],
    table: &'a [u32],
    k: usize,
}

/// A stretch of a read to look up: the bits of its first 32 bases and the same as a number whose
/// top bits are its first base.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) planes: [u64; 2],
    pub(crate) packed: u64,
}

/// The k of a reference of so many bases.
pub(crate) fn k_of(bases: u64) -> usize {
    (bases.max(1).ilog2() as usize / 2).clamp(SHORTEST, MAX_K)
}

impl Index {
    /// Opens an index file; its header and list of contigs are checked, its tables by
    /// [`Index::check`].
    ///
    /// # Errors
    /// If it cannot be mapped, or is no index, of another version, truncated or damaged.
    pub fn open(path: &Path) -> Result<Index, Error> {
        let maker = "merganser index makes one of a reference in FASTA";
        let wanted = "a merganser index (.mgi)";
        if let Some(complaint) = merganser_io::foreign(path, &file::FORMAT.magic, wanted, maker) {
            return Err(Error::index(path, complaint));
        }
        let file = merganser_io::open_file(path);
        let file = file.map_err(|source| Error::File { path: path.to_owned(), source })?;
        Index::of_file(&file, path)
    }

    /// An index in an open file, which messages call `path`.
    fn of_file(file: &File, path: &Path) -> Result<Index, Error> {
        let (mapped, contigs, k) = Mapped::of_file(file, path)?;
        Ok(Index { contigs, k, data: Data::Mapped(mapped) })
    }

    /// Checks the checksums of all tables, as everybody does who looks at them: the file is read once,
    /// by `threads` threads. Later calls look only whether it was written to since, and check it again
    /// if so.
    ///
    /// # Errors
    /// Which section is damaged; if the file cannot be read or became another; if cancelled.
    pub fn check(&self, threads: usize, cancel: &Cancel) -> Result<(), Error> {
        match &self.data {
            Data::Mapped(mapped) => mapped.check(threads, cancel),
            Data::Owned { .. } => Ok(()),
        }
    }

    /// The contigs in the order of the reference.
    pub fn contigs(&self) -> &[Contig] {
        &self.contigs
    }

    /// Bases of all contigs.
    pub fn bases(&self) -> u64 {
        self.contigs.iter().map(|contig| u64::from(contig.len)).sum()
    }

    /// The length of the k-mers that are looked up directly.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Positions in the index.
    pub fn positions(&self) -> u64 {
        match &self.data {
            Data::Owned { positions, .. } => positions.len() as u64,
            Data::Mapped(mapped) => mapped.positions().len() as u64,
        }
    }

    /// Warns if there is no seed in it.
    pub(crate) fn warn_of_none(&self, warnings: &Warnings) {
        if self.positions() == 0 {
            warnings.push(format!(
                "the index has no positions, as nowhere in the reference are {SHORTEST} bases in a row (N and \
                 the like are none): no read of usual length can be mapped"
            ));
        }
    }

    /// The bytes that it takes in memory once all of it is used.
    pub fn bytes(&self) -> u64 {
        if let Data::Mapped(mapped) = &self.data {
            return mapped.bytes();
        }
        let view = self.view();
        let words = view.text.low.len() + view.text.high.len() + view.text.others.len();
        (8 * words + 4 * (view.positions.len() + view.table.len())) as u64
    }

    /// Puts a position for all of an index in memory, as damage may.
    #[cfg(test)]
    pub(crate) fn forge_positions(&mut self, forged: u32) {
        if let Data::Owned { positions, .. } = &mut self.data {
            positions.fill(forged);
        }
    }

    /// Lets go of the memory of a part of the tables, if it is a file's, until it is looked at again.
    pub(crate) fn release(&self, part: &[u8]) {
        if let Data::Mapped(mapped) = &self.data {
            mapped.release(part);
        }
    }

    /// What is looked up in.
    ///
    /// # Panics
    /// If it is a file's, and was not [checked](Self::check).
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
                let [low, high, others] = mapped.planes();
                (Text { low, high, others, contigs }, mapped.positions(), mapped.table())
            }
        };
        IndexView { text, positions, table, k: self.k }
    }
}

impl<'a> IndexView<'a> {
    /// The length of the k-mers that are looked up directly.
    #[inline]
    pub(crate) fn k(&self) -> usize {
        self.k
    }

    /// Stretches that match everything, by position: those of letters that are no bases, if these do.
    pub(crate) fn gaps(&self, mode: NMode) -> Vec<[u32; 2]> {
        if mode == NMode::Match { self.text.gaps() } else { Vec::new() }
    }

    /// Where each k-mer's positions begin, and where the last one's end.
    pub(crate) fn table(&self) -> &'a [u32] {
        self.table
    }

    /// Where in [`IndexView::positions`] the positions of the first `len` bases of a key are, or of its
    /// first k bases if that are fewer; some of positions so near to a contig's end or an N that
    /// fewer bases follow may be among them. [`Bisections::narrow`] goes on from there.
    #[inline]
    pub(crate) fn find_short(&self, key: &Key, len: usize) -> Range<usize> {
        debug_assert!((SHORTEST..=LONGEST).contains(&len));
        let within = len.min(self.k);
        let number = (key.packed >> (64 - 2 * within)) as usize;
        let shift = 2 * (self.k - within);
        self.bucket(number << shift, (number + 1) << shift)
    }

    /// Asks the cache for what [`IndexView::find_short`] will look at first.
    #[inline]
    pub(crate) fn prefetch(&self, key: &Key, len: usize) {
        let within = len.min(self.k);
        let number = (key.packed >> (64 - 2 * within)) as usize;
        merganser_seq::simd::prefetch(self.table, number << (2 * (self.k - within)));
    }

    /// A damaged table must not lead out of the positions.
    #[inline]
    fn bucket(&self, from: usize, to: usize) -> Range<usize> {
        let most = self.positions.len();
        let start = (self.table[from] as usize).min(most);
        start..(self.table[to] as usize).clamp(start, most)
    }

    /// Whether the bases from a position on are those of a key that the mask has.
    #[inline(always)]
    pub(crate) fn is_at(&self, position: u32, key: &Key, mask: u64) -> bool {
        let text = self.text.window(position as usize);
        ((text[0] ^ key.planes[0]) | (text[1] ^ key.planes[1])) & mask == 0
    }

    /// The order of the bases from a position on and a key's.
    #[inline]
    fn compare(&self, position: u32, key: &Key, mask: u64) -> std::cmp::Ordering {
        let text = self.text.window(position as usize);
        let differs = ((text[0] ^ key.planes[0]) | (text[1] ^ key.planes[1])) & mask;
        // The first base that differs; no bit of either, if there is none.
        let first = differs & differs.wrapping_neg();
        let code = |planes: [u64; 2]| {
            u8::from(planes[1] & first != 0) << 1 | u8::from(planes[0] & first != 0)
        };
        code(text).cmp(&code(key.planes))
    }
}

/// The bases of a stretch of both planes, the first in the top bits.
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
    // Reversing all bits puts the first base on top, with its two bits in the other order.
    (spread(planes[0]) << 1 | spread(planes[1])).reverse_bits()
}

/// Words of a plane that hold a reference up to a position.
pub(crate) fn words_to(end: u32) -> usize {
    (end as usize).div_ceil(BASES_PER_WORD) + crate::reference::PADDING
}

#[cfg(test)]
mod tests;
