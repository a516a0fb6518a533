//! The shared headers' functions on a device: for the diagnostics, and for tests against Rust.
#![allow(
    unsafe_code,
    reason = "launches the kernels of the shared headers, with slices whose lengths were checked"
)]

use crate::primitives::{self, Key};
use crate::stream::fits;
use crate::{Device, DeviceSlice, DeviceSliceMut, Error, Result, Stream, ffi};

impl Device {
    /// Computes something small whose result is known: numbers spread over 40 bits are inserted
    /// into a hash table and sorted. For the diagnostics; takes some milliseconds.
    pub fn check(&self) -> Result<()> {
        let items = 10_000u64;
        let stream = self.stream()?;
        // A permutation of 0 to items - 1, spread out: its sorted order is known.
        let keys: Vec<u64> = (0..items).map(|i| i * 7919 % items * 99_991).collect();
        let mut buffers = [self.alloc(keys.len())?, self.alloc(keys.len())?];
        stream.upload_now(&keys, buffers[0].view_mut())?;

        let mut slots = self.alloc::<u64>(1 << 15)?;
        let mut results = self.alloc::<u32>(keys.len())?;
        stream.fill(slots.view_mut(), 0xff)?;
        stream.insert_keys(slots.view_mut(), u64::MAX, buffers[0].view(), results.view_mut())?;
        let inserted = stream.download_vec(results.view())?.iter().filter(|&&r| r == 0).count();
        let held = stream.download_vec(slots.view())?.iter().filter(|&&s| s != u64::MAX).count();
        let wrong = |what| Error::SelfTest { ordinal: self.ordinal(), what };
        if (inserted, held) != (keys.len(), keys.len()) {
            return Err(wrong("a hash table"));
        }

        let bytes = primitives::sort_keys_scratch::<u64>(self, keys.len(), 0..40)?;
        let mut scratch = self.alloc(bytes)?;
        let [first, second] = &mut buffers;
        let both = [first.view_mut(), second.view_mut()];
        let place = primitives::sort_keys(&stream, both, 0..40, scratch.view_mut())?;
        let sorted = stream.download_vec(buffers[place].view())?;
        let expected = (0..items).map(|i| i * 99_991);
        if sorted.into_iter().eq(expected) { Ok(()) } else { Err(wrong("a sort")) }
    }
}

#[doc(hidden)]
impl Stream {
    /// The canonical form of each k-mer of k bases.
    pub fn canonicalize_kmers<K: Key>(
        &self,
        kmers: DeviceSlice<'_, K>,
        k: usize,
        mut out: DeviceSliceMut<'_, K>,
    ) -> Result<()> {
        fits("canonicalizing", "k", 4 * size_of::<K>(), k)?;
        fits("canonicalizing", "the target", out.len(), kmers.len())?;
        self.launch("canonicalizing", |raw| {
            // SAFETY: both have room for the k-mers, and k is in range.
            unsafe {
                K::CANONICALIZE(kmers.as_ptr(), kmers.len() as u64, k as i32, out.as_mut_ptr(), raw)
            }
        })
    }

    /// The norm of each p-mer under the rule of this number.
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

    /// Inserts keys into a hash table whose length is a power of two of at least 8 and whose free
    /// slots hold `empty`. Results: 0 inserted, 1 was there, 2 no room.
    pub fn insert_keys(
        &self,
        mut slots: DeviceSliceMut<'_, u64>,
        empty: u64,
        keys: DeviceSlice<'_, u64>,
        mut results: DeviceSliceMut<'_, u32>,
    ) -> Result<()> {
        let doing = "inserting keys";
        fits(doing, "the results", results.len(), keys.len())?;
        fits(doing, "the table", slots.len(), slots.len().next_power_of_two().max(8))?;
        let (slot_count, items) = (slots.len() as u64, keys.len() as u64);
        self.launch(doing, |raw| {
            let (slots, keys) = (slots.as_mut_ptr(), keys.as_ptr());
            let results = results.as_mut_ptr();
            // SAFETY: the table is as the kernel needs it, and there is room for the results.
            unsafe { ffi::mgpu_insert_keys(slots, slot_count, empty, keys, items, results, raw) }
        })
    }
}
