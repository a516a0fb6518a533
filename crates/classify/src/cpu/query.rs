//! From reads to candidates: sketch, look up, count, best runs. Reads are taken in groups large
//! enough for their features to be looked up in the order of the table.

mod clades;
mod hits;
mod lookup;
mod pool;
mod slide;

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

/// Features that are looked up together, about: so many that several of them share each page of
/// the table that they touch, for 20 bytes each of working space. (A random slot of 1.7 GB took
/// 40 ns without order, 24 ns with 2^18 features at once, 15 ns with 2^20; whole runs with 2^17 and
/// with 2^20 took the same time.)
const GROUP: usize = 1 << 18;
/// Windows for each of which the first target is kept: a power of two.
const STEP: usize = 256;

/// A database made ready for queries on the CPU; shared by all workers.
#[derive(Debug)]
pub(crate) struct HostQuery<'a> {
    database: &'a Database,
    prepared: Prepared,
    /// Features that are looked up together,
    group: usize,
    /// which reads of more bases have more of.
    long: usize,
    /// Those that are asked; once they are needed, as a device may have them all.
    numbers: Vec<usize>,
    parts: OnceLock<Vec<Vec<Section<'a>>>>,
}

/// What a query knows of a database, without it: can be kept beside the database, and costs nothing to
/// clone.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    params: QueryParams,
    /// The target of the first of each [`STEP`] windows.
    step_targets: Arc<[u32]>,
    taxa: TargetTaxa,
}

/// The working space of one worker.
#[derive(Debug)]
pub struct Scratch {
    sketcher: Sketcher,
    features: Vec<u64>,
    /// Where the features of each read of the group end.
    ends: Vec<usize>,
    lookup: Lookup,
    hits: HitCounter,
    runs: Vec<(u32, u32)>,
    pool: CandidateFeatures,
    /// Of the query's parts, those that are asked.
    asked: Range<usize>,
}

impl Scratch {
    /// Asks only these of a query's parts.
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

    /// What was prepared, without the database.
    pub(crate) fn prepared(&self) -> Prepared {
        self.prepared.clone()
    }

    /// The query of the same database for which `prepared` was prepared.
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

    /// The same for some of the parts only.
    pub(crate) fn of_parts(&self, parts: &[usize]) -> HostQuery<'a> {
        let numbers = parts.to_vec();
        HostQuery { numbers, ..HostQuery::again(self.database, self.prepared()) }
    }

    /// The same, looking up about so many features at once.
    pub(crate) fn with_group(self, features: usize) -> HostQuery<'a> {
        HostQuery { group: features, long: long(self.database, features), ..self }
    }

    /// The database that is asked.
    pub(crate) fn database(&self) -> &'a Database {
        self.database
    }

    /// What is asked for.
    pub(crate) fn params(&self) -> &QueryParams {
        &self.prepared.params
    }

    /// The taxa of the targets.
    pub(crate) fn taxa(&self) -> &TargetTaxa {
        &self.prepared.taxa
    }

    /// Parts that are asked.
    pub(crate) fn part_count(&self) -> usize {
        self.numbers.len()
    }

    /// The sections of the parts that are asked.
    fn parts(&self) -> &[Vec<Section<'a>>] {
        let sections = |&part: &usize| self.database.sections(part);
        self.parts.get_or_init(|| self.numbers.iter().map(sections).collect())
    }

    /// As [`candidates`](Self::candidates), of a database that nobody may have looked at yet.
    ///
    /// # Errors
    /// As [`Database::fetch`].
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

    /// A worker's own space.
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

    /// The candidates of each of `reads` (one or two mates), in order: appended to `candidates`,
    /// with the place where those of each read end appended to `ends`.
    pub(crate) fn candidates(
        &self,
        reads: &[[&[u8]; 2]],
        scratch: &mut Scratch,
        candidates: &mut Vec<Candidate>,
        ends: &mut Vec<usize>,
    ) {
        let parts = self.asked(scratch);
        // What a taxon has in all parts is known to who asks all of them.
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
            for (part, sections) in parts.iter().enumerate() {
                scratch.lookup.look_up(sections, &scratch.features);
                let mut feature = 0;
                let mut found = Vec::new();
                for (number, mates) in group.iter().enumerate() {
                    let bases = mates.iter().map(|mate| mate.len() as u64).sum();
                    let end = scratch.ends[number];
                    let Scratch { lookup, hits, runs, pool, .. } = &mut *scratch;
                    lookup.each(sections, feature..end, |locations| hits.add(locations));
                    hits.finish(runs);
                    let (runs, own) = ((bases, &runs[..]), candidates.len());
                    self.take(part, number + from, runs, &mut found, candidates, ends);
                    let near = if at_once { self.count_near(mates, &candidates[own..]) } else { 0 };
                    if near > 0 {
                        let near = &mut candidates[own..own + near];
                        pool.begin(end - feature, near.len());
                        self.see(sections, lookup, feature, near, pool);
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

    /// The sections of those parts that are asked now.
    fn asked(&self, scratch: &Scratch) -> &[Vec<Section<'a>>] {
        let parts = self.parts();
        &parts[scratch.asked.start.min(parts.len())..scratch.asked.end.min(parts.len())]
    }

    /// Sketches reads until there are enough features; gives their number.
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

    /// Whether a read has more features than are looked up together.
    #[inline]
    fn is_long(&self, mates: &[&[u8]; 2]) -> bool {
        mates[0].len() + mates[1].len() > self.long
    }

    /// As [`candidates`](Self::candidates), of one read of any length, some windows at a time.
    fn candidates_of_long(
        &self,
        mates: &[&[u8]; 2],
        parts: &[Vec<Section<'_>>],
        scratch: &mut Scratch,
        candidates: &mut Vec<Candidate>,
        ends: &mut Vec<usize>,
    ) {
        let bases = mates.iter().map(|mate| mate.len() as u64).sum();
        let (read, mut found) = (ends.len(), Vec::new());
        for (part, sections) in parts.iter().enumerate() {
            self.each_group(mates, scratch, |Scratch { features, lookup, hits, .. }| {
                lookup.look_up(sections, features);
                lookup.each(sections, 0..features.len(), |locations| hits.add(locations));
            });
            let Scratch { hits, runs, .. } = &mut *scratch;
            hits.finish(runs);
            self.take(part, read, (bases, runs), &mut found, candidates, ends);
        }
    }

    /// Sketches a read of any length, some windows at a time, and calls `take` each time.
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

    /// Takes the candidates that one part has for a read, of whose `bases` it found these runs: the
    /// first part's are appended, those of others merged into them, by way of `found`.
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

    /// The target of a window; `None` beyond the last one, where damaged tables may lead.
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

    /// Appends the candidates among the hits of a read (window, hits; ascending), keeping those
    /// from `start` on in order and few enough.
    fn best(&self, bases: u64, runs: &[(u32, u32)], candidates: &mut Vec<Candidate>, start: usize) {
        let TargetTaxa { taxa, nodes, .. } = self.taxa();
        let (params, most) = (self.params(), self.params().max_candidates);
        let range = params.reach(bases, self.database.params().stride);
        let mut at = 0;
        while at < runs.len() {
            // Damaged tables may lead beyond the last window.
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

/// Bases of a read from which on it may have more than so many features.
fn long(database: &Database, features: usize) -> usize {
    let &Params { sketch, stride, .. } = database.params();
    (features / sketch.max(1) as usize).max(1).saturating_mul(stride as usize)
}

/// The target of each [`STEP`]-th window, and at the end the last target.
fn step_targets(database: &Database) -> Vec<u32> {
    let last = database.targets().len().saturating_sub(1) as u32;
    let starts = database.starts();
    let (mut targets, mut target) = (Vec::with_capacity(database.windows() as usize / STEP + 2), 0);
    for window in (0..database.windows()).step_by(STEP) {
        // Targets may have no window.
        while starts.get(target + 1).is_some_and(|&next| next <= window) {
            target += 1;
        }
        targets.push(target as u32);
    }
    targets.push(last);
    targets
}

/// The first and the last window and the hits of the best run of at most `range` windows among
/// those of one target; the earliest of several.
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

/// Puts a candidate, whose target is above all that came before, among those from `start` on.
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

/// Puts the candidates of a later part among those of read `number`.
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
    // Their targets are above those of earlier parts, but they come in the order of hits.
    found.iter().for_each(|&candidate| insert(candidate, most, &mut own, 0));
    let grown = own.len() - (end - start);
    candidates.splice(start..end, own);
    ends[number..].iter_mut().for_each(|end| *end += grown);
}
