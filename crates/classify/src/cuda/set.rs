//! Devices that hold a database together, and what batches need on them.

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

/// Devices that together hold the parts that are on devices.
pub(super) struct Set {
    pub(super) members: Vec<Member>,
    pub(super) workspaces: BufferPool<Workspace>,
    /// Reads and letters that a workspace has room for.
    pub(super) room: [usize; 2],
}

/// What one device holds.
pub(super) struct Member {
    /// With their numbers.
    pub(super) parts: Vec<(usize, DeviceTable)>,
    starts: DeviceBuffer<u32>,
    taxa: DeviceBuffer<u32>,
    nodes: DeviceBuffer<u32>,
    several: DeviceBuffer<u8>,
    pub(super) long: BufferPool<LongWorkspace>,
    /// If candidates are pooled.
    pub(super) near: Option<BufferPool<NearWorkspace>>,
    pub(super) clock: DeviceClock,
}

impl Member {
    pub(super) fn targets(&self) -> Targets<'_> {
        Targets { starts: self.starts.view(), taxa: self.taxa.view(), nodes: self.nodes.view() }
    }

    /// What a batch is told, if candidates are near that have fewer hits by less than `near`.
    pub(super) fn known(&self, near: u32) -> Known<'_> {
        Known { targets: self.targets(), several: self.several.view(), near }
    }
}

/// What a batch needs: a workspace on each device of the set.
pub(super) struct Workspace {
    pub(super) short: Vec<ShortWorkspace>,
    /// Reads for them.
    pub(super) numbers: Vec<usize>,
    pub(super) found: MergedCandidates,
    /// Reads that take the path of long ones.
    pub(super) long: Vec<usize>,
}

/// What devices are filled with, and how.
pub(super) struct Filling<'f> {
    pub(super) devices: &'f [Device],
    pub(super) budgets: &'f [Budget],
    /// Sections of the parts, none of those that are there.
    pub(super) parts: &'f [Vec<Section<'f>>],
    /// Parts that are there already.
    pub(super) tables: Option<&'f [DeviceTable]>,
    /// The first window of each target, and the number of all.
    pub(super) starts: &'f [u32],
    /// The taxon of each target at the lowest rank.
    pub(super) taxa: &'f [u32],
    /// The node of each target.
    pub(super) nodes: &'f [u32],
    /// Whether the taxon of each target has others.
    pub(super) several: &'f [u8],
    /// Batches on each device at a time.
    pub(super) streams: usize,
}

impl Filling<'_> {
    /// Fills the devices of all sets, side by side.
    ///
    /// # Errors
    /// If a device fails.
    pub(super) fn sets(&self, placed: &[Vec<Placed>]) -> Result<Vec<Set>, Error> {
        let threads = self.streams.div_ceil(placed.len().max(1));
        side_by_side(placed, |members| self.set(members, threads))
    }

    fn set(&self, members: &[Placed], threads: usize) -> Result<Set, Error> {
        let workspaces = workspaces(members, self.devices, self.budgets);
        // Pinned memory takes long to get, and so do tables to copy.
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

/// Workspaces over the devices of a set, made when they are needed.
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
