//! Sets of devices that hold a database together, and the workspaces of batches on them.

use std::sync::{Arc, OnceLock};

use merganser_gpu::{BufferPool, Device, DeviceBuffer, Result as GpuResult, Upload, Uploaded};
use merganser_run::Cancel;

use super::budget::{Budget, LONG_WORKSPACES, Placed, room};
use super::kernels::Targets;
use super::long::LongWorkspace;
use super::near::{NEAR_WORKSPACES, NearWorkspace};
use super::short::{Known, ShortSizes, ShortWorkspace};
use super::table::{DeviceTable, contents, places, word_count};
use super::times::DeviceClock;
use crate::candidates::{MergedCandidates, TargetTaxa};
use crate::database::{Origin, Section};
use crate::{Database, Error};

/// A set of devices that together hold all parts that are on devices.
pub(super) struct Set {
    /// The devices with their data, once they are filled.
    pub(super) members: OnceLock<Vec<Member>>,
    pub(super) workspaces: BufferPool<Workspace>,
    /// The numbers of reads and of letters that fit into a workspace.
    pub(super) room: [usize; 2],
}

impl Set {
    /// Creates a set whose devices are not filled yet.
    pub(super) fn new(placed: &[Placed], devices: &[Device], budgets: &[Budget]) -> Set {
        let workspaces = workspaces(placed, devices, budgets);
        Set { members: OnceLock::new(), workspaces, room: room(placed, budgets) }
    }

    /// Returns the devices with their data.
    ///
    /// # Panics
    /// If they are not filled.
    pub(super) fn members(&self) -> &[Member] {
        self.members.get().expect("devices are filled before use")
    }
}

/// The data on one device.
pub(super) struct Member {
    pub(super) parts: Vec<HeldPart>,
    /// The first window of each target, and the end of the last window, counted in the database that the target is of:
    /// of one database after the other.
    starts: DeviceBuffer<u32>,
    taxa: DeviceBuffer<u32>,
    nodes: DeviceBuffer<u32>,
    several: DeviceBuffer<u8>,
    pub(super) long: BufferPool<LongWorkspace>,
    /// Workspaces for pooling, if candidates are pooled.
    pub(super) near: Option<BufferPool<NearWorkspace>>,
    pub(super) clock: DeviceClock,
}

/// A part on a device.
pub(super) struct HeldPart {
    pub(super) table: DeviceTable,
    /// The targets that it refers to.
    pub(super) origin: Origin,
}

impl Member {
    /// Returns the targets that a part refers to, numbered from the first of them.
    pub(super) fn targets(&self, HeldPart { origin, .. }: &HeldPart) -> Targets<'_> {
        let own = origin.targets.start as usize..origin.targets.end as usize;
        // Each database has one start more than targets.
        let starts = own.start + origin.number..own.end + origin.number + 1;
        Targets {
            starts: self.starts.slice(starts),
            taxa: self.taxa.slice(own.clone()),
            nodes: self.nodes.slice(own),
        }
    }

    /// Returns the tables of all parts, each with the data that batches need, and `near` as the rule of near candidates.
    pub(super) fn known(&self, near: u32) -> Vec<(&DeviceTable, Known<'_>)> {
        let known = |part: &HeldPart| {
            let own = part.origin.targets.start as usize..part.origin.targets.end as usize;
            Known { targets: self.targets(part), several: self.several.slice(own), near }
        };
        self.parts.iter().map(|part| (&part.table, known(part))).collect()
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

/// The devices that have a part, each with the part's table there.
type Copies = Vec<(usize, DeviceTable)>;

/// The data to load onto devices.
pub(super) struct Filling<'f> {
    pub(super) database: &'f Database,
    pub(super) devices: &'f [Device],
    pub(super) budgets: &'f [Budget],
    /// The sections of the parts; empty for parts that are on the device already.
    pub(super) parts: &'f [Vec<Section<'f>>],
    /// The targets that each part refers to.
    pub(super) origins: &'f [Origin],
    /// The parts that are on the device already.
    pub(super) tables: Option<&'f [DeviceTable]>,
    /// The taxon of each target at the lowest rank, and its node.
    pub(super) taxa: &'f TargetTaxa,
}

impl Filling<'_> {
    /// Loads the data onto the devices of all sets. Returns the devices of each set.
    ///
    /// # Errors
    /// If the tables cannot be read, or a device fails; if cancelled.
    pub(super) fn members(
        &self,
        placed: &[Vec<Placed>],
        threads: usize,
        cancel: &Cancel,
    ) -> Result<(Vec<Vec<Member>>, Uploaded), Error> {
        let TargetTaxa { taxa, .. } = self.taxa;
        let several: Vec<u8> =
            (0..taxa.len()).map(|target| u8::from(self.taxa.has_several(target))).collect();
        let (tables, uploaded) = match self.tables {
            Some(tables) => (tables.iter().map(|table| vec![(0, table.clone())]).collect(), None),
            None => {
                let (tables, uploaded) = self.upload(placed, threads, cancel)?;
                (tables, Some(uploaded))
            }
        };
        let member = |placed: &Placed| self.member(placed, &tables, &several);
        let set = |members: &Vec<Placed>| members.iter().map(member).collect();
        let sets = placed.iter().map(set).collect::<Result<_, _>>()?;
        Ok((sets, uploaded.unwrap_or_default()))
    }

    /// Copies the tables of all parts to their devices.
    fn upload(
        &self,
        placed: &[Vec<Placed>],
        threads: usize,
        cancel: &Cancel,
    ) -> Result<(Vec<Copies>, Uploaded), Error> {
        let alloc = |(number, sections): (usize, &Vec<Section<'_>>)| {
            let holds = placed.iter().flatten().filter(|(_, parts)| parts.contains(&number));
            let words = word_count(sections).max(1);
            holds.map(|&(at, _)| Ok((at, self.devices[at].alloc::<u64>(words)?))).collect()
        };
        let mut words: Vec<Vec<(usize, DeviceBuffer<u64>)>> =
            self.parts.iter().enumerate().map(alloc).collect::<GpuResult<_>>()?;
        let mut upload = Upload::new(self.devices)?;
        for (words, sections) in words.iter_mut().zip(self.parts) {
            let len = word_count(sections);
            let targets = words.iter_mut().map(|(at, words)| (*at, words.slice_mut(..len)));
            upload.add(contents(sections), targets);
        }
        let uploaded = upload.run(threads, cancel, |part, to| self.database.read(part, to))?;
        let tables = words.into_iter().zip(self.parts).map(|(words, sections)| {
            let places = places(sections);
            let table = |(at, words)| Ok((at, DeviceTable::at(&Arc::new(words), &places)?));
            words.into_iter().map(table).collect()
        });
        Ok((tables.collect::<Result<_, Error>>()?, uploaded))
    }

    fn member(
        &self,
        (at, numbers): &Placed,
        tables: &[Copies],
        several: &[u8],
    ) -> Result<Member, Error> {
        let (device, budget) = (&self.devices[*at], self.budgets[*at]);
        let (starts, TargetTaxa { taxa, nodes, .. }) = (self.database.own_starts(), self.taxa);
        let stream = device.stream()?;
        let own = |&number: &usize| {
            let here = tables[number].iter().find(|(device, _)| device == at);
            let origin = self.origins[number].clone();
            here.map(|(_, table)| HeldPart { table: table.clone(), origin })
        };
        let mut member = Member {
            clock: DeviceClock::new(&stream)?,
            parts: numbers.iter().filter_map(own).collect(),
            starts: device.alloc(starts.len())?,
            taxa: device.alloc(taxa.len())?,
            nodes: device.alloc(nodes.len())?,
            several: device.alloc(several.len())?,
            long: {
                let device = device.clone();
                BufferPool::new(LONG_WORKSPACES, move || LongWorkspace::new(&device, budget.long))
            },
            near: budget.near.map(|sizes| {
                let device = device.clone();
                BufferPool::new(NEAR_WORKSPACES, move || NearWorkspace::new(&device, sizes))
            }),
        };
        stream.upload_now(&starts, member.starts.view_mut())?;
        stream.upload_now(taxa, member.taxa.view_mut())?;
        stream.upload_now(nodes, member.nodes.view_mut())?;
        stream.upload_now(several, member.several.view_mut())?;
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
