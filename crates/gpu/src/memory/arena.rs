//! An arena of device memory: large allocations divided into small parts.

use super::{DeviceBuffer, DeviceSlice, DeviceSliceMut, Pod};
use crate::{Device, Result};
use merganser_run::locks::lock;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};

/// The alignment of parts in bytes, which is best for copies and kernels.
const ALIGNMENT: usize = 256;

/// An allocator that takes device memory a segment at a time and divides it into parts. A segment lives as long
/// as its parts. Cutting a part is quick and does not wait for the device.
#[derive(Debug)]
pub struct Arena {
    device: Device,
    segment_bytes: usize,
    state: Mutex<ArenaCursor>,
}

#[derive(Debug)]
struct ArenaCursor {
    current: Option<Arc<DeviceBuffer<u8>>>,
    used: usize,
    left: u64,
}

/// A part of an [`Arena`]; its segment is freed once all its parts and the arena are dropped.
#[derive(Debug)]
pub struct ArenaBuffer<T: Pod> {
    segment: Arc<DeviceBuffer<u8>>,
    start: usize,
    len: usize,
    items: PhantomData<T>,
}

impl Arena {
    /// Creates an arena of at most `limit` bytes, allocated on demand `segment_bytes` at a time.
    pub fn new(device: &Device, segment_bytes: usize, limit: u64) -> Arena {
        let state = ArenaCursor { current: None, used: 0, left: limit };
        Arena { device: device.clone(), segment_bytes, state: Mutex::new(state) }
    }

    /// Returns room for `len` items, or `None` if the arena's limit is reached or the device's memory is exhausted.
    ///
    /// # Errors
    /// Any error of the device except exhausted memory.
    pub fn cut<T: Pod>(&self, len: usize) -> Result<Option<ArenaBuffer<T>>> {
        let bytes = (len * size_of::<T>()).next_multiple_of(ALIGNMENT);
        let mut state = lock(&self.state);
        let fits = |segment: &Arc<DeviceBuffer<u8>>| state.used + bytes <= segment.len();
        let segment = match &state.current {
            Some(segment) if fits(segment) => Arc::clone(segment),
            _ => {
                let take = self.segment_bytes.max(bytes).min(state.left as usize);
                if take < bytes {
                    return Ok(None);
                }
                let segment = match self.device.alloc::<u8>(take) {
                    Ok(segment) => Arc::new(segment),
                    Err(error) if error.is_out_of_memory() => return Ok(None),
                    Err(error) => return Err(error),
                };
                state.left -= take as u64;
                state.used = 0;
                state.current = Some(Arc::clone(&segment));
                segment
            }
        };
        let start = state.used;
        state.used += bytes;
        Ok(Some(ArenaBuffer { segment, start, len, items: PhantomData }))
    }
}

impl<T: Pod> ArenaBuffer<T> {
    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the device whose memory it is.
    pub fn device(&self) -> &Device {
        self.segment.device()
    }

    /// Returns all items for reading.
    pub fn view(&self) -> DeviceSlice<'_, T> {
        self.segment.slice(self.start..self.start + self.len * size_of::<T>()).cast()
    }

    /// Returns all items for writing.
    pub fn view_mut(&mut self) -> DeviceSliceMut<'_, T> {
        // SAFETY: parts do not overlap, and this is the only borrow of this part.
        unsafe { self.segment.slice_shared(self.start..self.start + self.len * size_of::<T>()) }
            .cast()
    }
}
