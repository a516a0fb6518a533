//! A device that is open: its memory is accounted for and everything else is made from it.
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

/// An open device. Clones are one and the same, with one account of memory.
#[derive(Clone, Debug)]
pub struct Device(Arc<DeviceShared>);

#[derive(Debug)]
struct DeviceShared {
    info: DeviceInfo,
    /// How often the device was opened at once: `cuda:0,0` shares its memory evenly.
    sharers: u64,
    /// Bytes in the buffers of all sharers.
    used_by_all: Arc<AtomicU64>,
    used: AtomicU64,
    limit: AtomicU64,
    /// Allocations left until one fails for a test; 0 is never.
    fail_in: AtomicU64,
    /// Other devices whose memory kernels of this one can use.
    reached: Mutex<BTreeSet<u32>>,
}

/// Bytes of device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Free now, for any program.
    pub free: u64,
    /// In all.
    pub total: u64,
}

/// How long devices took to open, and when the last of them was ready.
static OPENING: Mutex<(Duration, Option<Instant>)> = Mutex::new((Duration::ZERO, None));

/// The time that starting CUDA took so far: asking for devices and making them ready.
pub fn start_time() -> Duration {
    probe_time() + lock(&OPENING).0
}

/// When the last device that was opened was ready; `None` if none was.
pub fn ready_at() -> Option<Instant> {
    lock(&OPENING).1
}

impl Device {
    /// Opens one device: makes its context (0.1 to 0.5 s, the first time).
    pub fn open(ordinal: u32) -> Result<Device> {
        Ok(Device::open_all(&[ordinal])?.remove(0))
    }

    /// Opens devices, side by side. One listed twice is two devices that share its memory evenly.
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

    /// Whether kernels of this device can use the other's memory: it is the same device, or both were
    /// opened together and the machine connects them.
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

    /// Its number: the n of `cuda:n`.
    pub fn ordinal(&self) -> u32 {
        self.0.info.ordinal
    }

    /// What it is.
    pub fn info(&self) -> &DeviceInfo {
        &self.0.info
    }

    /// Makes it the calling thread's current device. Everything in this crate does that itself.
    pub fn bind(&self) -> Result<()> {
        // SAFETY: any number may be given; one that is no device gives an error.
        let status = unsafe { ffi::mgpu_set_device(self.ordinal() as i32) };
        check(self.ordinal(), "selecting the device", status)
    }

    /// Calls a foreign function with this device current and checks its status; `doing` says what
    /// it does, for the message.
    pub fn call(&self, doing: &'static str, function: impl FnOnce() -> Status) -> Result<()> {
        self.bind()?;
        check(self.ordinal(), doing, function())
    }

    /// Waits until all work of all streams is done.
    pub fn synchronize(&self) -> Result<()> {
        // SAFETY: no arguments.
        self.call("waiting for the device", || unsafe { ffi::mgpu_synchronize_device() })
    }

    /// The memory of the whole device.
    pub fn memory(&self) -> Result<Memory> {
        let (mut free, mut total) = (0, 0);
        self.call("asking for free memory", || {
            // SAFETY: the pointers are to locals.
            unsafe { ffi::mgpu_memory_info(&mut free, &mut total) }
        })?;
        Ok(Memory { free, total })
    }

    /// Bytes that can still be had here: within this one's even share of what is free or used by
    /// those opened with it, and within the limit.
    pub fn available(&self) -> Result<u64> {
        let free = self.memory()?.free;
        let share = (free + self.0.used_by_all.load(Relaxed)) / self.0.sharers;
        let most = share.min(self.0.limit.load(Relaxed));
        Ok(most.saturating_sub(self.used()).min(free))
    }

    /// Sets the [limit](Self::limit_memory) if there is one, and returns the bytes that are [available](Self::available).
    ///
    /// # Errors
    /// If the device fails.
    pub fn available_within(&self, limit: Option<u64>) -> Result<u64> {
        if let Some(bytes) = limit {
            self.limit_memory(bytes);
        }
        self.available()
    }

    /// Bytes in this device's buffers.
    pub fn used(&self) -> u64 {
        self.0.used.load(Relaxed)
    }

    /// Lets no more than this many bytes be in buffers at once (`--gpu-memory`).
    pub fn limit_memory(&self, bytes: u64) {
        self.0.limit.store(bytes, Relaxed);
    }

    /// For tests: the `nth` allocation from now on, of device or pinned memory, fails as if there
    /// were no memory left; 0 switches it off. `MERGANSER_TEST_FAIL_GPU_ALLOCATION=n` does it from
    /// the start of the program.
    pub fn fail_allocation(&self, nth: u64) {
        self.0.fail_in.store(nth, Relaxed);
    }

    /// Counts down to the failure that a test asked for.
    fn fails_now(&self) -> bool {
        let next = |left: u64| left.checked_sub(1);
        self.0.fail_in.fetch_update(Relaxed, Relaxed, next) == Ok(1)
    }

    /// Takes device memory, not null, of `bytes` > 0; the caller gives it back with `give_back`.
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
        let taken = self.call("taking device memory", || {
            // SAFETY: the pointer is to a local.
            unsafe { ffi::mgpu_allocate(bytes, &mut memory) }
        });
        self.0.used_by_all.fetch_add(bytes, Relaxed);
        taken.map(|()| memory).map_err(|error| {
            self.forget(bytes);
            if is_out_of_memory(&error) { out_of_memory() } else { error }
        })
    }

    /// Frees what `take` gave.
    ///
    /// # Safety
    /// It is used no more, save by work already enqueued.
    pub(crate) unsafe fn give_back(&self, memory: *mut std::ffi::c_void, bytes: u64) {
        // SAFETY: the memory is `take`'s. Enqueued work may still use it: cudaMalloc and cudaFree
        // "cause the GPU to synchronize across all executing CUDA streams" (CUDA C++ Programming
        // Guide, stream-ordered memory allocator). A failure here is one of earlier work, which
        // every later call reports too.
        let _ = self.call("freeing device memory", || unsafe { ffi::mgpu_free(memory) });
        self.forget(bytes);
    }

    fn forget(&self, bytes: u64) {
        self.0.used.fetch_sub(bytes, Relaxed);
        self.0.used_by_all.fetch_sub(bytes, Relaxed);
    }

    /// Takes pinned host memory, not null, of `bytes` > 0.
    pub(crate) fn take_pinned(&self, bytes: u64) -> Result<*mut std::ffi::c_void> {
        let out_of_memory = Error::OutOfPinnedMemory { asked: bytes };
        if self.fails_now() {
            return Err(out_of_memory);
        }
        let mut memory = std::ptr::null_mut();
        let taken = self.call("taking pinned memory", || {
            // SAFETY: the pointer is to a local.
            unsafe { ffi::mgpu_allocate_pinned(bytes, &mut memory) }
        });
        let error = |error: Error| if is_out_of_memory(&error) { out_of_memory } else { error };
        taken.map(|()| memory).map_err(error)
    }
}

/// Lets devices reach each other's memory. Where that fails, copies between them take longer, no more.
fn connect(devices: &[Device]) {
    for one in devices {
        let others = devices.iter().map(Device::ordinal).filter(|&other| other != one.ordinal());
        for other in others {
            let mut reached = 0;
            let _ = one.call("reaching another device", || {
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
