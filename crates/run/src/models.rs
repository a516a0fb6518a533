//! What the pipeline promises, in every order in which its threads may meet: loom tries them all, up to
//! a few changes of thread where none had to be ([`CHANGES`]). It fails where somebody waits for ever, too.
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" cargo test --release -p merganser-run --lib models
//! ```
//!
//! The code is the one that runs; only what threads meet by is loom's (`sync.rs`). Threads are
//! started here, as loom has no scopes; nor does it know poison, so no panic happens under a lock.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;

use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

use crate::locks::{lock, wait};
use crate::workers::Gate;
use crate::{Cancel, Cancelled, InOrder, InOrderSink, Pipeline, Silent, Source, StartError};

/// Faults of locking show with two changes; without a bound some models take hours.
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
        unreachable!("no thread is started by the pipeline")
    }
}

/// Numbers up to `end`; then there are no more, or it keeps silent until it is stopped.
struct Numbers {
    next: AtomicU64,
    end: u64,
    silent: bool,
    stopped: Mutex<bool>,
    changed: Condvar,
}

impl Numbers {
    fn up_to(end: u64, silent: bool) -> Numbers {
        let (stopped, changed) = (Mutex::new(false), Condvar::new());
        Numbers { next: AtomicU64::new(0), end, silent, stopped, changed }
    }
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
            return Ok(Some(1));
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

    fn stop(&self) {
        *lock(&self.stopped) = true;
        self.changed.notify_all();
    }
}

/// Keeps what is written, and says how many batches are begun and not yet written.
#[derive(Debug)]
struct List {
    parts: Vec<u64>,
    begun: Arc<AtomicUsize>,
    fails_at: Option<u64>,
}

impl InOrderSink<u64> for List {
    type Error = Error;

    fn write(&mut self, part: u64) -> Result<Option<u64>, Error> {
        if self.fails_at == Some(part) {
            return Err(Error::At(part));
        }
        self.parts.push(part);
        self.begun.fetch_sub(1, Ordering::SeqCst);
        Ok(None)
    }
}

/// What workers share, and what is to go wrong.
struct Run {
    source: Numbers,
    written: InOrder<u64, List>,
    cancel: Cancel,
    begun: Arc<AtomicUsize>,
    ahead: usize,
    fails_at: &'static [u64],
    panics_at: Option<u64>,
}

impl Run {
    fn new(source: Numbers, ahead: usize) -> Run {
        let begun = Arc::new(AtomicUsize::new(0));
        let list = List { parts: Vec::new(), begun: begun.clone(), fails_at: None };
        let written = InOrder::new(list, ahead as u64, 0);
        let cancel = Cancel::default();
        Run { source, written, cancel, begun, ahead, fails_at: &[], panics_at: None }
    }

    /// The loop of a worker, as jobs have it; `false` if it panicked.
    fn worker(&self) -> bool {
        let pipeline = Pipeline::new(&self.source, &self.written, &Silent, &self.cancel);
        let work = || {
            let mut batch = 0;
            while pipeline.next(&mut batch) && pipeline.wait_for_room(&batch) {
                let begun = self.begun.fetch_add(1, Ordering::SeqCst);
                assert!(begun <= self.ahead, "one is being written while the next are begun");
                if self.panics_at == Some(batch) {
                    // Without the hook, which would say so for every order.
                    resume_unwind(Box::new("as planned"));
                }
                let fails = self.fails_at.contains(&batch);
                let part = if fails { Err(Error::At(batch)) } else { Ok(batch) };
                if batch == 1 {
                    pipeline.hand_in_its_turn(batch, part);
                } else {
                    pipeline.hand_in(batch, part);
                }
            }
        };
        catch_unwind(AssertUnwindSafe(|| pipeline.guarded(work))).is_ok()
    }

    /// So many workers, one of them on the calling thread, and somebody who may cancel.
    fn run(self, workers: usize, cancels: bool) -> (Result<Vec<u64>, Error>, bool) {
        let run = Arc::new(self);
        let start = |_| {
            let run = run.clone();
            thread::spawn(move || run.worker())
        };
        let others: Vec<_> = (1..workers).map(start).collect();
        let canceller = cancels.then(|| {
            let cancel = run.cancel.clone();
            thread::spawn(move || cancel.cancel())
        });
        let mut sound = run.worker();
        for other in others {
            sound &= other.join().expect("its panic was caught");
        }
        canceller.map(|thread| thread.join().expect("no panic"));
        let run = Arc::try_unwrap(run).ok().expect("all have ended");
        (run.written.into_sink().map(|list| list.parts), sound)
    }
}

#[test]
fn parts_come_out_in_the_order_of_the_input_and_few_are_begun() {
    for (workers, ahead) in [(2, 1), (2, 2), (3, 1)] {
        model(move || {
            let (written, sound) = Run::new(Numbers::up_to(3, false), ahead).run(workers, false);
            assert_eq!((written, sound), (Ok(vec![0, 1, 2]), true));
        });
    }
}

#[test]
fn of_several_failures_the_first_in_the_input_counts() {
    model(|| {
        let mut run = Run::new(Numbers::up_to(3, false), 2);
        run.fails_at = &[1, 2];
        assert_eq!(run.run(2, false).0, Err(Error::At(1)));
    });
}

#[test]
fn a_failure_wakes_whoever_waits_for_a_silent_source() {
    model(|| {
        let mut run = Run::new(Numbers::up_to(1, true), 2);
        run.fails_at = &[0];
        assert_eq!(run.run(2, false).0, Err(Error::At(0)));
    });
}

#[test]
fn what_cannot_be_written_ends_the_run() {
    model(|| {
        let mut run = Run::new(Numbers::up_to(3, false), 1);
        let list = List { parts: Vec::new(), begun: run.begun.clone(), fails_at: Some(1) };
        run.written = InOrder::new(list, 1, 0);
        assert_eq!(run.run(2, false).0, Err(Error::At(1)));
    });
}

#[test]
fn what_is_cancelled_ends_whole_or_as_cancelled() {
    model(|| {
        let (written, sound) = Run::new(Numbers::up_to(2, false), 1).run(2, true);
        assert!(sound && matches!(written, Ok(_) | Err(Error::Cancelled)), "{written:?}");
        if let Ok(parts) = written {
            assert_eq!(parts, [0, 1]);
        }
    });
}

#[test]
fn a_worker_that_panics_leaves_nobody_waiting() {
    for (end, silent) in [(1, true), (3, false)] {
        model(move || {
            let mut run = Run::new(Numbers::up_to(end, silent), 1);
            run.panics_at = Some(0);
            let (written, sound) = run.run(2, false);
            assert!(!sound && written.is_ok_and(|parts| parts.is_empty()));
        });
    }
}

#[test]
fn parts_of_a_number_stay_together_whatever_their_weights() {
    model(|| {
        let list = List { parts: Vec::new(), begun: Arc::new(AtomicUsize::new(9)), fails_at: None };
        let parts = Arc::new(InOrder::new(list, 2, 10));
        let hand_in = |number: u64| {
            let parts = parts.clone();
            move || {
                assert!(parts.hand_in_some(number, number * 10, 6, false));
                assert!(parts.hand_in_some(number, number * 10 + 1, 11, true));
            }
        };
        let other = thread::spawn(hand_in(1));
        hand_in(0)();
        other.join().expect("no panic");
        let parts = Arc::try_unwrap(parts).ok().expect("all have ended").into_sink();
        assert_eq!(parts.map(|list| list.parts), Ok(vec![0, 1, 10, 11]));
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
                    assert!(known.load(Ordering::Relaxed), "nobody goes on before");
                })
            });
            known.store(true, Ordering::Relaxed);
            gate.open(all_are_there);
            threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
        });
    }
}
