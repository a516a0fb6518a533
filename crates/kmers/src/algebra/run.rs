//! Runs a calculation: gathers, computes and writes.

use std::time::{Duration, Instant};

use merganser_io::{AtomicFile, OutputSet};
use merganser_run::{Cancel, Context, InOrder, Progress, Stages};
use merganser_seq::kmer::Kmer;
use merganser_seq::with_kmer;

use super::calculation::Calculation;
use super::emitting::Emitting;
use super::expression::{Bounds, Cut, Expression};
use super::joined::Joined;
use super::merge;
use super::session::Session;
use crate::formats::mgk::section_bits;
use crate::formats::{Encoder, Ordered, Sink, TableFormat, TableOutput, Totals, Writing};
use crate::ranges::Ranges;
use crate::tables::{AnyTable, Description};
use crate::{Error, Header, Histogram, MemoryTable};

/// The results of a calculation.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Calculated {
    /// The number of distinct k-mers of the result.
    pub kmers: u64,
    /// The sum of their counts.
    pub occurrences: u64,
    /// The number of k-mers before the limits of the result were applied.
    pub before: u64,
    /// The number of counts that were lowered.
    pub lowered: u64,
    /// Whether a count exceeds `u32::MAX` and was set to it.
    pub saturated: bool,
    /// The number of k-mers of the result with each count; for shards and ranges ([`join`](super::join())),
    /// before any cut.
    pub histogram: Histogram,
    /// The size of temporary files, in bytes.
    pub spilled_bytes: u64,
    /// The memory ([`Context::memory`]) in bytes with which no temporary files would have been written;
    /// `None` if there were none.
    pub enough_memory: Option<u64>,
    /// The stages in the order of their starts, with their wall time.
    pub stages: Stages,
    /// The largest resident size of the process so far, in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
    /// The time that the disk took to sync the result.
    sync: Duration,
}

/// Computes an expression of `tables` and writes the result to [`Calculation::output`].
///
/// The progress stages are `gathering` and `computing`, in bytes of tables.
///
/// # Errors
/// If tables differ in k or strands, a table is damaged, memory is too small, the disk is full, or the run was
/// cancelled ([`Error::Cancelled`]). Then no output exists.
pub fn calculate(
    calculation: &Calculation,
    tables: &[AnyTable],
    context: &Context,
) -> Result<Calculated, Error> {
    let outputs = OutputSet::new();
    let calculated = calculate_with(calculation, tables, &outputs, context)?;
    outputs.commit()?;
    Ok(calculated)
}

/// Computes an expression like [`calculate`], regardless of its output and format, as a table in memory. The memory of
/// the table itself is not part of [`Context::memory`].
///
/// # Errors
/// Fails as [`calculate`] does.
pub fn calculate_in_memory(
    calculation: &Calculation,
    tables: &[AnyTable],
    context: &Context,
) -> Result<(Calculated, MemoryTable), Error> {
    let (output, table) = TableOutput::in_memory();
    let calculation = Calculation { output: None, format: TableFormat::Mgk, ..calculation.clone() };
    let calculated = calculate_into(|| Ok(output), (&calculation, None), tables, context)?;
    let table = table.recv().map_err(|_| Error::Cancelled)?;
    Ok((calculated, table))
}

/// Computes an expression like [`calculate`]; the file belongs to `outputs` and appears when these are committed.
///
/// # Errors
/// Fails as [`calculate`] does.
pub fn calculate_with(
    calculation: &Calculation,
    tables: &[AnyTable],
    outputs: &OutputSet,
    context: &Context,
) -> Result<Calculated, Error> {
    calculate_joined(calculation, None, tables, outputs, context)
}

/// Computes an expression like [`calculate`], of tables that may be joined from pieces.
pub(super) fn calculate_joined(
    calculation: &Calculation,
    joined: Option<&Joined>,
    tables: &[AnyTable],
    outputs: &OutputSet,
    context: &Context,
) -> Result<Calculated, Error> {
    let create = || TableOutput::create(calculation.format, calculation.output.as_deref(), outputs);
    calculate_into(create, (calculation, joined), tables, context)
}

/// Computes an expression into the files that `create` opens once the tables have been checked.
fn calculate_into(
    create: impl FnOnce() -> Result<TableOutput, Error>,
    (calculation, joined): (&Calculation, Option<&Joined>),
    tables: &[AnyTable],
    context: &Context,
) -> Result<Calculated, Error> {
    let (progress, cancel) = (&*context.progress, &context.cancel);
    let session = Session::new(tables, calculation.expression.width() as u64, context)?;
    let output = create()?;
    let job = Job { calculation, joined, session: &session, progress, cancel };
    let done = with_kmer!(session.k, K => job.run::<K>(output));
    progress.finish();
    cancel.over_error(done)
}

impl Session<'_> {
    /// Writes the k-mers of the session's only table, which has these `ranges`, as an `.mgk` table, restricted
    /// to a cut.
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
            limits: cut.into(),
            output: None,
            format: TableFormat::Mgk,
        };
        let job = Job { calculation: &calculation, joined: None, session: self, progress, cancel };
        job.write(TableOutput::own(file), ranges, Calculated::default(), None).map(drop)
    }
}

struct Job<'j> {
    calculation: &'j Calculation,
    joined: Option<&'j Joined>,
    session: &'j Session<'j>,
    progress: &'j dyn Progress,
    cancel: &'j Cancel,
}

impl Job<'_> {
    fn run<K: Kmer>(&self, output: TableOutput) -> Result<Calculated, Error> {
        let mut calculated = Calculated::default();
        let started = Instant::now();
        let tables = self.session.tables;
        let clipped = self.joined.map(|joined| joined.ranges::<K>(tables, self.session.k));
        let ranges = match clipped.transpose()?.flatten() {
            Some(clipped) => clipped,
            None => self.session.ranges::<K>(self.progress, self.cancel)?,
        };
        calculated.stages.since("gather", started);
        let number = match self.joined {
            Some(joined) if joined.needs_number => {
                let started = Instant::now();
                let counted =
                    self.write(TableOutput::none(), &ranges, Calculated::default(), None)?;
                calculated.stages.since("count", started);
                Some(counted.kmers)
            }
            _ => None,
        };
        let mut calculated = self.write(output, &ranges, calculated, number)?;
        calculated.spilled_bytes = self.session.pool.spilled();
        calculated.enough_memory = self.session.enough_memory();
        calculated.peak_memory = merganser_run::peak_rss();
        Ok(calculated)
    }

    fn write<K: Kmer>(
        &self,
        output: TableOutput,
        ranges: &[Box<dyn Ranges<K> + '_>],
        calculated: Calculated,
        number: Option<u64>,
    ) -> Result<Calculated, Error> {
        let bounds = self.bounds(ranges);
        let header = self.header(&Bounds { kmers: number.unwrap_or(bounds.kmers), ..bounds });
        let largest = bounds.largest;
        let started = Instant::now();
        let compute = Compute { job: self, ranges, header: header.clone(), calculated };
        let mut calculated = output.open::<K, _>(header, largest, compute)?;
        calculated
            .stages
            .add("compute and write", started.elapsed().saturating_sub(calculated.sync));
        calculated.stages.add("sync", calculated.sync);
        Ok(calculated)
    }

    /// Returns the bounds of the result.
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
        let Calculation { expression, limits, .. } = self.calculation;
        let (cut, ceiling) = (limits.cut(), limits.ceiling());
        let of = expression.bounds(&tables);
        Bounds {
            kmers: of.kmers,
            least: of.least.max(cut.least).min(ceiling),
            largest: of.largest.min(cut.most).min(ceiling),
        }
    }

    /// Returns the largest count that the cuts of the tables and the expression allow; `u32::MAX` without a limit.
    fn max_count(&self) -> u32 {
        let table = |table: &AnyTable| {
            let Description { kmers, min_count, max_count, .. } = *table.description();
            Bounds { kmers: kmers.unwrap_or(u64::MAX), least: min_count, largest: max_count }
        };
        let tables: Vec<Bounds> = self.session.tables.iter().map(table).collect();
        let Calculation { expression, limits, .. } = self.calculation;
        expression.bounds(&tables).largest.min(limits.cut().most)
    }

    /// Whether the result has only given k-mers of the reads.
    fn is_only_given(&self) -> bool {
        let tables = self.session.tables.iter();
        let given: Vec<bool> = tables.map(|table| table.description().is_only_given()).collect();
        self.calculation.expression.is_only_given(&given)
    }

    /// Returns the header of the result, without the numbers that are known at the end.
    fn header(&self, bounds: &Bounds) -> Header {
        let k = self.session.k;
        let only = self.calculation.expression.only_table();
        let only = only.map(|table| self.session.tables[table].description());
        let mut header = Header {
            k,
            canonical: self.session.canonical,
            homopolymer_compressed: self.session.homopolymer_compressed,
            only_given: self.is_only_given(),
            min_count: bounds.least,
            max_count: self.max_count().max(bounds.least),
            min_quality: only.and_then(|table| table.header.as_ref()?.min_quality),
            kmers: bounds.kmers,
            section_bits: section_bits(bounds.kmers, k),
            ..Header::default()
        };
        if let Some(joined) = self.joined {
            joined.put(&mut header);
        }
        header
    }

    /// Returns the numbers of the result that are known at the end.
    fn totals(&self, calculated: &Calculated, parts: &[merge::Before]) -> Totals {
        let only = self.calculation.expression.only_table();
        let only = only.and_then(|t| self.session.tables[t].description().header.as_ref());
        let occurrences = parts.iter().map(|part| part.occurrences).sum();
        let (total, distinct, saturated) = self.joined.map(Joined::numbers).unwrap_or_default();
        Totals {
            kmers: calculated.kmers,
            occurrences: calculated.occurrences,
            largest_count: calculated.histogram.max(),
            // A table that was only cut keeps the numbers of the input that it was counted from.
            total_kmers: total
                .unwrap_or_else(|| only.map_or(occurrences, |header| header.total_kmers)),
            distinct_kmers: distinct
                .unwrap_or_else(|| only.map_or(calculated.before, |header| header.distinct_kmers)),
            saturated: saturated.unwrap_or(calculated.saturated),
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
    type Error = Error;

    fn write<E: Encoder<K>, S: Sink<E::Encoded>>(
        self,
        encoder: &E,
        sink: S,
    ) -> Result<Calculated, Error> {
        let Compute { job, ranges, header, mut calculated } = self;
        let in_order = InOrder::new(Ordered(sink), u64::MAX, job.session.max_waiting::<K>());
        let engine = job.session.engine(ranges, header.section_bits, job.progress, job.cancel);
        let make = || {
            Emitting::new(job.calculation, job.joined.is_some(), ranges.len(), encoder, &in_order)
        };
        let mut uncut = Histogram::default();
        let workers = engine.run(make)?;
        let parts: Vec<merge::Before> = workers
            .into_iter()
            .map(|mut worker| {
                calculated.histogram.merge(&worker.histogram);
                uncut.merge(&worker.uncut);
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
        if job.joined.is_some() {
            calculated.saturated = uncut.max() == u32::MAX;
        }
        sink.totals(&job.totals(&calculated, &parts));
        if let Some(joined) = job.joined {
            calculated.histogram = joined.uncut(&uncut).clone();
            sink.uncut(&calculated.histogram);
        }
        let sync = sink.finish()?;
        calculated.sync = sync;
        Ok(calculated)
    }
}
