//! Lowest common ancestors in constant time, with range minima (Bender and Farach-Colton, 2000).

/// Range minima over the parents of nodes in depth-first order.
///
/// The LCA of u < v is the smallest parent among the nodes u + 1 to v: the walk from u to v leaves each subtree
/// below the LCA and enters the subtree of v through a child of the LCA, and no node in between has a parent above
/// it. (Parents have smaller numbers than their children, so the smallest parent is the highest one.)
#[derive(Clone, Debug)]
pub(super) struct LcaTable {
    /// `levels[j][i]` is the minimum of the parents of the 2ʲ nodes from node i on.
    levels: Vec<Vec<u32>>,
}

impl LcaTable {
    /// Builds the table from the parents of nodes in depth-first order. It holds about n log n numbers.
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

    /// Returns the lowest common ancestor of two nodes.
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

    /// Finds the LCA by climbing.
    fn naive(parents: &[u32], mut a: u32, mut b: u32) -> u32 {
        while a != b {
            if a > b { a = parents[a as usize] } else { b = parents[b as usize] }
        }
        a
    }

    proptest! {
        #[test]
        fn constant_time_equals_climbing(choices in proptest::collection::vec(any::<u32>(), 0..60)) {
            // Each new node is attached to a node on the path to the previous one: this gives a depth-first order.
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
