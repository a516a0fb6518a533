use crate::{COUNTS, device, random};
use merganser_gpu::{BufferPool, Device, Error, diagnose, start_time};
use std::time::Duration;

#[test]
fn what_goes_up_comes_down() {
    let Some(device) = device() else { return };
    let stream = device.stream().unwrap();
    for items in COUNTS {
        let numbers: Vec<u64> = random(1).take(items).collect();
        let mut pinned = device.alloc_pinned::<u64>(items).unwrap();
        pinned.as_mut_slice().unwrap().copy_from_slice(&numbers);
        let mut first = device.alloc::<u64>(items).unwrap();
        let mut second = device.alloc::<u64>(items).unwrap();
        stream.upload(&mut pinned, 0..items, first.view_mut()).unwrap();
        stream.copy(first.view(), second.view_mut()).unwrap();
        // This must wait for the upload, so that the copy has the old numbers.
        pinned.as_mut_slice().unwrap().fill(7);
        assert_eq!(stream.download_vec(second.view()).unwrap(), numbers);
        stream.download(second.view(), &mut pinned, 0).unwrap();
        assert_eq!(pinned.as_slice().unwrap(), numbers);
        assert!(pinned.is_idle().unwrap());
        stream.fill(first.view_mut(), 0xab).unwrap();
        let filled = stream.download_vec(first.view()).unwrap();
        assert!(filled.iter().all(|&n| n == 0xabab_abab_abab_abab));
    }
    assert_eq!(device.used(), 0);
}

#[test]
fn parts_are_copied_to_where_they_belong() {
    let Some(device) = device() else { return };
    let stream = device.stream().unwrap();
    let mut pinned = device.alloc_pinned::<u32>(10).unwrap();
    pinned.as_mut_slice().unwrap().copy_from_slice(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let mut buffer = device.alloc::<u32>(10).unwrap();
    stream.fill(buffer.view_mut(), 0).unwrap();
    stream.upload(&mut pinned, 3..6, buffer.slice_mut(5..)).unwrap();
    assert_eq!(stream.download_vec(buffer.view()).unwrap(), [0, 0, 0, 0, 0, 3, 4, 5, 0, 0]);
    stream.download(buffer.slice(5..8), &mut pinned, 0).unwrap();
    assert_eq!(pinned.as_slice().unwrap(), [3, 4, 5, 3, 4, 5, 6, 7, 8, 9]);
    let words = stream.download_vec(buffer.slice(6..8).cast::<u64>()).unwrap();
    assert_eq!(words, [4 | 5 << 32]);
    for error in [
        stream.upload(&mut pinned, 0..11, buffer.view_mut()).unwrap_err(),
        stream.upload(&mut pinned, 0..5, buffer.slice_mut(..4)).unwrap_err(),
        stream.download(buffer.view(), &mut pinned, 1).unwrap_err(),
        stream.download_now(buffer.view(), &mut [0; 9]).unwrap_err(),
    ] {
        assert!(matches!(error, Error::Length { .. }), "{error}");
    }
}

#[test]
fn two_streams_take_turns_by_events() {
    let Some(device) = device() else { return };
    let (writer, reader) = (device.stream().unwrap(), device.stream().unwrap());
    let (written, read) = (device.event().unwrap(), device.event().unwrap());
    let items = 1 << 22;
    let mut source = device.alloc::<u64>(items).unwrap();
    let mut target = device.alloc::<u64>(items).unwrap();
    for round in 0..20u8 {
        writer.wait(&read).unwrap();
        writer.fill(source.view_mut(), round).unwrap();
        writer.record(&written).unwrap();
        reader.wait(&written).unwrap();
        reader.copy(source.view(), target.view_mut()).unwrap();
        reader.record(&read).unwrap();
        let last = reader.download_vec(target.slice(items - 1..)).unwrap();
        assert_eq!(last, [u64::from_ne_bytes([round; 8])]);
    }
}

#[test]
fn a_pinned_buffer_serves_two_streams() {
    let Some(device) = device() else { return };
    let streams = [device.stream().unwrap(), device.stream().unwrap()];
    let items = 1 << 20;
    let mut pinned = device.alloc_pinned::<u64>(items).unwrap();
    let mut buffers = [0, 1].map(|_| device.alloc::<u64>(items).unwrap());
    for round in 0..10u64 {
        pinned.as_mut_slice().unwrap().fill(round);
        for (stream, buffer) in streams.iter().zip(&mut buffers) {
            stream.upload(&mut pinned, 0..items, buffer.view_mut()).unwrap();
        }
        pinned.as_mut_slice().unwrap().fill(99);
        for (stream, buffer) in streams.iter().zip(&buffers) {
            assert!(stream.download_vec(buffer.view()).unwrap().iter().all(|&n| n == round));
        }
    }
}

#[test]
fn events_take_the_time() {
    let Some(device) = device() else { return };
    let stream = device.stream().unwrap();
    let (start, end) = (device.timing_event().unwrap(), device.timing_event().unwrap());
    let mut buffer = device.alloc::<u8>(256 << 20).unwrap();
    stream.record(&start).unwrap();
    stream.fill(buffer.view_mut(), 1).unwrap();
    stream.record(&end).unwrap();
    end.synchronize().unwrap();
    assert!(end.is_done().unwrap());
    let time = start.elapsed(&end).unwrap();
    assert!(time > Duration::ZERO && time < Duration::from_secs(1), "{time:?}");
    assert!(start_time() > Duration::ZERO);
    println!(
        "{:.0} GB/s filled; CUDA took {:?} to start",
        0.268 / time.as_secs_f64(),
        start_time()
    );
}

#[test]
fn limits_and_injected_failures_are_out_of_memory_and_leave_nothing() {
    let Some(device) = device() else { return };
    device.limit_memory(1 << 20);
    let most = device.alloc::<u8>(1 << 20).unwrap();
    assert_eq!((device.used(), device.available().unwrap()), (1 << 20, 0));
    let error = device.alloc::<u8>(1).unwrap_err();
    assert!(error.is_out_of_memory());
    assert!(error.to_string().contains("1 more bytes are needed, 0 are available"), "{error}");
    drop(most);
    assert_eq!(device.available().unwrap(), 1 << 20);
    device.fail_allocation(2);
    let first = device.alloc::<u8>(8).unwrap();
    assert!(device.alloc_pinned::<u8>(8).unwrap_err().is_out_of_memory());
    let third = device.alloc::<u8>(8).unwrap();
    assert_eq!(device.used(), 16);
    drop((first, third));
    device.limit_memory(u64::MAX);
    let total = device.memory().unwrap().total as usize;
    let real = device.alloc::<u8>(2 * total).unwrap_err();
    assert!(matches!(real, Error::OutOfMemory { .. }), "{real}");
    assert_eq!(device.used(), 0);
    // The failure must not remain in the runtime, where the next launch would report it.
    device.check().unwrap();
}

#[test]
fn a_device_listed_twice_shares_its_memory() {
    let Some(device) = device() else { return };
    let twice = Device::open_all(&[device.ordinal(), device.ordinal()]).unwrap();
    let half = device.memory().unwrap().total / 2;
    assert!(twice.iter().all(|one| one.available().unwrap() <= half));
    let some = half / 4;
    let _on_first = twice[0].alloc::<u8>(some as usize).unwrap();
    assert_eq!((twice[0].used(), twice[1].used()), (some, 0));
    // The first device's buffer is taken from its own half.
    assert!(twice[0].available().unwrap() <= half - some);
}

#[test]
fn a_device_that_is_not_there_is_named() {
    if device().is_none() {
        return;
    }
    let message = Device::open(777).unwrap_err().to_string();
    assert!(message.starts_with("no device cuda:777: this machine has "), "{message}");
}

#[test]
fn pools_lend_pinned_buffers_with_copies_under_way() {
    let Some(device) = device() else { return };
    let stream = device.stream().unwrap();
    let pool = BufferPool::new(2, {
        let device = device.clone();
        move || device.alloc_pinned::<u64>(1 << 20)
    });
    let mut target = device.alloc::<u64>(1 << 20).unwrap();
    for round in 0..20 {
        let mut buffer = pool.take().unwrap();
        buffer.as_mut_slice().unwrap().fill(round);
        stream.upload(&mut buffer, 0..1 << 20, target.view_mut()).unwrap();
    }
    assert!(stream.download_vec(target.view()).unwrap().iter().all(|&n| n == 19));
}

#[test]
fn diagnostics_find_the_device_sound() {
    let Some(device) = device() else { return };
    let report = diagnose();
    println!("{report}");
    assert!(report.is_ready());
    assert!(report.to_string().contains(&device.info().name));
}
