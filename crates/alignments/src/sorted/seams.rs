//! Joins the records of consecutive key ranges for compression. The content of a BGZF block or CRAM container must
//! not depend on the borders of the ranges, as these depend on the memory. So each range passes its incomplete block
//! or container on to the next one.

use merganser_io::BgzfBlocks;

use super::Fields;
use super::index::Mark;
use crate::cram::GROUP;

/// The seam of BAM. The blocks are those of the concatenated records, so a block can contain the end of one range and
/// the start of the next.
#[derive(Default)]
pub(super) struct BlockSeam {
    /// The text left over from earlier ranges, less than a block.
    text: Vec<u8>,
    /// The records that begin in `text`.
    marks: Vec<Mark>,
}

/// The text to compress for a range: `head`, the block shared with earlier ranges, then the bytes `from..to` of the
/// range's own text; and the records that begin in both.
pub(super) struct Cut {
    pub(super) head: Vec<u8>,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) marks: Vec<Mark>,
}

impl BlockSeam {
    /// Cuts off whole blocks or, if `all`, everything.
    pub(super) fn cut(&mut self, text: &[u8], more: Vec<Mark>, all: bool) -> Cut {
        let before = self.text.len();
        let whole = before + text.len();
        let end = if all { whole } else { whole / BgzfBlocks::TEXT * BgzfBlocks::TEXT };
        let mut marks = std::mem::take(&mut self.marks);
        marks.extend(more.into_iter().map(|mark| mark.moved(before as isize)));
        let kept = marks.partition_point(|mark| mark.at < end);
        self.marks = marks.drain(kept..).map(|mark| mark.moved(-(end as isize))).collect();
        if end <= before {
            // Everything fits into the incomplete block, or there is no text at all.
            self.text.extend_from_slice(text);
            let head = if all { std::mem::take(&mut self.text) } else { Vec::new() };
            return Cut { head, from: 0, to: 0, marks };
        }
        let from = if before == 0 { 0 } else { (BgzfBlocks::TEXT - before).min(text.len()) };
        let mut head = std::mem::take(&mut self.text);
        head.extend_from_slice(&text[..from]);
        let to = end - before;
        self.text.extend_from_slice(&text[to..]);
        Cut { head, from, to, marks }
    }
}

/// The seam of CRAM: a container has [`GROUP`] records, or fewer before a change of contig. The second field is the
/// number of records in the open group.
#[derive(Default)]
pub(super) struct GroupSeam(Group, u64);

/// The records of a container.
#[derive(Default)]
pub(super) struct Group {
    pub(super) records: Vec<u8>,
    /// The number of records before the group.
    pub(super) before: u64,
}

impl GroupSeam {
    /// Cuts off whole groups or, if `all`, everything.
    pub(super) fn cut<'a>(
        &mut self,
        records: impl Iterator<Item = &'a [u8]>,
        all: bool,
    ) -> Vec<Group> {
        let GroupSeam(open, number) = self;
        let mut groups = Vec::new();
        for record in records {
            let is_same = |open: &Group| {
                open.records.is_empty() || Fields(&open.records).contig() == Fields(record).contig()
            };
            if *number == GROUP || !is_same(open) {
                let before = open.before + *number;
                groups.push(std::mem::replace(open, Group { records: Vec::new(), before }));
                *number = 0;
            }
            open.records.extend_from_slice(record);
            *number += 1;
        }
        if all && *number > 0 {
            groups.push(std::mem::take(open));
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The compressed pieces do not depend on how the text is divided into parts.
    #[test]
    fn blocks_do_not_depend_on_parts() {
        let text: Vec<u8> = (0..300_000u32).map(|at| (at % 251) as u8).collect();
        for sizes in [[1, 70_000], [65_280, 65_279], [1000, 130_560], [300_000, 1]] {
            let (mut seam, mut whole, mut rest) = (BlockSeam::default(), Vec::new(), &text[..]);
            for turn in 0.. {
                let (part, others) = rest.split_at(rest.len().min(sizes[turn % 2]));
                rest = others;
                let Cut { head, from, to, marks } = seam.cut(part, Vec::new(), rest.is_empty());
                assert!(marks.is_empty());
                if !rest.is_empty() {
                    assert_eq!(head.len() % BgzfBlocks::TEXT, 0);
                    assert_eq!((to - from) % BgzfBlocks::TEXT, 0);
                }
                whole.extend_from_slice(&head);
                whole.extend_from_slice(&part[from..to]);
                if rest.is_empty() {
                    break;
                }
            }
            assert!(whole == text, "{sizes:?}");
        }
    }
}
