//! The functions of the shared headers on a device, for the diagnostics and for comparison with Rust in tests.
#![allow(
    unsafe_code,
    reason = "launches the kernels of the shared headers, with slices whose lengths were checked"
)]

use crate::primitives::{self, Key};
use crate::stream::fits;
use crate::{Device, DeviceSlice, DeviceSliceMut, Error, Result, Stream, ffi};

impl Device {
    /// Sorts numbers spread over 40 bits and checks the result, for the diagnostics. Takes some milliseconds.
    pub fn check(&self) -> Result<()> {
        let items = 10_000u64;
        let stream = self.stream()?;
        // A permutation of 0 to items - 1, scaled, whose sorted order is known.
        let keys: Vec<u64> = (0..items).map(|i| i * 7919 % items * 99_991).collect();
        let mut buffers = [self.alloc(keys.len())?, self.alloc(keys.len())?];
        stream.upload_now(&keys, buffers[0].view_mut())?;
        let bytes = primitives::sort_keys_scratch::<u64>(self, keys.len(), 0..40)?;
        let mut scratch = self.alloc(bytes)?;
        let [first, second] = &mut buffers;
        let both = [first.view_mut(), second.view_mut()];
        let place = primitives::sort_keys(&stream, both, 0..40, scratch.view_mut())?;
        let sorted = stream.download_vec(buffers[place].view())?;
        let expected = (0..items).map(|i| i * 99_991);
        match sorted.into_iter().eq(expected) {
            true => Ok(()),
            false => Err(Error::SelfTest { ordinal: self.ordinal(), what: "a sort" }),
        }
    }
}

#[doc(hidden)]
impl Stream {
    /// Computes the canonical form of each k-mer of k bases.
    pub fn canonicalize_kmers<K: Key>(
        &self,
        kmers: DeviceSlice<'_, K>,
        k: usize,
        mut out: DeviceSliceMut<'_, K>,
    ) -> Result<()> {
        fits("canonicalizing", "k", 4 * size_of::<K>(), k)?;
        fits("canonicalizing", "the target", out.len(), kmers.len())?;
        self.launch("canonicalizing", |raw| {
            let (bytes, items, k) = (size_of::<K>() as u32, kmers.len() as u64, k as i32);
            let (kmers, out) = (kmers.as_ptr().cast(), out.as_mut_ptr().cast());
            // SAFETY: both have room for the k-mers, and k is in range.
            unsafe { ffi::mgpu_canonicalize_kmers(bytes, kmers, items, k, out, raw) }
        })
    }

    /// Computes the norm of each p-mer under the rule with this number.
    pub fn norm_pmers(
        &self,
        rule: u32,
        pmers: DeviceSlice<'_, u32>,
        p: usize,
        canonical: bool,
        mut out: DeviceSliceMut<'_, u32>,
    ) -> Result<()> {
        fits("computing norms", "p", 15, p)?;
        fits("computing norms", "the target", out.len(), pmers.len())?;
        let (items, p) = (pmers.len() as u64, p as i32);
        self.launch("computing norms", |raw| {
            let (pmers, out) = (pmers.as_ptr(), out.as_mut_ptr());
            // SAFETY: both have room for the p-mers, and p is in range.
            unsafe { ffi::mgpu_norm_pmers(rule, pmers, items, p, canonical, out, raw) }
        })
    }
}
