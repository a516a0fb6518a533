//! Workspaces are taken in the order of batches: whoever waits for one then waits for earlier
//! batches alone, never for a later one that waits for its turn to write.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex};

use merganser_run::locks::{lock, wait};

/// Whose turn it is.
#[derive(Debug, Default)]
pub(super) struct Tickets {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    /// Later ones that are spent already.
    spent: BTreeSet<u64>,
}

/// A batch's ticket, which is spent when it is dropped, whatever happened.
#[derive(Debug)]
pub(crate) struct Ticket<'t> {
    tickets: &'t Tickets,
    number: u64,
}

impl Tickets {
    /// The ticket of the batch of this number; each is asked for once.
    pub(super) fn of(&self, number: u64) -> Ticket<'_> {
        Ticket { tickets: self, number }
    }
}

impl Ticket<'_> {
    /// Waits until the tickets of all batches before are spent.
    pub(super) fn wait(&self) {
        let mut state = lock(&self.tickets.state);
        while state.next != self.number {
            state = wait(&self.tickets.changed, state);
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.tickets.state);
        state.spent.insert(self.number);
        loop {
            let next = state.next;
            if !state.spent.remove(&next) {
                break;
            }
            state.next += 1;
        }
        drop(state);
        self.tickets.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_come_in_order_whatever_is_given_up() {
        let (tickets, order) = (Tickets::default(), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for number in [3, 1, 2, 0, 4] {
                let ticket = tickets.of(number);
                scope.spawn(|| {
                    let ticket = ticket;
                    // Batch 2 fails before it needs a workspace.
                    if ticket.number != 2 {
                        ticket.wait();
                        order.lock().unwrap().push(ticket.number);
                    }
                });
            }
        });
        assert_eq!(order.into_inner().unwrap(), [0, 1, 3, 4]);
    }
}
