//! Device buffers and slices of them.

use super::Pod;
use crate::{Device, Error, Result};
use std::marker::PhantomData;
use std::ops::{Bound, Range, RangeBounds};

/// Items in device memory, which the host cannot access directly. The initial content is unspecified.
#[derive(Debug)]
pub struct DeviceBuffer<T: Pod> {
    /// The device address; null if and only if `len` is 0.
    ptr: *mut T,
    len: usize,
    device: Device,
}

// SAFETY: it owns plain data that only CUDA's functions access, from any thread.
unsafe impl<T: Pod> Send for DeviceBuffer<T> {}
// SAFETY: as above.
unsafe impl<T: Pod> Sync for DeviceBuffer<T> {}

/// A read-only part of a [`DeviceBuffer`].
#[derive(Clone, Copy, Debug)]
pub struct DeviceSlice<'a, T: Pod> {
    ptr: *const T,
    len: usize,
    owner: PhantomData<&'a T>,
}

/// A writable part of a [`DeviceBuffer`].
#[derive(Debug)]
pub struct DeviceSliceMut<'a, T: Pod> {
    ptr: *mut T,
    len: usize,
    owner: PhantomData<&'a mut T>,
}

// SAFETY: it is a borrow of a buffer that may be sent and shared.
unsafe impl<T: Pod> Send for DeviceSlice<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Pod> Sync for DeviceSlice<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Pod> Send for DeviceSliceMut<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Pod> Sync for DeviceSliceMut<'_, T> {}

impl Device {
    /// Allocates room for `len` items. Slow, since it waits for the device: use it once a run, not once a batch.
    pub fn alloc<T: Pod>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        let device = self.clone();
        if len == 0 {
            return Ok(DeviceBuffer { ptr: std::ptr::null_mut(), len, device });
        }
        let bytes = (len as u64).checked_mul(size_of::<T>() as u64).ok_or(Error::OutOfMemory {
            ordinal: self.ordinal(),
            asked: u64::MAX,
            available: self.info().total_memory,
        })?;
        // cudaMalloc aligns to 256 bytes, more than any T needs.
        Ok(DeviceBuffer { ptr: self.take(bytes)?.cast(), len, device })
    }
}

impl<T: Pod> DeviceBuffer<T> {
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
        &self.device
    }

    /// Returns all items for reading.
    pub fn view(&self) -> DeviceSlice<'_, T> {
        DeviceSlice { ptr: self.ptr, len: self.len, owner: PhantomData }
    }

    /// Returns all items for writing.
    pub fn view_mut(&mut self) -> DeviceSliceMut<'_, T> {
        DeviceSliceMut { ptr: self.ptr, len: self.len, owner: PhantomData }
    }

    /// Returns a range of the items for reading.
    ///
    /// # Panics
    /// If the range is not within the buffer.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> DeviceSlice<'_, T> {
        self.view().slice(range)
    }

    /// Returns a range of the items for writing, although other parts of the buffer are in use.
    ///
    /// # Safety
    /// No other code uses this range while the slice exists.
    pub(super) unsafe fn slice_shared(&self, range: Range<usize>) -> DeviceSliceMut<'_, T> {
        DeviceSliceMut { ptr: self.ptr, len: self.len, owner: PhantomData }.slice_mut(range)
    }

    /// Returns a range of the items for writing.
    ///
    /// # Panics
    /// If the range is not within the buffer.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> DeviceSliceMut<'_, T> {
        self.view_mut().slice_mut(range)
    }
}

impl<T: Pod> Drop for DeviceBuffer<T> {
    fn drop(&mut self) {
        if !self.ptr.is_null() {
            let bytes = (self.len * size_of::<T>()) as u64;
            // SAFETY: `alloc` allocated it, and it is not borrowed any more.
            unsafe { self.device.give_back(self.ptr.cast(), bytes) }
        }
    }
}

impl<'a, T: Pod> DeviceSlice<'a, T> {
    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the device address, for launchers. Null or dangling if there are no items.
    pub fn as_ptr(&self) -> *const T {
        self.ptr
    }

    /// Returns a range of the items.
    ///
    /// # Panics
    /// If the range is not within the slice.
    pub fn slice(self, range: impl RangeBounds<usize>) -> DeviceSlice<'a, T> {
        let range = resolve(range, self.len);
        // Wrapping, since an empty slice may have no address.
        DeviceSlice { ptr: self.ptr.wrapping_add(range.start), len: range.len(), ..self }
    }

    /// Returns the same bytes as items of another type.
    ///
    /// # Panics
    /// If the bytes are not aligned for the type, or are not a whole number of items.
    pub fn cast<U: Pod>(self) -> DeviceSlice<'a, U> {
        let len = recount::<T, U>(self.ptr.addr(), self.len);
        DeviceSlice { ptr: self.ptr.cast(), len, owner: PhantomData }
    }
}

impl<'a, T: Pod> DeviceSliceMut<'a, T> {
    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the device address, for launchers. Null or dangling if there are no items.
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.ptr
    }

    /// Returns the items for reading.
    pub fn as_slice(&self) -> DeviceSlice<'_, T> {
        DeviceSlice { ptr: self.ptr, len: self.len, owner: PhantomData }
    }

    /// Borrows the items for a shorter time.
    pub fn reborrow(&mut self) -> DeviceSliceMut<'_, T> {
        DeviceSliceMut { ptr: self.ptr, len: self.len, owner: PhantomData }
    }

    /// Returns a range of the items.
    ///
    /// # Panics
    /// If the range is not within the slice.
    pub fn slice_mut(self, range: impl RangeBounds<usize>) -> DeviceSliceMut<'a, T> {
        let range = resolve(range, self.len);
        DeviceSliceMut { ptr: self.ptr.wrapping_add(range.start), len: range.len(), ..self }
    }

    /// Splits the items at index `at`.
    ///
    /// # Panics
    /// If there are fewer than `at` items.
    pub fn split_at_mut(self, at: usize) -> (DeviceSliceMut<'a, T>, DeviceSliceMut<'a, T>) {
        assert!(at <= self.len, "a split at {at} of {} items", self.len);
        let (ptr, owner) = (self.ptr.wrapping_add(at), PhantomData);
        (DeviceSliceMut { len: at, ..self }, DeviceSliceMut { ptr, len: self.len - at, owner })
    }

    /// Returns the same bytes as items of another type.
    ///
    /// # Panics
    /// If the bytes are not aligned for the type, or are not a whole number of items.
    pub fn cast<U: Pod>(self) -> DeviceSliceMut<'a, U> {
        let len = recount::<T, U>(self.ptr.addr(), self.len);
        DeviceSliceMut { ptr: self.ptr.cast(), len, owner: PhantomData }
    }
}

/// Resolves the bounds of a range within `len` items.
fn resolve(range: impl RangeBounds<usize>, len: usize) -> Range<usize> {
    let start = match range.start_bound() {
        Bound::Included(&at) => at,
        Bound::Excluded(&at) => at + 1,
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&at) => at + 1,
        Bound::Excluded(&at) => at,
        Bound::Unbounded => len,
    };
    assert!(start <= end && end <= len, "items {start} to {end} of {len}");
    start..end
}

/// Returns the number of U in the bytes of `len` T.
fn recount<T, U>(address: usize, len: usize) -> usize {
    let bytes = len * size_of::<T>();
    assert!(address.is_multiple_of(align_of::<U>()), "device memory is not aligned for the items");
    assert!(bytes.is_multiple_of(size_of::<U>()), "device memory ends with part of an item");
    bytes / size_of::<U>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(len: usize) -> DeviceSliceMut<'static, u32> {
        DeviceSliceMut { ptr: std::ptr::without_provenance_mut(4096), len, owner: PhantomData }
    }

    #[test]
    fn parts_lie_where_they_should() {
        let part = view(10).slice_mut(2..=5);
        assert_eq!((part.ptr.addr(), part.len()), (4096 + 8, 4));
        let (front, back) = view(10).split_at_mut(10);
        assert_eq!((front.len(), back.len(), back.is_empty()), (10, 0, true));
        let wide = view(10).slice_mut(4..).cast::<u64>();
        assert_eq!((wide.ptr.addr(), wide.len()), (4096 + 16, 3));
        assert_eq!(view(3).as_slice().slice(1..).cast::<u8>().len(), 8);
    }

    #[test]
    #[should_panic(expected = "items 3 to 11 of 10")]
    fn a_part_beyond_the_end_is_refused() {
        view(10).slice_mut(3..11);
    }

    #[test]
    #[should_panic(expected = "not aligned")]
    fn a_cast_to_wider_items_needs_alignment() {
        view(10).slice_mut(1..).cast::<u64>();
    }

    #[test]
    #[should_panic(expected = "part of an item")]
    fn a_cast_leaves_no_bytes_over() {
        view(3).cast::<u64>();
    }
}
