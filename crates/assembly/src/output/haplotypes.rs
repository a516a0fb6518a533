//! The parents' k-mers on the sequences: counts per contig, and phase blocks.

use std::fmt::Write as _;
use std::io::Write as _;

use merganser_io::Output;
use merganser_kmers::reads::Mark;
use merganser_run::thousands;

use super::number::general;
use crate::blocks::{Blocks, Marker};
use crate::{Block, BlockRule, Error};

/// A sequence and its markers of each parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contig {
    /// The numbers of markers of the mother and of the father.
    pub markers: [u64; 2],
    /// The number of k-mers.
    pub kmers: u64,
    /// The number of bases.
    pub bases: u64,
}

/// The contigs and phase blocks of an assembly, kept for statistics and plots.
#[derive(Clone, Debug, Default)]
pub struct Phasing {
    /// All sequences.
    pub contigs: Vec<Contig>,
    /// All phase blocks.
    pub blocks: Vec<Block>,
    /// Whether hap-mers are too doubtful for rates ([`Trio::doubts`](crate::Trio::doubts)).
    pub is_doubtful: bool,
}

impl Phasing {
    /// Returns the fraction of the markers in blocks that belong to the haplotype that is not that of their block, 0 to
    /// 1; `None` if there are no markers or hap-mers are doubtful.
    pub fn switch_rate(&self) -> Option<f64> {
        let [switches, markers] = self.sums();
        (markers > 0 && !self.is_doubtful).then(|| switches as f64 / markers as f64)
    }

    /// Returns the fraction of all markers that belong to the minor haplotype of their sequence, 0 to 1; `None`
    /// if there are no markers or hap-mers are doubtful.
    pub fn hamming_rate(&self) -> Option<f64> {
        let fewer: u64 =
            self.contigs.iter().map(|contig| contig.markers[0].min(contig.markers[1])).sum();
        let all: u64 = self.contigs.iter().flat_map(|contig| contig.markers).sum();
        (all > 0 && !self.is_doubtful).then(|| fewer as f64 / all as f64)
    }

    /// Returns a line: name, number of blocks, their bases in all, the least, mean, N50 and largest length,
    /// switches, markers, and the switch rate in per cent.
    pub(super) fn line(&self, name: &str) -> String {
        let mut lengths: Vec<u64> =
            self.blocks.iter().map(|block| block.end - block.start).collect();
        lengths.sort_unstable();
        let all: u64 = lengths.iter().sum();
        let [switches, markers] = self.sums();
        let mut left = all;
        let half = lengths.iter().rev().find(|&&length| {
            left -= length;
            left <= all / 2
        });
        let number = |number: Option<u64>| number.map_or_else(|| "na".to_owned(), thousands);
        let fields = [
            thousands(lengths.len() as u64),
            thousands(all),
            number(lengths.first().copied()),
            number(all.checked_div(lengths.len() as u64)),
            number(half.copied()),
            number(lengths.last().copied()),
            thousands(switches),
            thousands(markers),
            self.switch_percentage(),
        ];
        format!("{name}\t{}\n", fields.join("\t"))
    }

    /// Returns the line of `.switches.txt`: a title, then the switches and markers of all blocks, and the switch rate.
    pub(super) fn switches(&self, title: &str) -> String {
        let [switches, markers] = self.sums();
        let rate = self.switch_percentage();
        let what = "switch error rate (%) (Num. switches / Total markers found)";
        format!("{title} {what}: {switches}\t{markers}\t{rate}\n")
    }

    /// Returns the numbers of switches and of markers in all blocks.
    fn sums(&self) -> [u64; 2] {
        let sum = |of: fn(&Block) -> u64| self.blocks.iter().map(of).sum();
        [sum(|block| block.switches), sum(|block| block.markers)]
    }

    fn switch_percentage(&self) -> String {
        let percent = |rate| format!("{}%", general(100.0 * rate));
        self.switch_rate().map_or_else(|| "na".to_owned(), percent)
    }
}

/// Writes the markers of an assembly and their phase blocks.
pub(super) struct Haplotypes {
    rule: BlockRule,
    names: [String; 2],
    assembly: String,
    pub(super) bed: Output,
    pub(super) counts: Output,
    name: String,
    markers: [u64; 2],
    /// The blocks of the current sequence; `None` before the first sequence.
    blocks: Option<Blocks>,
    pub(super) phasing: Phasing,
}

impl Haplotypes {
    pub(super) fn new(
        assembly: &str,
        names: &[String; 2],
        rule: BlockRule,
        bed: Output,
        mut counts: Output,
    ) -> Result<Haplotypes, Error> {
        let [one, other] = names;
        writeln!(counts, "Block\tRange\t{one}\t{other}\tSize")?;
        Ok(Haplotypes {
            rule,
            names: names.clone(),
            assembly: assembly.to_owned(),
            bed,
            counts,
            name: String::new(),
            markers: [0; 2],
            blocks: None,
            phasing: Phasing::default(),
        })
    }

    pub(super) fn mark(&mut self, mark: Mark<'_>, contigs: &mut Output) -> Result<(), Error> {
        let rule = self.rule;
        let blocks = self.blocks.get_or_insert_with(|| Blocks::new(rule));
        match mark {
            Mark::Begin { name } => {
                self.name = String::from_utf8_lossy(name).into_owned();
                self.markers = [0; 2];
            }
            Mark::Run { start, kmers, bases, count, .. } => {
                let haplotype = usize::from(count > 1);
                self.markers[haplotype] += kmers;
                let ended = (start..start + kmers)
                    .filter_map(|at| blocks.add(Marker { at, bases, haplotype }));
                let ended: Vec<Block> = ended.collect();
                ended.into_iter().try_for_each(|block| self.write(block))?;
            }
            Mark::End { bases, kmers } => {
                let ended: Vec<Block> = blocks.end().collect();
                ended.into_iter().try_for_each(|block| self.write(block))?;
                let ([one, other], markers) = (self.markers, self.markers);
                let (assembly, name) = (&self.assembly, &self.name);
                writeln!(contigs, "{assembly}\t{name}\t{one}\t{other}\t{kmers}")?;
                self.phasing.contigs.push(Contig { markers, kmers, bases });
            }
        }
        Ok(())
    }

    fn write(&mut self, block: Block) -> Result<(), Error> {
        let Block { start, end, haplotype, markers, switches } = block;
        let (name, parent) = (&self.name, &self.names[haplotype]);
        let mut line = String::new();
        let part = general(switches as f64 / markers as f64);
        let _ = writeln!(line, "{name}\t{start}\t{end}\t{parent}\t{part}\t{switches}\t{markers}");
        self.bed.write_all(line.as_bytes())?;
        let [one, other] = block.of_haplotypes();
        writeln!(self.counts, "{parent}\t{name}_{start}_{end}\t{one}\t{other}\t{}", end - start)?;
        self.phasing.blocks.push(block);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_those_of_the_blocks() {
        let block =
            |start, end, markers, switches| Block { start, end, haplotype: 0, markers, switches };
        let contig = |markers| Contig { markers, kmers: 9, bases: 29 };
        let phasing = Phasing {
            contigs: vec![contig([90, 10]), contig([0, 100])],
            blocks: vec![block(0, 1000, 10, 1), block(5000, 8000, 30, 1), block(0, 500, 10, 0)],
            is_doubtful: false,
        };
        assert_eq!(phasing.line("a"), "a\t3\t4,500\t500\t1,500\t3,000\t3,000\t2\t50\t4%\n");
        assert_eq!(phasing.hamming_rate(), Some(0.05));
        let what = "switch error rate (%) (Num. switches / Total markers found)";
        assert_eq!(phasing.switches("s.a.9_9"), format!("s.a.9_9 {what}: 2\t50\t4%\n"));
        let doubtful = Phasing { is_doubtful: true, ..phasing };
        assert!(doubtful.line("a").ends_with("\t2\t50\tna\n"));
        assert!(doubtful.switches("t").ends_with(": 2\t50\tna\n"));
        assert_eq!(doubtful.hamming_rate(), None);
        assert_eq!(Phasing::default().line("a"), "a\t0\t0\tna\tna\tna\tna\t0\t0\tna\n");
    }
}
