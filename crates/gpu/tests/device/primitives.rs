use crate::{COUNTS, device, random};
use merganser_gpu::primitives::{self, Key, RUN_LIMIT};
use merganser_gpu::{Device, DeviceBuffer, Error, Stream, build_info};

/// A width of keys, with random keys in the low `bits` bits.
trait Numbers: Key + std::ops::Shr<u32, Output = Self> + std::fmt::Debug {
    const BITS: u32;
    fn numbers(seed: u64, items: usize, bits: u32) -> Vec<Self>;
}

macro_rules! numbers {
    ($($K:ty)*) => {
        $(impl Numbers for $K {
            const BITS: u32 = <$K>::BITS;
            fn numbers(seed: u64, items: usize, bits: u32) -> Vec<$K> {
                let wide = random(seed).zip(random(seed + 1000));
                let wide = wide.map(|(high, low)| u128::from(high) << 64 | u128::from(low));
                wide.take(items).map(|n| n as $K >> (<$K>::BITS - bits)).collect()
            }
        })*
    };
}

numbers!(u32 u64 u128);

fn upload<T: merganser_gpu::Pod>(device: &Device, stream: &Stream, items: &[T]) -> DeviceBuffer<T> {
    let mut buffer = device.alloc(items.len()).unwrap();
    stream.upload_now(items, buffer.view_mut()).unwrap();
    buffer
}

fn check_sort<K: Numbers>(device: &Device, stream: &Stream) {
    for items in COUNTS {
        for bits in [1, 13, K::BITS / 2 + 3, K::BITS - 1, K::BITS] {
            let numbers = K::numbers(3, items, bits);
            let mut first = upload(device, stream, &numbers);
            let mut second = device.alloc(items).unwrap();
            let bytes = primitives::sort_keys_scratch::<K>(device, items, 0..bits).unwrap();
            let mut scratch = device.alloc(bytes).unwrap();
            let both = [first.view_mut(), second.view_mut()];
            let place = primitives::sort_keys(stream, both, 0..bits, scratch.view_mut()).unwrap();
            let sorted = stream.download_vec([first.view(), second.view()][place]).unwrap();
            let mut expected = numbers;
            expected.sort_unstable();
            assert!(sorted == expected, "{items} items of {bits} bits");
        }
    }
}

#[test]
fn keys_are_sorted_by_all_their_bits() {
    let Some(device) = device() else { return };
    let stream = device.stream().unwrap();
    check_sort::<u32>(&device, &stream);
    check_sort::<u64>(&device, &stream);
    check_sort::<u128>(&device, &stream);
}

#[test]
fn a_sort_by_some_bits_leaves_the_order_of_the_rest() {
    let Some(device) = device() else { return };
    let stream = device.stream().unwrap();
    let numbers = u64::numbers(4, 100_000, 64);
    for bits in [0..0, 5..5, 8..12, 20..41, 60..64] {
        let mut first = upload(&device, &stream, &numbers);
        let mut second = device.alloc(numbers.len()).unwrap();
        let bytes = primitives::sort_keys_scratch::<u64>(&device, numbers.len(), bits.clone());
        let mut scratch = device.alloc(bytes.unwrap()).unwrap();
        let both = [first.view_mut(), second.view_mut()];
        let place = primitives::sort_keys(&stream, both, bits.clone(), scratch.view_mut()).unwrap();
        let sorted = stream.download_vec([first.view(), second.view()][place]).unwrap();
        let mut expected = numbers.clone();
        let mask = if bits.is_empty() { 0 } else { u64::MAX >> (64 - bits.len()) };
        expected.sort_by_key(|n| n >> bits.start & mask);
        assert!(sorted == expected, "bits {bits:?}");
    }
}

#[test]
fn values_go_with_their_keys() {
    let Some(device) = device() else { return };
    let stream = device.stream().unwrap();
    for items in COUNTS {
        let keys = u64::numbers(5, items, 20);
        let values: Vec<u32> = (0..items as u32).collect();
        let mut buffers = [upload(&device, &stream, &keys), device.alloc(items).unwrap()];
        let mut value_buffers = [upload(&device, &stream, &values), device.alloc(items).unwrap()];
        let bytes = primitives::sort_pairs_scratch::<u64>(&device, items, 0..20).unwrap();
        let mut scratch = device.alloc(bytes).unwrap();
        let place = primitives::sort_pairs(
            &stream,
            buffers.each_mut().map(|buffer| buffer.view_mut()),
            value_buffers.each_mut().map(|buffer| buffer.view_mut()),
            0..20,
            scratch.view_mut(),
        );
        let place = place.unwrap();
        let sorted = stream.download_vec(buffers[place].view()).unwrap();
        let sorted_values = stream.download_vec(value_buffers[place].view()).unwrap();
        let mut expected: Vec<(u64, u32)> = keys.into_iter().zip(values).collect();
        expected.sort();
        assert!(sorted.into_iter().zip(sorted_values).eq(expected), "{items} items");
    }
}

#[test]
fn scans_are_sums_of_what_came_before() {
    let Some(device) = device() else { return };
    let stream = device.stream().unwrap();
    for items in COUNTS {
        // The sums are large enough to need 64 bits.
        let narrow = u32::numbers(6, items, 32);
        let wide = u64::numbers(7, items, 40);
        let mut sums = device.alloc::<u64>(items).unwrap();
        let bytes = primitives::exclusive_scan_scratch::<u32>(&device, items).unwrap();
        let bytes = bytes.max(primitives::exclusive_scan_scratch::<u64>(&device, items).unwrap());
        let mut scratch = device.alloc(bytes).unwrap();
        let before = |numbers: Vec<u64>| -> Vec<u64> {
            let sum = |sum: &mut u64, n: u64| Some(std::mem::replace(sum, *sum + n));
            numbers.into_iter().scan(0, sum).collect()
        };
        let here = upload(&device, &stream, &narrow);
        let (out, room) = (sums.view_mut(), scratch.view_mut());
        primitives::exclusive_scan::<u32>(&stream, here.view(), out, room).unwrap();
        let expected = before(narrow.into_iter().map(u64::from).collect());
        assert!(stream.download_vec(sums.view()).unwrap() == expected, "{items} items");
        let here = upload(&device, &stream, &wide);
        let (out, room) = (sums.view_mut(), scratch.view_mut());
        primitives::exclusive_scan::<u64>(&stream, here.view(), out, room).unwrap();
        assert!(stream.download_vec(sums.view()).unwrap() == before(wide), "{items} items");
    }
}

/// Encodes runs of few and of many distinct keys, then selects runs by count.
fn check_runs<K: Numbers>(device: &Device, stream: &Stream) {
    for items in COUNTS {
        for bits in [0, 4, K::BITS.min(40)] {
            let mut keys =
                if bits == 0 { vec![K::default(); items] } else { K::numbers(8, items, bits) };
            keys.sort_unstable();
            let expected: Vec<(K, u32)> =
                keys.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect();
            let here = upload(device, stream, &keys);
            let mut unique = device.alloc(items).unwrap();
            let mut counts = device.alloc(items).unwrap();
            let mut numbers = device.alloc::<u64>(2).unwrap();
            stream.fill(numbers.view_mut(), 0xff).unwrap();
            let bytes = primitives::encode_runs_scratch::<K>(device, items).unwrap();
            let bytes = bytes.max(primitives::select_runs_scratch::<K>(device, items).unwrap());
            let mut scratch = device.alloc(bytes).unwrap();
            primitives::encode_runs(
                stream,
                here.view(),
                unique.view_mut(),
                counts.view_mut(),
                numbers.slice_mut(..1),
                scratch.view_mut(),
            )
            .unwrap();
            let runs = stream.download_vec(numbers.slice(..1)).unwrap()[0] as usize;
            assert_eq!(runs, expected.len());
            let found = pairs(stream, &unique, &counts, runs);
            assert!(found == expected, "{items} items of {bits} bits");
            for within in [1..=u32::MAX, 2..=u32::MAX, 1..=1, 2..=60_000, u32::MAX..=u32::MAX] {
                let mut keys_out = device.alloc(runs).unwrap();
                let mut counts_out = device.alloc(runs).unwrap();
                primitives::select_runs(
                    stream,
                    (unique.slice(..runs), counts.slice(..runs)),
                    within.clone(),
                    (keys_out.view_mut(), counts_out.view_mut()),
                    numbers.slice_mut(1..),
                    scratch.view_mut(),
                )
                .unwrap();
                let selected = stream.download_vec(numbers.slice(1..)).unwrap()[0] as usize;
                let found = pairs(stream, &keys_out, &counts_out, selected);
                let expected = expected.iter().filter(|(_, count)| within.contains(count));
                assert!(found.iter().eq(expected), "{items} items of {bits} bits, {within:?}");
            }
        }
    }
}

fn pairs<K: Numbers>(
    stream: &Stream,
    keys: &DeviceBuffer<K>,
    counts: &DeviceBuffer<u32>,
    runs: usize,
) -> Vec<(K, u32)> {
    let keys = stream.download_vec(keys.slice(..runs)).unwrap();
    keys.into_iter().zip(stream.download_vec(counts.slice(..runs)).unwrap()).collect()
}

#[test]
fn runs_have_their_lengths_and_are_cut_by_them() {
    let Some(device) = device() else { return };
    let stream = device.stream().unwrap();
    check_runs::<u32>(&device, &stream);
    check_runs::<u64>(&device, &stream);
    check_runs::<u128>(&device, &stream);
}

#[test]
fn buffers_that_do_not_fit_are_refused() {
    let Some(device) = device() else { return };
    let stream = device.stream().unwrap();
    let (mut first, mut second) =
        (device.alloc::<u64>(10).unwrap(), device.alloc::<u64>(9).unwrap());
    let mut scratch = device.alloc::<u8>(1 << 20).unwrap();
    let both = [first.view_mut(), second.view_mut()];
    let error = primitives::sort_keys(&stream, both, 0..64, scratch.view_mut()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "sorting: the second buffer has room for 9 items and 10 are needed"
    );
    let both = [second.view_mut(), first.view_mut()];
    let error = primitives::sort_keys(&stream, both, 0..64, scratch.slice_mut(..0)).unwrap_err();
    assert!(matches!(error, Error::Length { what: "the scratch", .. }), "{error}");
    let items = RUN_LIMIT as usize + 1;
    let error = primitives::encode_runs_scratch::<u64>(&device, items).unwrap_err();
    assert!(matches!(error, Error::TooManyItems { .. }), "{error}");
    // Sorts take any number of items: the scratch size of more than four billion is queried.
    let large = primitives::sort_keys_scratch::<u64>(&device, 5 << 30, 0..56).unwrap();
    assert!(large > 0 && large < 1 << 30, "{large}");
}

#[test]
fn scratch_that_is_too_small_is_an_error_and_not_a_crash() {
    let Some(device) = device() else { return };
    // Emulated primitives need no scratch.
    if build_info().is_emulated() {
        return;
    }
    let stream = device.stream().unwrap();
    let items = 1 << 20;
    let (mut first, mut second) =
        (device.alloc::<u64>(items).unwrap(), device.alloc(items).unwrap());
    stream.fill(first.view_mut(), 1).unwrap();
    let mut scratch = device.alloc::<u8>(1).unwrap();
    let both = [first.view_mut(), second.view_mut()];
    let error = primitives::sort_keys(&stream, both, 0..64, scratch.view_mut()).unwrap_err();
    assert!(matches!(error, Error::Cuda { status: 1, .. }), "{error}");
    stream.synchronize().unwrap();
    device.check().unwrap();
}
