//! The candidates of a number of reads, as parts and paths give them.

use super::kernels::RawCandidate;
use crate::Database;
use crate::decide::Candidate;

/// Candidates of reads, room for so many each.
#[derive(Debug, Default)]
pub(super) struct Found {
    most: usize,
    counts: Vec<usize>,
    candidates: Vec<Candidate>,
}

impl Found {
    /// None yet of `reads` reads, `most` each.
    pub(super) fn reset(&mut self, reads: usize, most: usize) {
        self.most = most;
        self.counts.clear();
        self.counts.resize(reads, 0);
        let none = Candidate { target: 0, taxon: 0, hits: 0, window: 0, last: 0, nodes: [0; 2] };
        self.candidates.resize(reads * most, none);
    }

    /// The candidates of a read, in order.
    pub(super) fn of(&self, read: usize) -> &[Candidate] {
        &self.candidates[read * self.most..][..self.counts[read]]
    }

    /// Adds candidates of a read from a part that was not asked before; they come in order.
    pub(super) fn merge(&mut self, read: usize, others: impl Iterator<Item = Candidate>) {
        let own = &mut self.candidates[read * self.most..][..self.most];
        let count = &mut self.counts[read];
        for other in others {
            insert(own, count, other);
        }
    }
}

/// Puts a candidate among `own[..count]`, which are in order (hits descending, then target), one for
/// each taxon.
fn insert(own: &mut [Candidate], count: &mut usize, mut other: Candidate) {
    let better = |one: &Candidate| (one.hits, other.target) > (other.hits, one.target);
    let place = own[..*count].iter().take_while(|one| better(one)).count();
    let same = own[..*count].iter().position(|one| one.taxon == other.taxon);
    if let Some(same) = same.filter(|&same| own[same].hits == other.hits) {
        other.widen(&own[same]);
        own[same].nodes = other.nodes;
    }
    let end = match same {
        Some(same) if same < place => return,
        Some(same) => same,
        None if *count < own.len() => {
            *count += 1;
            *count - 1
        }
        None if place == *count => return,
        None => *count - 1,
    };
    own[place..=end].rotate_right(1);
    own[place] = other;
}

/// From what the device says to a candidate.
pub(super) fn candidate(
    database: &Database,
    taxa: &[u32],
    [target, hits, first, last, low, high]: RawCandidate,
) -> Candidate {
    let before = database.first_window(target);
    let (window, last) = (first - before, last - before);
    let taxon = taxa[target as usize];
    Candidate { target, taxon, hits, window, last, nodes: [low, high] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_best_of_each_taxon_stay_in_order(
            parts in proptest::collection::vec(
                proptest::collection::vec((0u32..6, 1u32..5), 0..8), 1..5),
            most in 1usize..5,
        ) {
            let mut found = Found::default();
            found.reset(1, most);
            let mut all: Vec<Candidate> = Vec::new();
            let mut target = 0;
            // Parts may come in any order: later ones here have lower targets.
            let total: u32 = parts.iter().map(|part| part.len() as u32).sum();
            for part in &parts {
                let of_part: Vec<Candidate> = part
                    .iter()
                    .map(|&(taxon, hits)| {
                        target += 1;
                        let (window, last) = (target, target);
                        let target = total - target;
                        Candidate { target, taxon, hits, window, last, nodes: [target; 2] }
                    })
                    .collect();
                all.extend(&of_part);
                found.merge(0, of_part.into_iter());
            }
            all.sort_by_key(|one| (std::cmp::Reverse(one.hits), one.target));
            let mut seen = Vec::new();
            let ties = all.clone();
            all.retain(|one| !seen.contains(&one.taxon) && { seen.push(one.taxon); true });
            all.truncate(most);
            // The nodes of all others may be incomplete.
            let single = all.get(1).map_or(most > 1, |one| one.hits < all[0].hits);
            for (at, (one, own)) in all.iter_mut().zip(found.of(0)).enumerate() {
                let same = |tie: &&Candidate| (tie.taxon, tie.hits) == (one.taxon, one.hits);
                let nodes = ties.iter().filter(same).map(|tie| tie.target);
                let range = [nodes.clone().min().unwrap(), nodes.max().unwrap()];
                one.nodes = if at == 0 && single { range } else { own.nodes };
            }
            prop_assert_eq!(found.of(0), &all[..]);
        }
    }
}
