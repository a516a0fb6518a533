//! The reads of `merganser kmers qv`: a table, files, or several of them (`--reads`).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use merganser_assembly::Reads;
use merganser_kmers::algebra::Cut;
use merganser_run::Context;

use super::super::tables;
use crate::args::kmers::SampleReads;
use crate::failure::usage;

/// Parses the values of `--reads`; each file must be given once.
pub(super) fn operands(texts: &[OsString]) -> Result<Vec<(PathBuf, Cut)>> {
    let (paths, cuts) = tables::operands(texts)?;
    if let Some([before, again]) = tables::repeated(&paths, &vec![Cut::NONE; cuts.len()]) {
        let [before, again] = [before, again].map(|place| paths[place].display());
        return usage(format!("--reads: {again} and {before} are the same file: give it once"));
    }
    Ok(paths.into_iter().zip(cuts).collect())
}

/// Opens the reads of a sample in a sheet: one table, or files of reads.
///
/// # Errors
/// If a file cannot be read, or there is a table among several files.
pub(super) fn of_sample(of: &SampleReads, hpc: bool, context: &Context) -> Result<Reads> {
    let mut all = Vec::new();
    for path in &of.files {
        match Reads::open(path, hpc, context)? {
            Reads::Inputs(inputs) => all.extend(inputs),
            table if of.files.len() == 1 => return Ok(table),
            _ => bail!(
                "{}: is a table, and the sample has other reads, too: give one table, or files of reads",
                path.display()
            ),
        }
    }
    Ok(Reads::Inputs(all))
}

/// Opens the reads of the sample, and returns their name in the names of outputs.
pub(super) fn open(
    path: Option<&Path>,
    operands: &[(PathBuf, Cut)],
    hpc: bool,
    context: &Context,
) -> Result<(Reads, String)> {
    if let (Some(path), []) = (path, operands) {
        return Ok((Reads::open(path, hpc, context)?, Reads::name(path)));
    }
    let names: Vec<String> = operands.iter().map(|(path, _)| Reads::name(path)).collect();
    let open = |(path, cut): &(PathBuf, Cut)| Ok((Reads::open(path, hpc, context)?, *cut));
    let reads = operands.iter().map(open).collect::<Result<_>>()?;
    Ok((Reads::Union(reads), names.join("+")))
}
