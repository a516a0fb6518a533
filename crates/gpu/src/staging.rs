//! Transfer of words from a mapped file to a device.

use crate::{Device, DeviceSliceMut, PinnedBuffer, Result, Stream};

/// The number of words of a buffer between the file and the device: 4 MiB.
pub const STAGING_WORDS: usize = 1 << 19;
/// The number of copying threads: one thread alone does not saturate the memory bandwidth.
pub const COPIERS: usize = 8;

/// Two pinned buffers through which words are copied, in order, to device memory.
pub struct Staging<'s> {
    /// The buffers; the first is being filled.
    buffers: [PinnedBuffer<u64>; 2],
    filled: usize,
    rest: Option<DeviceSliceMut<'s, u64>>,
    stream: &'s Stream,
}

impl<'s> Staging<'s> {
    /// Creates the buffers for words that go to `to`.
    ///
    /// # Errors
    /// If there is too little pinned memory.
    pub fn new(
        device: &Device,
        stream: &'s Stream,
        to: DeviceSliceMut<'s, u64>,
    ) -> Result<Staging<'s>> {
        let buffers = [device.alloc_pinned(STAGING_WORDS)?, device.alloc_pinned(STAGING_WORDS)?];
        Ok(Staging { buffers, filled: 0, rest: Some(to), stream })
    }

    /// Appends words, and enqueues the copy of each full buffer.
    ///
    /// # Errors
    /// If the device fails.
    pub fn put(&mut self, mut words: &[[u8; 8]]) -> Result<()> {
        while !words.is_empty() {
            let count = words.len().min(STAGING_WORDS - self.filled);
            let (now, later) = words.split_at(count);
            let room = &mut self.buffers[0].as_mut_slice()?[self.filled..];
            bytemuck::cast_slice_mut(&mut room[..count]).copy_from_slice(now.as_flattened());
            self.filled += count;
            words = later;
            if self.filled == STAGING_WORDS {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Enqueues the copy of the partly filled buffer.
    ///
    /// # Errors
    /// If the device fails.
    pub fn flush(&mut self) -> Result<()> {
        let Some(rest) = self.rest.take() else { return Ok(()) };
        let (to, rest) = rest.split_at_mut(self.filled);
        self.stream.upload(&mut self.buffers[0], 0..self.filled, to)?;
        self.rest = Some(rest);
        self.filled = 0;
        self.buffers.swap(0, 1);
        Ok(())
    }
}
