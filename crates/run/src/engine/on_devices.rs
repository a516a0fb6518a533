//! The loop of a worker that uses devices.

use super::in_flight::InFlight;
use super::{Device, Engine, InOrderSink, Source, Work};
use crate::{Cancelled, StartError};

/// A batch on a device.
struct Sent<B, L> {
    batch: B,
    slot: L,
}

/// A worker with its batches on devices.
pub(super) struct OnDevices<'o, 'e, S, P, K, W, D>
where
    S: Source,
    K: InOrderSink<P>,
    W: Work,
    D: Device<W>,
{
    engine: &'o Engine<'e, S, P, K>,
    device: &'o D,
    worker: &'o mut W,
    in_flight: InFlight<Sent<S::Batch, D::Slot>>,
    /// Batches kept to reuse their memory.
    spare: Vec<S::Batch>,
}

impl<'o, 'e, S, P, K, W, D, E> OnDevices<'o, 'e, S, P, K, W, D>
where
    S: Source,
    S::Batch: Send,
    K: InOrderSink<P, Error = E> + Send,
    E: From<S::Error> + From<Cancelled> + From<StartError> + Send,
    P: Send,
    W: Work<Batch = S::Batch, Output = P, Error = E>,
    D: Device<W>,
{
    pub(super) fn new(
        engine: &'o Engine<'e, S, P, K>,
        device: &'o D,
        worker: &'o mut W,
    ) -> OnDevices<'o, 'e, S, P, K, W, D> {
        OnDevices { engine, device, worker, in_flight: InFlight::default(), spare: Vec::new() }
    }

    /// Processes batches until there are no more.
    pub(super) fn take_all(mut self) {
        loop {
            let mut batch = self.spare.pop().unwrap_or_default();
            if !self.engine.next(&mut batch) {
                break;
            }
            if !self.engine.outputs.has_room(S::number(&batch)) {
                // The deadlock rule: the worker that must write first may wait for the slots of this worker.
                self.finish(0);
            }
            if !self.engine.wait_for_room(self.worker, &batch) {
                break;
            }
            self.take(batch);
            self.finish(D::IN_FLIGHT.saturating_sub(1));
        }
        self.finish(0);
    }

    /// Sends a batch to a device, or makes its output here.
    fn take(&mut self, batch: S::Batch) {
        if !self.device.takes(&batch) {
            return self.work(batch);
        }
        loop {
            // The deadlock rule: with batches on devices, never wait for a slot.
            let may_wait = self.in_flight.is_empty() && !self.device.shares();
            match self.device.place(self.worker, may_wait) {
                Ok(Some(slot)) => return self.send(batch, slot),
                Ok(None) if self.in_flight.is_empty() || self.device.shares() => {
                    return self.work(batch);
                }
                Ok(None) => self.finish(self.in_flight.len() - 1),
                Err(error) => return self.engine.fail(S::number(&batch), error),
            }
        }
    }

    fn send(&mut self, mut batch: S::Batch, mut slot: D::Slot) {
        // This may wait with a slot, since the preparation waits for no batch.
        if !self.engine.is_prepared() {
            return;
        }
        match self.device.start(self.worker, &mut batch, &mut slot) {
            Ok(()) => self.in_flight.push(Sent { batch, slot }),
            Err(error) => self.engine.fail(S::number(&batch), error),
        }
    }

    /// Makes the output of a batch on this thread.
    fn work(&mut self, mut batch: S::Batch) {
        if !self.device.shares() {
            // The deadlock rule: its output may have to wait for its turn.
            self.finish(0);
        }
        let turn = self.engine.turn_of(&batch);
        let done = self.worker.work(&mut batch, &turn);
        self.hand_over(turn, done);
        self.spare.push(batch);
    }

    /// Makes the outputs of the batches that devices are done with, and of further first ones until at most
    /// `most` are left.
    fn finish(&mut self, most: usize) {
        let device = self.device;
        let is_done = |sent: &Sent<S::Batch, D::Slot>| device.is_done(&sent.slot);
        while let Some((Sent { mut batch, slot }, done)) = self.in_flight.next_done(most, is_done) {
            let turn = self.engine.turn_of(&batch);
            let done = done.and_then(|()| device.finish(self.worker, &mut batch, slot, &turn));
            self.hand_over(turn, done);
            self.spare.push(batch);
        }
    }

    fn hand_over(&self, turn: super::Turn<'_, P, E>, done: Result<P, E>) {
        if !self.in_flight.is_empty() {
            // The deadlock rule: this worker still has other batches on devices.
            turn.never_defer();
        }
        self.engine.hand_over(turn, done);
    }
}
