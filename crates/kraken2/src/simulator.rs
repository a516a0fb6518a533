//! Distributions for Bracken: the start of a simulation, and distributions of Kraken 2 databases.

use std::collections::BTreeSet;
use std::fs;

use merganser_io::Input;
use merganser_run::{ConfigError, Context, DeviceChoice};
use merganser_taxreport::bracken::Distribution;

use super::database::Kraken2Database;
use super::library::{Kraken2Taxids, LibraryReader, STRETCH};
use super::simulated::SimulatedReads;
use super::simulation::Simulation;
use crate::Error;
use crate::cuda::Wanted;
use merganser_seq::masking::Masking;

/// Begins the simulation of reads of `read_length` letters from the sequences of `inputs`, for a database
/// with k-mers of `k` letters.
///
/// # Errors
/// If an argument is out of range; if an input is not a regular file.
pub fn begin_simulation<'a>(
    context: &'a Context,
    inputs: &'a [Input],
    read_length: usize,
    k: usize,
) -> Result<Simulation<'a>, Error> {
    context.validate()?;
    check_read_length(read_length, k)?;
    // A pipe is empty after a database was built from it.
    let is_file = |input: &Input| {
        input.path().is_some_and(|path| {
            // A missing file is an error when it is opened.
            fs::metadata(path).map_or(true, |metadata| metadata.is_file())
        })
    };
    if let Some(input) = inputs.iter().find(|input| !is_file(input)) {
        return Err(Error::Input(format!(
            "{input}: the genomes are read once for each length, and a pipe or standard input only once: \
             give files"
        )));
    }
    let (overlap, threads) = (read_length - 1, context.threads);
    // Bracken does not mask reads.
    let masking = Masking::None;
    let (progress, cancel) = (&*context.progress, &context.cancel);
    let warnings = &context.warnings;
    let reading = LibraryReader { inputs, overlap, masking, threads, progress, cancel, warnings };
    Ok(Simulation { reading })
}

/// Checks the length of reads for a database with k-mers of `k` letters.
///
/// # Errors
/// [`Error::Config`] if reads are shorter than k-mers or longer than the stretches that are read at a time.
pub fn check_read_length(read_length: usize, k: usize) -> Result<(), Error> {
    match (k..=STRETCH).contains(&read_length) {
        true => Ok(()),
        false => Err(Error::Config(ConfigError::new(format!(
            "a read length of {read_length} is out of range: {k}, the database's k, to {STRETCH}"
        )))),
    }
}

/// Computes the distribution of a Kraken 2 database and its library for reads of `read_length` letters, as
/// Bracken does. GPUs look up the k-mers only if `context` names them.
///
/// # Errors
/// If reads are shorter than k-mers; if reading fails; if the database is damaged; if a device fails.
pub fn distribution(
    database: &Kraken2Database,
    (inputs, taxids): (&[Input], Kraken2Taxids<'_>),
    read_length: usize,
    context: &Context,
) -> Result<Distribution, Error> {
    let simulation = begin_simulation(context, inputs, read_length, database.options().k)?;
    database.tell(&*context.progress, &context.warnings);
    // Chosen automatically, GPUs would not pay: most of the time is spent on counting from read to read.
    let gpus = match context.device {
        DeviceChoice::Auto => None,
        _ => database.choose_gpus(context, None, Wanted::default())?,
    };
    if let Some(gpus) = &gpus {
        database.fill(gpus, context)?;
    }
    let counter = || {
        let mut reads = SimulatedReads::new(database, gpus.clone(), read_length);
        Box::new(move |letters: &[u8]| reads.count(letters)) as _
    };
    let found = simulation.run(&counter, taxids)?;
    let tree = database.tree();
    let parents: BTreeSet<u32> = (1..tree.len() as u32).map(|node| tree.parent(node)).collect();
    let lowest = (1..tree.len() as u32).filter(|node| !parents.contains(node));
    Ok(found.with_missing(lowest.map(|node| tree.taxid(node))))
}
