//! The integers that the primitives are built for.

use crate::memory::Pod;

/// An integer whose sums can be made: `u32` or `u64`.
pub trait ScanValue: Pod + sealed::Sealed {}

/// An integer that can be sorted: `u32`, `u64`, `u128`, or 256 bits as `[high, low]`.
pub trait SortKey: Pod + Ord + Default + sealed::Sealed {}

/// An integer that CUB's run lengths are built for here: `u32`, `u64` or `u128`.
pub trait Key: SortKey {}

mod sealed {
    /// Only the widths that the C++ is built for.
    pub trait Sealed {}
}

macro_rules! implement {
    ($Trait:path: $($K:ty)*) => {
        $(impl $Trait for $K {})*
    };
}

implement! { sealed::Sealed: u32 u64 u128 [u128; 2] }
implement! { ScanValue: u32 u64 }
implement! { SortKey: u32 u64 u128 [u128; 2] }
implement! { Key: u32 u64 u128 }
