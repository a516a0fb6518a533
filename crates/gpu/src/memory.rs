//! Memory of the device, and of the host for fast copies.
#![allow(
    unsafe_code,
    reason = "says which types are plain bytes, and owns device and pinned memory"
)]

mod arena;
mod device;
mod pinned;

pub use arena::{Arena, ArenaBuffer};
pub use device::{DeviceBuffer, DeviceSlice, DeviceSliceMut};
pub use pinned::PinnedBuffer;

/// Plain old data: what may be copied as bytes between host and device.
///
/// # Safety
/// Every pattern of bits is a value, there are no padding bytes, no pointers, and C++ has the same
/// layout.
pub unsafe trait Pod: Copy + Send + Sync + 'static {}

macro_rules! pod {
    ($($T:ty)*) => {
        $(
            // SAFETY: a number, whose every pattern of bits is a value; same layout in C++.
            unsafe impl Pod for $T {}
        )*
    };
}

pod!(u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64);

// SAFETY: an array has no padding that its items do not have.
unsafe impl<T: Pod, const N: usize> Pod for [T; N] {}
