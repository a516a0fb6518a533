//! `merganser-bench gen reads`: writes simulated reads to files.

use super::genome::{Genome, Options};
use super::ordered::ordered;
use super::output::{Output, with_suffix};
use super::qualities::{Profile, Qualities};
use super::sequences::Sequences;
use super::simulator::{Fragment, Length, Rates, Read, Simulator};
use crate::rng::{Purpose, Rng};
use anyhow::{Result, bail, ensure};
use merganser_io::BgzfBlocks;
use std::path::{Path, PathBuf};

/// Approximate number of bases in a block.
const BLOCK: f64 = (1 << 20) as f64;

/// `merganser-bench gen reads …`
#[derive(clap::Args)]
pub(crate) struct Args {
    /// FASTA file with the genome
    #[arg(long, value_name = "FILE", required_unless_present = "genome_bases")]
    genome: Option<PathBuf>,
    /// Use the genome that `gen genome` makes with the same seed and options
    #[arg(long, value_name = "N", conflicts_with = "genome")]
    genome_bases: Option<u64>,
    #[command(flatten)]
    genome_options: Options,
    #[command(flatten)]
    model: Model,
    /// Seed: the same seed and options give the same bytes
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    threads: super::Threads,
    /// Output file, as BGZF if it ends in .gz; with --paired, `_1` and `_2` are added before its extension; - for
    /// stdout
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Properties of the reads.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Model {
    /// Length of all reads [default: 150]
    #[arg(long, value_name = "N", conflicts_with = "mean_length")]
    length: Option<usize>,
    /// Mean length of long reads, whose lengths are log-normal
    #[arg(long, value_name = "N")]
    mean_length: Option<f64>,
    /// Standard deviation of the logarithm of long reads' lengths
    #[arg(long, value_name = "F", default_value_t = 0.5)]
    length_sigma: f64,
    /// Read bases per base of the genome
    #[arg(long, value_name = "C", required_unless_present = "reads")]
    coverage: Option<f64>,
    /// Number of reads (of both files together)
    #[arg(long, value_name = "N", conflicts_with = "coverage")]
    reads: Option<u64>,
    #[command(flatten)]
    rates: Rates,
    /// Read both ends of each fragment, into two files
    #[arg(long)]
    paired: bool,
    /// Mean length of the fragments of pairs
    #[arg(long, value_name = "N", default_value_t = 350.0)]
    fragment_mean: f64,
    /// Standard deviation of the fragments' length
    #[arg(long, value_name = "N", default_value_t = 30.0)]
    fragment_deviation: f64,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Format::Fastq)]
    format: Format,
}

/// A file format of reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Four lines per read
    Fastq,
    /// Two lines per read
    Fasta,
}

impl Model {
    /// Returns a model of pairs of 150 bases, as FASTQ.
    pub(crate) fn pairs(coverage: f64, substitutions: f64) -> Self {
        Self {
            length: None,
            mean_length: None,
            length_sigma: 0.5,
            coverage: Some(coverage),
            reads: None,
            rates: Rates { substitutions, insertions: 0.0, deletions: 0.0, n_rate: 0.0 },
            paired: true,
            fragment_mean: 350.0,
            fragment_deviation: 30.0,
            format: Format::Fastq,
        }
    }

    /// Returns a model of single reads of one length, as FASTQ.
    pub(crate) fn single(length: usize, reads: u64, substitutions: f64) -> Self {
        Self {
            length: Some(length),
            coverage: None,
            reads: Some(reads),
            paired: false,
            ..Self::pairs(0.0, substitutions)
        }
    }

    /// Returns a model of long reads with a mean of 5,000 bases, 2 % substitutions, 1.5 % insertions and 1.5 %
    /// deletions, as FASTQ.
    pub(crate) fn long(reads: u64) -> Self {
        let rates = Rates { substitutions: 0.02, insertions: 0.015, deletions: 0.015, n_rate: 0.0 };
        Self { length: None, mean_length: Some(5000.0), rates, ..Self::single(0, reads, 0.0) }
    }

    fn length(&self) -> Result<Length> {
        let Some(mean) = self.mean_length else {
            return Ok(Length::Fixed(self.length.unwrap_or(150)));
        };
        ensure!(mean >= 1.0, "--mean-length must be 1 or more");
        ensure!((0.0..=3.0).contains(&self.length_sigma), "--length-sigma must be 0 to 3");
        Ok(Length::LogNormal { mean, sigma: self.length_sigma })
    }

    fn simulator(&self, genome: Sequences) -> Result<Simulator> {
        let fragment = Fragment { mean: self.fragment_mean, deviation: self.fragment_deviation };
        let pairing = self.paired.then_some(fragment);
        Simulator::new(genome, self.length()?, pairing, self.rates)
    }

    /// Returns the number of fragments to sequence.
    fn fragments(&self, simulator: &Simulator) -> Result<u64> {
        let mates = if self.paired { 2 } else { 1 };
        match (self.reads, self.coverage) {
            (Some(reads), _) => Ok(reads.div_ceil(mates)),
            (None, Some(coverage)) if coverage >= 0.0 => {
                let bases = coverage * simulator.genome.bases().len() as f64;
                let fragment = simulator.mean_length() * mates as f64;
                ensure!(fragment > 0.0, "--coverage requires reads of at least 1 base");
                Ok((bases / fragment).ceil() as u64)
            }
            _ => bail!("--coverage must not be negative"),
        }
    }
}

/// Runs `gen reads`.
pub(crate) fn run(args: &Args) -> Result<()> {
    let threads = args.threads.get();
    let genome = match (&args.genome, args.genome_bases) {
        (Some(path), _) => Sequences::read(path)?,
        (None, Some(bases)) => {
            Genome::new(bases, args.seed, &args.genome_options)?.sequences(threads)?
        }
        (None, None) => bail!("--genome or --genome-bases is required"),
    };
    let files = if args.model.paired { mates(&args.output)? } else { vec![args.output.clone()] };
    write(&args.model, genome, args.seed, threads, &files)
}

/// Returns the names of both files of pairs: `reads_1.fq.gz` and `reads_2.fq.gz` for `reads.fq.gz`.
pub(crate) fn mates(path: &Path) -> Result<Vec<PathBuf>> {
    ensure!(path != Path::new("-"), "pairs are written to two files: name an output file");
    let (mut stem, mut extension) = (path.to_owned(), String::new());
    // The extension of reads.fq.gz is .fq.gz.
    while let Some(last) = stem.extension().filter(|_| matches!(extension.as_str(), "" | ".gz")) {
        extension = format!(".{}{extension}", last.display());
        stem = stem.with_extension("");
    }
    Ok((1..=2).map(|mate| with_suffix(&stem, &format!("_{mate}{extension}"))).collect())
}

/// Simulates reads of `genome` and writes them to `files`: one, or two for pairs.
pub(crate) fn write(
    model: &Model,
    genome: Sequences,
    seed: u64,
    threads: usize,
    files: &[PathBuf],
) -> Result<()> {
    let simulator = model.simulator(genome)?;
    let fragments = model.fragments(&simulator)?;
    let profile = match simulator.length {
        Length::Fixed(length) if length <= 600 => Profile::Short,
        _ => Profile::Long,
    };
    let writer = Writer {
        format: model.format,
        mates: files.len(),
        seed,
        simulator,
        qualities: Qualities::new(profile),
    };
    // Blocks have whole fragments and similar sizes, whatever the length of reads.
    let size = (BLOCK / (writer.simulator.mean_length() * files.len() as f64)).ceil().max(1.0);
    let size = (size as u64).min(1 << 16);
    let mut outputs = files.iter().map(|file| Output::create(file)).collect::<Result<Vec<_>>>()?;
    let zipped = files.iter().all(|file| file.extension().is_some_and(|ending| ending == "gz"));
    let make = |block: u64| {
        let texts = writer.block(block * size, fragments.min((block + 1) * size));
        if zipped { texts.map(|text| zip(&text)) } else { texts }
    };
    ordered(threads, fragments.div_ceil(size), make, |texts| {
        outputs.iter_mut().zip(&texts).try_for_each(|(output, text)| output.write(text))
    })?;
    if zipped {
        outputs.iter_mut().try_for_each(|output| output.write(&BgzfBlocks::END))?;
    }
    outputs.into_iter().try_for_each(Output::finish)
}

/// Compresses text as BGZF with a fast level, like bgzip.
fn zip(text: &[u8]) -> Vec<u8> {
    let mut blocks = Vec::with_capacity(text.len() / 2);
    BgzfBlocks::new(2).compress(text, true, &mut blocks);
    blocks
}

struct Writer {
    format: Format,
    mates: usize,
    seed: u64,
    simulator: Simulator,
    qualities: Qualities,
}

impl Writer {
    /// Returns the text of the fragments `first..end` for each file.
    fn block(&self, first: u64, end: u64) -> [Vec<u8>; 2] {
        let mut texts = [Vec::new(), Vec::new()];
        let mut reads = [Read::default(), Read::default()];
        for index in first..end {
            let mut rng = Rng::new(self.seed, Purpose::Fragment, index);
            let place = self.simulator.fragment(&mut rng, &mut reads);
            let strand = if place.reverse { '-' } else { '+' };
            // The header contains the truth for evaluating a mapping: first base of the fragment (from 1), strand of
            // the first read, length of the fragment.
            let (start, length) = (place.range.start + 1, place.range.len());
            let truth = format!("{}:{start}{strand}{length}", place.name);
            for mate in 0..self.mates {
                let suffix = ["/1", "/2"][mate];
                let suffix = if self.mates == 2 { suffix } else { "" };
                let name = format!("r{index}{suffix} {truth}");
                self.push(&name, mate, &reads[mate], &mut rng, &mut texts[mate]);
            }
        }
        texts
    }

    fn push(&self, name: &str, mate: usize, read: &Read, rng: &mut Rng, text: &mut Vec<u8>) {
        text.push(if self.format == Format::Fastq { b'@' } else { b'>' });
        text.extend_from_slice(name.as_bytes());
        text.push(b'\n');
        text.extend_from_slice(&read.bases);
        if self.format == Format::Fastq {
            text.extend_from_slice(b"\n+\n");
            self.qualities.push(rng, mate, &read.bases, &read.errors, text);
        }
        text.push(b'\n');
    }
}

#[cfg(test)]
mod tests;
