//! Device memory, and pinned host memory for fast copies.
#![allow(
    unsafe_code,
    reason = "declares which types are plain bytes, and owns device and pinned memory"
)]

mod arena;
mod device;
mod pinned;

pub use arena::{Arena, ArenaBuffer};
pub use device::{DeviceBuffer, DeviceSlice, DeviceSliceMut};
pub use pinned::PinnedBuffer;

/// Plain old data that may be copied as bytes between host and device.
///
/// # Safety
/// Every bit pattern is a valid value, there are no padding bytes and no pointers, and C++ has the same
/// layout.
pub unsafe trait Pod: Copy + Send + Sync + 'static {}

macro_rules! pod {
    ($($T:ty)*) => {
        $(
            // SAFETY: a number: every bit pattern is valid, and C++ has the same layout.
            unsafe impl Pod for $T {}
        )*
    };
}

pod!(u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64);

// SAFETY: an array has no padding other than that of its items.
unsafe impl<T: Pod, const N: usize> Pod for [T; N] {}
