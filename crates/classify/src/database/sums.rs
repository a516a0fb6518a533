//! The numbers of sequences and bases of taxa.

use merganser_taxonomy::Taxonomy;

use super::Target;

/// The numbers of sequences and of their bases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TargetSum {
    /// The number of sequences.
    pub sequences: u64,
    /// The number of bases of all of them.
    pub bases: u64,
}

/// The sums over the targets of each node of a tree, in the order of the nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetSums {
    /// The targets of each node itself.
    pub own: Vec<TargetSum>,
    /// The targets of each node and of the nodes below it.
    pub clades: Vec<TargetSum>,
}

impl TargetSums {
    /// Sums up the targets of the nodes of `tree`.
    pub fn of(tree: &Taxonomy, targets: &[Target]) -> TargetSums {
        let mut own = vec![TargetSum::default(); tree.len()];
        for target in targets {
            own[target.node as usize].add(TargetSum { sequences: 1, bases: target.bases });
        }
        let mut clades = own.clone();
        // A node comes after the one above it.
        for node in (1..tree.len()).rev() {
            let sum = clades[node];
            clades[tree.parent(node as u32) as usize].add(sum);
        }
        TargetSums { own, clades }
    }
}

impl TargetSum {
    fn add(&mut self, other: TargetSum) {
        self.sequences += other.sequences;
        self.bases += other.bases;
    }
}
