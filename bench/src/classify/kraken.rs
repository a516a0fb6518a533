//! A Kraken 2 database of any genomes: what `kraken2-build` would download is put in its place.

use super::data::Genomes;
use super::tools::{run, words};
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::fs;
use std::path::Path;

/// Fills the library of the database `folder`; it is not built yet.
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
    // It asks for NCBI's map of accessions otherwise; taxids are in the headers.
    fs::write(folder.join("taxonomy/accmap.dlflag"), "")?;
    let all = folder.join("all.fna");
    genomes.write(&all, |name, taxid| format!("{name}|kraken:taxid|{taxid}"))?;
    // No masking of repeats: that is another program's, and costs sensitivity.
    run(&words([&program, &"--add-to-library", &all, &"--db", &folder, &"--no-masking"]))?;
    Ok(fs::remove_file(all)?)
}

/// The command that builds a prepared database.
pub(crate) fn build(program: &Path, folder: &Path, threads: usize) -> Vec<OsString> {
    words([&program, &"--build", &"--db", &folder, &"--threads", &threads.to_string()])
}

/// The command that classifies.
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
