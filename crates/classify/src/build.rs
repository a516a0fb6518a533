//! The run of a build: scan, then tables, made by the CPU or by the device that has the sketches,
//! and written in order.

mod scan;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use merganser_io::{AtomicFile, Input};
use merganser_run::{Cancel, ConfigError, Progress, Shortage, Unit};

use crate::Error;
use crate::cpu::tables::TableMaker;
use crate::cuda::{Collector, DeviceLayout, GpuConfig, Resident, Rules};
use crate::database::{
    Content, Counts, Database, GROUP, GROUPS, GroupTables, SECTIONS, TablePlace, Target, Writer,
};
use crate::params::Params;
use crate::target_taxa::{Mapped, map_targets};
use crate::taxonomy::{Dump, Rank, Taxonomy};
use scan::{Scan, scan};

/// The process itself and what it knows of targets and taxa.
pub(crate) const BASE_BYTES: u64 = 96 << 20;

/// How to build.
#[derive(Clone, Debug)]
pub struct BuildConfig {
    /// The sketching parameters.
    pub params: Params,
    /// Leave out features with more locations than may be kept.
    pub drop_overfull: bool,
    /// Leave out features that belong to more than `.1` taxa of rank `.0`.
    pub drop_ambiguous: Option<(Rank, u32)>,
    /// Parts of the database, by targets; at least 1.
    pub parts: usize,
    /// Bytes that the tables of a part should not exceed; parts are added until about that holds.
    pub max_part_bytes: Option<u64>,
    /// Files that map sequence ids or assemblies to taxids, the first one first.
    pub maps: Vec<PathBuf>,
    /// Fail if a target has no taxon or an id occurs twice.
    pub strict: bool,
    /// Threads in all.
    pub threads: usize,
    /// Bytes of memory.
    pub memory: u64,
    /// For what does not fit.
    pub tmp_dir: PathBuf,
    /// Devices that sketch; without any, the CPU does.
    pub gpus: GpuConfig,
}

impl BuildConfig {
    /// The defaults for these sketching parameters.
    pub fn new(params: Params) -> BuildConfig {
        BuildConfig {
            params,
            drop_overfull: false,
            drop_ambiguous: None,
            parts: 1,
            max_part_bytes: None,
            maps: Vec::new(),
            strict: false,
            threads: merganser_run::resolve_threads(None),
            memory: merganser_run::default_budget(),
            tmp_dir: std::env::temp_dir(),
            gpus: GpuConfig::default(),
        }
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// What is out of its range.
    pub fn validate(&self) -> Result<(), Error> {
        self.params.validate()?;
        if !(1..=256).contains(&self.parts) {
            return Err(Error::Config(ConfigError::new(format!(
                "{} parts: give 1 to 256",
                self.parts
            ))));
        }
        let needed = self.fixed_memory();
        if self.memory < needed {
            return Err(Shortage {
                what: format!("building with {} threads needs", self.threads),
                needed,
                budget: self.memory,
                remedy: Shortage::FEWER_THREADS,
            }
            .into());
        }
        Ok(())
    }

    /// Chunks with their text, blocks that are open and one more group of tables for each thread.
    fn fixed_memory(&self) -> u64 {
        BASE_BYTES + self.threads as u64 * (56 << 20)
    }

    /// What is left for entries; the tables of groups that are being made need some as well.
    pub(crate) fn entry_memory(&self) -> u64 {
        (self.memory - self.fixed_memory().min(self.memory)) / 10 * 9
    }
}

/// What a build found.
#[derive(Clone, Debug, Default)]
pub struct BuildNotes {
    /// Targets without a taxon and why, in order: (name, reason).
    pub unmapped: Vec<(String, String)>,
    /// How many targets have an id that an earlier one has; the first such id.
    pub duplicates: (u64, Option<String>),
    /// How many targets have no k-mer, being too short or of N alone; the first such id.
    pub without_kmer: (u64, Option<String>),
    /// Bases read.
    pub bases: u64,
    /// Orphan taxids of the dump.
    pub orphans: Vec<u32>,
    /// Bytes that were written to temporary files.
    pub spilled_bytes: u64,
    /// Ranges of features whose tables a device made, one after the other; 0: the host made all.
    pub device_runs: usize,
    /// How long each stage took.
    pub stages: Vec<(&'static str, Duration)>,
}

/// Builds a database and writes it to `output`, which appears as its set does; the database that is
/// given back is mapped from it already.
///
/// # Errors
/// As reading and writing; if nothing can be indexed; with `strict`, if a target has no taxon.
pub fn build(
    config: &BuildConfig,
    inputs: &[Input],
    taxonomy: &Path,
    output: AtomicFile,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<(Database, BuildNotes), Error> {
    let job = Job::prepare(config, inputs, Some(taxonomy), None, progress, cancel)?;
    job.write(output)
}

/// Builds a database in memory.
///
/// # Errors
/// As [`build`].
pub fn build_in_memory(
    config: &BuildConfig,
    inputs: &[Input],
    taxonomy: &Path,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<(Database, BuildNotes), Error> {
    let job = Job::prepare(config, inputs, Some(taxonomy), None, progress, cancel)?;
    job.keep()
}

/// Writes to `output` the database that one build of the targets of `base` and then `inputs`
/// would give. Parameters are those of `base`; without `taxonomy`, its own tree has to do.
///
/// # Errors
/// As [`build`]; if `base` left out features, as nobody knows which.
pub fn add(
    config: &BuildConfig,
    base: &Database,
    inputs: &[Input],
    taxonomy: Option<&Path>,
    output: AtomicFile,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<(Database, BuildNotes), Error> {
    if base.is_pruned() {
        return Err(Error::Config(ConfigError::new(
            "the database was built with features left out, and cannot be added to: build it \
             again with all genomes",
        )));
    }
    base.check(config.threads, cancel)?;
    let job = Job::prepare(config, inputs, taxonomy, Some(base), progress, cancel)?;
    job.write(output)
}

/// Where tables are that were not written.
enum Kept {
    There(Resident),
    Here(Vec<GroupTables>),
}

/// A build whose reference has been read.
struct Job<'a> {
    config: &'a BuildConfig,
    base: Option<&'a Database>,
    scan: Scan,
    targets: Vec<Target>,
    taxonomy: Taxonomy,
    part_starts: Vec<u32>,
    notes: BuildNotes,
    progress: &'a dyn Progress,
    cancel: &'a Cancel,
}

impl<'a> Job<'a> {
    fn prepare(
        config: &'a BuildConfig,
        inputs: &[Input],
        taxonomy: Option<&Path>,
        base: Option<&'a Database>,
        progress: &'a dyn Progress,
        cancel: &'a Cancel,
    ) -> Result<Job<'a>, Error> {
        config.validate()?;
        let started = Instant::now();
        let read = |folder| Dump::read_within(folder, config.memory, config.fixed_memory());
        let dump = taxonomy.map(read).transpose()?;
        let read_taxonomy = started.elapsed();
        let first = base.map_or(0, |base| base.windows().into());
        // Taxa of features, and older entries, are the host's.
        let keep = config.drop_ambiguous.is_none() && base.is_none();
        // The taxonomy stays until taxids are looked up.
        let memory = config.memory - dump.as_ref().map_or(0, Dump::bytes);
        let scanning = BuildConfig { memory, ..config.clone() };
        let scan = scan(&scanning, inputs, first, keep, progress, cancel)?;
        let scanned = started.elapsed();
        let mut notes = BuildNotes { bases: scan.bases, ..BuildNotes::default() };
        if let Some(dump) = &dump {
            notes.orphans.clone_from(&dump.notes.orphans);
        }
        let Mapped { targets, taxonomy } =
            map_targets(config, inputs, &scan.files, dump, taxonomy, base, &mut notes)?;
        let scanned_targets = || scan.files.iter().flatten();
        if base.is_none() && scanned_targets().all(|target| !target.has_kmer) {
            return Err(Error::Input(format!(
                "nothing to build: no sequence in the {} input files has {} bases in a row",
                inputs.len(),
                config.params.k
            )));
        }
        let mut without = scanned_targets().filter(|target| !target.has_kmer);
        let first = without.next().map(|target| target.name.clone());
        notes.without_kmer = (u64::from(first.is_some()) + without.count() as u64, first);
        notes.stages.push(("taxonomy", read_taxonomy));
        notes.stages.push(("scan", scanned - read_taxonomy));
        notes.stages.push(("taxids", started.elapsed() - scanned));
        let part_starts = part_starts(config, &targets);
        Ok(Job { config, base, scan, targets, taxonomy, part_starts, notes, progress, cancel })
    }

    fn parts(&self) -> usize {
        self.part_starts.len() + 1
    }

    fn write(mut self, output: AtomicFile) -> Result<(Database, BuildNotes), Error> {
        let writer = Writer::new(output, self.parts());
        let counts = match self.scan.sketches.take() {
            Some(sketches) => self.write_from_device(&sketches, &writer)?,
            None => self.write_tables(&writer)?,
        };
        self.check(&counts)?;
        let writing = Instant::now();
        // What was taken from it is right only if it is still what it was.
        self.base.map_or(Ok(()), |base| base.check(self.config.threads, self.cancel))?;
        let (content, mut notes) = self.content(counts);
        let database = writer.finish(&content)?;
        notes.stages.push(("finish", writing.elapsed()));
        Ok((database, notes))
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
        self.notes.stages.push(("tables", started.elapsed()));
        Ok(counts)
    }

    /// Has the device that has the sketches make the tables, and writes them.
    fn write_from_device(
        &mut self,
        sketches: &Collector,
        writer: &Writer,
    ) -> Result<Counts, Error> {
        let mut counts = Counts::default();
        let (mut making, mut writing) = (Duration::ZERO, Duration::ZERO);
        let mut runs = 0;
        let started = Instant::now();
        self.progress.stage("tables", Unit::Steps, Some(GROUPS as u64));
        let mut layout = self.layout(sketches)?;
        let mut first = 0;
        while first < SECTIONS {
            if self.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let (made, end) = layout.make(first)?;
            counts.add(made.counts);
            runs += 1;
            let made_at = started.elapsed();
            made.write(sketches, writer, self.config.threads, self.cancel)?;
            self.progress.advance(((end - first) / GROUP) as u64);
            first = end;
            let now = started.elapsed();
            (making, writing) = (making + (made_at - making - writing), now - made_at + writing);
        }
        self.progress.finish();
        drop(layout);
        self.notes.device_runs = runs;
        self.notes.stages.push(("layout", making));
        self.notes.stages.push(("write", writing));
        Ok(counts)
    }

    fn layout<'s>(&'s self, sketches: &'s Collector) -> Result<DeviceLayout<'s>, Error> {
        let rules = Rules {
            most: self.config.params.max_locations,
            drop_overfull: self.config.drop_overfull,
            part_starts: &self.part_starts,
        };
        let batches = sketches.take_batches()?;
        DeviceLayout::new(sketches, batches, rules, |at| {
            self.scan.entries.numbering.true_number(at)
        })
    }

    fn keep(mut self) -> Result<(Database, BuildNotes), Error> {
        let started = Instant::now();
        if let Some(sketches) = self.scan.sketches.take() {
            let (tables, counts, runs) = self.keep_on_device(&sketches)?;
            self.check(&counts)?;
            self.notes.device_runs = runs;
            drop(sketches);
            self.notes.stages.push(("layout", started.elapsed()));
            let (content, notes) = self.content(counts);
            let database = match tables {
                Kept::There(tables) => Database::on_device(content, tables),
                Kept::Here(tables) => Database::in_memory(content, tables),
            };
            return Ok((database, notes));
        }
        let mut all = Vec::new();
        let counts =
            self.maker().make(&|tables| tables, &mut |tables| all.extend(tables), &|()| Ok(()))?;
        self.check(&counts)?;
        self.notes.stages.push(("tables", started.elapsed()));
        let (content, notes) = self.content(counts);
        Ok((Database::in_memory(content, all), notes))
    }

    /// Has the device that has the sketches make the tables, which stay there if it has room for
    /// all at once.
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

    /// Sees to it that there is something that reads can hit.
    fn check(&self, counts: &Counts) -> Result<(), Error> {
        if counts.features > 0 {
            return Ok(());
        }
        let why = match counts.dropped {
            0 => format!("a density of {} keeps none: raise `density`", self.config.params.density),
            _ => "all were left out (`drop_overfull`, `drop_ambiguous`)".to_owned(),
        };
        Err(Error::Input(format!(
            "nothing to build: of the k-mers of {} sequences {why}",
            self.targets.len()
        )))
    }

    fn content(self, counts: Counts) -> (Content, BuildNotes) {
        let parts = self.parts();
        let Job { config, targets, taxonomy, mut notes, scan, .. } = self;
        notes.spilled_bytes = scan.entries.spilled_bytes();
        let pruned = config.drop_overfull || config.drop_ambiguous.is_some();
        let params = config.params;
        (Content { params, targets, taxonomy, parts, counts, pruned }, notes)
    }

    /// What the tables are made of, by the CPU.
    fn maker(&self) -> TableMaker<'_> {
        TableMaker {
            config: self.config,
            threads: self.config.threads,
            memory: self.config.memory.saturating_sub(BASE_BYTES),
            base: self.base,
            entries: &self.scan.entries,
            targets: &self.targets,
            taxonomy: &self.taxonomy,
            part_starts: &self.part_starts,
            progress: self.progress,
            cancel: self.cancel,
        }
    }
}

/// The first window of each part but the first: parts of whole targets with about as many windows.
fn part_starts(config: &BuildConfig, targets: &[Target]) -> Vec<u32> {
    let windows: u64 = targets.iter().map(|target| u64::from(target.windows)).sum();
    let params = &config.params;
    // A location costs a slot of 8 bytes and a quarter, at most.
    let kept = f64::from(params.stride) * f64::from(params.density) / 256.0;
    let table_bytes = (windows as f64 * kept.min(params.sketch.into()) * 10.0) as u64;
    let by_size = config.max_part_bytes.map_or(1, |most| table_bytes.div_ceil(most.max(1)));
    let parts = by_size.clamp(config.parts as u64, 256);
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
