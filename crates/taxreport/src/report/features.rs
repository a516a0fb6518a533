//! Columns of distinct features.

/// Features of reads by taxon, as Kraken's report with minimizer columns shows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeatureCounts {
    hits: Vec<u64>,
    distinct: Vec<u64>,
}

impl FeatureCounts {
    /// Features of reads, and distinct ones, by node.
    pub fn new(hits: Vec<u64>, distinct: Vec<u64>) -> FeatureCounts {
        FeatureCounts { hits, distinct }
    }

    /// By node: all features of reads, and the distinct ones.
    pub fn by_node(&self) -> [&[u64]; 2] {
        [&self.hits, &self.distinct]
    }
}
