//! Streams: ordered copies, fills and launches.
#![allow(
    unsafe_code,
    reason = "calls the CUDA runtime, with memory whose bounds it checks and that lasts as long as its work"
)]

use crate::ffi::{self, RawStream, Status};
use crate::memory::{DeviceSlice, DeviceSliceMut, PinnedBuffer, Pod};
use crate::{Device, Error, Event, Result};
use std::ops::Range;

/// A queue of work for one device, done in order and concurrently with other streams.
#[derive(Debug)]
pub struct Stream {
    raw: RawStream,
    device: Device,
}

// SAFETY: any threads may call CUDA's functions on a stream concurrently.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Device {
    /// Creates a stream; it does not synchronize with the default stream, which is unused.
    pub fn stream(&self) -> Result<Stream> {
        let mut raw = std::ptr::null_mut();
        self.call("creating a stream", || {
            // SAFETY: the pointer is to a local.
            unsafe { ffi::mgpu_create_stream(&mut raw) }
        })?;
        Ok(Stream { raw, device: self.clone() })
    }
}

impl Stream {
    /// Returns the stream's device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Calls a launcher with this stream, its device being current, and checks the status:
    ///
    /// ```ignore
    /// stream.launch("expanding super-k-mers", |raw| {
    ///     // SAFETY: …
    ///     unsafe { ffi::mgpu_expand(bins.as_ptr(), bins.len() as u64, raw) }
    /// })
    /// ```
    pub fn launch(
        &self,
        doing: &'static str,
        function: impl FnOnce(RawStream) -> Status,
    ) -> Result<()> {
        self.device.call(doing, || function(self.raw))
    }

    /// Waits until all work enqueued so far is done, and returns its first failure.
    pub fn synchronize(&self) -> Result<()> {
        self.launch("waiting for a stream", |raw| {
            // SAFETY: the stream exists until it is dropped.
            unsafe { ffi::mgpu_synchronize_stream(raw) }
        })
    }

    /// Records an event at this point of the work.
    pub fn record(&self, event: &Event) -> Result<()> {
        self.launch("recording an event", |raw| {
            // SAFETY: the stream and the event exist until they are dropped.
            unsafe { ffi::mgpu_record_event(event.raw(), raw) }
        })
    }

    /// Makes work enqueued from now on wait for the work before the event's last record.
    pub fn wait(&self, event: &Event) -> Result<()> {
        self.launch("making a stream wait", |raw| {
            // SAFETY: the stream and the event exist until they are dropped.
            unsafe { ffi::mgpu_stream_wait(event.raw(), raw) }
        })
    }

    /// Enqueues a copy of a range of pinned memory to the device.
    pub fn upload<T: Pod>(
        &self,
        from: &mut PinnedBuffer<T>,
        range: Range<usize>,
        mut to: DeviceSliceMut<'_, T>,
    ) -> Result<()> {
        let doing = "copying to the device";
        fits(doing, "the pinned buffer", from.len(), range.end)?;
        fits(doing, "the device buffer", to.len(), range.len())?;
        let source = from.raw(range.start);
        // SAFETY: `fits` has checked both lengths; the pinned buffer waits for the copy before
        // it is written or freed.
        from.keep_for(self, || unsafe {
            self.copy_raw(doing, source, to.as_mut_ptr(), range.len())
        })
    }

    /// Enqueues a copy from the device into pinned memory at item `at`.
    pub fn download<T: Pod>(
        &self,
        from: DeviceSlice<'_, T>,
        to: &mut PinnedBuffer<T>,
        at: usize,
    ) -> Result<()> {
        let doing = "copying from the device";
        fits(doing, "the pinned buffer", to.len(), at.saturating_add(from.len()))?;
        let target = to.raw(at);
        // SAFETY: as above; the buffer waits for the copy before it is read, written or freed.
        to.keep_for(self, || unsafe { self.copy_raw(doing, from.as_ptr(), target, from.len()) })
    }

    /// Enqueues a copy within a device or from one to another.
    pub fn copy<T: Pod>(
        &self,
        from: DeviceSlice<'_, T>,
        mut to: DeviceSliceMut<'_, T>,
    ) -> Result<()> {
        let doing = "copying on the device";
        fits(doing, "the target", to.len(), from.len())?;
        // SAFETY: both are device memory of that many items, and device memory is not freed while
        // work that uses it runs.
        unsafe { self.copy_raw(doing, from.as_ptr(), to.as_mut_ptr(), from.len()) }
    }

    /// Enqueues a fill of every byte with `byte`.
    pub fn fill<T: Pod>(&self, mut to: DeviceSliceMut<'_, T>, byte: u8) -> Result<()> {
        let bytes = size_of::<T>() * to.len();
        self.launch("filling device memory", |raw| {
            // SAFETY: the memory has that many bytes, and any bytes are a valid T.
            unsafe { ffi::mgpu_fill(to.as_mut_ptr().cast(), byte, bytes as u64, raw) }
        })
    }

    /// Copies to the device and waits for the copy. For small data only: pageable memory is slow.
    pub fn upload_now<T: Pod>(&self, from: &[T], mut to: DeviceSliceMut<'_, T>) -> Result<()> {
        let doing = "copying to the device";
        fits(doing, "the device buffer", to.len(), from.len())?;
        // SAFETY: both have that many items, and `from` lives until the copy is done.
        let copied = unsafe { self.copy_raw(doing, from.as_ptr(), to.as_mut_ptr(), from.len()) };
        copied.and(self.synchronize())
    }

    /// Copies from the device and waits for the copy. For small data only: pageable memory is slow.
    pub fn download_now<T: Pod>(&self, from: DeviceSlice<'_, T>, to: &mut [T]) -> Result<()> {
        let doing = "copying from the device";
        fits(doing, "the target", to.len(), from.len())?;
        // SAFETY: both have that many items, and `to` lives until the copy is done.
        let copied = unsafe { self.copy_raw(doing, from.as_ptr(), to.as_mut_ptr(), from.len()) };
        copied.and(self.synchronize())
    }

    /// Copies from the device to a new vector, like [`Stream::download_now`].
    pub fn download_vec<T: Pod + Default>(&self, from: DeviceSlice<'_, T>) -> Result<Vec<T>> {
        let mut items = vec![T::default(); from.len()];
        self.download_now(from, &mut items)?;
        Ok(items)
    }

    /// Enqueues a copy of `items` items.
    ///
    /// # Safety
    /// Both pointers are valid for `items` items until the copy is done.
    unsafe fn copy_raw<T: Pod>(
        &self,
        doing: &'static str,
        from: *const T,
        to: *mut T,
        items: usize,
    ) -> Result<()> {
        if items == 0 {
            return Ok(());
        }
        let bytes = (items * size_of::<T>()) as u64;
        // SAFETY: guaranteed by the caller.
        self.launch(doing, |raw| unsafe { ffi::mgpu_copy(to.cast(), from.cast(), bytes, raw) })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let destroy = || {
            // SAFETY: the handle is not used after this; CUDA completes the enqueued work and then frees it.
            unsafe { ffi::mgpu_destroy_stream(self.raw) }
        };
        // A failure here is a failure of earlier work, which later calls report too.
        let _ = self.device.call("destroying a stream", destroy);
    }
}

/// Returns an error if a buffer is too short.
pub(crate) fn fits(
    doing: &'static str,
    what: &'static str,
    have: usize,
    need: usize,
) -> Result<()> {
    if need <= have { Ok(()) } else { Err(Error::Length { doing, what, have, need }) }
}
