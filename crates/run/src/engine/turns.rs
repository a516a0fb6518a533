//! Turns: a step that batches do one after the other, in the order of their numbers, within otherwise parallel work.

use std::collections::BTreeSet;

use crate::locks::{into_inner, lock, wait};
use crate::sync::{Condvar, Mutex};

/// A state that batches change in the order of their numbers, which begin with 0. The turn of a batch comes when all
/// batches before it have had their turns or given them up.
#[derive(Debug)]
pub struct Turns<T> {
    state: Mutex<TurnOrder<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct TurnOrder<T> {
    next: u64,
    /// Later numbers whose turns are already over.
    over: BTreeSet<u64>,
    /// The first number that is not wanted.
    end: u64,
    /// The number of threads that wait for their turns.
    sleepers: usize,
    value: T,
}

/// The turn of a batch, which is over when the ticket is dropped.
#[derive(Debug)]
pub struct Ticket<'t, T> {
    turns: &'t Turns<T>,
    number: u64,
}

impl<T: Default> Default for Turns<T> {
    fn default() -> Turns<T> {
        Turns::new(T::default())
    }
}

impl<T> Turns<T> {
    /// Creates a state that batch 0 changes first.
    pub fn new(value: T) -> Turns<T> {
        let state = TurnOrder { next: 0, over: BTreeSet::new(), end: u64::MAX, sleepers: 0, value };
        Turns { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Returns the state after the last turn.
    pub fn into_inner(self) -> T {
        into_inner(self.state).value
    }

    /// Returns the turn of a batch. Every batch must take its ticket once, or be [stopped](Self::stop): later ones wait
    /// for it.
    pub fn ticket(&self, number: u64) -> Ticket<'_, T> {
        Ticket { turns: self, number }
    }

    /// Waits for the turn of a batch, changes the state, and ends the turn; `None` if the batch is not wanted any more.
    pub fn take<R>(&self, number: u64, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        let ticket = self.ticket(number);
        if !ticket.wait() {
            return None;
        }
        Some(self.change(change))
    }

    /// Changes the state out of turn.
    pub fn change<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        change(&mut lock(&self.state).value)
    }

    /// Stops batches from `number` on; they do not wait any longer.
    pub fn stop(&self, number: u64) {
        let mut state = lock(&self.state);
        state.end = state.end.min(number);
        drop(state);
        self.changed.notify_all();
    }
}

impl<T> Ticket<'_, T> {
    /// Waits until all batches before have had their turns; false if this batch is not wanted any more.
    pub fn wait(&self) -> bool {
        let mut state = lock(&self.turns.state);
        while state.next < self.number && self.number < state.end {
            state.sleepers += 1;
            state = wait(&self.turns.changed, state);
            state.sleepers -= 1;
        }
        self.number < state.end
    }
}

impl<T> Drop for Ticket<'_, T> {
    fn drop(&mut self) {
        let mut state = lock(&self.turns.state);
        if state.next == self.number {
            state.next += 1;
        } else {
            state.over.insert(self.number);
        }
        while state.over.first() == Some(&state.next) {
            state.over.pop_first();
            state.next += 1;
        }
        if state.sleepers > 0 {
            self.turns.changed.notify_all();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn turns_come_in_order_whatever_is_given_up() {
        let turns = Turns::<Vec<u64>>::default();
        std::thread::scope(|scope| {
            for number in [3, 1, 2, 0, 4] {
                // Batch 2 ends before it needs its turn.
                let turns = &turns;
                scope.spawn(move || match number {
                    2 => drop(turns.ticket(2)),
                    _ => assert!(turns.take(number, |order| order.push(number)).is_some()),
                });
            }
        });
        assert_eq!(turns.into_inner(), [0, 1, 3, 4]);
    }

    #[test]
    fn batches_before_a_failure_have_their_turns() {
        let turns = Turns::<Vec<u64>>::default();
        std::thread::scope(|scope| {
            let waiting = [1, 2, 3].map(|number| {
                scope.spawn({
                    let turns = &turns;
                    move || turns.take(number, |order| order.push(number)).is_some()
                })
            });
            turns.stop(2);
            drop(turns.ticket(0));
            assert_eq!(waiting.map(|thread| thread.join().unwrap()), [true, false, false]);
        });
        assert!(turns.take(7, |_| ()).is_none());
        assert_eq!(turns.into_inner(), [1]);
    }
}
