//! The taxon of a read, computed from the taxa of its minimizers.

use super::taxonomy::Kraken2Taxonomy;

/// Hits of a taxon: (node, number of k-mers).
pub(super) type Hits = (u32, u64);

/// Returns the taxon of a read with these hits, in any order and with repeated taxa, and `total` k-mers,
/// ambiguous ones included: the lowest common ancestor of the taxa with the most hits on the path from
/// the root, moved up until `confidence` of the k-mers are in its clade; 0 if there is no such taxon.
/// The content of `hits` is unspecified afterwards; `path` is working space.
pub(super) fn resolve(
    tree: &Kraken2Taxonomy,
    hits: &mut Vec<Hits>,
    path: &mut Vec<(u32, u64)>,
    total: u64,
    confidence: f64,
) -> u32 {
    resolve_with(tree, hits, path, (confidence * total as f64).ceil() as u64)
}

/// Returns the taxon as [`resolve`] does, moved up until `needed` k-mers are in its clade.
pub(super) fn resolve_with(
    tree: &Kraken2Taxonomy,
    hits: &mut Vec<Hits>,
    path: &mut Vec<(u32, u64)>,
    needed: u64,
) -> u32 {
    let Some(&(first, _)) = hits.first() else { return 0 };
    if hits.iter().all(|hit| hit.0 == first) {
        let sum: u64 = hits.iter().map(|hit| hit.1).sum();
        // No ancestor's clade has more hits.
        return if sum >= needed { first } else { 0 };
    }
    // In preorder, a node comes after its ancestors.
    hits.sort_unstable_by_key(|hit| tree.clade(hit.0).start);
    hits.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        kept.1 += if same { next.1 } else { 0 };
        same
    });
    let best = heaviest(tree, hits, path);
    climb(tree, hits, best, needed)
}

/// Returns the lowest common ancestor of the taxa with the most hits at themselves and their ancestors.
fn heaviest(tree: &Kraken2Taxonomy, hits: &[Hits], path: &mut Vec<(u32, u64)>) -> u32 {
    // The path from the root to the last taxon: (end of the clade, hits of the node and its ancestors).
    path.clear();
    let (mut most, mut best) = (0, 0);
    for &(node, own) in hits {
        let clade = tree.clade(node);
        while path.pop_if(|above| above.0 <= clade.start).is_some() {}
        let score = own + path.last().map_or(0, |above| above.1);
        path.push((clade.end, score));
        if score > most {
            (most, best) = (score, node);
        } else if score == most {
            best = tree.lca(best, node);
        }
    }
    best
}

/// Returns the node, or its nearest ancestor, whose clade has `needed` hits; 0 if none has.
fn climb(tree: &Kraken2Taxonomy, hits: &mut [Hits], mut node: u32, needed: u64) -> u32 {
    if needed == 0 {
        return node;
    }
    let mut sum = 0;
    for hit in hits.iter_mut() {
        sum += hit.1;
        hit.1 = sum;
    }
    while node != 0 {
        let clade = tree.clade(node);
        let before = |place: u32| {
            let end = hits.partition_point(|hit| tree.clade(hit.0).start < place);
            if end == 0 { 0 } else { hits[end - 1].1 }
        };
        if before(clade.end) - before(clade.start) >= needed {
            break;
        }
        node = tree.parent(node);
    }
    node
}

#[cfg(test)]
mod tests {
    use super::super::taxonomy::tests::{parents, tree};
    use super::*;
    use proptest::prelude::*;

    /// Classifies by the definition of the rule.
    fn naive(tree: &Kraken2Taxonomy, hits: &[Hits], total: u64, confidence: f64) -> u32 {
        let is_below = |node: u32, above: u32| {
            std::iter::successors(Some(node), |&n| Some(tree.parent(n)).filter(|&p| p > 0))
                .any(|n| n == above)
        };
        let score = |taxon: u32| -> u64 {
            hits.iter().filter(|hit| is_below(taxon, hit.0)).map(|hit| hit.1).sum()
        };
        let most = hits.iter().map(|hit| score(hit.0)).max().unwrap_or(0);
        let best = hits.iter().filter(|hit| score(hit.0) == most).map(|hit| hit.0);
        let mut call = best.reduce(|a, b| tree.lca(a, b)).unwrap_or(0);
        let needed = (confidence * total as f64).ceil() as u64;
        let clade = |call: u32| -> u64 {
            hits.iter().filter(|hit| is_below(hit.0, call)).map(|hit| hit.1).sum()
        };
        while call != 0 && clade(call) < needed {
            call = tree.parent(call);
        }
        call
    }

    proptest! {
        #[test]
        fn calls_are_those_of_the_rule(
            parents in parents(),
            picks in proptest::collection::vec((0.0..1.0f64, 1u64..5), 0..12),
            more in 0u64..20,
            confidence in prop_oneof![Just(0.0), Just(1.0), 0.0..1.0f64],
        ) {
            let tree = tree(&parents, &[]);
            let node = |pick: f64| 1 + (pick * (tree.len() - 1) as f64) as u32;
            let mut hits: Vec<Hits> = picks.iter().map(|&(pick, count)| (node(pick), count)).collect();
            let total = more + hits.iter().map(|hit| hit.1).sum::<u64>();
            let expected = naive(&tree, &hits, total, confidence);
            prop_assert_eq!(resolve(&tree, &mut hits, &mut Vec::new(), total, confidence), expected);
        }
    }
}
