//! All reads of one length of a sequence, one letter after the other. Each differs from the one before
//! in a k-mer that comes and one that goes in each of its windows: so hits are counted on from read to
//! read, and each k-mer is looked up once. What is found is what a query of each read finds.

use std::collections::BTreeMap;

use super::HostQuery;
use super::lookup::Lookup;
use super::pool::CandidateFeatures;
use crate::candidates::Candidate;
use crate::sketch::Sketcher;

/// Counts the reads of sequences by what they are found to be; a thread's own.
pub(crate) struct Slider<'q, 'a> {
    query: &'q HostQuery<'a>,
    /// Letters of a read, k or more.
    length: usize,
    windows: Vec<Window>,
    sketcher: Sketcher,
    /// The k-mers of the sequence: the hash, if it may be a feature, and the number of that.
    kmers: Vec<Option<(u64, u32)>>,
    features: Vec<u64>,
    /// Of each part of the database.
    lookups: Vec<Lookup>,
    hits: Hits,
    candidates: Vec<Candidate>,
    pool: CandidateFeatures,
}

impl<'q, 'a> Slider<'q, 'a> {
    /// For reads of `length` letters, which are k or more.
    pub(crate) fn new(query: &'q HostQuery<'a>, length: usize) -> Slider<'q, 'a> {
        let params = query.database.params();
        let (k, size) = (params.k as usize, params.sketch as usize);
        let window = |number: usize| {
            let first = number * params.stride as usize;
            let end = (first + params.window as usize).min(length);
            // The last one has a k-mer at the least.
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

    /// The reads of a sequence by what `decide` makes of their candidates.
    pub(crate) fn count<T: Copy + Ord>(
        &mut self,
        letters: &[u8],
        decide: impl Fn(&[Candidate]) -> T,
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
        let mut found = self.decided(&decide);
        let mut same = 1;
        for read in 1..=letters.len() - self.length {
            for window in 0..self.windows.len() {
                let Window { first, kmers, .. } = self.windows[window];
                self.come(window, first + kmers + read - 1);
                self.go(window, first + read - 1);
            }
            if std::mem::take(&mut self.hits.changed) {
                let next = self.decided(&decide);
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
        for (lookup, sections) in lookups.iter_mut().zip(query.parts()) {
            lookup.look_up(sections, features);
        }
    }

    fn decided<T>(&mut self, decide: &impl Fn(&[Candidate]) -> T) -> T {
        self.candidates.clear();
        self.query.best(self.length as u64, &self.hits.runs, &mut self.candidates, 0);
        self.pool();
        decide(&self.candidates)
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
        for (lookup, sections) in lookups.iter().zip(query.parts()) {
            let members = windows.iter().flat_map(|window| &window.members[..sketch(window)]);
            for (at, member) in members.enumerate() {
                query.see_one(sections, lookup, member.feature as usize, near, (pool, at));
            }
        }
        pool.finish(near);
    }

    /// A k-mer of the sequence comes into a window.
    fn come(&mut self, window: usize, kmer: usize) {
        let Some((hash, feature)) = self.kmers[kmer] else { return };
        let [come, gone] = self.windows[window].add(hash, feature);
        self.change(come, gone);
    }

    /// A k-mer goes.
    fn go(&mut self, window: usize, kmer: usize) {
        let Some((hash, _)) = self.kmers[kmer] else { return };
        let [come, gone] = self.windows[window].remove(hash);
        self.change(come, gone);
    }

    /// Counts the locations of a feature that came into a sketch, and of one that went.
    fn change(&mut self, come: Option<u32>, gone: Option<u32>) {
        let Slider { lookups, hits, query, .. } = self;
        for (lookup, sections) in lookups.iter().zip(query.parts()) {
            let of = |feature: u32| feature as usize..feature as usize + 1;
            if let Some(feature) = come {
                lookup.each(sections, of(feature), |locations| hits.add(locations));
            }
            if let Some(feature) = gone {
                lookup.each(sections, of(feature), |locations| hits.remove(locations));
            }
        }
    }
}

/// A window of a read, whose sketch follows it along the sequence.
struct Window {
    /// Its first k-mer, counted in the read,
    first: usize,
    /// and their number.
    kmers: usize,
    /// Features of the sketch, at most.
    size: usize,
    /// All that are in it and may be features, by hash: the first of them are the sketch.
    members: Vec<Member>,
}

/// K-mers of one hash.
struct Member {
    hash: u64,
    /// The number of their feature.
    feature: u32,
    /// How many there are.
    count: u32,
}

impl Window {
    /// Adds a k-mer; gives the features that come into the sketch and go from it.
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

    /// Takes a k-mer away; gives the same.
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

/// Hits of a read by window of the reference: (window, hits), ascending.
#[derive(Default)]
struct Hits {
    runs: Vec<(u32, u32)>,
    /// Since that was last asked.
    changed: bool,
}

impl Hits {
    fn add(&mut self, locations: &[u32]) {
        self.changed = true;
        for &location in locations {
            match self.runs.binary_search_by_key(&location, |run| run.0) {
                Ok(at) => self.runs[at].1 += 1,
                Err(at) => self.runs.insert(at, (location, 1)),
            }
        }
    }

    fn remove(&mut self, locations: &[u32]) {
        self.changed = true;
        for &location in locations {
            let Ok(at) = self.runs.binary_search_by_key(&location, |run| run.0) else { continue };
            self.runs[at].1 -= 1;
            if self.runs[at].1 == 0 {
                self.runs.remove(at);
            }
        }
    }
}
