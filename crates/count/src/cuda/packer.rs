//! The producers' end of the queue of batches.

use merganser_seq::packed;
use merganser_seq::simd::Level;

use super::batch::TileBuffer;
use super::queue::Queue;
use crate::Error;
use crate::fragments::{Consumer, Fragment};

/// A consumer that packs batches of codes into tiles and sends full batches of tiles to the queue.
pub(crate) struct Packer<'q> {
    queue: &'q Queue,
    level: Level,
    packed: Vec<u64>,
    batch: Option<TileBuffer>,
}

impl<'q> Packer<'q> {
    pub(crate) fn new(queue: &'q Queue) -> Packer<'q> {
        Packer { queue, level: Level::best(), packed: Vec::new(), batch: None }
    }
}

impl Packer<'_> {
    /// Sends the last, incomplete batch.
    pub(crate) fn finish(self) {
        if let Some(batch) = self.batch.filter(|batch| batch.tiles() > 0) {
            self.queue.put_full(batch);
        }
    }
}

impl Consumer for Packer<'_> {
    /// # Errors
    /// [`Error::Cancelled`] if the queue was abandoned; the thread that did so reports the cause.
    fn batch(&mut self, codes: &[u8], fragments: &[Fragment]) -> Result<(), Error> {
        if fragments.is_empty() {
            return Ok(());
        }
        let mut batch = match self.batch.take() {
            Some(batch) => batch,
            None => self.queue.empty().ok_or(Error::Cancelled)?,
        };
        packed::pack(self.level, codes, &mut self.packed);
        batch.push(&self.packed, fragments);
        if batch.tiles() == self.queue.tiles() {
            self.queue.put_full(batch);
        } else {
            self.batch = Some(batch);
        }
        Ok(())
    }
}
