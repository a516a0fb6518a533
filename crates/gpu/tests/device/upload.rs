use crate::{device, random};
use merganser_gpu::{Device, DeviceBuffer, Upload, Uploaded, read_memory};
use merganser_run::Cancel;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

type Failed = Box<dyn std::error::Error + Send + Sync>;

/// Opens the tested device twice, as two devices.
fn both() -> Option<[Device; 2]> {
    let ordinal = device()?.ordinal();
    Device::open_all(&[ordinal, ordinal]).unwrap().try_into().ok()
}

#[test]
fn slices_lie_one_after_the_other_on_each_device() {
    let Some(devices) = both() else { return };
    // More than all buffers of three threads, with slices that end within a buffer, and empty ones.
    let slices: Vec<Vec<u64>> = [0, 1, 7, 1_000_000, 0, 131_071, 131_072, 200_000]
        .map(|len| random(len as u64).take(len).collect())
        .into();
    let whole = slices.concat();
    let numbers: Vec<u32> = random(5).take(333).map(|number| number as u32).collect();
    for threads in [1, 3, 40] {
        let mut words: Vec<DeviceBuffer<u64>> =
            devices.iter().map(|device| device.alloc(whole.len() + 2).unwrap()).collect();
        let mut second = devices[1].alloc::<u32>(numbers.len()).unwrap();
        let mut upload = Upload::new(&devices).unwrap();
        let targets = words.iter_mut().map(|words| words.slice_mut(1..=whole.len())).enumerate();
        upload.add(slices.iter().map(|slice| bytemuck::cast_slice(slice)), targets);
        upload.add([bytemuck::cast_slice(&numbers)], [(1, second.view_mut())]);
        // Without a target.
        upload.add::<u8>([&[1, 2, 3][..]], []);
        let cancel = Cancel::default();
        let uploaded = upload.run(threads, &cancel, read_memory::<Failed>).unwrap();
        assert_eq!(uploaded.bytes, (16 * whole.len() + 4 * numbers.len()) as u64);
        for (words, device) in words.iter().zip(&devices) {
            let stream = device.stream().unwrap();
            assert!(stream.download_vec(words.slice(1..=whole.len())).unwrap() == whole);
            assert_eq!(stream.download_vec(second.view()).unwrap(), numbers);
        }
    }
    assert_eq!(devices.map(|device| device.used()), [0, 0]);
}

#[test]
fn nothing_is_no_work() {
    let Some(devices) = both() else { return };
    let mut empty = devices[0].alloc::<u32>(0).unwrap();
    let mut upload = Upload::new(&devices).unwrap();
    upload.add([], [(0, empty.view_mut())]);
    let uploaded = upload.run(2, &Cancel::default(), read_memory::<Failed>).unwrap();
    assert_eq!(uploaded, Uploaded::default());
}

#[test]
fn an_upload_ends_at_the_first_failure() {
    let Some(devices) = both() else { return };
    let bytes = vec![7; 50 << 20];
    let mut there = devices[0].alloc::<u8>(bytes.len()).unwrap();
    let cancel = Cancel::default();
    let mut run = |fails_at: usize, allocation: u64| {
        let mut upload = Upload::new(&devices).unwrap();
        upload.add([&bytes[..]], [(0, there.view_mut())]);
        devices[0].fail_allocation(allocation);
        let reads = AtomicUsize::new(0);
        let read = |from: &[u8], to: &mut [u8]| {
            if reads.fetch_add(1, Relaxed) == fails_at {
                return Err("the file became shorter".into());
            }
            read_memory::<Failed>(from, to)
        };
        let error = upload.run(2, &cancel, read).unwrap_err().to_string();
        (error, reads.into_inner())
    };
    let (error, done) = run(5, 0);
    assert_eq!(error, "the file became shorter");
    assert!(done < 50, "{done} chunks");
    let (error, done) = run(99, 1);
    assert!(error.starts_with("out of pinned memory"), "{error}");
    assert!(done < 50, "{done} chunks");
    cancel.cancel();
    assert_eq!(run(99, 0).1, 0);
}
