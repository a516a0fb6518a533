//! A worker of the engine: maps batches, on devices or itself, and formats their records.

use std::ops::Range;
use std::time::Instant;

use merganser_alignments::{Held, Sorting};
use merganser_io::BgzfBlocks;
use merganser_run::Cancel;
use merganser_run::engine::{Turn, Work};

use super::gpus::WithGpus;
use crate::cpu::{Mapper, Strata};
use crate::cuda::Gpus;
use crate::discordance::Tallies;
use crate::effort::Effort;
use crate::hits::{Hit, hits_of};
use crate::output::{
    BatchText, PairFinder, Placements, RecordSink, ReportUnit, Reported, Reporter,
};
use crate::parts::{Found, Parts};
use crate::source::ReadBatch;
use crate::{Config, Error, Format, Select};

/// The turn of a batch, by which texts are written in input order.
pub(super) type BatchTurn<'t> = Turn<'t, BatchText, Error>;

/// The results of a worker after its last batch.
pub(super) struct WorkerDone<'r> {
    pub(super) reported: Reported,
    pub(super) tallies: Tallies,
    pub(super) placements: Option<Placements>,
    pub(super) effort: Effort,
    /// Records to sort that are still in memory.
    pub(super) held: Option<Held<'r>>,
}

/// A worker with the stages of mapping.
pub(super) struct Worker<'r> {
    pub(super) mapper: Mapper<'r>,
    pub(super) strata: Strata<'r>,
    pub(super) gpus: Option<WithGpus<'r>>,
    pub(super) finder: PairFinder<'r>,
    pub(super) reporter: Reporter<'r>,
    pub(super) texts: Texts<'r>,
    /// Searches for parts of reads without a hit, if ends are clipped.
    parts: Option<Parts<'r>>,
    hits: Vec<Hit>,
    bounds: Vec<usize>,
}

/// Turns an error about a read with more hits than there is room for into one that names the read.
pub(super) fn named(error: Error, batch: &ReadBatch, config: &Config) -> Error {
    let Error::Crowded { read } = error else { return error };
    let remedy = match config.select {
        Select::All => ", report only its best hits",
        Select::Best | Select::BestStrata => "",
    };
    batch.error(
        read,
        format!(
            "has more hits than fit into memory: raise `memory`, lower `threads`{remedy}, or leave the read out"
        ),
    )
}

/// The text of the current batch of a worker.
pub(super) struct Texts<'r> {
    texts: BatchText,
    records: Records<'r>,
    keeps_unmapped: bool,
    /// The bytes of text after which it is passed on before the batch is done.
    long: usize,
}

/// The further processing of records.
enum Records<'r> {
    /// Records are written as they are.
    Plain,
    /// Records are compressed.
    Compressed(BgzfBlocks),
    /// Records are held until all of them are there, and then sorted.
    Sorted(Held<'r>),
}

impl<'r> Texts<'r> {
    /// Creates a buffer for records, which may have to be sorted, and for reads without a hit if these are
    /// kept.
    pub(super) fn new(
        format: Format,
        sorting: Option<&'r Sorting>,
        keeps_unmapped: bool,
        long: usize,
    ) -> Texts<'r> {
        let records = match (sorting, format) {
            (Some(sorting), _) => Records::Sorted(Held::new(sorting)),
            // CRAM is always sorted.
            (None, Format::Sam | Format::Cram) => Records::Plain,
            (None, Format::Bam(level)) => Records::Compressed(BgzfBlocks::new(level)),
        };
        Texts { texts: BatchText::default(), records, keeps_unmapped, long }
    }

    /// Begins the text of a batch.
    fn begin(&mut self, batch: u64) {
        if let Records::Sorted(held) = &mut self.records {
            held.begin(batch);
        }
    }

    /// Takes the text that can be written: all text or, if records are compressed and `all` is false, only
    /// whole blocks. Records to sort are held instead.
    fn take(&mut self, all: bool) -> Result<BatchText, Error> {
        let unmapped = std::mem::take(&mut self.texts[1]);
        let records = match &mut self.records {
            Records::Plain => std::mem::take(&mut self.texts[0]),
            Records::Compressed(blocks) => {
                let mut out = Vec::with_capacity(self.texts[0].len() / 2);
                let done = blocks.compress(&self.texts[0], all, &mut out);
                self.texts[0].drain(..done);
                out
            }
            Records::Sorted(held) => {
                held.take(&self.texts[0])?;
                self.texts[0].clear();
                Vec::new()
            }
        };
        Ok([records, unmapped])
    }

    /// Returns the records that are held for sorting.
    fn into_held(self) -> Option<Held<'r>> {
        match self.records {
            Records::Sorted(held) => Some(held),
            _ => None,
        }
    }
}

/// The destination of the records of a batch.
struct BatchSink<'w, 't, 'r> {
    texts: &'w mut Texts<'r>,
    turn: &'w BatchTurn<'t>,
    cancel: &'w Cancel,
}

impl RecordSink for BatchSink<'_, '_, '_> {
    fn records(&mut self) -> &mut Vec<u8> {
        &mut self.texts.texts[0]
    }

    fn unmapped(&mut self) -> Option<&mut Vec<u8>> {
        self.texts.keeps_unmapped.then_some(&mut self.texts.texts[1])
    }

    fn relieve(&mut self) -> Result<(), Error> {
        if self.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        if self.texts.texts[0].len() < self.texts.long {
            return Ok(());
        }
        let texts = self.texts.take(false)?;
        if texts.iter().all(Vec::is_empty) {
            return Ok(());
        }
        // This waits for the batch's turn. If another batch failed meanwhile, its error is reported with its
        // own number.
        if self.turn.hand_over(texts) { Ok(()) } else { Err(Error::Cancelled) }
    }
}

impl Work for Worker<'_> {
    type Batch = ReadBatch;
    type Output = BatchText;
    type Error = Error;

    fn work(&mut self, batch: &mut ReadBatch, turn: &BatchTurn<'_>) -> Result<BatchText, Error> {
        self.map(batch, turn).map_err(|error| named(error, batch, self.mapper.config))
    }
}

impl<'r> Worker<'r> {
    pub(super) fn new(
        mapper: Mapper<'r>,
        strata: Strata<'r>,
        gpus: Option<WithGpus<'r>>,
        finder: PairFinder<'r>,
        reporter: Reporter<'r>,
        texts: Texts<'r>,
        parts: Option<Parts<'r>>,
    ) -> Worker<'r> {
        let (hits, bounds) = (Vec::new(), Vec::new());
        Worker { mapper, strata, gpus, finder, reporter, texts, parts, hits, bounds }
    }

    /// Returns the results after the last batch.
    pub(super) fn finish(self) -> WorkerDone<'r> {
        let Reporter { reported, tallies, placements, .. } = self.reporter;
        let (effort, held) = (self.mapper.effort, self.texts.into_held());
        WorkerDone { reported, tallies, placements, effort, held }
    }

    fn map(&mut self, batch: &ReadBatch, turn: &BatchTurn<'_>) -> Result<BatchText, Error> {
        let begun = Instant::now();
        self.mapper.clear(batch.unit());
        self.texts.begin(batch.number());
        for at in 0..batch.len() {
            let [_, letters, _] = batch.get(at);
            self.mapper.push(letters).map_err(|problem| batch.error(at, problem))?;
        }
        self.mapper.effort.times.seeding += begun.elapsed();
        if let Some(mut gpus) = self.gpus.take() {
            let done = self.map_on_gpus(&mut gpus, batch, turn);
            self.gpus = Some(gpus);
            done?;
        } else {
            self.map_here(batch, turn)?;
        }
        let begun = Instant::now();
        let texts = self.texts.take(true);
        self.mapper.effort.times.output += begun.elapsed();
        texts
    }

    /// Maps the queries of a batch on a device.
    fn map_on_gpus(
        &mut self,
        gpus: &mut WithGpus<'_>,
        batch: &ReadBatch,
        turn: &BatchTurn<'_>,
    ) -> Result<(), Error> {
        let take = |gpus: &Gpus| {
            let is_prepared = turn.is_prepared();
            let taken = is_prepared.then(|| turn.in_order(|| gpus.workspace())).flatten();
            taken.unwrap_or(Err(Error::Cancelled))
        };
        gpus.begin(&mut self.mapper, take, batch.len(), batch.unit())?;
        while let Some(reads) = gpus.next(&mut self.mapper, &mut self.hits, &mut self.bounds)? {
            self.report(batch, reads, gpus.scripts(), turn)?;
        }
        Ok(())
    }

    /// Maps the queries of a batch on this thread.
    fn map_here(&mut self, batch: &ReadBatch, turn: &BatchTurn<'_>) -> Result<(), Error> {
        let mut from = 0;
        while from < batch.len() {
            let (reads, unit) = (from..batch.len(), batch.unit());
            let (hits, bounds) = (&mut self.hits, &mut self.bounds);
            let to = self.strata.map(&mut self.mapper, reads, unit, hits, bounds)?;
            self.report(batch, from..to, &[], turn)?;
            from = to;
        }
        Ok(())
    }

    /// Searches for parts of reads without a hit.
    fn find_parts(&mut self, batch: &ReadBatch, reads: Range<usize>) -> Result<(), Error> {
        let Some(parts) = &mut self.parts else { return Ok(()) };
        let begun = Instant::now();
        let Mapper { queries, config, .. } = &mut self.mapper;
        let letters = |read| {
            let [_, letters, _] = batch.get(read);
            config.cropped(letters)
        };
        let found = Found { hits: &mut self.hits, bounds: &mut self.bounds };
        parts.find(reads, batch.unit(), letters, queries, found)?;
        self.mapper.effort.times.seeding += begun.elapsed();
        Ok(())
    }

    fn report(
        &mut self,
        batch: &ReadBatch,
        reads: Range<usize>,
        scripts: &[u16],
        turn: &BatchTurn<'_>,
    ) -> Result<(), Error> {
        self.find_parts(batch, reads.clone())?;
        let begun = Instant::now();
        let unit = batch.unit();
        let cancel = &self.mapper.cancel;
        let mut sink = BatchSink { texts: &mut self.texts, turn, cancel };
        let of = |at: usize| hits_of(&self.hits, &self.bounds, at);
        for read in reads.clone().step_by(unit) {
            let at = read - reads.start;
            let hits = [of(at), if unit == 2 { of(at + 1) } else { &[] }];
            let unit = ReportUnit { batch, queries: &self.mapper.queries, read, hits, scripts };
            self.reporter.report(&mut self.finder, &unit, &mut sink)?;
        }
        self.mapper.effort.times.output += begun.elapsed();
        Ok(())
    }
}
