//! Where parts meet: what is compressed together does not end where parts do, as these depend on memory.
//! Each part is cut in its turn, and leaves the rest to the next one.

use merganser_io::BgzfBlocks;

use super::Fields;
use super::index::Mark;

/// Of BAM: blocks are cut as if all records were one text, and so the end of a part stands in a block
/// with the beginning of the next one.
#[derive(Default)]
pub(super) struct BlockSeam {
    /// What the parts before left, less than a block,
    text: Vec<u8>,
    /// and the records that begin there.
    marks: Vec<Mark>,
}

/// What is written of a part: the block that it shares with those before it, then a stretch of it;
/// the records that begin in there.
pub(super) struct Cut {
    pub(super) head: Vec<u8>,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) marks: Vec<Mark>,
}

impl BlockSeam {
    /// Cuts whole blocks, or `all`.
    pub(super) fn cut(&mut self, text: &[u8], more: Vec<Mark>, all: bool) -> Cut {
        let before = self.text.len();
        let whole = before + text.len();
        let end = if all { whole } else { whole / BgzfBlocks::TEXT * BgzfBlocks::TEXT };
        let mut marks = std::mem::take(&mut self.marks);
        marks.extend(more.into_iter().map(|mark| mark.moved(before as isize)));
        let kept = marks.partition_point(|mark| mark.at < end);
        self.marks = marks.drain(kept..).map(|mark| mark.moved(-(end as isize))).collect();
        if end <= before {
            // All of it is in the block that is not full yet; or there is nothing at all.
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

/// Records of a container of CRAM, at most: as samtools has it.
const GROUP: u64 = 10_000;

/// Of CRAM: a container has a fixed number of records, or fewer where the contig ends.
#[derive(Default)]
pub(super) struct GroupSeam(Group, u64);

/// Records that stand in a container together.
#[derive(Default)]
pub(super) struct Group {
    pub(super) records: Vec<u8>,
    /// Records before them.
    pub(super) before: u64,
}

impl GroupSeam {
    /// Cuts whole groups, or `all`.
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

    /// However a text comes in parts, what is compressed together is the same.
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
