//! Sketching a reference: workers send stretches of it, and get the features of their windows in the
//! order of the sections, which is what the tables are then made from.

use std::sync::atomic::{AtomicUsize, Ordering};

use merganser_gpu::{Device, DeviceBuffer, PinnedBuffer, Pool, Stream, primitives};

use super::GpuConfig;
use super::kernels::{self, NO_KEY, SketchRule, WINDOW_BITS, WindowEntry, Windows};
use crate::Error;
use crate::params::Params;

/// Letters of a batch, and keys of its windows.
const LETTERS: usize = 4 << 20;
const KEYS: usize = 1 << 20;

/// Devices that sketch.
#[derive(Debug)]
pub(crate) struct GpuSketch {
    params: Params,
    lanes: Vec<Pool<Lane>>,
    turn: AtomicUsize,
}

/// A stream with its buffers.
struct Lane {
    stream: Stream,
    rule: SketchRule,
    letters: PinnedBuffer<u8>,
    entries: PinnedBuffer<WindowEntry>,
    keys: PinnedBuffer<u64>,
    letters_there: DeviceBuffer<u8>,
    entries_there: DeviceBuffer<WindowEntry>,
    keys_there: [DeviceBuffer<u64>; 2],
    scratch: DeviceBuffer<u8>,
    windows: usize,
    filled: usize,
}

/// Windows of a batch.
fn most_windows(params: &Params) -> usize {
    (KEYS / params.sketch as usize).min((1 << WINDOW_BITS) - 1)
}

impl GpuSketch {
    /// Opens the devices.
    ///
    /// # Errors
    /// If one cannot be used, or has too little memory for one batch.
    pub(crate) fn new(config: &GpuConfig, params: &Params) -> Result<GpuSketch, Error> {
        let devices = Device::open_all(&config.devices)?;
        let pool = |device: &Device| {
            if let Some(limit) = config.memory {
                device.limit_memory(limit);
            }
            let available = device.available()?;
            let scratch = primitives::sort_keys_scratch::<u64>(device, KEYS, 0..64)?;
            let needed = (LETTERS + 12 * most_windows(params) + 16 * KEYS + scratch) as u64 + 4096;
            let (ordinal, what) = (device.ordinal(), "building");
            if available < needed {
                return Err(Error::TooLittleGpuMemory { ordinal, what, available, needed });
            }
            let lanes = (available / needed).min(config.streams.max(1) as u64) as usize;
            let (device, params) = (device.clone(), *params);
            Ok(Pool::new(lanes, move || Lane::new(&device, &params, scratch)))
        };
        let lanes = devices.iter().map(pool).collect::<Result<_, Error>>()?;
        Ok(GpuSketch { params: *params, lanes, turn: AtomicUsize::new(0) })
    }

    /// Calls `take` with each feature and the number of its window, counted over the first so many
    /// windows of each of the `stretches`.
    ///
    /// # Errors
    /// If a device fails.
    pub(crate) fn sketch<'t>(
        &self,
        stretches: impl Iterator<Item = (&'t [u8], usize)>,
        take: &mut dyn FnMut(u64, usize),
    ) -> Result<(), Error> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let mut lane = self.lanes[turn % self.lanes.len()].take()?;
        let lane = &mut *lane;
        let (window, stride) = (self.params.window as usize, self.params.stride as usize);
        let most = most_windows(&self.params);
        (lane.windows, lane.filled) = (0, 0);
        let mut before = 0;
        for (letters, windows) in stretches {
            let mut first = 0;
            while first < windows {
                let start = first * stride;
                // The last window may end beyond the stretch.
                let fit = (LETTERS - lane.filled).saturating_sub(window) / stride;
                let count = fit.min(most - lane.windows).min(windows - first);
                if count == 0 {
                    before += lane.run(before, take)?;
                    continue;
                }
                let end = (start + (count - 1) * stride + window).min(letters.len());
                lane.push(&letters[start..end], count, window, stride)?;
                first += count;
            }
        }
        lane.run(before, take)?;
        Ok(())
    }
}

impl Lane {
    fn new(device: &Device, params: &Params, scratch: usize) -> merganser_gpu::Result<Lane> {
        let windows = most_windows(params);
        Ok(Lane {
            stream: device.stream()?,
            rule: SketchRule::new(params),
            letters: device.alloc_pinned(LETTERS)?,
            entries: device.alloc_pinned(windows)?,
            keys: device.alloc_pinned(KEYS)?,
            letters_there: device.alloc(LETTERS)?,
            entries_there: device.alloc(windows)?,
            keys_there: [device.alloc(KEYS)?, device.alloc(KEYS)?],
            scratch: device.alloc(scratch)?,
            windows: 0,
            filled: 0,
        })
    }

    /// Adds a stretch with so many windows.
    fn push(
        &mut self,
        letters: &[u8],
        count: usize,
        window: usize,
        stride: usize,
    ) -> merganser_gpu::Result<()> {
        self.letters.as_mut_slice()?[self.filled..][..letters.len()].copy_from_slice(letters);
        let entries = &mut self.entries.as_mut_slice()?[self.windows..][..count];
        for (number, entry) in entries.iter_mut().enumerate() {
            let from = number * stride;
            let bases = (letters.len() - from).min(window);
            *entry = [(self.filled + from) as u32, bases as u32, 0];
        }
        self.filled += letters.len();
        self.windows += count;
        Ok(())
    }

    /// Sketches what was added, and forgets it; gives the number of its windows, the first of which
    /// has the number `before`.
    fn run(
        &mut self,
        before: usize,
        take: &mut dyn FnMut(u64, usize),
    ) -> merganser_gpu::Result<usize> {
        let (stream, windows) = (&self.stream, self.windows);
        if windows == 0 {
            return Ok(0);
        }
        stream.upload(&mut self.letters, 0..self.filled, self.letters_there.view_mut())?;
        stream.upload(&mut self.entries, 0..windows, self.entries_there.view_mut())?;
        let sketches = Windows {
            letters: self.letters_there.view(),
            entries: self.entries_there.slice(..windows),
        };
        let count = windows * self.rule.sketch();
        let [keys, others] = &mut self.keys_there;
        kernels::sketch(stream, &self.rule, sketches, keys.slice_mut(..count))?;
        let place = primitives::sort_keys(
            stream,
            [keys.slice_mut(..count), others.slice_mut(..count)],
            0..64,
            self.scratch.view_mut(),
        )?;
        stream.download([&*keys, &*others][place].slice(..count), &mut self.keys, 0)?;
        (self.windows, self.filled) = (0, 0);
        let keys = &self.keys.as_slice()?[..count];
        for &key in keys.iter().take_while(|&&key| key != NO_KEY) {
            take(key >> WINDOW_BITS, before + (key & ((1 << WINDOW_BITS) - 1)) as usize);
        }
        Ok(windows)
    }
}
