//! `merganser-bench gen`: simulates genomes and reads from a seed.
//!
//! Data are generated in numbered units (blocks of a genome, sequenced fragments), each from its own stream of random
//! numbers. The bytes therefore depend only on the seed and the options, not on the number of threads, and a shallow
//! data set consists of the first reads of a deep one.

pub(crate) mod genome;
mod kraken_table;
mod meta;
mod ordered;
mod output;
pub(crate) mod pairs;
mod qualities;
pub(crate) mod reads;
mod repeats;
pub(crate) mod sequences;
mod simulator;
mod strains;

use anyhow::Result;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// `merganser-bench gen …`
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Make a random genome (FASTA)
    Genome(GenomeArgs),
    /// Make a reference rich in repeats (FASTA)
    Repeats(repeats::Args),
    /// Make reads of a genome (FASTA or FASTQ)
    Reads(Box<reads::Args>),
    /// Make families of genomes with a taxonomy (a folder of FASTA files and one of NCBI's dumps)
    Meta(meta::Args),
    /// Make reads of the genomes of `gen meta` (FASTA); the headers have the taxids
    MetaReads(meta::ReadArgs),
    /// Make strains of species that recombine (a folder of FASTA files, a map, and NCBI's dumps)
    Strains(strains::Args),
    /// Make a large Kraken table from a small one, with the same answers
    KrakenTable(kraken_table::Args),
    /// Make pairs of a read and a segment (TSV), for the filter
    Pairs(pairs::Args),
}

/// `merganser-bench gen genome …`
#[derive(clap::Args)]
pub(crate) struct GenomeArgs {
    /// Length of the genome
    #[arg(long, value_name = "N")]
    bases: u64,
    #[command(flatten)]
    model: genome::Options,
    /// Bases per line; 0 writes one line
    #[arg(long, value_name = "N", default_value_t = 80)]
    line_width: u64,
    /// Seed: the same seed and options give the same bytes
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    threads: Threads,
    /// Output file; - for stdout
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// `--threads`
#[derive(Clone, Copy, clap::Args)]
pub(crate) struct Threads {
    /// Threads; all cores if not given
    #[arg(long = "threads", value_name = "T")]
    number: Option<NonZeroUsize>,
}

impl Threads {
    /// Returns the number of threads, at least one.
    pub(crate) fn get(self) -> usize {
        self.number.or_else(|| std::thread::available_parallelism().ok()).map_or(1, |n| n.get())
    }
}

/// Runs a `gen` command.
pub(crate) fn run(command: &Command) -> Result<()> {
    match command {
        Command::Genome(args) => {
            let genome = genome::Genome::new(args.bases, args.seed, &args.model)?;
            genome.write(args.line_width, args.threads.get(), &args.output)
        }
        Command::Repeats(args) => repeats::run(args),
        Command::Reads(args) => reads::run(args),
        Command::Meta(args) => meta::run(args),
        Command::MetaReads(args) => meta::run_reads(args),
        Command::Strains(args) => strains::run(args),
        Command::KrakenTable(args) => kraken_table::run(args),
        Command::Pairs(args) => pairs::run(args),
    }
}
