//! Building of databases: writes the files that `kraken2-build` writes for the same library with one
//! thread, byte for byte, with any number of threads. (The builder does not mask by itself: letters other
//! than bases, such as the `x` of masked low-complexity regions, break k-mers; lower case does not.)
//!
//! The library is read twice: first for its sequences and the size of the table, then to fill the table.

mod blocks;
mod cells;
mod config;
mod fill;
mod size;
mod survey;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use merganser_io::{AtomicFile, Input, OutputSet, RecordBatch};
use merganser_run::{Budget, Context, JobPlan, Stages, Unit, Warnings, may_fail, thousands};

use super::database::Kraken2Database;
use super::library::{Kraken2Sequence, Kraken2Taxids, LibraryReader};
use super::table::{Homes, header};
use super::taxonomy::Kraken2Taxonomy;
use crate::Error;
use cells::Rule;
pub use config::Kraken2BuildConfig;
use fill::Sequences;
use merganser_seq::masking::Masking;
use merganser_taxonomy::{Dump, Taxonomy};
use size::{Size, value_bits};
use survey::{Survey, name_bytes, survey};

/// Advice of an error about a table that is too large.
const SMALLER_TABLE: &str = "or give `max_db_size`, a limit for the table";
/// The approximate memory of a minimizer that is counted for the estimate, in bytes.
const SAMPLE_BYTES: u64 = 32;
/// The bytes that are written at a time.
const WRITTEN: usize = 4 << 20;

/// The sequences and the taxonomy that a database is built of.
#[derive(Clone, Copy)]
pub struct Kraken2Library<'a> {
    /// Files of sequences; no pipes, as they are read twice. The order of the files and of their
    /// sequences decides the positions of the table's cells, not their content.
    pub inputs: &'a [Input],
    /// Finds the taxa of the sequences.
    pub taxids: Kraken2Taxids<'a>,
    /// The taxonomy.
    pub taxonomy: &'a Dump,
    /// Whether a sequence without a taxon, and a name that occurs twice, are errors. Otherwise there is a warning.
    pub strict: bool,
}

/// Facts about a finished build.
#[derive(Clone, Debug, Default)]
pub struct Kraken2BuildNotes {
    /// The sequences without a taxon, in order, as (name, reason). They are not in the database.
    pub unmapped: Vec<(String, String)>,
    /// The number of sequences read.
    pub sequences: u64,
    /// The number of letters of all sequences.
    pub bases: u64,
    /// The number of taxa in the database.
    pub taxa: u64,
    /// The number of cells of the table.
    pub capacity: u64,
    /// The number of cells in use.
    pub size: u64,
    /// Minimizers with a smaller hash were left out; 0 if all were kept.
    pub minimum_hash: u64,
    /// The duration of each stage.
    pub stages: Stages,
}

impl Kraken2Database {
    /// Builds the database of a library: writes opts.k2d, taxo.k2d and hash.k2d in the folder
    /// `folder`.
    ///
    /// # Errors
    /// If a parameter is out of range; if reading or writing fails; if no sequence has a taxon; if the
    /// table does not fit in memory, which is known only after the first pass over the library.
    pub fn build(
        config: &Kraken2BuildConfig,
        library: Kraken2Library<'_>,
        folder: impl AsRef<Path>,
        context: &Context,
    ) -> Result<Kraken2BuildNotes, Error> {
        let outputs = OutputSet::new();
        let notes = Self::build_with(config, library, (folder.as_ref(), &outputs), context)?;
        outputs.commit()?;
        Ok(notes)
    }

    /// Builds a database like [`build`](Self::build), with its files as members of `outputs`, which appear when these
    /// are committed.
    ///
    /// # Errors
    /// Fails as [`build`](Self::build) does.
    pub fn build_with(
        config: &Kraken2BuildConfig,
        library: Kraken2Library<'_>,
        (folder, outputs): (&Path, &OutputSet),
        context: &Context,
    ) -> Result<Kraken2BuildNotes, Error> {
        let reading = reader(config, library.inputs, context)?;
        let budget = budget(&reading, library.taxonomy, context)?;
        library.taxonomy.warn_of_names(&context.warnings);
        let build = Build { config, library, budget, reading };
        // Files are created first, so that a folder that cannot be written to is an error before any work.
        let files = Self::files(folder);
        let [options, taxonomy, table] = files.map(|path| outputs.file(&path));
        build.run([options?, taxonomy?, table?])
    }
}

/// Determines how [`Kraken2Database::build`] would build a database of `inputs`, without reading them: with how much memory.
/// The size of the table, which depends on the minimizers of the library, is not part of it.
///
/// # Errors
/// If `config` or `context` is out of range, or there is too little memory.
pub fn plan_build(
    config: &Kraken2BuildConfig,
    inputs: &[Input],
    taxonomy: &Dump,
    context: &Context,
) -> Result<JobPlan, Error> {
    let budget = budget(&reader(config, inputs, context)?, taxonomy, context)?;
    let note = "the table needs more memory: 4 bytes for each cell";
    Ok(JobPlan::on(Vec::new()).with_memory(budget.needed()).with_note(note))
}

/// Checks the configuration, and returns the reader of the library.
fn reader<'a>(
    config: &Kraken2BuildConfig,
    inputs: &'a [Input],
    context: &'a Context,
) -> Result<LibraryReader<'a>, Error> {
    config.validate()?;
    context.validate()?;
    let (progress, cancel) = (&*context.progress, &context.cancel);
    let (overlap, threads, masking) = (config.k - 1, context.threads, config.masked);
    let warnings = &context.warnings;
    Ok(LibraryReader { inputs, overlap, masking, threads, progress, cancel, warnings })
}

/// Returns the memory that does not depend on the library.
fn budget(
    reading: &LibraryReader<'_>,
    taxonomy: &Dump,
    context: &Context,
) -> Result<Budget, Error> {
    let budget = Budget::new(context.budget())
        .with_files(2)
        .with(taxonomy.bytes())
        .with(reading.bytes())
        .with(fill::bytes(context.threads));
    budget.check("building a Kraken 2 database needs", SMALLER_TABLE)?;
    Ok(budget)
}

struct Build<'a> {
    config: &'a Kraken2BuildConfig,
    library: Kraken2Library<'a>,
    /// The memory that does not depend on the library.
    budget: Budget,
    reading: LibraryReader<'a>,
}

impl Build<'_> {
    fn run(&self, files: [AtomicFile; 3]) -> Result<Kraken2BuildNotes, Error> {
        let mut notes = Kraken2BuildNotes::default();
        let begun = Instant::now();
        let check = |names| {
            let what = "the names of this library's sequences need";
            self.budget.with(names).check(what, "or build of fewer sequences")?;
            Ok(())
        };
        let found = survey(&self.reading, &self.config.options(0), check)?;
        notes.stages.since("minimizers", begun);
        (notes.sequences, notes.bases) = (found.sequences.len() as u64, found.letters);
        self.report_doubles(&found.sequences)?;
        let size = self.size(&found)?;
        let nodes = self.nodes(&found.sequences, &mut notes)?;
        self.report_unmapped(&notes.unmapped)?;
        let tree = &self.library.taxonomy.taxonomy;
        let nameless = &self.library.taxonomy.notes.nameless;
        let (taxonomy, taxonomy_bytes) =
            Kraken2Taxonomy::of(tree, nameless, nodes.iter().copied().flatten())?;
        let nodes = renumbered(&nodes, tree, &taxonomy);
        let (uracil, without) = (found.uracil, found.without);
        drop(found.sequences);
        let value_bits = value_bits(taxonomy.len(), self.config.minimum_value_bits)?;
        let options = self.config.options(size.minimum_hash);
        let begun = Instant::now();
        let mut cells = empty(size)?;
        let rule = Rule { tree: &taxonomy, homes: Homes::new(size.capacity), value_bits };
        let sequences = Sequences { nodes: &nodes, letters: notes.bases };
        let used = fill::fill(&self.reading, &options, sequences, rule, &mut cells)?;
        if used == 0 {
            let all = uracil.values().sum();
            let why = match size.minimum_hash {
                0 => self.why_none(self.reading.inputs, all)?,
                _ => "`max_db_size` is too small to keep any: raise it".to_owned(),
            };
            return Err(Error::Input(format!("nothing to build: there are no minimizers: {why}")));
        }
        self.warn_of_empty(&without, &uracil)?;
        let names = self.names(&without);
        for (file, count) in uracil.iter().filter(|(file, _)| !names.contains(*file)) {
            self.reading.warnings.push(format!(
                "{file}: {} letters are U, which is no base in Kraken 2 databases: minimizers with them \
                 are missing; write them as T",
                thousands(*count)
            ));
        }
        notes.stages.since("table", begun);
        let begun = Instant::now();
        let [options_file, taxonomy_file, table_file] = files;
        write(options_file, &options.bytes())?;
        write(taxonomy_file, &taxonomy_bytes)?;
        self.write_table(table_file, &header(size.capacity, used, value_bits), &mut cells)?;
        notes.stages.since("write", begun);
        notes.taxa = taxonomy.len() as u64 - 1;
        (notes.capacity, notes.size) = (size.capacity, used);
        notes.minimum_hash = size.minimum_hash;
        Ok(notes)
    }

    /// Warns of names that occur twice, or refuses them.
    fn report_doubles(&self, sequences: &[Kraken2Sequence]) -> Result<(), Error> {
        let mut names = HashSet::new();
        let mut doubles = sequences.iter().filter(|sequence| !names.insert(sequence.name()));
        let Some(first) = doubles.next().map(Kraken2Sequence::name) else { return Ok(()) };
        let what = format!("{} sequences have an id that an earlier one has", 1 + doubles.count());
        if self.library.strict {
            return Err(Error::Input(format!("{what} (`strict`), first {first}")));
        }
        self.reading.warnings.push(format!("{what}, first {first}; all are kept"));
        Ok(())
    }

    /// Warns of sequences without a taxon, or refuses them.
    fn report_unmapped(&self, unmapped: &[(String, String)]) -> Result<(), Error> {
        let Some((name, reason)) = unmapped.first() else { return Ok(()) };
        let what = format!("{} sequences have no taxon", unmapped.len());
        if self.library.strict {
            return Err(Error::Input(format!("{what} (`strict`), first {name}: {reason}")));
        }
        self.reading.warnings.push(format!("{what} and are left out, first {name}: {reason}"));
        Ok(())
    }

    /// Warns of inputs without a minimizer in a library in which other inputs have some.
    fn warn_of_empty(
        &self,
        without: &[usize],
        uracil: &BTreeMap<String, u64>,
    ) -> Result<(), Error> {
        let Some(&first) = without.first() else { return Ok(()) };
        let inputs = self.reading.inputs;
        let input = &inputs[first];
        let uracil = uracil.get(&input.to_string()).copied().unwrap_or(0);
        let why = self.why_none(&inputs[first..=first], uracil)?;
        self.reading.warnings.push(format!(
            "{} of {} inputs have no minimizers, first {input}: {why}",
            without.len(),
            inputs.len()
        ));
        Ok(())
    }

    /// Returns the names of the inputs with these numbers.
    fn names(&self, inputs: &[usize]) -> BTreeSet<String> {
        inputs.iter().map(|&at| self.reading.inputs[at].to_string()).collect()
    }

    /// Explains why the sequences of some inputs have no minimizer, as far as can be told. Reads them
    /// again; `uracil` is the number of their letters that are U.
    fn why_none(&self, inputs: &[Input], uracil: u64) -> Result<String, Error> {
        // Warnings about the inputs were given by an earlier pass.
        let reading = LibraryReader { inputs, warnings: &Warnings::default(), ..self.reading };
        let records = reading.open()?;
        let mut batch = RecordBatch::default();
        let (mut proteins, mut longest) = (false, None);
        while records.next(&mut batch)?.is_some() {
            reading.refuse_cancelled()?;
            for at in 0..batch.len() {
                let letters = batch.record(at).letters;
                longest = longest.max(Some(letters.len()));
                // Amino acids whose letters are not nucleotide codes.
                proteins |= letters.iter().any(|letter| b"EFILPQefilpq".contains(letter));
            }
        }
        let (k, is_empty, longest) = (self.config.k, longest.is_none(), longest.unwrap_or(0));
        Ok(match () {
            () if is_empty => "there are no sequences in it".to_owned(),
            () if proteins => "letters are those of proteins: give genomes (.fna)".to_owned(),
            () if uracil > 0 => {
                format!(
                    "{} letters are U, which is no base here: write them as T",
                    thousands(uracil)
                )
            }
            () if longest < k => {
                format!("the longest sequence has {longest} letters, and `k` is {k}")
            }
            () if self.config.masked != Masking::None => {
                format!("there are no {k} consecutive bases that are not masked (`masked`)")
            }
            () => format!("there are no {k} consecutive bases"),
        })
    }

    /// Computes the size of the table and checks that it fits in the memory budget.
    fn size(&self, found: &Survey) -> Result<Size, Error> {
        let size = Size::of(found.sampled, self.config.load_factor, self.config.max_db_size);
        let names: u64 = found.sequences.iter().map(|one| name_bytes(&one.header)).sum();
        self.budget
            .with(names.max(found.sampled * SAMPLE_BYTES))
            .with(size.bytes())
            .check("the table of this library needs", SMALLER_TABLE)?;
        Ok(size)
    }

    /// Returns the node of each sequence in the whole taxonomy, and lists sequences without one in `notes`.
    fn nodes(
        &self,
        sequences: &[Kraken2Sequence],
        notes: &mut Kraken2BuildNotes,
    ) -> Result<Vec<Option<u32>>, Error> {
        let taxids = (self.library.taxids)(sequences)?;
        let dump = self.library.taxonomy;
        let mut nodes = Vec::with_capacity(sequences.len());
        for (at, sequence) in sequences.iter().enumerate() {
            let taxid = taxids.get(at).copied().flatten();
            let node = taxid.and_then(|taxid| dump.taxonomy.node(taxid));
            if node.is_none() {
                let reason = taxid.map_or("no taxid found".to_owned(), |taxid| {
                    format!("taxid {taxid} is {}", dump.why_unknown(taxid))
                });
                notes.unmapped.push((sequence.name().to_owned(), reason));
            }
            nodes.push(node);
        }
        if nodes.iter().any(Option::is_some) {
            return Ok(nodes);
        }
        Err(Error::Input(match notes.unmapped.first() {
            None => "nothing to build: the inputs have no sequences".to_owned(),
            Some((name, reason)) => format!(
                "nothing to build: none of {} sequences has a taxon, first {name}: {reason}",
                nodes.len()
            ),
        }))
    }

    fn write_table(
        &self,
        mut file: AtomicFile,
        header: &[u8],
        cells: &mut [u32],
    ) -> Result<(), Error> {
        let progress = self.reading.progress;
        progress.stage("write", Unit::Bytes, Some(4 * cells.len() as u64));
        file.write_all(header)?;
        // The file is little-endian; on most machines this changes nothing.
        cells.iter_mut().for_each(|cell| *cell = cell.to_le());
        for some in bytemuck::cast_slice::<u32, u8>(cells).chunks(WRITTEN) {
            self.reading.refuse_cancelled()?;
            file.write_all(some)?;
            progress.advance(some.len() as u64);
        }
        progress.finish();
        file.commit()?;
        Ok(())
    }
}

/// Translates nodes of the whole taxonomy to the database's own numbers; 0 for sequences without a node.
fn renumbered(nodes: &[Option<u32>], tree: &Taxonomy, taxonomy: &Kraken2Taxonomy) -> Vec<u32> {
    let mut numbers: Vec<(u32, u32)> =
        (1..taxonomy.len() as u32).map(|number| (taxonomy.taxid(number), number)).collect();
    numbers.sort_unstable();
    let number = |node: &Option<u32>| {
        let taxid = tree.taxid((*node)?);
        let found = numbers.binary_search_by_key(&taxid, |entry| entry.0).ok()?;
        Some(numbers[found].1)
    };
    nodes.iter().map(|node| number(node).unwrap_or(0)).collect()
}

/// Allocates the cells of a table, all of them empty.
fn empty(size: Size) -> Result<Vec<u32>, Error> {
    let mut cells = Vec::new();
    let len = usize::try_from(size.capacity).ok();
    let reserved = len.map(|len| may_fail(|| cells.try_reserve_exact(len)));
    match (len, reserved) {
        (Some(len), Some(Ok(()))) => {
            cells.resize(len, 0);
            Ok(cells)
        }
        _ => Err(Error::Input(format!(
            "{} cannot be allocated for the table: free memory, or give `max_db_size`",
            merganser_run::format_size(size.bytes())
        ))),
    }
}

fn write(mut file: AtomicFile, bytes: &[u8]) -> Result<(), Error> {
    file.write_all(bytes)?;
    file.commit()?;
    Ok(())
}
