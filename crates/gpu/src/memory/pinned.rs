//! Pinned host memory, which devices copy from and to at full speed and asynchronously.

use super::Pod;
use crate::ffi;
use crate::{Device, Error, Event, Result, Stream};
use std::slice;

/// Items in host memory that is not paged out. Copies run in the background; the buffer waits for them before
/// the host accesses the items or the memory is freed.
#[derive(Debug)]
pub struct PinnedBuffer<T: Pod> {
    /// The address; dangling if and only if `len` is 0.
    ptr: *mut T,
    len: usize,
    device: Device,
    /// The event that marks the end of the copy enqueued last.
    last_copy: Option<Event>,
}

// SAFETY: it owns plain data; the host waits for the device's copies before accessing it.
unsafe impl<T: Pod> Send for PinnedBuffer<T> {}
// SAFETY: as above; a shared buffer can only be read.
unsafe impl<T: Pod> Sync for PinnedBuffer<T> {}

impl Device {
    /// Allocates room for `len` items of pinned memory, which every device can access. The initial content is
    /// unspecified. Slow, since pages are pinned one by one: use it once a run, not once a batch.
    pub fn alloc_pinned<T: Pod>(&self, len: usize) -> Result<PinnedBuffer<T>> {
        let mut ptr = std::ptr::NonNull::<T>::dangling().as_ptr();
        if len > 0 {
            let bytes = (len as u64).checked_mul(size_of::<T>() as u64);
            let bytes = bytes.filter(|&bytes| bytes <= isize::MAX as u64);
            let bytes = bytes.ok_or(Error::OutOfPinnedMemory { asked: u64::MAX })?;
            ptr = self.take_pinned(bytes)?.cast();
        }
        Ok(PinnedBuffer { ptr, len, device: self.clone(), last_copy: None })
    }
}

impl<T: Pod> PinnedBuffer<T> {
    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the items for reading, once the copies enqueued so far are done.
    pub fn as_slice(&self) -> Result<&[T]> {
        self.wait()?;
        // SAFETY: there are `len` items, and no copy runs: starting one requires `&mut self`. They are
        // initialized: pages come zeroed from the system or hold earlier content.
        Ok(unsafe { slice::from_raw_parts(self.ptr, self.len) })
    }

    /// Returns the items for writing, once the copies enqueued so far are done.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        self.wait()?;
        // SAFETY: as above, and this is the only borrow.
        Ok(unsafe { slice::from_raw_parts_mut(self.ptr, self.len) })
    }

    /// Waits until the copies enqueued so far are done.
    pub fn wait(&self) -> Result<()> {
        self.last_copy.as_ref().map_or(Ok(()), Event::synchronize)
    }

    /// Returns whether the copies enqueued so far are done.
    pub fn is_idle(&self) -> Result<bool> {
        self.last_copy.as_ref().map_or(Ok(true), Event::is_done)
    }

    /// Returns the address of item `at`, for a copy within [`PinnedBuffer::keep_for`].
    pub(crate) fn raw(&self, at: usize) -> *mut T {
        self.ptr.wrapping_add(at)
    }

    /// Enqueues a copy and records its end. The copy waits for pending copies of other streams, so that the end of
    /// the last copy is the end of all.
    pub(crate) fn keep_for(
        &mut self,
        stream: &Stream,
        enqueue: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        match &self.last_copy {
            Some(last) if self.device.ordinal() == stream.device().ordinal() => {
                stream.wait(last)?
            }
            // An event belongs to one device: a stream of another device needs its own.
            _ => {
                self.wait()?;
                self.last_copy = Some(stream.device().event()?);
                self.device = stream.device().clone();
            }
        }
        let event = self.last_copy.as_ref().expect("made above");
        let recorded = enqueue().and_then(|()| stream.record(event));
        if recorded.is_err() {
            // The copy may be running without an event that marks its end: wait for it here.
            let _ = stream.synchronize();
        }
        recorded
    }
}

impl<T: Pod> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        if self.len > 0 {
            // If waiting fails, the device's context is lost, and all its copies with it.
            let _ = self.wait();
            let free = || {
                // SAFETY: `alloc_pinned` allocated it, it is not borrowed, and no copy of it runs.
                unsafe { ffi::mgpu_free_pinned(self.ptr.cast()) }
            };
            let _ = self.device.call("freeing pinned memory", free);
        }
    }
}
