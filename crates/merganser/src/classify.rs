//! `merganser classify`.

mod outputs;
mod query;
mod session;
mod sheet;
pub(crate) mod summary;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Result;
use merganser_classify::run::{Classifier, Segment};
use merganser_classify::{Database, Error, GpuConfig, QueryParams, Thresholds};
use merganser_io::{FileKind, Input, OutputSet};
use merganser_run::{Cancel, DeviceChoice, resolve_threads};

use crate::args::build::{SketchArgs, TaxidArgs};
use crate::args::classify::{QueryArgs, VerdictArgs};
use crate::args::{ClassifyArgs, DeviceArgs};
use crate::common::hint_at_mates;
use crate::console::Console;
use crate::files::RunFiles;
use crate::progress::Bar;
use crate::{build, devices, failure, interrupt};
pub(crate) use outputs::Reports;
use query::Query;

/// Bytes of reads from which on `--device auto` takes GPUs: with so many they have made up for the
/// start of CUDA, beside 16 cores (docs/benchmarks.md).
const GPU_BREAK_EVEN: u64 = 500_000_000;

/// The database and what all samples share.
struct Environment<'a> {
    database: &'a Database,
    /// What the database came from; outputs must not replace it.
    files: &'a RunFiles,
    gpus: GpuConfig,
    /// The GPUs were not asked for: where they have no room, the CPU will do.
    auto: bool,
    /// The last sample's: the next one is mostly classified in the same way.
    classifier: RefCell<Option<(QueryParams, Rc<Classifier<'a>>)>>,
    threads: usize,
    memory: Option<u64>,
    tmp_dir: PathBuf,
    console: &'a Console,
    cancel: &'a Cancel,
    started: Instant,
    /// Opening or building the database.
    opened: Duration,
}

impl<'a> Environment<'a> {
    /// The database made ready, on GPUs if there are any.
    ///
    /// # Errors
    /// If a GPU cannot be used or has no room.
    fn classifier(&self, thresholds: &Thresholds) -> Result<Rc<Classifier<'a>>> {
        let &Thresholds { lowest, max_candidates, insert, .. } = thresholds;
        let wanted = QueryParams { lowest, max_candidates, insert };
        let mut last = self.classifier.borrow_mut();
        if let Some((_, classifier)) = last.as_ref().filter(|(params, _)| *params == wanted) {
            return Ok(Rc::clone(classifier));
        }
        // Before the next one takes as much memory.
        *last = None;
        let mut classifier = Classifier::new(self.database, thresholds);
        if !self.gpus.devices.is_empty() {
            classifier = match classifier.on_gpus(&self.gpus) {
                Err(error @ Error::GpuMemory(_)) if self.auto => {
                    let why = failure::with_flags(&error.to_string());
                    self.console.info(format_args!("computing on the CPU: {why}"));
                    Classifier::new(self.database, thresholds)
                }
                made => made?,
            };
        }
        let classifier = Rc::new(classifier);
        *last = Some((wanted, Rc::clone(&classifier)));
        Ok(classifier)
    }
}

/// Opens or builds the database, and classifies one sample, those of a sheet, or what stdin says.
pub(crate) fn run(args: &ClassifyArgs, console: &Console, started: Instant) -> Result<ExitCode> {
    let mut query = args.query.clone();
    let on_the_fly = !args.references.is_empty();
    if !on_the_fly && query.reads.is_empty() {
        return failure::usage("give a database (.mgdb), or --references");
    }
    let database = (!on_the_fly).then(|| query.reads.remove(0));
    check_usage(args, &query)?;
    let samples = match &args.sample_sheet {
        Some(path) => sheet::read(path, &query)?,
        None => Vec::new(),
    };
    let single = match args.sample_sheet.is_none() && !args.interactive {
        true => Some(Query::new(&query, None)?),
        false => None,
    };
    let sources = match &database {
        Some(path) => vec![Input::File(path.clone())],
        None => merganser_classify::expand_references(&args.references)?,
    };
    let files = match &database {
        Some(path) => RunFiles::new().read([path]),
        None => {
            let taxonomy = args.taxonomy.as_deref();
            build::references(&args.references, &sources, taxonomy, &args.taxids)
        }
    };
    let files = files.read(&args.sample_sheet);
    // Before a database is built for it.
    let outputs = match &single {
        Some(single) => single.check(files.clone())?,
        None if args.interactive => files.check()?,
        None => sheet::check(&query, &samples, files.clone())?,
    };
    if let Some(single) = &single {
        let remedy = |one: &str, two: &str| format!("-1 {one} -2 {two}");
        hint_at_mates(single.singles(), "classified", remedy, console);
    }
    let reads: Vec<Input> = match &single {
        Some(single) => single.inputs().cloned().collect(),
        None if args.interactive => vec![Input::Stdin],
        None => {
            samples.iter().flat_map(|sample| &sample.1).flat_map(Segment::inputs).cloned().collect()
        }
    };
    let threads = resolve_threads(args.resources.threads.number());
    let DeviceArgs { device, gpu_memory } = &args.resources.device;
    let devices = devices::choose(device, &reads, GPU_BREAK_EVEN, console)?;
    let gpus = GpuConfig { devices, memory: *gpu_memory, streams: threads };
    let cancel = interrupt::cancel_on_interrupt();
    let database = match &database {
        Some(path) => {
            let database = Database::open(path).or_else(|error| swapped(error, path, &reads))?;
            // Before anything is made of it; also part of the time that opening it takes.
            database.check(threads, &cancel)?;
            database
        }
        None => build_in_memory(args, &sources, &outputs, console, &cancel)?,
    };
    let environment = Environment {
        database: &database,
        files: &files,
        gpus,
        auto: *device == DeviceChoice::Auto,
        classifier: RefCell::new(None),
        threads,
        memory: args.resources.memory,
        tmp_dir: args.resources.tmp_dir.clone().unwrap_or_else(std::env::temp_dir),
        console,
        cancel: &cancel,
        started,
        opened: started.elapsed(),
    };
    match single {
        Some(single) => single.run(&environment, &outputs, started).map(|_| ExitCode::SUCCESS),
        None if args.interactive => {
            outputs.commit()?;
            session::run(&environment, &query)
        }
        None => sheet::run(&environment, &query, samples, &outputs),
    }
}

/// The error of a database that is none, or where that is if it was given among the reads.
fn swapped(error: Error, first: &Path, reads: &[Input]) -> Result<Database> {
    let is = |path: &&Path| FileKind::of_path(path) == Some(FileKind::Database);
    match reads.iter().filter_map(Input::path).find(is) {
        Some(database) => failure::usage(format!(
            "{}: is the database, and comes first: merganser classify {} {}",
            database.display(),
            database.display(),
            first.display()
        )),
        None => Err(error.into()),
    }
}

fn check_usage(args: &ClassifyArgs, query: &QueryArgs) -> Result<()> {
    let untouched = args.taxids == TaxidArgs::default()
        && args.taxonomy.is_none()
        && args.sketches == SketchArgs::default();
    if args.references.is_empty() && !untouched {
        return failure::usage(
            "--taxonomy and the options under Taxids and Sketches go with --references: a database \
             has been built",
        );
    }
    let many = args.interactive || args.sample_sheet.is_some();
    if many && !query.reads.is_empty() {
        return failure::usage(format!(
            "{}: reads come from the sample sheet or the session, not from the command line",
            query.reads[0].display()
        ));
    }
    Ok(())
}

/// Builds the database of `--references`; nothing of it is written but `--unmapped`.
fn build_in_memory(
    args: &ClassifyArgs,
    references: &[Input],
    outputs: &OutputSet,
    console: &Console,
    cancel: &Cancel,
) -> Result<Database> {
    let Some(taxonomy) = &args.taxonomy else {
        return failure::usage("--references needs --taxonomy DIR, the folder of NCBI's taxdump");
    };
    let mut config = build::config(&args.taxids, Some(&args.sketches), None, &args.resources);
    config.validate()?;
    config.gpus = build::gpus(&args.resources, references, config.threads, console)?;
    merganser_run::raise_open_file_limit();
    let unmapped = args.taxids.unmapped.as_deref().map(|path| outputs.output(path)).transpose()?;
    let bar = Bar::new(console);
    let built = merganser_classify::build_in_memory(&config, references, taxonomy, &bar, cancel);
    drop(bar);
    let (database, notes) = built?;
    build::report_unmapped(&notes, unmapped)?;
    build::warn(&notes, &args.taxids, console);
    console.info(format_args!(
        "built a database in memory from {} sequences with {} bases",
        database.targets().len(),
        notes.bases
    ));
    Ok(database)
}

/// The preset's thresholds with what the options change.
pub(crate) fn thresholds(args: &VerdictArgs, database: &Database) -> Result<Thresholds> {
    let of = Thresholds::new(database.params());
    let thresholds = Thresholds {
        lowest: args.lowest.unwrap_or(of.lowest),
        highest: args.highest.unwrap_or(of.highest),
        max_candidates: args.max_cand.map_or(of.max_candidates, usize::from),
        min_hits: args.hitmin.unwrap_or(of.min_hits),
        min_hits_per_kb: args.hitmin_per_kb.unwrap_or(of.min_hits_per_kb),
        hit_diff: args.hitdiff.unwrap_or(of.hit_diff),
        ..of
    };
    if thresholds.lowest > thresholds.highest {
        return failure::usage("--lowest is above --highest");
    }
    Ok(thresholds)
}
