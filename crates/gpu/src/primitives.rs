//! Device-wide primitives, implemented by CUB: radix sort, exclusive scan, run lengths, selection.
//!
//! They neither allocate nor wait. Each has a `_scratch` function that returns the number of bytes of
//! temporary storage for a number of items, which never decreases with more items. Numeric results go to
//! device memory, since the work is done later. Buffers must not overlap.
#![allow(
    unsafe_code,
    reason = "calls CUB, with scratch memory and buffers whose sizes were checked"
)]

mod keys;

pub use keys::{Key, ScanValue, SortKey};

use crate::ffi::{self, EncodeArguments, RawStream, SelectArguments, SortArguments, Status};
use crate::stream::fits;
use crate::{Device, DeviceSlice, DeviceSliceMut, Error, Result, Stream};
use std::ffi::c_void;
use std::ops::Range;
use std::ptr;

const SORTING: &str = "sorting";
const SCANNING: &str = "scanning";
const ENCODING: &str = "encoding run lengths";
const SELECTING: &str = "selecting runs";

/// The largest number of keys of one [`encode_runs`]: 2^31 - 1, so that the counts cannot wrap either.
pub const RUN_LIMIT: u64 = i32::MAX as u64;

/// Returns the scratch bytes that [`sort_keys`] needs.
pub fn sort_keys_scratch<K: SortKey>(
    device: &Device,
    items: usize,
    bits: Range<u32>,
) -> Result<usize> {
    sort_scratch::<K>(device, items, bits, ptr::null_mut())
}

/// Sorts keys by the bits in `bits` (0 is the lowest); the sort is stable.
///
/// Both buffers, which have the same length, are overwritten; returns the index of the one with the result.
/// The time grows with the number of bits, so pass only those that the keys use.
pub fn sort_keys<K: SortKey>(
    stream: &Stream,
    [mut first, mut second]: [DeviceSliceMut<'_, K>; 2],
    bits: Range<u32>,
    scratch: DeviceSliceMut<'_, u8>,
) -> Result<usize> {
    let items = first.len();
    fits(SORTING, "the second buffer", second.len(), items)?;
    let keys = [first.as_mut_ptr(), second.as_mut_ptr()];
    sort::<K>(stream, sorting(keys, [ptr::null_mut(); 2], items, bits), scratch)
}

/// Returns the scratch bytes that [`sort_pairs`] needs.
pub fn sort_pairs_scratch<K: SortKey>(
    device: &Device,
    items: usize,
    bits: Range<u32>,
) -> Result<usize> {
    sort_scratch::<K>(device, items, bits, ptr::dangling_mut())
}

/// Sorts keys like [`sort_keys`], and their values with them; the results of both are in the buffers with the
/// returned index.
pub fn sort_pairs<K: SortKey>(
    stream: &Stream,
    [mut first, mut second]: [DeviceSliceMut<'_, K>; 2],
    [mut first_values, mut second_values]: [DeviceSliceMut<'_, u32>; 2],
    bits: Range<u32>,
    scratch: DeviceSliceMut<'_, u8>,
) -> Result<usize> {
    let items = first.len();
    fits(SORTING, "the second buffer", second.len(), items)?;
    fits(SORTING, "the first buffer of values", first_values.len(), items)?;
    fits(SORTING, "the second buffer of values", second_values.len(), items)?;
    let keys = [first.as_mut_ptr(), second.as_mut_ptr()];
    let values = [first_values.as_mut_ptr(), second_values.as_mut_ptr()];
    sort::<K>(stream, sorting(keys, values, items, bits), scratch)
}

fn sort_scratch<K: SortKey>(
    device: &Device,
    items: usize,
    bits: Range<u32>,
    values: *mut u32,
) -> Result<usize> {
    let (mut in_second, keys) = (false, [ptr::null_mut::<K>(); 2]);
    let sorting = sorting(keys, [values; 2], items, bits);
    ask(device, SORTING, |bytes| {
        // SAFETY: without scratch the function only returns the size and accesses no memory.
        unsafe {
            ffi::mgpu_sort(
                bytes_of::<K>(),
                ptr::null_mut(),
                bytes,
                &sorting,
                &mut in_second,
                ptr::null_mut(),
            )
        }
    })
}

/// Returns the arguments of a sort; bits beyond the keys' width are ignored.
fn sorting<K: SortKey>(
    [first, second]: [*mut K; 2],
    [first_values, second_values]: [*mut u32; 2],
    items: usize,
    bits: Range<u32>,
) -> SortArguments {
    let [begin_bit, end_bit] = [bits.start, bits.end].map(|bit| bit.min(8 * size_of::<K>() as u32));
    SortArguments {
        first: first.cast(),
        second: second.cast(),
        first_values,
        second_values,
        items: items as u64,
        begin_bit: begin_bit as i32,
        end_bit: end_bit as i32,
    }
}

/// Runs a sort. The caller has checked that every buffer has room for the items.
fn sort<K: SortKey>(
    stream: &Stream,
    sorting: SortArguments,
    scratch: DeviceSliceMut<'_, u8>,
) -> Result<usize> {
    if sorting.items == 0 || sorting.begin_bit >= sorting.end_bit {
        return Ok(0);
    }
    let mut in_second = false;
    run(stream, SORTING, scratch, |scratch, bytes, raw| {
        // SAFETY: all buffers have room for the items, and scratch has `bytes` bytes.
        unsafe { ffi::mgpu_sort(bytes_of::<K>(), scratch, bytes, &sorting, &mut in_second, raw) }
    })?;
    Ok(usize::from(in_second))
}

/// Returns the scratch bytes that [`exclusive_scan`] needs.
pub fn exclusive_scan_scratch<V: ScanValue>(device: &Device, items: usize) -> Result<usize> {
    ask(device, SCANNING, |bytes| {
        let (scratch, values, sums, raw) =
            (ptr::null_mut(), ptr::null(), ptr::null_mut(), ptr::null_mut());
        // SAFETY: without scratch the function only returns the size.
        unsafe {
            ffi::mgpu_scan_exclusive(
                bytes_of::<V>(),
                scratch,
                bytes,
                values,
                sums,
                items as u64,
                raw,
            )
        }
    })
}

/// Sets `sums[i]` to the sum of the values before i, modulo 2^64.
pub fn exclusive_scan<V: ScanValue>(
    stream: &Stream,
    values: DeviceSlice<'_, V>,
    mut sums: DeviceSliceMut<'_, u64>,
    scratch: DeviceSliceMut<'_, u8>,
) -> Result<()> {
    let items = scannable(values.len(), sums.len())?;
    if items == 0 {
        return Ok(());
    }
    run(stream, SCANNING, scratch, |scratch, bytes, raw| {
        let (values, sums) = (values.as_ptr().cast(), sums.as_mut_ptr());
        // SAFETY: both buffers have room for `items`, and scratch has `bytes` bytes.
        unsafe {
            ffi::mgpu_scan_exclusive(bytes_of::<V>(), scratch, bytes, values, sums, items, raw)
        }
    })
}

/// Returns the scratch bytes that [`encode_runs`] needs.
pub fn encode_runs_scratch<K: Key>(device: &Device, items: usize) -> Result<usize> {
    limited(ENCODING, items, RUN_LIMIT)?;
    ask(device, ENCODING, |bytes| {
        let nothing = EncodeArguments {
            keys: ptr::null(),
            unique: ptr::null_mut(),
            counts: ptr::null_mut(),
            runs: ptr::null_mut(),
            items: items as u64,
        };
        // SAFETY: without scratch the function only returns the size.
        unsafe {
            ffi::mgpu_encode_runs(
                bytes_of::<K>(),
                ptr::null_mut(),
                bytes,
                &nothing,
                ptr::null_mut(),
            )
        }
    })
}

/// Writes the key and the length of each run of equal neighbours, in order, and the number of runs to
/// `runs[0]`. `unique` and `counts` have room for as many runs as there are keys, at most
/// [`RUN_LIMIT`].
pub fn encode_runs<K: Key>(
    stream: &Stream,
    keys: DeviceSlice<'_, K>,
    mut unique: DeviceSliceMut<'_, K>,
    mut counts: DeviceSliceMut<'_, u32>,
    mut runs: DeviceSliceMut<'_, u64>,
    scratch: DeviceSliceMut<'_, u8>,
) -> Result<()> {
    let items = keys.len();
    limited(ENCODING, items, RUN_LIMIT)?;
    fits(ENCODING, "the buffer of keys", unique.len(), items)?;
    fits(ENCODING, "the buffer of counts", counts.len(), items)?;
    fits(ENCODING, "the buffer of the number", runs.len(), 1)?;
    if items == 0 {
        return stream.fill(runs.slice_mut(..1), 0);
    }
    run(stream, ENCODING, scratch, |scratch, bytes, raw| {
        let arguments = EncodeArguments {
            keys: keys.as_ptr().cast(),
            unique: unique.as_mut_ptr().cast(),
            counts: counts.as_mut_ptr(),
            runs: runs.as_mut_ptr(),
            items: items as u64,
        };
        // SAFETY: all buffers have the room that was checked above, and scratch has `bytes` bytes.
        unsafe { ffi::mgpu_encode_runs(bytes_of::<K>(), scratch, bytes, &arguments, raw) }
    })
}

/// Returns the scratch bytes that [`select_runs`] needs.
pub fn select_runs_scratch<K: Key>(device: &Device, runs: usize) -> Result<usize> {
    limited(SELECTING, runs, item_limit())?;
    ask(device, SELECTING, |bytes| {
        let nothing = SelectArguments {
            keys: ptr::null(),
            counts: ptr::null(),
            keys_out: ptr::null_mut(),
            counts_out: ptr::null_mut(),
            selected: ptr::null_mut(),
            runs: runs as u64,
            least: 1,
            most: 1,
        };
        // SAFETY: without scratch the function only returns the size.
        unsafe {
            ffi::mgpu_select_runs(
                bytes_of::<K>(),
                ptr::null_mut(),
                bytes,
                &nothing,
                ptr::null_mut(),
            )
        }
    })
}

/// Copies the runs whose counts are in `within`, in order, and writes their number to
/// `selected[0]`. The output buffers have room for all runs.
pub fn select_runs<K: Key>(
    stream: &Stream,
    (keys, counts): (DeviceSlice<'_, K>, DeviceSlice<'_, u32>),
    within: std::ops::RangeInclusive<u32>,
    (mut keys_out, mut counts_out): (DeviceSliceMut<'_, K>, DeviceSliceMut<'_, u32>),
    mut selected: DeviceSliceMut<'_, u64>,
    scratch: DeviceSliceMut<'_, u8>,
) -> Result<()> {
    let runs = keys.len();
    limited(SELECTING, runs, item_limit())?;
    fits(SELECTING, "the buffer of counts", counts.len(), runs)?;
    fits(SELECTING, "the buffer for keys", keys_out.len(), runs)?;
    fits(SELECTING, "the buffer for counts", counts_out.len(), runs)?;
    fits(SELECTING, "the buffer for the number", selected.len(), 1)?;
    if runs == 0 {
        return stream.fill(selected.slice_mut(..1), 0);
    }
    run(stream, SELECTING, scratch, |scratch, bytes, raw| {
        let arguments = SelectArguments {
            keys: keys.as_ptr().cast(),
            counts: counts.as_ptr(),
            keys_out: keys_out.as_mut_ptr().cast(),
            counts_out: counts_out.as_mut_ptr(),
            selected: selected.as_mut_ptr(),
            runs: runs as u64,
            least: *within.start(),
            most: *within.end(),
        };
        // SAFETY: all buffers have the room that was checked above, and scratch has `bytes` bytes.
        unsafe { ffi::mgpu_select_runs(bytes_of::<K>(), scratch, bytes, &arguments, raw) }
    })
}

/// Returns the width by which a CUB function is chosen.
fn bytes_of<T>() -> u32 {
    size_of::<T>() as u32
}

/// Queries the number of scratch bytes; at least 1, because an empty buffer has no address, and a call without
/// scratch is only a query.
fn ask(
    device: &Device,
    doing: &'static str,
    function: impl FnOnce(*mut u64) -> Status,
) -> Result<usize> {
    let mut bytes = 0;
    device.call(doing, || function(&mut bytes))?;
    Ok(bytes.max(1) as usize)
}

/// Enqueues a primitive with its scratch. CUB itself rejects scratch that is too small.
fn run(
    stream: &Stream,
    doing: &'static str,
    mut scratch: DeviceSliceMut<'_, u8>,
    function: impl FnOnce(*mut c_void, *mut u64, RawStream) -> Status,
) -> Result<()> {
    fits(doing, "the scratch", scratch.len(), 1)?;
    let mut bytes = scratch.len() as u64;
    stream.launch(doing, |raw| function(scratch.as_mut_ptr().cast(), &mut bytes, raw))
}

/// Returns the largest number of items of a scan or selection: 2^31 - 1 with toolkits before CUDA 12.9.
fn item_limit() -> u64 {
    let (mut items, mut runs) = (0, 0);
    // SAFETY: the pointers are to locals.
    let status = unsafe { ffi::mgpu_item_limits(&mut items, &mut runs) };
    if status == 0 { items } else { 0 }
}

fn limited(doing: &'static str, items: usize, limit: u64) -> Result<()> {
    let items = items as u64;
    if items <= limit { Ok(()) } else { Err(Error::TooManyItems { doing, items, limit }) }
}

fn scannable(values: usize, sums: usize) -> Result<u64> {
    limited(SCANNING, values, item_limit())?;
    fits(SCANNING, "the buffer of sums", sums, values)?;
    Ok(values as u64)
}
