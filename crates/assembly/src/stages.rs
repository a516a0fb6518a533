//! The stages that evaluations have in common, and their resources.

use std::path::{Path, PathBuf};

use merganser_alignments::RecordOptions;
use merganser_io::{
    Header, Input, Keep, OutputSet, ReadInput, RecordBatch, Records, TemporaryFolder,
};
use merganser_kmers::algebra::{
    Calculation, CountLimits, Cut, Expression, Mode, Operation, calculate_with, join, visit,
};
use merganser_kmers::formats::TableFormat;
use merganser_kmers::lookup::{LookupOptions, Use, open_lookup};
use merganser_kmers::reads::{self, Job, Mark, Marked, marks};
use merganser_kmers::tables::AnyTable;
use merganser_run::{Budget, Cancel, Context, Progress, Shard, Shortage, Unit};
use merganser_spectrum::least_k;

use crate::contigs::Contigs;
use crate::{Assembly, Error, Reads, Spectra};

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
    pub(crate) fn table(
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
            Reads::Union(operands) => Ok((self.union(k, operands, name)?, None)),
        }
    }

    /// Writes the union of tables and reads, and opens it.
    fn union(&self, k: usize, operands: Vec<(Reads, Cut)>, name: &str) -> Result<AnyTable, Error> {
        let (mut tables, mut expressions) = (Vec::new(), Vec::new());
        for (number, (reads, cut)) in operands.into_iter().enumerate() {
            let name = format!("{name}-{number}");
            let table = match reads {
                Reads::Inputs(inputs) => {
                    let held = self.resident(&tables);
                    self.count(k, &inputs, &name, held)?.0
                }
                reads => self.table(k, reads, &name)?.0,
            };
            tables.push(table);
            expressions.push(Expression::Within(Box::new(Expression::Table(number)), cut));
        }
        let union =
            Expression::Of { operation: Operation::Union, mode: Mode::Sum, operands: expressions };
        let path = self.path(name)?;
        calculate_with(&own_table(union, &path), &tables, &OutputSet::alone(), self.beside)?;
        self.open(&path)
    }

    /// Returns the memory that open tables hold, in bytes.
    pub(crate) fn resident(&self, tables: &[AnyTable]) -> u64 {
        tables.iter().map(|table| table.resident(self.context.threads)).sum()
    }

    pub(crate) fn path(&self, name: &str) -> Result<PathBuf, Error> {
        Ok(self.folder.file(&format!("{name}.mgk"))?)
    }

    pub(crate) fn open(&self, path: &Path) -> Result<AnyTable, Error> {
        Ok(AnyTable::open_with(path, true, self.context)?)
    }

    /// Returns the smallest odd k that fits the largest assembly.
    pub(crate) fn fitting_k(&self, assemblies: &[Assembly]) -> Result<usize, Error> {
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
        let mut letters = 0;
        self.each_stretch(input, |stretch, _| letters += stretch.len() as u64)?;
        Ok(letters)
    }

    /// Returns the lengths of the contigs of an assembly.
    pub(crate) fn contigs(&self, input: &Input) -> Result<Vec<u64>, Error> {
        let mut contigs = Contigs::default();
        self.each_stretch(input, |letters, ends| contigs.add(letters, ends))?;
        Ok(contigs.lengths)
    }

    /// Passes the letters of all sequences of a file to `take`, and whether they are the last ones of a sequence.
    fn each_stretch(&self, input: &Input, mut take: impl FnMut(&[u8], bool)) -> Result<(), Error> {
        let options = RecordOptions {
            keep: Keep { header: Header::Name, qualities: false },
            stretches: Some((STRETCH, 0)),
            cancel: self.cancel.clone(),
            warnings: self.context.warnings.clone(),
            ..RecordOptions::default()
        };
        let records = Records::open(&[ReadInput::Single(input.clone())], options)?;
        self.progress.stage("measuring", Unit::Bytes, records.bytes_total());
        let mut batch = RecordBatch::default();
        while let Some(bytes) = records.next(&mut batch)? {
            self.progress.advance(bytes);
            let ends = batch.stretch().is_none_or(|stretch| stretch.ends);
            (0..batch.len()).for_each(|at| take(batch.letters(at), ends));
        }
        Ok(())
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
        for (number, assembly) in assemblies.iter().enumerate() {
            let resident = self.resident(tables);
            let input = std::slice::from_ref(&assembly.input);
            let name = format!("assembly-{number}");
            let (table, letters) = self.count(k, input, &name, held + resident)?;
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
