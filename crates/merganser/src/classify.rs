//! `merganser classify`.

mod dry;
mod join;
mod kraken2;
mod outputs;
mod query;
mod reports;
mod session;
mod shard;
mod sheet;
pub(crate) mod summary;

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Result;
use merganser_classify::{BuildConfig, Database, Error, QueryParams, SketchConfig, Thresholds};
use merganser_classify::{Classifier, Devices};
use merganser_io::{FileKind, Input, OutputSet, ReadInput};
use merganser_kraken2::Kraken2Database;
use merganser_library::References;
use merganser_run::{Cancel, Context, DeviceChoice, NO_READS, Shard, counted, thousands};
use merganser_taxonomy::TaxonomySource;

use crate::args::ClassifyArgs;
use crate::args::build::TaxidArgs;
use crate::args::classify::{ClassifyCommand, QueryArgs};
use crate::common::{number_of_files, refuse_swapped, taxonomy_of, text_of, unit};
use crate::console::Console;
use crate::database::{self, AnyDatabase};
use crate::files::{RunFiles, is_same};
use crate::holds::Holds;
use crate::pages::shared::SharedPaths;
use crate::samples::Sample;
use crate::samples::journal::Journal;
use crate::{build, failure, interrupt, samples};
use query::Query;
pub(crate) use reports::Reports;

/// The database, and the state that all samples share.
struct Environment<'a> {
    database: &'a AnyDatabase,
    /// The name of the database's file.
    name: String,
    /// The files that the database was read from; outputs must not replace them.
    files: &'a RunFiles,
    devices: Devices,
    context: Context,
    /// The shard of the reads to classify, `None` for all.
    shard: Option<Shard>,
    /// The classifier of the last sample, which is reused if the next one has the same parameters.
    classifier: RefCell<Option<(QueryParams, Rc<Classifier<'a>>)>>,
    console: &'a Console,
    cancel: &'a Cancel,
    started: Instant,
    /// The time to open or build the database.
    opened: Duration,
    /// Whether there is only one sample, after which the run ends.
    single: bool,
}

impl<'a> Environment<'a> {
    /// Commits the outputs of a sample.
    ///
    /// # Errors
    /// Returns the errors of [`OutputSet::commit`].
    fn commit(&self, outputs: &OutputSet) -> Result<()> {
        match self.single {
            true => outputs.commit_last()?,
            false => outputs.commit()?,
        }
        Ok(())
    }

    /// Prints what was classified, and warns if there was nothing; `name` is the beginning of the lines.
    fn tell_what(&self, name: &str, segments: &[ReadInput], (bases, reads): (u64, u64)) {
        if reads == 0 {
            self.console.warn(format_args!("{name}{NO_READS}"));
        }
        self.console.info(format_args!(
            "{name}compared {} with {}: {} in {} {}",
            number_of_files(segments.iter().flat_map(ReadInput::inputs)),
            self.name,
            counted(bases, "letter"),
            thousands(reads),
            unit(segments)
        ));
    }

    /// Returns the database as prepared for queries, on GPUs if there are any.
    ///
    /// # Errors
    /// If a GPU cannot be used, or has too little memory.
    fn classifier(
        &self,
        database: &'a Database,
        thresholds: &Thresholds,
    ) -> Result<Rc<Classifier<'a>>> {
        let wanted = thresholds.query_params();
        let mut last = self.classifier.borrow_mut();
        if let Some((_, classifier)) = last.as_ref().filter(|(params, _)| *params == wanted) {
            return Ok(Rc::clone(classifier));
        }
        // Free its memory before the next one is made.
        *last = None;
        let made = Classifier::on(database, thresholds, &self.devices, &self.context)?;
        let classifier = Rc::new(made);
        *last = Some((wanted, Rc::clone(&classifier)));
        Ok(classifier)
    }
}

/// Opens or builds the database, and classifies one sample, the samples of a sheet, or the queries on stdin.
pub(crate) fn run(args: &ClassifyArgs, console: &Console, started: Instant) -> Result<ExitCode> {
    if let Some(ClassifyCommand::Join(args)) = &args.command {
        return join::run(args, console);
    }
    let mut query = args.query.clone();
    let paths = take_databases(args, &mut query)?;
    check_usage(args, &query)?;
    let shared = SharedPaths::take(&mut query.pages, args.sample_sheet.as_deref());
    shared.refuse_shard(args.shard)?;
    let work = Work::new(args, &query, console)?;
    let source = DatabaseChoice::new(args, paths)?;
    source.check(&query)?;
    source.warn(&query, console)?;
    let files = source.files(args)?.read(&args.sample_sheet).write(Holds::ANYTHING, &args.resume);
    let files = files.write_each(shared.paths());
    // Checked before a database is built for these outputs.
    let outputs = work.check(&query, &files)?;
    work.hint(console);
    if args.dry.dry_run {
        return dry::run(args, &query, (&work, &source), &work.declare(&query, files));
    }
    let mut journal = match &args.resume {
        Some(path) => Some(Journal::open(path, args.resources.context().budget(), console)?),
        None => None,
    };
    let reads = work.reads();
    let context = args.resources.context();
    let devices = source.devices(&context, &reads)?;
    let cancel = interrupt::cancel_on_interrupt();
    if let Some(journal) = &mut journal {
        journal.set_shared(source.database_files()?, &cancel);
    }
    let database = source.database(args, &reads, &outputs, console, &cancel)?;
    let environment = Environment {
        database: &database,
        name: source.name(),
        files: &files,
        devices,
        // Determined again: a database may have been built in memory since.
        context: args.resources.context(),
        shard: args.shard.filter(|_| args.sample_sheet.is_none()),
        classifier: RefCell::new(None),
        console,
        cancel: &cancel,
        started,
        opened: started.elapsed(),
        single: matches!(work, Work::Single(_)),
    };
    match work {
        Work::Single(single) => {
            single.run(&environment, &outputs, started)?;
            single.note_interleaved(console);
            Ok(ExitCode::SUCCESS)
        }
        Work::Session => {
            outputs.commit()?;
            session::run(&environment, &query)
        }
        Work::Sheet(samples) => {
            sheet::run(&environment, &query, samples, (journal, shared), &outputs)
        }
    }
}

/// The reads to classify.
enum Work<'q> {
    /// The reads that the command line names.
    Single(Query<'q>),
    /// The samples of a sheet.
    Sheet(Vec<Sample>),
    /// The queries on the lines of stdin.
    Session,
}

impl<'q> Work<'q> {
    fn new(args: &ClassifyArgs, query: &'q QueryArgs, console: &Console) -> Result<Work<'q>> {
        Ok(match &args.sample_sheet {
            Some(path) => {
                let samples =
                    samples::read(path, &query.reads.inputs, query.reads.interleaved, console)?;
                Work::Sheet(samples::of_shard(samples, args.shard)?)
            }
            None if args.interactive => Work::Session,
            None => Work::Single(Query::new(query, None)?),
        })
    }

    /// Checks that the inputs exist and that the outputs are compatible with one another and with `files`.
    /// Returns the set in which the outputs are to be created.
    fn check(&self, query: &QueryArgs, files: &RunFiles) -> Result<OutputSet> {
        match self {
            Work::Single(single) => single.check(files.clone()),
            Work::Sheet(samples) => sheet::check(query, samples, files.clone()),
            Work::Session => files.clone().check(),
        }
    }

    /// Adds the files of reads and all outputs to `files`.
    fn declare(&self, query: &QueryArgs, files: RunFiles) -> RunFiles {
        match self {
            Work::Single(single) => single.declare(files),
            Work::Sheet(samples) => {
                sheet::declare(query, &sheet::queries(&sheet::own(query), samples), files)
            }
            Work::Session => files,
        }
    }

    /// Warns of mates that are given as single reads.
    fn hint(&self, console: &Console) {
        if let Work::Single(single) = self {
            single.hint_at_mates(console);
        }
    }

    /// Returns all files of reads.
    fn reads(&self) -> Vec<Input> {
        match self {
            Work::Single(single) => single.inputs().cloned().collect(),
            Work::Sheet(samples) => samples
                .iter()
                .flat_map(|sample| &sample.1)
                .flat_map(ReadInput::inputs)
                .cloned()
                .collect(),
            Work::Session => vec![Input::Stdin],
        }
    }
}

/// Removes the databases, which come first, from the reads, unless there are references.
fn take_databases(args: &ClassifyArgs, query: &mut QueryArgs) -> Result<Vec<PathBuf>> {
    if !args.references.is_empty() {
        return Ok(Vec::new());
    }
    let all = &mut query.reads.reads;
    if all.is_empty() {
        return failure::usage("give a database (.mgdb, or a folder of Kraken 2), or --references");
    }
    // Their content distinguishes them from reads. A first file of another kind is refused later.
    let mut count = 0;
    while let Some(path) = all.get(count)
        && database::is_one(path)?
    {
        count += 1;
    }
    Ok(all.drain(..count.max(1)).collect())
}

/// The source of the database.
enum DatabaseChoice {
    /// One database, or several that are used together.
    Files(Vec<PathBuf>),
    References(References),
}

impl DatabaseChoice {
    /// Returns the databases of these paths; the references if there are no paths.
    fn new(args: &ClassifyArgs, paths: Vec<PathBuf>) -> Result<DatabaseChoice> {
        Kraken2Database::are_all(&paths)?;
        Ok(match paths.is_empty() {
            true => DatabaseChoice::References(References::expand(&args.references)?),
            false => DatabaseChoice::Files(paths),
        })
    }

    /// Checks that all options apply to the kind of the database.
    fn check(&self, query: &QueryArgs) -> Result<()> {
        match self.is_kraken2()? {
            true => kraken2::check(query),
            false => kraken2::check_own(query),
        }
    }

    /// Warns of what several databases cannot do, and of a database that is given twice.
    fn warn(&self, query: &QueryArgs, console: &Console) -> Result<()> {
        let DatabaseChoice::Files(paths) = self else { return Ok(()) };
        // The table of a database of Kraken 2 is the last of its files.
        let last = |path: &PathBuf| Ok::<_, Error>(database::files(path)?.pop());
        let files: Vec<PathBuf> =
            paths.iter().filter_map(|path| last(path).transpose()).collect::<Result<_, _>>()?;
        for (at, (path, file)) in paths.iter().zip(&files).enumerate() {
            for other in &files[..at] {
                if is_same(other, file)? {
                    let path = path.display();
                    console.warn(format_args!(
                        "{path}: this database is given twice, and is looked up twice"
                    ));
                }
            }
        }
        if paths.len() > 1 && query.reports.bracken.is_some() {
            console.info(
                "--bracken must be a distribution of all databases together (db bracken --beside): with that of one, \
                 estimates are too high or too low",
            );
        }
        Ok(())
    }

    /// Returns the names of the databases, without their folders.
    fn name(&self) -> String {
        match self {
            DatabaseChoice::Files(paths) => {
                let name = |path: &PathBuf| text_of(path.file_name().unwrap_or(path.as_os_str()));
                paths.iter().map(name).collect::<Vec<_>>().join(", ")
            }
            DatabaseChoice::References(_) => "built from references".to_owned(),
        }
    }

    fn is_kraken2(&self) -> Result<bool, Error> {
        match self {
            DatabaseChoice::Files(paths) => Ok(Kraken2Database::is_one(&paths[0])?),
            DatabaseChoice::References(_) => Ok(false),
        }
    }

    /// Chooses the devices. This happens before the database is opened, so that CUDA starts at the same time.
    fn devices(&self, context: &Context, reads: &[Input]) -> Result<Devices, Error> {
        let mut context = context.clone();
        // A run with a database of Kraken 2 chooses later, by the size of the table.
        if context.device == DeviceChoice::Auto && self.is_kraken2()? {
            context.device = DeviceChoice::Cpu;
        }
        Devices::choose(&context, self.bytes()?, reads)
    }

    /// Returns the size of an existing database, `None` for one that is to be built.
    fn bytes(&self) -> Result<Option<u64>, Error> {
        let DatabaseChoice::Files(_) = self else { return Ok(None) };
        let files = self.database_files()?;
        let sizes = files.iter().filter_map(|file| fs::metadata(file).ok()).map(|file| file.len());
        Ok(Some(sizes.sum()))
    }

    /// Returns the files of an existing database, no files for one that is to be built.
    fn database_files(&self) -> Result<Vec<PathBuf>, Error> {
        match self {
            DatabaseChoice::Files(paths) => {
                let files: Result<Vec<_>, _> =
                    paths.iter().map(|path| database::files(path)).collect();
                Ok(files?.concat())
            }
            DatabaseChoice::References(_) => Ok(Vec::new()),
        }
    }

    /// Returns the files that are read for the database.
    fn files(&self, args: &ClassifyArgs) -> Result<RunFiles, Error> {
        Ok(match self {
            DatabaseChoice::Files(_) => RunFiles::new().read(self.database_files()?),
            DatabaseChoice::References(found) => {
                let taxonomy = taxonomy_of(&args.taxonomy);
                build::references(&args.references, found, taxonomy.as_ref(), &args.taxids)
            }
        })
    }

    /// Opens or builds the database.
    fn database(
        &self,
        args: &ClassifyArgs,
        reads: &[Input],
        outputs: &OutputSet,
        console: &Console,
        cancel: &Cancel,
    ) -> Result<AnyDatabase> {
        let paths = match self {
            DatabaseChoice::Files(paths) => paths,
            DatabaseChoice::References(found) => {
                let built = build_in_memory(args, found, outputs, console)?;
                return Ok(AnyDatabase::Own(built));
            }
        };
        let database = open(paths, reads)?;
        if let AnyDatabase::Own(database) = &database {
            // Checked before any use, so that the time counts as the time of opening.
            database.check(args.resources.context().threads, cancel)?;
        }
        Ok(database)
    }
}

/// Returns the beginning of the lines about a sample of a sheet.
fn prefix_of(sample: Option<&OsStr>) -> String {
    sample.map_or_else(String::new, |sample| format!("{}: ", sample.display()))
}

/// Opens a database, or several that are used together.
fn open(paths: &[PathBuf], reads: &[Input]) -> Result<AnyDatabase> {
    match paths {
        [path] => AnyDatabase::open(path).or_else(|error| {
            let databases = [FileKind::Database, FileKind::Kraken2];
            refuse_swapped("classify", &databases, path, reads)?;
            Err(error.into())
        }),
        _ => Ok(AnyDatabase::open_all(paths)?),
    }
}

fn check_usage(args: &ClassifyArgs, query: &QueryArgs) -> Result<()> {
    let given = &query.given;
    let built = given.first_of::<TaxidArgs>(&[]).or(given.first_of::<SketchConfig>(&[]));
    if args.references.is_empty() && (built.is_some() || !args.taxonomy.is_empty()) {
        return failure::usage(
            "--taxonomy and the options under Taxids and Sketches require --references: the database \
             is already built",
        );
    }
    if !args.references.is_empty() && query.lines.partial.is_some() {
        return failure::usage(
            "--partial requires a database file, so that all partial results are from the same database: \
             make it with merganser build",
        );
    }
    if args.shard.is_some() && args.sample_sheet.is_none() {
        shard::check(query)?;
    }
    let many = args.interactive || args.sample_sheet.is_some();
    if many && !query.reads.reads.is_empty() {
        return failure::usage(format!(
            "{}: reads come from the sample sheet or the session, not from the command line",
            query.reads.reads[0].display()
        ));
    }
    Ok(())
}

/// Returns the configuration of the database of `--references`, and its taxonomy.
fn build_config(
    args: &ClassifyArgs,
    references: &References,
) -> Result<(BuildConfig, TaxonomySource)> {
    let Some(taxonomy) = taxonomy_of(&args.taxonomy) else {
        return failure::usage(
            "--references needs --taxonomy PATH, the folder of NCBI's taxdump or a table of GTDB",
        );
    };
    let (sketches, taxids) = (args.sketches.clone(), args.taxids.config.clone());
    let config = BuildConfig { sketches, taxids, ..BuildConfig::default() };
    Ok((build::with_maps(config, references), taxonomy))
}

/// Builds the database of `--references` in memory; only `--unmapped` is written.
fn build_in_memory(
    args: &ClassifyArgs,
    references: &References,
    outputs: &OutputSet,
    console: &Console,
) -> Result<Database> {
    let (config, taxonomy) = build_config(args, references)?;
    let taxonomy = &taxonomy;
    let context = args.resources.context();
    config.validate_for(&context)?;
    merganser_run::raise_open_file_limit();
    let unmapped = args.taxids.unmapped.as_deref().map(|path| outputs.output(path)).transpose()?;
    build::tell_others(&references.others, console);
    let inputs = &references.inputs;
    let (database, outcome) =
        merganser_classify::build_in_memory(&config, inputs, taxonomy, &context)?;
    build::report_unmapped(&outcome.unmapped, unmapped)?;
    build::tell_of_list(&outcome.unmapped, &args.taxids, console);
    console.info(format_args!(
        "built a database in memory from {} sequences with {} bases",
        database.targets().len(),
        database.targets().iter().map(|target| target.bases).sum::<u64>()
    ));
    Ok(database)
}
