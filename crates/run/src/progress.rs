//! How a job tells how far it is, without knowing who listens.

/// What a stage counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes, of input or of what is under way.
    Bytes,
    /// Bases of a reference.
    Bases,
    /// Occurrences of k-mers.
    Kmers,
    /// Equal steps that mean nothing to users, who see per cent.
    Steps,
}

/// Receives a job's progress. Jobs call it from any of their threads, some hundred times a second
/// at most.
pub trait Progress: Sync {
    /// A stage begins that counts `unit`. `total` is what the stage's [`advance`](Self::advance)
    /// amounts will add up to, `None` if unknown.
    fn stage(&self, name: &str, unit: Unit, total: Option<u64>);

    /// `amount` more units of the current stage are done.
    fn advance(&self, amount: u64);

    /// The current stage is over.
    fn finish(&self);

    /// Something worth saying in a line, e.g. what computes. Unless it is taken, it is lost.
    fn note(&self, _message: &str) {}

    /// There is a new one among the run's [`Warnings`](crate::Warnings) that should be seen before the run ends.
    fn warned(&self) {}
}

/// Listens to nothing.
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
