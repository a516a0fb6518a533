//! The interface through which a job reports its progress.

/// The unit in which a stage counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of input or of intermediate data.
    Bytes,
    /// Bases of a reference.
    Bases,
    /// Occurrences of k-mers.
    Kmers,
    /// Equal steps without a meaning for users, who see a percentage.
    Steps,
}

/// A receiver of a job's progress. Jobs call it from any of their threads, at most some hundred times for each stage
/// and second.
pub trait Progress: Send + Sync {
    /// Begins a stage that counts in `unit`, and ends the one before it. `total` is the expected sum of the stage's
    /// [`advance`](Self::advance) amounts, `None` if unknown; the sum may be smaller, because the last part of the work
    /// is not always reported.
    fn stage(&self, name: &str, unit: Unit, total: Option<u64>);

    /// Adds `amount` finished units to the current stage.
    fn advance(&self, amount: u64);

    /// Ends the last stage of a job, or the last of some stages.
    fn finish(&self);

    /// Receives a one-line note, such as the devices in use. The default ignores it.
    fn note(&self, _message: &str) {}

    /// Called when the run has a new [warning](crate::Warnings) that should be shown before the run ends.
    fn warned(&self) {}
}

/// A receiver that ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    /// Does nothing.
    fn stage(&self, _name: &str, _unit: Unit, _total: Option<u64>) {}

    /// Does nothing.
    fn advance(&self, _amount: u64) {}

    /// Does nothing.
    fn finish(&self) {}
}
