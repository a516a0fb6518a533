//! Running the same work on several threads.

use std::panic;
use std::sync::Mutex;
use std::thread;

/// Runs `work` on `threads` threads (at least one), numbered from 0, and waits for all of them.
/// The calling thread is number 0, so one thread means no thread is started.
///
/// # Errors
///
/// The error that was returned first in time. The other workers are not interrupted: whatever
/// they wait on or look at must tell them to stop. A worker's panic is resumed here once all have
/// ended.
pub fn run_workers<E, F>(threads: usize, work: F) -> Result<(), E>
where
    E: Send,
    F: Fn(usize) -> Result<(), E> + Sync,
{
    run_workers_collect(threads, work).map(drop)
}

/// Like [`run_workers`], and returns what the workers returned, in the order of their numbers.
///
/// # Errors
///
/// As [`run_workers`].
pub fn run_workers_collect<T, E, F>(threads: usize, work: F) -> Result<Vec<T>, E>
where
    T: Send,
    E: Send,
    F: Fn(usize) -> Result<T, E> + Sync,
{
    let first_error = Mutex::new(None);
    // The order in which workers are joined is not the order in which they fail.
    let attempt = |number| match work(number) {
        Ok(value) => Some(value),
        Err(error) => {
            if let Ok(mut first) = first_error.lock() {
                first.get_or_insert(error);
            }
            None
        }
    };
    let results = thread::scope(|scope| {
        let attempt = &attempt;
        let others: Vec<_> =
            (1..threads).map(|number| scope.spawn(move || attempt(number))).collect();
        let own = panic::catch_unwind(panic::AssertUnwindSafe(|| attempt(0)));
        // Every thread is waited for before any panic goes on.
        let mut results = vec![own];
        results.extend(others.into_iter().map(thread::ScopedJoinHandle::join));
        results
    });
    let mut values = Vec::with_capacity(results.len());
    for result in results {
        values.extend(result.unwrap_or_else(|payload| panic::resume_unwind(payload)));
    }
    match first_error.into_inner() {
        Ok(Some(error)) => Err(error),
        _ => Ok(values),
    }
}

#[cfg(test)]
mod tests {
    use super::{run_workers, run_workers_collect};
    use std::cell::RefCell;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::{self, Sender};
    use std::sync::{Barrier, Mutex};

    #[test]
    fn values_come_in_worker_order() {
        let values = run_workers_collect(4, |number| Ok::<_, ()>(number * number));
        assert_eq!(values, Ok(vec![0, 1, 4, 9]));
        assert_eq!(run_workers_collect(0, Ok::<_, ()>), Ok(vec![0]));
    }

    #[test]
    fn the_first_error_in_time_is_returned() {
        /// Tells when its thread has ended.
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
                // Fails once the other one has, whose thread ends after that.
                receiver.lock().unwrap().recv().unwrap();
            }
            Err::<(), _>(number)
        });
        assert_eq!(done, Err(1));
        let count = AtomicUsize::new(0);
        let done = run_workers(2, |_| {
            barrier.wait();
            count.fetch_add(1, Ordering::Relaxed);
            Ok::<_, ()>(())
        });
        assert_eq!((done, count.into_inner()), (Ok(()), 2));
    }

    #[test]
    fn panics_are_resumed() {
        let caught = std::panic::catch_unwind(|| {
            run_workers(
                2,
                |number| if number == 1 { panic!("worker broke") } else { Ok::<_, ()>(()) },
            )
        });
        assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"worker broke"));
    }
}
