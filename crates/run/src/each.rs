//! Numbered work that workers share out.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::locks::lock;
use crate::sync::Mutex;
use crate::{Cancel, Cancelled, OnFailure, StartError, run_workers_collect};

/// Runs `work` on up to `threads` workers: at least one, and no more than there are numbers. Each worker makes
/// what it needs, goes through the numbers it gets, in rising order, and finishes; returns what the
/// workers returned, in no order.
///
/// # Errors
/// The error that was returned first in time, after which, as after a panic, no worker gets
/// another number; `Cancelled` if `cancel` was raised before the last worker ended without an error.
/// As [`run_workers_collect`] if a thread cannot be started.
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

/// Runs `work` for every number on up to `threads` workers, each with what `begin` makes for it, and
/// returns what it returned, in the order of the numbers.
///
/// # Errors
/// As [`each`].
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

/// Runs `work` on all items at once, each on a thread of its own but for the first, and returns what it
/// returned, in the order of the items.
///
/// # Errors
/// The first one in the order of the items, when all have ended. As [`run_workers_collect`] if a thread
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

/// Numbers that threads share out, each to one of them, until all are taken, a thread fails or the run
/// is cancelled. For threads that [`each`] does not start.
#[derive(Debug)]
pub struct Share<'c> {
    next: AtomicUsize,
    end: usize,
    failed: AtomicBool,
    cancel: &'c Cancel,
}

impl<'c> Share<'c> {
    /// Shares out these numbers.
    pub fn new(numbers: Range<usize>, cancel: &'c Cancel) -> Share<'c> {
        let (next, failed) = (AtomicUsize::new(numbers.start), AtomicBool::new(false));
        Share { next, end: numbers.end, failed, cancel }
    }

    /// Does one thread's part of the work.
    ///
    /// # Errors
    /// Those of `work`, after which no thread gets another number; `Cancelled` if it has none and the
    /// run was cancelled.
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

/// The numbers of a [`Share`] that one thread gets.
#[derive(Debug)]
pub struct Numbers<'s>(&'s Share<'s>);

impl Numbers<'_> {
    /// Whether there are no more as a thread has failed or the run was cancelled: long work on a
    /// number may end then.
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

/// Chooses one after the other of several that take turns.
#[derive(Debug, Default)]
pub struct RoundRobin(AtomicUsize);

impl RoundRobin {
    /// Returns the number of the next one of `all`, from 0 on.
    ///
    /// # Panics
    /// If there are none.
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
