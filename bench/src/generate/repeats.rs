//! `merganser-bench gen repeats`: a reference as repetitive as a vertebrate's chromosome, for mapping.
//!
//! A tenth of it consists of copies of a 300-base element that differ from it by 5 to 20 %, 17 % of copies of a
//! 6,000-base element that differ by 5 to 15 %, and 3 % of microsatellites (units of 1 to 6 bases, 20 to 200 bases
//! long, 0 to 10 % of them changed). The rest is random. Copies are on both strands.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use merganser_io::Output;

use super::Threads;
use super::ordered::ordered;
use super::sequences::complement;
use crate::rng::{Purpose, Rng};

/// `merganser-bench gen repeats …`
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Length of the reference
    #[arg(long, value_name = "N", default_value_t = 100_000_000)]
    bases: usize,
    /// Number of contigs
    #[arg(long, value_name = "N", default_value_t = 1)]
    contigs: usize,
    /// Seed: the same seed and options give the same bytes
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    threads: Threads,
    /// Output file; - for stdout
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Writes the reference.
pub(crate) fn run(args: &Args) -> Result<()> {
    let element = |number, len| {
        let mut bases = Vec::new();
        Rng::new(args.seed, Purpose::RepeatFamily, number).bases(len, &mut bases);
        bases
    };
    let elements = [element(0, 300), element(1, 6000)];
    let mut output = Output::create(&args.output)?;
    // One contig per thread: with many contigs, a large reference is made quickly.
    let make = |contig: u64| {
        let mut rng = Rng::new(args.seed, Purpose::GenomeBlock, contig);
        let bases = sequence(args.bases / args.contigs, &elements, &mut rng);
        let mut text = format!(">chr{}\n", contig + 1).into_bytes();
        text.reserve(bases.len() / 80 * 81 + 81);
        for line in bases.chunks(80) {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
        text
    };
    let write = |text: Vec<u8>| output.write_all(&text).context("cannot write");
    ordered(args.threads.get(), args.contigs as u64, make, write)?;
    output.finish()?;
    Ok(())
}

/// Mean distance in bases between the starts of pieces of each kind, which gives each kind its share of the
/// reference.
const SPACINGS: [f64; 3] = [300.0 / 0.10, 6000.0 / 0.17, 110.0 / 0.03];

fn sequence(len: usize, elements: &[Vec<u8>; 2], rng: &mut Rng) -> Vec<u8> {
    let mut bases = Vec::with_capacity(len + 6000);
    let rate: f64 = SPACINGS.iter().map(|spacing| 1.0 / spacing).sum();
    // The mean gap between pieces, which take up 30 %.
    let gap = 0.7 / rate;
    while bases.len() < len {
        let random = rng.exponential(gap) as usize;
        rng.bases(random, &mut bases);
        let mut pick = rng.uniform() * rate;
        let kind = SPACINGS.iter().position(|spacing| {
            pick -= 1.0 / spacing;
            pick <= 0.0
        });
        match kind {
            Some(kind @ 0..2) => {
                let most = if kind == 0 { 0.15 } else { 0.10 };
                let divergence = 0.05 + most * rng.uniform();
                copy(&elements[kind], divergence, rng, &mut bases);
            }
            _ => {
                let mut unit = Vec::new();
                let len = 1 + rng.below(6) as usize;
                rng.bases(len, &mut unit);
                let run = unit.repeat(200)[..20 + rng.below(181) as usize].to_vec();
                let divergence = 0.1 * rng.uniform();
                copy(&run, divergence, rng, &mut bases);
            }
        }
    }
    bases.truncate(len);
    bases
}

/// Appends a changed copy on a random strand: of ten changes, one is an insertion and one a deletion.
fn copy(element: &[u8], divergence: f64, rng: &mut Rng, bases: &mut Vec<u8>) {
    let from = bases.len();
    for &base in element {
        if rng.uniform() > divergence {
            bases.push(base);
            continue;
        }
        match rng.below(10) {
            0 => {}
            1 => bases.extend([base, rng.base()]),
            _ => bases.push(rng.other_base(base)),
        }
    }
    if rng.below(2) == 1 {
        bases[from..].reverse();
        bases[from..].iter_mut().for_each(|base| *base = complement(*base));
    }
}
