//! Running the same work on several threads.

use crate::locks::{into_inner, lock, wait};
use crate::sync::{Condvar, Mutex};
use std::panic;
use std::thread;

use crate::threads::{StartError, start_scoped};

/// Runs `work` on `threads` threads (at least one), numbered from 0, and waits for all of them.
/// The calling thread is number 0, so one thread means no thread is started.
///
/// # Errors
///
/// The error that was returned first in time. The other workers are not interrupted: `work` must make
/// them stop, by the things that they wait for or check. If not all threads can be started, none does
/// any work. A worker's panic is resumed here once all have ended.
pub fn run_workers<E, F>(threads: usize, work: F) -> Result<(), E>
where
    E: Send + From<StartError>,
    F: Fn(usize) -> Result<(), E> + Sync,
{
    run_workers_collect(threads, work).map(drop)
}

/// Runs `work` like [`run_workers`], and returns the results of the workers, in the order of their numbers.
///
/// # Errors
///
/// Fails as [`run_workers`] does.
pub fn run_workers_collect<T, E, F>(threads: usize, work: F) -> Result<Vec<T>, E>
where
    T: Send,
    E: Send + From<StartError>,
    F: Fn(usize) -> Result<T, E> + Sync,
{
    let first_error = Mutex::new(None);
    let results: Vec<_> = (0..threads.max(1)).map(|_| Mutex::new(None)).collect();
    // The order in which workers are joined is not the order in which they fail.
    run_numbered(threads, &|number| match work(number) {
        Ok(value) => *lock(&results[number]) = Some(value),
        Err(error) => {
            lock(&first_error).get_or_insert(error);
        }
    })?;
    match into_inner(first_error) {
        Some(error) => Err(error),
        None => Ok(results.into_iter().filter_map(into_inner).collect()),
    }
}

/// Runs `work` on threads as [`run_workers`] does. It is compiled once, not for every kind of work: the starting and
/// joining of threads was a sixth of the machine code of the counting crate.
fn run_numbered(threads: usize, work: &(dyn Fn(usize) + Sync)) -> Result<(), StartError> {
    let gate = Gate::default();
    let results = thread::scope(|scope| {
        let gate = &gate;
        let behind_gate = |number| {
            move || {
                if gate.pass() {
                    work(number);
                }
            }
        };
        let others: Result<Vec<_>, _> =
            (1..threads).map(|number| start_scoped(scope, behind_gate(number))).collect();
        gate.open(others.is_ok());
        let others = others?;
        let own = panic::catch_unwind(panic::AssertUnwindSafe(|| work(0)));
        // All threads are joined before any panic is resumed.
        let mut results = vec![own];
        results.extend(others.into_iter().map(thread::ScopedJoinHandle::join));
        Ok::<_, StartError>(results)
    })?;
    results
        .into_iter()
        .for_each(|result| result.unwrap_or_else(|panic| panic::resume_unwind(panic)));
    Ok(())
}

/// A gate at which threads wait until it is known whether they may go on.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    /// Whether the threads may go on; `None` until that is known.
    verdict: Mutex<Option<bool>>,
    known: Condvar,
}

impl Gate {
    pub(crate) fn open(&self, may: bool) {
        *lock(&self.verdict) = Some(may);
        self.known.notify_all();
    }

    /// Waits for the decision and returns it; false means that there is nothing to do.
    pub(crate) fn pass(&self) -> bool {
        let mut verdict = lock(&self.verdict);
        loop {
            match *verdict {
                Some(may) => return may,
                None => {
                    verdict = wait(&self.known, verdict);
                }
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{run_workers, run_workers_collect};
    use crate::threads::StartError;
    use std::cell::RefCell;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::{self, Sender};
    use std::sync::{Barrier, Mutex};

    /// The error of a failed worker, with the worker's number.
    #[derive(Debug, PartialEq)]
    struct Failed(usize);

    impl From<StartError> for Failed {
        fn from(_: StartError) -> Failed {
            Failed(usize::MAX)
        }
    }

    #[test]
    fn values_come_in_worker_order() {
        let values = run_workers_collect(4, |number| Ok::<_, Failed>(number * number));
        assert_eq!(values, Ok(vec![0, 1, 4, 9]));
        assert_eq!(run_workers_collect(0, Ok::<_, Failed>), Ok(vec![0]));
    }

    #[test]
    fn the_first_error_in_time_is_returned() {
        /// Sends a message when its thread has ended.
        struct Ended(Sender<()>);
        impl Drop for Ended {
            fn drop(&mut self) {
                self.0.send(()).unwrap();
            }
        }
        thread_local! {
            static ENDED: RefCell<Option<Ended>> = const { RefCell::new(None) };
        }
        let barrier = Barrier::new(2);
        let (sender, receiver) = mpsc::channel();
        let (sender, receiver) = (Mutex::new(sender), Mutex::new(receiver));
        let done = run_workers(2, |number| {
            if number == 1 {
                let ended = Ended(sender.lock().unwrap().clone());
                ENDED.with(|own| *own.borrow_mut() = Some(ended));
            } else {
                // Fails after the other worker, whose thread ends later.
                receiver.lock().unwrap().recv().unwrap();
            }
            Err::<(), _>(Failed(number))
        });
        assert_eq!(done, Err(Failed(1)));
        let count = AtomicUsize::new(0);
        let done = run_workers(2, |_| {
            barrier.wait();
            count.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Failed>(())
        });
        assert_eq!((done, count.into_inner()), (Ok(()), 2));
    }

    #[test]
    fn panics_are_resumed() {
        let caught = std::panic::catch_unwind(|| {
            run_workers(
                2,
                |number| if number == 1 { panic!("worker broke") } else { Ok::<_, Failed>(()) },
            )
        });
        assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"worker broke"));
    }
}
