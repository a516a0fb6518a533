//! `merganser-bench count`: runs merganser and other k-mer counters in turn on the same files.

mod case;
mod inputs;
pub(crate) mod machine;
mod outcome;
mod peer;
mod report;

use anyhow::{Context, Result, bail, ensure};
use case::{Case, Settings};
use inputs::{Compressor, Inputs};
pub(crate) use peer::find_program;
use peer::{Installed, Peer};
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// `merganser-bench count …`
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Read files (FASTA or FASTQ, plain or .gz); without them, simulated pairs of 150 bases
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["genome_bases", "coverage"])]
    reads: Vec<PathBuf>,
    /// Length of the simulated genome
    #[arg(long, value_name = "N", default_value_t = 5_000_000)]
    genome_bases: u64,
    /// Coverages of the simulated reads; several show how the cost scales
    #[arg(long, value_name = "C,…", value_delimiter = ',', default_value = "100")]
    coverage: Vec<f64>,
    /// Substitutions per base of the simulated reads
    #[arg(long, value_name = "RATE", default_value_t = 0.005)]
    substitutions: f64,
    /// Seed of the simulated reads
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Use .gz files, made from plain ones
    #[arg(long)]
    gz: bool,
    /// Program that makes the .gz files; by default pigz if it is installed, otherwise gzip
    #[arg(long, value_enum)]
    compressor: Option<Compressor>,
    /// Length of k-mers; several if repeated
    #[arg(short, value_name = "K", value_delimiter = ',', default_values_t = [28, 31, 55])]
    k: Vec<u32>,
    /// Minimum count of k-mers; several if repeated
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [2])]
    min_count: Vec<u32>,
    /// Threads of each tool
    #[arg(long, value_name = "T", default_value = "2")]
    threads: NonZeroUsize,
    /// Runs of each tool
    #[arg(long, value_name = "N", default_value = "3")]
    runs: NonZeroUsize,
    /// Tools to run, in this order
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Peer::ALL)]
    peers: Vec<Peer>,
    /// The merganser binary; by default the one beside this program, or on the PATH
    #[arg(long, value_name = "FILE")]
    merganser: Option<PathBuf>,
    /// --memory of merganser
    #[arg(long, value_name = "SIZE")]
    memory: Option<String>,
    /// --memory of merganser-disk
    #[arg(long, value_name = "SIZE", default_value = "2G")]
    disk_memory: String,
    /// Initial hash size of Jellyfish
    #[arg(long, value_name = "SIZE", default_value = "100M")]
    jellyfish_size: String,
    /// Folder for simulated reads, which are kept, and temporary files
    #[arg(long, value_name = "DIR", default_value = "bench/data")]
    dir: PathBuf,
    /// Also write the figures of every run as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Runs the benchmark; the report is written to stdout as Markdown.
///
/// # Errors
///
/// If the data cannot be made; after the report, if a tool failed or results differ.
pub(crate) fn run(args: &Args) -> Result<()> {
    ensure!(args.k.iter().all(|&k| k > 0), "-k must be 1 or more");
    ensure!(args.min_count.iter().all(|&count| count > 0), "--min-count must be 1 or more");
    std::fs::create_dir_all(&args.dir)
        .with_context(|| format!("cannot create {}", args.dir.display()))?;
    let installed = Installed::find(&args.peers, args.merganser.as_deref())?;
    say(&report::header(args.threads.get(), args.runs.get(), &installed))?;
    let mut cases = Vec::new();
    for inputs in data_sets(args) {
        let inputs = inputs?;
        eprintln!("{}: {:.2} GB", inputs.name, inputs.bytes as f64 / 1e9);
        inputs.warm()?;
        for &min_count in &args.min_count {
            for &k in &args.k {
                let case = Case::run(&settings(args, &inputs, k, min_count), &installed)?;
                say(&report::section(&case))?;
                cases.push(case);
            }
        }
    }
    say(&report::growth(&cases))?;
    if let Some(path) = &args.json {
        std::fs::write(path, format!("{:#}\n", report::json(&installed, &cases)))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    let problems: Vec<String> = cases.iter().flat_map(Case::problems).collect();
    if !problems.is_empty() {
        bail!("{}", problems.join("\n"));
    }
    Ok(())
}

/// Writes a part of the report.
pub(crate) fn say(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .context("cannot write to stdout")
}

fn settings<'a>(args: &'a Args, inputs: &'a Inputs, k: u32, min_count: u32) -> Settings<'a> {
    Settings {
        inputs,
        k,
        min_count,
        threads: args.threads.get(),
        runs: args.runs.get(),
        memory: args.memory.as_deref(),
        disk_memory: &args.disk_memory,
        jellyfish_size: &args.jellyfish_size,
        dir: &args.dir,
    }
}

/// Returns the input files, each made when it is needed.
fn data_sets(args: &Args) -> impl Iterator<Item = Result<Inputs>> {
    let simulated = if args.reads.is_empty() { &args.coverage[..] } else { &[] };
    let given = (!args.reads.is_empty()).then(|| Inputs::given(&args.reads));
    let simulated = simulated.iter().map(|&coverage| {
        let spec = inputs::Simulated {
            genome_bases: args.genome_bases,
            coverage,
            substitutions: args.substitutions,
            seed: args.seed,
        };
        Inputs::simulated(&spec, &args.dir, args.threads.get())
    });
    given.into_iter().chain(simulated).map(|inputs| {
        let inputs = inputs?;
        if !args.gz {
            return Ok(inputs);
        }
        let compressor = args.compressor.unwrap_or_else(Compressor::best);
        inputs.compressed(compressor, &args.dir, args.threads.get())
    })
}
