//! What each thread does: it takes a batch of reads, finds their candidates, or has devices find
//! them while it goes on with the next batch, decides, and hands in what is to be written.

use std::time::Instant;

use merganser_gpu::InFlight;
use merganser_io::{Header, Keep, Needs, RecordBatch, RecordOptions, Records, Segment};
use merganser_run::locks::lock;
use merganser_run::{InOrder, InOrderSink, Pipeline, Progress, Unit};

use super::Outcome;
use super::clock::{Clock, tell_reading};
use super::found::{Found, FoundBatch};
use super::passes::Run;
use crate::cuda::Flight;
use crate::query::{OnDevices, Scratch};
use crate::share::reads_of;
use crate::{Error, Sketcher};

/// Records and bytes of a batch, without a device.
const BATCH: [usize; 2] = [8192, 1 << 20];
/// Batches that a thread may have on devices while it goes on: one is looked at while the other
/// one is parsed.
const FLYING: usize = 2;

/// What is made of a batch, with the worker's own result and sketcher.
type Take<'t, 'a, P> =
    &'t (dyn Fn(&Found<'_>, &mut Outcome<'a>, &mut Sketcher) -> Result<P, Error> + Sync);

impl<'a> Run<'_, 'a> {
    /// Reads all batches, finds their candidates and hands in what `take` makes of them, by all
    /// workers. What fails is kept by `written`: of several faults the first in the input.
    pub(super) fn each_batch<P: Send, S: InOrderSink<P, Error = Error> + Send>(
        &self,
        segments: &[Segment],
        progress: &dyn Progress,
        written: &InOrder<P, S>,
        take: Take<'_, 'a, P>,
    ) -> Result<(), Error>
    where
        S::Error: Send,
    {
        let whole = self.wants.classified.is_some() || self.wants.unclassified.is_some();
        let gpu = self.classifier.query.devices();
        let gpu = gpu.as_deref();
        let [batch_records, batch_bytes] = gpu.map_or(BATCH, OnDevices::batch);
        let options = RecordOptions {
            keep: Keep {
                header: if whole { Header::Whole } else { Header::Name },
                qualities: whole || self.config.filter.min_quality > 0,
            },
            batch_records,
            batch_bytes,
            workers: self.resources.threads,
            max_record: self.plan.record,
            reads: reads_of(self.config.share.as_ref()),
            any_names: self.config.any_names,
            find_pairs: true,
            overlapping: gpu.is_some(),
            phred: self.config.filter.phred(),
            needs: Some(Needs {
                bases: self.classifier.database.params().k as usize,
                uracil: true,
            }),
            cancel: self.cancel.clone(),
            warnings: self.resources.warnings.clone(),
            ..RecordOptions::default()
        };
        let records = Records::open(segments, options)?;
        progress.stage("classify", Unit::Bytes, records.bytes_total());
        let batches = Pipeline::new(&records, written, progress, self.cancel);
        batches.work(self.resources.threads, || {
            let mut worker = Worker {
                run: self,
                batches,
                take,
                scratch: self.scratch(),
                sketcher: Sketcher::new(self.classifier.database.params()),
                features: Vec::new(),
                own: Outcome::default(),
                masked: RecordBatch::default(),
                spare: Vec::new(),
                in_flight: InFlight::default(),
            };
            worker.work(gpu);
            lock(&self.total).add(worker.own);
        })?;
        let mut total = lock(&self.total);
        tell_reading(&records.times(), &mut total.stages);
        total.skipped_alignments = records.skipped_alignments();
        progress.finish();
        Ok(())
    }

    /// A worker's own space, for the parts that are asked first.
    fn scratch(&self) -> Scratch {
        self.classifier.query.scratch().ask(self.plan.rounds[0].clone())
    }
}

/// A thread's own.
pub(super) struct Worker<'w, 'r, 'a, P, S: InOrderSink<P, Error = Error>> {
    run: &'w Run<'r, 'a>,
    batches: Pipeline<'w, Records, P, S>,
    take: Take<'w, 'a, P>,
    scratch: Scratch,
    sketcher: Sketcher,
    features: Vec<u64>,
    own: Outcome<'a>,
    /// Reads without bases of low quality.
    masked: RecordBatch,
    /// For their memory.
    spare: Vec<FoundBatch>,
    in_flight: InFlight<Flying>,
}

/// A batch that is on a device.
struct Flying {
    found: FoundBatch,
    flight: Flight,
}

impl<P: Send, S: InOrderSink<P, Error = Error> + Send> Worker<'_, '_, '_, P, S> {
    /// Takes batches until there are none.
    fn work(&mut self, gpu: Option<&OnDevices<'_>>) {
        while let Some(found) = self.next(gpu) {
            let number = found.batch.number();
            let done = match gpu {
                Some(gpu) => self.send(gpu, found),
                None => self.find(found),
            };
            if let Err(error) = done {
                self.batches.fail(number, error);
            }
        }
        if let Some(gpu) = gpu {
            self.land(gpu, 0);
        }
    }

    /// The next batch, once there is room for what will be made of it.
    fn next(&mut self, gpu: Option<&OnDevices<'_>>) -> Option<FoundBatch> {
        let mut found = self.spare.pop().unwrap_or_default();
        found.candidates.clear();
        found.ends.clear();
        if !self.batches.next(&mut found.batch) {
            return None;
        }
        let number = found.batch.number();
        if let Some(gpu) = gpu.filter(|_| !self.batches.written().has_room(number)) {
            // Those who wait for room may wait for ours.
            self.land(gpu, 0);
        }
        let begun = Instant::now();
        let room = self.batches.wait_for_room(&found.batch);
        self.run.clock.add(Clock::TURNS, begun);
        room.then_some(found)
    }

    /// Finds the candidates of a batch here.
    fn find(&mut self, mut found: FoundBatch) -> Result<(), Error> {
        let begun = Instant::now();
        let mut masked = std::mem::take(&mut self.masked);
        let FoundBatch { batch, candidates, ends, .. } = &mut found;
        let (views, passed_over) = self.run.config.filter.views(batch, &mut masked);
        self.own.passed_over += passed_over;
        self.run.classifier.query.candidates(&views, &mut self.scratch, candidates, ends);
        self.run.clock.add(Clock::FINDING, begun);
        self.finish(&Found { batch, candidates, ends, views: &views })?;
        if batch.is_long() {
            // None of them must keep a giant read's memory.
            (self.features, self.scratch) = (Vec::new(), self.run.scratch());
        } else {
            self.masked = masked;
            self.spare.push(found);
        }
        Ok(())
    }

    /// Sends a batch to a device.
    fn send(&mut self, gpu: &OnDevices<'_>, found: FoundBatch) -> Result<(), Error> {
        loop {
            let begun = Instant::now();
            // Who has batches on devices must not wait for a place: others may wait for his.
            let wait = self.in_flight.is_empty();
            let Some(mut place) = gpu.place(wait)? else {
                self.land(gpu, self.in_flight.len() - 1);
                continue;
            };
            let begun = self.run.clock.add(Clock::WAITING, begun);
            let (views, passed_over) = self.run.config.filter.views(&found.batch, &mut self.masked);
            self.own.passed_over += passed_over;
            gpu.start(&mut place, &views)?;
            drop(views);
            self.run.clock.add(Clock::FINDING, begun);
            self.in_flight.push(Flying { found, flight: place });
            self.land(gpu, FLYING - 1);
            return Ok(());
        }
    }

    /// Goes on with the batches that devices are done with, with the first ones in any case, so
    /// that no more than `most` are left.
    fn land(&mut self, gpu: &OnDevices<'_>, most: usize) {
        let is_done = |batch: &Flying| batch.flight.is_done();
        while let Some((Flying { found, flight }, done)) = self.in_flight.landed(most, is_done) {
            let number = found.batch.number();
            let landed = done.and_then(|()| self.collect(gpu, flight, found));
            if let Err(error) = landed {
                self.batches.fail(number, error);
            }
        }
    }

    fn collect(
        &mut self,
        gpu: &OnDevices<'_>,
        flight: Flight,
        mut found: FoundBatch,
    ) -> Result<(), Error> {
        let begun = Instant::now();
        flight.wait()?;
        let begun = self.run.clock.add(Clock::WAITING, begun);
        let mut masked = std::mem::take(&mut self.masked);
        let FoundBatch { batch, candidates, ends, .. } = &mut found;
        let (views, _) = self.run.config.filter.views(batch, &mut masked);
        gpu.finish(flight, &views, &mut self.scratch, candidates, ends)?;
        self.run.clock.add(Clock::COLLECTING, begun);
        self.finish(&Found { batch, candidates, ends, views: &views })?;
        self.masked = masked;
        self.spare.push(found);
        Ok(())
    }

    /// Makes of a batch and its candidates what is handed in.
    fn finish(&mut self, found: &Found<'_>) -> Result<(), Error> {
        let begun = Instant::now();
        if let Some(counter) = &self.run.features {
            for mates in found.views {
                counter.count(mates, &mut self.sketcher, &mut self.features);
            }
        }
        let part = (self.take)(found, &mut self.own, &mut self.sketcher)?;
        self.run.clock.add(Clock::DECIDING, begun);
        // What is made of a long record waits for its turn with it. Devices have batches before it.
        let number = found.batch.number();
        if found.batch.is_long() && self.in_flight.is_empty() {
            self.batches.hand_in_its_turn(number, Ok(part));
        } else {
            self.batches.hand_in(number, Ok(part));
        }
        Ok(())
    }
}
