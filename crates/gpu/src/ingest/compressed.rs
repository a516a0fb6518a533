//! The buffers for compressed bytes, and their inflation.

use merganser_inflate::RemoteRoom;
use merganser_inflate::bgzf::{Block, data_range};

use super::kernels::{self, BlockPlace, SLACK};
use crate::{Device, DeviceBuffer, DeviceSliceMut, PinnedBuffer, Result, Stream};

/// Buffers for the blocks of one text.
#[derive(Debug)]
pub(super) struct Compressed {
    bytes: DeviceBuffer<u8>,
    places_here: PinnedBuffer<BlockPlace>,
    places: DeviceBuffer<BlockPlace>,
    /// The number of blocks that the device does not accept.
    damaged: DeviceBuffer<u32>,
    /// The maximum number of bytes of text.
    text: usize,
}

impl Compressed {
    pub(super) fn new(device: &Device, room: RemoteRoom, stream: &Stream) -> Result<Compressed> {
        let mut bytes = device.alloc(room.bytes + SLACK)?;
        // Words are read ahead, beyond the end of the last block.
        stream.fill(bytes.view_mut(), 0)?;
        Ok(Compressed {
            bytes,
            places_here: device.alloc_pinned(room.blocks)?,
            places: device.alloc(room.blocks)?,
            damaged: device.alloc(1)?,
            text: room.text,
        })
    }

    /// Enqueues the inflation of blocks, which are in `from`, to a buffer from byte `at` on. Returns the length of the
    /// text; `None` if the blocks do not fit or a header is odd.
    pub(super) fn inflate(
        &mut self,
        stream: &Stream,
        from: &mut PinnedBuffer<u8>,
        blocks: &[Block],
        (to, at): (DeviceSliceMut<'_, u8>, usize),
    ) -> Result<Option<usize>> {
        let Some(length) = self.place(blocks, from.as_slice()?, at)? else { return Ok(None) };
        let bytes = blocks.last().map_or(0, |last| last.offset + last.size);
        stream.upload(from, 0..bytes, self.bytes.slice_mut(..bytes))?;
        let places = self.places.slice_mut(..blocks.len());
        stream.upload(&mut self.places_here, 0..blocks.len(), places)?;
        stream.fill(self.damaged.view_mut(), 0)?;
        let (bytes, places) = (self.bytes.view(), self.places.slice(..blocks.len()));
        kernels::inflate(stream, bytes, places, to, self.damaged.view_mut())?;
        Ok(Some(length))
    }

    /// Waits for the inflation; returns whether the device accepts all blocks.
    pub(super) fn is_good(&self, stream: &Stream) -> Result<bool> {
        let mut damaged = [0];
        stream.download_now(self.damaged.view(), &mut damaged)?;
        Ok(damaged == [0])
    }

    /// Writes the places of blocks, whose text begins at byte `at` of its buffer. Returns its length.
    fn place(&mut self, blocks: &[Block], bytes: &[u8], at: usize) -> Result<Option<usize>> {
        let places = self.places_here.as_mut_slice()?;
        if blocks.len() > places.len() {
            return Ok(None);
        }
        let mut text = 0;
        for (place, block) in places.iter_mut().zip(blocks) {
            let Some(data) = data_range(bytes, block) else { return Ok(None) };
            let sizes = data.len() as u64 | (block.text as u64) << 32;
            *place = [data.start as u64, (at + text) as u64, sizes];
            text += block.text;
        }
        Ok((text <= self.text).then_some(text))
    }
}
