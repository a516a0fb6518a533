//! Sets of devices that hold a database together, and the workspaces of batches on them.

use merganser_gpu::{BufferPool, Device, DeviceBuffer};
use merganser_run::{join, side_by_side, start_scoped};

use super::budget::{Budget, LONG_WORKSPACES, Placed, room};
use super::kernels::Targets;
use super::long::LongWorkspace;
use super::near::{NEAR_WORKSPACES, NearWorkspace};
use super::short::{Known, ShortSizes, ShortWorkspace};
use super::table::DeviceTable;
use super::times::DeviceClock;
use crate::Error;
use crate::candidates::MergedCandidates;
use crate::database::Section;

/// A set of devices that together hold all parts that are on devices.
pub(super) struct Set {
    pub(super) members: Vec<Member>,
    pub(super) workspaces: BufferPool<Workspace>,
    /// The numbers of reads and of letters that fit into a workspace.
    pub(super) room: [usize; 2],
}

/// The data on one device.
pub(super) struct Member {
    /// The parts with their numbers.
    pub(super) parts: Vec<(usize, DeviceTable)>,
    starts: DeviceBuffer<u32>,
    taxa: DeviceBuffer<u32>,
    nodes: DeviceBuffer<u32>,
    several: DeviceBuffer<u8>,
    pub(super) long: BufferPool<LongWorkspace>,
    /// Workspaces for pooling, if candidates are pooled.
    pub(super) near: Option<BufferPool<NearWorkspace>>,
    pub(super) clock: DeviceClock,
}

impl Member {
    pub(super) fn targets(&self) -> Targets<'_> {
        Targets { starts: self.starts.view(), taxa: self.taxa.view(), nodes: self.nodes.view() }
    }

    /// Returns the data that batches need, with `near` as the rule of near candidates.
    pub(super) fn known(&self, near: u32) -> Known<'_> {
        Known { targets: self.targets(), several: self.several.view(), near }
    }
}

/// The working space of a batch: one workspace on each device of the set.
pub(super) struct Workspace {
    pub(super) short: Vec<ShortWorkspace>,
    /// The reads for these workspaces.
    pub(super) numbers: Vec<usize>,
    pub(super) found: MergedCandidates,
    /// The reads that take the path of long reads.
    pub(super) long: Vec<usize>,
}

/// The data to load onto devices.
pub(super) struct Filling<'f> {
    pub(super) devices: &'f [Device],
    pub(super) budgets: &'f [Budget],
    /// The sections of the parts; empty for parts that are on the device already.
    pub(super) parts: &'f [Vec<Section<'f>>],
    /// The parts that are on the device already.
    pub(super) tables: Option<&'f [DeviceTable]>,
    /// The first window of each target, and the number of all windows.
    pub(super) starts: &'f [u32],
    /// The taxon of each target at the lowest rank.
    pub(super) taxa: &'f [u32],
    /// The node of each target.
    pub(super) nodes: &'f [u32],
    /// Whether the taxon of each target has further targets.
    pub(super) several: &'f [u8],
    /// The number of concurrent batches on each device.
    pub(super) streams: usize,
}

impl Filling<'_> {
    /// Loads the data onto the devices of all sets concurrently.
    ///
    /// # Errors
    /// If a device fails.
    pub(super) fn sets(&self, placed: &[Vec<Placed>]) -> Result<Vec<Set>, Error> {
        let threads = self.streams.div_ceil(placed.len().max(1));
        side_by_side(placed, |members| self.set(members, threads))
    }

    fn set(&self, members: &[Placed], threads: usize) -> Result<Set, Error> {
        let workspaces = workspaces(members, self.devices, self.budgets);
        // Allocating pinned memory and copying tables both take long, and overlap.
        let made = std::thread::scope(|scope| {
            let warm = start_scoped(scope, || workspaces.warm())?;
            let member = |placed| self.member(placed, threads);
            let made: Result<Vec<_>, Error> = members.iter().map(member).collect();
            join(warm)?;
            made
        })?;
        Ok(Set { workspaces, members: made, room: room(members, self.budgets) })
    }

    fn member(&self, (at, numbers): &Placed, threads: usize) -> Result<Member, Error> {
        let (device, budget) = (&self.devices[*at], self.budgets[*at]);
        let stream = device.stream()?;
        let mut member = Member {
            clock: DeviceClock::new(&stream)?,
            parts: Vec::new(),
            starts: device.alloc(self.starts.len())?,
            taxa: device.alloc(self.taxa.len())?,
            nodes: device.alloc(self.nodes.len())?,
            several: device.alloc(self.several.len())?,
            long: {
                let device = device.clone();
                BufferPool::new(LONG_WORKSPACES, move || LongWorkspace::new(&device, budget.long))
            },
            near: budget.near.map(|sizes| {
                let device = device.clone();
                BufferPool::new(NEAR_WORKSPACES, move || NearWorkspace::new(&device, sizes))
            }),
        };
        stream.upload_now(self.starts, member.starts.view_mut())?;
        stream.upload_now(self.taxa, member.taxa.view_mut())?;
        stream.upload_now(self.nodes, member.nodes.view_mut())?;
        stream.upload_now(self.several, member.several.view_mut())?;
        for &number in numbers {
            let table = match self.tables {
                Some(tables) => tables[number].clone(),
                None => DeviceTable::upload(device, &self.parts[number], threads)?,
            };
            member.parts.push((number, table));
        }
        Ok(member)
    }
}

/// Creates the pool of workspaces on the devices of a set, which are allocated when first needed.
fn workspaces(members: &[Placed], devices: &[Device], budgets: &[Budget]) -> BufferPool<Workspace> {
    let of_set = members.iter().map(|(at, _)| budgets[*at]);
    let workspaces = of_set.map(|budget| budget.workspaces).min().unwrap_or(1);
    let each: Vec<(Device, ShortSizes, usize)> = members
        .iter()
        .map(|(at, parts)| (devices[*at].clone(), budgets[*at].short, parts.len()))
        .collect();
    let [reads, letters] = room(members, budgets);
    BufferPool::new(workspaces, move || {
        let short = |(device, sizes, parts): &(Device, ShortSizes, usize)| {
            ShortWorkspace::new(device, ShortSizes { letters, reads, ..*sizes }, *parts)
        };
        let short = each.iter().map(short).collect::<merganser_gpu::Result<_>>()?;
        let found = MergedCandidates::default();
        Ok(Workspace { short, numbers: Vec::new(), found, long: Vec::new() })
    })
}
