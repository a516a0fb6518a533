//! Plans the memory of devices, and distributes the parts of a database over them.

use merganser_gpu::Device;

use super::long::LongSizes;
use super::near::{NEAR_WORKSPACES, NearSizes};
use super::short::ShortSizes;
use merganser_gpu::GpuConfig;
use merganser_run::GpuShortage;

use crate::Error;
use crate::params::Params;

/// Maximum device memory for long reads, on each device.
const LONG_BYTES: u64 = 2 << 30;
/// Minimum device memory for classifying.
const MIN_BYTES: u64 = 4 << 20;
/// Number of concurrent batches of long reads on each device.
pub(super) const LONG_WORKSPACES: usize = 2;

/// The memory plan of a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    pub(super) tables: u64,
    pub(super) workspaces: usize,
    pub(super) short: ShortSizes,
    pub(super) long: LongSizes,
    /// The sizes of batches of reads to pool, if candidates are pooled.
    pub(super) near: Option<NearSizes>,
}

/// The requirements of batches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needs {
    pub(super) params: Params,
    /// The maximum number of candidates of a read.
    pub(super) most: usize,
    /// Whether candidates are pooled.
    pub(super) pools: bool,
    /// Whether the database has a single part, in which case candidates are pooled as they are found.
    pub(super) one_part: bool,
}

impl Budget {
    pub(super) fn of(device: &Device, config: &GpuConfig, needs: &Needs) -> Result<Budget, Error> {
        let &Needs { params, most, pools, one_part } = needs;
        let available = device.available_beside_inflater(config.memory)?;
        let (ordinal, what) = (device.ordinal(), "classifying");
        let needed = MIN_BYTES;
        if available < needed {
            return Err(too_little_memory(ordinal, what, available, needed));
        }
        let all = merganser_run::Budget::of_device(available).left();
        let (streams, whole) =
            (config.streams.max(1) as u64, ShortSizes::whole(most, pools && one_part));
        let working = (all / 4).min(streams * whole.bytes() + LONG_BYTES);
        let long = LongSizes::new(most, working / 2 / LONG_WORKSPACES as u64);
        // Use whole batches if there is room for some of them.
        let short = match working / 8 >= whole.bytes() {
            true => whole,
            false => ShortSizes::new(most, pools && one_part, working / 4),
        };
        let workspaces = (working / 2 / short.bytes()).clamp(1, streams) as usize;
        let near = pools.then(|| NearSizes::new(&params, most, working / 16));
        let used = short.bytes() * workspaces as u64
            + long.bytes() * LONG_WORKSPACES as u64
            + near.map_or(0, |near| near.bytes()) * NEAR_WORKSPACES as u64;
        Ok(Budget { tables: all.saturating_sub(used), workspaces, short, long, near })
    }
}

/// The index of a device and the parts placed on it.
pub(super) type Placed = (usize, Vec<usize>);

/// Returns the numbers of reads and of letters that fit into a workspace of a set: the minimum over its devices, as
/// they all get the same reads.
pub(super) fn room(members: &[Placed], budgets: &[Budget]) -> [usize; 2] {
    let least = |room: fn(&ShortSizes) -> usize| {
        members.iter().map(|(at, _)| room(&budgets[*at].short)).min().unwrap_or(0)
    };
    [least(|sizes| sizes.reads), least(|sizes| sizes.letters)]
}

/// Places parts on devices. Returns sets of devices with the parts of each device, and the parts that fit nowhere.
/// Each device is a set with all parts, or else all devices form one set.
pub(super) fn place(
    sizes: &[u64],
    budgets: &[Budget],
    targets: u64,
) -> (Vec<Vec<Placed>>, Vec<usize>) {
    let all: u64 = sizes.iter().sum::<u64>() + targets;
    if budgets.iter().all(|budget| all <= budget.tables) {
        let whole = |at| vec![(at, (0..sizes.len()).collect())];
        return ((0..budgets.len()).map(whole).collect(), Vec::new());
    }
    let mut left: Vec<u64> =
        budgets.iter().map(|budget| budget.tables.saturating_sub(targets)).collect();
    let mut members: Vec<Placed> = (0..budgets.len()).map(|at| (at, Vec::new())).collect();
    let mut rest = Vec::new();
    for (part, &bytes) in sizes.iter().enumerate() {
        let roomiest = (0..left.len()).max_by_key(|&at| left[at]);
        match roomiest.filter(|&at| left[at] >= bytes) {
            Some(at) => {
                left[at] -= bytes;
                members[at].1.push(part);
            }
            None => rest.push(part),
        }
    }
    members.retain(|(_, parts)| !parts.is_empty());
    (vec![members], rest)
}

/// Returns the error of a device that has too little memory.
pub(super) fn too_little_memory(
    ordinal: u32,
    what: &'static str,
    available: u64,
    needed: u64,
) -> Error {
    let remedy = "build the database with `max_part_size`, ";
    GpuShortage { ordinal, what, available, needed, remedy }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_go_where_there_is_room() {
        let budget = |tables| {
            let (short, long) = (ShortSizes::new(2, false, 1 << 20), LongSizes::new(2, 1 << 24));
            Budget { tables, workspaces: 1, short, long, near: None }
        };
        let whole = vec![0, 1];
        let placed = place(&[50, 40], &[budget(91), budget(91)], 1);
        assert_eq!(placed, (vec![vec![(0, whole.clone())], vec![(1, whole)]], vec![]));
        let placed = place(&[50, 40], &[budget(51), budget(51)], 1);
        assert_eq!(
            placed,
            (vec![vec![(1, vec![0]), (0, vec![1])].into_iter().rev().collect()], vec![])
        );
        let placed = place(&[50, 40, 30], &[budget(80)], 1);
        assert_eq!(placed, (vec![vec![(0, vec![0])]], vec![1, 2]));
        assert_eq!(place(&[50], &[budget(9)], 1), (vec![vec![]], vec![0]));
    }
}
