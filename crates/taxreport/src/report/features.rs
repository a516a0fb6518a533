//! Counts of features for the columns of a report.

/// The features of reads by taxon, for the minimizer columns of Kraken's report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeatureCounts {
    hits: Vec<u64>,
    distinct: Vec<u64>,
}

impl FeatureCounts {
    /// Returns counts from the features of reads, and the distinct ones, of each node.
    pub fn new(hits: Vec<u64>, distinct: Vec<u64>) -> FeatureCounts {
        FeatureCounts { hits, distinct }
    }

    /// Returns all features of reads and the distinct ones, each by node.
    pub fn by_node(&self) -> [&[u64]; 2] {
        [&self.hits, &self.distinct]
    }
}
