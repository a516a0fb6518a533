//! Events: points in a stream's work.
#![allow(unsafe_code, reason = "calls the CUDA runtime, with events that it owns")]

use crate::ffi::{self, RawEvent};
use crate::{Device, Result};
use std::time::Duration;

/// A point in a stream's work that threads and other streams can wait for. Waiting threads sleep.
#[derive(Debug)]
pub struct Event {
    raw: RawEvent,
    device: Device,
}

// SAFETY: any threads may call CUDA's functions on an event concurrently.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Device {
    /// Creates an event to wait for.
    pub fn event(&self) -> Result<Event> {
        Event::new(self, false)
    }

    /// Creates an event that also records the time.
    pub fn timing_event(&self) -> Result<Event> {
        Event::new(self, true)
    }
}

impl Event {
    fn new(device: &Device, timing: bool) -> Result<Event> {
        let mut raw = std::ptr::null_mut();
        device.call("creating an event", || {
            // SAFETY: the pointer is to a local.
            unsafe { ffi::mgpu_create_event(timing, &mut raw) }
        })?;
        Ok(Event { raw, device: device.clone() })
    }

    pub(crate) fn raw(&self) -> RawEvent {
        self.raw
    }

    /// Waits until the work before the last record is done; returns at once if the event was never recorded.
    pub fn synchronize(&self) -> Result<()> {
        self.device.call("waiting for an event", || {
            // SAFETY: the event exists until it is dropped.
            unsafe { ffi::mgpu_synchronize_event(self.raw) }
        })
    }

    /// Returns whether the work before the last record is done.
    pub fn is_done(&self) -> Result<bool> {
        let mut done = false;
        self.device.call("querying an event", || {
            // SAFETY: the event exists until it is dropped, and the pointer is to a local.
            unsafe { ffi::mgpu_query_event(self.raw, &mut done) }
        })?;
        Ok(done)
    }

    /// Returns the time between this event and a later one; both are from [`Device::timing_event`] and done.
    /// The resolution is about half a microsecond.
    pub fn elapsed(&self, later: &Event) -> Result<Duration> {
        let mut milliseconds = 0.0;
        self.device.call("measuring the time between events", || {
            // SAFETY: both events exist until they are dropped, and the pointer is to a local.
            unsafe { ffi::mgpu_elapsed_milliseconds(self.raw, later.raw, &mut milliseconds) }
        })?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds.max(0.0)) / 1e3))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let destroy = || {
            // SAFETY: the handle is not used after this; CUDA keeps the state that waiting streams need.
            unsafe { ffi::mgpu_destroy_event(self.raw) }
        };
        // A failure here is a failure of earlier work, which later calls report too.
        let _ = self.device.call("destroying an event", destroy);
    }
}
