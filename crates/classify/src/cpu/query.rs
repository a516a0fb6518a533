//! From reads to candidates: sketch, look up, count, best runs. Reads are taken in groups large
//! enough for their features to be looked up in the order of the table.

mod hits;
mod lookup;

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::cuda::{GpuConfig, GpuNotes, GpuQuery, Rounds};
use crate::database::{Database, Section};
use crate::decide::{Candidate, Thresholds};
use crate::params::Params;
use crate::taxonomy::Rank;
use crate::{Error, Sketcher};
use hits::HitCounter;
use lookup::Lookup;

/// Features that are looked up together, about: so many that several of them share each page of
/// the table that they touch, for 20 bytes each of working space. (A random slot of 1.7 GB took
/// 40 ns without order, 24 ns with 2^18 features at once, 15 ns with 2^20; whole runs with 2^17 and
/// with 2^20 took the same time.)
const GROUP: usize = 1 << 18;
/// Windows for each of which the first target is kept: a power of two.
const STEP: usize = 256;

/// What a query needs to know besides the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryParams {
    /// The lowest rank at which candidates are told apart.
    pub lowest: Rank,
    /// Candidates at most.
    pub max_candidates: usize,
    /// The longest insert, in bases; 0: the sum of the mates' lengths.
    pub insert: u64,
}

/// A database made ready for queries; shared by all workers.
#[derive(Debug)]
pub struct Query<'a> {
    database: &'a Database,
    options: QueryParams,
    /// Features that are looked up together,
    group: usize,
    /// which reads of more bases have more of.
    long: usize,
    /// Those that are asked; once they are needed, as a device may have them all.
    numbers: Vec<usize>,
    parts: OnceLock<Vec<Vec<Section<'a>>>>,
    /// The target of the first of each [`STEP`] windows.
    step_targets: Arc<[u32]>,
    /// The taxon of each target at the lowest rank,
    taxa: Arc<[u32]>,
    /// and its node.
    nodes: Arc<[u32]>,
    gpu: Option<Rounds<'a>>,
}

/// What a query knows of a database, without it: can be kept beside the database, and costs nothing to
/// clone.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    options: QueryParams,
    step_targets: Arc<[u32]>,
    taxa: Arc<[u32]>,
    nodes: Arc<[u32]>,
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
    /// Of the query's parts, those that are asked.
    asked: Range<usize>,
}

impl Scratch {
    /// Asks only these of a query's parts.
    pub(crate) fn ask(self, parts: Range<usize>) -> Scratch {
        Scratch { asked: parts, ..self }
    }
}

impl<'a> Query<'a> {
    /// Prepares `database` for queries.
    pub fn new(database: &'a Database, options: QueryParams) -> Query<'a> {
        let nodes = database.taxonomy().len() as u32;
        let taxon = |(number, target): (usize, &crate::Target)| match options.lowest {
            Rank::Sequence => nodes + number as u32,
            rank => database.taxonomy().at_or_above(target.node, rank),
        };
        Query {
            database,
            options,
            group: GROUP,
            long: long(database, GROUP),
            numbers: (0..database.parts()).collect(),
            parts: OnceLock::new(),
            step_targets: step_targets(database).into(),
            taxa: database.targets().iter().enumerate().map(taxon).collect(),
            nodes: database.targets().iter().map(|target| target.node).collect(),
            gpu: None,
        }
    }

    /// What was prepared, without the database.
    pub(crate) fn prepared(&self) -> Prepared {
        let [step_targets, taxa, nodes] =
            [&self.step_targets, &self.taxa, &self.nodes].map(Arc::clone);
        Prepared { options: self.options, step_targets, taxa, nodes }
    }

    /// The query of the same database for which `prepared` was prepared, on the CPU.
    pub(crate) fn again(database: &'a Database, prepared: &Prepared) -> Query<'a> {
        let Prepared { options, step_targets, taxa, nodes } = prepared.clone();
        Query {
            database,
            options,
            group: GROUP,
            long: long(database, GROUP),
            numbers: (0..database.parts()).collect(),
            parts: OnceLock::new(),
            step_targets,
            taxa,
            nodes,
            gpu: None,
        }
    }

    /// Prepares `database` for queries with these thresholds.
    pub fn with_thresholds(database: &'a Database, thresholds: &Thresholds) -> Query<'a> {
        let &Thresholds { lowest, max_candidates, insert, .. } = thresholds;
        Query::new(database, QueryParams { lowest, max_candidates, insert })
    }

    /// The same for some of the parts only.
    pub(crate) fn with_parts(mut self, parts: &[usize]) -> Query<'a> {
        self.numbers = parts.to_vec();
        self
    }

    /// The sections of the parts that are asked.
    fn parts(&self) -> &[Vec<Section<'a>>] {
        let sections = |&part: &usize| self.database.sections(part);
        self.parts.get_or_init(|| self.numbers.iter().map(sections).collect())
    }

    /// Parts that are asked.
    pub(crate) fn part_count(&self) -> usize {
        self.numbers.len()
    }

    /// The taxon of each target at the lowest rank.
    pub(crate) fn taxa(&self) -> &[u32] {
        &self.taxa
    }

    /// The node of each target.
    pub(crate) fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// Puts the database on devices, which [`find`](Self::find) then asks. Parts for which they have
    /// no room the host asks.
    ///
    /// # Errors
    /// If a device cannot be used or has no room for any part.
    pub fn on_gpus(mut self, config: &GpuConfig) -> Result<Query<'a>, Error> {
        self.gpu = Some(Rounds::new(self.database, self.options, config, true)?);
        Ok(self)
    }

    /// The same, but that parts for which there is no room take turns with the others.
    pub(crate) fn on_gpus_in_rounds(mut self, config: &GpuConfig) -> Result<Query<'a>, Error> {
        self.gpu = Some(Rounds::new(self.database, self.options, config, false)?);
        Ok(self)
    }

    /// The rounds, if parts take turns.
    pub(crate) fn rounds(&self) -> Option<&Rounds<'a>> {
        self.gpu.as_ref().filter(|rounds| !rounds.is_one())
    }

    /// What the devices are, if there are any, and had no room for so far.
    pub fn gpu_notes(&self) -> Option<GpuNotes> {
        self.gpu.as_ref().map(Rounds::notes)
    }

    /// The devices, if there are any.
    pub(crate) fn gpu(&self) -> Option<Arc<GpuQuery<'a>>> {
        self.gpu.as_ref().and_then(Rounds::now)
    }

    /// As [`candidates`](Self::candidates), on the devices if there are any.
    ///
    /// # Errors
    /// If a device fails.
    pub fn find(
        &self,
        reads: &[[&[u8]; 2]],
        scratch: &mut Scratch,
        candidates: &mut Vec<Candidate>,
        ends: &mut Vec<usize>,
    ) -> Result<(), Error> {
        match self.gpu() {
            Some(gpu) => gpu.candidates(reads, scratch, candidates, ends),
            None => {
                self.database.fetch()?;
                self.candidates(reads, scratch, candidates, ends);
                Ok(())
            }
        }
    }

    /// Looks up about so many features at once: more take more memory, fewer are slower. What is
    /// found does not depend on it.
    pub fn with_group(self, features: usize) -> Query<'a> {
        Query { group: features, long: long(self.database, features), ..self }
    }

    /// A worker's own space.
    pub fn scratch(&self) -> Scratch {
        Scratch {
            sketcher: Sketcher::new(self.database.params()),
            features: Vec::new(),
            ends: Vec::new(),
            lookup: Lookup::default(),
            hits: HitCounter::new(),
            runs: Vec::new(),
            asked: 0..usize::MAX,
        }
    }

    /// The candidates of each of `reads` (one or two mates), in order: appended to `candidates`,
    /// with the place where those of each read end appended to `ends`.
    pub fn candidates(
        &self,
        reads: &[[&[u8]; 2]],
        scratch: &mut Scratch,
        candidates: &mut Vec<Candidate>,
        ends: &mut Vec<usize>,
    ) {
        let parts = self.parts();
        let parts =
            &parts[scratch.asked.start.min(parts.len())..scratch.asked.end.min(parts.len())];
        let mut rest = reads;
        while let Some(first) = rest.first() {
            if self.is_long(first) {
                self.candidates_of_long(first, parts, scratch, candidates, ends);
                rest = &rest[1..];
                continue;
            }
            let count = self.sketch(rest, scratch);
            let (group, others) = rest.split_at(count);
            rest = others;
            let from = ends.len();
            for (part, sections) in parts.iter().enumerate() {
                scratch.lookup.look_up(sections, &scratch.features);
                let mut feature = 0;
                let mut found = Vec::new();
                for (number, mates) in group.iter().enumerate() {
                    let bases = mates.iter().map(|mate| mate.len() as u64).sum();
                    let end = scratch.ends[number];
                    let Scratch { lookup, hits, runs, .. } = scratch;
                    lookup.each(sections, feature..end, |locations| hits.add(locations));
                    hits.finish(runs);
                    feature = end;
                    let runs = (bases, &runs[..]);
                    self.take(part, number + from, runs, &mut found, candidates, ends);
                }
            }
        }
    }

    /// Sketches reads until there are enough features; gives their number.
    fn sketch(&self, reads: &[[&[u8]; 2]], scratch: &mut Scratch) -> usize {
        let params = self.database.params();
        scratch.features.clear();
        scratch.ends.clear();
        for mates in reads.iter().take_while(|mates| !self.is_long(mates)) {
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
        let params = self.database.params();
        let bases = mates.iter().map(|mate| mate.len() as u64).sum();
        let (read, mut found) = (ends.len(), Vec::new());
        for (part, sections) in parts.iter().enumerate() {
            let Scratch { sketcher, features, lookup, hits, runs, .. } = scratch;
            for mate in mates.iter().filter(|mate| mate.len() >= params.k as usize) {
                let windows = params.windows(mate.len() as u64) as usize;
                let mut first = 0;
                while first < windows {
                    features.clear();
                    first = sketch_some(mate, params, first, sketcher, features);
                    while first < windows && features.len() < self.group {
                        first = sketch_some(mate, params, first, sketcher, features);
                    }
                    lookup.look_up(sections, features);
                    lookup.each(sections, 0..features.len(), |locations| hits.add(locations));
                }
            }
            hits.finish(runs);
            self.take(part, read, (bases, runs), &mut found, candidates, ends);
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
            merge(read, found, self.options.max_candidates, candidates, ends);
        }
    }

    /// The target of a window; `None` beyond the last one, where damaged tables may lead.
    #[inline(always)]
    fn target_of(&self, window: u32) -> Option<u32> {
        if window >= self.database.windows() {
            return None;
        }
        let at = window as usize / STEP;
        let (first, last) = (*self.step_targets.get(at)?, *self.step_targets.get(at + 1)?);
        let starts = self.database.starts();
        let among = starts.get(first as usize + 1..=last as usize)?;
        Some(first + among.partition_point(|&start| start <= window) as u32)
    }

    /// Appends the candidates among the hits of a read (window, hits; ascending), keeping those
    /// from `start` on in order and few enough.
    fn best(&self, bases: u64, runs: &[(u32, u32)], candidates: &mut Vec<Candidate>, start: usize) {
        let stride = u64::from(self.database.params().stride);
        let range = 2 + bases.max(self.options.insert) / stride;
        let range = u32::try_from(range).unwrap_or(u32::MAX);
        let mut at = 0;
        while at < runs.len() {
            // Damaged tables may lead beyond the last window.
            let Some(target) = self.target_of(runs[at].0) else { break };
            let first_window = self.database.first_window(target);
            let end = self.database.first_window(target + 1);
            let count = runs[at..].iter().take_while(|run| run.0 < end).count();
            let (first, last, hits) = best_run(&runs[at..at + count], range);
            at += count;
            let taxon = self.taxa[target as usize];
            let (window, last) = (first - first_window, last - first_window);
            let nodes = [self.nodes[target as usize]; 2];
            let candidate = Candidate { target, taxon, hits, window, last, nodes };
            insert(candidate, self.options.max_candidates, candidates, start);
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

/// Appends the features of all windows of a sequence.
pub(crate) fn sketch_all(
    letters: &[u8],
    params: &Params,
    sketcher: &mut Sketcher,
    features: &mut Vec<u64>,
) {
    let windows = params.windows(letters.len() as u64) as usize;
    let mut first = 0;
    while first < windows {
        first = sketch_some(letters, params, first, sketcher, features);
    }
}

/// Appends the features of some windows of a sequence from window `first` on, which it has; gives the
/// window that comes next.
fn sketch_some(
    letters: &[u8],
    params: &Params,
    first: usize,
    sketcher: &mut Sketcher,
    features: &mut Vec<u64>,
) -> usize {
    let (window, stride) = (params.window as usize, params.stride as usize);
    // Long reads are cut so that working space stays small: whole windows each time.
    let step = (1 << 16) / stride.max(1) + 1;
    let windows = params.windows(letters.len() as u64) as usize;
    let count = step.min(windows - first);
    let start = first * stride;
    let end = (start + (count - 1) * stride + window).min(letters.len());
    sketcher.load(&letters[start..end]);
    for number in 0..count {
        let from = number * stride;
        sketcher.sketch(from, (from + window).min(end - start), features);
    }
    first + count
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
