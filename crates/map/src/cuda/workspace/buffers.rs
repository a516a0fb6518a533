//! Buffers that grow to the size of the largest batch so far.

use merganser_gpu::{DeviceBuffer, PinnedBuffer, Pod, Result as GpuResult, Stream};

/// A pinned buffer on the host and its copy on the device.
#[derive(Debug)]
pub(super) struct Upload<T: Pod> {
    here: PinnedBuffer<T>,
    pub(super) there: DeviceBuffer<T>,
}

impl<T: Pod> Upload<T> {
    pub(super) fn new(stream: &Stream) -> GpuResult<Upload<T>> {
        let device = stream.device();
        Ok(Upload { here: device.alloc_pinned(0)?, there: device.alloc(0)? })
    }

    pub(super) fn load(&mut self, stream: &Stream, items: &[T]) -> GpuResult<()> {
        if self.here.len() < items.len() {
            let (device, room) = (stream.device(), items.len().next_power_of_two());
            self.there = device.alloc(0)?;
            self.here = device.alloc_pinned(room)?;
            self.there = device.alloc(room)?;
        }
        self.here.as_mut_slice()?[..items.len()].copy_from_slice(items);
        stream.upload(&mut self.here, 0..items.len(), self.there.view_mut())
    }
}

/// Replaces a buffer by a longer one if it is too short; its contents are lost.
pub(super) fn grow<T: Pod>(
    stream: &Stream,
    buffer: &mut DeviceBuffer<T>,
    len: usize,
) -> GpuResult<()> {
    if buffer.len() < len {
        *buffer = stream.device().alloc(0)?;
        *buffer = stream.device().alloc(len.next_power_of_two())?;
    }
    Ok(())
}
