//! Pinned host memory: what the device copies from and to at full speed, beside everything else.

use super::Pod;
use crate::ffi;
use crate::{Device, Error, Event, Result, Stream};
use std::slice;

/// Items in host memory that does not move. Copies to and from it run in the background; before the
/// host gets at the items, or the memory is freed, it waits for them.
#[derive(Debug)]
pub struct PinnedBuffer<T: Pod> {
    /// Dangling if and only if `len` is 0.
    ptr: *mut T,
    len: usize,
    device: Device,
    /// The end of the last copy enqueued.
    last_copy: Option<Event>,
}

// SAFETY: it owns plain data; the device's copies of it are waited for before it is touched.
unsafe impl<T: Pod> Send for PinnedBuffer<T> {}
// SAFETY: as above; shared, it can only be read.
unsafe impl<T: Pod> Sync for PinnedBuffer<T> {}

impl Device {
    /// Room for `len` items of pinned memory, which every device can use. What is in them at first
    /// is anything. Slow (pages are pinned one by one): once a run, not once a batch.
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
    /// The number of items.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The items, once the copies enqueued so far are done.
    pub fn as_slice(&self) -> Result<&[T]> {
        self.wait()?;
        // SAFETY: `len` items, and no copy runs: starting one takes `&mut self`. They are
        // initialised: pages come from the system with zeros in them, or hold what was there.
        Ok(unsafe { slice::from_raw_parts(self.ptr, self.len) })
    }

    /// The items to write, once the copies enqueued so far are done.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        self.wait()?;
        // SAFETY: as above, and the borrow is the only one.
        Ok(unsafe { slice::from_raw_parts_mut(self.ptr, self.len) })
    }

    /// Waits until the copies enqueued so far are done.
    pub fn wait(&self) -> Result<()> {
        self.last_copy.as_ref().map_or(Ok(()), Event::synchronize)
    }

    /// Whether the copies enqueued so far are done.
    pub fn is_idle(&self) -> Result<bool> {
        self.last_copy.as_ref().map_or(Ok(true), Event::is_done)
    }

    /// The address of the item `at`, for a copy within [`PinnedBuffer::keep_for`].
    pub(crate) fn raw(&self, at: usize) -> *mut T {
        self.ptr.wrapping_add(at)
    }

    /// Enqueues a copy and remembers its end. Copies of other streams that are not done come
    /// before it, so that the last one's end is the end of all.
    pub(crate) fn keep_for(
        &mut self,
        stream: &Stream,
        enqueue: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        match &self.last_copy {
            Some(last) if self.device.ordinal() == stream.device().ordinal() => {
                stream.wait(last)?
            }
            // An event belongs to its device: another device's stream needs one of its own.
            _ => {
                self.wait()?;
                self.last_copy = Some(stream.device().event()?);
                self.device = stream.device().clone();
            }
        }
        let event = self.last_copy.as_ref().expect("made above");
        let recorded = enqueue().and_then(|()| stream.record(event));
        if recorded.is_err() {
            // The copy may run, and nothing marks its end: wait for it here.
            let _ = stream.synchronize();
        }
        recorded
    }
}

impl<T: Pod> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        if self.len > 0 {
            // If waiting fails the device's context is lost, and with it all its copies.
            let _ = self.wait();
            let free = || {
                // SAFETY: `alloc_pinned` took it, nobody borrows it, and no copy of it runs.
                unsafe { ffi::mgpu_free_pinned(self.ptr.cast()) }
            };
            let _ = self.device.call("freeing pinned memory", free);
        }
    }
}
