//! Bracken's distributions, which are written to the folder of a database.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, bail};
use merganser_classify::{Database, Error};
use merganser_io::{Input, Output, OutputSet};

use merganser_kraken2::taxids_of_library;
use merganser_kraken2::{Kraken2Database, Kraken2Sequence};
use merganser_library::LibraryMaps;
use merganser_run::Context;
use merganser_taxonomy::Dump;
use merganser_taxreport::bracken::Distribution;

use crate::args::build::TaxidArgs;
use crate::console::Console;

/// Outputs for distributions, each with its length of reads.
#[derive(Debug, Default)]
pub(crate) struct Distributions(Vec<(usize, Output)>);

impl Distributions {
    /// Creates an output for each length of reads, at the path that `path` returns for it.
    ///
    /// # Errors
    /// If one cannot be created.
    pub(crate) fn create(
        lengths: &[usize],
        path: impl Fn(usize) -> PathBuf,
        outputs: &OutputSet,
    ) -> Result<Distributions> {
        let file = |&length: &usize| Ok((length, outputs.output(path(length))?));
        lengths.iter().map(file).collect::<Result<_>>().map(Distributions)
    }

    /// Makes and writes all distributions; they appear together with the outputs of their set. Returns the last
    /// one, for its warnings, and whether none has a row.
    ///
    /// # Errors
    /// Returns the errors of `make`, and of writing.
    pub(crate) fn write(
        self,
        make: impl Fn(usize) -> Result<Distribution, Error>,
    ) -> Result<(Distribution, bool)> {
        let (mut last, mut are_empty) = (Distribution::default(), true);
        for (length, mut output) in self.0 {
            let distribution = make(length)?;
            are_empty &= distribution.rows.is_empty();
            output.write_all(distribution.text().as_bytes())?;
            output.finish()?;
            last = distribution;
        }
        Ok((last, are_empty))
    }
}

/// The genomes that reads are simulated from, and the context of the simulation.
#[derive(Clone, Copy)]
pub(crate) struct Library<'a> {
    pub(crate) inputs: &'a [Input],
    pub(crate) context: &'a Context,
}

impl Library<'_> {
    /// Checks that the genomes can be read more than once.
    ///
    /// # Errors
    /// If one of the genomes is stdin, a pipe or a device.
    pub(crate) fn refuse_pipes(&self, option: &str) -> Result<()> {
        match self.inputs.iter().find(|input| input.is_stream()) {
            // Not a usage error: the kind of an input is wrong, not the options.
            Some(input) => bail!(
                "{option}: the genomes are read once for each length, but {input} can be read only once: \
                 give files"
            ),
            None => Ok(()),
        }
    }

    /// Returns the distribution of a database of ours.
    ///
    /// # Errors
    /// Returns the errors of [`distribution`](merganser_classify::bracken::distribution).
    pub(crate) fn of(&self, database: &Database, length: usize) -> Result<Distribution, Error> {
        merganser_classify::bracken::distribution(database, self.inputs, length, self.context)
    }

    /// Returns the distribution of a database of Kraken 2.
    ///
    /// # Errors
    /// Returns the errors of [`merganser_kraken2::distribution`].
    pub(crate) fn of_kraken2(
        &self,
        database: &Kraken2Database,
        taxids: &Genomes<'_>,
        length: usize,
    ) -> Result<Distribution, Error> {
        let of = |sequences: &[Kraken2Sequence]| taxids.find(sequences, self.inputs, database);
        Ok(merganser_kraken2::distribution(database, (self.inputs, &of), length, self.context)?)
    }
}

/// The sources of taxids for the sequences of a Kraken 2 library.
pub(crate) struct Genomes<'a>(pub(crate) LibraryMaps<'a>);

impl Genomes<'_> {
    /// Returns the taxids of sequences in the database's taxonomy; `None` for those that are not in it.
    fn find(
        &self,
        sequences: &[Kraken2Sequence],
        inputs: &[Input],
        database: &Kraken2Database,
    ) -> Result<Vec<Option<u32>>, merganser_kraken2::Error> {
        let known = |taxid: u32| {
            let taxid = match self.0.taxonomy {
                Some(Dump { taxonomy: tree, .. }) => tree.taxid(tree.node(taxid)?),
                None => taxid,
            };
            database.tree().node(taxid).map(|_| taxid)
        };
        if let Some(dump) = self.0.taxonomy {
            dump.refuse_other_numbers(database.tree())?;
        }
        let taxids = taxids_of_library(sequences, inputs, &self.0)?;
        let found: Vec<_> = taxids.iter().map(|taxid| taxid.and_then(known)).collect();
        let pairs = || taxids.iter().zip(&found).zip(sequences);
        let mut lost = pairs().filter_map(|((taxid, found), sequence)| match found {
            None => taxid.map(|taxid| (taxid, sequence.name())),
            Some(_) => None,
        });
        if let (None, Some((taxid, name))) = (self.0.taxonomy, lost.next()) {
            self.0.context.warnings.push(format!(
                "{} sequences have a taxid that the database does not have, first {name} with {taxid}: if it was \
                 merged into another one, give `taxonomy`",
                1 + lost.count()
            ));
        }
        Ok(found)
    }
}

/// Warns of taxa of the database that have no genome in the library.
pub(crate) fn tell_missing(missing: &[u32], console: &Console) {
    if let Some(taxid) = missing.first() {
        let count = missing.len();
        console.warn(format_args!(
            "{count} taxa of the database have no read in these genomes, first taxid {taxid}: give all \
             genomes that it was built from"
        ));
    }
}

/// Reports the sequences that were left out, as a warning or, with `strict`, as an error.
///
/// # Errors
/// With `strict`, or if the list of the sequences cannot be written.
pub(crate) fn tell_unmapped(
    unmapped: &[String],
    args: &TaxidArgs,
    output: Option<Output>,
    console: &Console,
) -> Result<()> {
    const REASON: &str = "no taxid of the database found";
    if let Some(mut output) = output {
        for name in unmapped {
            writeln!(output, "{name}\t{REASON}")?;
        }
        output.finish()?;
    }
    let Some(name) = unmapped.first() else { return Ok(()) };
    let count = unmapped.len();
    if args.config.strict {
        bail!("{count} sequences have no taxon (--strict), first {name}: {REASON}");
    }
    console.warn(format_args!(
        "{count} sequences have no taxon and are left out, first {name}: {REASON}"
    ));
    Ok(())
}
