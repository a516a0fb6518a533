//! Joins the places of the stretches of a sequence: decides the clusters at their borders, and returns hits in order.

use std::collections::BTreeMap;

use crate::hit::Hit;
use crate::places::{Candidate, Overlap, Places, decide_candidates};
use crate::queries::Queries;

/// The number of ends of a cluster after which it is decided, so that memory does not grow with a repeat.
const MAX_CLUSTER: usize = 1 << 16;
/// The number of ends of all undecided clusters after which further ones are decided at once.
const MAX_OPEN: usize = 1 << 18;

/// The places of a sequence that are not returned yet. Positions are those of the sequence.
#[derive(Debug, Default)]
pub(crate) struct Join {
    /// The undecided clusters, by query.
    clusters: BTreeMap<usize, Vec<Candidate>>,
    hits: Vec<Hit>,
    /// The number of letters before the next stretch that are not repeated by it.
    offset: usize,
}

impl Join {
    /// Adds the next stretch, of `length` letters of which the first `repeated` are those of the stretch before, and
    /// returns the hits that come before all hits of later stretches, in order, and the first position at which a later hit
    /// may begin.
    pub(crate) fn add(
        &mut self,
        queries: &Queries,
        mut places: Places,
        length: usize,
        repeated: usize,
        is_last: bool,
    ) -> (Vec<Hit>, usize) {
        let offset = self.offset.saturating_sub(repeated);
        self.offset = offset + length;
        let clusters = places.clusters.iter_mut();
        let candidates = clusters.flat_map(|cluster| &mut cluster.candidates);
        let inner = candidates.map(|candidate| {
            candidate.end.position += offset;
            &mut candidate.hit
        });
        inner.chain(&mut places.hits).for_each(|hit| {
            hit.alignment.start += offset;
            hit.alignment.end += offset;
        });
        self.hits.append(&mut places.hits);
        let mut earlier = std::mem::take(&mut self.clusters);
        let mut open = 0;
        for cluster in places.clusters {
            let mut candidates = match cluster.is_open[0] {
                true => earlier.remove(&cluster.query).unwrap_or_default(),
                false => Vec::new(),
            };
            candidates.extend(cluster.candidates);
            let is_open = cluster.is_open[1] && !is_last && candidates.len() < MAX_CLUSTER;
            if is_open && open + candidates.len() <= MAX_OPEN {
                open += candidates.len();
                self.clusters.insert(cluster.query, candidates);
            } else {
                decide_candidates(candidates, queries.all()[cluster.query].edits, &mut self.hits);
            }
        }
        for (query, candidates) in earlier {
            decide_candidates(candidates, queries.all()[query].edits, &mut self.hits);
        }
        self.take(queries, is_last)
    }

    /// Takes the hits that come before all others, and returns the first position of these.
    fn take(&mut self, queries: &Queries, is_last: bool) -> (Vec<Hit>, usize) {
        self.hits.sort_unstable_by_key(Hit::key);
        if is_last {
            self.offset = 0;
            return (std::mem::take(&mut self.hits), usize::MAX);
        }
        // Hits of later stretches begin in the letters that these repeat, or after them.
        let next = self.offset.saturating_sub(Overlap::of(queries).letters());
        let open = self.clusters.values().flatten().map(|one| one.hit.alignment.start).min();
        let limit = open.map_or(next, |open| open.min(next));
        let count = self.hits.partition_point(|hit| hit.alignment.start < limit);
        let rest = self.hits.split_off(count);
        (std::mem::replace(&mut self.hits, rest), limit)
    }
}
