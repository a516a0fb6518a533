//! The turn of a batch in the order of outputs.

use std::cell::Cell;

use super::ordered::{InOrder, InOrderSink};
use super::{Ticket, Turns};
use crate::workers::Gate;

/// The turn of a batch: gives spare memory, takes outputs before the last one, and orders slots.
pub struct Turn<'t, P, E> {
    number: u64,
    outputs: &'t dyn Outputs<P, E>,
    /// The ticket for a slot until it is used, if slots are taken in order.
    ticket: Cell<Option<Ticket<'t, ()>>>,
    deferred: Cell<bool>,
    /// The gate that opens when devices are prepared, if they must be.
    prepared: Option<&'t Gate>,
}

/// The functions of the outputs that a turn needs, for any sink.
trait Outputs<P, E> {
    fn spare(&self) -> Option<P>;
    fn hand_over(&self, number: u64, output: P, weight: u64) -> bool;
}

impl<P, K: InOrderSink<P>> Outputs<P, K::Error> for InOrder<P, K> {
    fn spare(&self) -> Option<P> {
        InOrder::spare(self)
    }

    fn hand_over(&self, number: u64, output: P, weight: u64) -> bool {
        self.hand_in_some(number, output, weight, false)
    }
}

impl<P, E> std::fmt::Debug for Turn<'_, P, E> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Turn").field("number", &self.number).finish_non_exhaustive()
    }
}

impl<'t, P, E> Turn<'t, P, E> {
    pub(super) fn new<K: InOrderSink<P, Error = E>>(
        number: u64,
        is_long: bool,
        outputs: &'t InOrder<P, K>,
        slots: Option<&'t Turns<()>>,
        prepared: Option<&'t Gate>,
    ) -> Turn<'t, P, E> {
        let ticket = Cell::new(slots.map(|slots| slots.ticket(number)));
        Turn { number, outputs, ticket, deferred: Cell::new(is_long), prepared }
    }

    /// Returns the number of the batch.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns an output that was written, to reuse its memory.
    pub fn spare(&self) -> Option<P> {
        self.outputs.spare()
    }

    /// Waits until devices are [prepared](super::Engine::with_preparation); false if that failed, which is reported
    /// as the error of the run. For workers that use devices themselves; the engine waits before
    /// [`Device::start`](super::Device::start).
    pub fn is_prepared(&self) -> bool {
        self.prepared.is_none_or(Gate::pass)
    }

    /// Hands over an output before the batch's last one, once all before it are written; false if it is not wanted any
    /// more. May block: never call it while holding a resource for which an earlier batch may wait.
    pub fn hand_over(&self, output: P) -> bool {
        self.deferred.set(true);
        self.outputs.hand_over(self.number, output, u64::MAX)
    }

    /// Hands over an output before the batch's last one like [`hand_over`](Self::hand_over), but as soon as its weight and
    /// those of the outputs that wait are at most [what may wait](super::Engine::with_waiting).
    pub fn hand_over_early(&self, output: P, weight: u64) -> bool {
        self.outputs.hand_over(self.number, output, weight)
    }

    /// Calls `take` once all batches before this one have called it or ended; `None` if this batch is not
    /// wanted any more.
    ///
    /// For slots that a worker keeps while it writes: if slots are taken in the order of the batches, no slot is held
    /// by a batch that waits for an earlier batch without one. May be called once per batch, in an engine
    /// [with slots in order](super::Engine::with_slots_in_order).
    pub fn in_order<T>(&self, take: impl FnOnce() -> T) -> Option<T> {
        let ticket = self.ticket.take();
        let taken = ticket.as_ref().is_none_or(Ticket::wait).then(take);
        // The next batch may now take its slot, while this one goes on.
        drop(ticket);
        taken
    }

    pub(super) fn never_defer(&self) {
        self.deferred.set(false);
    }

    pub(super) fn is_deferred(&self) -> bool {
        self.deferred.get()
    }
}
