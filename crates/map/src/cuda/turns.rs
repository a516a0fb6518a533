//! Lanes are taken in the order of batches: whoever waits for a lane then waits for earlier batches
//! alone, never for a later one that waits for its turn to write.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex};

use merganser_run::locks::{lock, wait};

/// Whose turn it is.
#[derive(Debug, Default)]
pub(super) struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    /// Later ones that are over already.
    over: BTreeSet<u64>,
}

/// A batch's turn, which is over when it is dropped, whatever happened.
#[derive(Debug)]
pub(crate) struct Turn<'t> {
    turns: &'t Turns,
    number: u64,
}

impl Turns {
    /// The turn of the batch of this number; each is asked for once.
    pub(super) fn of(&self, number: u64) -> Turn<'_> {
        Turn { turns: self, number }
    }
}

impl Turn<'_> {
    /// Waits until the turns of all batches before are over.
    pub(super) fn wait(&self) {
        let mut state = lock(&self.turns.state);
        while state.next != self.number {
            state = wait(&self.turns.changed, state);
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.turns.state);
        state.over.insert(self.number);
        loop {
            let next = state.next;
            if !state.over.remove(&next) {
                break;
            }
            state.next += 1;
        }
        drop(state);
        self.turns.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_come_in_order_whatever_is_given_up() {
        let (turns, order) = (Turns::default(), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for number in [3, 1, 2, 0, 4] {
                let turn = turns.of(number);
                scope.spawn(|| {
                    let turn = turn;
                    // Batch 2 fails before it needs a lane.
                    if turn.number != 2 {
                        turn.wait();
                        order.lock().unwrap().push(turn.number);
                    }
                });
            }
        });
        assert_eq!(order.into_inner().unwrap(), [0, 1, 3, 4]);
    }
}
