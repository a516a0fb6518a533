//! A literal implementation of the rules for sketches, tables and candidates, as the oracle of the tests. It has no
//! table and no batches, and shares only the hash formulas with the optimized code.

use std::collections::{BTreeMap, BTreeSet};

use merganser_seq::base;

use super::{Candidate, Params, QueryParams};

/// The length in bases of the longest read or pair whose candidates are pooled.
const MAX_POOLED: u64 = 1024;

/// Returns the canonical k-mer of `letters`; `None` if one of them is not a base.
fn canonical(letters: &[u8]) -> Option<u64> {
    let codes: Option<Vec<u8>> = letters.iter().map(|&letter| base::code(letter)).collect();
    let codes = codes?;
    let number =
        |codes: &[u8]| codes.iter().fold(0u64, |number, &code| number << 2 | u64::from(code));
    let reverse: Vec<u8> = codes.iter().rev().map(|code| 3 - code).collect();
    Some(number(&codes).min(number(&reverse)))
}

/// Returns the features of each window of a sequence, sorted.
pub fn sketches(letters: &[u8], params: &Params) -> Vec<Vec<u64>> {
    let (k, window, stride) = (params.k as usize, params.window as usize, params.stride as usize);
    let mut sketches = Vec::new();
    let mut start = 0;
    while start + k <= letters.len() {
        let end = (start + window).min(letters.len());
        sketches.push(sketch(&letters[start..end], params));
        if start + window > letters.len() {
            break;
        }
        start += stride;
    }
    sketches
}

fn sketch(window: &[u8], params: &Params) -> Vec<u64> {
    let rule = params.hash_rule();
    let hashes: BTreeSet<u64> = window
        .windows(params.k as usize)
        .filter_map(canonical)
        .map(|kmer| rule.hash(kmer))
        .filter(|&hash| hash < rule.limit(params.density))
        .collect();
    let mut features: Vec<u64> =
        hashes.into_iter().take(params.sketch as usize).map(|hash| rule.feature(hash)).collect();
    features.sort_unstable();
    features
}

/// Returns the bases of a sequence that features for which `counts` returns true cover.
pub fn covered(letters: &[u8], params: &Params, counts: &dyn Fn(u64) -> bool) -> BTreeSet<usize> {
    let (k, window, stride) = (params.k as usize, params.window as usize, params.stride as usize);
    let rule = params.hash_rule();
    let mut bases = BTreeSet::new();
    for (number, sketch) in sketches(letters, params).iter().enumerate() {
        let end = (number * stride + window).min(letters.len());
        for start in number * stride..=end - k {
            let kmer = canonical(&letters[start..start + k]);
            let feature = kmer.map(|kmer| rule.feature(rule.hash(kmer)));
            if feature.is_some_and(|feature| sketch.contains(&feature) && counts(feature)) {
                bases.extend(start..start + k);
            }
        }
    }
    bases
}

/// A location: (target, window).
pub type Location = (u32, u32);

/// All features of a reference with their locations, in the order of (target, window).
#[derive(Debug, Default)]
pub struct Reference {
    /// The first `max_locations` locations of each feature.
    pub locations: BTreeMap<u64, Vec<Location>>,
    /// The number of targets.
    pub targets: u32,
}

impl Reference {
    /// Indexes the targets in their order.
    pub fn new<S: AsRef<[u8]>>(targets: &[S], params: &Params) -> Reference {
        let mut locations: BTreeMap<u64, Vec<Location>> = BTreeMap::new();
        for (target, letters) in targets.iter().enumerate() {
            for (window, features) in sketches(letters.as_ref(), params).iter().enumerate() {
                for &feature in features {
                    let list = locations.entry(feature).or_default();
                    if list.len() < params.max_locations as usize {
                        list.push((target as u32, window as u32));
                    }
                }
            }
        }
        Reference { locations, targets: targets.len() as u32 }
    }

    /// Returns the candidates of a read or pair. `taxon_of` returns the taxon of a target at the lowest rank, and
    /// its node. Of the targets of a taxon, the best one is the candidate.
    pub fn candidates(
        &self,
        mates: &[&[u8]],
        params: &Params,
        options: &QueryParams,
        taxon_of: &dyn Fn(u32) -> (u32, u32),
    ) -> Vec<Candidate> {
        let mut hits: BTreeMap<Location, u32> = BTreeMap::new();
        for mate in mates {
            for feature in sketches(mate, params).iter().flatten() {
                for &location in self.locations.get(feature).into_iter().flatten() {
                    *hits.entry(location).or_default() += 1;
                }
            }
        }
        let bases: u64 = mates.iter().map(|mate| mate.len() as u64).sum();
        let range = 2 + bases.max(options.insert) / u64::from(params.stride);
        let targets: BTreeSet<u32> = hits.keys().map(|&(target, _)| target).collect();
        let mut best: BTreeMap<u32, Candidate> = BTreeMap::new();
        for target in targets {
            let run = best_run(&hits, target, range);
            let (taxon, node) = taxon_of(target);
            let (window, last, hits) = run;
            let nodes = [node; 2];
            let candidate = Candidate { target, taxon, hits, pooled: hits, window, last, nodes };
            match best.get_mut(&taxon) {
                Some(other) if other.hits > hits => {}
                Some(other) if other.hits == hits => {
                    other.nodes = [other.nodes[0].min(node), other.nodes[1].max(node)];
                }
                _ => {
                    best.insert(taxon, candidate);
                }
            }
        }
        let mut candidates: Vec<Candidate> = best.into_values().collect();
        candidates.sort_by_key(|candidate| (std::cmp::Reverse(candidate.hits), candidate.target));
        candidates.truncate(options.max_candidates);
        if bases <= MAX_POOLED {
            self.pool(mates, params, options.near, &mut candidates, taxon_of);
        }
        candidates
    }

    /// Sets the number of features of the read that all targets of a candidate's taxon have together, if several
    /// candidates are near the best one and the taxon of at least one of them has several targets.
    fn pool(
        &self,
        mates: &[&[u8]],
        params: &Params,
        near: u32,
        candidates: &mut [Candidate],
        taxon_of: &dyn Fn(u32) -> (u32, u32),
    ) {
        let most = candidates.first().map_or(0, |best| best.hits);
        let is_near = |one: &&mut Candidate| one.hits + near > most;
        let mut near: Vec<&mut Candidate> = candidates.iter_mut().filter(is_near).collect();
        let targets = |taxon| (0..self.targets).filter(|&one| taxon_of(one).0 == taxon).count();
        if near.len() < 2 || !near.iter().any(|one| targets(one.taxon) > 1) {
            return;
        }
        for one in &mut near {
            let features = mates.iter().flat_map(|mate| sketches(mate, params)).flatten();
            let has = |feature: &u64| {
                let locations = self.locations.get(feature).into_iter().flatten();
                locations.clone().any(|&(target, _)| taxon_of(target).0 == one.taxon)
            };
            one.pooled = features.filter(has).count() as u32;
        }
    }
}

/// Returns the first and the last window with a hit, and the hits, of the best run of at most `range` windows; the
/// earliest run on a tie.
fn best_run(hits: &BTreeMap<Location, u32>, target: u32, range: u64) -> (u32, u32, u32) {
    let of_target: Vec<(u32, u32)> =
        hits.iter().filter(|(at, _)| at.0 == target).map(|(at, &count)| (at.1, count)).collect();
    let mut best = (0, 0, 0);
    for &(first, _) in &of_target {
        let within = |window: u32| window >= first && u64::from(window - first) < range;
        let run = of_target.iter().filter(|run| within(run.0));
        let last = run.clone().map(|run| run.0).max().unwrap_or(first);
        let sum = run.map(|run| run.1).sum();
        if sum > best.2 {
            best = (first, last, sum);
        }
    }
    best
}
