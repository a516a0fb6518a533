//! `merganser-bench deplete`: builds a host's minimizer set and removes the host's pairs, with merganser and Deacon
//! in turn on the same files.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::measure::measure;

/// `merganser-bench deplete …`
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The host's genome (FASTA)
    #[arg(long, value_name = "FILE")]
    host: PathBuf,
    /// First mates, plain or compressed
    #[arg(short = '1', value_name = "FILE")]
    first: PathBuf,
    /// Second mates
    #[arg(short = '2', value_name = "FILE")]
    second: PathBuf,
    /// Runs of each tool
    #[arg(long, value_name = "N", default_value_t = 3)]
    runs: usize,
    /// Threads of each tool
    #[arg(long, value_name = "T", default_value = "2")]
    threads: NonZeroUsize,
    /// The merganser binary
    #[arg(long, value_name = "FILE", default_value = "target/release/merganser")]
    merganser: PathBuf,
    /// Deacon 0.19, built as its authors recommend
    #[arg(long, value_name = "FILE", default_value = "deacon")]
    deacon: PathBuf,
    /// Folder for outputs, which are removed again
    #[arg(long, value_name = "DIR", default_value = "/dev/shm")]
    folder: PathBuf,
}

/// Runs both programs in turn, prints a table, and fails if they kept different reads.
pub(crate) fn run(args: &Args) -> Result<()> {
    let folder = tempfile::Builder::new().prefix("merganser-deplete-").tempdir_in(&args.folder)?;
    let full = |path: &Path| path.canonicalize().with_context(|| path.display().to_string());
    let [host, first, second] = [full(&args.host)?, full(&args.first)?, full(&args.second)?];
    let program = full(&args.merganser)?;
    let suffix = first.extension().filter(|suffix| *suffix == "gz").map_or("fq", |_| "fq.gz");
    let threads = args.threads.to_string();
    let own = |text: &str| command(&program, text);
    let deacons = |text: &str| command(&args.deacon, text);
    let [host, first, second] = [&host, &first, &second].map(|path| path.display());
    let pairs = format!("own_1.{suffix} own_2.{suffix} deacons_1.{suffix} deacons_2.{suffix}");
    let names: Vec<&str> = pairs.split(' ').collect();
    let tasks = [
        (
            "index",
            own(&format!("deplete index -q {host} -o own.mgd -t {threads}")),
            deacons(&format!("index build -q {host} -o deacons.idx -t {threads}")),
        ),
        (
            "filter",
            own(&format!(
                "deplete filter -q own.mgd -1 {first} -2 {second} -o own_#.{suffix} -t {threads}"
            )),
            deacons(&format!(
                "filter -q -d --ordered deacons.idx {first} {second} -o {} -O {} -t {threads}",
                names[2], names[3]
            )),
        ),
    ];
    let mut out = std::io::stdout().lock();
    writeln!(out, "| | | wall s | CPU s | MB |\n|---|---|---:|---:|---:|")?;
    for (task, ours, theirs) in tasks {
        let mut costs = [Vec::new(), Vec::new()];
        for _ in 0..args.runs {
            for (costs, command) in costs.iter_mut().zip([&ours, &theirs]) {
                costs.push(measure(command, folder.path()).context(task)?.0);
            }
        }
        for (name, costs) in ["merganser", "Deacon"].into_iter().zip(&costs) {
            let of = |value: &dyn Fn(usize) -> f64| {
                let mut all: Vec<f64> = (0..costs.len()).map(value).collect();
                all.sort_unstable_by(f64::total_cmp);
                (all[0], all[all.len() - 1])
            };
            let (wall, cpu) = (of(&|run| costs[run].wall), of(&|run| costs[run].cpu));
            let peak = of(&|run| costs[run].peak as f64 / 1e6).1;
            writeln!(
                out,
                "| {task} | {name} | {:.2} to {:.2} | {:.2} to {:.2} | {peak:.0} |",
                wall.0, wall.1, cpu.0, cpu.1
            )?;
        }
    }
    let text = |name: &str| -> Result<Vec<u8>> {
        let mut text = Vec::new();
        merganser_io::open_text(&folder.path().join(name))?.read_to_end(&mut text)?;
        Ok(text)
    };
    for mate in 0..2 {
        ensure!(text(names[mate])? == text(names[2 + mate])?, "the kept reads differ");
    }
    writeln!(out, "\nBoth tools kept the same pairs.")?;
    Ok(())
}

fn command(program: &Path, arguments: &str) -> Vec<OsString> {
    let words = arguments.split(' ').map(OsString::from);
    [program.as_os_str().to_owned()].into_iter().chain(words).collect()
}
