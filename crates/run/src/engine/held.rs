//! Batches that are held until a result that all of them need is known.

/// The data kept of a batch, for work on it [later](super::Engine::run_held).
#[derive(Debug)]
pub struct Held<H> {
    pub(super) number: u64,
    pub(super) is_long: bool,
    /// The data.
    pub kept: H,
}

impl<H> Held<H> {
    /// Returns the number of the batch.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Converts the data.
    pub fn map<T>(self, change: impl FnOnce(H) -> T) -> Held<T> {
        let Held { number, is_long, kept } = self;
        Held { number, is_long, kept: change(kept) }
    }
}
