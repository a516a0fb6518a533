//! `merganser-bench parts`: what the design choices of counting cost, each by itself, on reads.

mod bins;
mod clock;
mod counting;
mod cut;
mod gkc;
mod markdown;
mod radix;
mod reads;
mod records;
mod scan;

use crate::count::{machine, say};
use anyhow::{Result, ensure};
use merganser_count::Config;
use merganser_seq::kmer::MAX_K;
use merganser_seq::simd::Level;
use merganser_seq::with_kmer;
use reads::Sample;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

/// `merganser-bench parts …`
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Read files (FASTA or FASTQ, any compression)
    #[arg(required = true, value_name = "READS")]
    reads: Vec<PathBuf>,
    /// Length of k-mers; several if repeated
    #[arg(short, value_name = "K", value_delimiter = ',', default_values_t = [28, 55])]
    k: Vec<usize>,
    /// Threads that do the same work side by side; times are the mean CPU time of one
    #[arg(long, value_name = "T", default_value = "1")]
    threads: NonZeroUsize,
    /// Bases, the first of the reads, that the encodings (and, of some, the scan) are measured on
    #[arg(long, value_name = "N", default_value_t = 50_000_000)]
    bases: usize,
    /// Count k-mers of every Nth read; several show what depth does
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [1, 10, 50])]
    every: Vec<u64>,
    /// k-mers of a bin, about
    #[arg(long, value_name = "N", default_value = "400000")]
    bin_kmers: NonZeroU64,
    /// Bins that are counted, at most, of all that the reads have
    #[arg(long, value_name = "N", default_value = "16")]
    bins: NonZeroUsize,
}

/// Runs the measures; the tables go to stdout as Markdown.
///
/// # Errors
///
/// If the reads cannot be read, hold no k-mer, or two methods disagree.
pub(crate) fn run(args: &Args) -> Result<()> {
    for &k in &args.k {
        // The paper's encoding needs super-k-mers of at least five bases.
        ensure!((5..=MAX_K).contains(&k), "-k {k} is out of range: 5 to {MAX_K}");
    }
    ensure!(args.every.iter().all(|&every| every > 0), "--every must be 1 or more");
    let sample = Sample::load(&args.reads, args.bases)?;
    say(&header(args, &sample))?;
    for &k in &args.k {
        say(&scan::report(args.threads, &sample, k))?;
    }
    for &k in &args.k {
        say(&with_kmer!(k, K => records::report::<K>(args.threads, &sample, k))?)?;
    }
    for &k in &args.k {
        let depths = bins::make(&args.reads, k, &args.every, args.bin_kmers, args.bins)?;
        say(&with_kmer!(k, K => counting::report::<K>(args.threads, &depths, k))?)?;
    }
    Ok(())
}

fn header(args: &Args, sample: &Sample) -> String {
    let names = args.reads.iter().map(|file| file.file_name().unwrap_or(file.as_os_str()));
    let names: Vec<String> = names.map(|name| name.display().to_string()).collect();
    format!(
        "## Parts of counting\n\n{}- SIMD: {}\n- reads: {}; encodings on the first {} bases\n\
         - CPU time of a thread, {} at once, least of {} runs; canonical k-mers, signatures of {} bases\n\n",
        machine::describe(),
        Level::best().name(),
        names.join(" "),
        markdown::grouped(sample.letters.len() as u64),
        args.threads,
        clock::RUNS,
        args.k
            .iter()
            .map(|&k| format!("{} (k = {k})", Config::default_signature_len(k)))
            .collect::<Vec<_>>()
            .join(", "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use std::io::Write;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn all_methods_agree_on_reads_with_errors_and_other_letters() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("reads.fa");
        let mut file = std::fs::File::create(&path).unwrap();
        let mut state = 1u64;
        for read in 0..400 {
            let mut letters = Vec::new();
            for _ in 0..150 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(read % 40);
                letters.push(b"ACGTACGTACGTACGTACGTACGTACGTACGN"[(state >> 59) as usize]);
            }
            // Every read comes twice, so that records recur.
            let letters = String::from_utf8(letters).unwrap();
            writeln!(file, ">a\n{letters}\n>b\n{letters}").unwrap();
        }
        let path = path.to_str().unwrap();
        for k in ["5,16", "28", "33,128"] {
            let args = ["parts", path, "-k", k, "--every", "1,3", "--threads", "2"];
            let outcome = run(&Command::parse_from(args).args);
            assert!(outcome.is_ok(), "k {k}: {outcome:?}");
        }
    }
}
