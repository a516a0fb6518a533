//! Tests of the engine on system threads; `models.rs` checks all interleavings of a few threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Barrier, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use super::{Device, Engine, InOrderSink, Source, Turn, Work, each_batch};
use crate::locks::{lock, wait};
use crate::{Cancel, Cancelled, Silent, StartError};

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

/// A source of numbers up to `end`, which may be `faulty` at the end or have a fault behind a number.
#[derive(Default)]
struct Numbers {
    next: AtomicU64,
    end: u64,
    faulty: bool,
    fault_behind: Option<u64>,
    stopped: AtomicBool,
}

/// A number, and whether there is a fault behind it.
type Batch = (u64, bool);

impl Source for Numbers {
    type Batch = Batch;
    type Error = Error;

    fn next(&self, batch: &mut Batch) -> Result<Option<u64>, Error> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        *batch = (number, self.fault_behind == Some(number));
        match number < self.end {
            true => Ok(Some(1)),
            false if self.faulty => Err(Error::At(number)),
            false => Ok(None),
        }
    }

    fn fault_behind(batch: &mut Batch) -> Option<Error> {
        batch.1.then(|| Error::At(batch.0 + 1))
    }

    fn number(batch: &Batch) -> u64 {
        batch.0
    }

    fn is_long(&self, batch: &Batch) -> bool {
        batch.0.is_multiple_of(7)
    }

    fn stop(&self, _: u64) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct List(Vec<u64>);

impl InOrderSink<u64> for List {
    type Error = Error;

    fn write(&mut self, output: u64) -> Result<Option<u64>, Error> {
        self.0.push(output);
        Ok(Some(output))
    }
}

/// A worker that fails or panics at a number, and is slow at every seventh.
#[derive(Default)]
struct Worker {
    fails_at: Option<u64>,
    panics_at: Option<u64>,
    done: usize,
    by_device: usize,
}

impl Worker {
    fn make(&mut self, number: u64) -> Result<u64, Error> {
        assert!(self.panics_at != Some(number), "as planned");
        if number.is_multiple_of(7) {
            thread::sleep(Duration::from_millis(1));
        }
        self.done += 1;
        if self.fails_at == Some(number) { Err(Error::At(number)) } else { Ok(number) }
    }
}

impl Work for Worker {
    type Batch = Batch;
    type Output = u64;
    type Error = Error;

    fn work(&mut self, batch: &mut Batch, _: &Turn<'_, u64, Error>) -> Result<u64, Error> {
        self.make(batch.0)
    }
}

/// A device with a few slots, which does not take multiples of five.
struct Slots {
    free: Mutex<usize>,
    changed: Condvar,
    shares: bool,
}

impl Device<Worker> for Slots {
    type Slot = ();
    const IN_FLIGHT: usize = 2;

    fn shares(&self) -> bool {
        self.shares
    }

    fn takes(&self, batch: &Batch) -> bool {
        !batch.0.is_multiple_of(5)
    }

    fn place(&self, _: &mut Worker, may_wait: bool) -> Result<Option<()>, Error> {
        let mut free = lock(&self.free);
        while *free == 0 {
            if !may_wait {
                return Ok(None);
            }
            free = wait(&self.changed, free);
        }
        *free -= 1;
        Ok(Some(()))
    }

    fn start(&self, _: &mut Worker, _: &mut Batch, (): &mut ()) -> Result<(), Error> {
        Ok(())
    }

    fn is_done(&self, (): &()) -> Result<bool, Error> {
        Ok(false)
    }

    fn finish(
        &self,
        worker: &mut Worker,
        batch: &mut Batch,
        (): (),
        _: &Turn<'_, u64, Error>,
    ) -> Result<u64, Error> {
        *lock(&self.free) += 1;
        self.changed.notify_all();
        worker.by_device += 1;
        worker.make(batch.0)
    }
}

fn slots(free: usize, shares: bool) -> Slots {
    Slots { free: Mutex::new(free), changed: Condvar::new(), shares }
}

/// Runs an engine and returns the outputs and the workers.
fn run(source: &Numbers, device: Option<&Slots>, make: impl Fn() -> Worker + Sync) -> Ended {
    let cancel = Cancel::default();
    let engine = Engine::new(source, List::default(), 3, &Silent, &cancel);
    let workers = engine.run_on(4, device, make).expect("threads start");
    (engine.finish().map(|list| list.0), workers)
}

type Ended = (Result<Vec<u64>, Error>, Vec<Worker>);

#[test]
fn outputs_come_in_order_on_workers_and_devices() {
    for device in [None, Some((1, false)), Some((3, false)), Some((1, true))] {
        let device = device.map(|(free, shares)| slots(free, shares));
        let source = Numbers { end: 200, ..Numbers::default() };
        let (outputs, workers) = run(&source, device.as_ref(), Worker::default);
        assert_eq!(outputs, Ok(Vec::from_iter(0..200)));
        assert_eq!(workers.iter().map(|worker| worker.done).sum::<usize>(), 200);
        let by_device: usize = workers.iter().map(|worker| worker.by_device).sum();
        match device {
            None => assert_eq!(by_device, 0),
            Some(device) if device.shares => assert!(by_device <= 160),
            Some(_) => assert_eq!(by_device, 160),
        }
    }
}

#[test]
fn devices_are_prepared_while_batches_are_fetched() {
    let source = Numbers { end: 200, ..Numbers::default() };
    let (device, cancel, is_prepared) =
        (slots(3, false), Cancel::default(), AtomicBool::new(false));
    let prepare = || {
        // Ends only if the source is read meanwhile.
        while source.next.load(Ordering::Relaxed) == 0 {
            thread::yield_now();
        }
        is_prepared.store(true, Ordering::Relaxed);
        Ok(())
    };
    let engine =
        Engine::new(&source, List::default(), 3, &Silent, &cancel).with_preparation(&prepare);
    let workers = engine.run_on(4, Some(&device), Worker::default).expect("threads start");
    assert_eq!(engine.finish().map(|list| list.0), Ok(Vec::from_iter(0..200)));
    assert!(workers.len() == 4 && is_prepared.into_inner());
    assert_eq!(workers.iter().map(|worker| worker.by_device).sum::<usize>(), 160);
}

#[test]
fn a_failed_preparation_ends_the_run() {
    for panics in [false, true] {
        let source = Numbers { end: 200, ..Numbers::default() };
        // A slot for each worker, since these slots are not freed when they are dropped.
        let (device, cancel) = (slots(4, false), Cancel::default());
        let prepare = || {
            assert!(!panics, "as planned");
            Err(Error::At(77))
        };
        let engine =
            Engine::new(&source, List::default(), 3, &Silent, &cancel).with_preparation(&prepare);
        let fails = || Worker { fails_at: Some(1), ..Worker::default() };
        let run = || engine.run_on(4, Some(&device), fails).expect("threads start");
        assert_eq!(catch_unwind(AssertUnwindSafe(run)).is_err(), panics);
        if !panics {
            assert_eq!(engine.finish().map(|list| list.0), Err(Error::At(77)));
        }
    }
}

#[test]
fn the_first_failure_in_the_input_ends_the_run() {
    let fails = || Worker { fails_at: Some(20), ..Worker::default() };
    for device in [None, Some(slots(2, false))] {
        let source = Numbers { end: 30, faulty: true, ..Numbers::default() };
        assert_eq!(run(&source, device.as_ref(), fails).0, Err(Error::At(20)));
        assert!(source.stopped.into_inner());
    }
    let source = Numbers { end: 10, faulty: true, ..Numbers::default() };
    assert_eq!(run(&source, None, Worker::default).0, Err(Error::At(10)));
    let source = Numbers { end: 30, fault_behind: Some(6), ..Numbers::default() };
    assert_eq!(run(&source, None, fails).0, Err(Error::At(7)));
}

#[test]
fn a_panic_goes_on_when_all_workers_have_ended() {
    for device in [None, Some(slots(1, false)), Some(slots(2, true))] {
        let source = Numbers { end: 1000, ..Numbers::default() };
        let panics = || Worker { panics_at: Some(11), ..Worker::default() };
        let run = || run(&source, device.as_ref(), panics);
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    }
}

#[test]
fn a_cancelled_run_has_that_as_its_error() {
    let (source, cancel) = (Numbers { end: 9, ..Numbers::default() }, Cancel::default());
    cancel.cancel();
    let engine = Engine::new(&source, List::default(), 3, &Silent, &cancel);
    engine.run(2, Worker::default).unwrap();
    assert_eq!(engine.finish().map(|list| list.0), Err(Error::Cancelled));
}

#[test]
fn held_batches_are_worked_on_in_order() {
    let (source, cancel) = (Numbers { end: 50, ..Numbers::default() }, Cancel::default());
    let engine = Engine::new(&source, List::default(), 3, &Silent, &cancel);
    let (taken, mut all) = (AtomicUsize::new(0), Vec::new());
    loop {
        let end = taken.load(Ordering::Relaxed) + 10;
        let more = || taken.load(Ordering::Relaxed) < end;
        let held = engine.hold(
            3,
            || (),
            more,
            |(), batch| {
                taken.fetch_add(1, Ordering::Relaxed);
                batch.0
            },
        );
        let held = held.unwrap();
        if held.is_empty() {
            break;
        }
        all.extend(held.iter().map(|held| (held.number(), held.kept)));
        let work = |worker: &mut Worker, held: u64, _: &Turn<'_, u64, Error>| worker.make(held);
        engine.run_held(3, held, Worker::default, work).unwrap();
    }
    assert!(all.iter().all(|(number, held)| number == held));
    assert_eq!(engine.finish().unwrap().0, Vec::from_iter(0..50));
}

#[test]
fn every_batch_is_taken_once_without_outputs() {
    let source = Numbers { end: 100, ..Numbers::default() };
    let add = |sum: &mut u64, batch: &mut Batch| {
        *sum += batch.0;
        Ok::<(), Error>(())
    };
    let sums = each_batch(&source, 3, &Silent, &Cancel::default(), || 0, add);
    assert_eq!(sums.unwrap().iter().sum::<u64>(), 99 * 50);
    let source = Numbers { end: 100, ..Numbers::default() };
    let fail = |(): &mut (), batch: &mut Batch| match batch.0 {
        40.. => Err(Error::At(batch.0)),
        _ => Ok(()),
    };
    let failed = each_batch(&source, 3, &Silent, &Cancel::default(), || (), fail);
    assert_eq!(failed, Err(Error::At(40)));
}

/// A worker that keeps its slot until another worker has one, too.
struct Keeping<'k>(&'k Barrier);

impl Work for Keeping<'_> {
    type Batch = Batch;
    type Output = u64;
    type Error = Error;

    fn work(&mut self, batch: &mut Batch, turn: &Turn<'_, u64, Error>) -> Result<u64, Error> {
        turn.in_order(|| ()).ok_or(Error::Cancelled)?;
        self.0.wait();
        Ok(batch.0)
    }
}

#[test]
fn several_batches_have_slots_that_are_taken_in_order() {
    let (source, cancel) = (Numbers { end: 20, ..Numbers::default() }, Cancel::default());
    let engine = Engine::new(&source, List::default(), 3, &Silent, &cancel).with_slots_in_order();
    let both = Barrier::new(2);
    engine.run(2, || Keeping(&both)).unwrap();
    assert_eq!(engine.finish().unwrap().0, Vec::from_iter(0..20));
}
