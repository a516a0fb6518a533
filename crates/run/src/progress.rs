//! How a job tells how far it is, without knowing who listens.

/// Receives a job's progress. Jobs call it from any of their threads, some hundred times a second
/// at most.
pub trait Progress: Sync {
    /// A stage begins. `total` is what the stage's [`advance`](Self::advance) amounts will add up
    /// to, `None` if unknown; the stage's description says whether the unit is bytes of input or
    /// k-mers.
    fn stage(&self, name: &str, total: Option<u64>);

    /// `amount` more units of the current stage are done.
    fn advance(&self, amount: u64);

    /// The current stage is over.
    fn finish(&self);
}

/// Listens to nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    /// Does nothing.
    fn stage(&self, _name: &str, _total: Option<u64>) {}

    /// Does nothing.
    fn advance(&self, _amount: u64) {}

    /// Does nothing.
    fn finish(&self) {}
}
