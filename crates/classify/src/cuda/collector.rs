//! Sketches references: workers send stretches of them, and the sketches of their windows stay in device memory,
//! where the tables are made from them ([`super::layout`]). Once the memory is full, sketches are sent to the host,
//! which then makes the tables.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use merganser_gpu::{
    Arena, ArenaBuffer, BufferPool, Device, DeviceBuffer, DeviceInfo, PinnedBuffer, Pooled, Stream,
};
use merganser_run::RoundRobin;
use merganser_run::locks::lock;

use super::budget::too_little_memory;
use super::kernels::SketchRule;
use super::kernels::build::{self as kernels, Packing, ReferenceWindow, Sketches};
use crate::Error;
use crate::entries::Entries;
use crate::params::Params;
use merganser_gpu::GpuConfig;

/// Maximum number of letters in a batch.
const LETTERS: usize = 4 << 20;
/// Maximum number of features of the windows of a batch.
const FEATURES: usize = 1 << 20;
/// Bytes of a segment of the device memory that holds sketches.
const SEGMENT: u64 = 256 << 20;

/// The devices that sketch, and the sketches made so far.
pub(crate) struct Collector {
    params: Params,
    packing: Packing,
    /// The first device, which holds the sketches.
    home: Device,
    devices: Vec<DeviceInfo>,
    arena: Arena,
    workspaces: Vec<BufferPool<Workspace>>,
    turns: RoundRobin,
    batches: Mutex<Vec<WindowSketches>>,
    /// Whether sketches were sent to the host, because the memory was full or they were not to be kept.
    overflown: AtomicBool,
}

/// Device memory for the features of windows, and for the number of features of each window.
type SketchRoom = (ArenaBuffer<u8>, ArenaBuffer<u32>);

/// The sketches of consecutive windows.
pub(crate) struct WindowSketches {
    /// The provisional number of the first window.
    pub(super) first: u32,
    features: ArenaBuffer<u8>,
    counts: ArenaBuffer<u32>,
}

impl WindowSketches {
    pub(super) fn windows(&self) -> usize {
        self.counts.len()
    }

    /// Returns a view of some windows for kernels.
    pub(super) fn sketches(&self, params: &Params, windows: Range<usize>) -> Sketches<'_> {
        let (packing, sketch) = (Packing::of(params.k), params.sketch as usize);
        let bytes = sketch * packing.bytes();
        Sketches {
            packing,
            sketch,
            features: self.features.view().slice(windows.start * bytes..windows.end * bytes),
            counts: self.counts.view().slice(windows),
        }
    }
}

/// A stream with its buffers.
pub(super) struct Workspace {
    device: Device,
    pub(super) stream: Stream,
    rule: SketchRule,
    packing: Packing,
    pub(super) letters: PinnedBuffer<u8>,
    windows: PinnedBuffer<ReferenceWindow>,
    letters_there: DeviceBuffer<u8>,
    windows_there: DeviceBuffer<ReferenceWindow>,
    count: usize,
    filled: usize,
    own: Option<Own>,
}

/// Buffers for the sketches of a batch that cannot stay on the device that made them.
struct Own {
    features: DeviceBuffer<u8>,
    counts: DeviceBuffer<u32>,
    features_here: PinnedBuffer<u8>,
    counts_here: PinnedBuffer<u32>,
}

/// Returns the maximum number of windows in a batch.
fn max_windows(params: &Params) -> usize {
    FEATURES / params.sketch as usize
}

/// Returns the bytes of device memory of a workspace.
fn workspace_bytes(params: &Params) -> u64 {
    let features = FEATURES * Packing::of(params.k).bytes();
    (LETTERS + max_windows(params) * (size_of::<ReferenceWindow>() + 4) + features) as u64 + 4096
}

impl Collector {
    /// Opens the devices. Without `keep`, all sketches are sent to the host.
    ///
    /// # Errors
    /// If a device cannot be used, or has too little memory for one batch.
    pub(crate) fn new(config: &GpuConfig, params: &Params, keep: bool) -> Result<Collector, Error> {
        let devices = Device::open_all(&config.devices)?;
        let needed = workspace_bytes(params);
        let mut room = 0;
        let mut workspaces = Vec::new();
        for (number, device) in devices.iter().enumerate() {
            let available = device.available_within(config.memory)?;
            let (ordinal, what) = (device.ordinal(), "building");
            if available < needed {
                return Err(too_little_memory(ordinal, what, available, needed));
            }
            let most = config.streams.div_ceil(devices.len()).max(1) as u64;
            let count = (available / 2 / needed).clamp(1, most);
            if number == 0 {
                // A third is left for making tables, a range of sections at a time.
                room = (available - count * needed) / 3 * 2;
            }
            let (device, params) = (device.clone(), *params);
            workspaces
                .push(BufferPool::new(count as usize, move || Workspace::new(&device, &params)));
        }
        let segment = (room / 16).clamp(1 << 16, SEGMENT) as usize;
        Ok(Collector {
            params: *params,
            packing: Packing::of(params.k),
            arena: Arena::new(&devices[0], segment, room),
            home: devices[0].clone(),
            devices: devices.iter().map(|device| device.info().clone()).collect(),
            workspaces,
            turns: RoundRobin::default(),
            batches: Mutex::default(),
            overflown: AtomicBool::new(!keep),
        })
    }

    /// Returns the devices, in the order of the request.
    pub(crate) fn devices(&self) -> Vec<DeviceInfo> {
        self.devices.clone()
    }

    /// Returns the device that holds the sketches.
    pub(super) fn home(&self) -> &Device {
        &self.home
    }

    /// Returns the parameters of the sketches.
    pub(super) fn params(&self) -> &Params {
        &self.params
    }

    /// Whether any sketches were or will be sent to the host.
    pub(crate) fn has_overflown(&self) -> bool {
        self.overflown.load(Ordering::Relaxed)
    }

    /// Waits for all enqueued work, and returns the sketches that were kept.
    ///
    /// # Errors
    /// If a device has failed.
    pub(crate) fn take_batches(&self) -> Result<Vec<WindowSketches>, Error> {
        for pool in &self.workspaces {
            let workspace = pool.take()?;
            workspace.device.synchronize()?;
        }
        Ok(std::mem::take(&mut *lock(&self.batches)))
    }

    fn workspace(&self) -> Result<Pooled<Workspace>, Error> {
        Ok(self.workspaces[self.turns.next(self.workspaces.len())].take()?)
    }

    /// Returns a workspace of the home device, for its stream and its pinned buffer of letters.
    pub(super) fn home_workspace(&self) -> Result<Pooled<Workspace>, Error> {
        Ok(self.workspaces[0].take()?)
    }

    /// Sketches `stretches`, each given as its letters and the number of windows to sketch. Windows are numbered from
    /// `first` on. Sketches that cannot be kept are added to `entries`.
    ///
    /// # Errors
    /// If a device fails.
    pub(crate) fn add<'t>(
        &self,
        mut first: u32,
        stretches: impl Iterator<Item = (&'t [u8], usize)>,
        entries: &mut Entries,
    ) -> Result<(), Error> {
        let mut workspace = self.workspace()?;
        let (window, stride) = (self.params.window as usize, self.params.stride as usize);
        let most = max_windows(&self.params);
        (workspace.count, workspace.filled) = (0, 0);
        for (letters, windows) in stretches {
            let mut next = 0;
            while next < windows {
                let start = next * stride;
                // The last window may end beyond the stretch.
                let fit = (LETTERS - workspace.filled).saturating_sub(window) / stride;
                let count = fit.min(most - workspace.count).min(windows - next);
                if count == 0 {
                    first += self.run(&mut workspace, first, entries)? as u32;
                    continue;
                }
                let end = (start + (count - 1) * stride + window).min(letters.len());
                workspace.push(&letters[start..end], count, window, stride)?;
                next += count;
            }
        }
        self.run(&mut workspace, first, entries)?;
        Ok(())
    }

    /// Sketches the windows of the workspace and empties it. Returns the number of windows.
    fn run(
        &self,
        workspace: &mut Workspace,
        first: u32,
        entries: &mut Entries,
    ) -> Result<usize, Error> {
        let windows = workspace.count;
        if windows == 0 {
            return Ok(0);
        }
        match self.room(windows)? {
            Some((mut features, mut counts)) => {
                if workspace.device.ordinal() == self.home.ordinal() {
                    workspace.sketch(features.view_mut(), counts.view_mut())?;
                } else {
                    workspace.sketch_apart()?;
                    let Workspace { stream, own, .. } = &*workspace;
                    if let Some(own) = own {
                        let bytes = features.len();
                        stream.copy(own.features.slice(..bytes), features.view_mut())?;
                        stream.copy(own.counts.slice(..windows), counts.view_mut())?;
                    }
                }
                let batch = WindowSketches { first, features, counts };
                lock(&self.batches).push(batch);
            }
            None => {
                self.overflown.store(true, Ordering::Relaxed);
                workspace.sketch_apart()?;
                workspace.give(first, windows, self.params.sketch as usize, entries)?;
            }
        }
        (workspace.count, workspace.filled) = (0, 0);
        Ok(windows)
    }

    /// Reserves device memory for the sketches of some windows; `None` if it does not suffice.
    fn room(&self, windows: usize) -> Result<Option<SketchRoom>, Error> {
        if self.has_overflown() {
            return Ok(None);
        }
        let bytes = windows * self.params.sketch as usize * self.packing.bytes();
        let Some(features) = self.arena.cut(bytes)? else { return Ok(None) };
        Ok(self.arena.cut(windows)?.map(|counts| (features, counts)))
    }

    /// Copies the sketches of a batch to the host, as entries.
    ///
    /// # Errors
    /// If the device fails.
    pub(crate) fn bring(&self, batch: &WindowSketches, entries: &mut Entries) -> Result<(), Error> {
        let mut workspace = self.home_workspace()?;
        workspace.own()?;
        let Workspace { stream, own, .. } = &mut *workspace;
        if let Some(own) = own {
            stream.download(batch.features.view(), &mut own.features_here, 0)?;
            stream.download(batch.counts.view(), &mut own.counts_here, 0)?;
        }
        workspace.push_entries(
            batch.first,
            batch.windows(),
            self.params.sketch as usize,
            entries,
        )?;
        Ok(())
    }
}

impl Workspace {
    fn new(device: &Device, params: &Params) -> merganser_gpu::Result<Workspace> {
        let windows = max_windows(params);
        Ok(Workspace {
            device: device.clone(),
            stream: device.stream()?,
            rule: SketchRule::new(params),
            packing: Packing::of(params.k),
            letters: device.alloc_pinned(LETTERS)?,
            windows: device.alloc_pinned(windows)?,
            letters_there: device.alloc(LETTERS)?,
            windows_there: device.alloc(windows)?,
            count: 0,
            filled: 0,
            own: None,
        })
    }

    /// Adds a stretch with `count` windows.
    fn push(
        &mut self,
        letters: &[u8],
        count: usize,
        window: usize,
        stride: usize,
    ) -> merganser_gpu::Result<()> {
        self.letters.as_mut_slice()?[self.filled..][..letters.len()].copy_from_slice(letters);
        let windows = &mut self.windows.as_mut_slice()?[self.count..][..count];
        for (number, entry) in windows.iter_mut().enumerate() {
            let from = number * stride;
            let bases = (letters.len() - from).min(window);
            *entry = [(self.filled + from) as u32, bases as u32];
        }
        self.filled += letters.len();
        self.count += count;
        Ok(())
    }

    /// Uploads the letters, and sketches the windows.
    fn sketch(
        &mut self,
        features: merganser_gpu::DeviceSliceMut<'_, u8>,
        counts: merganser_gpu::DeviceSliceMut<'_, u32>,
    ) -> merganser_gpu::Result<()> {
        let (stream, windows) = (&self.stream, self.count);
        stream.upload(&mut self.letters, 0..self.filled, self.letters_there.view_mut())?;
        stream.upload(&mut self.windows, 0..windows, self.windows_there.view_mut())?;
        let letters = self.letters_there.view();
        let all = self.windows_there.slice(..windows);
        kernels::sketch(stream, &self.rule, letters, all, features, counts)
    }

    fn own(&mut self) -> merganser_gpu::Result<&mut Own> {
        let own = match self.own.take() {
            Some(own) => own,
            None => {
                let (bytes, windows) = (FEATURES * self.packing.bytes(), self.windows.len());
                Own {
                    features: self.device.alloc(bytes)?,
                    counts: self.device.alloc(windows)?,
                    features_here: self.device.alloc_pinned(bytes)?,
                    counts_here: self.device.alloc_pinned(windows)?,
                }
            }
        };
        Ok(self.own.insert(own))
    }

    /// Sketches as [`sketch`](Self::sketch) does, into the buffers of the workspace.
    fn sketch_apart(&mut self) -> merganser_gpu::Result<()> {
        self.own()?;
        let Some(mut own) = self.own.take() else { return Ok(()) };
        let sketched = self.sketch(own.features.view_mut(), own.counts.view_mut());
        self.own = Some(own);
        sketched
    }

    /// Copies the sketches in the workspace's buffers to the host, as entries.
    fn give(
        &mut self,
        first: u32,
        windows: usize,
        sketch: usize,
        entries: &mut Entries,
    ) -> merganser_gpu::Result<()> {
        let bytes = windows * sketch * self.packing.bytes();
        let Workspace { stream, own, .. } = self;
        if let Some(own) = own {
            stream.download(own.features.slice(..bytes), &mut own.features_here, 0)?;
            stream.download(own.counts.slice(..windows), &mut own.counts_here, 0)?;
        }
        self.push_entries(first, windows, sketch, entries)
    }

    /// Adds downloaded sketches to the entries.
    fn push_entries(
        &mut self,
        first: u32,
        windows: usize,
        sketch: usize,
        entries: &mut Entries,
    ) -> merganser_gpu::Result<()> {
        let packing = self.packing;
        let own = self.own()?;
        let counts = &own.counts_here.as_slice()?[..windows];
        let features = own.features_here.as_slice()?;
        let each = sketch * packing.bytes();
        for (window, &count) in counts.iter().enumerate() {
            let own = &features[window * each..][..count as usize * packing.bytes()];
            let location = first + window as u32;
            match packing {
                Packing::Narrow => own.as_chunks().0.iter().for_each(|&bytes| {
                    entries.push(u64::from(u32::from_ne_bytes(bytes)) << 12, location);
                }),
                Packing::Wide => own.as_chunks().0.iter().for_each(|&bytes| {
                    entries.push(u64::from_ne_bytes(bytes), location);
                }),
            }
        }
        Ok(())
    }
}

impl std::fmt::Debug for Collector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Collector").field("home", &self.home).finish_non_exhaustive()
    }
}
