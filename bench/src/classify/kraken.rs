//! Kraken 2 databases of given genomes: writes the files that `kraken2-build` would download.

use super::data::Genomes;
use super::tools::{run, words};
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::fs;
use std::path::Path;

/// Fills the library of the database `folder`, without building it.
pub(crate) fn prepare(
    program: &Path,
    genomes: &Genomes,
    taxonomy: &Path,
    folder: &Path,
) -> Result<()> {
    fs::create_dir_all(folder.join("taxonomy"))
        .with_context(|| format!("cannot create {}", folder.display()))?;
    for name in ["nodes.dmp", "names.dmp"] {
        let text = fs::read(taxonomy.join(name))
            .with_context(|| format!("cannot read {name} in {}", taxonomy.display()))?;
        fs::write(folder.join("taxonomy").join(name), text)?;
    }
    // Otherwise it requires NCBI's map of accessions; here, taxids are in the headers.
    fs::write(folder.join("taxonomy/accmap.dlflag"), "")?;
    let all = folder.join("all.fna");
    genomes.write(&all, |name, taxid| format!("{name}|kraken:taxid|{taxid}"))?;
    // No masking of repeats: this is done by another program and reduces sensitivity.
    run(&words([&program, &"--add-to-library", &all, &"--db", &folder, &"--no-masking"]))?;
    Ok(fs::remove_file(all)?)
}

/// Returns the command that builds a prepared database.
pub(crate) fn build(program: &Path, folder: &Path, threads: usize) -> Vec<OsString> {
    words([&program, &"--build", &"--db", &folder, &"--threads", &threads.to_string()])
}

/// Returns the command that classifies reads.
pub(crate) fn classify(
    program: &Path,
    folder: &Path,
    reads: &Path,
    output: &Path,
    threads: usize,
) -> Vec<OsString> {
    let threads = threads.to_string();
    words([&program, &"--db", &folder, &"--threads", &threads, &reads, &"--output", &output])
}
