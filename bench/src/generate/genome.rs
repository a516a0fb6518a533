//! Random genomes with repeats and runs of N.

use super::ordered::ordered;
use super::output::Output;
use super::sequences::{Sequences, complement};
use crate::rng::{Purpose, Rng};
use anyhow::{Result, ensure};
use std::path::Path;

/// Bases generated from one random stream. Copies of repeats end at the end of a block.
const BLOCK: u64 = 1 << 20;

/// The name of the only sequence.
const NAME: &str = "genome";

/// Properties of a random genome.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Part of the genome that consists of copies of repeats, 0 to 1
    #[arg(long, value_name = "F", default_value_t = 0.0)]
    pub(crate) repeat_fraction: f64,
    /// Length of a repeat
    #[arg(long, value_name = "N", default_value_t = 1500)]
    pub(crate) repeat_length: u64,
    /// Part of a copy's bases that differ from the family's ancestor, 0 to 1
    #[arg(long, value_name = "F", default_value_t = 0.01)]
    pub(crate) repeat_divergence: f64,
    /// Number of repeat families
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub(crate) repeat_families: u64,
    /// Number of runs of N
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) n_runs: u64,
    /// Length of a run of N
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) n_run_length: u64,
}

/// A random genome, whose blocks are generated on demand.
#[derive(Debug)]
pub(crate) struct Genome {
    bases: u64,
    seed: u64,
    options: Options,
    families: Vec<Vec<u8>>,
    /// Start positions of the runs of N, in order.
    n_starts: Vec<u64>,
}

impl Genome {
    /// Draws the data that the blocks share: the ancestors of the repeats and the positions of the runs of N.
    ///
    /// # Errors
    ///
    /// If an option is out of range.
    pub(crate) fn new(bases: u64, seed: u64, options: &Options) -> Result<Self> {
        let o = options.clone();
        ensure!((0.0..=1.0).contains(&o.repeat_fraction), "--repeat-fraction must be 0 to 1");
        ensure!((0.0..=1.0).contains(&o.repeat_divergence), "--repeat-divergence must be 0 to 1");
        ensure!((1..=BLOCK).contains(&o.repeat_length), "--repeat-length must be 1 to {BLOCK}");
        ensure!(o.repeat_families > 0, "--repeat-families must be 1 or more");
        let families = if o.repeat_fraction > 0.0 { o.repeat_families } else { 0 };
        let family = |index| {
            let mut ancestor = Vec::new();
            let mut rng = Rng::new(seed, Purpose::RepeatFamily, index);
            rng.bases(o.repeat_length as usize, &mut ancestor);
            ancestor
        };
        let mut rng = Rng::new(seed, Purpose::UnknownRuns, 0);
        let mut n_starts: Vec<u64> = (0..o.n_runs).map(|_| rng.below(bases)).collect();
        n_starts.sort_unstable();
        let families = (0..families).map(family).collect();
        Ok(Self { bases, seed, options: o, families, n_starts })
    }

    fn blocks(&self) -> u64 {
        self.bases.div_ceil(BLOCK)
    }

    /// Returns the bases of one block: unique stretches and copies of repeats in alternation.
    fn block(&self, index: u64) -> Vec<u8> {
        let length = BLOCK.min(self.bases - index * BLOCK) as usize;
        let mut rng = Rng::new(self.seed, Purpose::GenomeBlock, index);
        let mut block = Vec::with_capacity(length);
        while block.len() < length {
            let unique = self.unique_length(&mut rng).min(length - block.len());
            rng.bases(unique, &mut block);
            self.push_repeat(length - block.len(), &mut rng, &mut block);
        }
        self.mask(index * BLOCK, &mut block);
        block
    }

    /// Draws the length of the stretch before the next repeat.
    fn unique_length(&self, rng: &mut Rng) -> usize {
        let fraction = self.options.repeat_fraction;
        if fraction == 0.0 {
            return usize::MAX;
        }
        rng.exponential(self.options.repeat_length as f64 * (1.0 - fraction) / fraction) as usize
    }

    /// Appends a mutated copy of a random family, in either direction, of at most `room` bases.
    fn push_repeat(&self, room: usize, rng: &mut Rng, block: &mut Vec<u8>) {
        if room == 0 {
            return;
        }
        let start = block.len();
        let family = &self.families[rng.below(self.families.len() as u64) as usize];
        if rng.next() & 1 == 0 {
            block.extend(family.iter().take(room));
        } else {
            block.extend(family.iter().rev().take(room).map(|&base| complement(base)));
        }
        let ln_same = (-self.options.repeat_divergence).ln_1p();
        let mut at = rng.failures(ln_same);
        while at < (block.len() - start) as u64 {
            let base = &mut block[start + at as usize];
            *base = rng.other_base(*base);
            at = at.saturating_add(1).saturating_add(rng.failures(ln_same));
        }
    }

    /// Overwrites with N the runs that overlap the block at `offset`.
    fn mask(&self, offset: u64, block: &mut [u8]) {
        let end = offset + block.len() as u64;
        let length = self.options.n_run_length;
        let first = self.n_starts.partition_point(|&start| start + length <= offset);
        for &start in self.n_starts[first..].iter().take_while(|&&start| start < end) {
            let from = start.max(offset) - offset;
            let to = (start + length).min(end) - offset;
            block[from as usize..to as usize].fill(b'N');
        }
    }

    /// Returns the whole genome in memory.
    pub(crate) fn sequences(&self, threads: usize) -> Result<Sequences> {
        let mut bases = Vec::with_capacity(self.bases as usize);
        ordered(
            threads,
            self.blocks(),
            |index| self.block(index),
            |block| {
                bases.extend_from_slice(&block);
                Ok(())
            },
        )?;
        Ok(Sequences::single(NAME, bases))
    }

    /// Writes the genome as FASTA with `width` bases per line; 0 writes one line.
    pub(crate) fn write(&self, width: u64, threads: usize, path: &Path) -> Result<()> {
        let mut output = Output::create(path)?;
        output.write(format!(">{NAME} {} bases, seed {}\n", self.bases, self.seed).as_bytes())?;
        let make = |index| wrap(&self.block(index), index * BLOCK, width);
        ordered(threads, self.blocks(), make, |text| output.write(&text))?;
        if width == 0 || !self.bases.is_multiple_of(width) {
            output.write(b"\n")?;
        }
        output.finish()
    }
}

/// Returns `bases` with line ends inserted; `offset` is the position of the first base in the genome.
fn wrap(bases: &[u8], offset: u64, width: u64) -> Vec<u8> {
    if width == 0 {
        return bases.to_vec();
    }
    let mut text = Vec::with_capacity(bases.len() + bases.len() / width as usize + 1);
    let mut rest = bases;
    let mut room = width - offset % width;
    while !rest.is_empty() {
        let (line, tail) = rest.split_at(rest.len().min(room as usize));
        text.extend_from_slice(line);
        if line.len() as u64 == room {
            text.push(b'\n');
        }
        rest = tail;
        room = width;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Options {
        Options {
            repeat_fraction: 0.0,
            repeat_length: 1500,
            repeat_divergence: 0.01,
            repeat_families: 16,
            n_runs: 0,
            n_run_length: 1000,
        }
    }

    fn bases(genome: &Genome, threads: usize) -> Vec<u8> {
        genome.sequences(threads).unwrap().bases().to_vec()
    }

    #[test]
    fn bytes_do_not_depend_on_threads() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { repeat_fraction: 0.3, n_runs: 5, ..options() };
        let genome = Genome::new(2_500_001, 7, &options).unwrap();
        let mut files = Vec::new();
        for threads in [1, 3] {
            let path = folder.path().join(format!("{threads}.fa"));
            genome.write(70, threads, &path).unwrap();
            files.push(std::fs::read(path).unwrap());
        }
        assert!(files[0] == files[1]);
        let other = Genome::new(2_500_001, 8, &options).unwrap();
        assert!(bases(&genome, 1) != bases(&other, 1));
    }

    #[test]
    fn file_holds_the_genome_at_any_line_width() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("genome.fa");
        let genome = Genome::new(1_200_000, 7, &options()).unwrap();
        for width in [0, 1, 80, 100_000, 5_000_000] {
            genome.write(width, 2, &path).unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.ends_with('\n') && !text.contains("\n\n"));
            let lines: Vec<&str> = text.lines().skip(1).collect();
            let longest = if width == 0 { 1_200_000 } else { width.min(1_200_000) };
            assert_eq!(lines[0].len() as u64, longest);
            assert!(lines.concat().as_bytes() == bases(&genome, 1));
        }
    }

    #[test]
    fn repeats_fill_their_fraction() {
        let options = Options { repeat_fraction: 0.4, repeat_divergence: 0.0, ..options() };
        let genome = Genome::new(1_000_000, 3, &options).unwrap();
        let bases = bases(&genome, 1);
        // Each k-mer of an ancestor occurs in all copies with its direction.
        let mut seen = std::collections::HashMap::new();
        for kmer in bases.windows(31) {
            *seen.entry(kmer).or_insert(0u32) += 1;
        }
        let repeated = bases.windows(31).filter(|kmer| seen[kmer] > 1).count();
        let fraction = repeated as f64 / bases.len() as f64;
        assert!((0.33..0.45).contains(&fraction), "{fraction}");
    }

    #[test]
    fn unknown_runs_are_written_across_blocks() {
        let options = Options { n_runs: 3, n_run_length: 1_500_000, ..options() };
        let genome = Genome::new(6_000_000, 3, &options).unwrap();
        let bases = bases(&genome, 2);
        for &start in &genome.n_starts {
            let end = (start + 1_500_000).min(6_000_000);
            assert!(bases[start as usize..end as usize].iter().all(|&base| base == b'N'));
        }
        assert!(bases.iter().filter(|&&base| base == b'N').count() <= 4_500_000);
        assert_ne!(bases[genome.n_starts[0] as usize - 1], b'N');
    }

    #[test]
    fn options_out_of_range_are_refused() {
        assert!(Genome::new(10, 1, &Options { repeat_fraction: 1.5, ..options() }).is_err());
        assert!(Genome::new(10, 1, &Options { repeat_length: 0, ..options() }).is_err());
        assert!(bases(&Genome::new(0, 1, &options()).unwrap(), 1).is_empty());
    }
}
