//! Models of the engine's guarantees under all interleavings of its threads: loom tries all with at most a few
//! preemptions ([`CHANGES`]). It also fails if a thread waits forever.
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" cargo test --release -p merganser-run --lib models
//! ```
//!
//! The models run the production code; only locks and atomics are loom's (`sync.rs`). Threads are
//! started here, since loom has no scopes. loom switches threads while one unwinds, which poisons its locks, so
//! panics are modelled only with few locks.
#![allow(unsafe_code)] // Threads of loom cannot borrow, and nothing may be leaked.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;

use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

use super::{Device, Engine, InOrder, InOrderSink, Source, Turn, Turns, Work};
use crate::locks::{lock, wait};
use crate::workers::Gate;
use crate::{Cancel, Cancelled, Silent, StartError};

/// The largest number of preemptions. Locking errors show with two; without a bound some models take hours.
const CHANGES: usize = 3;

fn model(check: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(CHANGES);
    builder.check(check);
}

#[derive(Debug, PartialEq)]
enum Error {
    Cancelled,
    At(u64),
}

impl From<Cancelled> for Error {
    fn from(_: Cancelled) -> Error {
        Error::Cancelled
    }
}

impl From<StartError> for Error {
    fn from(_: StartError) -> Error {
        unreachable!("no thread is started by the engine")
    }
}

/// A source of numbers up to `end`, each in its turn if they are `chained`. After the last the source ends; if it is
/// `silent`, it blocks until it is stopped.
#[derive(Default)]
struct Numbers {
    next: AtomicU64,
    end: u64,
    silent: bool,
    chained: Option<Turns<u64>>,
    long: Option<u64>,
    stopped: Mutex<bool>,
    changed: Condvar,
}

impl Source for Numbers {
    type Batch = u64;
    type Error = Error;

    fn next(&self, batch: &mut u64) -> Result<Option<u64>, Error> {
        if *lock(&self.stopped) {
            return Ok(None);
        }
        *batch = self.next.fetch_add(1, Ordering::Relaxed);
        if *batch < self.end {
            let Some(turns) = &self.chained else { return Ok(Some(1)) };
            let before = turns.take(*batch, |before| std::mem::replace(before, *batch + 1));
            assert!(before.is_none_or(|before| before == *batch), "turns are in order");
            return Ok(before.map(|_| 1));
        }
        let mut stopped = lock(&self.stopped);
        while self.silent && !*stopped {
            stopped = wait(&self.changed, stopped);
        }
        Ok(None)
    }

    fn number(batch: &u64) -> u64 {
        *batch
    }

    fn is_long(&self, batch: &u64) -> bool {
        self.long == Some(*batch)
    }

    fn stop(&self, number: u64) {
        *lock(&self.stopped) = true;
        self.changed.notify_all();
        if let Some(turns) = &self.chained {
            turns.stop(number);
        }
    }
}

/// An offset added to the number of a batch to mark an output before its last one.
const EARLY: u64 = 100;

/// A sink that keeps its outputs, and counts how many batches are begun and not yet written.
#[derive(Debug)]
struct List {
    outputs: Vec<u64>,
    begun: Arc<AtomicUsize>,
    fails_at: Option<u64>,
}

impl InOrderSink<u64> for List {
    type Error = Error;

    fn write(&mut self, output: u64) -> Result<Option<u64>, Error> {
        if self.fails_at == Some(output) {
            return Err(Error::At(output));
        }
        self.outputs.push(output);
        if output < EARLY {
            self.begun.fetch_sub(1, Ordering::SeqCst);
        }
        Ok(None)
    }
}

/// The scenario of a run.
#[derive(Clone, Copy, Default)]
struct Plan {
    end: u64,
    silent: bool,
    chained: bool,
    ahead: u64,
    fails_at: &'static [u64],
    panics_at: Option<u64>,
    write_fails_at: Option<u64>,
    /// The batch whose output waits for its turn.
    long: Option<u64>,
    /// The number of slots of the device; `None` for no device.
    slots: Option<usize>,
    /// Whether slots are taken in order, and kept while outputs are handed over.
    keeps_slots: bool,
    /// Whether another thread prepares the device, and whether it fails.
    preparation_fails: Option<bool>,
}

/// A worker of the models.
struct Worker<'r> {
    run: &'r ModelShared,
}

impl Worker<'_> {
    fn make(&self, batch: u64) -> Result<u64, Error> {
        let plan = &self.run.plan;
        if plan.panics_at == Some(batch) {
            // Without the panic hook, which would print a message for every interleaving.
            resume_unwind(Box::new("as planned"));
        }
        if plan.fails_at.contains(&batch) { Err(Error::At(batch)) } else { Ok(batch) }
    }

    fn begin(&self) {
        let begun = self.run.begun.fetch_add(1, Ordering::SeqCst) as u64;
        assert!(begun <= self.run.plan.ahead, "one is being written while the next are begun");
    }
}

impl Work for Worker<'_> {
    type Batch = u64;
    type Output = u64;
    type Error = Error;

    fn work(&mut self, batch: &mut u64, turn: &Turn<'_, u64, Error>) -> Result<u64, Error> {
        self.begin();
        if !self.run.plan.keeps_slots {
            return self.make(*batch);
        }
        let slots = &self.run.slots;
        turn.in_order(|| slots.take()).ok_or(Error::Cancelled)?;
        // As `map` does with a batch of many hits.
        let wanted = turn.hand_over(*batch + EARLY);
        slots.put();
        if wanted { self.make(*batch) } else { Err(Error::Cancelled) }
    }
}

/// The slots of a device.
struct Slots {
    free: Mutex<usize>,
    changed: Condvar,
}

impl Slots {
    fn take(&self) {
        let mut free = lock(&self.free);
        while *free == 0 {
            free = wait(&self.changed, free);
        }
        *free -= 1;
    }

    fn try_take(&self) -> bool {
        let mut free = lock(&self.free);
        let is_free = *free > 0;
        *free -= usize::from(is_free);
        is_free
    }

    fn put(&self) {
        *lock(&self.free) += 1;
        self.changed.notify_one();
    }
}

impl Device<Worker<'_>> for Slots {
    type Slot = ();
    const IN_FLIGHT: usize = 2;

    fn place(&self, _: &mut Worker<'_>, may_wait: bool) -> Result<Option<()>, Error> {
        if may_wait {
            self.take();
            return Ok(Some(()));
        }
        Ok(self.try_take().then_some(()))
    }

    fn start(&self, worker: &mut Worker<'_>, _: &mut u64, (): &mut ()) -> Result<(), Error> {
        worker.begin();
        Ok(())
    }

    fn is_done(&self, (): &()) -> Result<bool, Error> {
        // Never before the engine has to wait.
        Ok(false)
    }

    fn finish(
        &self,
        worker: &mut Worker<'_>,
        batch: &mut u64,
        (): (),
        _: &Turn<'_, u64, Error>,
    ) -> Result<u64, Error> {
        self.put();
        worker.make(*batch)
    }
}

/// The state that all threads of a run share.
struct ModelShared {
    plan: Plan,
    slots: Slots,
    begun: Arc<AtomicUsize>,
}

/// An engine shared by loom's threads, which cannot borrow.
struct Shared {
    run: &'static ModelShared,
    engine: Engine<'static, Numbers, u64, List>,
}

/// The outputs or the error of a run, and whether no worker panicked.
type Ended = (Result<Vec<u64>, Error>, bool);

/// Runs a scenario with this many workers, one of them on the calling thread, and a thread that may cancel.
fn run(plan: Plan, workers: usize, cancels: bool) -> Ended {
    let begun = Arc::new(AtomicUsize::new(0));
    let slots = Slots { free: Mutex::new(plan.slots.unwrap_or(1)), changed: Condvar::new() };
    let run = Box::into_raw(Box::new(ModelShared { plan, slots, begun: begun.clone() }));
    let source = Box::into_raw(Box::new(Numbers {
        end: plan.end,
        silent: plan.silent,
        chained: plan.chained.then(Turns::default),
        long: plan.long,
        ..Numbers::default()
    }));
    let cancel = Box::into_raw(Box::new(Cancel::default()));
    // SAFETY: all three are freed below, after every thread with a reference to them was joined.
    let ended = unsafe { run_with(&*run, &*source, &*cancel, begun, workers, cancels) };
    // SAFETY: they come from `Box::into_raw` above, and no reference is left.
    unsafe {
        drop(Box::from_raw(run));
        drop(Box::from_raw(source));
        drop(Box::from_raw(cancel));
    }
    ended
}

fn run_with(
    run: &'static ModelShared,
    source: &'static Numbers,
    cancel: &'static Cancel,
    begun: Arc<AtomicUsize>,
    workers: usize,
    cancels: bool,
) -> Ended {
    let list = List { outputs: Vec::new(), begun, fails_at: run.plan.write_fails_at };
    let mut engine = Engine::new(source, list, run.plan.ahead, &Silent, cancel);
    if run.plan.keeps_slots {
        engine = engine.with_slots_in_order();
    }
    if let Some(fails) = run.plan.preparation_fails {
        engine = engine.with_preparation(if fails { &|| Err(Error::At(77)) } else { &|| Ok(()) });
    }
    let shared = Arc::new(Shared { run, engine });
    let work = |shared: &Shared| {
        let Shared { run, engine } = shared;
        let device = run.plan.slots.filter(|_| !run.plan.keeps_slots).map(|_| &run.slots);
        let work = || engine.guarded(|| engine.take_all(&mut Worker { run }, device));
        catch_unwind(AssertUnwindSafe(work)).is_ok()
    };
    let start = |_| {
        let shared = shared.clone();
        thread::spawn(move || work(&shared))
    };
    let others: Vec<_> = (1..workers).map(start).collect();
    let preparer = run.plan.preparation_fails.map(|_| {
        let shared = shared.clone();
        thread::spawn(move || {
            let preparation = shared.engine.preparation.as_ref();
            shared.engine.prepare(preparation.expect("planned"));
        })
    });
    let canceller = cancels.then(|| thread::spawn(move || cancel.cancel()));
    let mut sound = work(&shared);
    for other in others {
        sound &= other.join().expect("its panic was caught");
    }
    for thread in preparer.into_iter().chain(canceller) {
        thread.join().expect("no panic");
    }
    let shared = Arc::try_unwrap(shared).ok().expect("all have ended");
    (shared.engine.finish().map(|list| list.outputs), sound)
}

#[test]
fn outputs_come_in_the_order_of_the_input_and_few_are_begun() {
    for (workers, ahead) in [(2, 1), (2, 2), (3, 1)] {
        model(move || {
            let plan = Plan { end: 3, ahead, long: Some(1), ..Plan::default() };
            assert_eq!(run(plan, workers, false), (Ok(vec![0, 1, 2]), true));
        });
    }
}

#[test]
fn of_several_failures_the_first_in_the_input_counts() {
    model(|| {
        let plan = Plan { end: 3, ahead: 2, fails_at: &[1, 2], ..Plan::default() };
        assert_eq!(run(plan, 2, false).0, Err(Error::At(1)));
    });
}

#[test]
fn a_failure_wakes_workers_that_wait_for_a_silent_source() {
    model(|| {
        let plan = Plan { end: 1, silent: true, ahead: 2, fails_at: &[0], ..Plan::default() };
        assert_eq!(run(plan, 2, false).0, Err(Error::At(0)));
    });
}

#[test]
fn an_output_that_cannot_be_written_ends_the_run() {
    for silent in [false, true] {
        model(move || {
            let plan =
                Plan { end: 3, silent, ahead: 1, write_fails_at: Some(1), ..Plan::default() };
            assert_eq!(run(plan, 2, false).0, Err(Error::At(1)));
        });
    }
}

#[test]
fn a_cancelled_run_ends_whole_or_as_cancelled() {
    model(|| {
        let (outputs, sound) = run(Plan { end: 2, ahead: 1, ..Plan::default() }, 2, true);
        assert!(sound && matches!(outputs, Ok(_) | Err(Error::Cancelled)), "{outputs:?}");
        if let Ok(outputs) = outputs {
            assert_eq!(outputs, [0, 1]);
        }
    });
}

#[test]
fn the_reason_of_a_cancellation_is_seen_with_it() {
    model(|| {
        let (cancel, reason) = (Cancel::default(), Arc::new(AtomicU64::new(0)));
        let canceller = thread::spawn({
            let (cancel, reason) = (cancel.clone(), reason.clone());
            move || {
                reason.store(7, Ordering::Relaxed);
                cancel.cancel();
            }
        });
        if cancel.of_part().is_cancelled() {
            assert_eq!(reason.load(Ordering::Relaxed), 7);
        }
        canceller.join().unwrap();
    });
}

#[test]
fn a_worker_that_panics_leaves_no_thread_waiting() {
    for (end, silent, chained) in [(1, true, false), (3, false, false), (3, false, true)] {
        model(move || {
            let panics_at = Some(0);
            let plan = Plan { end, silent, chained, ahead: 1, panics_at, ..Plan::default() };
            let (outputs, sound) = run(plan, 2, false);
            assert!(!sound && outputs.is_ok_and(|outputs| outputs.is_empty()));
        });
    }
}

#[test]
fn batches_are_cut_in_their_turns() {
    for fails_at in [&[][..], &[1]] {
        model(move || {
            let plan = Plan { end: 3, chained: true, ahead: 2, fails_at, ..Plan::default() };
            let expected = if fails_at.is_empty() { Ok(vec![0, 1, 2]) } else { Err(Error::At(1)) };
            assert_eq!(run(plan, 2, false).0, expected);
        });
    }
}

/// Checks the deadlock rule with fewer slots than batches in flight, and room for few outputs.
#[test]
fn workers_with_batches_on_devices_block_nobody() {
    for (end, slots, ahead, long) in
        [(3, 1, 1, None), (3, 1, 2, None), (3, 2, 1, None), (4, 2, 3, None), (3, 2, 2, Some(1))]
    {
        model(move || {
            let plan = Plan { end, ahead, slots: Some(slots), long, ..Plan::default() };
            assert_eq!(run(plan, 2, false), (Ok(Vec::from_iter(0..end)), true));
        });
    }
}

#[test]
fn failures_end_runs_with_devices() {
    for (slots, write_fails_at) in [(1, None), (2, None), (1, Some(1))] {
        model(move || {
            let fails_at: &[u64] = if write_fails_at.is_none() { &[1] } else { &[] };
            let (ahead, slots) = (2, Some(slots));
            let plan = Plan { end: 3, ahead, slots, fails_at, write_fails_at, ..Plan::default() };
            assert_eq!(run(plan, 2, false).0, Err(Error::At(1)));
        });
    }
}

#[test]
fn batches_wait_until_devices_are_prepared() {
    for fails in [false, true] {
        model(move || {
            // Slots of the models are not freed when they are dropped, as after a failure.
            let (slots, preparation_fails) = (Some(if fails { 2 } else { 1 }), Some(fails));
            let plan = Plan { end: 2, ahead: 2, slots, preparation_fails, ..Plan::default() };
            let expected = if fails { Err(Error::At(77)) } else { Ok(vec![0, 1]) };
            assert_eq!(run(plan, 2, false).0, expected);
        });
    }
}

/// Checks that slots which are kept while outputs are handed over are taken in the order of the batches.
#[test]
fn slots_that_are_kept_are_taken_in_order() {
    for (slots, fails_at) in [(1, &[][..]), (2, &[]), (1, &[1])] {
        model(move || {
            let plan = Plan {
                end: 3,
                ahead: 3,
                slots: Some(slots),
                keeps_slots: true,
                fails_at,
                ..Plan::default()
            };
            let expected = match fails_at {
                [] => Ok(vec![EARLY, 0, EARLY + 1, 1, EARLY + 2, 2]),
                _ => Err(Error::At(1)),
            };
            assert_eq!(run(plan, 2, false).0, expected);
        });
    }
}

#[test]
fn outputs_of_a_batch_stay_together_whatever_their_weights() {
    model(|| {
        let begun = Arc::new(AtomicUsize::new(9));
        let list = List { outputs: Vec::new(), begun, fails_at: None };
        let outputs = Arc::new(InOrder::new(list, 2, 10));
        let hand_in = |number: u64| {
            let outputs = outputs.clone();
            move || {
                assert!(outputs.hand_in_some(number, number * 10, 6, false));
                assert!(outputs.hand_in_some(number, number * 10 + 1, 11, true));
            }
        };
        let other = thread::spawn(hand_in(1));
        hand_in(0)();
        other.join().expect("no panic");
        let outputs = Arc::try_unwrap(outputs).ok().expect("all have ended").into_sink();
        assert_eq!(outputs.map(|list| list.outputs), Ok(vec![0, 1, 10, 11]));
    });
}

#[test]
fn workers_begin_when_all_are_there() {
    for all_are_there in [true, false] {
        model(move || {
            let (gate, known) = (Arc::new(Gate::default()), Arc::new(AtomicBool::new(false)));
            let threads = [(); 2].map(|()| {
                let (gate, known) = (gate.clone(), known.clone());
                thread::spawn(move || {
                    assert_eq!(gate.pass(), all_are_there);
                    assert!(known.load(Ordering::Relaxed), "no worker goes on before");
                })
            });
            known.store(true, Ordering::Relaxed);
            gate.open(all_are_there);
            threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
        });
    }
}
