//! A worker of a run: finds the candidates of a batch of reads, on the CPU or on devices, and decides.

use std::cell::LazyCell;
use std::time::Instant;

use merganser_alignments::RecordOptions;
use merganser_io::{Needs, ReadInput, RecordBatch, Records};
use merganser_run::engine::{Device, Engine, Turn, Work};
use merganser_run::locks::lock;
use merganser_run::{InOrderSink, Progress, Unit};

use super::Outcome;
use super::clock::{Clock, tell_reading};
use super::found::Found;
use super::passes::RunContext;
use crate::cuda::Flight;
use crate::query::{OnDevices, Scratch};
use crate::{Candidate, Error, Sketcher};
use merganser_kraken2::reads_of;

/// Maximum number of records and bytes of a batch, without devices.
const BATCH: [usize; 2] = [8192, 1 << 20];

/// Produces the output of a batch. Receives the worker's outcome and sketcher.
type Take<'t, 'a, P> = &'t (
        dyn Fn(&Found<'_>, &mut Outcome<'a>, &mut Sketcher, &Turn<'_, P, Error>) -> Result<P, Error>
            + Sync
    );

impl<'a> RunContext<'_, 'a> {
    /// Reads all batches, finds their candidates, and passes the results of `take` to `sink` in the order of the
    /// input. Returns the sink.
    ///
    /// # Errors
    /// The first error in the order of the input.
    pub(super) fn each_batch<P: Send, S: InOrderSink<P, Error = Error> + Send>(
        &self,
        segments: &[ReadInput],
        progress: &dyn Progress,
        sink: S,
        take: Take<'_, 'a, P>,
    ) -> Result<S, Error> {
        let gpu = self.classifier.query.devices();
        let records = Records::open(segments, self.record_options(gpu.as_deref()))?;
        progress.stage("classify", Unit::Bytes, records.bytes_total());
        let fill = || gpu.as_deref().map_or(Ok(()), |gpu| gpu.fill(self.cancel));
        let engine = Engine::new(&records, sink, self.ahead(), progress, self.cancel);
        let engine = if gpu.is_some() { engine.with_preparation(&fill) } else { engine };
        let workers = engine.run_on(self.context.threads, gpu.as_deref(), || Worker {
            run: self,
            take,
            scratch: self.scratch(),
            sketcher: Sketcher::new(self.classifier.database.params()),
            features: Vec::new(),
            own: Outcome::default(),
            masked: RecordBatch::default(),
            candidates: Vec::new(),
            ends: Vec::new(),
        })?;
        let mut total = lock(&self.total);
        workers.into_iter().for_each(|worker| total.add(worker.own));
        tell_reading(&records.times(), &mut total.stages);
        total.skipped_alignments = self.wants.skipped(records.skipped_alignments());
        progress.finish();
        engine.finish()
    }

    fn record_options(&self, gpu: Option<&OnDevices<'_>>) -> RecordOptions {
        let [batch_records, batch_bytes] = gpu.map_or(BATCH, OnDevices::batch);
        RecordOptions {
            keep: self.wants.keep(self.config.kraken2.min_qual > 0),
            keep_alignments: self.wants.alignments(),
            batch_records,
            batch_bytes,
            workers: self.context.threads,
            max_record: self.plan.record,
            reads: reads_of(self.config.kraken2.share.as_ref()),
            any_names: self.config.kraken2.any_names,
            find_pairs: true,
            overlapping: gpu.is_some(),
            phred: self.config.kraken2.phred(),
            needs: Some(Needs {
                bases: self.classifier.database.params().k as usize,
                uracil: true,
            }),
            cancel: self.cancel.clone(),
            warnings: self.context.warnings.clone(),
            inflater: gpu.and_then(|gpu| gpu.inflater(self.context)),
            ..RecordOptions::default()
        }
    }

    /// Creates the working space of a worker, for the parts that are queried first.
    fn scratch(&self) -> Scratch {
        self.classifier.query.scratch().ask(self.plan.rounds[0].clone())
    }
}

/// The working space and results of a worker.
pub(super) struct Worker<'w, 'r, 'a, P> {
    run: &'w RunContext<'r, 'a>,
    take: Take<'w, 'a, P>,
    scratch: Scratch,
    sketcher: Sketcher,
    features: Vec<u64>,
    own: Outcome<'a>,
    /// The reads with bases of low quality masked.
    masked: RecordBatch,
    /// The candidates of a batch's reads.
    candidates: Vec<Candidate>,
    /// The end of each read's candidates.
    ends: Vec<usize>,
}

impl<P> Work for Worker<'_, '_, '_, P> {
    type Batch = RecordBatch;
    type Output = P;
    type Error = Error;

    fn work(&mut self, batch: &mut RecordBatch, turn: &Turn<'_, P, Error>) -> Result<P, Error> {
        let begun = Instant::now();
        let mut masked = std::mem::take(&mut self.masked);
        let (views, passed_over) = self.run.filter.views(batch, &mut masked);
        self.own.passed_over += passed_over;
        self.clear();
        let Worker { run, scratch, candidates, ends, .. } = self;
        run.classifier.query.candidates(&views, scratch, candidates, ends);
        run.clock.add(Clock::FINDING, begun);
        let output = self.decide(batch, &views, turn)?;
        drop(views);
        if batch.is_long() {
            // Do not keep the memory of a giant read.
            (self.features, self.scratch) = (Vec::new(), self.run.scratch());
            (self.candidates, self.ends) = (Vec::new(), Vec::new());
            *batch = RecordBatch::default();
        } else {
            self.masked = masked;
        }
        Ok(output)
    }

    fn waited(&mut self, begun: Instant) {
        self.run.clock.add(Clock::TURNS, begun);
    }
}

impl<P> Worker<'_, '_, '_, P> {
    fn clear(&mut self) {
        self.candidates.clear();
        self.ends.clear();
    }

    /// Produces the output of a batch whose candidates were found.
    fn decide(
        &mut self,
        batch: &RecordBatch,
        views: &[[&[u8]; 2]],
        turn: &Turn<'_, P, Error>,
    ) -> Result<P, Error> {
        let begun = Instant::now();
        let Worker { run, take, sketcher, features, own, candidates, ends, .. } = self;
        if let Some(counter) = &run.features {
            for mates in views {
                counter.count(mates, sketcher, features);
            }
        }
        let found = Found { batch, candidates, ends, views, databases: &[] };
        let output = take(&found, own, sketcher, turn)?;
        run.clock.add(Clock::DECIDING, begun);
        Ok(output)
    }
}

impl<'w, 'r, 'a, P> Device<Worker<'w, 'r, 'a, P>> for OnDevices<'_> {
    type Slot = Flight;

    /// A device can work on one batch while the other one is parsed.
    const IN_FLIGHT: usize = 2;

    fn place(
        &self,
        worker: &mut Worker<'w, 'r, 'a, P>,
        may_wait: bool,
    ) -> Result<Option<Flight>, Error> {
        let begun = Instant::now();
        let place = OnDevices::place(self, may_wait);
        worker.run.clock.add(Clock::WAITING, begun);
        place
    }

    fn start(
        &self,
        worker: &mut Worker<'w, 'r, 'a, P>,
        batch: &mut RecordBatch,
        flight: &mut Flight,
    ) -> Result<(), Error> {
        let begun = Instant::now();
        let (views, passed_over) = worker.run.filter.views(batch, &mut worker.masked);
        worker.own.passed_over += passed_over;
        OnDevices::start(self, flight, &views)?;
        worker.run.clock.add(Clock::FINDING, begun);
        Ok(())
    }

    fn is_done(&self, flight: &Flight) -> Result<bool, Error> {
        flight.is_done()
    }

    fn finish(
        &self,
        worker: &mut Worker<'w, 'r, 'a, P>,
        batch: &mut RecordBatch,
        flight: Flight,
        turn: &Turn<'_, P, Error>,
    ) -> Result<P, Error> {
        let begun = Instant::now();
        flight.wait()?;
        let begun = worker.run.clock.add(Clock::WAITING, begun);
        let mut masked = std::mem::take(&mut worker.masked);
        worker.clear();
        let Worker { run, scratch, candidates, ends, .. } = worker;
        // Usually the letters are no longer needed.
        let views = LazyCell::new(|| run.filter.views(batch, &mut masked).0);
        let reads = batch.reads();
        OnDevices::finish(self, flight, (reads, &|| &views[..]), scratch, candidates, ends)?;
        run.clock.add(Clock::COLLECTING, begun);
        let output = match run.needs_letters() {
            true => worker.decide(batch, &views, turn)?,
            false => worker.decide(batch, &[], turn)?,
        };
        drop(views);
        worker.masked = masked;
        Ok(output)
    }
}
