//! Time of each method.

use super::edlib::Edlib;
use super::{METHODS, decide, pack, semi_global};
use crate::count::{machine, say};
use crate::generate::pairs::{Kind, Set};
use crate::measure::measure;
use anyhow::{Context, Result, ensure};
use merganser_filter::{Config, Filter, Method, Scratch, Threshold};
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// `merganser-bench filter speed …`
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Pairs of 100 bases per set in memory; fewer for longer pairs
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    pairs: u64,
    /// Pairs of 100 bases in the filtered file; 0 skips it
    #[arg(long, value_name = "N", default_value_t = 3_000_000)]
    file_pairs: u64,
    /// Threads for filtering the file
    #[arg(long, value_name = "T,…", value_delimiter = ',', default_values_t = [1, 2])]
    threads: Vec<usize>,
    /// Also measure Sassy, which is downloaded and built for this machine
    #[arg(long)]
    sassy: bool,
    /// The merganser binary [default: the one beside this program]
    #[arg(long, value_name = "FILE")]
    merganser: Option<PathBuf>,
}

/// Lengths with thresholds. At most a fifth of a pair's bases are edited.
const CASES: [(usize, &[u32]); 6] = [
    (100, &[0, 2, 5, 10]),
    (150, &[7, 15]),
    (250, &[6, 10, 25]),
    (300, &[15, 30]),
    (500, &[25]),
    (1000, &[50]),
];

/// Number of passes over a set; the fastest one counts.
const PASSES: usize = 5;

/// Prints the tables.
///
/// # Errors
/// If edlib cannot be built, distances of the exact method differ, or the program fails.
pub(crate) fn run(args: &Args) -> Result<()> {
    let edlib = Edlib::build()?;
    say(&format!("{}\nOne thread, pairs packed in memory; ns per pair.\n\n", machine::describe()))?;
    say(
        "| length | e | edlib (k = e) | exact | edlib ÷ exact | gatekeeper | snake | gatekeeper-original |\n|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    )?;
    for (length, thresholds) in CASES {
        let pairs = args.pairs * 100 / length as u64;
        let set =
            Set { length, spare: 0, pairs, max_edits: length / 5, seed: 5, kind: Kind::Mixed };
        let text = set.text();
        let batches = pack(&text)?;
        for &e in thresholds {
            let found = edlib.run_text(&text, e as i32)?;
            let mut row = format!("| {length} | {e} | {:.0}", found.nanoseconds);
            for (method, name) in METHODS {
                let config = Config { method, ..Config::new(Threshold::Edits(e)) };
                let Ok(filter) = Filter::new(config) else {
                    row += " | ";
                    continue;
                };
                let (mut scratch, mut least, mut all) = (Scratch::default(), f64::MAX, Vec::new());
                for _ in 0..PASSES {
                    all.clear();
                    let start = Instant::now();
                    decide(&filter, &batches, &mut scratch, |found| all.extend_from_slice(found));
                    least = least.min(start.elapsed().as_secs_f64() * 1e9 / pairs as f64);
                }
                write!(row, " | {least:.1}")?;
                if method == Method::Exact {
                    ensure!(all == found.distances, "{name} differs from edlib at {length}, {e}");
                    write!(row, " | **{:.1}**", found.nanoseconds / least)?;
                }
            }
            say(&format!("{row} |\n"))?;
        }
    }
    semi_global::run(args.pairs, &edlib, args.sassy)?;
    if args.file_pairs > 0 { files(args) } else { Ok(()) }
}

/// Measures complete runs of the program.
fn files(args: &Args) -> Result<()> {
    let beside = std::env::current_exe()?.with_file_name("merganser");
    let program = args.merganser.clone().unwrap_or(beside);
    let program = program.canonicalize().with_context(|| format!("no {}", program.display()))?;
    let folder = tempfile::tempdir_in(".").context("cannot create a folder")?;
    say(
        "\nFrom a file in the page cache, whole process; M pairs per second, fastest of three runs.\n\n",
    )?;
    say(
        "| length | e | method | threads | none written | decisions written | peak MB |\n|---:|---:|---|---:|---:|---:|---:|\n",
    )?;
    for (length, e) in [(100, 5), (250, 25)] {
        let pairs = args.file_pairs * 100 / length as u64;
        let set =
            Set { length, spare: 0, pairs, max_edits: length / 5, seed: 5, kind: Kind::Mixed };
        let file = folder.path().join("pairs.tsv");
        std::fs::write(&file, set.text()).context("cannot write pairs")?;
        for (_, method) in METHODS {
            for &threads in &args.threads {
                let run = |output: &[&str]| -> Result<(f64, u64)> {
                    let mut least = (f64::MAX, 0);
                    for _ in 0..3 {
                        let cost =
                            one(&program, &file, folder.path(), (e, method, threads), output)?;
                        least = if cost.0 < least.0 { cost } else { least };
                    }
                    Ok((pairs as f64 / 1e6 / least.0, least.1))
                };
                let (none, peak) = run(&["--format", "none"])?;
                let (written, _) = run(&["-o", "out.tsv"])?;
                let peak = peak as f64 / 1e6;
                say(&format!(
                    "| {length} | {e} | {method} | {threads} | {none:.1} | {written:.1} | {peak:.1} |\n"
                ))?;
            }
        }
    }
    Ok(())
}

fn one(
    program: &Path,
    file: &Path,
    folder: &Path,
    (e, method, threads): (u32, &str, usize),
    output: &[&str],
) -> Result<(f64, u64)> {
    let options = format!("filter -q -e {e} --method {method} --threads {threads}");
    let mut command = vec![program.as_os_str().to_owned()];
    command.extend(options.split(' ').chain(output.iter().copied()).map(OsString::from));
    command.push(file.canonicalize()?.into());
    let (cost, _) = measure(&command, folder)?;
    Ok((cost.wall, cost.peak))
}
