//! Distribution of numbered work over workers.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::locks::lock;
use crate::sync::Mutex;
use crate::{Cancel, Cancelled, OnFailure, StartError, run_workers_collect};

/// Runs `work` on up to `threads` workers: at least one, and at most one for each number.
///
/// Each worker sets up its state, processes the numbers that it gets, in ascending order, and finishes; the
/// results of the workers are returned in no order.
///
/// # Errors
/// The error that was returned first in time, after which (as after a panic) no worker gets
/// another number; `Cancelled` if `cancel` was raised before the last worker ended without an error;
/// the error of [`run_workers_collect`] if a thread cannot be started.
pub fn each<T, E>(
    threads: usize,
    numbers: Range<usize>,
    cancel: &Cancel,
    work: impl Fn(&mut Numbers<'_>) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E>
where
    T: Send,
    E: Send + From<StartError> + From<Cancelled>,
{
    let threads = threads.min(numbers.len()).max(1);
    let share = Share::new(numbers, cancel);
    run_workers_collect(threads, |_| share.work(&work))
}

/// Runs `work` for every number on up to `threads` workers, each with a state from `begin`, and
/// returns the results in the order of the numbers.
///
/// # Errors
/// Fails as [`each`] does.
pub fn each_in_order<S, T, E>(
    threads: usize,
    numbers: Range<usize>,
    cancel: &Cancel,
    begin: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E>
where
    T: Send,
    E: Send + From<StartError> + From<Cancelled>,
{
    let done = each(threads, numbers, cancel, |numbers| {
        let mut own = begin();
        let results = numbers.map(|number| work(&mut own, number).map(|result| (number, result)));
        results.collect::<Result<Vec<_>, E>>()
    })?;
    let mut all: Vec<(usize, T)> = done.into_iter().flatten().collect();
    all.sort_unstable_by_key(|&(number, _)| number);
    Ok(all.into_iter().map(|(_, result)| result).collect())
}

/// Runs `work` on all items concurrently, the first on this thread and each other on its own, and returns the
/// results in the order of the items.
///
/// # Errors
/// The first error in the order of the items, once all have ended; the error of [`run_workers_collect`] if a thread
/// cannot be started.
pub fn side_by_side<I, T, E>(
    items: impl IntoIterator<Item = I>,
    work: impl Fn(I) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E>
where
    I: Send,
    T: Send,
    E: Send + From<StartError>,
{
    let items: Vec<_> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    let results = run_workers_collect(items.len(), |number| {
        let item = items.get(number).and_then(|item| lock(item).take());
        Ok::<_, E>(item.map(&work))
    })?;
    results.into_iter().flatten().collect()
}

/// Numbers that are distributed over threads, each to one thread, until all are taken, a thread fails or the run
/// is cancelled. For threads that [`each`] does not start.
#[derive(Debug)]
pub struct Share<'c> {
    next: AtomicUsize,
    end: usize,
    failed: AtomicBool,
    cancel: &'c Cancel,
}

impl<'c> Share<'c> {
    /// Creates the distribution of these numbers.
    pub fn new(numbers: Range<usize>, cancel: &'c Cancel) -> Share<'c> {
        let (next, failed) = (AtomicUsize::new(numbers.start), AtomicBool::new(false));
        Share { next, end: numbers.end, failed, cancel }
    }

    /// Does one thread's share of the work.
    ///
    /// # Errors
    /// The error of `work`, after which no thread gets another number; `Cancelled` if `work` succeeded and
    /// the run was cancelled.
    pub fn work<T, E: From<Cancelled>>(
        &self,
        work: impl FnOnce(&mut Numbers<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let failed = OnFailure::new(|| self.failed.store(true, Ordering::Release));
        let done = work(&mut Numbers(self))?;
        if self.cancel.is_cancelled() {
            return Err(Cancelled.into());
        }
        failed.disarm();
        Ok(done)
    }
}

/// The numbers of a [`Share`] for one thread.
#[derive(Debug)]
pub struct Numbers<'s>(&'s Share<'s>);

impl Numbers<'_> {
    /// Returns whether there are no more numbers because a thread has failed or the run was cancelled: long work on a
    /// number may then end early.
    pub fn is_stopped(&self) -> bool {
        self.0.failed.load(Ordering::Acquire) || self.0.cancel.is_cancelled()
    }
}

impl Iterator for Numbers<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.is_stopped() {
            return None;
        }
        let number = self.0.next.fetch_add(1, Ordering::Relaxed);
        (number < self.0.end).then_some(number)
    }
}

/// A round-robin choice among several items.
#[derive(Debug, Default)]
pub struct RoundRobin(AtomicUsize);

impl RoundRobin {
    /// Returns the index, from 0, of the next of `all` items.
    ///
    /// # Panics
    /// If `all` is 0.
    pub fn next(&self, all: usize) -> usize {
        self.0.fetch_add(1, Ordering::Relaxed) % all
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[derive(Debug, PartialEq)]
    enum Failed {
        Cancelled,
        Start,
        At(usize),
    }

    impl From<StartError> for Failed {
        fn from(_: StartError) -> Failed {
            Failed::Start
        }
    }

    impl From<Cancelled> for Failed {
        fn from(_: Cancelled) -> Failed {
            Failed::Cancelled
        }
    }

    #[test]
    fn every_number_is_done_once() {
        for (threads, numbers) in [(1, 0..100), (4, 3..100), (4, 5..7), (3, 2..2)] {
            let cancel = Cancel::default();
            let done =
                each(threads, numbers.clone(), &cancel, |own| Ok::<_, Failed>(own.collect()));
            let workers: Vec<Vec<usize>> = done.unwrap();
            assert_eq!(workers.len(), threads.min(numbers.len()).max(1));
            let mut done = workers.concat();
            done.sort_unstable();
            assert_eq!(done, numbers.clone().collect::<Vec<_>>());
            let square = |calls: &mut usize, number: usize| {
                *calls += 1;
                Ok::<_, Failed>(number * number)
            };
            let squares = each_in_order(threads, numbers.clone(), &cancel, || 0, square);
            assert_eq!(squares.unwrap(), numbers.map(|number| number * number).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_failure_or_panic_stops_the_others() {
        let both = Barrier::new(2);
        let wait_or_fail = |numbers: &mut Numbers<'_>, fail: &dyn Fn(usize) -> Failed| {
            let number = numbers.next().unwrap();
            both.wait();
            if number == 0 {
                return Err(fail(number));
            }
            while !numbers.is_stopped() {
                std::thread::yield_now();
            }
            assert_eq!(numbers.next(), None);
            Ok(())
        };
        let cancel = Cancel::default();
        let failed = each(2, 0..9, &cancel, |numbers| wait_or_fail(numbers, &Failed::At));
        assert_eq!(failed, Err(Failed::At(0)));
        let panicked = std::panic::catch_unwind(|| {
            each(2, 0..9, &cancel, |numbers| wait_or_fail(numbers, &|_| panic!("worker broke")))
        });
        assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"worker broke"));
    }

    #[test]
    fn a_cancelled_run_is_an_error_unless_one_came_before() {
        let run = |fails: bool| {
            let cancel = Cancel::default();
            each(1, 0..9, &cancel, |numbers| {
                for number in numbers {
                    assert!(number < 3);
                    if number == 2 {
                        cancel.cancel();
                    }
                    if number == 2 && fails {
                        return Err(Failed::At(number));
                    }
                }
                Ok(())
            })
        };
        assert_eq!(run(false), Err(Failed::Cancelled));
        assert_eq!(run(true), Err(Failed::At(2)));
    }

    #[test]
    fn items_side_by_side_keep_their_order() {
        let both = Barrier::new(2);
        let done = side_by_side([3, 4], |item| {
            both.wait();
            Ok::<_, Failed>(item + 1)
        });
        assert_eq!(done, Ok(vec![4, 5]));
        let failed =
            side_by_side([1, 2, 3], |item| if item == 1 { Ok(()) } else { Err(Failed::At(item)) });
        assert_eq!(failed, Err(Failed::At(2)));
        assert_eq!(side_by_side([], |item: usize| Err::<(), _>(Failed::At(item))), Ok(vec![]));
    }

    #[test]
    fn turns_go_round() {
        let turns = RoundRobin::default();
        assert_eq!((0..5).map(|_| turns.next(3)).collect::<Vec<_>>(), [0, 1, 2, 0, 1]);
    }
}
