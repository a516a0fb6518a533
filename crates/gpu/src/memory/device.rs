//! Device memory and parts of it.

use super::Pod;
use crate::{Device, Error, Result};
use std::marker::PhantomData;
use std::ops::{Bound, Range, RangeBounds};

/// Items in device memory, which the host cannot look at. What is in them at first is anything.
#[derive(Debug)]
pub struct DeviceBuffer<T: Pod> {
    /// Null if and only if `len` is 0.
    ptr: *mut T,
    len: usize,
    device: Device,
}

// SAFETY: it owns plain data that only CUDA's functions touch, from any thread.
unsafe impl<T: Pod> Send for DeviceBuffer<T> {}
// SAFETY: as above.
unsafe impl<T: Pod> Sync for DeviceBuffer<T> {}

/// A part of a [`DeviceBuffer`], to read.
#[derive(Clone, Copy, Debug)]
pub struct DeviceSlice<'a, T: Pod> {
    ptr: *const T,
    len: usize,
    owner: PhantomData<&'a T>,
}

/// A part of a [`DeviceBuffer`], to read and write.
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
    /// Room for `len` items. Slow (it waits for the device): once a run, not once a batch.
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
        &self.device
    }

    /// All of it, to read.
    pub fn view(&self) -> DeviceSlice<'_, T> {
        DeviceSlice { ptr: self.ptr, len: self.len, owner: PhantomData }
    }

    /// All of it, to write.
    pub fn view_mut(&mut self) -> DeviceSliceMut<'_, T> {
        DeviceSliceMut { ptr: self.ptr, len: self.len, owner: PhantomData }
    }

    /// A part, to read.
    ///
    /// # Panics
    /// If the range does not lie in the buffer.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> DeviceSlice<'_, T> {
        self.view().slice(range)
    }

    /// A part, to write, of a buffer that others have parts of.
    ///
    /// # Safety
    /// Nobody else uses this part.
    pub(super) unsafe fn slice_shared(&self, range: Range<usize>) -> DeviceSliceMut<'_, T> {
        DeviceSliceMut { ptr: self.ptr, len: self.len, owner: PhantomData }.slice_mut(range)
    }

    /// A part, to write.
    ///
    /// # Panics
    /// If the range does not lie in the buffer.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> DeviceSliceMut<'_, T> {
        self.view_mut().slice_mut(range)
    }
}

impl<T: Pod> Drop for DeviceBuffer<T> {
    fn drop(&mut self) {
        if !self.ptr.is_null() {
            let bytes = (self.len * size_of::<T>()) as u64;
            // SAFETY: `alloc` took it, and nobody borrows it any more.
            unsafe { self.device.give_back(self.ptr.cast(), bytes) }
        }
    }
}

impl<'a, T: Pod> DeviceSlice<'a, T> {
    /// The number of items.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device address, for launchers. Null or dangling if there are no items.
    pub fn as_ptr(&self) -> *const T {
        self.ptr
    }

    /// A part.
    ///
    /// # Panics
    /// If the range does not lie in it.
    pub fn slice(self, range: impl RangeBounds<usize>) -> DeviceSlice<'a, T> {
        let range = resolve(range, self.len);
        // Wrapping, since a slice of no items may have no address.
        DeviceSlice { ptr: self.ptr.wrapping_add(range.start), len: range.len(), ..self }
    }

    /// The same bytes as items of another kind.
    ///
    /// # Panics
    /// If they are not aligned for them, or no whole number of them.
    pub fn cast<U: Pod>(self) -> DeviceSlice<'a, U> {
        let len = recount::<T, U>(self.ptr.addr(), self.len);
        DeviceSlice { ptr: self.ptr.cast(), len, owner: PhantomData }
    }
}

impl<'a, T: Pod> DeviceSliceMut<'a, T> {
    /// The number of items.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device address, for launchers. Null or dangling if there are no items.
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.ptr
    }

    /// The same, to read.
    pub fn as_slice(&self) -> DeviceSlice<'_, T> {
        DeviceSlice { ptr: self.ptr, len: self.len, owner: PhantomData }
    }

    /// The same, for a shorter time.
    pub fn reborrow(&mut self) -> DeviceSliceMut<'_, T> {
        DeviceSliceMut { ptr: self.ptr, len: self.len, owner: PhantomData }
    }

    /// A part.
    ///
    /// # Panics
    /// If the range does not lie in it.
    pub fn slice_mut(self, range: impl RangeBounds<usize>) -> DeviceSliceMut<'a, T> {
        let range = resolve(range, self.len);
        DeviceSliceMut { ptr: self.ptr.wrapping_add(range.start), len: range.len(), ..self }
    }

    /// The items before `at`, and those from it on.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn split_at_mut(self, at: usize) -> (DeviceSliceMut<'a, T>, DeviceSliceMut<'a, T>) {
        assert!(at <= self.len, "a split at {at} of {} items", self.len);
        let (ptr, owner) = (self.ptr.wrapping_add(at), PhantomData);
        (DeviceSliceMut { len: at, ..self }, DeviceSliceMut { ptr, len: self.len - at, owner })
    }

    /// The same bytes as items of another kind.
    ///
    /// # Panics
    /// If they are not aligned for them, or no whole number of them.
    pub fn cast<U: Pod>(self) -> DeviceSliceMut<'a, U> {
        let len = recount::<T, U>(self.ptr.addr(), self.len);
        DeviceSliceMut { ptr: self.ptr.cast(), len, owner: PhantomData }
    }
}

/// The range within `len` items.
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

/// How many U the bytes of so many T are.
fn recount<T, U>(address: usize, len: usize) -> usize {
    let bytes = len * size_of::<T>();
    assert!(address.is_multiple_of(align_of::<U>()), "device memory is not aligned for the items");
    assert!(bytes.is_multiple_of(size_of::<U>()), "device memory has part of an item at its end");
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
