//! How devices take part.

use super::{Turn, Work};

/// Devices that make the outputs of batches, while the worker that sent one goes on with the next.
pub trait Device<W: Work>: Sync {
    /// Room for a batch on a device, and what the device found.
    type Slot;

    /// Batches that a worker may have on devices while it goes on.
    const IN_FLIGHT: usize;

    /// Whether a worker that finds no free slot makes the output itself, rather than wait for one.
    fn shares(&self) -> bool {
        false
    }

    /// Whether devices can take this batch. If not, the worker makes its output.
    fn takes(&self, batch: &W::Batch) -> bool {
        let _ = batch;
        true
    }

    /// A slot. If none is free, waits for one if it may, or returns `None`. It returns `None` in both cases if there will be
    /// none: then the worker makes the output.
    ///
    /// # Errors
    /// If a slot cannot be made.
    fn place(&self, worker: &mut W, may_wait: bool) -> Result<Option<Self::Slot>, W::Error>;

    /// Sends a batch to a device, and does not wait.
    ///
    /// # Errors
    /// If the device fails.
    fn start(
        &self,
        worker: &mut W,
        batch: &mut W::Batch,
        slot: &mut Self::Slot,
    ) -> Result<(), W::Error>;

    /// Whether the device is done with a batch.
    ///
    /// # Errors
    /// If the device failed.
    fn is_done(&self, slot: &Self::Slot) -> Result<bool, W::Error>;

    /// Waits for the device if need be, gives the slot back, and makes the output.
    ///
    /// # Errors
    /// If the device failed, or the batch is at fault.
    fn finish(
        &self,
        worker: &mut W,
        batch: &mut W::Batch,
        slot: Self::Slot,
        turn: &Turn<'_, W::Output, W::Error>,
    ) -> Result<W::Output, W::Error>;
}

/// No device.
#[derive(Debug)]
pub(super) enum NoDevice {}

impl<W: Work> Device<W> for NoDevice {
    type Slot = ();
    const IN_FLIGHT: usize = 0;

    fn place(&self, _: &mut W, _: bool) -> Result<Option<()>, W::Error> {
        match *self {}
    }

    fn start(&self, _: &mut W, _: &mut W::Batch, (): &mut ()) -> Result<(), W::Error> {
        match *self {}
    }

    fn is_done(&self, (): &()) -> Result<bool, W::Error> {
        match *self {}
    }

    fn finish(
        &self,
        _: &mut W,
        _: &mut W::Batch,
        (): (),
        _: &Turn<'_, W::Output, W::Error>,
    ) -> Result<W::Output, W::Error> {
        match *self {}
    }
}
