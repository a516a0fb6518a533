//! `merganser-bench map`: finds all hits with merganser, with each filter, and with RazerS3, in turn on the same
//! reads.

use std::ffi::OsString;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::measure::{Cost, measure};

/// `merganser-bench map …`
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The reference (FASTA)
    #[arg(long, value_name = "FILE")]
    reference: PathBuf,
    /// The reads (FASTA or FASTQ), all of about --length bases
    #[arg(long, value_name = "FILE")]
    reads: PathBuf,
    /// Maximum number of edits
    #[arg(short = 'e', long, default_value_t = 5)]
    edits: u32,
    /// Length of the reads, from which RazerS3's identity is computed
    #[arg(long, value_name = "N", default_value_t = 100)]
    length: u32,
    /// Runs of each tool
    #[arg(long, value_name = "N", default_value_t = 3)]
    runs: usize,
    /// Threads of each tool
    #[arg(long, value_name = "T", default_value = "2")]
    threads: NonZeroUsize,
    /// --device of merganser
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: String,
    /// The merganser binary
    #[arg(long, value_name = "FILE", default_value = "target/release/merganser")]
    merganser: PathBuf,
    /// Folder for outputs, which are removed again
    #[arg(long, value_name = "DIR", default_value = "/dev/shm")]
    folder: PathBuf,
    /// Leave out RazerS3
    #[arg(long)]
    alone: bool,
}

/// A command with its results.
struct Case {
    name: &'static str,
    command: Vec<OsString>,
    /// Wall time of each run, in seconds.
    walls: Vec<f64>,
    /// Peak memory over all runs, in bytes.
    peak: u64,
    /// The JSON summary of merganser.
    summary: Option<Value>,
}

/// Runs all tools in turn and prints a table.
pub(crate) fn run(args: &Args) -> Result<()> {
    let folder = tempfile::Builder::new().prefix("merganser-map-").tempdir_in(&args.folder)?;
    let full = |path: &Path| path.canonicalize().with_context(|| path.display().to_string());
    let (reference, reads) = (full(&args.reference)?, full(&args.reads)?);
    let program = full(&args.merganser)?;
    let index = folder.path().join("ref.mgi");
    let threads = args.threads.to_string();
    let edits = args.edits.to_string();
    let words = |words: &[&dyn AsRef<std::ffi::OsStr>]| -> Vec<OsString> {
        words.iter().map(|word| word.as_ref().to_owned()).collect()
    };
    let build = words(&[&program, &"index", &"-q", &reference, &"-o", &index]);
    let (built, _) = measure(&build, folder.path())?;
    let ours = |output: &str, filter: &str| {
        words(&[
            &program,
            &"map",
            &"-q",
            &index,
            &reads,
            &"-e",
            &edits,
            &"--threads",
            &threads,
            &"--device",
            &args.device,
            &"-o",
            &output,
            &"--filter",
            &filter,
            &"--json",
            &"summary.json",
        ])
    };
    let identity = (100.0 - 100.0 * f64::from(args.edits) / f64::from(args.length)).to_string();
    let razers = words(&[
        &"razers3", &"-rr", &"100", &"-i", &identity, &"-m", &"1000000", &"-tc", &threads, &"-o",
        &"out.sam", &reference, &reads,
    ]);
    let mut commands = vec![
        ("merganser", ours("out.sam", "exact")),
        ("merganser, BAM", ours("out.bam", "exact")),
        ("merganser, --filter gatekeeper", ours("out.sam", "gatekeeper")),
        ("merganser, --filter snake", ours("out.sam", "snake")),
        ("merganser, --filter none", ours("out.sam", "none")),
    ];
    if !args.alone {
        commands.push(("razers3 -rr 100", razers));
    }
    let case = |(name, command)| Case { name, command, walls: Vec::new(), peak: 0, summary: None };
    let mut cases: Vec<Case> = commands.into_iter().map(case).collect();
    measure_all(&mut cases, args.runs, folder.path())?;
    print(args, built, &mut cases)
}

/// Runs all cases in turn, `runs` times.
fn measure_all(cases: &mut [Case], runs: usize, folder: &Path) -> Result<()> {
    for _ in 0..runs {
        for case in &mut *cases {
            let summary = folder.join("summary.json");
            // Remove the summary of the previous case.
            let _ = std::fs::remove_file(&summary);
            let (Cost { wall, peak, .. }, _) = measure(&case.command, folder).context(case.name)?;
            case.walls.push(wall);
            case.peak = case.peak.max(peak);
            if let Ok(text) = std::fs::read_to_string(&summary) {
                case.summary = Some(serde_json::from_str(&text).context("no JSON")?);
            }
        }
    }
    Ok(())
}

fn print(args: &Args, built: Cost, cases: &mut [Case]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "index: {:.2} s, {:.2} GB\n", built.wall, built.peak as f64 / 1e9)?;
    writeln!(
        out,
        "| -e {} | wall s (minimum to maximum) | ratio | GB | mappings | candidates | rejected | \
         verified | thread s: seeding | filter | verification | output |",
        args.edits
    )?;
    writeln!(out, "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")?;
    let mut first = None;
    for case in cases {
        case.walls.sort_unstable_by(f64::total_cmp);
        let median = case.walls[case.walls.len() / 2];
        let base = *first.get_or_insert(median);
        let (least, most) = (case.walls[0], case.walls[case.walls.len() - 1]);
        let peak = case.peak as f64 / 1e9;
        write!(out, "| {} | {median:.2} ({least:.2} to {most:.2})", case.name)?;
        write!(out, " | {:.2} | {peak:.2}", median / base)?;
        let of = |section: &str, key: &str| {
            case.summary.as_ref().map_or(Value::Null, |summary| summary[section][key].clone())
        };
        for key in ["mappings", "candidates", "rejected", "verified"] {
            write!(
                out,
                " | {}",
                of("results", key).as_u64().map_or(String::new(), |n| n.to_string())
            )?;
        }
        for key in ["seeding", "filter", "verification", "output"] {
            let time = of("thread_seconds", key).as_f64();
            write!(out, " | {}", time.map_or(String::new(), |time| format!("{time:.2}")))?;
        }
        writeln!(out, " |")?;
    }
    Ok(())
}
