//! Finds the candidates of reads: sketches, look-ups, hit counts, best runs. Reads are processed in groups large
//! enough for their features to be looked up in the order of the table.

mod clades;
mod hits;
mod lookup;
mod pool;
mod slide;
mod sources;
mod support;

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::Error;
use crate::candidates::{Candidate, NO_TAXON, QueryParams, TargetTaxa};
use crate::database::{Database, Section};
use crate::params::Params;
use crate::sketch::{Sketcher, sketch_all, sketch_some};
use hits::HitCounter;
use lookup::Lookup;
use pool::CandidateFeatures;
pub(crate) use slide::Slider;

/// Approximate number of features that are looked up together: enough for several of them to share each page of the
/// table, at 20 bytes of working space each. (A random slot of 1.7 GB took 40 ns without order, 24 ns with 2^18
/// features at once, 15 ns with 2^20; whole runs with 2^17 and with 2^20 took the same time.)
const GROUP: usize = 1 << 18;
/// The first target of every `STEP` windows is stored; a power of two.
const STEP: usize = 256;

/// A database prepared for queries on the CPU; shared by all workers.
#[derive(Debug)]
pub(crate) struct HostQuery<'a> {
    database: &'a Database,
    prepared: Prepared,
    /// The number of features that are looked up together.
    group: usize,
    /// The number of bases above which a read may have more features than that.
    long: usize,
    /// The numbers of the parts that are queried.
    numbers: Vec<usize>,
    /// The tables of these parts; set when first needed, as a device may have all parts.
    parts: OnceLock<Vec<Part<'a>>>,
}

/// The tables of a part.
#[derive(Debug)]
struct Part<'a> {
    sections: Vec<Section<'a>>,
    /// The number that is added to each location to get that of a window of the database: 0 unless several databases are
    /// used together.
    first_window: u32,
    /// The number of the database with these tables among those that are used together.
    database: usize,
}

impl Part<'_> {
    /// Returns the window of the database for a location. Locations beyond the last window can occur in damaged tables.
    #[inline(always)]
    fn window(&self, location: u32) -> u32 {
        location.saturating_add(self.first_window)
    }

    /// Replaces the locations of hits by windows of the database.
    #[inline]
    fn shift(&self, runs: &mut [(u32, u32)]) {
        if self.first_window > 0 {
            runs.iter_mut().for_each(|run| run.0 = self.window(run.0));
        }
    }
}

/// The prepared data of a query without the database, which can be stored next to it. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    params: QueryParams,
    /// The target of every [`STEP`]-th window.
    step_targets: Arc<[u32]>,
    taxa: TargetTaxa,
}

/// Working space of one worker.
#[derive(Debug)]
pub struct Scratch {
    sketcher: Sketcher,
    features: Vec<u64>,
    /// The end of the features of each read of the group.
    ends: Vec<usize>,
    lookup: Lookup,
    hits: HitCounter,
    runs: Vec<(u32, u32)>,
    pool: CandidateFeatures,
    /// The range of the query's parts to query.
    asked: Range<usize>,
}

impl Scratch {
    /// Restricts queries to some of the query's parts.
    pub(crate) fn ask(self, parts: Range<usize>) -> Scratch {
        Scratch { asked: parts, ..self }
    }
}

impl<'a> HostQuery<'a> {
    /// Prepares `database` for queries.
    pub(crate) fn new(database: &'a Database, params: QueryParams) -> HostQuery<'a> {
        let (step_targets, taxa) =
            (step_targets(database).into(), TargetTaxa::new(database, params.lowest));
        HostQuery::again(database, Prepared { params, step_targets, taxa })
    }

    /// Returns the prepared data, without the database.
    pub(crate) fn prepared(&self) -> Prepared {
        self.prepared.clone()
    }

    /// Creates a query of `database` from data that was prepared for it.
    pub(crate) fn again(database: &'a Database, prepared: Prepared) -> HostQuery<'a> {
        HostQuery {
            database,
            prepared,
            group: GROUP,
            long: long(database, GROUP),
            numbers: (0..database.parts()).collect(),
            parts: OnceLock::new(),
        }
    }

    /// Creates a query of only some parts.
    pub(crate) fn of_parts(&self, parts: &[usize]) -> HostQuery<'a> {
        let numbers = parts.to_vec();
        HostQuery { numbers, ..HostQuery::again(self.database, self.prepared()) }
    }

    /// Sets the approximate number of features that are looked up together.
    pub(crate) fn with_group(self, features: usize) -> HostQuery<'a> {
        HostQuery { group: features, long: long(self.database, features), ..self }
    }

    /// Returns the database.
    pub(crate) fn database(&self) -> &'a Database {
        self.database
    }

    /// Returns the parameters of the query.
    pub(crate) fn params(&self) -> &QueryParams {
        &self.prepared.params
    }

    /// Returns the taxa of the targets.
    pub(crate) fn taxa(&self) -> &TargetTaxa {
        &self.prepared.taxa
    }

    /// Returns the number of parts that are queried.
    pub(crate) fn part_count(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the tables of the parts that are queried.
    fn parts(&self) -> &[Part<'a>] {
        let part = |&part: &usize| {
            let origin = self.database.origin(part);
            let (first_window, database) = (origin.first_window, origin.number);
            Part { sections: self.database.sections(part), first_window, database }
        };
        self.parts.get_or_init(|| self.numbers.iter().map(part).collect())
    }

    /// Finds [`candidates`](Self::candidates) after [fetching](Database::fetch) the tables.
    ///
    /// # Errors
    /// Fails as [`Database::fetch`] does.
    pub(crate) fn find(
        &self,
        reads: &[[&[u8]; 2]],
        scratch: &mut Scratch,
        candidates: &mut Vec<Candidate>,
        ends: &mut Vec<usize>,
    ) -> Result<(), Error> {
        self.database.fetch()?;
        self.candidates(reads, scratch, candidates, ends);
        Ok(())
    }

    /// Creates the working space of a worker.
    pub(crate) fn scratch(&self) -> Scratch {
        Scratch {
            sketcher: Sketcher::new(self.database.params()),
            features: Vec::new(),
            ends: Vec::new(),
            lookup: Lookup::default(),
            hits: HitCounter::new(),
            runs: Vec::new(),
            pool: CandidateFeatures::new(),
            asked: 0..usize::MAX,
        }
    }

    /// Finds the candidates of each of `reads` (one or two mates). Appends them to `candidates`, and the end of each
    /// read's candidates to `ends`, in the order of the reads. The tables must have been [fetched](Database::fetch).
    pub(crate) fn candidates(
        &self,
        reads: &[[&[u8]; 2]],
        scratch: &mut Scratch,
        candidates: &mut Vec<Candidate>,
        ends: &mut Vec<usize>,
    ) {
        let parts = self.asked(scratch);
        // Candidates can be pooled here only if all parts are queried together.
        let pools = self.params().near > 0 && parts.len() == self.database.parts();
        let at_once = pools && parts.len() == 1;
        let mut rest = reads;
        while let Some(first) = rest.first() {
            let (from, start) = (ends.len(), candidates.len());
            if self.is_long(first) {
                self.candidates_of_long(first, parts, scratch, candidates, ends);
                if pools {
                    self.pool(&rest[..1], scratch, candidates, (start, &ends[from..]));
                }
                rest = &rest[1..];
                continue;
            }
            let short = rest.iter().take_while(|mates| !self.is_long(mates));
            let count = self.sketch(short, scratch);
            let (group, others) = rest.split_at(count);
            rest = others;
            for (at, part) in parts.iter().enumerate() {
                scratch.lookup.look_up(&part.sections, &scratch.features);
                let mut feature = 0;
                let mut found = Vec::new();
                for (number, mates) in group.iter().enumerate() {
                    let bases = mates.iter().map(|mate| mate.len() as u64).sum();
                    let end = scratch.ends[number];
                    let Scratch { lookup, hits, runs, pool, .. } = &mut *scratch;
                    lookup.each(&part.sections, feature..end, |locations| hits.add(locations));
                    hits.finish(runs);
                    part.shift(runs);
                    let (runs, own) = ((bases, &runs[..]), candidates.len());
                    self.take(at, number + from, runs, &mut found, candidates, ends);
                    let near = if at_once { self.count_near(mates, &candidates[own..]) } else { 0 };
                    if near > 0 {
                        let near = &mut candidates[own..own + near];
                        pool.begin(end - feature, near.len());
                        self.see(part, lookup, feature, near, pool);
                        pool.finish(near);
                    }
                    feature = end;
                }
            }
            if pools && !at_once {
                self.pool(group, scratch, candidates, (start, &ends[from..]));
            }
        }
    }

    /// Returns the tables of the parts to query now.
    fn asked(&self, scratch: &Scratch) -> &[Part<'a>] {
        let parts = self.parts();
        &parts[scratch.asked.start.min(parts.len())..scratch.asked.end.min(parts.len())]
    }

    /// Sketches reads until there are enough features. Returns their number.
    fn sketch<'m>(
        &self,
        reads: impl Iterator<Item = &'m [&'m [u8]; 2]>,
        scratch: &mut Scratch,
    ) -> usize {
        let params = self.database.params();
        scratch.features.clear();
        scratch.ends.clear();
        for mates in reads {
            for mate in mates.iter().filter(|mate| mate.len() >= params.k as usize) {
                sketch_all(mate, params, &mut scratch.sketcher, &mut scratch.features);
            }
            scratch.ends.push(scratch.features.len());
            if scratch.features.len() >= self.group {
                break;
            }
        }
        scratch.ends.len()
    }

    /// Whether a read may have more features than are looked up together.
    #[inline]
    fn is_long(&self, mates: &[&[u8]; 2]) -> bool {
        mates[0].len() + mates[1].len() > self.long
    }

    /// Finds the candidates of a single read of any length, some windows at a time.
    fn candidates_of_long(
        &self,
        mates: &[&[u8]; 2],
        parts: &[Part<'_>],
        scratch: &mut Scratch,
        candidates: &mut Vec<Candidate>,
        ends: &mut Vec<usize>,
    ) {
        let bases = mates.iter().map(|mate| mate.len() as u64).sum();
        let (read, mut found) = (ends.len(), Vec::new());
        for (at, part) in parts.iter().enumerate() {
            self.each_group(mates, scratch, |Scratch { features, lookup, hits, .. }| {
                lookup.look_up(&part.sections, features);
                lookup.each(&part.sections, 0..features.len(), |locations| hits.add(locations));
            });
            let Scratch { hits, runs, .. } = &mut *scratch;
            hits.finish(runs);
            part.shift(runs);
            self.take(at, read, (bases, runs), &mut found, candidates, ends);
        }
    }

    /// Sketches a read of any length, some windows at a time, and calls `take` for each group of features.
    fn each_group(
        &self,
        mates: &[&[u8]; 2],
        scratch: &mut Scratch,
        mut take: impl FnMut(&mut Scratch),
    ) {
        let params = self.database.params();
        for mate in mates.iter().filter(|mate| mate.len() >= params.k as usize) {
            let windows = params.windows(mate.len() as u64) as usize;
            let mut first = 0;
            while first < windows {
                let Scratch { sketcher, features, .. } = &mut *scratch;
                features.clear();
                first = sketch_some(mate, params, first, sketcher, features);
                while first < windows && features.len() < self.group {
                    first = sketch_some(mate, params, first, sketcher, features);
                }
                take(scratch);
            }
        }
    }

    /// Adds the candidates that one part has for a read of `bases`, given its hits in `runs`. Candidates of the
    /// first part are appended; those of others are merged, using `found` as working space.
    #[inline]
    fn take(
        &self,
        part: usize,
        read: usize,
        (bases, runs): (u64, &[(u32, u32)]),
        found: &mut Vec<Candidate>,
        candidates: &mut Vec<Candidate>,
        ends: &mut Vec<usize>,
    ) {
        if part == 0 {
            let start = candidates.len();
            self.best(bases, runs, candidates, start);
            ends.push(candidates.len());
        } else {
            found.clear();
            self.best(bases, runs, found, 0);
            merge(read, found, self.params().max_candidates, candidates, ends);
        }
    }

    /// Returns the target of a window; `None` beyond the last window, which can occur in damaged tables.
    #[inline(always)]
    fn target_of(&self, window: u32) -> Option<u32> {
        if window >= self.database.windows() {
            return None;
        }
        let (targets, at) = (&self.prepared.step_targets, window as usize / STEP);
        let (first, last) = (*targets.get(at)?, *targets.get(at + 1)?);
        let starts = self.database.starts();
        let among = starts.get(first as usize + 1..=last as usize)?;
        Some(first + among.partition_point(|&start| start <= window) as u32)
    }

    /// Appends the best candidates of a read, given its hits (window, hits; ascending). The candidates from `start` on
    /// stay ordered by hits (descending), then target, and within the maximum number.
    fn best(&self, bases: u64, runs: &[(u32, u32)], candidates: &mut Vec<Candidate>, start: usize) {
        let TargetTaxa { taxa, nodes, .. } = self.taxa();
        let (params, most) = (self.params(), self.params().max_candidates);
        let range = params.reach(bases, self.database.params().stride);
        let mut at = 0;
        while at < runs.len() {
            // Windows beyond the last one can occur in damaged tables.
            let Some(target) = self.target_of(runs[at].0) else { break };
            let first_window = self.database.first_window(target);
            let end = self.database.first_window(target + 1);
            let count = runs[at..].iter().take_while(|run| run.0 < end).count();
            let own = &runs[at..at + count];
            at += count;
            let taxon = taxa[target as usize];
            if taxon == NO_TAXON {
                continue;
            }
            let (first, last, hits) = best_run(own, range);
            let (window, last) = (first - first_window, last - first_window);
            let nodes = [nodes[target as usize]; 2];
            let candidate = Candidate { target, taxon, hits, pooled: hits, window, last, nodes };
            insert(candidate, most, candidates, start);
        }
    }
}

/// Returns the number of bases above which a read may have more than `features` features.
fn long(database: &Database, features: usize) -> usize {
    let &Params { sketch, stride, .. } = database.params();
    (features / sketch.max(1) as usize).max(1).saturating_mul(stride as usize)
}

/// Returns the target of each [`STEP`]-th window, followed by the last target.
fn step_targets(database: &Database) -> Vec<u32> {
    let last = database.targets().len().saturating_sub(1) as u32;
    let starts = database.starts();
    let (mut targets, mut target) = (Vec::with_capacity(database.windows() as usize / STEP + 2), 0);
    for window in (0..database.windows()).step_by(STEP) {
        // Targets may have no windows.
        while starts.get(target + 1).is_some_and(|&next| next <= window) {
            target += 1;
        }
        targets.push(target as u32);
    }
    targets.push(last);
    targets
}

/// Returns the first and the last window and the hits of the best run of at most `range` windows of one target; the
/// earliest run on a tie.
fn best_run(runs: &[(u32, u32)], range: u32) -> (u32, u32, u32) {
    let (mut best, mut sum, mut end) = ((0, 0, 0), 0, 0);
    for (start, &(window, count)) in runs.iter().enumerate() {
        while end < runs.len() && runs[end].0 - window < range {
            sum += runs[end].1;
            end += 1;
        }
        if sum > best.2 {
            best = (window, runs[end - 1].0, sum);
        }
        sum -= count;
        debug_assert!(end > start);
    }
    best
}

/// Inserts a candidate, whose target is above all earlier ones, into the ordered candidates from `start` on.
fn insert(candidate: Candidate, most: usize, candidates: &mut Vec<Candidate>, start: usize) {
    let own = &candidates[start..];
    let mut place = own.len();
    while place > 0 && own[place - 1].hits < candidate.hits {
        place -= 1;
    }
    if let Some(same) = own.iter().position(|other| other.taxon == candidate.taxon) {
        if same < place {
            if own[same].hits == candidate.hits {
                candidates[start + same].widen(&candidate);
            }
            return;
        }
        candidates.remove(start + same);
    } else if own.len() == most {
        if place == most {
            return;
        }
        candidates.pop();
    }
    candidates.insert(start + place, candidate);
}

/// Merges the candidates of a later part into those of read `number`.
fn merge(
    number: usize,
    found: &[Candidate],
    most: usize,
    candidates: &mut Vec<Candidate>,
    ends: &mut [usize],
) {
    let start = if number == 0 { 0 } else { ends[number - 1] };
    let end = ends[number];
    let mut own = candidates[start..end].to_vec();
    // Their targets are above those of earlier parts, and they come in the order of hits.
    found.iter().for_each(|&candidate| insert(candidate, most, &mut own, 0));
    let grown = own.len() - (end - start);
    candidates.splice(start..end, own);
    ends[number..].iter_mut().for_each(|end| *end += grown);
}
