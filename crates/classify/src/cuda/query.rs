//! Asking the devices: which holds what, and who asks when.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use merganser_gpu::{Device, Pooled};

use super::found::Found;
use super::kernels::SketchRule;
use super::layout::Resident;
use super::place::{Budget, place, too_little_memory};
use super::set::{Filling, Member, Set, Workspace};
use super::short::{SHORT_WINDOWS, ShortSizes};
use super::table::table_bytes;
use super::times::GpuTimes;
use super::{GpuConfig, GpuNotes};
use crate::cpu::query::{Query, QueryParams, Scratch};
use crate::database::Section;
use crate::decide::Candidate;
use crate::{Database, Error};

/// A database on devices.
pub(crate) struct GpuQuery<'a> {
    database: &'a Database,
    options: QueryParams,
    rule: SketchRule,
    taxa: Vec<u32>,
    /// Groups of devices that hold the same.
    sets: Vec<Set>,
    next: AtomicUsize,
    /// For parts that no device has room for.
    rest: Option<Box<Query<'a>>>,
    /// Those parts.
    left: Vec<usize>,
    /// For single reads.
    whole: Box<Query<'a>>,
    reads_here: AtomicU64,
    names: Vec<String>,
}

impl std::fmt::Debug for GpuQuery<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GpuQuery").field("sets", &self.sets.len()).finish_non_exhaustive()
    }
}

/// The tables that are on the only device that is asked for already, or, with the database in
/// memory, none; and the devices.
fn open<'d>(
    database: &'d Database,
    config: &GpuConfig,
) -> Result<(Option<&'d Resident>, Vec<Device>), Error> {
    let here = database.resident().filter(|it| config.devices == [it.device.ordinal()]);
    let devices = match here {
        Some(tables) => vec![tables.device.clone()],
        None => Device::open_all(&config.devices)?,
    };
    if here.is_none() {
        database.fetch()?;
    }
    Ok((here, devices))
}

impl<'a> GpuQuery<'a> {
    /// Opens the devices and copies to them as many of the parts `asked` as there is room for: all of
    /// them to each, or else one to this and one to that device. The others are left, or, if `host`,
    /// asked by the host.
    ///
    /// # Errors
    /// If a device cannot be used, or there is no room for a single part.
    pub(crate) fn new(
        database: &'a Database,
        options: QueryParams,
        config: &GpuConfig,
        asked: &[usize],
        host: bool,
    ) -> Result<GpuQuery<'a>, Error> {
        let whole = Query::new(database, options);
        let taxa = whole.taxa().to_vec();
        let (here, devices) = open(database, config)?;
        let most = options.max_candidates;
        let budgets = devices
            .iter()
            .map(|device| Budget::of(device, config, most))
            .collect::<Result<Vec<_>, _>>()?;
        // Of tables that are there already, none.
        let sections = |&part: &usize| match here {
            Some(_) => Vec::new(),
            None => database.sections(part),
        };
        let parts: Vec<Vec<Section<'a>>> = asked.iter().map(sections).collect();
        let sizes: Vec<u64> = parts.iter().map(|part| table_bytes(part)).collect();
        let targets = 12 * (database.targets().len() as u64 + 1);
        let (placed, rest) = match here {
            Some(_) => (vec![vec![(0, (0..parts.len()).collect())]], Vec::new()),
            None => place(&sizes, &budgets, targets),
        };
        if rest.len() == parts.len() {
            let needed = sizes.iter().min().copied().unwrap_or(0) + targets;
            let (ordinal, what) = (devices[0].ordinal(), "the tables of the database");
            return Err(too_little_memory(ordinal, what, budgets[0].tables, needed));
        }
        let starts: Vec<u32> =
            (0..=database.targets().len() as u32).map(|at| database.first_window(at)).collect();
        let filling = Filling {
            devices: &devices,
            budgets: &budgets,
            parts: &parts,
            tables: here.map(|tables| &tables.parts[..]),
            starts: &starts,
            taxa: &taxa,
            nodes: whole.nodes(),
            streams: config.streams,
        };
        let sets = filling.sets(&placed)?;
        let left: Vec<usize> = rest.iter().map(|&at| asked[at]).collect();
        let rest = (host && !left.is_empty())
            .then(|| Box::new(Query::new(database, options).with_parts(&left)));
        Ok(GpuQuery {
            database,
            options,
            rule: SketchRule::new(database.params()),
            taxa,
            sets,
            next: AtomicUsize::new(0),
            rest,
            left,
            whole: Box::new(whole),
            reads_here: AtomicU64::new(0),
            names: devices.iter().map(|device| device.info().name.clone()).collect(),
        })
    }

    /// Parts that no device has room for.
    pub(crate) fn left(&self) -> &[usize] {
        &self.left
    }

    /// What the devices are, and did or did not do.
    pub(crate) fn notes(&self) -> GpuNotes {
        let mut times = GpuTimes::default();
        let members = self.sets.iter().flat_map(|set| &set.members);
        members.for_each(|member| times.add(&member.clock.times()));
        GpuNotes {
            names: self.names.clone(),
            rounds: 1,
            parts_on_host: self.rest.as_ref().map_or(0, |rest| rest.part_count()),
            reads_on_host: self.reads_here.load(Ordering::Relaxed),
            times,
        }
    }

    /// How many records, and bytes of them, a batch should have: as a rule, all sets have room for it.
    pub(crate) fn batch(&self) -> [usize; 2] {
        [0, 1].map(|at| self.sets.iter().map(|set| set.room[at]).min().unwrap_or(1))
    }

    /// As [`Query::candidates`].
    ///
    /// # Errors
    /// If a device fails.
    pub(crate) fn candidates(
        &self,
        reads: &[[&[u8]; 2]],
        scratch: &mut Scratch,
        candidates: &mut Vec<Candidate>,
        ends: &mut Vec<usize>,
    ) -> Result<(), Error> {
        let Some(mut flight) = self.place(true)? else { return Ok(()) };
        self.start(&mut flight, reads)?;
        self.finish(flight, reads, scratch, candidates, ends)
    }

    /// A place for a batch on the devices whose turn it is, or on the next ones that have one free;
    /// if none has, waits for one, or gives `None`.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub(crate) fn place(&self, wait: bool) -> Result<Option<Flight>, Error> {
        let (first, sets) = (self.next.fetch_add(1, Ordering::Relaxed), self.sets.len());
        for set in (first..first + sets).map(|at| at % sets) {
            if let Some(workspace) = self.sets[set].workspaces.try_take()? {
                return Ok(Some(Flight { set, workspace, taken: 0 }));
            }
        }
        let set = first % sets;
        let workspace = wait.then(|| self.sets[set].workspaces.take()).transpose()?;
        Ok(workspace.map(|workspace| Flight { set, workspace, taken: 0 }))
    }

    /// Sends `reads` to the devices, as many as there is room for at a time, and does not wait.
    ///
    /// # Errors
    /// If a device fails.
    pub(crate) fn start(&self, flight: &mut Flight, reads: &[[&[u8]; 2]]) -> Result<(), Error> {
        let Flight { set, workspace, taken } = flight;
        *taken = self.fill(workspace, reads);
        let members = &self.sets[*set].members;
        let Workspace { short, numbers, .. } = &mut **workspace;
        for (one, member) in short.iter_mut().zip(members) {
            one.load(numbers, reads, |bases| self.range(bases))?;
            one.start(&self.rule, &member.parts, member.targets())?;
        }
        Ok(())
    }

    /// Chooses the reads that go first; gives their number.
    fn fill(&self, workspace: &mut Workspace, reads: &[[&[u8]; 2]]) -> usize {
        let params = self.database.params();
        workspace.numbers.clear();
        workspace.long.clear();
        let ShortSizes { letters, reads: room, .. } = workspace.short[0].sizes;
        // Most reads are short enough whatever their number of windows.
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

    /// Waits for the candidates of the reads that were sent, and of those for which there was no
    /// room yet: appends them, and where those of each read end.
    ///
    /// # Errors
    /// If a device fails.
    pub(crate) fn finish(
        &self,
        mut flight: Flight,
        reads: &[[&[u8]; 2]],
        scratch: &mut Scratch,
        candidates: &mut Vec<Candidate>,
        ends: &mut Vec<usize>,
    ) -> Result<(), Error> {
        let mut rest = reads;
        loop {
            let set = &self.sets[flight.set];
            let (now, later) = rest.split_at(flight.taken);
            self.collect(set, &mut flight.workspace, now, scratch, candidates, ends)?;
            rest = later;
            if rest.is_empty() {
                return Ok(());
            }
            self.start(&mut flight, rest)?;
        }
    }

    fn collect(
        &self,
        set: &Set,
        workspace: &mut Workspace,
        reads: &[[&[u8]; 2]],
        scratch: &mut Scratch,
        candidates: &mut Vec<Candidate>,
        ends: &mut Vec<usize>,
    ) -> Result<(), Error> {
        for (one, member) in workspace.short.iter_mut().zip(&set.members) {
            one.tell(&member.clock)?;
        }
        let only = set.members.len() == 1 && set.members[0].parts.len() == 1;
        if only && self.rest.is_none() {
            let (database, taxa) = (self.database, &self.taxa);
            let one = &mut workspace.short[0];
            if one.collect_all(reads.len(), database, taxa, candidates, ends)? {
                return Ok(());
            }
        }
        self.merge(set, workspace, reads, scratch)?;
        for read in 0..reads.len() {
            candidates.extend_from_slice(workspace.found.of(read));
            ends.push(candidates.len());
        }
        Ok(())
    }

    /// Windows of a run.
    fn range(&self, bases: u64) -> u32 {
        let range = 2 + bases.max(self.options.insert) / u64::from(self.database.params().stride);
        u32::try_from(range).unwrap_or(u32::MAX)
    }

    /// Merges what the devices have found for `reads`, which were sent, with what they had no room
    /// for.
    fn merge(
        &self,
        set: &Set,
        workspace: &mut Workspace,
        reads: &[[&[u8]; 2]],
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let Workspace { short, found, long, .. } = workspace;
        found.reset(reads.len(), self.options.max_candidates);
        // The host looks at what is not there.
        if let Some(rest) = &self.rest {
            let (mut candidates, mut ends) = (Vec::new(), Vec::new());
            rest.candidates(reads, scratch, &mut candidates, &mut ends);
            let mut start = 0;
            for (read, &end) in ends.iter().enumerate() {
                found.merge(read, candidates[start..end].iter().copied());
                start = end;
            }
        }
        for (one, member) in short.iter_mut().zip(&set.members) {
            for at in 0..member.parts.len() {
                one.collect(at, self.database, &self.taxa, found, long)?;
            }
        }
        // What one part has answered may be answered again: that changes nothing.
        long.sort_unstable();
        long.dedup();
        let mut left = Vec::new();
        for member in set.members.iter().filter(|_| !long.is_empty()) {
            self.ask_long(member, reads, long, found, &mut left)?;
        }
        left.sort_unstable();
        left.dedup();
        self.reads_here.fetch_add(left.len() as u64, Ordering::Relaxed);
        if !left.is_empty() {
            self.database.fetch()?;
        }
        for read in left {
            let (mut candidates, mut ends) = (Vec::new(), Vec::new());
            self.whole.candidates(&reads[read..=read], scratch, &mut candidates, &mut ends);
            found.merge(read, candidates.into_iter());
        }
        Ok(())
    }

    /// Finds the candidates of long reads in the parts of a device; what it has no room for is
    /// `left`.
    fn ask_long(
        &self,
        member: &Member,
        reads: &[[&[u8]; 2]],
        long: &[usize],
        found: &mut Found,
        left: &mut Vec<usize>,
    ) -> Result<(), Error> {
        let mut workspace = member.long.take()?;
        let params = self.database.params();
        let mut rest = long;
        while !rest.is_empty() {
            let mut taken = workspace.load(rest, reads, params, |bases| self.range(bases))?;
            if taken == 0 {
                left.push(rest[0]);
                taken = 1;
            }
            rest = &rest[taken..];
            for (_, table) in &member.parts {
                let (part, targets) = (table.view(), member.targets());
                workspace.ask(&self.rule, part, targets, self.database, &self.taxa, found, left)?;
            }
        }
        Ok(())
    }
}

/// A batch on its way: what it needs on each device of a set, and how many of its reads were sent.
pub(crate) struct Flight {
    set: usize,
    workspace: Pooled<Workspace>,
    taken: usize,
}

impl Flight {
    /// Whether the devices are done with what was sent.
    ///
    /// # Errors
    /// If one failed.
    pub(crate) fn is_done(&self) -> Result<bool, Error> {
        for one in &self.workspace.short {
            if !one.is_done()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits until they are.
    ///
    /// # Errors
    /// If one failed.
    pub(crate) fn wait(&self) -> Result<(), Error> {
        self.workspace.short.iter().try_for_each(|one| Ok(one.wait()?))
    }
}
