//! Batches that wait for something that all of them need.

/// What was kept of a batch, for work on it [later](super::Engine::run_held).
#[derive(Debug)]
pub struct Held<H> {
    pub(super) number: u64,
    pub(super) is_long: bool,
    /// What was kept.
    pub kept: H,
}

impl<H> Held<H> {
    /// The number of the batch.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The same batch, with something else kept of it.
    pub fn map<T>(self, change: impl FnOnce(H) -> T) -> Held<T> {
        let Held { number, is_long, kept } = self;
        Held { number, is_long, kept: change(kept) }
    }
}
