//! `merganser-bench all`: measures the rows of `bench/rows.tsv`, merganser and another program in turn on the same files, and
//! prints them as rows of `docs/evidence/measurements.tsv`.

mod lists;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::count::machine::first_line;
use crate::count::{find_program, say};
use crate::measure::{Cost, measure};
use lists::{Data, Row};

/// `merganser-bench all …`
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only rows whose table or work contains this text
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// The letter of this machine in docs/evidence/speed.md
    #[arg(long, value_name = "LETTER")]
    machine: String,
    /// Runs of each program
    #[arg(long, value_name = "N", default_value = "3")]
    runs: NonZeroUsize,
    /// Threads of each program
    #[arg(long, value_name = "T", default_value = "2")]
    threads: NonZeroUsize,
    /// The merganser binary
    #[arg(long, value_name = "FILE", default_value = "target/release/merganser")]
    merganser: PathBuf,
    /// Folder with the real genomes, reads and taxonomy
    #[arg(long, value_name = "DIR", default_value = "../shared/data")]
    shared: PathBuf,
    /// Folder for data, which are kept, and outputs, which are removed
    #[arg(long, value_name = "DIR", default_value = "bench/data")]
    dir: PathBuf,
}

/// The folder and the variables of the commands of rows and data sets.
struct Shell {
    /// The folder of data, in which commands run; their outputs go to `out` in it.
    folder: PathBuf,
    variables: [(&'static str, OsString); 5],
}

/// Measures the rows and prints each when it is done.
///
/// # Errors
/// After the other rows, if data cannot be made or a program fails.
pub(crate) fn run(args: &Args) -> Result<()> {
    std::fs::create_dir_all(&args.dir).context("cannot create the folder for data")?;
    let full = |path: &Path| path.canonicalize().with_context(|| path.display().to_string());
    let shell = Shell {
        folder: full(&args.dir)?,
        variables: [
            ("FOLDER", full(&args.dir)?.into()),
            ("MERGANSER", full(&args.merganser)?.into()),
            ("BENCH", std::env::current_exe().context("cannot find this program")?.into()),
            ("THREADS", args.threads.to_string().into()),
            ("SHARED", std::path::absolute(&args.shared)?.into()),
        ],
    };
    let text = |row: &Row| format!("{} {}", row.table, row.work);
    let is_wanted = |row: &Row| args.only.as_ref().is_none_or(|only| text(row).contains(only));
    let rows: Vec<Row> = lists::rows()?.into_iter().filter(is_wanted).collect();
    ensure!(!rows.is_empty(), "--only: no row contains this text");
    let day = first_line(Command::new("date").args(["-u", "+%Y-%m-%d"])).context("no date")?;
    let ours = shell.line("$MERGANSER --version")?;
    let our_version = ours.rsplit(' ').next().unwrap_or_default();
    let (data, mut failed) = (lists::data()?, Vec::new());
    for row in &rows {
        if find_program(&row.program).is_none() {
            eprintln!("{} {}: {} is not installed", row.table, row.work, row.program);
            continue;
        }
        let measured = measured(row, &data, &shell, args.runs.get())
            .and_then(|costs| Ok((costs, shell.line(&row.version)?)));
        match measured {
            Ok((costs, peer)) => {
                let line = row.line(costs, &peer, our_version, (&args.machine, &day));
                say(&format!("{line}\n"))?;
            }
            Err(error) => failed.push(format!("{} {}: {error:#}", row.table, row.work)),
        }
    }
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}

/// Measures a row: each program once without a measurement, so that files are in the page cache, then in turn. Returns the
/// costs of ours and of the other program.
fn measured(row: &Row, data: &[Data], shell: &Shell, runs: usize) -> Result<[Vec<Cost>; 2]> {
    for name in [&row.data, &row.peer_data] {
        shell.make(name, data)?;
    }
    let mut costs = [Vec::new(), Vec::new()];
    for run in 0..=runs {
        for (command, costs) in [&row.ours, &row.peer].into_iter().zip(&mut costs) {
            let cost = shell.measured(command)?;
            if run > 0 {
                costs.push(cost);
            }
        }
    }
    Ok(costs)
}

impl Shell {
    /// Makes a data set and those that it needs, unless they are there.
    fn make(&self, name: &str, data: &[Data]) -> Result<()> {
        let one = data.iter().find(|one| one.name == name);
        let one = one.with_context(|| format!("{name}: no such data set"))?;
        one.needs.split_whitespace().try_for_each(|needed| self.make(needed, data))?;
        if self.folder.join(&one.makes).exists() {
            return Ok(());
        }
        eprintln!("making {name}");
        let status = self.command(&one.command).status().context("cannot run sh")?;
        ensure!(status.success(), "data set {name}: {status}");
        ensure!(self.folder.join(&one.makes).exists(), "data set {name}: {} is missing", one.makes);
        Ok(())
    }

    /// Measures a command, whose outputs are removed.
    fn measured(&self, line: &str) -> Result<Cost> {
        let out = self.folder.join("out");
        std::fs::create_dir_all(&out).context("cannot create the folder for outputs")?;
        let variables = self.variables.iter().map(|(name, value)| {
            let mut text = OsString::from(format!("{name}="));
            text.push(value);
            text
        });
        // The shell is replaced by the last command, so that it takes no memory or time of its own.
        let line = format!("cd \"$FOLDER\" && {line}");
        let command = [OsString::from("env")].into_iter().chain(variables);
        let command: Vec<OsString> =
            command.chain(["sh", "-c", &line].map(OsString::from)).collect();
        let cost = measure(&command, &out);
        std::fs::remove_dir_all(&out).context("cannot remove outputs")?;
        Ok(cost?.0)
    }

    /// Returns the first line that a command prints.
    fn line(&self, line: &str) -> Result<String> {
        match first_line(&mut self.command(line)) {
            Some(text) => Ok(text),
            None => bail!("`{line}` printed nothing"),
        }
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new("sh");
        let variables = self.variables.iter().map(|(name, value)| (name, value));
        command.args(["-c", line]).current_dir(&self.folder).envs(variables);
        command
    }
}
