//! The reference: its contigs, one after the other, as bit planes.
//!
//! Each contig begins at a multiple of 64 bases; the gaps between contigs are filled with zeros and belong to
//! no contig. The first bases of a circular contig follow its last one once more ([`Contig::repeated`]). A position
//! is an index into this text. It is below 2^32 - 2^17, so that a diagonal (a position
//! minus an offset in a read) fits into 33 bits.

mod load;
mod topology;

pub(crate) use load::{MAX_CIRCULAR, MAX_REPEATED, load};
pub use topology::Topology;

use merganser_seq::planes::{self, BASES_PER_WORD, window};

use crate::Contig;

/// The maximum number of positions of a reference, including the gaps between contigs.
pub(crate) const MAX_POSITIONS: u64 = (1 << 32) - (1 << 17);

/// The number of words after the end of each plane, so that bands may reach past the last contig.
pub(crate) const PADDING: usize = 4;

/// A reference in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reference {
    pub(crate) contigs: Vec<Contig>,
    pub(crate) low: Vec<u64>,
    pub(crate) high: Vec<u64>,
    /// Bits of ambiguous letters; empty if there is no such letter.
    pub(crate) others: Vec<u64>,
}

/// A view of a reference's planes, owned or mapped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    pub(crate) low: &'a [u64],
    pub(crate) high: &'a [u64],
    pub(crate) others: &'a [u64],
    pub(crate) contigs: &'a [Contig],
    /// Whether any contig is circular.
    pub(crate) has_circles: bool,
}

impl Reference {
    pub(crate) fn text(&self) -> Text<'_> {
        Text::of(&self.contigs, [&self.low, &self.high, &self.others])
    }
}

impl<'a> Text<'a> {
    /// Returns the text of contigs with its planes: low bits, high bits, and ambiguous letters.
    pub(crate) fn of(contigs: &'a [Contig], [low, high, others]: [&'a [u64]; 3]) -> Text<'a> {
        Text { low, high, others, contigs, has_circles: contigs.iter().any(Contig::is_circular) }
    }

    /// Returns the position after the last contig.
    pub(crate) fn end(&self) -> u32 {
        self.contigs.last().map_or(0, Contig::end)
    }

    /// Returns the total number of bases of all contigs.
    pub(crate) fn bases(&self) -> u64 {
        self.contigs.iter().map(|contig| u64::from(contig.len)).sum()
    }

    /// Returns the memory of the planes in bytes.
    pub(crate) fn plane_bytes(&self) -> u64 {
        8 * (self.low.len() + self.high.len() + self.others.len()) as u64
    }

    /// Returns a checksum of the letters.
    pub(crate) fn checksum(&self) -> u32 {
        let mut checksum = crc32fast::Hasher::new();
        for plane in [self.low, self.high, self.others] {
            checksum.update(bytemuck::cast_slice(plane));
        }
        checksum.finalize()
    }

    /// Returns the low and high bits of 64 bases, beginning at a position.
    #[inline(always)]
    pub(crate) fn window(&self, at: usize) -> [u64; 2] {
        [window(self.low, at), window(self.high, at)]
    }

    /// Prefetches the window at a position.
    #[inline(always)]
    pub(crate) fn prefetch(&self, at: usize) {
        merganser_seq::simd::prefetch(self.low, at / 64);
        merganser_seq::simd::prefetch(self.high, at / 64);
    }

    /// Whether a range of positions has ambiguous letters.
    #[inline]
    pub(crate) fn has_others(&self, from: usize, to: usize) -> bool {
        planes::has_any(self.others, from, to)
    }

    /// Returns the code of the base at a position; 4 if the letter is ambiguous.
    #[inline]
    pub(crate) fn code(&self, at: usize) -> u8 {
        planes::code(self.low, self.high, self.others, at)
    }

    /// Returns the number of the last contig that begins at or before a position; 0 if no contig does.
    #[inline]
    pub(crate) fn contig_at(&self, position: i64) -> usize {
        self.contigs.partition_point(|contig| i64::from(contig.start) <= position).saturating_sub(1)
    }

    /// Returns the runs of ambiguous letters, by position.
    pub(crate) fn gaps(&self) -> Vec<[u32; 2]> {
        let mut gaps: Vec<[u32; 2]> = Vec::new();
        for (word, &bits) in self.others.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let from = bits.trailing_zeros();
                let run = (bits >> from).trailing_ones();
                let start = (word * BASES_PER_WORD) as u32 + from;
                match gaps.last_mut() {
                    Some(last) if last[1] == start => last[1] = start + run,
                    _ => gaps.push([start, start + run]),
                }
                bits = if from + run == 64 { 0 } else { bits & (u64::MAX << (from + run)) };
            }
        }
        gaps
    }
}

#[cfg(test)]
impl Reference {
    /// Returns a reference of these contigs, named c0, c1 and so on.
    pub(crate) fn of(contigs: &[Vec<u8>]) -> Reference {
        Reference::with(contigs, &Topology::Linear)
    }

    /// Does the same with this topology.
    pub(crate) fn with(contigs: &[Vec<u8>], topology: &Topology) -> Reference {
        let mut text = Vec::new();
        for (number, contig) in contigs.iter().enumerate() {
            text.extend_from_slice(format!(">c{number}\n").as_bytes());
            text.extend_from_slice(contig);
            text.push(b'\n');
        }
        let reader = std::io::Cursor::new(text);
        load::read("test".into(), Box::new(reader), topology).unwrap()
    }
}
