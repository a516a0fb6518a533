//! Classifies all reads of one length of a sequence, starting at each letter. From one read to the next, one k-mer
//! enters and one leaves each window: hits are updated incrementally, and each k-mer is looked up once. The results
//! are those of a query of each read.

use std::collections::BTreeMap;

use super::lookup::Lookup;
use super::pool::CandidateFeatures;
use super::{HostQuery, Part};
use crate::candidates::Candidate;
use crate::decide::are_missing;
use crate::sketch::Sketcher;

/// Counts the reads of sequences by result; a thread's own.
pub(crate) struct Slider<'q, 'a> {
    query: &'q HostQuery<'a>,
    /// The length of a read, at least k.
    length: usize,
    windows: Vec<Window>,
    sketcher: Sketcher,
    /// The k-mers of the sequence: the hash if it may be a feature, and the number of the feature.
    kmers: Vec<Option<(u64, u32)>>,
    features: Vec<u64>,
    /// One lookup for each part of the database.
    lookups: Vec<Lookup>,
    hits: Hits,
    candidates: Vec<Candidate>,
    pool: CandidateFeatures,
}

impl<'q, 'a> Slider<'q, 'a> {
    /// Creates a slider for reads of `length` letters, at least k.
    pub(crate) fn new(query: &'q HostQuery<'a>, length: usize) -> Slider<'q, 'a> {
        let params = query.database.params();
        let (k, size) = (params.k as usize, params.sketch as usize);
        let window = |number: usize| {
            let first = number * params.stride as usize;
            let end = (first + params.window as usize).min(length);
            // The last window has at least one k-mer.
            Window { first, kmers: end - first - k + 1, size, members: Vec::new() }
        };
        Slider {
            query,
            length,
            windows: (0..params.windows(length as u64) as usize).map(window).collect(),
            sketcher: Sketcher::new(params),
            kmers: Vec::new(),
            features: Vec::new(),
            lookups: query.parts().iter().map(|_| Lookup::default()).collect(),
            hits: Hits::default(),
            candidates: Vec::new(),
            pool: CandidateFeatures::new(),
        }
    }

    /// Counts the reads of a sequence by the result of `decide` for their candidates and the number of their k-mers with a
    /// letter that is not a base.
    pub(crate) fn count<T: Copy + Ord>(
        &mut self,
        letters: &[u8],
        decide: impl Fn(&[Candidate], u64) -> T,
    ) -> BTreeMap<T, u64> {
        let mut counts = BTreeMap::new();
        if letters.len() < self.length {
            return counts;
        }
        self.look_up(letters);
        for window in 0..self.windows.len() {
            let Window { first, kmers, .. } = self.windows[window];
            (first..first + kmers).for_each(|kmer| self.come(window, kmer));
        }
        let k = self.query.database.params().k;
        let (sums, kmers) = (missing_sums(letters, k), self.length + 1 - k as usize);
        let missing = |read: usize| u64::from(sums[read + kmers] - sums[read]);
        let mut found = self.decided(missing(0), &decide);
        let mut same = 1;
        for read in 1..=letters.len() - self.length {
            for window in 0..self.windows.len() {
                let Window { first, kmers, .. } = self.windows[window];
                self.come(window, first + kmers + read - 1);
                self.go(window, first + read - 1);
            }
            let lacks_others = missing(read) != missing(read - 1);
            if std::mem::take(&mut self.hits.changed) || lacks_others {
                let next = self.decided(missing(read), &decide);
                if next != found {
                    *counts.entry(found).or_default() += same;
                    (found, same) = (next, 0);
                }
            }
            same += 1;
        }
        *counts.entry(found).or_default() += same;
        self.windows.iter_mut().for_each(|window| window.members.clear());
        self.hits.runs.clear();
        counts
    }

    /// Looks up all k-mers of a sequence.
    fn look_up(&mut self, letters: &[u8]) {
        let Slider { sketcher, kmers, features, lookups, query, .. } = self;
        kmers.clear();
        features.clear();
        sketcher.load(letters);
        kmers.extend(sketcher.eligible().map(|hash| {
            let (hash, feature) = hash?;
            features.push(feature);
            Some((hash, features.len() as u32 - 1))
        }));
        for (lookup, part) in lookups.iter_mut().zip(query.parts()) {
            lookup.look_up(&part.sections, features);
        }
    }

    fn decided<T>(&mut self, missing: u64, decide: &impl Fn(&[Candidate], u64) -> T) -> T {
        self.candidates.clear();
        self.query.best(self.length as u64, &self.hits.runs, &mut self.candidates, 0);
        self.pool();
        decide(&self.candidates, missing)
    }

    /// Pools the candidates of the read, as a query does.
    fn pool(&mut self) {
        let Slider { query, windows, lookups, candidates, pool, .. } = self;
        let several = &query.taxa().several;
        let near = query.params().count_near(self.length as u64, candidates, several);
        if near == 0 {
            return;
        }
        let near = &mut candidates[..near];
        let sketch = |window: &Window| window.members.len().min(window.size);
        pool.begin(windows.iter().map(sketch).sum(), near.len());
        for (lookup, part) in lookups.iter().zip(query.parts()) {
            let members = windows.iter().flat_map(|window| &window.members[..sketch(window)]);
            for (at, member) in members.enumerate() {
                query.see_one(part, lookup, member.feature as usize, near, (pool, at));
            }
        }
        pool.finish(near);
    }

    /// Adds a k-mer of the sequence to a window.
    fn come(&mut self, window: usize, kmer: usize) {
        let Some((hash, feature)) = self.kmers[kmer] else { return };
        let [come, gone] = self.windows[window].add(hash, feature);
        self.change(come, gone);
    }

    /// Removes a k-mer of the sequence from a window.
    fn go(&mut self, window: usize, kmer: usize) {
        let Some((hash, _)) = self.kmers[kmer] else { return };
        let [come, gone] = self.windows[window].remove(hash);
        self.change(come, gone);
    }

    /// Updates the hits for features that entered and left a sketch.
    fn change(&mut self, come: Option<u32>, gone: Option<u32>) {
        let Slider { lookups, hits, query, .. } = self;
        for (lookup, part) in lookups.iter().zip(query.parts()) {
            let of = |feature: u32| feature as usize..feature as usize + 1;
            if let Some(feature) = come {
                lookup.each(&part.sections, of(feature), |locations| hits.add(part, locations));
            }
            if let Some(feature) = gone {
                let sections = &part.sections;
                lookup.each(sections, of(feature), |locations| hits.remove(part, locations));
            }
        }
    }
}

/// Returns, for each k-mer of a sequence and for the end, the number of k-mers before it that have a letter that is not a
/// base.
fn missing_sums(letters: &[u8], k: u32) -> Vec<u32> {
    let mut sums = vec![0];
    sums.extend(are_missing(letters, k).scan(0, |sum, missing| {
        *sum += u32::from(missing);
        Some(*sum)
    }));
    sums
}

/// A window of a read, whose sketch is updated as it moves along the sequence.
struct Window {
    /// The first k-mer of the window, counted in the read.
    first: usize,
    /// The number of k-mers of the window.
    kmers: usize,
    /// The maximum number of features of the sketch.
    size: usize,
    /// All k-mers of the window that may be features, by hash; the first `size` of them are the sketch.
    members: Vec<Member>,
}

/// The k-mers with one hash.
struct Member {
    hash: u64,
    /// The number of the feature.
    feature: u32,
    /// The number of these k-mers.
    count: u32,
}

impl Window {
    /// Adds a k-mer. Returns the features that enter and leave the sketch.
    fn add(&mut self, hash: u64, feature: u32) -> [Option<u32>; 2] {
        let Window { members, size, .. } = self;
        match members.binary_search_by_key(&hash, |member| member.hash) {
            Ok(at) => {
                members[at].count += 1;
                [None, None]
            }
            Err(at) => {
                members.insert(at, Member { hash, feature, count: 1 });
                let pushed = members.get(*size).map(|member| member.feature);
                if at < *size { [Some(feature), pushed] } else { [None, None] }
            }
        }
    }

    /// Removes a k-mer. Returns the features that enter and leave the sketch.
    fn remove(&mut self, hash: u64) -> [Option<u32>; 2] {
        let Window { members, size, .. } = self;
        let Ok(at) = members.binary_search_by_key(&hash, |member| member.hash) else {
            return [None, None];
        };
        members[at].count -= 1;
        if members[at].count > 0 {
            return [None, None];
        }
        let gone = members.remove(at).feature;
        let next = members.get(*size - 1).map(|member| member.feature);
        if at < *size { [next, Some(gone)] } else { [None, None] }
    }
}

/// The hits of a read by window of the references: (window, hits), ascending.
#[derive(Default)]
struct Hits {
    runs: Vec<(u32, u32)>,
    /// Whether the hits changed since this was last reset.
    changed: bool,
}

impl Hits {
    fn add(&mut self, part: &Part<'_>, locations: &[u32]) {
        self.changed = true;
        for window in locations.iter().map(|&location| part.window(location)) {
            match self.runs.binary_search_by_key(&window, |run| run.0) {
                Ok(at) => self.runs[at].1 += 1,
                Err(at) => self.runs.insert(at, (window, 1)),
            }
        }
    }

    fn remove(&mut self, part: &Part<'_>, locations: &[u32]) {
        self.changed = true;
        for window in locations.iter().map(|&location| part.window(location)) {
            let Ok(at) = self.runs.binary_search_by_key(&window, |run| run.0) else { continue };
            self.runs[at].1 -= 1;
            if self.runs[at].1 == 0 {
                self.runs.remove(at);
            }
        }
    }
}
