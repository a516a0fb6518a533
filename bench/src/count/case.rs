//! One comparison: all tools on the same files with the same k and minimum count.

use super::inputs::Inputs;
use super::peer::{Installed, Peer};
use crate::measure::{Cost, measure};
use anyhow::{Context, Result};
use std::path::Path;

/// Inputs and parameters of a comparison.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings<'a> {
    pub(crate) inputs: &'a Inputs,
    pub(crate) k: u32,
    pub(crate) min_count: u32,
    pub(crate) threads: usize,
    pub(crate) runs: usize,
    /// `--memory` of merganser.
    pub(crate) memory: Option<&'a str>,
    /// `--memory` of merganser-disk.
    pub(crate) disk_memory: &'a str,
    /// Initial hash size of Jellyfish.
    pub(crate) jellyfish_size: &'a str,
    /// Folder in which a folder for each run is created.
    pub(crate) dir: &'a Path,
}

/// The runs of one tool.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) peer: Peer,
    /// The successful runs, in order.
    pub(crate) costs: Vec<Cost>,
    /// The number of k-mers that the first run wrote.
    pub(crate) distinct: Option<u64>,
    /// The reason why there are no further runs: the first failure, or that the tool is not installed.
    pub(crate) missing: Option<Missing>,
}

/// The reason why a row has no figures.
#[derive(Debug)]
pub(crate) enum Missing {
    /// The program was not found.
    NotInstalled,
    /// A run failed.
    Failed(String),
}

/// The runs of all tools.
#[derive(Debug)]
pub(crate) struct Case {
    /// A description of the files.
    pub(crate) name: String,
    /// Total size of the files in bytes.
    pub(crate) bytes: u64,
    /// Coverage of simulated reads.
    pub(crate) coverage: Option<f64>,
    pub(crate) k: u32,
    pub(crate) min_count: u32,
    pub(crate) rows: Vec<Row>,
}

impl Case {
    /// Runs the tools in turn, A B C A B C, so that changes of the machine over time affect all of them alike.
    ///
    /// # Errors
    ///
    /// If a folder for a run cannot be created or removed. A failure of a tool is recorded in its row.
    pub(crate) fn run(settings: &Settings<'_>, installed: &Installed) -> Result<Self> {
        let Settings { inputs, k, min_count, runs, .. } = *settings;
        let mut rows: Vec<Row> = installed
            .peers
            .iter()
            .map(|&(peer, ref path)| Row::new(peer, path.is_some()))
            .collect();
        for run in 1..=runs {
            for (row, (peer, program)) in rows.iter_mut().zip(&installed.peers) {
                let (Some(program), None) = (program, &row.missing) else { continue };
                eprint!("k = {k}, min count {min_count}, run {run}/{runs}: {:16}", peer.name());
                row.run(program, settings)?;
            }
        }
        let (name, bytes, coverage) = (inputs.name.clone(), inputs.bytes, inputs.coverage);
        Ok(Self { name, bytes, coverage, k, min_count, rows })
    }

    /// Returns the number of k-mers that the first tool found, with which the others are compared.
    pub(crate) fn distinct(&self) -> Option<u64> {
        self.rows.iter().find_map(|row| row.distinct)
    }

    /// Returns failures and differences, one sentence each.
    pub(crate) fn problems(&self) -> Vec<String> {
        let place = format!("k = {}, min count {}, {}", self.k, self.min_count, self.name);
        let problem = |row: &Row| match (&row.missing, row.distinct) {
            (Some(Missing::Failed(why)), _) => Some(format!("failed: {why}")),
            (None, found) if found != self.distinct() => Some("another number of k-mers".into()),
            _ => None,
        };
        let sentence = |row: &Row| Some(format!("{place}: {}: {}", row.peer.name(), problem(row)?));
        self.rows.iter().filter_map(sentence).collect()
    }
}

impl Row {
    fn new(peer: Peer, installed: bool) -> Self {
        let missing = (!installed).then_some(Missing::NotInstalled);
        Self { peer, costs: Vec::new(), distinct: None, missing }
    }

    /// Runs the tool once in a new folder, which is removed afterwards.
    fn run(&mut self, program: &Path, settings: &Settings<'_>) -> Result<()> {
        let folder = tempfile::Builder::new()
            .prefix("run-")
            .tempdir_in(settings.dir)
            .context("cannot create a folder for a run")?;
        // The tool runs in this folder, so relative paths would not work.
        let path = folder.path().canonicalize()?;
        match self.measure(program, settings, &path) {
            Ok(cost) => {
                eprintln!(" {:8.2} s {:6.2} GB", cost.wall, cost.peak as f64 / 1e9);
                self.costs.push(cost);
            }
            Err(error) => {
                eprintln!(" failed: {error:#}");
                self.missing = Some(Missing::Failed(format!("{error:#}")));
            }
        }
        folder.close().context("cannot remove a run's folder")
    }

    fn measure(&mut self, program: &Path, settings: &Settings<'_>, folder: &Path) -> Result<Cost> {
        let command = self.peer.command(program, settings, folder)?;
        let (cost, stdout) = measure(&command, folder)?;
        if self.distinct.is_none() {
            self.distinct = Some(self.peer.distinct(program, folder, &stdout)?);
        }
        Ok(cost)
    }
}
