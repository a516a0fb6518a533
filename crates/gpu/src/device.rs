//! Open devices, their memory accounting, and peer access.
#![allow(unsafe_code, reason = "calls the CUDA runtime")]

use crate::availability::{Availability, DeviceInfo, availability, probe_time};
use crate::error::check;
use crate::ffi::{self, Status};
use crate::{Error, Result};
use merganser_run::locks::lock;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{env, thread};

/// An open device. Clones refer to the same device and share its memory account.
#[derive(Clone, Debug)]
pub struct Device(Arc<DeviceShared>);

#[derive(Debug)]
struct DeviceShared {
    info: DeviceInfo,
    /// The number of times the device was opened together: `cuda:0,0` shares its memory evenly.
    sharers: u64,
    /// Bytes in the buffers of all sharers.
    used_by_all: Arc<AtomicU64>,
    used: AtomicU64,
    limit: AtomicU64,
    /// Allocations until one is made to fail for a test; 0 means never.
    fail_in: AtomicU64,
    /// Other devices whose memory is accessible to kernels of this one.
    reached: Mutex<BTreeSet<u32>>,
}

/// Amounts of device memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Bytes that are free for any program.
    pub free: u64,
    /// Bytes in total.
    pub total: u64,
}

/// The total time that devices took to open, and when the last of them was ready.
static OPENING: Mutex<(Duration, Option<Instant>)> = Mutex::new((Duration::ZERO, None));

/// Returns the time that starting CUDA has taken so far: querying and opening devices.
pub fn start_time() -> Duration {
    probe_time() + lock(&OPENING).0
}

/// Returns when the device opened last was ready; `None` if none was opened.
pub fn ready_at() -> Option<Instant> {
    lock(&OPENING).1
}

impl Device {
    /// Opens one device and creates its context (0.1 to 0.5 s the first time).
    pub fn open(ordinal: u32) -> Result<Device> {
        Ok(Device::open_all(&[ordinal])?.remove(0))
    }

    /// Opens devices in parallel. One listed twice becomes two devices that share its memory evenly.
    pub fn open_all(ordinals: &[u32]) -> Result<Vec<Device>> {
        let Availability::Ready(present) = availability() else {
            return Err(crate::unavailable());
        };
        let start = Instant::now();
        let mut used_by_all = BTreeMap::<u32, Arc<AtomicU64>>::new();
        let opened = thread::scope(|scope| {
            let threads: Vec<_> = ordinals
                .iter()
                .map(|&ordinal| {
                    let sharers = ordinals.iter().filter(|&&other| other == ordinal).count() as u64;
                    let used_by_all = used_by_all.entry(ordinal).or_default().clone();
                    thread::Builder::new()
                        .spawn_scoped(scope, move || {
                            Device::start(present, ordinal, sharers, used_by_all)
                        })
                        .map_err(|cause| Error::Thread { ordinal, reason: cause.to_string() })
                })
                .collect();
            let opened = |thread: Result<thread::ScopedJoinHandle<'_, _>>| {
                thread?.join().expect("opening does not panic")
            };
            threads.into_iter().map(opened).collect::<Result<Vec<_>>>()
        });
        if let Ok(devices) = &opened {
            connect(devices);
        }
        let mut opening = lock(&OPENING);
        *opening = (opening.0 + start.elapsed(), Some(Instant::now()));
        drop(opening);
        opened
    }

    /// Returns whether kernels of this device can access the other's memory: it is the same device, or both were
    /// opened together and the hardware connects them.
    pub fn reaches(&self, other: &Device) -> bool {
        let ordinal = other.ordinal();
        ordinal == self.ordinal() || lock(&self.0.reached).contains(&ordinal)
    }

    fn start(
        present: &[DeviceInfo],
        ordinal: u32,
        sharers: u64,
        used_by_all: Arc<AtomicU64>,
    ) -> Result<Device> {
        let Some(info) = present.get(ordinal as usize).cloned() else {
            return Err(Error::NoSuchDevice { ordinal, present: present.len() as u32 });
        };
        if let Some(reason) = info.unusable.clone() {
            return Err(Error::Unusable { ordinal, name: info.name, reason });
        }
        let fail_in = env::var("MERGANSER_TEST_FAIL_GPU_ALLOCATION").ok();
        let fail_in = fail_in.and_then(|n| n.parse().ok()).unwrap_or(0);
        let device = Device(Arc::new(DeviceShared {
            info,
            sharers,
            used_by_all,
            used: AtomicU64::new(0),
            limit: AtomicU64::new(u64::MAX),
            fail_in: AtomicU64::new(fail_in),
            reached: Mutex::default(),
        }));
        // SAFETY: no arguments; the device was made current by `call`.
        device.call("starting the device", || unsafe { ffi::mgpu_start_device() })?;
        Ok(device)
    }

    /// Returns the device number: the n of `cuda:n`.
    pub fn ordinal(&self) -> u32 {
        self.0.info.ordinal
    }

    /// Returns the properties of the device.
    pub fn info(&self) -> &DeviceInfo {
        &self.0.info
    }

    /// Makes this the calling thread's current device. All functions of this crate do so themselves.
    pub fn bind(&self) -> Result<()> {
        // SAFETY: any number may be passed; an invalid one results in an error.
        let status = unsafe { ffi::mgpu_set_device(self.ordinal() as i32) };
        check(self.ordinal(), "selecting the device", status)
    }

    /// Calls a foreign function with this device current and checks its status; `doing` describes the
    /// operation in error messages.
    pub fn call(&self, doing: &'static str, function: impl FnOnce() -> Status) -> Result<()> {
        self.bind()?;
        check(self.ordinal(), doing, function())
    }

    /// Waits until all work of all streams is done.
    pub fn synchronize(&self) -> Result<()> {
        // SAFETY: no arguments.
        self.call("waiting for the device", || unsafe { ffi::mgpu_synchronize_device() })
    }

    /// Returns the memory of the whole device.
    pub fn memory(&self) -> Result<Memory> {
        let (mut free, mut total) = (0, 0);
        self.call("querying free memory", || {
            // SAFETY: the pointers are to locals.
            unsafe { ffi::mgpu_memory_info(&mut free, &mut total) }
        })?;
        Ok(Memory { free, total })
    }

    /// Returns the number of bytes that can still be allocated: within this device's even share of the memory that
    /// is free or used by devices opened with it, and within the limit.
    pub fn available(&self) -> Result<u64> {
        let free = self.memory()?.free;
        let share = (free + self.0.used_by_all.load(Relaxed)) / self.0.sharers;
        let most = share.min(self.0.limit.load(Relaxed));
        Ok(most.saturating_sub(self.used()).min(free))
    }

    /// Sets the [limit](Self::limit_memory) if one is given, and returns the [available](Self::available) bytes.
    ///
    /// # Errors
    /// If the device fails.
    pub fn available_within(&self, limit: Option<u64>) -> Result<u64> {
        if let Some(bytes) = limit {
            self.limit_memory(bytes);
        }
        self.available()
    }

    /// Returns the bytes that a run may use on this device: all, or `limit` if that is less. Other programs may use some
    /// of them.
    pub(crate) fn usable_within(&self, limit: Option<u64>) -> u64 {
        limit.unwrap_or(u64::MAX).min(self.0.info.total_memory / self.0.sharers)
    }

    /// Returns the number of bytes in this device's buffers.
    pub fn used(&self) -> u64 {
        self.0.used.load(Relaxed)
    }

    /// Limits the number of bytes in buffers (`--gpu-memory`).
    pub fn limit_memory(&self, bytes: u64) {
        self.0.limit.store(bytes, Relaxed);
    }

    /// Makes the `nth` allocation from now on, of device or pinned memory, fail as if no memory were left, for
    /// tests; 0 disables it. `MERGANSER_TEST_FAIL_GPU_ALLOCATION=n` does so from the start of the program.
    pub fn fail_allocation(&self, nth: u64) {
        self.0.fail_in.store(nth, Relaxed);
    }

    /// Counts an allocation; returns whether it is the one that is to fail for a test.
    fn fails_now(&self) -> bool {
        let next = |left: u64| left.checked_sub(1);
        self.0.fail_in.fetch_update(Relaxed, Relaxed, next) == Ok(1)
    }

    /// Allocates `bytes` > 0 bytes of device memory, not null; the caller frees it with `give_back`.
    pub(crate) fn take(&self, bytes: u64) -> Result<*mut std::ffi::c_void> {
        let limit = self.0.limit.load(Relaxed);
        let within = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= limit);
        let out_of_memory = || Error::OutOfMemory {
            ordinal: self.ordinal(),
            asked: bytes,
            available: self.available().unwrap_or(0),
        };
        if self.fails_now() || self.0.used.fetch_update(Relaxed, Relaxed, within).is_err() {
            return Err(out_of_memory());
        }
        let mut memory = std::ptr::null_mut();
        let taken = self.call("allocating device memory", || {
            // SAFETY: the pointer is to a local.
            unsafe { ffi::mgpu_allocate(bytes, &mut memory) }
        });
        self.0.used_by_all.fetch_add(bytes, Relaxed);
        taken.map(|()| memory).map_err(|error| {
            self.forget(bytes);
            if is_out_of_memory(&error) { out_of_memory() } else { error }
        })
    }

    /// Frees memory that `take` allocated.
    ///
    /// # Safety
    /// The memory is not used any more, except by work that is already enqueued.
    pub(crate) unsafe fn give_back(&self, memory: *mut std::ffi::c_void, bytes: u64) {
        // SAFETY: the memory is from `take`. Enqueued work may still use it: cudaMalloc and cudaFree
        // "cause the GPU to synchronize across all executing CUDA streams" (CUDA C++ Programming
        // Guide, stream-ordered memory allocator). A failure here is a failure of earlier work, which
        // every later call reports too.
        let _ = self.call("freeing device memory", || unsafe { ffi::mgpu_free(memory) });
        self.forget(bytes);
    }

    fn forget(&self, bytes: u64) {
        self.0.used.fetch_sub(bytes, Relaxed);
        self.0.used_by_all.fetch_sub(bytes, Relaxed);
    }

    /// Allocates `bytes` > 0 bytes of pinned host memory, not null.
    pub(crate) fn take_pinned(&self, bytes: u64) -> Result<*mut std::ffi::c_void> {
        let out_of_memory = Error::OutOfPinnedMemory { asked: bytes };
        if self.fails_now() {
            return Err(out_of_memory);
        }
        let mut memory = std::ptr::null_mut();
        let taken = self.call("allocating pinned memory", || {
            // SAFETY: the pointer is to a local.
            unsafe { ffi::mgpu_allocate_pinned(bytes, &mut memory) }
        });
        let error = |error: Error| if is_out_of_memory(&error) { out_of_memory } else { error };
        taken.map(|()| memory).map_err(error)
    }
}

/// Enables peer access between devices. If that fails, copies between them are only slower.
fn connect(devices: &[Device]) {
    for one in devices {
        let others = devices.iter().map(Device::ordinal).filter(|&other| other != one.ordinal());
        for other in others {
            let mut reached = 0;
            let _ = one.call("enabling access to another device", || {
                // SAFETY: the pointer is to a local; any numbers may be given.
                unsafe { ffi::mgpu_reach_device(one.ordinal() as i32, other as i32, &mut reached) }
            });
            if reached != 0 {
                lock(&one.0.reached).insert(other);
            }
        }
    }
}

fn is_out_of_memory(error: &Error) -> bool {
    matches!(error, Error::Cuda { status: ffi::OUT_OF_MEMORY, .. })
}
