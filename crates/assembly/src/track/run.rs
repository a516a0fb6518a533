//! The stages of a run.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::Instant;

use merganser_io::{Input, OutputSet};
use merganser_kmers::algebra::{Cut, Expression, Mode, Operation, join};
use merganser_kmers::lookup::{Lookup, LookupOptions, Pair, open_lookup};
use merganser_kmers::reads::{self, Job, Mark, Marked};
use merganser_kmers::tables::AnyTable;
use merganser_run::{Context, DeviceChoice, Stages, give_back_freed_memory};
use merganser_spectrum::{Model, Settings, error_threshold};

use super::class::{ClassSum, Rule};
use super::config::{TrackConfig, Wanted};
use super::files::{Files, Sums};
use crate::Error;
use crate::stages::{Room, RunContext, each_mark, look_ups, own_table};

/// A table of the k-mers of reads, or any other table.
#[derive(Debug)]
pub struct TrackTable {
    /// The table.
    pub table: AnyTable,
    /// Bounds of counts: k-mers with other counts are not in the table.
    pub cut: Cut,
}

/// The results of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TrackOutcome {
    /// The length of k-mers.
    pub k: usize,
    /// The count in the reads of a k-mer that the sequences should have once, if a track needs it.
    pub coverage: Option<f64>,
    /// The count up to which k-mers of the reads may be errors, if classes were wanted.
    pub solid: Option<u32>,
    /// The number of sequences.
    pub sequences: u64,
    /// The number of letters of all sequences.
    pub bases: u64,
    /// The number of their k-mers, each as often as it occurs.
    pub kmers: u64,
    /// The number of those that the table has.
    pub found: u64,
    /// The intervals of each class, in the order of [`Class::ALL`](super::Class::ALL), if they were wanted.
    pub classes: Option<[ClassSum; 4]>,
    /// Warnings about the results, one sentence each.
    pub doubts: Vec<String>,
    /// The wall time of each stage.
    pub stages: Stages,
    /// The largest resident size so far, in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
}

/// Goes through all sequences of `inputs`, and writes the tracks of `files`, which must be finished afterwards.
///
/// The progress stages are those of counting, of computations with tables and of look-ups.
///
/// # Errors
/// If a setting or the table is unsuitable, the coverage is unknown, an input is missing or invalid, memory or disk
/// space is too small, or the run was cancelled.
pub fn run(
    config: &TrackConfig,
    of: TrackTable,
    inputs: &[Input],
    files: &mut Files,
    context: &Context,
) -> Result<TrackOutcome, Error> {
    let TrackTable { table, cut } = of;
    let wanted = files.wanted();
    config.validate(wanted, &table, cut != Cut::NONE)?;
    if wanted.counts_sequences() {
        inputs.iter().try_for_each(check_is_file)?;
    }
    let room = Room::new(context)?;
    let run = room.run(false, &*context.progress, &context.cancel);
    let (mut stages, mut doubts) = (Stages::default(), Vec::new());
    let k = table.description().k;
    let is_read_often = wanted.counts_sequences() || wanted.needs_coverage();
    let table = if is_read_often { table.kept(context)? } else { table };

    let mut rule = None;
    if wanted.needs_coverage() {
        let begun = Instant::now();
        rule = Some(rule_of(config, &table, &mut doubts, context)?);
        stages.since("histogram", begun);
        give_back_freed_memory();
    }
    let mut walk = Walk::new(files);
    if wanted.counts_sequences() {
        let begun = Instant::now();
        let held = table.resident(context.threads);
        let (own, _) = run.count(k, inputs, "sequences", held)?;
        stages.since("count sequences", begun);
        give_back_freed_memory();

        let begun = Instant::now();
        let seen = seen(&run, table, cut, own)?;
        stages.since("compare", begun);
        give_back_freed_memory();

        let begun = Instant::now();
        walk.files.start(rule)?;
        walk.in_both(&run, seen, inputs)?;
        stages.since("walk", begun);
    } else {
        let begun = Instant::now();
        walk.files.start(rule)?;
        walk.in_one(&run, table, cut, inputs)?;
        stages.since("walk", begun);
    }
    let Walk { sequences, sums, repeated, .. } = walk;
    doubts.extend(doubt_of(&sums, wanted, k));
    doubts.extend(repeated.map(|name| {
        format!(
            "two sequences are called {name}: tracks do not tell them apart; rename one of them"
        )
    }));
    Ok(TrackOutcome {
        k,
        coverage: rule.map(|rule| rule.coverage),
        solid: rule.filter(|_| wanted.classes).map(|rule| rule.solid),
        sequences,
        bases: sums.bases,
        kmers: sums.kmers,
        found: sums.found,
        classes: wanted.classes.then_some(sums.classes),
        doubts,
        stages,
        peak_memory: merganser_run::peak_rss(),
    })
}

/// Checks that an input can be read more than once. Reading reports missing files and directories.
fn check_is_file(input: &Input) -> Result<(), Error> {
    let is_stream = |path: &Path| path.exists() && !path.is_dir() && !input.is_file();
    match input.path().is_none_or(is_stream) {
        true => Err(Error::ReadTwice { input: input.clone() }),
        false => Ok(()),
    }
}

/// The coverage below which chance changes the class of many k-mers.
const LOW_COVERAGE: f64 = 10.0;

/// Returns the rule for classes and copies.
fn rule_of(
    config: &TrackConfig,
    table: &AnyTable,
    doubts: &mut Vec<String>,
    context: &Context,
) -> Result<Rule, Error> {
    let histogram = table.histogram(context)?;
    let rows: Vec<(u32, u64)> = histogram.iter().collect();
    if rows.is_empty() {
        let reads = table.path().display().to_string();
        return Err(Error::NoReads { reads, k: table.description().k });
    }
    doubts.extend(crate::doubts::of_cut_counts(&rows));
    doubts.extend(crate::doubts::of_saturated_counts(&rows));
    let coverage = match config.coverage {
        Some(coverage) => coverage,
        None => modelled(config, table, &rows, doubts)?,
    };
    doubts.extend(doubt_of_coverage(coverage));
    Ok(Rule { coverage, solid: config.solid.unwrap_or_else(|| valley(&rows)) })
}

/// Returns a warning if the coverage is low.
fn doubt_of_coverage(coverage: f64) -> Option<String> {
    (coverage < LOW_COVERAGE).then(|| {
        format!(
            "a k-mer that the sequences should have once occurs {coverage:.1} times in the reads: below {LOW_COVERAGE:.0}, \
             chance alone makes many k-mers look collapsed or duplicated"
        )
    })
}

/// Returns the last count of the valley between errors and genome, or 0 if the histogram does not begin with errors.
fn valley(rows: &[(u32, u64)]) -> u32 {
    let first = rows.first().map_or(0, |row| row.0);
    error_threshold(rows).filter(|&valley| first == 1 && valley > first).unwrap_or(0)
}

/// Returns the count in the reads of a k-mer that the sequences should have once, by the model of the histogram.
fn modelled(
    config: &TrackConfig,
    table: &AnyTable,
    rows: &[(u32, u64)],
    doubts: &mut Vec<String>,
) -> Result<f64, Error> {
    let ploidy = config.ploidy();
    let settings = Settings { ploidy, ..Settings::default() };
    let model = Model::fit_with(rows, table.description().k, &settings);
    let model = model.map_err(|why| Error::Coverage { path: table.path().to_owned(), why })?;
    doubts.extend(model.doubts.iter().map(ToString::to_string));
    Ok(model.coverage * f64::from(ploidy) / f64::from(config.haplotypes()))
}

/// Returns the table of the counts in the reads, within `cut`, of the k-mers of the sequences, and the table `own` of their counts in
/// the sequences. Both are smaller than the table of the reads, which has the k-mers of all errors.
fn seen(
    run: &RunContext<'_>,
    table: AnyTable,
    cut: Cut,
    own: AnyTable,
) -> Result<[AnyTable; 2], Error> {
    let path = run.path("seen")?;
    let seen = Expression::Of {
        operation: Operation::Intersect,
        mode: Mode::Left,
        operands: vec![
            Expression::Within(Box::new(Expression::Table(0)), cut),
            Expression::Table(1),
        ],
    };
    let tables = [table, own];
    join(&own_table(seen, &path), None, &tables, &OutputSet::alone(), run.beside)?;
    let [_, own] = tables;
    Ok([run.open(&path)?, own])
}

/// A pass over all sequences.
struct Walk<'w> {
    files: &'w mut Files,
    sequences: u64,
    sums: Sums,
    /// Hashes of the names of the first sequences.
    names: HashSet<u64>,
    /// The first name that two sequences have.
    repeated: Option<String>,
}

/// The number of sequences whose names are compared.
const NAMES: usize = 100_000;

impl<'w> Walk<'w> {
    fn new(files: &'w mut Files) -> Walk<'w> {
        let (names, repeated) = (HashSet::new(), None);
        Walk { files, sequences: 0, sums: Sums::default(), names, repeated }
    }

    /// Looks up all k-mers in one table.
    fn in_one(
        &mut self,
        run: &RunContext<'_>,
        table: AnyTable,
        cut: Cut,
        inputs: &[Input],
    ) -> Result<(), Error> {
        let context = run.beside;
        let options = LookupOptions { cut, ..look_ups(context, inputs) };
        let lookup = open_lookup(table, &options)?;
        self.along(&*lookup, inputs, context)
    }

    /// Looks up all k-mers in the reads and in the sequences.
    fn in_both(
        &mut self,
        run: &RunContext<'_>,
        tables: [AnyTable; 2],
        inputs: &[Input],
    ) -> Result<(), Error> {
        let mut context = run.beside.clone();
        // The first table would take all memory of a device if it needed that.
        context.device = DeviceChoice::Cpu;
        let pair = Pair::open(tables, &look_ups(&context, inputs));
        let pair = pair.map_err(|error| run.shortage(error, 2))?;
        self.along(&pair, inputs, &context)
    }

    fn along(
        &mut self,
        lookup: &dyn Lookup,
        inputs: &[Input],
        context: &Context,
    ) -> Result<(), Error> {
        let record_bytes = reads::record_bytes(context.budget(), context.threads, lookup);
        let job = Job { lookup, homopolymer_compressed: false, context, record_bytes };
        each_mark(job, Marked::All, inputs, &mut |mark| self.take(mark))
    }

    fn take(&mut self, mark: Mark<'_>) -> Result<(), Error> {
        if let Mark::Begin { name } = mark {
            self.sequences += 1;
            let is_known = match self.names.len() < NAMES {
                true => !self.names.insert(hash(name)),
                false => self.names.contains(&hash(name)),
            };
            if is_known && self.repeated.is_none() {
                self.repeated = Some(String::from_utf8_lossy(name).into_owned());
            }
        }
        if let Some(sums) = self.files.take(mark)? {
            self.sums.add(&sums);
        }
        Ok(())
    }
}

fn hash(name: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// Returns a warning about the sequences.
fn doubt_of(sums: &Sums, wanted: Wanted, k: usize) -> Option<String> {
    if sums.kmers == 0 {
        return Some(format!("the sequences contain no k-mer of {k} bases: all tracks are empty"));
    }
    let is_foreign = wanted.needs_coverage() && 2 * sums.found < sums.kmers;
    is_foreign.then(|| {
        "most k-mers of the sequences are in no read: are they of another genome?".to_owned()
    })
}
