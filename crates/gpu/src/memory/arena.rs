//! Device memory that is taken in large pieces and handed out in small ones.

use super::{DeviceBuffer, DeviceSlice, DeviceSliceMut, Pod};
use crate::{Device, Result};
use merganser_run::locks::lock;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};

/// Where parts begin: what copies and kernels like best.
const ALIGNMENT: usize = 256;

/// Takes memory from the device a segment at a time, and cuts parts from it that live as long as
/// the parts do. Cutting is quick and does not wait for the device.
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

/// A part of an [`Arena`]; its segment is freed with the last of its parts and the arena.
#[derive(Debug)]
pub struct ArenaBuffer<T: Pod> {
    segment: Arc<DeviceBuffer<u8>>,
    start: usize,
    len: usize,
    items: PhantomData<T>,
}

impl Arena {
    /// An arena of at most `limit` bytes, taken `segment_bytes` at a time; nothing is taken yet.
    pub fn new(device: &Device, segment_bytes: usize, limit: u64) -> Arena {
        let state = ArenaCursor { current: None, used: 0, left: limit };
        Arena { device: device.clone(), segment_bytes, state: Mutex::new(state) }
    }

    /// Room for `len` items, or `None` if the arena's limit or the device's memory is reached.
    ///
    /// # Errors
    /// What the device reports, other than that memory ran out.
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
    /// The number of items.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whose memory it is.
    pub fn device(&self) -> &Device {
        self.segment.device()
    }

    /// All of it, to read.
    pub fn view(&self) -> DeviceSlice<'_, T> {
        self.segment.slice(self.start..self.start + self.len * size_of::<T>()).cast()
    }

    /// All of it, to write.
    pub fn view_mut(&mut self) -> DeviceSliceMut<'_, T> {
        // SAFETY: parts do not overlap, and this is the only borrow of this one.
        unsafe { self.segment.slice_shared(self.start..self.start + self.len * size_of::<T>()) }
            .cast()
    }
}
