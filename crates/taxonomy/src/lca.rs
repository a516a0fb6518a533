//! Lowest common ancestors in constant time, by range minima (Bender and Farach-Colton, 2000).

/// For nodes in depth-first order, the LCA of u < v is the smallest parent among the nodes after u
/// up to v: the walk from u to v leaves each subtree below the LCA and enters the one of v through
/// a child of the LCA, and no node in between has a parent above it. (A node's parent has a
/// smaller number than the node, so the smallest parent is the highest one.)
#[derive(Clone, Debug)]
pub(super) struct LcaTable {
    /// `levels[j][i]` is the minimum of the parents of the 2ʲ nodes from i on.
    levels: Vec<Vec<u32>>,
}

impl LcaTable {
    /// The table for the parents of nodes in depth-first order; n log n numbers.
    pub(super) fn new(parents: &[u32]) -> LcaTable {
        let mut levels = vec![parents.to_vec()];
        let mut half = 1;
        while 2 * half <= parents.len() {
            let last = &levels[levels.len() - 1];
            let next = (0..=parents.len() - 2 * half).map(|i| last[i].min(last[i + half]));
            let next: Vec<u32> = next.collect();
            levels.push(next);
            half *= 2;
        }
        LcaTable { levels }
    }

    /// The lowest common ancestor of two nodes.
    #[inline]
    pub(super) fn query(&self, a: u32, b: u32) -> u32 {
        let (low, high) = (a.min(b) as usize, a.max(b) as usize);
        if low == high {
            return a;
        }
        let level = (high - low).ilog2() as usize;
        let minima = &self.levels[level];
        minima[low + 1].min(minima[high + 1 - (1 << level)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By climbing.
    fn naive(parents: &[u32], mut a: u32, mut b: u32) -> u32 {
        while a != b {
            if a > b { a = parents[a as usize] } else { b = parents[b as usize] }
        }
        a
    }

    proptest! {
        #[test]
        fn constant_time_equals_climbing(choices in proptest::collection::vec(any::<u32>(), 0..60)) {
            // Each next node hangs on some node of the path to the one before it: depth first.
            let mut parents = vec![0u32];
            for choice in choices {
                let mut path = vec![parents.len() as u32 - 1];
                while path[path.len() - 1] != 0 {
                    path.push(parents[path[path.len() - 1] as usize]);
                }
                parents.push(path[choice as usize % path.len()]);
            }
            let table = LcaTable::new(&parents);
            for a in 0..parents.len() as u32 {
                for b in 0..parents.len() as u32 {
                    prop_assert_eq!(table.query(a, b), naive(&parents, a, b));
                }
            }
        }
    }
}
