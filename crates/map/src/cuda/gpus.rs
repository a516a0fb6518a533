//! The devices of a run. Each holds the index, and workspaces that threads take from a common pool.

use std::sync::Arc;

use merganser_gpu::{BufferPool, Device, DeviceInfo, Pooled};
use merganser_run::{Budget, RoundRobin, side_by_side};

use super::index::DeviceIndex;
use super::workspace::{Sizes, Workspace};
use crate::index::{Index, IndexView};
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
    devices: Vec<DeviceInfo>,
    workspaces: BufferPool<Workspace>,
    /// Whether there are too many runs that match everything, so that the host maps all reads.
    too_many_gaps: bool,
}

impl Gpus {
    /// Opens devices and copies the index to each. The hits that a device returns at a time fit into `room`.
    ///
    /// # Errors
    /// If a device cannot be used, or has too little memory.
    pub(crate) fn new(
        index: &Index,
        gaps: &[[u32; 2]],
        config: &Config,
        ordinals: &[u32],
        memory: Option<u64>,
        threads: usize,
        room: Room,
    ) -> Result<Gpus, Error> {
        let view = &index.view();
        // The host rarely needs the index after this: devices return complete hits.
        let copied = |part: &[u8]| index.release(part);
        let devices = Device::open_all(ordinals)?;
        let needed = DeviceIndex::bytes(view, gaps);
        let each = threads.div_ceil(devices.len().max(1));
        let sizes = devices
            .iter()
            .map(|device| share(device, needed, memory, each))
            .map(|share| share.map(|(sizes, number)| (sizes.within(room), number)))
            .collect::<Result<Vec<_>, _>>()?;
        // Devices are filled concurrently.
        let indexes = side_by_side(&devices, |device| {
            DeviceIndex::new(device, view, gaps, each.min(8), &copied).map(Arc::new)
        })?;
        let least = sizes.iter().map(|(sizes, _)| sizes.keys).min().unwrap_or(0);
        let too_many_gaps = indexes.iter().any(|index| index.gaps.len() > least / 4);
        let devices = devices.iter().map(|device| device.info().clone()).collect();
        let config = config.clone();
        let workspaces = workspaces(indexes, sizes, config.clone());
        Ok(Gpus { config, devices, workspaces, too_many_gaps })
    }

    /// Creates workspaces of this size on device 0, for tests.
    #[cfg(test)]
    pub(crate) fn of_size(
        view: &IndexView<'_>,
        gaps: &[[u32; 2]],
        config: &Config,
        sizes: Sizes,
    ) -> Result<Gpus, Error> {
        let index = Arc::new(DeviceIndex::new(&Device::open(0)?, view, gaps, 2, &|_| ())?);
        let too_many_gaps = index.gaps.len() > sizes.keys / 4;
        let config = config.clone();
        let workspaces = workspaces(vec![index], vec![(sizes, 1)], config.clone());
        Ok(Gpus { config, devices: Vec::new(), workspaces, too_many_gaps })
    }

    /// Returns the configuration of the run.
    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the devices.
    pub(crate) fn devices(&self) -> &[DeviceInfo] {
        &self.devices
    }

    /// Takes a workspace, and waits until one is free. A worker keeps it while it hands over texts in input order,
    /// so batches must take workspaces in input order as well; otherwise, two workers could wait for each other.
    ///
    /// # Errors
    /// If one cannot be made.
    pub(crate) fn workspace(&self) -> Result<Pooled<Workspace>, Error> {
        Ok(self.workspaces.take()?)
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
    let budget = Budget::of_device(device.available_within(memory)?).with(index);
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
