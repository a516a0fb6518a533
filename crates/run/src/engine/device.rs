//! The interface of devices.

use super::{Turn, Work};

/// Devices that make the outputs of batches, while the worker that sent a batch goes on with the next.
pub trait Device<W: Work>: Sync {
    /// Room for a batch on a device, and for the device's results. Free again when it is dropped.
    type Slot;

    /// The number of batches that a worker may have on devices while it goes on.
    const IN_FLIGHT: usize;

    /// Returns whether a worker that finds no free slot makes the output itself rather than wait for one.
    fn shares(&self) -> bool {
        false
    }

    /// Returns whether devices can process this batch. If not, the worker makes its output.
    fn takes(&self, batch: &W::Batch) -> bool {
        let _ = batch;
        true
    }

    /// Returns a slot. If none is free, waits for one if `may_wait`, otherwise returns `None`. Always returns
    /// `None` if there will never be one; the worker then makes the output without a device.
    ///
    /// # Errors
    /// If a slot cannot be created.
    fn place(&self, worker: &mut W, may_wait: bool) -> Result<Option<Self::Slot>, W::Error>;

    /// Sends a batch to a device, which is [prepared](super::Engine::with_preparation), without waiting.
    ///
    /// # Errors
    /// If the device fails.
    fn start(
        &self,
        worker: &mut W,
        batch: &mut W::Batch,
        slot: &mut Self::Slot,
    ) -> Result<(), W::Error>;

    /// Returns whether the device is done with a batch.
    ///
    /// # Errors
    /// If the device failed.
    fn is_done(&self, slot: &Self::Slot) -> Result<bool, W::Error>;

    /// Waits for the device if necessary, returns the slot, and makes the output.
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

/// The type of the missing device.
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
