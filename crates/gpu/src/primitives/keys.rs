//! The integer types for which the primitives are built.

use crate::memory::Pod;

/// An integer type whose values can be scanned: `u32` or `u64`.
pub trait ScanValue: Pod + sealed::Sealed {}

/// An integer type that can be sorted: `u32`, `u64`, `u128`, or 256 bits as `[high, low]`.
pub trait SortKey: Pod + Ord + Default + sealed::Sealed {}

/// An integer type whose runs can be encoded and selected: `u32`, `u64` or `u128`.
pub trait Key: SortKey {}

mod sealed {
    /// Restricts the traits to the widths for which the C++ is built.
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
