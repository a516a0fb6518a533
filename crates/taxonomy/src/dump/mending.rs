//! Mends or rejects the parents and merges of a dump.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::TaxonomyNotes;
use crate::{Error, NodeInfo};

/// Attaches nodes whose parent does not exist to the root, and records them in `notes`.
pub(super) fn attach_orphans(nodes: &mut HashMap<u32, NodeInfo>, notes: &mut TaxonomyNotes) {
    let known: HashSet<u32> = nodes.keys().copied().collect();
    for node in nodes.values_mut() {
        if !known.contains(&node.parent) {
            node.parent = 1;
            notes.orphans.push(node.taxid);
        }
    }
    notes.orphans.sort_unstable();
}

/// Fails if a node is its own ancestor.
pub(super) fn refuse_cycles(nodes: &HashMap<u32, NodeInfo>, path: &Path) -> Result<(), Error> {
    let mut sound: HashSet<u32> = HashSet::from([1]);
    for &start in nodes.keys() {
        let mut way = Vec::new();
        let mut taxid = start;
        while !sound.contains(&taxid) {
            if way.len() > nodes.len() {
                let least = way.iter().min().copied().unwrap_or(taxid);
                return Err(Error::content(path, format!("taxid {least} is its own ancestor")));
            }
            way.push(taxid);
            taxid = nodes[&taxid].parent;
        }
        sound.extend(way);
    }
    Ok(())
}

/// Resolves chains of merges: returns each old taxid of `merged` with the first taxid on its chain that the
/// taxonomy has.
///
/// If an old taxid has several lines, the first one counts. A chain that ends in an unknown taxid or a cycle
/// resolves to an unknown taxid.
pub(super) fn follow_merges(
    merged: &[[u32; 2]],
    is_known: impl Fn(u32) -> bool,
) -> Vec<(u32, u32)> {
    let mut next: HashMap<u32, u32> = HashMap::with_capacity(merged.len());
    for &[old, new] in merged {
        next.entry(old).or_insert(new);
    }
    let mut ends: HashMap<u32, u32> = HashMap::with_capacity(next.len());
    for &[old, _] in merged {
        let (mut way, mut on_it) = (Vec::new(), HashSet::new());
        let mut taxid = old;
        // The first step is always made, even if the old taxid still exists: lookups prefer existing taxids.
        while let (true, Some(&new)) = (on_it.insert(taxid), next.get(&taxid)) {
            way.push(taxid);
            taxid = ends.get(&new).copied().unwrap_or(new);
            if is_known(taxid) {
                break;
            }
        }
        ends.extend(way.into_iter().map(|one| (one, taxid)));
    }
    ends.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_are_followed_to_their_end() {
        let of = |merged: &[[u32; 2]]| {
            let mut all = follow_merges(merged, |taxid| taxid > 100);
            all.sort_unstable();
            all
        };
        assert_eq!(of(&[[99, 98], [98, 101]]), [(98, 101), (99, 101)]);
        assert_eq!(of(&[[98, 101], [97, 98], [99, 97]]), [(97, 101), (98, 101), (99, 101)]);
        // A chain with an unknown end, a self-merge, and a cycle.
        assert_eq!(of(&[[3, 2], [2, 1]]), [(2, 1), (3, 1)]);
        assert_eq!(of(&[[7, 7]]), [(7, 7)]);
        let circle = of(&[[1, 2], [2, 3], [3, 1], [4, 3]]);
        assert!(circle.iter().all(|(_, end)| *end <= 100), "{circle:?}");
        assert_eq!(of(&[[5, 101], [5, 102]]), [(5, 101)]);
        let long: Vec<[u32; 2]> = (1000..200_000).map(|taxid| [taxid + 1, taxid]).collect();
        let ends = follow_merges(&long, |taxid| taxid == 1000);
        assert!(ends.len() == long.len() && ends.iter().all(|(_, end)| *end == 1000));
    }
}
