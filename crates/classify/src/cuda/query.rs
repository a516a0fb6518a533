//! Queries devices: copies the database to them, and schedules batches.

use std::sync::{Arc, Mutex};

use merganser_gpu::ingest::DeviceInflater;
use merganser_gpu::{Device, DeviceInfo, Pooled, Uploaded};
use merganser_inflate::InflateAhead;
use merganser_run::locks::lock;
use merganser_run::{Cancel, Context, RoundRobin, join, start_scoped};

use super::answers::Answers;
use super::budget::{Budget, Needs, Placed, place, too_little_memory};
use super::kernels::{Asked, SketchRule};
use super::layout::Resident;
use super::near::NearRead;
use super::set::{Filling, HeldPart, Member, Set, Workspace};
use super::short::{SHORT_WINDOWS, ShortSizes};
use super::table::table_bytes;
use super::times::GpuTimes;
use crate::candidates::{Candidate, MergedCandidates, QueryParams, Seen, TargetTaxa};
use crate::database::{Origin, Section};
use crate::{Database, Error};
use merganser_gpu::GpuConfig;

/// A database on devices, once they are [filled](GpuQuery::fill).
pub(crate) struct GpuQuery<'a> {
    database: &'a Database,
    params: QueryParams,
    rule: SketchRule,
    taxa: TargetTaxa,
    /// The sets of devices; the devices of a set hold all these parts together.
    sets: Vec<Set>,
    turns: RoundRobin,
    /// The parts that no device has room for.
    left: Vec<usize>,
    devices: Vec<Device>,
    budgets: Vec<Budget>,
    /// The sections of the parts; empty for parts that are on the device already.
    parts: Vec<Vec<Section<'a>>>,
    /// The targets that each part refers to.
    origins: Vec<Origin>,
    /// The tables that are on the device already.
    here: Option<&'a Resident>,
    /// The parts of each device of each set.
    placed: Vec<Vec<Placed>>,
    threads: usize,
    /// The copy of the tables to the devices, once it is done. Locked meanwhile.
    uploaded: Mutex<Option<Uploaded>>,
}

impl std::fmt::Debug for GpuQuery<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GpuQuery").field("sets", &self.sets.len()).finish_non_exhaustive()
    }
}

/// Opens the devices. If the only requested device holds the tables already, returns these; otherwise brings the
/// tables to the host's memory.
fn open<'d>(
    database: &'d Database,
    config: &GpuConfig,
) -> Result<(Option<&'d Resident>, Vec<Device>), Error> {
    let here =
        database.tables_left_in::<Resident>().filter(|it| config.devices == [it.device.ordinal()]);
    if let Some(tables) = here {
        return Ok((here, vec![tables.device.clone()]));
    }
    // Starting CUDA takes as long as checking a few GB.
    let cancel = Cancel::default();
    let (devices, fetched) = std::thread::scope(|scope| {
        let fetching = start_scoped(scope, || database.fetch_unless(config.streams, &cancel))?;
        let devices = Device::open_all(&config.devices).inspect_err(|_| cancel.cancel());
        Ok::<_, Error>((devices, join(fetching)))
    })?;
    let devices = devices?;
    fetched?;
    Ok((None, devices))
}

/// Distributes parts of the given sizes over devices: all of them to each device, or else each to one device.
/// Returns the placement and the parts that fit on no device.
///
/// # Errors
/// If not even one part fits.
fn distribute(
    sizes: &[u64],
    budgets: &[Budget],
    targets: u64,
    first: &Device,
) -> Result<(Vec<Vec<Placed>>, Vec<usize>), Error> {
    let (placed, rest) = place(sizes, budgets, targets);
    if rest.len() < sizes.len() {
        return Ok((placed, rest));
    }
    let needed = sizes.iter().min().copied().unwrap_or(0) + targets;
    let (ordinal, what) = (first.ordinal(), "the tables of the database");
    Err(too_little_memory(ordinal, what, budgets[0].tables, needed))
}

impl<'a> GpuQuery<'a> {
    /// Opens the devices for as many of the parts `asked` as fit: all of them on each device, or else each on one
    /// device. The others are left over.
    ///
    /// # Errors
    /// If a device cannot be used, or not even one part fits.
    pub(crate) fn open(
        database: &'a Database,
        params: QueryParams,
        taxa: TargetTaxa,
        config: &GpuConfig,
        asked: &[usize],
    ) -> Result<GpuQuery<'a>, Error> {
        let (here, devices) = open(database, config)?;
        let pools = params.near > 0 && taxa.several.contains(&true);
        let (most, one_part) = (params.max_candidates, database.parts() == 1);
        let needs = Needs { params: *database.params(), most, pools, one_part };
        let budget = |device| Budget::of(device, config, &needs);
        let budgets = devices.iter().map(budget).collect::<Result<Vec<_>, _>>()?;
        // Tables that are on the device already have no sections on the host.
        let sections = |&part: &usize| match here {
            Some(_) => Vec::new(),
            None => database.sections(part),
        };
        let parts: Vec<Vec<Section<'a>>> = asked.iter().map(sections).collect();
        let (placed, rest) = match here {
            Some(_) => (vec![vec![(0, (0..parts.len()).collect())]], Vec::new()),
            None => {
                let sizes: Vec<u64> = parts.iter().map(|part| table_bytes(part)).collect();
                let targets = 13 * (database.targets().len() as u64 + 1);
                distribute(&sizes, &budgets, targets, &devices[0])?
            }
        };
        let sets = placed.iter().map(|placed| Set::new(placed, &devices, &budgets)).collect();
        Ok(GpuQuery {
            database,
            params,
            rule: SketchRule::new(database.params()),
            taxa,
            sets,
            turns: RoundRobin::default(),
            left: rest.iter().map(|&at| asked[at]).collect(),
            devices,
            budgets,
            parts,
            origins: asked.iter().map(|&part| database.origin(part)).collect(),
            here,
            placed,
            threads: config.streams,
            uploaded: Mutex::default(),
        })
    }

    /// Copies the parts to the devices, unless they are there. Each part is read once.
    ///
    /// # Errors
    /// If the database cannot be read, or a device fails; if cancelled.
    pub(crate) fn fill(&self, cancel: &Cancel) -> Result<(), Error> {
        let mut uploaded = lock(&self.uploaded);
        if uploaded.is_some() {
            return Ok(());
        }
        let filling = Filling {
            database: self.database,
            devices: &self.devices,
            budgets: &self.budgets,
            parts: &self.parts,
            origins: &self.origins,
            tables: self.here.map(|tables| &tables.parts[..]),
            taxa: &self.taxa,
        };
        let (members, done) = filling.members(&self.placed, self.threads, cancel)?;
        for (set, members) in self.sets.iter().zip(members) {
            // The lock ensures that they are missing.
            let _ = set.members.set(members);
        }
        *uploaded = Some(done);
        Ok(())
    }

    /// Returns the parts that no device has room for.
    pub(crate) fn left(&self) -> &[usize] {
        &self.left
    }

    /// Returns an inflater of BGZF files on the first device, if it has memory for that.
    pub(crate) fn inflater(&self, context: &Context) -> Option<Arc<dyn InflateAhead>> {
        Some(DeviceInflater::beside(self.devices.first()?, context.gpu_memory, context.budget()))
    }

    /// Returns the devices, in the order of the request.
    pub(crate) fn devices(&self) -> Vec<DeviceInfo> {
        self.devices.iter().map(|device| device.info().clone()).collect()
    }

    /// Returns the times measured by the devices' clocks.
    pub(crate) fn times(&self) -> GpuTimes {
        let tables = lock(&self.uploaded).unwrap_or_default();
        let mut times = GpuTimes { tables, ..GpuTimes::default() };
        let members = self.sets.iter().filter_map(|set| set.members.get()).flatten();
        members.for_each(|member| times.add(&member.clock.times()));
        times
    }

    /// Returns the data to convert the answers of a part.
    fn answers<'s>(&'s self, HeldPart { origin, .. }: &'s HeldPart) -> Answers<'s> {
        Answers { database: self.database, taxa: &self.taxa.taxa, origin }
    }

    /// Returns the number of records and of bytes that a batch should have so that it usually fits on any set.
    pub(crate) fn batch(&self) -> [usize; 2] {
        [0, 1].map(|at| self.sets.iter().map(|set| set.room[at]).min().unwrap_or(1))
    }

    /// Returns a slot for a batch: on the set whose turn it is, or on the next one with a free slot. Otherwise
    /// waits for a slot or, without `wait`, returns `None`.
    ///
    /// # Errors
    /// If memory for it cannot be allocated.
    pub(crate) fn place(&self, wait: bool) -> Result<Option<Flight>, Error> {
        let (first, sets) = (self.next_set(), self.sets.len());
        for set in (first..first + sets).map(|at| at % sets) {
            if let Some(workspace) = self.sets[set].workspaces.try_take()? {
                return Ok(Some(Flight { set, workspace, taken: 0 }));
            }
        }
        let workspace = wait.then(|| self.sets[first].workspaces.take()).transpose()?;
        Ok(workspace.map(|workspace| Flight { set: first, workspace, taken: 0 }))
    }

    /// Sends as many of `reads` to the devices as fit, without waiting.
    ///
    /// # Errors
    /// If a device fails.
    pub(crate) fn start(&self, flight: &mut Flight, reads: &[[&[u8]; 2]]) -> Result<(), Error> {
        let Flight { set, workspace, taken } = flight;
        *taken = self.select(workspace, reads);
        let members = self.sets[*set].members();
        let Workspace { short, numbers, .. } = &mut **workspace;
        for (one, member) in short.iter_mut().zip(members) {
            one.load(numbers, reads, |bases| self.reach(bases))?;
            one.start(&self.rule, &member.known(self.params.near))?;
        }
        Ok(())
    }

    /// Selects the reads to send first. Returns their number.
    fn select(&self, workspace: &mut Workspace, reads: &[[&[u8]; 2]]) -> usize {
        let params = self.database.params();
        workspace.numbers.clear();
        workspace.long.clear();
        let ShortSizes { letters, reads: room, .. } = workspace.short[0].sizes;
        // Most reads are short enough that their windows need not be counted.
        let stride = u64::from(params.stride);
        let (mut taken, mut filled) = (0, 0);
        while let Some(mates) = reads.get(taken).filter(|_| taken < room) {
            let bases: usize = mates.iter().map(|mate| mate.len()).sum();
            let few = (bases as u64) < (SHORT_WINDOWS - 4) * stride;
            let windows =
                || mates.iter().map(|mate| params.windows(mate.len() as u64)).sum::<u64>();
            if bases > letters || (!few && windows() > SHORT_WINDOWS) {
                workspace.long.push(taken);
            } else if filled + bases <= letters {
                workspace.numbers.push(taken);
                filled += bases;
            } else {
                break;
            }
            taken += 1;
        }
        taken
    }

    /// Waits for the results of the devices, and records their times.
    ///
    /// # Errors
    /// If a device fails.
    pub(crate) fn tell(&self, flight: &Flight) -> Result<(), Error> {
        let members = self.sets[flight.set].members();
        for (one, member) in flight.workspace.short.iter().zip(members) {
            one.tell(&member.clock)?;
        }
        Ok(())
    }

    /// Appends the candidates of all `reads` reads that were sent, and the end of each read's, if a single part on
    /// a single device has answered for all of them. Otherwise returns false.
    ///
    /// # Errors
    /// If a device fails.
    pub(crate) fn collect_all(
        &self,
        flight: &mut Flight,
        reads: usize,
        candidates: &mut Vec<Candidate>,
        ends: &mut Vec<usize>,
    ) -> Result<bool, Error> {
        let members = self.sets[flight.set].members();
        if members.len() != 1 || members[0].parts.len() != 1 {
            return Ok(false);
        }
        let one = &mut flight.workspace.short[0];
        Ok(one.collect_all(reads, self.answers(&members[0].parts[0]), candidates, ends)?)
    }

    /// Whether devices pooled the candidates of a read of the batch when they found them.
    pub(crate) fn has_pooled(&self, flight: &Flight, read: usize) -> bool {
        let Workspace { short, long, .. } = &*flight.workspace;
        short[0].sizes.pools && long.binary_search(&read).is_err()
    }

    /// Notes which near candidates have the features of these reads, in the parts on the devices of a set. Adds to
    /// what other parts found.
    ///
    /// # Errors
    /// If a device fails.
    pub(crate) fn look_again(
        &self,
        set: usize,
        reads: &[NearRead<'_>],
        seen: &mut Seen,
    ) -> Result<(), Error> {
        let params = self.database.params();
        for member in self.sets[set].members() {
            let Some(workspaces) = member.near.as_ref().filter(|_| !reads.is_empty()) else {
                continue;
            };
            let mut workspace = workspaces.take()?;
            let mut done = 0;
            while done < reads.len() {
                let taken = workspace.load(&reads[done..], params)?;
                let parts = member.parts.iter().map(|part| (&part.table, member.targets(part)));
                workspace.ask(&self.rule, parts)?;
                workspace.tell(done..done + taken, seen)?;
                done += taken;
            }
        }
        Ok(())
    }

    /// Returns the set whose turn it is.
    pub(crate) fn next_set(&self) -> usize {
        self.turns.next(self.sets.len())
    }

    /// Returns the maximum number of windows that the hits of a read can span.
    fn reach(&self, bases: u64) -> u32 {
        self.params.reach(bases, self.database.params().stride)
    }

    /// Merges the results of the devices for `reads`, which were sent, into [`Flight::found`]. Returns the reads
    /// whose hits did not fit into device memory.
    ///
    /// # Errors
    /// If a device fails.
    pub(crate) fn collect(
        &self,
        flight: &mut Flight,
        reads: &[[&[u8]; 2]],
    ) -> Result<Vec<usize>, Error> {
        let members = self.sets[flight.set].members();
        let Workspace { short, found, long, .. } = &mut *flight.workspace;
        for (one, member) in short.iter_mut().zip(members) {
            for (at, part) in member.parts.iter().enumerate() {
                one.collect(at, self.answers(part), found, long)?;
            }
        }
        // Parts that have answered already may answer again, which changes nothing.
        long.sort_unstable();
        long.dedup();
        let mut left = Vec::new();
        for member in members.iter().filter(|_| !long.is_empty()) {
            self.ask_long(member, reads, long, found, &mut left)?;
        }
        left.sort_unstable();
        left.dedup();
        Ok(left)
    }

    /// Finds the candidates of long reads in the parts of a device. Reads whose hits do not fit into device memory are
    /// added to `left`.
    fn ask_long(
        &self,
        member: &Member,
        reads: &[[&[u8]; 2]],
        long: &[usize],
        found: &mut MergedCandidates,
        left: &mut Vec<usize>,
    ) -> Result<(), Error> {
        let mut workspace = member.long.take()?;
        let params = self.database.params();
        let mut rest = long;
        while !rest.is_empty() {
            let mut taken = workspace.load(rest, reads, params, |bases| self.reach(bases))?;
            if taken == 0 {
                left.push(rest[0]);
                taken = 1;
            }
            rest = &rest[taken..];
            for part in &member.parts {
                let (rule, targets) = (&self.rule, member.targets(part));
                let asked = Asked { rule, part: part.table.view(), targets };
                workspace.ask(asked, self.answers(part), found, left)?;
            }
        }
        Ok(())
    }
}

/// A batch in flight: its workspaces on the devices of a set, and the number of its reads that were sent.
pub(crate) struct Flight {
    set: usize,
    workspace: Pooled<Workspace>,
    taken: usize,
}

impl Flight {
    /// Returns the set of devices that it is on.
    pub(crate) fn set(&self) -> usize {
        self.set
    }

    /// Returns the number of its reads that were sent.
    pub(crate) fn taken(&self) -> usize {
        self.taken
    }

    /// Returns the merged candidates of the reads that were sent.
    pub(crate) fn found(&mut self) -> &mut MergedCandidates {
        &mut self.workspace.found
    }

    /// Whether the devices have finished the reads that were sent.
    ///
    /// # Errors
    /// If a device failed.
    pub(crate) fn is_done(&self) -> Result<bool, Error> {
        for one in &self.workspace.short {
            if !one.is_done()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits until the devices have finished.
    ///
    /// # Errors
    /// If a device failed.
    pub(crate) fn wait(&self) -> Result<(), Error> {
        self.workspace.short.iter().try_for_each(|one| Ok(one.wait()?))
    }
}
