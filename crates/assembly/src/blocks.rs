//! Phase blocks: stretches of a sequence whose markers belong to one haplotype, found by Merqury's rule.

/// A k-mer of one parent on a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    /// The position of the first base, 0-based.
    pub(crate) at: u64,
    /// The number of bases that it covers.
    pub(crate) bases: u64,
    /// The haplotype that it belongs to: 0 or 1.
    pub(crate) haplotype: usize,
}

/// The rule that decides when markers of the other haplotype end a block.
// The doc comments of the fields are the help texts of the command line, which has the group `haplotypes`: options
// that give haplotypes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct BlockRule {
    /// Consecutive markers of the other haplotype that end a phase block
    #[cfg_attr(feature = "cli", arg(long = "block-markers", id = "block_markers"))]
    #[cfg_attr(feature = "cli", arg(value_name = "N", default_value_t = 100))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u64).range(1..)))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Trio", requires = "haplotypes"))]
    pub markers: u64,
    /// Markers of the other haplotype that span more than N bases also end a phase block
    // The span is measured from the first base of the run to its last.
    #[cfg_attr(feature = "cli", arg(long = "block-bases", id = "block_bases"))]
    #[cfg_attr(feature = "cli", arg(value_name = "N", default_value_t = 20_000))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Trio", requires = "haplotypes"))]
    pub bases: u64,
}

impl Default for BlockRule {
    /// Returns Merqury's rule: 100 markers, 20,000 bases.
    fn default() -> BlockRule {
        BlockRule { markers: 100, bases: 20_000 }
    }
}

/// A phase block: a stretch of one haplotype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The position of its first base.
    pub start: u64,
    /// The position after its last base.
    pub end: u64,
    /// The haplotype: 0 or 1.
    pub haplotype: usize,
    /// The number of markers in the block.
    pub markers: u64,
    /// The number of markers that belong to the other haplotype.
    pub switches: u64,
}

impl Block {
    fn of(marker: Marker) -> Block {
        let Marker { at, bases, haplotype } = marker;
        Block { start: at, end: at + bases, haplotype, markers: 1, switches: 0 }
    }

    /// Returns the number of markers of each haplotype.
    pub fn of_haplotypes(&self) -> [u64; 2] {
        let own = self.markers - self.switches;
        if self.haplotype == 0 { [own, self.switches] } else { [self.switches, own] }
    }
}

/// Groups the markers of a sequence, which are added in the order of their positions, into blocks.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    rule: BlockRule,
    block: Option<Block>,
    /// Markers of the other haplotype since the last marker of the block's own.
    run: Option<Block>,
}

/// The minimum number of markers of a block.
const MIN_MARKERS: u64 = 2;

impl Blocks {
    pub(crate) fn new(rule: BlockRule) -> Blocks {
        Blocks { rule, block: None, run: None }
    }

    /// Adds the next marker, and returns the block that it ends, if any.
    pub(crate) fn add(&mut self, marker: Marker) -> Option<Block> {
        let Some(block) = &mut self.block else {
            self.block = Some(Block::of(marker));
            return None;
        };
        if marker.haplotype == block.haplotype {
            // The run of the other haplotype was too short to end the block: its markers are switches.
            if let Some(run) = self.run.take() {
                block.markers += run.markers;
                block.switches += run.markers;
            }
            block.markers += 1;
            block.end = marker.at + marker.bases;
            return None;
        }
        let run = match self.run {
            None => Block::of(marker),
            Some(run) => Block { markers: run.markers + 1, end: marker.at + marker.bases, ..run },
        };
        if run.markers < self.rule.markers && run.end - run.start <= self.rule.bases {
            self.run = Some(run);
            return None;
        }
        self.run = None;
        is_block(std::mem::replace(block, run))
    }

    /// Ends the sequence; a run of the other haplotype at its end becomes a block of its own.
    pub(crate) fn end(&mut self) -> impl Iterator<Item = Block> {
        let left = [self.block.take(), self.run.take()];
        left.into_iter().flatten().filter_map(is_block)
    }
}

fn is_block(block: Block) -> Option<Block> {
    (block.markers >= MIN_MARKERS).then_some(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the blocks of markers at every 100th base, one letter each.
    fn blocks(markers: &str, rule: BlockRule) -> Vec<(u64, u64, usize, u64, u64)> {
        let mut blocks = Blocks::new(rule);
        let mut found = Vec::new();
        for (number, letter) in (0..).zip(markers.bytes()) {
            let marker =
                Marker { at: 100 * number, bases: 21, haplotype: usize::from(letter == b'p') };
            found.extend(blocks.add(marker));
        }
        found.extend(blocks.end());
        let fields =
            |block: Block| (block.start, block.end, block.haplotype, block.switches, block.markers);
        found.into_iter().map(fields).collect()
    }

    #[test]
    fn short_runs_are_switches_and_long_ones_end_a_block() {
        let rule = BlockRule { markers: 4, bases: 20_000 };
        assert_eq!(blocks("mmmpppmm", rule), [(0, 721, 0, 3, 8)]);
        assert_eq!(
            blocks("mmmppppmm", rule),
            [(0, 221, 0, 0, 3), (300, 621, 1, 0, 4), (700, 821, 0, 0, 2)]
        );
        // The markers left at the end form a block if there are at least two.
        assert_eq!(blocks("mmmpp", rule), [(0, 221, 0, 0, 3), (300, 421, 1, 0, 2)]);
        assert_eq!(blocks("mmmp", rule), [(0, 221, 0, 0, 3)]);
        assert_eq!(blocks("m", rule), []);
        let one = BlockRule { markers: 1, ..rule };
        assert_eq!(
            blocks("mmmppmm", one),
            [(0, 221, 0, 0, 3), (300, 421, 1, 0, 2), (500, 621, 0, 0, 2)]
        );
        assert_eq!(blocks("mmmpmm", one), [(0, 221, 0, 0, 3), (400, 521, 0, 0, 2)]);
    }

    #[test]
    fn a_wide_run_ends_a_block_whatever_its_markers() {
        let rule = BlockRule { markers: 100, bases: 150 };
        assert_eq!(blocks("mmppmm", rule), [(0, 521, 0, 2, 6)]);
        assert_eq!(
            blocks("mmpppmm", rule),
            [(0, 121, 0, 0, 2), (200, 421, 1, 0, 3), (500, 621, 0, 0, 2)]
        );
    }
}
