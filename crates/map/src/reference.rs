//! The reference: contigs one after the other as bit planes.
//!
//! Each contig begins at a multiple of 64 bases, the bases between two contigs are filled up with
//! zeros and belong to none. A position is an index into this text, below 2^32 - 2^17, so that a
//! diagonal (a position less an offset in a read) fits into 33 bits.

mod load;

pub(crate) use load::load;

use merganser_run::{Warnings, thousands};
use merganser_seq::planes::{self, BASES_PER_WORD, window};

/// Positions that a reference may have, the filling between contigs included.
pub(crate) const MOST_POSITIONS: u64 = (1 << 32) - (1 << 17);

/// Bases that a contig may have: positions and template lengths are signed numbers of 32 bits in BAM,
/// and SAM's text has the same limit (SAM specification, sections 1.3 and 4.2).
pub(crate) const MOST_CONTIG: u32 = i32::MAX as u32;

/// Words behind each plane, so that bands may reach past the last contig.
pub(crate) const PADDING: usize = 4;

/// A sequence of the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contig {
    /// Its name: the header up to the first blank.
    pub name: String,
    /// The position of its first base.
    pub start: u32,
    /// Bases.
    pub len: u32,
}

impl Contig {
    /// Why no record could name it: its name would change what a line of SAM says.
    pub(crate) fn unnameable(&self) -> Option<String> {
        let name = &self.name;
        let has_blank = name.contains(|letter: char| letter.is_control() || letter == ' ');
        (name.is_empty() || name.starts_with(['*', '=']) || has_blank).then(|| {
            format!("'{}' cannot be the name of a contig in SAM: rename it", name.escape_default())
        })
    }

    /// Whether SAM allows the name (specification, section 1.2.1).
    fn is_allowed(&self) -> bool {
        let legal = |byte: u8| byte.is_ascii_graphic() && !b"\\,\"'`()[]{}<>".contains(&byte);
        self.name.bytes().all(legal)
    }

    /// Whether the name is told from what follows it in the tag XA.
    pub(crate) fn may_stand_in_xa(name: &str) -> bool {
        !name.contains([',', ';'])
    }

    /// Why no record could tell of a place in it, if it is too long for that.
    pub(crate) fn too_long(&self) -> Option<String> {
        let Contig { name, len, .. } = self;
        (*len > MOST_CONTIG).then(|| {
            format!(
                "contig {name} is longer than the {MOST_CONTIG} bases that SAM and BAM can hold: \
                 split it"
            )
        })
    }

    /// The position behind its last base.
    pub(crate) fn end(&self) -> u32 {
        self.start + self.len
    }
}

/// Warns of contigs whose names SAM does not allow, though many programs take them.
pub(crate) fn warn_of_names(contigs: &[Contig], warnings: &Warnings) {
    let mut others = contigs.iter().filter(|contig| !contig.is_allowed());
    let Some(first) = others.next() else { return };
    let count = thousands(1 + others.count() as u64);
    warnings.push(format!(
        "{count} contigs have names that SAM does not allow, first {}: some programs refuse them: rename \
         these sequences, without any of \\ , \" ' ` ( ) [ ] {{ }} < >",
        first.name
    ));
}

/// A reference in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reference {
    pub(crate) contigs: Vec<Contig>,
    pub(crate) low: Vec<u64>,
    pub(crate) high: Vec<u64>,
    /// Letters that are no bases; empty if there are none.
    pub(crate) others: Vec<u64>,
}

/// A view of a reference's planes, wherever they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    pub(crate) low: &'a [u64],
    pub(crate) high: &'a [u64],
    pub(crate) others: &'a [u64],
    pub(crate) contigs: &'a [Contig],
}

impl Reference {
    pub(crate) fn text(&self) -> Text<'_> {
        Text { low: &self.low, high: &self.high, others: &self.others, contigs: &self.contigs }
    }
}

impl<'a> Text<'a> {
    /// The position behind the last contig.
    pub(crate) fn end(&self) -> u32 {
        self.contigs.last().map_or(0, Contig::end)
    }

    /// A number that tells its letters from others.
    pub(crate) fn checksum(&self) -> u32 {
        let mut checksum = crc32fast::Hasher::new();
        for plane in [self.low, self.high, self.others] {
            checksum.update(bytemuck::cast_slice(plane));
        }
        checksum.finalize()
    }

    /// Low and high bits of 64 bases from a position on.
    #[inline(always)]
    pub(crate) fn window(&self, at: usize) -> [u64; 2] {
        [window(self.low, at), window(self.high, at)]
    }

    /// Asks the cache for the window at a position.
    #[inline(always)]
    pub(crate) fn prefetch(&self, at: usize) {
        merganser_seq::simd::prefetch(self.low, at / 64);
        merganser_seq::simd::prefetch(self.high, at / 64);
    }

    /// Whether a stretch has letters that are no bases.
    #[inline]
    pub(crate) fn has_others(&self, from: usize, to: usize) -> bool {
        planes::has_any(self.others, from, to)
    }

    /// The code of the base at a position, 4 if it is none.
    #[inline]
    pub(crate) fn code(&self, at: usize) -> u8 {
        planes::code(self.low, self.high, self.others, at)
    }

    /// The number of the last contig that begins at or before a position; 0 if there is none.
    #[inline]
    pub(crate) fn contig_at(&self, position: i64) -> usize {
        self.contigs.partition_point(|contig| i64::from(contig.start) <= position).saturating_sub(1)
    }

    /// Stretches of letters that are no bases, by position.
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
    /// A reference of these contigs, named c0, c1 and so on.
    pub(crate) fn of(contigs: &[Vec<u8>]) -> Reference {
        let mut text = Vec::new();
        for (number, contig) in contigs.iter().enumerate() {
            text.extend_from_slice(format!(">c{number}\n").as_bytes());
            text.extend_from_slice(contig);
            text.push(b'\n');
        }
        let reader = std::io::Cursor::new(text);
        load::read("test".into(), Box::new(reader)).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contigs_beyond_the_limit_of_sam_are_refused() {
        let contig = |len| Contig { name: "c".into(), start: 0, len };
        assert_eq!(contig(i32::MAX as u32).too_long(), None);
        let problem = contig(i32::MAX as u32 + 1).too_long().unwrap();
        let expected =
            "contig c is longer than the 2147483647 bases that SAM and BAM can hold: split it";
        assert_eq!(problem, expected);
    }
}
