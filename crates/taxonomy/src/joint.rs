//! The taxonomies of several databases, joined by their taxids.

use std::collections::HashMap;
use std::path::Path;

use crate::{Error, NodeInfo, Taxonomy};

/// A joint taxonomy, and what differs between the taxonomies.
#[derive(Clone, Debug)]
pub struct JointTaxonomy {
    /// The tree of all taxa.
    pub taxonomy: Taxonomy,
    /// A message for each database whose taxonomy differs from those before it.
    pub differences: Vec<String>,
}

/// The taxa that two taxonomies share, which are those of the same taxid, without the root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedTaxa {
    /// The number of taxa.
    pub taxa: usize,
    /// The number of taxa that only the first taxonomy has.
    pub only_first: usize,
    /// The number of taxa that only the second taxonomy has.
    pub only_second: usize,
    /// The number of taxa whose parent differs.
    pub other_parent: usize,
    /// The number of taxa whose rank differs.
    pub other_rank: usize,
    /// The number of taxa whose parent or rank differs.
    pub moved: usize,
    /// The number of taxa with another name.
    pub renamed: usize,
    /// The number of taxa that only the second taxonomy has, and whose name and rank are those of a taxon of the first.
    pub renumbered: usize,
    /// The first difference of a taxon that both have.
    pub first: Option<String>,
}

impl JointTaxonomy {
    /// Joins taxonomies, each with the path of its database. A taxon that several have is as in the first of them.
    ///
    /// # Errors
    /// If they are different taxonomies: if their roots differ; if more than ten, and more than a tenth, of the taxids that
    /// they share have other names, or more than half; if more taxa have other taxids than the same ones.
    pub fn of<'t>(
        mut all: impl Iterator<Item = (&'t Path, &'t Taxonomy)>,
    ) -> Result<JointTaxonomy, Error> {
        let mut differences = Vec::new();
        let Some((path, first)) = all.next() else {
            return Err(Error::Input("there is no database".to_owned()));
        };
        let mut tree = first.clone();
        for (other_path, other) in all {
            let (united, difference) = unite((path, &tree), (other_path, other))?;
            tree = united;
            differences.extend(difference);
        }
        Ok(JointTaxonomy { taxonomy: tree, differences })
    }
}

/// Returns a taxonomy with the taxa that only another one has, and a message if taxa of both differ.
///
/// # Errors
/// If they are different taxonomies; see [`JointTaxonomy::of`].
pub fn unite(
    (path, tree): (&Path, &Taxonomy),
    (other_path, other): (&Path, &Taxonomy),
) -> Result<(Taxonomy, Option<String>), Error> {
    let roots = [tree, other].map(|tree| tree.taxid(tree.root()));
    if roots[0] != roots[1] {
        let problem = format!("their roots are {} and {}", roots[0], roots[1]);
        return Err(different(path, other_path, &problem));
    }
    let other = &with_former_taxids(tree, other);
    let shared = shared_taxa(tree, other);
    let SharedTaxa { taxa, renamed, renumbered, .. } = shared;
    if 2 * renamed > taxa || (renamed > 10 && 10 * renamed > taxa) {
        let problem = format!("{renamed} of {taxa} taxids that both have are other taxa");
        return Err(different(path, other_path, &problem));
    }
    if renumbered > taxa {
        let problem = format!("{renumbered} taxa of the same name and rank have other taxids");
        return Err(different(path, other_path, &problem));
    }
    Ok((tree.united(other), shared.message(other_path)))
}

/// Compares two taxonomies, in which merged taxids are those of the older one, as [`unite`] does.
pub fn compare(tree: &Taxonomy, other: &Taxonomy) -> SharedTaxa {
    shared_taxa(tree, &with_former_taxids(tree, other))
}

fn shared_taxa(tree: &Taxonomy, other: &Taxonomy) -> SharedTaxa {
    let by_name: HashMap<_, _> = (1..tree.len() as u32)
        .map(|node| ((tree.name(node), tree.rank_name(node)), tree.taxid(node)))
        .collect();
    let mut shared = SharedTaxa::default();
    for node in 1..other.len() as u32 {
        let known = exact(tree, other.taxid(node));
        let same_name = by_name.get(&(other.name(node), other.rank_name(node)));
        match (known, same_name) {
            (Some(known), _) => shared.compare((tree, known), (other, node)),
            (None, Some(_)) => shared.renumbered += 1,
            (None, None) => {}
        }
    }
    shared.only_first = tree.len() - 1 - shared.taxa;
    shared.only_second = other.len() - 1 - shared.taxa;
    shared
}

/// Returns the node with exactly this taxid, not the one that it was merged into.
fn exact(tree: &Taxonomy, taxid: u32) -> Option<u32> {
    tree.node(taxid).filter(|&node| tree.taxid(node) == taxid)
}

/// Returns a taxonomy in which taxa have their former taxids if another, older one has only these: otherwise, taxa whose
/// taxids were merged since would be two taxa of the joint taxonomy.
fn with_former_taxids(older: &Taxonomy, tree: &Taxonomy) -> Taxonomy {
    let pairs = tree.merged().filter_map(|old| Some((old, tree.taxid(tree.node(old)?))));
    let mut pairs: Vec<(u32, u32)> = pairs.collect();
    let is_known = |taxid: u32| exact(older, taxid).is_some();
    let former: HashMap<u32, u32> = pairs
        .iter()
        .rev()
        .filter(|&&(old, new)| is_known(old) && !is_known(new))
        .map(|&(old, new)| (new, old))
        .collect();
    if former.is_empty() {
        return tree.clone();
    }
    let now = |taxid: u32| former.get(&taxid).copied().unwrap_or(taxid);
    let node = |node: u32| NodeInfo {
        taxid: now(tree.taxid(node)),
        parent: now(tree.taxid(tree.parent(node))),
        rank: tree.rank_name(node).to_owned(),
        name: tree.name(node).to_owned(),
    };
    pairs.iter_mut().for_each(|(_, new)| *new = now(*new));
    pairs.retain(|(old, new)| old != new);
    pairs.extend(former.iter().map(|(&new, &old)| (new, old)));
    Taxonomy::new((0..tree.len() as u32).map(node).collect(), pairs)
}

impl SharedTaxa {
    fn compare(&mut self, (tree, known): (&Taxonomy, u32), (other_tree, other): (&Taxonomy, u32)) {
        self.taxa += 1;
        let of = |tree: &Taxonomy, node: u32| {
            let parent = tree.taxid(tree.parent(node)).to_string();
            [
                ("parent", parent),
                ("rank", tree.rank_name(node).into()),
                ("name", tree.name(node).into()),
            ]
        };
        let both = of(tree, known).into_iter().zip(of(other_tree, other));
        let different: Vec<_> = both.filter(|(one, other)| one != other).collect();
        let Some(((what, one), (_, two))) = different.first() else { return };
        let differs = |what| usize::from(different.iter().any(|((other, _), _)| *other == what));
        self.other_parent += differs("parent");
        self.other_rank += differs("rank");
        self.renamed += differs("name");
        self.moved += usize::from(*what != "name");
        let taxid = tree.taxid(known);
        let difference = || format!("taxid {taxid}: its {what} is '{one}' and '{two}'");
        self.first.get_or_insert_with(difference);
    }

    /// Returns the message about a taxonomy that differs.
    fn message(self, path: &Path) -> Option<String> {
        let first = self.first?;
        let (moved, renamed, all) = (self.moved, self.renamed, self.taxa);
        Some(format!(
            "{}: {moved} of the {all} taxids that earlier databases have too differ in parent or rank, and {renamed} \
             in name; those of the earlier databases are used; {first}",
            path.display()
        ))
    }
}

fn different(one: &Path, other: &Path, problem: &str) -> Error {
    Error::Input(format!(
        "{} and {} have different taxonomies: {problem}; classify with each by itself",
        one.display(),
        other.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(nodes: &[(u32, u32, &str, &str)]) -> Taxonomy {
        let info = |&(taxid, parent, rank, name): &(u32, u32, &str, &str)| NodeInfo {
            taxid,
            parent,
            rank: rank.to_owned(),
            name: name.to_owned(),
        };
        Taxonomy::new(nodes.iter().map(info).collect(), Vec::new())
    }

    fn bytes(tree: &Taxonomy) -> Vec<u8> {
        let mut bytes = Vec::new();
        tree.store(&mut bytes);
        bytes
    }

    const ROOT: (u32, u32, &str, &str) = (1, 1, "no rank", "root");

    fn join(trees: &[&Taxonomy]) -> Result<JointTaxonomy, String> {
        let paths = ["a", "b", "c"].map(Path::new);
        JointTaxonomy::of(paths.into_iter().zip(trees.iter().copied()))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn taxa_are_joined_by_taxid() {
        let one = tree(&[ROOT, (2, 1, "domain", "B"), (11, 2, "species", "x")]);
        let two = tree(&[ROOT, (2, 1, "domain", "B"), (7, 2, "genus", "G"), (8, 7, "species", "")]);
        let joint = join(&[&one, &two]).unwrap();
        assert!(joint.differences.is_empty());
        let all = tree(&[
            ROOT,
            (2, 1, "domain", "B"),
            (7, 2, "genus", "G"),
            (8, 7, "species", ""),
            (11, 2, "species", "x"),
        ]);
        assert_eq!(bytes(&joint.taxonomy), bytes(&all));
    }

    #[test]
    fn differences_are_named() {
        let one = tree(&[ROOT, (2, 1, "domain", "B"), (3, 1, "domain", "C"), (5, 2, "genus", "G")]);
        let two = tree(&[ROOT, (2, 1, "domain", "B"), (3, 2, "phylum", "C"), (5, 2, "genus", "H")]);
        let joint = join(&[&one, &two]).unwrap();
        assert_eq!(
            joint.differences,
            [
                "b: 1 of the 3 taxids that earlier databases have too differ in parent or rank, and 1 in name; those of \
              the earlier databases are used; taxid 3: its parent is '1' and '2'"
            ]
        );
        assert_eq!(bytes(&joint.taxonomy), bytes(&one));
    }

    #[test]
    fn merged_taxids_are_those_of_the_older_taxonomy() {
        let older = tree(&[ROOT, (2, 1, "domain", "B"), (100, 2, "genus", "G")]);
        let nodes =
            [ROOT, (2, 1, "domain", "B"), (200, 2, "genus", "G"), (300, 200, "species", "x")];
        let info = |&(taxid, parent, rank, name): &(u32, u32, &str, &str)| NodeInfo {
            taxid,
            parent,
            rank: rank.to_owned(),
            name: name.to_owned(),
        };
        let newer = Taxonomy::new(nodes.iter().map(info).collect(), vec![(100, 200), (99, 200)]);
        let (joint, difference) =
            unite((Path::new("a"), &older), (Path::new("b"), &newer)).unwrap();
        assert_eq!((joint.len(), difference), (4, None));
        let taxid = |taxid: u32| joint.node(taxid).map(|node| joint.taxid(node));
        assert_eq!([99, 100, 200, 300].map(taxid), [100, 100, 100, 300].map(Some));
        let species = joint.node(300).unwrap();
        assert_eq!(joint.taxid(joint.parent(species)), 100);
    }

    #[test]
    fn other_taxonomies_are_refused() {
        let one = tree(&[ROOT, (2, 1, "domain", "B"), (3, 2, "species", "x")]);
        let names = tree(&[ROOT, (2, 1, "domain", "D"), (3, 2, "species", "y")]);
        let message = join(&[&one, &names]).unwrap_err();
        assert!(
            message.starts_with("a and b have different taxonomies: 2 of 2 taxids"),
            "{message}"
        );
        let numbers = tree(&[ROOT, (7, 1, "domain", "B"), (8, 7, "species", "x")]);
        let message = join(&[&one, &numbers]).unwrap_err();
        assert!(
            message.contains("2 taxa of the same name and rank have other taxids"),
            "{message}"
        );
        let root = tree(&[(131_567, 131_567, "no rank", "cellular organisms")]);
        let message = join(&[&one, &root]).unwrap_err();
        assert!(message.contains("their roots are 1 and 131567"), "{message}");
    }
}
