//! `merganser-bench gen meta` and `gen meta-reads`: simulates families of genomes with a taxonomy, and reads with
//! their taxid.
//!
//! The bytes are those of the generator used for the published measurements (`gen meta DIR FAMILIES STRAINS BASES
//! SEED` and `gen metareads FILE … LENGTH READS ERRORS`): each genome, and each block of 16,384 reads, has its own
//! stream of random numbers.

use super::ordered::ordered;
use super::output::Output;
use super::sequences::complement;
use crate::rng::Rng;
use anyhow::{Context, Result, ensure};
use merganser_run::{Cancel, each};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Parameters of the genomes.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Set {
    /// Number of families; the members of one have a common ancestor
    #[arg(long, value_name = "N", default_value_t = 40)]
    families: u64,
    /// Genomes per family, which differ from the ancestor in 2 to 5 % of their bases
    #[arg(long, value_name = "N", default_value_t = 5)]
    strains: u64,
    /// Bases per genome
    #[arg(long, value_name = "N", default_value_t = 4_000_000)]
    bases: u64,
    /// Seed: the same seed and options give the same bytes
    #[arg(long, value_name = "S", default_value_t = 11)]
    seed: u64,
}

/// `merganser-bench gen meta …`
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    set: Set,
    #[command(flatten)]
    threads: super::Threads,
    /// Folder for `genomes/` and `tax/`
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

/// `merganser-bench gen meta-reads …`
#[derive(clap::Args)]
pub(crate) struct ReadArgs {
    #[command(flatten)]
    set: Set,
    /// Bases per read
    #[arg(long, value_name = "N", default_value_t = 100)]
    length: u64,
    /// Number of reads
    #[arg(long, value_name = "N")]
    reads: u64,
    /// Error rate per base, 0 to 1
    #[arg(long, value_name = "F", default_value_t = 0.005)]
    errors: f64,
    #[command(flatten)]
    threads: super::Threads,
    /// Output file; - for stdout
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Reads per block.
const BLOCK: u64 = 1 << 14;
/// Letters per line.
const LINE: usize = 80;

/// Writes the genomes and the taxonomy.
///
/// # Errors
/// If a file cannot be written.
pub(crate) fn run(args: &Args) -> Result<()> {
    let (genomes, taxonomy) = (args.output.join("genomes"), args.output.join("tax"));
    for folder in [&genomes, &taxonomy] {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let families = 0..args.set.families as usize;
    each(args.threads.get(), families, &Cancel::default(), |families| -> Result<()> {
        for family in families.map(|family| family as u64) {
            let ancestor = args.set.ancestor(family);
            for strain in 0..args.set.strains {
                let number = family * args.set.strains + strain;
                let path = genomes.join(format!("g{number:03}.fna"));
                write_genome(&path, number, &args.set.genome(&ancestor, number))?;
            }
        }
        Ok(())
    })?;
    args.set.write_taxonomy(&taxonomy)
}

/// Writes the reads.
///
/// # Errors
/// If options contradict each other, or the output cannot be written.
pub(crate) fn run_reads(args: &ReadArgs) -> Result<()> {
    ensure!(args.length <= args.set.bases, "--length must not exceed --bases");
    ensure!((0.0..1.0).contains(&args.errors), "--errors must be at least 0 and below 1");
    let threads = args.threads.get();
    let mut genomes = Vec::new();
    let family = |family| {
        let ancestor = args.set.ancestor(family);
        let numbers = family * args.set.strains..(family + 1) * args.set.strains;
        numbers.map(|number| args.set.genome(&ancestor, number)).collect::<Vec<_>>()
    };
    ordered(threads, args.set.families, family, |family| {
        genomes.extend(family);
        Ok(())
    })?;
    let mut output = Output::create(&args.output)?;
    let block = |block| args.block(&genomes, block);
    ordered(threads, args.reads.div_ceil(BLOCK), block, |text| output.write(&text))?;
    output.finish()
}

impl Set {
    fn ancestor(&self, family: u64) -> Vec<u8> {
        let mut bases = Vec::new();
        Rng::published(self.seed, 5_000_000 + family).bases(self.bases as usize, &mut bases);
        bases
    }

    /// Returns a genome of the ancestor's family; `number` is its number among all genomes.
    fn genome(&self, ancestor: &[u8], number: u64) -> Vec<u8> {
        let strain = number % self.strains;
        let step =
            if self.strains > 1 { 0.03 * strain as f64 / (self.strains - 1) as f64 } else { 0.0 };
        let mut genome = ancestor.to_vec();
        let mut rng = Rng::published(self.seed, 6_000_000 + number);
        mutate(&mut genome, 0.02 + step, &mut rng);
        genome
    }

    fn write_taxonomy(&self, folder: &Path) -> Result<()> {
        let (mut nodes, mut names) = (String::new(), String::new());
        let mut node = |taxid: u64, parent: u64, rank: &str, name: &str| {
            let rest = "\t|\t\t|\t0\t|\t1\t|\t11\t|\t1\t|\t0\t|\t1\t|\t0\t|\t0\t|\t\t|\n";
            let _ = write!(nodes, "{taxid}\t|\t{parent}\t|\t{rank}{rest}");
            let _ = writeln!(names, "{taxid}\t|\t{name}\t|\t\t|\tscientific name\t|");
        };
        node(1, 1, "no rank", "root");
        node(2, 1, "superkingdom", "Bacteria");
        let (phyla, families) = (self.families.min(4), self.families.min(8));
        for at in 0..phyla {
            node(11 + at, 2, "phylum", &format!("Phylum{at}"));
            node(21 + at, 11 + at, "class", &format!("Class{at}"));
            node(31 + at, 21 + at, "order", &format!("Order{at}"));
        }
        for at in 0..families {
            node(51 + at, 31 + at % phyla, "family", &format!("Family{at}"));
        }
        for at in 0..self.families {
            node(1001 + at, 51 + at % families, "genus", &format!("Genus{at}"));
        }
        for at in 0..self.families * self.strains {
            let genus = at / self.strains;
            node(taxid(at), 1001 + genus, "species", &format!("Genus{genus} species{at}"));
        }
        for (name, text) in
            [("nodes.dmp", nodes), ("names.dmp", names), ("merged.dmp", String::new())]
        {
            let path = folder.join(name);
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }
}

impl ReadArgs {
    fn block(&self, genomes: &[Vec<u8>], block: u64) -> Vec<u8> {
        let stream = 7_000_000_000 + self.length * 10_000_000 + block;
        let mut rng = Rng::published(self.set.seed, stream);
        let reads = block * BLOCK..self.reads.min((block + 1) * BLOCK);
        let mut text =
            Vec::with_capacity((reads.end - reads.start) as usize * (self.length as usize + 25));
        for read in reads {
            let number = rng.below(genomes.len() as u64);
            let _ = writeln!(text, ">r{read:08} taxid|{:06}", taxid(number));
            // The order of these draws determines the data.
            let reverse = rng.next() & 1 == 1;
            let start = rng.below(self.set.bases - self.length + 1) as usize;
            let bases = &genomes[number as usize][start..start + self.length as usize];
            let at = text.len();
            match reverse {
                false => text.extend_from_slice(bases),
                true => text.extend(bases.iter().rev().map(|&base| complement(base))),
            }
            mutate(&mut text[at..], self.errors, &mut rng);
            text.push(b'\n');
        }
        text
    }
}

fn taxid(genome: u64) -> u64 {
    100_001 + genome
}

/// Replaces each base by another one with probability `rate`.
fn mutate(bases: &mut [u8], rate: f64, rng: &mut Rng) {
    let per_gap = 1.0 / (-rate).ln_1p();
    let gap = |rng: &mut Rng| {
        let uniform = (rng.next() >> 11) as f64 * (1.0 / (1u64 << 53) as f64);
        (uniform.max(1e-300).ln() * per_gap).min(1e18) as u64
    };
    let mut at = gap(rng);
    while at < bases.len() as u64 {
        let base = &mut bases[at as usize];
        *base = other(*base, rng);
        at += 1 + gap(rng);
    }
}

fn other(base: u8, rng: &mut Rng) -> u8 {
    let code = b"ACGT".iter().position(|&one| one == base).unwrap_or(3) as u64;
    b"ACGT"[((code + 1 + rng.below(3)) & 3) as usize]
}

fn write_genome(path: &Path, number: u64, bases: &[u8]) -> Result<()> {
    let mut text = Vec::with_capacity(bases.len() + bases.len() / LINE + 80);
    let taxid = taxid(number);
    writeln!(text, ">NC_{number:06}.1 | taxid|{taxid} synthetic genome {number}")?;
    for line in bases.chunks(LINE) {
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    let write = || File::create(path)?.write_all(&text);
    write().with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes are those of the original generator, compiled with g++.
    #[test]
    fn bytes_are_the_published_ones() {
        let folder = tempfile::tempdir().unwrap();
        let set = Set { families: 3, strains: 2, bases: 1000, seed: 7 };
        let threads = super::super::Threads { number: std::num::NonZeroUsize::new(2) };
        run(&Args { set: set.clone(), threads, output: folder.path().into() }).unwrap();
        let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
        let output = folder.path().join("reads");
        let args = ReadArgs { set, length: 50, reads: 20_000, errors: 0.02, threads, output };
        run_reads(&args).unwrap();
        let names =
            ["genomes/g000.fna", "genomes/g005.fna", "tax/nodes.dmp", "tax/names.dmp", "reads"];
        assert_eq!(
            names.map(|name| crc32fast::hash(&read(name))),
            [9_328_923, 2_910_931_990, 2_823_842_390, 3_729_619_102, 2_541_718_111]
        );
    }
}
