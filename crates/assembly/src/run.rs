//! The stages of an evaluation.

use std::path::{Path, PathBuf};
use std::time::Instant;

use merganser_alignments::RecordOptions;
use merganser_io::{
    Header, Input, Keep, OutputSet, ReadInput, RecordBatch, Records, TemporaryFolder,
};
use merganser_kmers::algebra::{
    Calculation, CountLimits, Cut, Expression, Mode, Operation, join, visit,
};
use merganser_kmers::formats::TableFormat;
use merganser_kmers::lookup::{LookupOptions, Use, open_lookup};
use merganser_kmers::reads::{self, Job, Mark, Marked, marks};
use merganser_kmers::tables::AnyTable;
use merganser_run::{
    Budget, Cancel, Context, Progress, Shard, Shortage, Stages, Unit, give_back_freed_memory,
};
use merganser_spectrum::{error_rate, first_valley, least_k, quality, solid_threshold};

use crate::doubts;
use crate::hapmers::{self, Trio};
use crate::{Assembly, Config, Error, Only, Parent, Reads, Spectra, Subject};

/// The results of one assembly, or of two together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AssemblyQuality {
    /// The k-mers that are in no read.
    pub only: Only,
    /// The number of k-mers, each counted as often as it occurs.
    pub kmers: u64,
    /// The rate of wrong bases, 0 to 1.
    pub error_rate: f64,
    /// The error rate as a Phred quality; infinite for a rate of 0.
    pub quality: f64,
    /// The number of distinct k-mers of the genome, according to the reads, that the assembly has.
    pub found: u64,
    /// The number of distinct k-mers of the genome, according to the reads.
    pub solid: u64,
}

impl AssemblyQuality {
    /// Returns the percentage of the genome's k-mers that the assembly has; `None` if the genome has no
    /// k-mers.
    pub fn completeness(&self) -> Option<f64> {
        (self.solid > 0).then(|| 100.0 * self.found as f64 / self.solid as f64)
    }
}

/// The results of an evaluation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The length of k-mers.
    pub k: usize,
    /// The threshold: k-mers with a larger count in the reads belong to the genome.
    pub solid: u32,
    /// The results of each assembly, in their order.
    pub assemblies: Vec<AssemblyQuality>,
    /// The results of two assemblies together; `None` for a single one.
    pub both: Option<AssemblyQuality>,
    /// The spectra: k-mers by their counts.
    pub spectra: Spectra,
    /// The results about the parents, if they are known.
    pub trio: Option<Trio>,
    /// Warnings about the results, one sentence each.
    pub doubts: Vec<String>,
    /// The wall time of each stage.
    pub stages: Stages,
    /// The largest resident size so far, in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
}

/// A receiver of k-mers that are found along assemblies: those in no read, and hap-mers.
pub trait Tracks: Send {
    /// Takes a mark of an assembly, numbered from 0. Its sequences come in the order of the input; `k` is the length of
    /// k-mers.
    ///
    /// # Errors
    /// If an output cannot be written.
    fn mark(&mut self, assembly: usize, k: usize, mark: Mark<'_>) -> Result<(), Error>;

    /// Takes a mark of hap-mers; the count of a run is the number of the parent, 1 or 2.
    ///
    /// # Errors
    /// If an output cannot be written.
    fn hapmer(&mut self, assembly: usize, mark: Mark<'_>) -> Result<(), Error>;
}

/// Evaluates one assembly, or two of one genome, by the k-mers of the reads and, if given, of both parents.
/// Intermediate tables are in the temporary folder of `context`.
///
/// The progress stages are those of counting and of computations with tables.
///
/// # Errors
/// If a setting or a table is unsuitable, an input is missing or invalid, an assembly has no k-mers, memory or
/// disk space is too small, or the run was cancelled.
pub fn run(config: &Config, subject: Subject, context: &Context) -> Result<Outcome, Error> {
    run_with(config, subject, &mut NoTracks, context)
}

/// Ignores all marks.
struct NoTracks;

impl Tracks for NoTracks {
    fn mark(&mut self, _assembly: usize, _k: usize, _mark: Mark<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn hapmer(&mut self, _assembly: usize, _mark: Mark<'_>) -> Result<(), Error> {
        Ok(())
    }
}

/// Evaluates like [`run()`], and passes the positions of k-mers that are in no read and of hap-mers to `tracks`.
///
/// # Errors
/// Fails as [`run()`] does.
pub fn run_with(
    config: &Config,
    subject: Subject,
    tracks: &mut dyn Tracks,
    context: &Context,
) -> Result<Outcome, Error> {
    let (progress, cancel) = (&*context.progress, &context.cancel);
    config.validate(&subject)?;
    let Subject { reads, parents, assemblies } = subject;
    let room = Room::new(context)?;
    let compressed = config.hpc || reads.is_homopolymer_compressed();
    let run = room.run(compressed, progress, cancel);
    let mut stages = Stages::default();

    let begun = Instant::now();
    let mut doubts = Vec::new();
    let k = match &reads {
        Reads::Inputs(_) => config.k.map_or_else(|| run.fitting_k(&assemblies), Ok)?,
        Reads::Table(table) => table.description().k,
    };
    let reads_name = reads.to_string();
    let (table, letters) = run.table(k, reads, "reads")?;
    let mut tables = vec![table];
    doubts.extend(letters.and_then(doubts::of_long_reads));
    let parents = parents.map(|parents| {
        let mut names = ["mother", "father"].into_iter();
        parents.map(|Parent { name, reads }| {
            let file = names.next().unwrap_or_default();
            run.table(k, reads, file).map(|(table, _)| (name, table))
        })
    });
    stages.since("count reads", begun);
    give_back_freed_memory();

    let begun = Instant::now();
    // Open tables hold their indexes in memory.
    let open = parents.iter().flatten().flatten().map(|(_, table)| table);
    let held = open.map(|table| table.resident(context.threads)).sum();
    let letters = run.count_assemblies(&assemblies, held, &mut tables)?;
    stages.since("count assemblies", begun);
    give_back_freed_memory();

    let begun = Instant::now();
    let spectra = run.spectra(&tables, None)?;
    doubts::refuse_no_reads(&spectra, &reads_name, k)?;
    let of_assemblies = assemblies.iter().zip(&spectra.assemblies).zip(letters);
    doubts.extend(of_assemblies.filter_map(|((assembly, of), letters)| {
        doubts::of_reads_as_assembly(assembly, of, letters, k)
    }));
    stages.since("compare", begun);
    give_back_freed_memory();

    let begun = Instant::now();
    for (number, assembly) in assemblies.iter().enumerate() {
        let only = run.only(&tables, number, None)?;
        let only = run.open(&only)?;
        give_back_freed_memory();
        run.walk(only, &assembly.input, &mut |k, mark| tracks.mark(number, k, mark))?;
    }
    stages.since("walk", begun);

    let begun = Instant::now();
    let trio = match parents {
        None => None,
        Some([one, other]) => {
            let ((one, one_table), (other, other_table)) = (one?, other?);
            let (names, parents) = ([one, other], [one_table, other_table]);
            // k-mers that occur once are errors, whatever the valley.
            let valley = config.solid.or_else(|| first_valley(&spectra.rows())).unwrap_or(0).max(1);
            let (hapmers, trio) = hapmers::find(&run, names, parents, &tables, valley)?;
            doubts.extend_from_slice(&trio.doubts);
            for (number, assembly) in assemblies.iter().enumerate() {
                let hapmers = hapmers.reopen(context)?;
                run.walk(hapmers, &assembly.input, &mut |_, mark| tracks.hapmer(number, mark))?;
            }
            stages.since("haplotypes", begun);
            Some(trio)
        }
    };
    Ok(Outcome { trio, ..Outcome::of(config, k, spectra, doubts, stages) })
}

impl Outcome {
    /// Returns the results that follow from the spectra, without those about the parents.
    pub(crate) fn of(
        config: &Config,
        k: usize,
        spectra: Spectra,
        mut doubts: Vec<String>,
        stages: Stages,
    ) -> Outcome {
        let rows = spectra.rows();
        let solid = config.solid.or_else(|| solid_threshold(&rows)).unwrap_or(0);
        doubts.extend(doubts::of_spectra(config, k, &rows, &spectra));
        let judged = |of: &crate::spectra::OfAssembly| {
            let (found, solid) = of.found(solid);
            let error_rate = error_rate(of.only.instances, of.kmers, k).unwrap_or(f64::NAN);
            let quality = quality(error_rate);
            AssemblyQuality { only: of.only, kmers: of.kmers, error_rate, quality, found, solid }
        };
        Outcome {
            k,
            solid,
            assemblies: spectra.assemblies.iter().map(judged).collect(),
            both: (spectra.assemblies.len() == 2).then(|| judged(&spectra.both)),
            spectra,
            trio: None,
            doubts,
            stages,
            peak_memory: merganser_run::peak_rss(),
        }
    }
}

/// The numbers of letters and sequences of some files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Letters {
    letters: u64,
    pub(crate) records: u64,
}

impl Letters {
    /// Returns the mean length of sequences in letters, or 0 without sequences.
    pub(crate) fn mean(self) -> u64 {
        self.letters.checked_div(self.records).unwrap_or(0)
    }
}

/// The resources of a run: a temporary folder, and the memory that is left for computations.
pub(crate) struct Room<'r> {
    context: &'r Context,
    beside: Context,
    folder: TemporaryFolder,
}

impl<'r> Room<'r> {
    pub(crate) fn new(context: &'r Context) -> Result<Room<'r>, Error> {
        context.validate()?;
        let folder = TemporaryFolder::create(&context.temp_dir)?;
        let beside = context.clone().memory(context.budget().saturating_sub(OWN_BYTES));
        Ok(Room { context, beside, folder })
    }

    pub(crate) fn run<'a>(
        &'a self,
        compressed: bool,
        progress: &'a dyn Progress,
        cancel: &'a Cancel,
    ) -> RunContext<'a> {
        let (context, beside, folder) = (self.context, &self.beside, &self.folder);
        RunContext { context, beside, folder, compressed, progress, cancel }
    }
}

/// The memory, in bytes, that histograms, texts and the allocator take in addition to counting and look-ups.
const OWN_BYTES: u64 = 8 << 20;
/// The common arguments of all stages.
pub(crate) struct RunContext<'r> {
    /// The resources for counting.
    context: &'r Context,
    /// The resources for all other stages: less memory, because of what is held here.
    pub(crate) beside: &'r Context,
    folder: &'r TemporaryFolder,
    /// Whether homopolymers are compressed.
    compressed: bool,
    pub(crate) progress: &'r dyn Progress,
    pub(crate) cancel: &'r Cancel,
}

impl RunContext<'_> {
    /// Counts all k-mers of some files within the budget less `held` bytes; returns the table and what was read.
    pub(crate) fn count(
        &self,
        k: usize,
        inputs: &[Input],
        name: &str,
        held: u64,
    ) -> Result<(AnyTable, Letters), Error> {
        let path = self.path(name)?;
        let config = merganser_count::Config {
            min_count: Some(1),
            hpc: self.compressed,
            ..merganser_count::Config::new(k)
        };
        let (outputs, out) = (OutputSet::alone(), Some(&*path));
        let context = self.context.clone();
        let context = &context.memory(self.context.budget().saturating_sub(held));
        let counted = merganser_count::run_quietly(&config, inputs, out, &outputs, context)?;
        let letters = Letters { letters: counted.letters, records: counted.records };
        Ok((self.open(&path)?, letters))
    }

    /// Returns a table that can be read many times and, if reads were counted for it, what was read.
    fn table(
        &self,
        k: usize,
        reads: Reads,
        name: &str,
    ) -> Result<(AnyTable, Option<Letters>), Error> {
        match reads {
            Reads::Table(table) => Ok((table.kept(self.context)?, None)),
            Reads::Inputs(inputs) => {
                let (table, letters) = self.count(k, &inputs, name, 0)?;
                Ok((table, Some(letters)))
            }
        }
    }

    pub(crate) fn path(&self, name: &str) -> Result<PathBuf, Error> {
        Ok(self.folder.file(&format!("{name}.mgk"))?)
    }

    pub(crate) fn open(&self, path: &Path) -> Result<AnyTable, Error> {
        Ok(AnyTable::open_with(path, true, self.context)?)
    }

    /// Returns the smallest odd k that fits the largest assembly.
    fn fitting_k(&self, assemblies: &[Assembly]) -> Result<usize, Error> {
        let mut most = 0;
        for assembly in assemblies {
            most = self.letters(&assembly.input)?.max(most);
        }
        // Neighbouring bases differ after compression, so each further base has three possible letters.
        let k = least_k(most, if self.compressed { 3 } else { 4 }).ceil() as usize;
        Ok(k + usize::from(k.is_multiple_of(2)))
    }

    /// Returns the number of letters of all sequences of a file.
    fn letters(&self, input: &Input) -> Result<u64, Error> {
        let options = RecordOptions {
            keep: Keep { header: Header::Name, qualities: false },
            stretches: Some((STRETCH, 0)),
            cancel: self.cancel.clone(),
            warnings: self.context.warnings.clone(),
            ..RecordOptions::default()
        };
        let records = Records::open(&[ReadInput::Single(input.clone())], options)?;
        self.progress.stage("measuring", Unit::Bytes, records.bytes_total());
        let (mut batch, mut letters) = (RecordBatch::default(), 0);
        while let Some(bytes) = records.next(&mut batch)? {
            self.progress.advance(bytes);
            letters +=
                (0..batch.len()).map(|at| batch.record(at).letters.len() as u64).sum::<u64>();
        }
        Ok(letters)
    }

    /// Counts assemblies within the budget less `held` bytes and the memory of `tables`, to which it appends
    /// the assemblies' tables; returns what was read of each assembly.
    pub(crate) fn count_assemblies(
        &self,
        assemblies: &[Assembly],
        held: u64,
        tables: &mut Vec<AnyTable>,
    ) -> Result<Vec<Letters>, Error> {
        let k = tables[0].description().k;
        let mut read = Vec::with_capacity(assemblies.len());
        for (assembly, name) in assemblies.iter().zip(["first", "second"]) {
            let threads = self.context.threads;
            let resident: u64 = tables.iter().map(|table| table.resident(threads)).sum();
            let input = std::slice::from_ref(&assembly.input);
            let (table, letters) = self.count(k, input, name, held + resident)?;
            if table.description().kmers == Some(0) {
                return Err(Error::Empty { input: assembly.input.clone(), k });
            }
            tables.push(table);
            read.push(letters);
        }
        Ok(read)
    }

    /// Returns the spectra of all k-mers, or of the k-mers of a range. The first table is that of the reads, and the
    /// tables of the assemblies follow.
    pub(crate) fn spectra(
        &self,
        tables: &[AnyTable],
        range: Option<Shard>,
    ) -> Result<Spectra, Error> {
        let make = || Spectra::new(tables.len() - 1);
        let mut spectra = make();
        visit(tables, range, self.beside, make)?.iter().for_each(|part| spectra.merge(part));
        Ok(spectra)
    }

    /// Writes a table of the k-mers of an assembly that are in no read, restricted to a range if one is given, and
    /// returns its path. The tables are those of [`RunContext::spectra`].
    pub(crate) fn only(
        &self,
        tables: &[AnyTable],
        number: usize,
        range: Option<Shard>,
    ) -> Result<PathBuf, Error> {
        let path = self.path(&format!("only-{number}"))?;
        let only = Expression::Of {
            operation: Operation::Subtract,
            mode: Mode::Left,
            operands: vec![Expression::Table(1 + number), Expression::Table(0)],
        };
        let calculation = own_table(Expression::SetCounts(Box::new(only), 1), &path);
        let context = self.beside;
        join(&calculation, range, tables, &OutputSet::alone(), context)?;
        Ok(path)
    }

    /// Returns the error of a table that does not fit into memory without the name of the table, which is a temporary
    /// file. `times` tables need as much.
    pub(crate) fn shortage(&self, error: merganser_kmers::Error, times: u64) -> Error {
        let merganser_kmers::Error::TableTooLargeForMemory { needed, .. } = error else {
            return error.into();
        };
        let what = format_args!("evaluating with {} threads needs", self.context.threads);
        // The table needs this in addition to the memory of the look-ups.
        let more = times.saturating_mul(needed.saturating_sub(self.beside.budget()));
        let needed = self.beside.budget().saturating_add(more);
        let budget = Budget::of_part(self.context.budget()).with(needed).with(OWN_BYTES);
        budget.shortage(what, Shortage::FEWER_THREADS).into()
    }

    /// Passes the positions of a table's k-mers on the sequences of an assembly to `take`, with the length of k-mers.
    pub(crate) fn walk(
        &self,
        table: AnyTable,
        input: &Input,
        take: &mut (dyn FnMut(usize, Mark<'_>) -> Result<(), Error> + Send),
    ) -> Result<(), Error> {
        let context = self.beside;
        let inputs = std::slice::from_ref(input);
        let homopolymer_compressed = table.description().homopolymer_compressed;
        let lookup = open_lookup(table, &look_ups(context, inputs));
        let lookup = lookup.map_err(|error| self.shortage(error, 1))?;
        let record_bytes = reads::record_bytes(context.budget(), context.threads, &*lookup);
        let lookup = &*lookup;
        let job = Job { lookup, homopolymer_compressed, context, record_bytes };
        each_mark(job, Marked::Found, inputs, &mut |mark| take(lookup.k(), mark))
    }
}

/// Returns the options for look-ups of all k-mers of some files.
pub(crate) fn look_ups<'o>(context: &'o Context, inputs: &[Input]) -> LookupOptions<'o> {
    LookupOptions {
        context,
        cut: Cut::NONE,
        purpose: Use::Reads,
        reserved: reads::reserved_bytes(context.budget(), context.threads),
        input: merganser_io::text_bytes(inputs),
    }
}

/// Passes the marks of all sequences to `take`.
pub(crate) fn each_mark(
    job: Job<'_>,
    marked: Marked,
    inputs: &[Input],
    take: &mut (dyn FnMut(Mark<'_>) -> Result<(), Error> + Send),
) -> Result<(), Error> {
    let mut failed = None;
    let done = marks(job, marked, inputs, &mut |mark| {
        take(mark).map_err(|error| {
            failed = Some(error);
            merganser_kmers::Error::Cancelled
        })
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(done?),
    }
}

/// Returns a calculation that writes its result as an `.mgk` table.
pub(crate) fn own_table(expression: Expression, path: &Path) -> Calculation {
    Calculation {
        expression,
        limits: CountLimits::default(),
        output: Some(path.to_owned()),
        format: TableFormat::Mgk,
    }
}

/// The number of letters of a sequence that are read at a time.
const STRETCH: usize = 1 << 20;
