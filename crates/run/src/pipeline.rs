//! Batches on their way through all workers: fetched, worked on, and what becomes of them written in
//! the order of the input. Back-pressure, failure, panic and cancellation have their place here.

use crate::{Cancel, Cancelled, InOrder, InOrderSink, OnFailure, Progress, StartError};
use crate::{run_workers, run_workers_collect};

/// Where batches come from, in the order of their numbers.
pub trait Source: Sync {
    /// Batches, whose memory is used again.
    type Batch: Default;
    /// Why there is no next one.
    type Error;

    /// Refills a batch with the next records, and returns the bytes of input that were read for it;
    /// `None` if there are no more. Any number of workers call it, each with a batch of its own.
    ///
    /// # Errors
    /// If the input is at fault; the batch then has the number that it would have had.
    fn next(&self, batch: &mut Self::Batch) -> Result<Option<u64>, Self::Error>;

    /// What is wrong behind the records of this batch, which are good: it is the failure of the next
    /// number.
    fn fault_behind(batch: &mut Self::Batch) -> Option<Self::Error> {
        let _ = batch;
        None
    }

    /// How many batches come before this one.
    fn number(batch: &Self::Batch) -> u64;

    /// Ends it: whoever waits in [`next`](Self::next) gets nothing, or an error that means nothing.
    fn stop(&self);
}

/// A source, what is written, and who watches.
///
/// A worker takes [`next`](Self::next) batches, [waits](Self::wait_for_room) until each may be worked
/// on, and [hands in](Self::hand_in) what becomes of it. Of several failures the first in the order of
/// the input is the run's, as all batches in front of it were taken by somebody, who goes on with
/// them.
pub struct Pipeline<'p, S, P, W: InOrderSink<P>> {
    source: &'p S,
    written: &'p InOrder<P, W>,
    progress: &'p dyn Progress,
    cancel: &'p Cancel,
}

impl<S, P, W: InOrderSink<P>> Clone for Pipeline<'_, S, P, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, P, W: InOrderSink<P>> std::fmt::Debug for Pipeline<'_, S, P, W> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Pipeline").finish_non_exhaustive()
    }
}

impl<S, P, W: InOrderSink<P>> Copy for Pipeline<'_, S, P, W> {}

impl<'p, S, P, W, E> Pipeline<'p, S, P, W>
where
    S: Source,
    W: InOrderSink<P, Error = E> + Send,
    E: From<S::Error> + From<Cancelled> + From<StartError> + Send,
    P: Send,
{
    /// From `source` to `written`; `progress` is told of the bytes of input, in the stage that the
    /// caller has begun.
    pub fn new(
        source: &'p S,
        written: &'p InOrder<P, W>,
        progress: &'p dyn Progress,
        cancel: &'p Cancel,
    ) -> Self {
        Pipeline { source, written, progress, cancel }
    }

    /// Where batches come from.
    pub fn source(&self) -> &'p S {
        self.source
    }

    /// Where parts are handed in.
    pub fn written(&self) -> &'p InOrder<P, W> {
        self.written
    }

    /// Runs `work` on so many threads; each has a guard, so that nobody waits for one that has
    /// panicked or failed. What failed is kept by [`written`](Self::written).
    ///
    /// # Errors
    /// If not all threads can be started.
    pub fn work(&self, threads: usize, work: impl Fn() + Sync) -> Result<(), E> {
        run_workers(threads, |_| {
            self.guarded(&work);
            Ok(())
        })
    }

    /// As [`work`](Self::work), and returns what the workers returned.
    ///
    /// # Errors
    /// If not all threads can be started.
    pub fn collect<T: Send>(
        &self,
        threads: usize,
        work: impl Fn() -> T + Sync,
    ) -> Result<Vec<T>, E> {
        run_workers_collect(threads, |_| Ok(self.guarded(&work)))
    }

    pub(crate) fn guarded<T>(&self, work: impl Fn() -> T) -> T {
        let gone = OnFailure::new(|| {
            self.source.stop();
            self.written.stop();
        });
        let value = work();
        gone.disarm();
        value
    }

    /// Refills a batch; `false` if there are no more, or none are wanted.
    pub fn next(&self, batch: &mut S::Batch) -> bool {
        if self.written.has_failed() {
            return false;
        }
        let fetched = self.source.next(batch);
        // What is cancelled looks like an end, or like a fault.
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

    /// Waits until a batch may be worked on; `false` if it is not wanted any more.
    pub fn wait_for_room(&self, batch: &S::Batch) -> bool {
        let room = self.written.wait_for_room(S::number(batch));
        if !room {
            // Others may wait for a pipe that keeps silent.
            self.source.stop();
        }
        room
    }

    /// Takes what became of the batch of a number: what is to be written, or why there is nothing.
    pub fn hand_in(&self, number: u64, part: Result<P, E>) {
        match part {
            Ok(part) => self.written.hand_in(number, part),
            Err(error) => self.fail(number, error),
        }
    }

    /// As [`hand_in`](Self::hand_in), for a part that must not wait in memory for its turn.
    pub fn hand_in_its_turn(&self, number: u64, part: Result<P, E>) {
        match part {
            Ok(part) => {
                self.written.hand_in_some(number, part, u64::MAX, true);
            }
            Err(error) => self.fail(number, error),
        }
    }

    /// Takes a failure with its batch's number: those behind it are not begun.
    pub fn fail(&self, number: u64, error: E) {
        self.written.fail(number, error);
        self.source.stop();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    use super::{Pipeline, Source};
    use crate::{Cancel, Cancelled, InOrder, InOrderSink, Silent, StartError};

    #[derive(Debug, PartialEq)]
    enum Error {
        Cancelled,
        Start,
        At(u64),
    }

    impl From<Cancelled> for Error {
        fn from(_: Cancelled) -> Error {
            Error::Cancelled
        }
    }

    impl From<StartError> for Error {
        fn from(_: StartError) -> Error {
            Error::Start
        }
    }

    /// Numbers up to `end`, at which there is an error if `faulty`.
    struct Numbers {
        next: AtomicU64,
        end: u64,
        faulty: bool,
        stopped: AtomicBool,
    }

    impl Numbers {
        fn up_to(end: u64, faulty: bool) -> Numbers {
            Numbers { next: AtomicU64::new(0), end, faulty, stopped: AtomicBool::new(false) }
        }
    }

    impl Source for Numbers {
        type Batch = u64;
        type Error = Error;

        fn next(&self, batch: &mut u64) -> Result<Option<u64>, Error> {
            *batch = self.next.fetch_add(1, Ordering::Relaxed);
            match *batch {
                at if at < self.end && !self.stopped.load(Ordering::Relaxed) => Ok(Some(1)),
                at if at == self.end && self.faulty => Err(Error::At(at)),
                _ => Ok(None),
            }
        }

        fn number(batch: &u64) -> u64 {
            *batch
        }

        fn stop(&self) {
            self.stopped.store(true, Ordering::Relaxed);
        }
    }

    #[derive(Debug, Default)]
    struct List(Vec<u64>);

    impl InOrderSink<u64> for List {
        type Error = Error;

        fn write(&mut self, part: u64) -> Result<Option<u64>, Error> {
            self.0.push(part);
            Ok(None)
        }
    }

    fn run(source: &Numbers, cancel: &Cancel, fails_at: &[u64]) -> Result<Vec<u64>, Error> {
        let written = InOrder::new(List::default(), 8, 0);
        let pipeline = Pipeline::new(source, &written, &Silent, cancel);
        pipeline.work(4, || {
            let mut batch = 0;
            while pipeline.next(&mut batch) && pipeline.wait_for_room(&batch) {
                let fails = fails_at.contains(&batch);
                let part = if fails { Err(Error::At(batch)) } else { Ok(batch * 10) };
                if batch.is_multiple_of(3) {
                    pipeline.hand_in_its_turn(batch, part);
                } else {
                    pipeline.hand_in(batch, part);
                }
            }
        })?;
        written.into_sink().map(|list| list.0)
    }

    #[test]
    fn parts_come_out_in_the_order_of_the_input() {
        let expected: Vec<u64> = (0..500).map(|number| number * 10).collect();
        for _ in 0..20 {
            let done = run(&Numbers::up_to(500, false), &Cancel::default(), &[]);
            assert_eq!(done.unwrap(), expected);
        }
    }

    #[test]
    fn of_several_failures_the_first_in_the_input_counts() {
        for _ in 0..50 {
            let source = Numbers::up_to(60, true);
            assert_eq!(run(&source, &Cancel::default(), &[]), Err(Error::At(60)));
            let source = Numbers::up_to(60, true);
            assert_eq!(run(&source, &Cancel::default(), &[47, 45, 52]), Err(Error::At(45)));
        }
    }

    #[test]
    fn what_is_cancelled_ends_whatever_else_went_wrong() {
        let cancel = Cancel::default();
        cancel.cancel();
        assert_eq!(run(&Numbers::up_to(9, true), &cancel, &[0]), Err(Error::Cancelled));
    }

    #[test]
    fn a_worker_that_panics_leaves_nobody_waiting() {
        let (source, cancel) = (Numbers::up_to(u64::MAX, false), Cancel::default());
        let written = InOrder::new(List::default(), 2, 0);
        let pipeline = Pipeline::new(&source, &written, &Silent, &cancel);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            pipeline.collect(3, || {
                let mut batch = 0;
                while pipeline.next(&mut batch) && pipeline.wait_for_room(&batch) {
                    assert!(batch != 100, "as planned");
                    pipeline.hand_in(batch, Ok(batch));
                }
            })
        }));
        assert!(panicked.is_err());
    }
}
