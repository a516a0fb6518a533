//! The devices of a run. Each holds the index once they are filled, and workspaces that threads take from a common
//! pool.

use std::sync::{Arc, OnceLock};

use merganser_gpu::ingest::DeviceInflater;
use merganser_gpu::{BufferPool, Device, DeviceInfo, Pooled, Uploaded};
use merganser_inflate::InflateAhead;
use merganser_run::{Budget, Cancel, Context, RoundRobin};

use super::index::{DeviceIndex, piece_count};
use super::workspace::{Sizes, Workspace};
use crate::index::IndexView;
use crate::room::Room;
use crate::{Config, Error};

/// The number of keys of a workspace with enough memory, and the minimum.
const FULL: usize = 16 << 20;
const MIN: usize = 1 << 16;
/// The maximum number of workspaces of a device; more do not increase its speed.
const MAX_WORKSPACES: usize = 8;

/// The devices of a run.
#[derive(Debug)]
pub(crate) struct Gpus {
    config: Config,
    devices: Vec<Device>,
    /// The sizes and the number of the workspaces of each device.
    sizes: Vec<(Sizes, usize)>,
    /// The workspaces, once the devices are filled.
    workspaces: OnceLock<BufferPool<Workspace>>,
    /// Whether there are too many runs that match everything, so that the host maps all reads.
    too_many_gaps: bool,
}

impl Gpus {
    /// Opens devices with room for the index. The hits that a device returns at a time fit into `room`.
    ///
    /// # Errors
    /// If a device cannot be used, or has too little memory.
    pub(crate) fn open(
        view: &IndexView<'_>,
        gaps: &[[u32; 2]],
        config: &Config,
        ordinals: &[u32],
        memory: Option<u64>,
        threads: usize,
        room: Room,
    ) -> Result<Gpus, Error> {
        let devices = Device::open_all(ordinals)?;
        let needed = DeviceIndex::bytes(view, gaps);
        let each = threads.div_ceil(devices.len().max(1));
        let sizes = devices
            .iter()
            .map(|device| share(device, needed, memory, each))
            .map(|share| share.map(|(sizes, number)| (sizes.within(room), number)))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Gpus::with(config, devices, sizes, gaps))
    }

    /// Returns an inflater of BGZF files on the first device, if it has memory for that.
    pub(crate) fn inflater(&self, context: &Context) -> Option<Arc<dyn InflateAhead>> {
        Some(DeviceInflater::beside(self.devices.first()?, context.gpu_memory, context.budget()))
    }

    fn with(
        config: &Config,
        devices: Vec<Device>,
        sizes: Vec<(Sizes, usize)>,
        gaps: &[[u32; 2]],
    ) -> Gpus {
        let least = sizes.iter().map(|(sizes, _)| sizes.keys).min().unwrap_or(0);
        let too_many_gaps = piece_count(gaps) > least / 4;
        let (config, workspaces) = (config.clone(), OnceLock::new());
        Gpus { config, devices, sizes, workspaces, too_many_gaps }
    }

    /// Copies the index to all devices. Called once.
    ///
    /// # Errors
    /// If the index cannot be read, or a device fails; if cancelled.
    pub(crate) fn fill(
        &self,
        view: &IndexView<'_>,
        gaps: &[[u32; 2]],
        threads: usize,
        cancel: &Cancel,
        read: impl Fn(&[u8], &mut [u8]) -> Result<(), Error> + Sync,
    ) -> Result<Uploaded, Error> {
        let (indexes, uploaded) =
            DeviceIndex::upload(&self.devices, view, gaps, threads, cancel, read)?;
        let indexes = indexes.into_iter().map(Arc::new).collect();
        let workspaces = workspaces(indexes, self.sizes.clone(), self.config.clone());
        let _ = self.workspaces.set(workspaces);
        Ok(uploaded)
    }

    /// Creates workspaces of this size on device 0, for tests.
    #[cfg(test)]
    pub(crate) fn of_size(
        view: &IndexView<'_>,
        gaps: &[[u32; 2]],
        config: &Config,
        sizes: Sizes,
    ) -> Result<Gpus, Error> {
        let gpus = Gpus::with(config, vec![Device::open(0)?], vec![(sizes, 1)], gaps);
        gpus.fill(view, gaps, 2, &Cancel::default(), merganser_gpu::read_memory)?;
        Ok(gpus)
    }

    /// Returns the configuration of the run.
    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the facts about the devices.
    pub(crate) fn devices(&self) -> Vec<DeviceInfo> {
        self.devices.iter().map(|device| device.info().clone()).collect()
    }

    /// Takes a workspace, and waits until one is free. A worker keeps it while it hands over texts in input order,
    /// so batches must take workspaces in input order as well; otherwise, two workers could wait for each other.
    ///
    /// # Errors
    /// If one cannot be made.
    ///
    /// # Panics
    /// If the devices are not filled.
    pub(crate) fn workspace(&self) -> Result<Pooled<Workspace>, Error> {
        Ok(self.workspaces.get().expect("devices are filled before use").take()?)
    }

    pub(super) fn too_many_gaps(&self) -> bool {
        self.too_many_gaps
    }
}

/// Checks that the index fits on the devices, with room for mapping.
///
/// # Errors
/// If it does not fit, or a device cannot be used.
pub(crate) fn check_room(
    view: &IndexView<'_>,
    gaps: &[[u32; 2]],
    ordinals: &[u32],
    memory: Option<u64>,
) -> Result<(), Error> {
    let needed = DeviceIndex::bytes(view, gaps);
    let devices = Device::open_all(ordinals)?;
    devices.iter().try_for_each(|device| share(device, needed, memory, 1).map(drop))
}

/// Returns the size and the number of a device's workspaces.
fn share(
    device: &Device,
    index: u64,
    memory: Option<u64>,
    threads: usize,
) -> Result<(Sizes, usize), Error> {
    let sizes = |keys: usize| Sizes { keys, ends: keys / 2 };
    let budget = Budget::of_device(device.available_beside_inflater(memory)?).with(index);
    budget.with(sizes(MIN).bytes()).check_device(device.ordinal(), "mapping to this index")?;
    let left = budget.left();
    let mut keys = FULL;
    while keys > MIN && 2 * sizes(keys).bytes() > left {
        keys /= 2;
    }
    let workspaces = (left / sizes(keys).bytes()) as usize;
    Ok((sizes(keys), workspaces.min(threads).min(MAX_WORKSPACES)))
}

/// Creates a pool of workspaces that alternates between the devices.
fn workspaces(
    indexes: Vec<Arc<DeviceIndex>>,
    sizes: Vec<(Sizes, usize)>,
    config: Config,
) -> BufferPool<Workspace> {
    let most = sizes.iter().map(|(_, workspaces)| *workspaces).max().unwrap_or(0);
    let order: Vec<usize> = (0..most)
        .flat_map(|round| (0..sizes.len()).filter(move |_| round < most).map(move |at| (round, at)))
        .filter(|&(round, at)| round < sizes[at].1)
        .map(|(_, at)| at)
        .collect();
    let turns = RoundRobin::default();
    BufferPool::new(order.len(), move || {
        let at = order[turns.next(order.len())];
        Workspace::new(&indexes[at], &config, sizes[at].0)
    })
}
