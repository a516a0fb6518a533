//! The pipeline of every job that reads batches: fetch → work → outputs in the order of the input.
//!
//! A [`Source`] fills batches and numbers them. Each worker thread has a [`Work`], which makes an output of a
//! batch. If there are devices, a [`Device`] makes it instead, while the worker goes on with the next batch. An
//! [`InOrderSink`] receives the outputs in the order of the numbers. The engine owns the rest: spare memory,
//! back-pressure, ordered hand-over, failures, panics, cancellation, and the deadlock rule.
//!
//! # Back-pressure
//! A batch is begun only if its number is less than `ahead` after the one that is being written. The output of a
//! [long](Source::is_long) batch is deferred: it is handed over only after all outputs before it are written,
//! so that it never waits in memory. A worker may hand over several outputs of a batch, in its turn
//! ([`Turn::hand_over`]), or before it while their weights allow ([`Turn::hand_over_early`]).
//!
//! # Failures
//! Of several failures, the run reports the first in the order of the input: every batch before it is already
//! with a worker, which completes it. A worker that panics ends the run; no thread waits for it.
//!
//! # Preparation
//! A job that fills devices first, as with a database, gives that to the engine ([`Engine::with_preparation`]), which
//! does it on a thread of its own: meanwhile workers fetch their first batches, and wait before they use a device
//! ([`Turn::is_prepared`]).
//!
//! # The deadlock rule
//! **A worker that holds a batch on a device never blocks**: not for room, not for another slot, not for its
//! turn to write. Others may be waiting for the slot that it holds, or for the output of the batch in it.
//! Before it blocks, it finishes the batches that it has on devices. It may wait for the next batch, since a
//! source waits only for the input and for other calls of [`Source::next`]. A job whose workers keep a slot
//! while they write takes slots in the order of the batches ([`Turn::in_order`]), so that a waiting worker
//! waits only for earlier batches.
//!
//! `models.rs` checks these rules under every interleaving of threads (loom).

mod device;
mod held;
mod in_flight;
#[cfg(all(loom, test))]
mod models;
mod on_devices;
mod ordered;
mod source;
#[cfg(all(test, not(loom)))]
mod tests;
mod turn;
mod turns;
mod work;

pub use device::Device;
pub use held::Held;
use ordered::Discard;
pub use ordered::{InOrder, InOrderSink, OnFailure};
pub use source::{NumberSource, Source};
pub use turn::Turn;
pub use turns::{Ticket, Turns};
pub use work::Work;

use std::fmt;
use std::time::Instant;

use crate::locks::{into_inner, lock};
use crate::sync::Mutex;
use crate::workers::Gate;
use crate::{Cancel, Cancelled, Progress, StartError, run_workers_collect};
use device::NoDevice;
use on_devices::OnDevices;

/// A pipeline of batches from a source to a sink; see the [module](self).
pub struct Engine<'e, S, P, K: InOrderSink<P>> {
    source: &'e S,
    outputs: InOrder<P, K>,
    /// The turns for slots, if slots are taken in the order of the batches.
    slots: Option<Turns<()>>,
    preparation: Option<Preparation<'e, K::Error>>,
    progress: &'e dyn Progress,
    cancel: &'e Cancel,
}

/// The work to be done before batches go to devices.
struct Preparation<'e, E> {
    prepare: &'e (dyn Fn() -> Result<(), E> + Sync),
    /// Opens when it is done or has failed.
    done: Gate,
}

impl<S, P, K: InOrderSink<P>> fmt::Debug for Engine<'_, S, P, K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Engine").finish_non_exhaustive()
    }
}

impl<'e, S, P, K, E> Engine<'e, S, P, K>
where
    S: Source,
    S::Batch: Send,
    K: InOrderSink<P, Error = E> + Send,
    E: From<S::Error> + From<Cancelled> + From<StartError> + Send,
    P: Send,
{
    /// Creates an engine from `source` to `sink`, in which up to `ahead` batches are begun before earlier ones are
    /// written. `progress` receives the bytes of input, in the stage that the caller has begun.
    pub fn new(
        source: &'e S,
        sink: K,
        ahead: u64,
        progress: &'e dyn Progress,
        cancel: &'e Cancel,
    ) -> Self {
        let outputs = InOrder::new(sink, ahead, 0);
        Engine { source, outputs, slots: None, preparation: None, progress, cancel }
    }

    /// Makes [`run`](Self::run) and [`run_on`](Self::run_on) call `prepare` once on a thread of its own, before batches
    /// go to devices ([`Turn::is_prepared`]). Its failure concerns all batches, and is reported before theirs.
    #[must_use]
    pub fn with_preparation(self, prepare: &'e (dyn Fn() -> Result<(), E> + Sync)) -> Self {
        Engine { preparation: Some(Preparation { prepare, done: Gate::default() }), ..self }
    }

    /// Allows outputs that are handed over [early](Turn::hand_over_early) a total weight of `most` while they wait.
    #[must_use]
    pub fn with_waiting(self, most: u64) -> Self {
        Engine { outputs: self.outputs.with_most(most), ..self }
    }

    /// Makes batches take slots in their order ([`Turn::in_order`]).
    #[must_use]
    pub fn with_slots_in_order(self) -> Self {
        Engine { slots: Some(Turns::default()), ..self }
    }

    /// Processes all batches on `threads` threads, each with a worker from `make`, and returns the workers.
    /// Failures of batches are kept for [`finish`](Self::finish).
    ///
    /// # Errors
    /// If not all threads can be started.
    pub fn run<W>(&self, threads: usize, make: impl Fn() -> W + Sync) -> Result<Vec<W>, E>
    where
        W: Work<Batch = S::Batch, Output = P, Error = E> + Send,
    {
        self.run_on(threads, None::<&NoDevice>, make)
    }

    /// Processes all batches like [`run`](Self::run), on devices if there are any. Workers and devices share one
    /// queue.
    ///
    /// # Errors
    /// If not all threads can be started.
    pub fn run_on<W, D>(
        &self,
        threads: usize,
        device: Option<&D>,
        make: impl Fn() -> W + Sync,
    ) -> Result<Vec<W>, E>
    where
        W: Work<Batch = S::Batch, Output = P, Error = E> + Send,
        D: Device<W>,
    {
        let work = || {
            let mut worker = make();
            self.take_all(&mut worker, device);
            worker
        };
        let Some(preparation) = &self.preparation else { return self.collect(threads, work) };
        let threads = threads.max(1);
        let workers = run_workers_collect(threads + 1, |number| {
            if number == threads {
                self.prepare(preparation);
                return Ok(None);
            }
            Ok::<_, E>(Some(self.guarded(work)))
        })?;
        Ok(workers.into_iter().flatten().collect())
    }

    /// Takes batches while `more` returns true, on `threads` threads, and returns the result of `hold` for each, in
    /// order. Empty if there are no more batches, or none are wanted.
    ///
    /// # Errors
    /// If not all threads can be started.
    pub fn hold<W, H: Send>(
        &self,
        threads: usize,
        make: impl Fn() -> W + Sync,
        more: impl Fn() -> bool + Sync,
        hold: impl Fn(&mut W, &mut S::Batch) -> H + Sync,
    ) -> Result<Vec<Held<H>>, E> {
        let held = Mutex::new(Vec::new());
        self.collect(threads, || {
            let (mut worker, mut batch) = (make(), S::Batch::default());
            while more() && self.next(&mut batch) {
                let (number, is_long) = (S::number(&batch), self.source.is_long(&batch));
                let kept = hold(&mut worker, &mut batch);
                lock(&held).push(Held { number, is_long, kept });
            }
        })?;
        let mut held = into_inner(held);
        held.sort_unstable_by_key(|held| held.number);
        Ok(held)
    }

    /// Processes batches that were [held](Self::hold), and returns the workers.
    ///
    /// # Errors
    /// If not all threads can be started.
    pub fn run_held<W: Send, H: Send>(
        &self,
        threads: usize,
        held: Vec<Held<H>>,
        make: impl Fn() -> W + Sync,
        work: impl Fn(&mut W, H, &Turn<'_, P, E>) -> Result<P, E> + Sync,
    ) -> Result<Vec<W>, E> {
        let held = Mutex::new(held.into_iter());
        let next = || lock(&held).next();
        self.collect(threads, || {
            let mut worker = make();
            while let Some(Held { number, is_long, kept }) = next()
                && self.has_come(number)
            {
                let turn = self.turn(number, is_long);
                let done = work(&mut worker, kept, &turn);
                self.hand_over(turn, done);
            }
            worker
        })
    }

    /// Ends the run with an error, as if batch `number` had failed; 0 for an error that concerns all batches.
    pub fn fail(&self, number: u64, error: E) {
        self.outputs.fail(number, error);
        self.stop(number);
    }

    /// Returns the sink after all outputs were written.
    ///
    /// # Errors
    /// The failure with the smallest number; `Cancelled` if the run was cancelled.
    pub fn finish(self) -> Result<K, E> {
        let sink = self.outputs.into_sink();
        // After a cancellation the source may look ended or faulty.
        if self.cancel.is_cancelled() { Err(Cancelled.into()) } else { sink }
    }

    /// Runs `work` on all threads; no thread waits for one that has panicked.
    fn collect<T: Send>(&self, threads: usize, work: impl Fn() -> T + Sync) -> Result<Vec<T>, E> {
        run_workers_collect(threads, |_| Ok(self.guarded(&work)))
    }

    /// Prepares devices; then workers may use them.
    fn prepare(&self, preparation: &Preparation<'_, E>) {
        // After a panic, too, no worker waits any longer.
        let failed = OnFailure::new(|| preparation.done.open(false));
        match self.guarded(preparation.prepare) {
            Ok(()) => {
                failed.disarm();
                preparation.done.open(true);
            }
            Err(error) => self.fail(0, error),
        }
    }

    /// Waits until devices are prepared; false if that failed.
    fn is_prepared(&self) -> bool {
        self.preparation.as_ref().is_none_or(|preparation| preparation.done.pass())
    }

    fn guarded<T>(&self, work: impl FnOnce() -> T) -> T {
        let gone = OnFailure::new(|| {
            self.stop(0);
            self.outputs.stop();
        });
        let value = work();
        gone.disarm();
        value
    }

    /// Runs a worker's loop: takes batches until there are no more.
    fn take_all<W, D>(&self, worker: &mut W, device: Option<&D>)
    where
        W: Work<Batch = S::Batch, Output = P, Error = E>,
        D: Device<W>,
    {
        if let Some(device) = device {
            OnDevices::new(self, device, worker).take_all();
            return;
        }
        let mut batch = S::Batch::default();
        while self.next(&mut batch) && self.wait_for_room(worker, &batch) {
            self.work(worker, &mut batch);
        }
    }

    /// Refills a batch; false if there are no more, or none are wanted.
    fn next(&self, batch: &mut S::Batch) -> bool {
        if self.outputs.has_failed() {
            // After a failed write, other threads may be blocked on an idle input pipe.
            self.stop(u64::MAX);
            return false;
        }
        let fetched = self.source.next(batch);
        // After a cancellation the source may look ended or faulty.
        if self.cancel.is_cancelled() {
            self.fail(0, Cancelled.into());
            return false;
        }
        match fetched {
            Ok(Some(bytes)) => {
                self.progress.advance(bytes);
                if let Some(error) = S::fault_behind(batch) {
                    self.fail(S::number(batch) + 1, error.into());
                }
                true
            }
            Ok(None) => false,
            Err(error) => {
                self.fail(S::number(batch), error.into());
                false
            }
        }
    }

    /// Waits until a batch may be begun; false if it is not wanted any more.
    fn wait_for_room<W: Work>(&self, worker: &mut W, batch: &S::Batch) -> bool {
        let begun = Instant::now();
        let has_come = self.has_come(S::number(batch));
        worker.waited(begun);
        has_come
    }

    /// Waits until the batch with this number may be begun; false if it is not wanted any more.
    fn has_come(&self, number: u64) -> bool {
        let room = self.outputs.wait_for_room(number);
        if !room {
            // Other threads may be blocked on an idle input pipe.
            self.stop(number);
        }
        room
    }

    fn turn(&self, number: u64, is_long: bool) -> Turn<'_, P, E> {
        let prepared = self.preparation.as_ref().map(|preparation| &preparation.done);
        Turn::new(number, is_long, &self.outputs, self.slots.as_ref(), prepared)
    }

    fn turn_of(&self, batch: &S::Batch) -> Turn<'_, P, E> {
        self.turn(S::number(batch), self.source.is_long(batch))
    }

    /// Makes the output of a batch on this worker and hands it over.
    fn work<W>(&self, worker: &mut W, batch: &mut S::Batch)
    where
        W: Work<Batch = S::Batch, Output = P, Error = E>,
    {
        let turn = self.turn_of(batch);
        let done = worker.work(batch, &turn);
        self.hand_over(turn, done);
    }

    /// Hands over the output or the error of a batch.
    fn hand_over(&self, turn: Turn<'_, P, E>, done: Result<P, E>) {
        match done {
            Ok(output) if turn.is_deferred() => {
                self.outputs.hand_in_some(turn.number(), output, u64::MAX, true);
            }
            Ok(output) => self.outputs.hand_in(turn.number(), output),
            Err(error) => self.fail(turn.number(), error),
        }
    }

    /// Stops batches from `number` on.
    fn stop(&self, number: u64) {
        self.source.stop(number);
        if let Some(slots) = &self.slots {
            slots.stop(number);
        }
    }
}

/// Calls `work` with every batch of a source, on `threads` threads, each with a state from `make`; returns the
/// states. For work without ordered outputs. `progress` receives the bytes of input.
///
/// # Errors
/// The error of the first failed batch; if a thread cannot be started; if the run was cancelled.
pub fn each_batch<S, W, E>(
    source: &S,
    threads: usize,
    progress: &dyn Progress,
    cancel: &Cancel,
    make: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, &mut S::Batch) -> Result<(), E> + Sync,
) -> Result<Vec<W>, E>
where
    S: Source,
    S::Batch: Send,
    W: Send,
    E: From<S::Error> + From<Cancelled> + From<StartError> + Send,
{
    let engine = Engine::new(source, Discard::default(), u64::MAX, progress, cancel);
    let states = engine.collect(threads, || {
        let (mut state, mut batch) = (make(), S::Batch::default());
        while engine.next(&mut batch) {
            if let Err(error) = work(&mut state, &mut batch) {
                engine.fail(S::number(&batch), error);
            }
        }
        state
    })?;
    engine.finish()?;
    Ok(states)
}
