//! Results in the order of the input, while few of them wait.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::Error;

/// What is done with each result in its turn.
type Take<'a, T> = Box<dyn FnMut(T) -> Result<(), Error> + Send + 'a>;

/// Where results wait for their turn. Whoever is too far ahead waits as well, so that one slow
/// batch does not let the others pile up.
pub(super) struct Turns<'a, T> {
    state: Mutex<State<'a, T>>,
    advanced: Condvar,
    /// A result so far ahead of the next one has to wait.
    most: u64,
}

struct State<'a, T> {
    waiting: BTreeMap<u64, T>,
    turn: u64,
    stopped: bool,
    take: Take<'a, T>,
}

impl<'a, T> Turns<'a, T> {
    /// At most `most` results (at least 1) are held.
    pub(super) fn new(
        most: usize,
        take: impl FnMut(T) -> Result<(), Error> + Send + 'a,
    ) -> Turns<'a, T> {
        let take: Take<'a, T> = Box::new(take);
        let state = State { waiting: BTreeMap::new(), turn: 0, stopped: false, take };
        Turns { state: Mutex::new(state), advanced: Condvar::new(), most: most.max(1) as u64 }
    }

    /// Hands in result `number`; all from 0 on must come, in any order. After
    /// [`stop`](Self::stop), it is dropped.
    ///
    /// # Errors
    /// As taking it, or another one whose turn it was.
    pub(super) fn put(&self, number: u64, result: T) -> Result<(), Error> {
        let mut state = self.lock();
        // The next one never waits, and so all get on.
        while number >= state.turn + self.most && !state.stopped {
            state = self.advanced.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.stopped {
            return Ok(());
        }
        state.waiting.insert(number, result);
        loop {
            let turn = state.turn;
            let Some(result) = state.waiting.remove(&turn) else { break };
            (state.take)(result)?;
            state.turn += 1;
        }
        drop(state);
        self.advanced.notify_all();
        Ok(())
    }

    /// Lets go all who wait: the result that they wait for will not come.
    pub(super) fn stop(&self) {
        self.lock().stopped = true;
        self.advanced.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<'a, T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does something when it goes away, unless all went [well](Self::well): after an error or a panic
/// nobody may wait for what will not come.
pub(super) struct Otherwise<F: Fn()>(Option<F>);

impl<F: Fn()> Otherwise<F> {
    pub(super) fn new(action: F) -> Otherwise<F> {
        Otherwise(Some(action))
    }

    /// Nothing is to be done.
    pub(super) fn well(mut self) {
        self.0 = None;
    }
}

impl<F: Fn()> Drop for Otherwise<F> {
    fn drop(&mut self) {
        if let Some(action) = &self.0 {
            action();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
    use std::time::Duration;

    #[test]
    fn results_come_in_order_and_few_wait() {
        let (mut taken, held, most) = (Vec::new(), AtomicUsize::new(0), AtomicUsize::new(0));
        {
            let turns = Turns::new(4, |number: u64| {
                held.fetch_sub(1, Ordering::SeqCst);
                taken.push(number);
                Ok(())
            });
            let next = AtomicU64::new(0);
            std::thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| {
                        loop {
                            let number = next.fetch_add(1, Ordering::SeqCst);
                            if number >= 200 {
                                break;
                            }
                            if number.is_multiple_of(50) {
                                std::thread::sleep(Duration::from_millis(20));
                            }
                            // Counted from here on: those who wait, at most one a thread, and those
                            // held.
                            let now = held.fetch_add(1, Ordering::SeqCst) + 1;
                            most.fetch_max(now, Ordering::SeqCst);
                            turns.put(number, number).unwrap();
                        }
                    });
                }
            });
        }
        assert_eq!(taken, Vec::from_iter(0..200));
        assert!(most.into_inner() <= 4 + 8);
    }

    #[test]
    fn nobody_waits_after_a_stop() {
        let turns = Turns::new(1, |_: u64| Ok(()));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| turns.put(7, 7));
            std::thread::sleep(Duration::from_millis(20));
            drop(Otherwise::new(|| turns.stop()));
            waiting.join().unwrap().unwrap();
        });
    }
}
