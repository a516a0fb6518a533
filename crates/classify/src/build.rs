//! Builds a database: scans the references, then makes the tables on the CPU or on the device that holds the
//! sketches, and writes them in the order of the file.

mod outcome;
mod scan;
mod target_taxa;

pub use outcome::BuildOutcome;

use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use merganser_io::{AtomicFile, Input, OutputSet};
use merganser_run::{
    Budget, Cancel, ConfigError, Context, JobPlan, Progress, Shortage, Unit, Warnings, Work,
    peak_rss,
};

use crate::Error;
use crate::config::{BuildConfig, MAX_PARTS};
use crate::cpu::tables::TableMaker;
use crate::cuda::{Collector, DeviceLayout, Resident, Rules};
use crate::database::{
    Content, Counts, Database, GROUP, GROUPS, GroupTables, SECTIONS, TablePlace, Target, Writer,
};
use merganser_gpu::GpuConfig;
use merganser_library::is_ncbi_gene_file;
use merganser_taxonomy::{Dump, Taxonomy, TaxonomySource};
use scan::{Scan, scan};
use target_taxa::{Mapped, ScannedTarget, map_targets};

/// Memory for targets and taxa.
const TARGET_BYTES: u64 = 64 << 20;
/// Memory of a thread: chunks with their text, open blocks, and one more group of tables.
const THREAD_BYTES: u64 = 54 << 20;

/// Returns the memory budget of a build.
fn budget(context: &Context) -> Budget {
    Budget::of_run(context, THREAD_BYTES).with_files(1).with(TARGET_BYTES)
}

impl BuildConfig {
    /// [Checks](Self::validate) the ranges, and that a build with these resources has enough memory.
    ///
    /// # Errors
    /// [`Error::Config`] names the value that is out of range; [`Error::Memory`] if the memory does not suffice.
    pub fn validate_for(&self, context: &Context) -> Result<(), Error> {
        self.validate()?;
        context.validate()?;
        let what = format_args!("building with {} threads needs", context.threads);
        budget(context).check(what, Shortage::FEWER_THREADS)?;
        Ok(())
    }
}

/// Genomes to add to a database.
#[derive(Clone, Copy, Debug)]
pub struct Additions<'a> {
    /// The genomes.
    pub inputs: &'a [Input],
    /// Their taxonomy; `None` to use the database's own tree.
    pub taxonomy: Option<&'a TaxonomySource>,
}

/// Builds a database of genomes and writes it to the file `output`. The returned database is mapped from it. `taxonomy` is the folder of NCBI's taxdump, or GTDB's tables.
///
/// # Errors
/// If `config` or `context` is out of range, the memory does not suffice (also for the number of targets), or a
/// GPU cannot be used; if reading or writing fails; if nothing can be indexed; if no sequence has a taxon or, with
/// `strict`, one has none.
pub fn build(
    config: &BuildConfig,
    genomes: impl IntoIterator<Item = impl Into<Input>>,
    taxonomy: impl Into<TaxonomySource>,
    output: impl AsRef<Path>,
    context: &Context,
) -> Result<(Database, BuildOutcome), Error> {
    let genomes: Vec<Input> = genomes.into_iter().map(Into::into).collect();
    let outputs = OutputSet::new();
    let built = build_with(config, &genomes, taxonomy, outputs.file(output.as_ref())?, context)?;
    outputs.commit()?;
    Ok(built)
}

/// Builds a database like [`build`] in a file that appears together with its set of outputs.
///
/// # Errors
/// Fails as [`build`] does.
pub fn build_with(
    config: &BuildConfig,
    inputs: &[Input],
    taxonomy: impl Into<TaxonomySource>,
    output: AtomicFile,
    context: &Context,
) -> Result<(Database, BuildOutcome), Error> {
    output.refuse_direct()?;
    let setup = Setup::new(config, context, inputs)?;
    Job::prepare(setup, inputs, Some(&taxonomy.into()), None)?.write(output)
}

/// Builds a database in memory.
///
/// # Errors
/// Fails as [`build`] does.
pub fn build_in_memory(
    config: &BuildConfig,
    genomes: impl IntoIterator<Item = impl Into<Input>>,
    taxonomy: impl Into<TaxonomySource>,
    context: &Context,
) -> Result<(Database, BuildOutcome), Error> {
    let inputs: &[Input] = &genomes.into_iter().map(Into::into).collect::<Vec<_>>();
    let setup = Setup::new(config, context, inputs)?;
    Job::prepare(setup, inputs, Some(&taxonomy.into()), None)?.keep()
}

/// Writes to `output` the database that a single build of the targets of `base`, followed by those of `additions`,
/// would give. The parameters of `config` must be those of `base`.
///
/// # Errors
/// Fails as [`build`] does; if a sequence has no taxon, unless [`allow_unmapped`](BuildConfig::allow_unmapped) is set;
/// if features of `base` were dropped, as it does not record which; if its parameters differ; if it is several databases.
pub fn add(
    config: &BuildConfig,
    base: &Database,
    additions: Additions<'_>,
    output: impl AsRef<Path>,
    context: &Context,
) -> Result<(Database, BuildOutcome), Error> {
    let outputs = OutputSet::new();
    let built = add_with(config, base, additions, outputs.file(output.as_ref())?, context)?;
    outputs.commit()?;
    Ok(built)
}

/// Adds to a database like [`add`], in a file that appears together with its set of outputs.
///
/// # Errors
/// Fails as [`add`] does.
pub fn add_with(
    config: &BuildConfig,
    base: &Database,
    additions: Additions<'_>,
    output: AtomicFile,
    context: &Context,
) -> Result<(Database, BuildOutcome), Error> {
    let cancel = &context.cancel;
    if base.is_joint() {
        return Err(Error::Config(ConfigError::new("genomes are added to a single database")));
    }
    if base.is_pruned() {
        return Err(Error::Input(format!(
            "{}: was built with features left out, and cannot be added to: build it again with all \
             genomes",
            base.name()
        )));
    }
    if config.params() != *base.params() {
        return Err(Error::Config(ConfigError::new(
            "`params` differ from those of the database: all of its genomes must have the same",
        )));
    }
    output.refuse_direct()?;
    let Additions { inputs, taxonomy } = additions;
    let setup = Setup::new(config, context, inputs)?;
    base.check(context.threads, cancel)?;
    Job::prepare(setup, inputs, taxonomy, Some(base))?.write(output)
}

/// Determines how [`build`] would build a database of `inputs`: on which devices, and with how much memory. The taxonomy is
/// read, the genomes are not.
///
/// # Errors
/// The errors that a build would report before it reads genomes.
pub fn plan_build(
    config: &BuildConfig,
    inputs: &[Input],
    taxonomy: impl Into<TaxonomySource>,
    context: &Context,
) -> Result<JobPlan, Error> {
    let setup = Setup::new(config, context, inputs)?;
    let fixed = setup.fixed_memory();
    let dump = Dump::read_within(&taxonomy.into(), setup.memory, fixed)?;
    dump.refuse_renamed()?;
    Ok(JobPlan::on(setup.gpus.devices).with_memory(fixed + dump.bytes()))
}

/// The configuration of a build and its resources.
struct Setup<'a> {
    config: &'a BuildConfig,
    context: &'a Context,
    /// Bytes of memory that the whole process may use.
    memory: u64,
    gpus: GpuConfig,
    progress: &'a dyn Progress,
    cancel: &'a Cancel,
}

impl<'a> Setup<'a> {
    /// Checks the configuration, and chooses the GPUs for building from `inputs`.
    fn new(
        config: &'a BuildConfig,
        context: &'a Context,
        inputs: &[Input],
    ) -> Result<Setup<'a>, Error> {
        let (progress, cancel) = (&*context.progress, &context.cancel);
        config.validate_for(context)?;
        merganser_library::check_maps(&config.taxids.map)?;
        let (work, bytes) = (Work::Build, merganser_io::text_bytes(inputs));
        let gpus = context.choose_gpus(work, bytes, merganser_gpu::usable)?;
        let (memory, gpus) = (context.budget(), GpuConfig::new(context, gpus));
        Ok(Setup { config, context, memory, gpus, progress, cancel })
    }

    /// Returns the bytes that the process and its threads need for any build.
    fn fixed_memory(&self) -> u64 {
        budget(self.context).needed()
    }
}

/// Finished tables that were not written to a file.
enum Kept {
    There(Resident),
    Here(Vec<GroupTables>),
}

/// A build after the references have been scanned.
struct Job<'a> {
    setup: Setup<'a>,
    base: Option<&'a Database>,
    scan: Scan,
    targets: Vec<Target>,
    taxonomy: Taxonomy,
    part_starts: Vec<u32>,
    outcome: BuildOutcome,
}

impl<'a> Job<'a> {
    fn prepare(
        setup: Setup<'a>,
        inputs: &[Input],
        taxonomy: Option<&TaxonomySource>,
        base: Option<&'a Database>,
    ) -> Result<Job<'a>, Error> {
        let config = setup.config;
        let started = Instant::now();
        let read = |source| Dump::read_within(source, setup.memory, setup.fixed_memory());
        let dump = taxonomy.map(read).transpose()?;
        if let Some(dump) = &dump {
            dump.refuse_renamed()?;
            dump.warn_of_names(&setup.context.warnings);
        }
        let read_taxonomy = started.elapsed();
        let first_window = base.map_or(0, |base| base.windows().into());
        // Pruning by taxa, and merging with existing entries, is done on the host.
        let keep = config.sketches.drop_ambiguous.is_none() && base.is_none();
        // The taxonomy stays in memory until taxids are looked up.
        let memory = setup.memory - dump.as_ref().map_or(0, Dump::bytes);
        let mut scan = scan(&setup, memory, inputs, first_window, keep)?;
        let scanned = started.elapsed();
        let mut outcome = BuildOutcome {
            records: scan.files.iter().map(|file| file.len() as u64).sum(),
            skipped_alignments: scan.skipped_alignments,
            devices: scan.devices.clone(),
            bases: scan.bases,
            ..BuildOutcome::default()
        };
        if let Some(dump) = &dump {
            outcome.orphans.clone_from(&dump.notes.orphans);
        }
        refuse_without_kmers(config, inputs, scan.files.iter().flatten(), base)?;
        let progress = setup.progress;
        let Mapped { targets, taxonomy, kept } =
            map_targets(config, inputs, &scan.files, dump, base, &mut outcome, progress)?;
        let kept_targets = || {
            let all = scan.files.iter().flatten().zip(&kept);
            all.filter(|(_, kept)| **kept).map(|(target, _)| target)
        };
        refuse_without_kmers(config, inputs, kept_targets(), base)?;
        let has_kmer = |file: &[ScannedTarget]| file.iter().any(|target| target.has_kmer);
        warn_of_empty(config, inputs, &scan.files, &setup.context.warnings);
        let files = scan.files.iter().filter(|file| has_kmer(file));
        let mut without = files.flatten().filter(|target| !target.has_kmer);
        let first = without.next().map(|target| target.name.clone());
        outcome.without_kmer = (u64::from(first.is_some()) + without.count() as u64, first);
        let gone = left_out(config, first_window, scan.files.iter().flatten().zip(&kept));
        scan.entries.numbering.leave_out(&gone);
        outcome.warn(&setup.context.warnings);
        warn_of_genes(inputs, &setup.context.warnings);
        outcome.stages.add("taxonomy", read_taxonomy);
        outcome.stages.add("scan", scanned - read_taxonomy);
        outcome.stages.add("taxids", started.elapsed() - scanned);
        let part_starts = part_starts(config, &targets);
        Ok(Job { setup, base, scan, targets, taxonomy, part_starts, outcome })
    }

    fn parts(&self) -> usize {
        self.part_starts.len() + 1
    }

    fn write(mut self, output: AtomicFile) -> Result<(Database, BuildOutcome), Error> {
        let writer = Writer::new(output, self.parts());
        let counts = match self.scan.sketches.take() {
            Some(sketches) => self.write_from_device(&sketches, &writer)?,
            None => self.write_tables(&writer)?,
        };
        self.check(&counts)?;
        let writing = Instant::now();
        // The data copied from the base is valid only if its file has not changed meanwhile.
        self.base
            .map_or(Ok(()), |base| base.check(self.setup.context.threads, self.setup.cancel))?;
        let (content, mut outcome) = self.content(counts);
        let database = writer.finish(&content, Database::of_file)?;
        outcome.stages.since("finish", writing);
        outcome.peak_memory = peak_rss();
        Ok((database, outcome))
    }

    fn write_tables(&mut self, writer: &Writer) -> Result<Counts, Error> {
        let started = Instant::now();
        let check = |tables: Vec<GroupTables>| -> Vec<(GroupTables, u32)> {
            let checksum = |table: &GroupTables| crc32fast::hash(bytemuck::cast_slice(&table.data));
            tables.into_iter().map(|table| (checksum(&table), table)).map(|(c, t)| (t, c)).collect()
        };
        let mut place = |tables: Vec<(GroupTables, u32)>| -> Vec<(TablePlace, GroupTables)> {
            let place = |(part, (table, checksum)): (usize, (GroupTables, u32))| {
                let place = writer.place(part, table.data.len() as u64, &table.sections);
                writer.check(place, checksum);
                (place, table)
            };
            tables.into_iter().enumerate().map(place).collect()
        };
        let write = |tables: Vec<(TablePlace, GroupTables)>| {
            let write = |(place, table): &(TablePlace, GroupTables)| {
                writer.write(*place, 0, bytemuck::cast_slice(&table.data))
            };
            tables.iter().try_for_each(write)
        };
        let counts = self.maker().make(&check, &mut place, &write)?;
        self.outcome.stages.since("tables", started);
        Ok(counts)
    }

    /// Makes the tables on the device that holds the sketches, and writes them.
    fn write_from_device(
        &mut self,
        sketches: &Collector,
        writer: &Writer,
    ) -> Result<Counts, Error> {
        let mut counts = Counts::default();
        let (mut making, mut writing) = (Duration::ZERO, Duration::ZERO);
        let mut runs = 0;
        let started = Instant::now();
        self.setup.progress.stage("tables", Unit::Steps, Some(GROUPS as u64));
        let mut layout = self.layout(sketches)?;
        let mut first = 0;
        while first < SECTIONS {
            self.setup.cancel.check()?;
            let (made, end) = layout.make(first)?;
            counts.add(made.counts);
            runs += 1;
            let made_at = started.elapsed();
            made.write(sketches, writer, self.setup.context.threads, self.setup.cancel)?;
            self.setup.progress.advance(((end - first) / GROUP) as u64);
            first = end;
            let now = started.elapsed();
            (making, writing) = (making + (made_at - making - writing), now - made_at + writing);
        }
        self.setup.progress.finish();
        drop(layout);
        self.outcome.device_runs = runs;
        self.outcome.stages.add("layout", making);
        self.outcome.stages.add("write", writing);
        Ok(counts)
    }

    fn layout<'s>(&'s self, sketches: &'s Collector) -> Result<DeviceLayout<'s>, Error> {
        let rules = Rules {
            most: self.setup.config.params().max_locations,
            drop_overfull: self.setup.config.sketches.drop_overfull,
            part_starts: &self.part_starts,
        };
        let batches = sketches.take_batches()?;
        DeviceLayout::new(sketches, batches, rules, &self.scan.entries.numbering)
    }

    fn keep(mut self) -> Result<(Database, BuildOutcome), Error> {
        let started = Instant::now();
        if let Some(sketches) = self.scan.sketches.take() {
            let (tables, counts, runs) = self.keep_on_device(&sketches)?;
            self.check(&counts)?;
            self.outcome.device_runs = runs;
            drop(sketches);
            self.outcome.stages.since("layout", started);
            let (content, outcome) = self.content(counts);
            let database = match tables {
                Kept::There(tables) => Database::remote(content, Box::new(tables)),
                Kept::Here(tables) => Database::in_memory(content, tables),
            };
            return Ok((database, outcome));
        }
        let mut all = Vec::new();
        let counts =
            self.maker().make(&|tables| tables, &mut |tables| all.extend(tables), &|()| Ok(()))?;
        self.check(&counts)?;
        self.outcome.stages.since("tables", started);
        let (content, outcome) = self.content(counts);
        Ok((Database::in_memory(content, all), outcome))
    }

    /// Makes the tables on the device that holds the sketches. They stay there if it has room for all at once.
    fn keep_on_device(&self, sketches: &Collector) -> Result<(Kept, Counts, usize), Error> {
        let mut layout = self.layout(sketches)?;
        let (made, mut end) = layout.make(0)?;
        let (mut counts, mut runs) = (made.counts, 1);
        if end == SECTIONS {
            drop(layout);
            return Ok((Kept::There(Resident::new(made)?), counts, runs));
        }
        let mut all = made.download()?;
        while end < SECTIONS {
            let (made, next) = layout.make(end)?;
            counts.add(made.counts);
            runs += 1;
            all.extend(made.download()?);
            end = next;
        }
        Ok((Kept::Here(all), counts, runs))
    }

    /// Checks that the tables have features that reads can hit.
    fn check(&self, counts: &Counts) -> Result<(), Error> {
        if counts.features > 0 {
            return Ok(());
        }
        let why = match counts.dropped {
            0 => format!(
                "a density of {} keeps none: raise `density`",
                self.setup.config.params().density
            ),
            _ => "all were left out (`drop_overfull`, `drop_ambiguous`)".to_owned(),
        };
        Err(Error::Input(format!(
            "nothing to build: of the k-mers of {} sequences, {why}",
            self.targets.len()
        )))
    }

    fn content(self, counts: Counts) -> (Content, BuildOutcome) {
        let parts = self.parts();
        let Job { setup, targets, taxonomy, mut outcome, scan, .. } = self;
        outcome.spilled_bytes = scan.entries.spilled_bytes();
        outcome.peak_memory = peak_rss();
        let pruned =
            setup.config.sketches.drop_overfull || setup.config.sketches.drop_ambiguous.is_some();
        let params = setup.config.params();
        let before = self.base.map_or(0, Database::left_out);
        let left_out = before + outcome.unmapped.len() as u64;
        (Content { params, targets, taxonomy, parts, counts, pruned, left_out }, outcome)
    }

    /// Returns the maker of the tables on the CPU.
    fn maker(&self) -> TableMaker<'_> {
        TableMaker {
            config: self.setup.config,
            threads: self.setup.context.threads,
            // The threads have finished reading.
            memory: Budget::new(self.setup.memory)
                .with_files(2)
                .with(TARGET_BYTES + self.scan.target_bytes)
                .left(),
            base: self.base,
            entries: &self.scan.entries,
            targets: &self.targets,
            taxonomy: &self.taxonomy,
            part_starts: &self.part_starts,
            progress: self.setup.progress,
            cancel: self.setup.cancel,
        }
    }
}

/// Checks that a new database has a sequence with a k-mer.
fn refuse_without_kmers<'t>(
    config: &BuildConfig,
    inputs: &[Input],
    targets: impl Iterator<Item = &'t ScannedTarget> + Clone,
    base: Option<&Database>,
) -> Result<(), Error> {
    if base.is_some() || targets.clone().any(|target| target.has_kmer) {
        return Ok(());
    }
    let (k, why) = (config.params().k, why_without_kmers(config, targets));
    Err(Error::Input(format!(
        "nothing to build: no sequence in the {} input files has {k} bases in a row{why}",
        inputs.len(),
    )))
}

/// Returns the apparent cause, as the end of a message.
fn why_without_kmers<'t>(
    config: &BuildConfig,
    targets: impl Iterator<Item = &'t ScannedTarget>,
) -> String {
    match targets.map(|target| target.bases).max() {
        None => ": there are no sequences".to_owned(),
        Some(most) if most < u64::from(config.params().k) => {
            format!(": the longest has {most} letters")
        }
        Some(_) => ": protein letters and N do not count as bases".to_owned(),
    }
}

/// Warns of files without a k-mer if other files have some.
fn warn_of_empty(
    config: &BuildConfig,
    inputs: &[Input],
    files: &[Vec<ScannedTarget>],
    warnings: &Warnings,
) {
    let files = inputs.iter().zip(files);
    let mut without = files.filter(|(_, file)| !file.iter().any(|target| target.has_kmer));
    if let Some((input, file)) = without.next() {
        warnings.push(format!(
            "{} of {} input files have no sequence with {} bases in a row, first {input}{}",
            1 + without.count(),
            inputs.len(),
            config.params().k,
            why_without_kmers(config, file.iter())
        ));
    }
}

/// Returns the windows of sequences that are not kept; windows are numbered from `first` on.
fn left_out<'t>(
    config: &BuildConfig,
    first: u64,
    targets: impl Iterator<Item = (&'t ScannedTarget, &'t bool)>,
) -> Vec<Range<u32>> {
    let mut gone: Vec<Range<u32>> = Vec::new();
    let (mut next, params) = (first as u32, config.params());
    for (target, kept) in targets {
        let windows = next..next + params.windows(target.bases) as u32;
        next = windows.end;
        match gone.last_mut() {
            _ if *kept || windows.is_empty() => {}
            Some(last) if last.end == windows.start => last.end = windows.end,
            _ => gone.push(windows),
        }
    }
    gone
}

/// Warns of given files whose names say that they hold the genes of a genome.
fn warn_of_genes(inputs: &[Input], warnings: &Warnings) {
    let mut genes = inputs.iter().filter_map(Input::path).filter(|path| is_ncbi_gene_file(path));
    if let Some(first) = genes.next() {
        warnings.push(format!(
            "{} files have the genes of a genome, not the genome, according to their names, first {}: leave \
             them out if the genome is given, too",
            1 + genes.count(),
            first.display()
        ));
    }
}

/// Returns the first window of each part except the first. Parts consist of whole targets and have about the same
/// number of windows.
fn part_starts(config: &BuildConfig, targets: &[Target]) -> Vec<u32> {
    let windows: u64 = targets.iter().map(|target| u64::from(target.windows)).sum();
    let params = &config.params();
    // A location takes at most one slot of 8 bytes and a quarter.
    let kept = f64::from(params.stride) * f64::from(params.density) / 256.0;
    let table_bytes = (windows as f64 * kept.min(params.sketch.into()) * 10.0) as u64;
    let by_size = config.parts.max_part_size.map_or(1, |most| table_bytes.div_ceil(most.max(1)));
    let parts = by_size.clamp(config.parts.parts as u64, MAX_PARTS as u64);
    let mut starts = Vec::new();
    let (mut next, mut part) = (0u64, 1);
    for target in targets {
        if part < parts && next > 0 && next * parts >= windows * part {
            starts.push(next as u32);
            part += 1;
        }
        next += u64::from(target.windows);
    }
    starts
}
