//! One calculation: opening, gathering, computing, writing.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use merganser_io::{AtomicFile, OutputSet};
use merganser_run::{Cancel, InOrder, Progress, Unit};
use merganser_seq::kmer::Kmer;
use merganser_seq::with_kmer;

use super::engine::{Engine, Place, Work};
use super::expression::{Bounds, Cut, Expression};
use super::merge::{self, Range, Run, Spare};
use super::output::{TableFormat, Target, Writing};
use crate::config::Storage;
use crate::emit::{Encoder, Ordered, Sink, Totals};
use crate::store::{Pool, Spilling};
use crate::table::{Header, section_bits};
use crate::tables::{AnyTable, Description, Ranges};
use crate::{Error, Histogram, results};

/// What a run may use.
#[derive(Clone, Debug)]
pub struct Resources {
    /// Worker threads in all.
    pub threads: usize,
    /// Memory in bytes that the whole process may use.
    pub memory: u64,
    /// Directory of temporary files.
    pub tmp_dir: PathBuf,
}

/// What to compute, and what becomes of it.
#[derive(Clone, Debug)]
pub struct Calculation {
    /// What to compute of the tables.
    pub expression: Expression,
    /// The result's own bounds.
    pub cut: Cut,
    /// Larger counts are lowered to this.
    pub ceiling: u32,
    /// Where the result goes; for [`TableFormat::Kmc`] the name without suffix.
    pub output: Option<PathBuf>,
    /// How it is written.
    pub format: TableFormat,
}

/// What was computed.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Calculated {
    /// Distinct k-mers of the result.
    pub kmers: u64,
    /// The sum of their counts.
    pub occurrences: u64,
    /// k-mers of the result before its own bounds.
    pub before: u64,
    /// Counts that were lowered.
    pub lowered: u64,
    /// Some count is larger than `u32::MAX` and stands as that.
    pub saturated: bool,
    /// How many k-mers of the result occur how often.
    pub histogram: Histogram,
    /// Bytes of temporary files.
    pub spilled_bytes: u64,
    /// Stages in order with their wall time.
    pub stages: Vec<(&'static str, Duration)>,
}

/// Computes the expression of `tables` and writes the result, which appears with `outputs`.
///
/// Progress stages: `gathering` and `computing`, in bytes of tables.
///
/// # Errors
/// Tables of different k or strands, one that is damaged, too little memory, a full disk, or
/// [`Error::Cancelled`]. No output then exists.
pub fn calculate(
    calculation: &Calculation,
    tables: &[AnyTable],
    resources: &Resources,
    outputs: &OutputSet,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Calculated, Error> {
    let session = Session::new(tables, calculation.expression.width() as u64, resources)?;
    let target = Target::create(calculation.format, calculation.output.as_deref(), outputs)?;
    let job = Job { calculation, session: &session, progress, cancel };
    let done = with_kmer!(session.k, K => job.run::<K>(target));
    progress.finish();
    done.map_err(|error| if cancel.is_cancelled() { Error::Cancelled } else { error })
}

/// Tables that go together, and how memory is spent on them.
pub(crate) struct Session<'s> {
    pub(crate) tables: &'s [AnyTable],
    pub(crate) resources: &'s Resources,
    pool: Pool,
    pub(crate) k: usize,
    pub(crate) canonical: bool,
    /// Bytes for each worker's arrays.
    worker_bytes: u64,
    /// Bytes for each worker to sort gathered k-mers of a table.
    sorting_bytes: u64,
    /// Arrays that a worker has.
    width: u64,
    /// Bytes of parts that wait to be written.
    waiting_bytes: u64,
}

/// Blocks of gathered k-mers.
const BLOCK_BYTES: std::ops::RangeInclusive<u64> = 1 << 10..=16 << 10;
/// The least memory for a worker's arrays.
const LEAST_WORKER_BYTES: u64 = 2 << 20;
/// k-mers of all tables in a range: enough that a range costs nothing by itself, few enough that
/// they stay in the second-level cache.
const MOST_OF_A_RANGE: u64 = 1 << 16;

impl<'s> Session<'s> {
    /// The program itself, its stacks, buffers of files.
    pub(crate) const BASE_BYTES: u64 = 32 << 20;

    /// Sees to it that the tables go together and that memory suffices; `width` is the number of
    /// arrays of k-mers that a worker needs.
    pub(crate) fn new(
        tables: &'s [AnyTable],
        width: u64,
        resources: &'s Resources,
    ) -> Result<Session<'s>, Error> {
        let Some(first) = tables.first() else {
            return Err(Error::Config("a table is needed".into()));
        };
        for table in tables {
            go_together(first, table)?;
        }
        let unsorted = tables.iter().filter(|table| table.is_unsorted()).count() as u64;
        let resident: u64 = tables.iter().map(|table| table.resident(resources.threads)).sum();
        let threads = resources.threads as u64;
        let k = first.description().k;
        let blocks = unsorted * results::ranges(k) as u64;
        let gathering = if unsorted > 0 { threads * results::WORKER_BYTES } else { 0 };
        let fixed = Self::BASE_BYTES + resident + gathering;
        let needed = fixed + blocks * BLOCK_BYTES.start() + 3 * threads * LEAST_WORKER_BYTES;
        if needed > resources.memory {
            let budget = resources.memory;
            return Err(Error::TooLittleMemoryForTables { needed, budget, tables: tables.len() });
        }
        let left = resources.memory - fixed;
        let block_bytes = match blocks {
            0 => *BLOCK_BYTES.start(),
            _ => (left / 4 / blocks).clamp(*BLOCK_BYTES.start(), *BLOCK_BYTES.end()),
        };
        let left = left - blocks * block_bytes;
        let pool = Pool::new(
            block_bytes as usize,
            Spilling {
                storage: Storage::Auto,
                limit: left / 2,
                directory: resources.tmp_dir.clone(),
            },
        );
        let canonical = first.description().canonical;
        // What is gathered is sorted beside the workers' arrays.
        let halves = if unsorted > 0 { 2 } else { 1 };
        let worker_bytes = left / 4 / threads / halves;
        Ok(Session {
            tables,
            resources,
            pool,
            k,
            canonical,
            worker_bytes,
            sorting_bytes: worker_bytes / unsorted.max(1),
            width: width.max(1),
            waiting_bytes: left / 8,
        })
    }

    /// The tables' k-mers in order.
    pub(crate) fn ranges<K: Kmer>(
        &self,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<Vec<Box<dyn Ranges<K> + '_>>, Error> {
        let unsorted = self.tables.iter().filter(|table| table.is_unsorted());
        progress.stage("gathering", Unit::Bytes, Some(unsorted.map(AnyTable::bytes).sum()));
        self.tables
            .iter()
            .map(|table| {
                let (sorting, threads) = (self.sorting_bytes, self.resources.threads);
                let ranges = table.ranges::<K>(&self.pool, sorting, threads, cancel)?;
                if table.is_unsorted() {
                    progress.advance(table.bytes());
                }
                Ok(ranges)
            })
            .collect()
    }

    /// Bytes of memory that gathered k-mers may take.
    pub(crate) fn gathered_bytes(&self) -> u64 {
        self.pool.limit()
    }

    /// Writes the k-mers of the only table, whose ranges these are, that lie within a cut as a table
    /// of ours.
    pub(crate) fn write_own<K: Kmer>(
        &self,
        ranges: &[Box<dyn Ranges<K> + '_>],
        cut: Cut,
        file: AtomicFile,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let calculation = Calculation {
            expression: Expression::Table(0),
            cut,
            ceiling: u32::MAX,
            output: None,
            format: TableFormat::Mgk,
        };
        let job = Job { calculation: &calculation, session: self, progress, cancel };
        job.write(Target::Mgk(file), ranges, Calculated::default()).map(drop)
    }

    /// What runs through the ranges.
    pub(crate) fn engine<'e, K: Kmer>(
        &self,
        ranges: &'e [Box<dyn Ranges<K> + 'e>],
        section_bits: u32,
        progress: &'e dyn Progress,
        cancel: &'e Cancel,
    ) -> Engine<'e, K> {
        let total = self.tables.iter().map(AnyTable::bytes).sum();
        progress.stage("computing", Unit::Bytes, Some(total));
        // Blocks of a table count in whole, so that less than two of each can never fit.
        let least = 1024 * ranges.len() as u64;
        let entry = size_of::<(K, u32)>() as u64;
        let most = (self.worker_bytes / entry / self.width).min(MOST_OF_A_RANGE).max(least);
        let threads = self.resources.threads;
        Engine { tables: ranges, k: self.k, section_bits, most, threads, progress, total, cancel }
    }

    /// k-mers that may wait to be written; encoded ones take about a third of a plain one.
    fn most_waiting<K: Kmer>(&self) -> u64 {
        self.waiting_bytes / size_of::<(K, u32)>() as u64
    }
}

/// Tables of different k or strands have nothing to do with one another.
fn go_together(one: &AnyTable, other: &AnyTable) -> Result<(), Error> {
    let (a, b) = (one.description(), other.description());
    let reason = if a.k != b.k {
        format!("its k is {}, that of {} is {}", b.k, one.path().display(), a.k)
    } else if a.canonical != b.canonical {
        let strands = |is: &Description| match is.canonical {
            true => "canonical k-mers",
            false => "k-mers as they stand in the reads (--forward-only)",
        };
        format!("it holds {}, {} holds {}", strands(b), one.path().display(), strands(a))
    } else {
        return Ok(());
    };
    let reason = format!("{reason}: tables that are computed with must be counted alike");
    Err(Error::Table { path: other.path().to_owned(), reason })
}

struct Job<'j> {
    calculation: &'j Calculation,
    session: &'j Session<'j>,
    progress: &'j dyn Progress,
    cancel: &'j Cancel,
}

impl Job<'_> {
    fn run<K: Kmer>(&self, target: Target) -> Result<Calculated, Error> {
        let mut calculated = Calculated::default();
        let started = Instant::now();
        let ranges = self.session.ranges::<K>(self.progress, self.cancel)?;
        calculated.stages.push(("gather", started.elapsed()));
        let mut calculated = self.write(target, &ranges, calculated)?;
        calculated.spilled_bytes = self.session.pool.spilled();
        Ok(calculated)
    }

    fn write<K: Kmer>(
        &self,
        target: Target,
        ranges: &[Box<dyn Ranges<K> + '_>],
        calculated: Calculated,
    ) -> Result<Calculated, Error> {
        let bounds = self.bounds(ranges);
        let header = self.header(&bounds);
        let largest = bounds.largest;
        let started = Instant::now();
        let compute = Compute { job: self, ranges, header: header.clone(), calculated };
        let mut calculated = target.open::<K, _>(header, largest, compute)?;
        let sync = calculated.stages.pop().map_or(Duration::ZERO, |(_, time)| time);
        calculated.stages.push(("compute and write", started.elapsed().saturating_sub(sync)));
        calculated.stages.push(("sync", sync));
        Ok(calculated)
    }

    /// What is known of the result.
    fn bounds<K>(&self, ranges: &[Box<dyn Ranges<K> + '_>]) -> Bounds {
        let tables: Vec<Bounds> = ranges
            .iter()
            .zip(self.session.tables)
            .map(|(ranges, table)| Bounds {
                kmers: ranges.kmers(),
                least: table.description().min_count,
                largest: ranges.largest_count(),
            })
            .collect();
        let Calculation { expression, cut, ceiling, .. } = self.calculation;
        let of = expression.bounds(&tables);
        Bounds {
            kmers: of.kmers,
            least: of.least.max(cut.least).min(*ceiling),
            largest: of.largest.min(cut.most).min(*ceiling),
        }
    }

    /// What the result will say of itself, its numbers apart.
    fn header(&self, bounds: &Bounds) -> Header {
        let k = self.session.k;
        let only = self.calculation.expression.only_table();
        let only = only.map(|table| self.session.tables[table].description());
        let most = only.map_or(u32::MAX, |table| table.max_count);
        Header {
            k,
            canonical: self.session.canonical,
            min_count: bounds.least,
            max_count: most.min(self.calculation.cut.most).max(bounds.least),
            min_quality: only.and_then(|table| table.header.as_ref()?.min_quality),
            kmers: bounds.kmers,
            section_bits: section_bits(bounds.kmers, k),
            ..Header::default()
        }
    }

    /// The numbers of the result.
    fn totals(&self, calculated: &Calculated, parts: &[merge::Before]) -> Totals {
        let only = self.calculation.expression.only_table();
        let only = only.and_then(|t| self.session.tables[t].description().header.as_ref());
        let occurrences = parts.iter().map(|part| part.occurrences).sum();
        Totals {
            kmers: calculated.kmers,
            occurrences: calculated.occurrences,
            largest_count: calculated.histogram.max(),
            // A table that is but cut remembers what it was counted from.
            total_kmers: only.map_or(occurrences, |header| header.total_kmers),
            distinct_kmers: only.map_or(calculated.before, |header| header.distinct_kmers),
            saturated: calculated.saturated,
        }
    }
}

/// The part of a job that depends on the format.
struct Compute<'c, K> {
    job: &'c Job<'c>,
    ranges: &'c [Box<dyn Ranges<K> + 'c>],
    header: Header,
    calculated: Calculated,
}

impl<K: Kmer> Writing<K> for Compute<'_, K> {
    type Written = Calculated;

    fn write<E: Encoder<K>, S: Sink<E::Part>>(
        self,
        encoder: &E,
        sink: S,
    ) -> Result<Calculated, Error> {
        let Compute { job, ranges, header, mut calculated } = self;
        let in_order = InOrder::new(Ordered(sink), u64::MAX, job.session.most_waiting::<K>());
        let engine = job.session.engine(ranges, header.section_bits, job.progress, job.cancel);
        let make = || Emitting::new(job.calculation, ranges.len(), encoder, &in_order);
        let workers = engine.run(make)?;
        let parts: Vec<merge::Before> = workers
            .into_iter()
            .map(|mut worker| {
                calculated.histogram.merge(&worker.histogram);
                worker.done = true;
                worker.before
            })
            .collect();
        let histogram = &calculated.histogram;
        calculated.kmers = histogram.distinct(1, u32::MAX);
        calculated.occurrences = histogram.total(1, u32::MAX);
        calculated.saturated = histogram.max() == u32::MAX;
        calculated.before = parts.iter().map(|part| part.kmers).sum();
        calculated.lowered = parts.iter().map(|part| part.lowered).sum();
        let Ordered(mut sink) = in_order.into_sink()?;
        sink.totals(&job.totals(&calculated, &parts));
        let sync = sink.finish()?;
        calculated.stages.push(("sync", sync));
        Ok(calculated)
    }
}

/// Counts below this are tallied apart.
const SMALL: usize = 128;

/// A worker: computes, encodes, hands in.
struct Emitting<'e, K: Kmer, E: Encoder<K>, S: Sink<E::Part>> {
    calculation: &'e Calculation,
    uses: Vec<usize>,
    encoder: &'e E,
    in_order: &'e InOrder<E::Part, Ordered<S>>,
    spare: Spare<K>,
    /// k-mers of a divided section that do not fill a unit yet.
    open: Run<K>,
    histogram: Histogram,
    before: merge::Before,
    done: bool,
}

impl<'e, K: Kmer, E: Encoder<K>, S: Sink<E::Part>> Emitting<'e, K, E, S> {
    fn new(
        calculation: &'e Calculation,
        tables: usize,
        encoder: &'e E,
        in_order: &'e InOrder<E::Part, Ordered<S>>,
    ) -> Self {
        Emitting {
            calculation,
            uses: calculation.expression.uses(tables),
            encoder,
            in_order,
            spare: Spare::default(),
            open: Vec::new(),
            histogram: Histogram::default(),
            before: merge::Before::default(),
            done: false,
        }
    }

    /// Adds the counts to the histogram, and gives their sum.
    fn tally(&mut self, run: &[(K, u32)]) -> u64 {
        // Most counts are the same few: in four arrays, one need not wait for the one before.
        let mut small = [[0u32; SMALL]; 4];
        let mut sum = 0;
        for (at, &(_, count)) in run.iter().enumerate() {
            sum += u64::from(count);
            match small[at % 4].get_mut(count as usize) {
                Some(number) => *number += 1,
                None => self.histogram.add(count),
            }
        }
        for count in 0..SMALL {
            let number = small.iter().map(|lane| u64::from(lane[count])).sum();
            self.histogram.add_many(count as u32, number);
        }
        sum
    }

    /// Hands in what is whole: all, if the section ends here, else a multiple of units.
    fn hand_in(&mut self, place: Place, run: &[(K, u32)]) -> Result<bool, Error> {
        if place.first && place.last {
            let part = self.encoder.encode(run);
            return Ok(self.hand_in_part(place, part, run.len(), true));
        }
        self.open.extend_from_slice(run);
        let whole = match place.last {
            true => self.open.len(),
            false => self.open.len() / E::UNIT * E::UNIT,
        };
        let part = match place.first {
            true => self.encoder.encode(&self.open[..whole]),
            false => self.encoder.encode_more(&self.open[..whole]),
        };
        self.open.drain(..whole);
        Ok(self.hand_in_part(place, part, whole, place.last))
    }
}

impl<K: Kmer, E: Encoder<K>, S: Sink<E::Part>> Emitting<'_, K, E, S> {
    /// Hands in a part of so many k-mers; false if nothing is wanted any more.
    fn hand_in_part(&self, place: Place, part: E::Part, kmers: usize, last: bool) -> bool {
        self.in_order.hand_in_some(place.section as u64, part, kmers as u64, last)
    }
}

impl<K: Kmer, E: Encoder<K>, S: Sink<E::Part>> Work<K> for Emitting<'_, K, E, S> {
    fn range(&mut self, place: Place, tables: &mut [Run<K>]) -> Result<bool, Error> {
        let Calculation { expression, cut, ceiling, .. } = self.calculation;
        let uses = self.uses.clone();
        let mut run = Range { tables, uses, spare: &mut self.spare }.compute(expression);
        if *cut != Cut::NONE || *ceiling < u32::MAX {
            let before = merge::finish(&mut run, *cut, *ceiling);
            self.before.add(before);
            self.tally(&run);
        } else {
            let occurrences = self.tally(&run);
            self.before.add(merge::Before { kmers: run.len() as u64, occurrences, lowered: 0 });
        }
        let handed = self.hand_in(place, &run);
        self.spare.give(run);
        handed
    }
}

impl<K: Kmer, E: Encoder<K>, S: Sink<E::Part>> Drop for Emitting<'_, K, E, S> {
    fn drop(&mut self) {
        // After an error or a panic, nobody must wait for this worker's section.
        if !self.done {
            self.in_order.stop();
        }
    }
}

/// Opens tables; `canonical` is what texts are taken for.
///
/// # Errors
/// If one cannot be opened.
pub fn open_tables(
    paths: &[impl AsRef<Path>],
    canonical: bool,
    cancel: &Cancel,
) -> Result<Vec<AnyTable>, Error> {
    paths.iter().map(|path| AnyTable::open(path.as_ref(), canonical, cancel)).collect()
}
