//! Evaluation by ranges of k-mers, each on its own machine: one result file for each range, and the combination
//! of the files of all ranges. The layout is in `docs/reference/formats.md`.

mod file;

use std::path::{Path, PathBuf};
use std::time::Instant;

use merganser_io::{OutputSet, check_stored_name};
use merganser_kmers::algebra::{Expression, concat};
use merganser_kmers::reads::Mark;
use merganser_kmers::tables::AnyTable;
use merganser_kmers::{Header, JobHash};
use merganser_run::{Cancel, ConfigError, Context, Shard, Stages, give_back_freed_memory};
use merganser_store::shard::{JobShard, Words, check_all};

use crate::family::Family;
use crate::hapmers::{self, Trio};
use crate::run::{haplotypes, solid_in_child};
use crate::stages::{Room, RunContext, own_table};
use crate::{Assembly, Config, Error, Only, Outcome, Reads, Spectra, Subject, Tracks};
use file::{RangeFile, RangeHeader};

/// The results of one range.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RangeOutcome {
    /// The length of k-mers.
    pub k: usize,
    /// The k-mers of the range that are in no read, of each assembly.
    pub only: Vec<Only>,
    /// The wall time of each stage.
    pub stages: Stages,
    /// The largest resident size so far, in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
}

/// Compares assemblies with the table of the reads as [`run()`](crate::run()) does, restricted to a range of
/// the k-mers, and writes the result to `path`, for [`Ranges`]. The borders of the range depend only on the
/// tables of the reads, which are named `reads` in results, and of the assemblies. The file appears when
/// `outputs` is committed.
///
/// The progress stages are those of counting and of computations with tables.
///
/// # Errors
/// If the reads of the sample or of a parent are not an `.mgk` table; otherwise as [`run()`](crate::run()).
#[allow(clippy::too_many_arguments, reason = "what is judged, where to, and what every run has")]
pub fn run_range(
    config: &Config,
    subject: Subject,
    range: Shard,
    reads: &str,
    path: &Path,
    outputs: &OutputSet,
    context: &Context,
) -> Result<RangeOutcome, Error> {
    let (progress, cancel) = (&*context.progress, &context.cancel);
    config.validate(&subject)?;
    let refuse = |what: &str| Err(Error::Config(ConfigError::new(what)));
    let compressed = config.hpc || subject.is_homopolymer_compressed();
    let reads_of = subject.reads;
    let parents = subject.parents;
    if parents.iter().flatten().any(|parent| !parent.reads.inputs().is_empty()) {
        return refuse(
            "`range`: the parents' reads must be tables: count them once, with a minimum of 1",
        );
    }
    let (Some(k), []) = (reads_of.k(), &reads_of.inputs()[..]) else {
        return refuse("`range`: the reads must be a table: count them once, with a minimum of 1");
    };
    // A file with such a name could not be opened again.
    let names = subject.assemblies.iter().map(|assembly| assembly.name.as_str()).chain([reads]);
    let of_parents = parents.iter().flatten().map(|parent| parent.name.as_str());
    let mut names = names.chain(of_parents).collect::<Vec<_>>().into_iter();
    if let Some(what) = names.find_map(|name| check_stored_name(name.as_ref()).err()) {
        return refuse(&what);
    }
    let room = Room::new(context)?;
    let hybrid = config.hybrid || reads_of.is_hybrid();
    let run = room.run(compressed, progress, cancel);
    let mut stages = Stages::default();

    let begun = Instant::now();
    // The union of tables is made for all ranges: its k-mers decide the borders.
    let mut tables = vec![match reads_of {
        Reads::Table(table) => *table,
        reads => run.table(k, reads, "reads")?.0,
    }];
    let (mut parent_names, mut family) = (Vec::new(), Vec::new());
    for parent in parents.into_iter().flatten() {
        parent_names.push(parent.name);
        family.push(run.table(k, parent.reads, &format!("parent-{}", family.len()))?.0);
    }
    stages.since("count reads", begun);

    let begun = Instant::now();
    let held = run.resident(&family);
    run.count_assemblies(&subject.assemblies, held, &mut tables)?;
    stages.since("count assemblies", begun);
    give_back_freed_memory();

    let begun = Instant::now();
    let spectra = run.spectra(&tables, Some(range))?;
    let mut paths: Vec<PathBuf> = (0..subject.assemblies.len())
        .map(|number| run.only(&tables, number, Some(range)))
        .collect::<Result<_, _>>()?;
    stages.since("compare", begun);

    let begun = Instant::now();
    let of = job(tables.iter().chain(&family), range, &subject.assemblies, &parent_names);
    let of = JobShard { shard: range, job: of };
    let parents = match <[String; 2]>::try_from(parent_names) {
        Err(_) => None,
        Ok(names) => {
            family.insert(0, tables[0].reopen(run.beside)?);
            let numbers = hapmers::family(&run, &family, Some(range))?;
            paths.extend(hapmers::candidates(&run, &family, &tables[1..], range)?);
            Some((names, numbers))
        }
    };
    stages.since("haplotypes", begun);

    let begun = Instant::now();
    let names = subject.assemblies.iter().map(|assembly| assembly.name.clone()).collect();
    let header = RangeHeader { of, k, compressed, hybrid, reads: reads.to_owned(), names };
    file::write(&header, &spectra, parents.as_ref(), &paths, path, outputs)?;
    stages.since("write", begun);
    let only = spectra.assemblies.iter().map(|of| of.only).collect();
    Ok(RangeOutcome { k, only, stages, peak_memory: merganser_run::peak_rss() })
}

/// Returns a hash of everything that the ranges depend on.
fn job<'t>(
    tables: impl Iterator<Item = &'t AnyTable>,
    range: Shard,
    assemblies: &[Assembly],
    parents: &[String],
) -> u64 {
    let hash = JobHash::new().with(&range.of().to_le_bytes());
    let names = assemblies.iter().map(|assembly| &assembly.name).chain(parents);
    let hash = names.map(|name| name.as_bytes()).fold(hash, JobHash::with);
    let headers = tables.filter_map(|table| table.description().header.as_ref());
    headers.fold(hash, |hash, header| hash.with_header(header)).finish()
}

/// The files of all ranges of one evaluation.
#[derive(Debug)]
pub struct Ranges {
    /// The files, in the order of their ranges.
    files: Vec<RangeFile>,
}

impl Ranges {
    /// Opens the files that [`run_range`] wrote, in any order, and checks their content.
    ///
    /// # Errors
    /// If a file cannot be read, is damaged, truncated or not a range; if two files belong to different
    /// evaluations or are the same range; if a range is missing.
    pub fn open(paths: &[PathBuf], cancel: &Cancel) -> Result<Ranges, Error> {
        let open = |path: &PathBuf| RangeFile::open(path, cancel);
        let mut files = paths.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        if files.is_empty() {
            return Err(Error::Config(ConfigError::new("`ranges`: no file is given")));
        }
        check(&files)?;
        files.sort_by_key(|file| file.header.of.shard.number());
        Ok(Ranges { files })
    }

    fn header(&self) -> &RangeHeader {
        &self.files[0].header
    }

    /// Returns the name of the reads.
    pub fn reads(&self) -> &str {
        &self.header().reads
    }

    /// Whether low counts of the reads may be missing.
    pub fn is_hybrid(&self) -> bool {
        self.header().hybrid
    }

    /// Whether homopolymers of the reads and the assemblies were compressed.
    pub fn is_homopolymer_compressed(&self) -> bool {
        self.header().compressed
    }

    /// Returns the names of the parents, if they are known.
    pub fn parents(&self) -> Option<[String; 2]> {
        self.files[0].parents.as_ref().map(|(names, _)| names.clone())
    }

    /// Combines the ranges and goes through the assemblies, which must be those that the ranges were made from.
    /// The results, including those passed to `tracks`, are those of one run of [`run()`](crate::run()). Only
    /// `solid`, `hybrid` and `blocks` of the configuration are used.
    ///
    /// The progress stages are those of computations with tables and of look-ups.
    ///
    /// # Errors
    /// If the ranges were made from other assemblies; otherwise as [`run()`](crate::run()).
    pub fn run_with(
        self,
        config: &Config,
        assemblies: &[Assembly],
        tracks: &mut dyn Tracks,
        context: &Context,
    ) -> Result<Outcome, Error> {
        let (progress, cancel) = (&*context.progress, &context.cancel);
        self.check_names(assemblies)?;
        let room = Room::new(context)?;
        let RangeHeader { k, compressed, hybrid, .. } = *self.header();
        let config = &Config { hybrid: config.hybrid || hybrid, ..config.clone() };
        let run = room.run(compressed, progress, cancel);
        let mut stages = Stages::default();

        let begun = Instant::now();
        let mut spectra = Spectra::new(assemblies.len());
        self.files.iter().for_each(|file| spectra.merge(&file.spectra));
        crate::doubts::refuse_no_reads(&spectra, self.reads(), k)?;
        stages.since("put together", begun);

        let begun = Instant::now();
        for (number, assembly) in assemblies.iter().enumerate() {
            let only = self.table(&run, number)?;
            give_back_freed_memory();
            let mut met = Met::default();
            run.walk(only, &assembly.input, &mut |k, mark| {
                met.add(&mark);
                tracks.mark(number, k, mark)
            })?;
            let of = &spectra.assemblies[number];
            if (met.kmers, met.only) != (of.kmers, of.only.instances) {
                return Err(self.files[0].error(format!(
                    "it or another range was made from another assembly called {} than {}: give that one",
                    assembly.name, assembly.input
                )));
            }
        }
        stages.since("walk", begun);

        let begun = Instant::now();
        let mut doubts = Vec::new();
        let trio = match self.trio(&run, solid_in_child(config, &spectra), assemblies.len())? {
            None => None,
            Some(found) => {
                let trio = haplotypes(&run, found, assemblies, tracks)?;
                doubts.extend_from_slice(&trio.doubts);
                stages.since("haplotypes", begun);
                Some(trio)
            }
        };
        Ok(Outcome { trio, ..Outcome::of(config, k, spectra, doubts, stages) })
    }

    /// Finds the hap-mers of all ranges, if there are parents.
    fn trio(
        &self,
        run: &RunContext<'_>,
        solid: u32,
        assemblies: usize,
    ) -> Result<Option<(AnyTable, Trio)>, Error> {
        let Some(names) = self.parents() else { return Ok(None) };
        let mut numbers = Family::default();
        let of_files = self.files.iter().flat_map(|file| &file.parents);
        of_files.for_each(|(_, part)| numbers.merge(part));
        // The tables of candidates follow those of the assemblies: child, mother, father, and each assembly.
        let candidates = (assemblies..2 * assemblies + 3).map(|number| self.table(run, number));
        let candidates = candidates.collect::<Result<Vec<_>, _>>()?;
        let (family, assemblies) = candidates.split_at(3);
        Ok(Some(hapmers::find(run, names, &numbers, family, assemblies, solid)?))
    }

    fn check_names(&self, assemblies: &[Assembly]) -> Result<(), Error> {
        let names = &self.header().names;
        if assemblies.iter().map(|assembly| &assembly.name).eq(names) {
            return Ok(());
        }
        Err(self.files[0].error(format!(
            "it was made from {}: give these assemblies in this order",
            names.join(", ")
        )))
    }

    /// Returns a table from all ranges: for each assembly that of its k-mers that are in no read, then those of
    /// [`hapmers::candidates`].
    fn table(&self, run: &RunContext<'_>, number: usize) -> Result<AnyTable, Error> {
        let mut tables = Vec::with_capacity(self.files.len());
        for file in &self.files {
            let path = run.path(&format!("part-{number}-{}", file.header.of.shard.number()))?;
            file.extract(number, &path)?;
            tables.push(open_part(file, number, &path, tables.first(), run.beside)?);
        }
        let path = run.path(&format!("table-{number}"))?;
        // The expression is unused: the tables have recorded theirs.
        let all = own_table(Expression::Table(0), &path);
        concat(&all, &tables, &OutputSet::alone(), run.beside)?;
        run.open(&path)
    }
}

/// Opens a table that was in a range file. It must match the header of the file and the table of another file. Error
/// messages name the range file, since the user does not see the temporary table.
fn open_part(
    file: &RangeFile,
    number: usize,
    path: &Path,
    other: Option<&AnyTable>,
    context: &Context,
) -> Result<AnyTable, Error> {
    let damaged = || {
        let what = match file.header.names.get(number) {
            Some(name) => format!("its table of {name}"),
            None => "a table of its hap-mers".to_owned(),
        };
        file.error(format!("{what} is damaged: copy it again, or make this range again"))
    };
    let opened = AnyTable::open_piece(path, true, context);
    let opened = opened.and_then(|table| table.verify(context).map(|()| table));
    let table = opened.map_err(|error| match error {
        merganser_kmers::Error::Table { .. } => damaged(),
        error => error.into(),
    })?;
    let header = |table: &AnyTable| table.description().header.clone();
    let Some(own) = header(&table) else { return Err(damaged()) };
    let kmers = file.kmers(number).unwrap_or(own.kmers);
    let is_as_told = own.piece.as_ref().is_some_and(|piece| {
        (own.k, own.kmers, piece.shard) == (file.header.k, kmers, file.header.of.shard)
    });
    let common = |of: &Header| {
        let job = of.piece.as_ref().map(|piece| piece.job);
        (job, of.canonical, of.homopolymer_compressed)
    };
    let goes_along = other.and_then(header).is_none_or(|other| common(&other) == common(&own));
    (is_as_told && goes_along).then_some(table).ok_or_else(damaged)
}

/// Checks that the files are all ranges of one evaluation.
fn check(files: &[RangeFile]) -> Result<(), Error> {
    let remedy = "give all ranges of one evaluation";
    let other_job = " was made from other reads or assemblies than";
    let shards = files.iter().map(|file| (&*file.path, file.header.of));
    check_all(shards, Words::Named { name: "range", other_job, remedy })
        .map_err(|(at, what)| files[at].error(what))?;
    let names = |file: &RangeFile| file.parents.as_ref().map(|(names, _)| names.clone());
    match files.iter().find(|file| names(file) != names(&files[0])) {
        Some(file) => {
            Err(file.error(format!("it{other_job} {}: {remedy}", files[0].path.display())))
        }
        None => Ok(()),
    }
}

/// The number of k-mers found along an assembly, in all and in no read.
#[derive(Default)]
struct Met {
    kmers: u64,
    only: u64,
}

impl Met {
    fn add(&mut self, mark: &Mark<'_>) {
        match mark {
            Mark::Begin { .. } => {}
            Mark::Run { kmers, .. } => self.only += kmers,
            Mark::End { kmers, .. } => self.kmers += kmers,
        }
    }
}
