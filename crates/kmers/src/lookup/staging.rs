//! Uploads of the lines of sections to a device, through two buffers: one is filled while the other is copied.

use merganser_gpu::{Device, DeviceSliceMut, PinnedBuffer, Stream};
use merganser_seq::kmer::Kmer;

use super::lines::{Section, line_bytes};
use crate::Error;

/// Two buffers of the same size.
pub(super) struct Staging {
    buffers: [PinnedBuffer<u64>; 2],
    /// The index of the buffer that was filled last.
    filled: usize,
}

impl Staging {
    /// Allocates two buffers of `bytes` bytes each.
    pub(super) fn new(device: &Device, bytes: usize) -> Result<Staging, Error> {
        let words = bytes / 8;
        let buffers = [device.alloc_pinned(words)?, device.alloc_pinned(words)?];
        Ok(Staging { buffers, filled: 0 })
    }

    /// Copies the lines of a section to `room`, which has their size. The copy of the last lines may not have ended.
    pub(super) fn upload<K: Kmer>(
        &mut self,
        stream: &Stream,
        section: &Section<K>,
        mut room: DeviceSliceMut<'_, u64>,
    ) -> Result<(), Error> {
        let line_words = line_bytes::<K>() / 8;
        let at_once = self.buffers[0].len() / line_words;
        for from in (0..section.lines()).step_by(at_once) {
            let words = at_once.min(section.lines() - from) * line_words;
            self.filled ^= 1;
            let buffer = &mut self.buffers[self.filled];
            section.write_words(from, &mut buffer.as_mut_slice()?[..words]);
            let to = from * line_words;
            stream.upload(buffer, 0..words, room.reborrow().slice_mut(to..to + words))?;
        }
        Ok(())
    }
}
