//! Why a histogram has no model.

/// An error of this crate; its message is one line that says what the histogram lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no k-mer in it.
    #[error("the histogram is empty")]
    Empty,
    /// The numbers do nothing but fall.
    #[error("no peak behind the errors: the coverage is too low for a model")]
    NoPeak,
    /// The numbers rise so little that it may be chance.
    #[error("no clear peak behind the errors: the coverage is too low for a model")]
    NoClearPeak,
    /// There are peaks, and the model describes none of them.
    #[error("the model fits none of the peaks of this histogram")]
    NoFit,
    /// The main peak lies at the last count or beyond it.
    #[error(
        "the main peak lies at or beyond its last count, {0}: make the histogram again without an upper \
         limit for counts (as `jellyfish histo -h 1000000`; `kmc -cs1000000` and `kmc_tools transform \
         … histogram -cx1000000`)"
    )]
    BeyondEnd(u32),
    /// Rows are bins of several counts.
    #[error(
        "its counts rise by {0}: the rows are bins of several counts; make the histogram again with a row \
         for each count (as `jellyfish histo -i 1`)"
    )]
    Bins(u32),
    /// No model has so many haplotypes.
    #[error("a ploidy of {0}: models are of 1 to 6 haplotypes")]
    Ploidy(u32),
    /// The ploidy has fewer ways in which haplotypes are related.
    #[error("the topologies of ploidy {ploidy} are 0 to {last}")]
    Topology {
        /// The ploidy,
        ploidy: u32,
        /// and the last topology that it has.
        last: u32,
    },
    /// A coverage to begin with that is none.
    #[error("the coverage to begin with is to be from 1 to 1,000,000")]
    Coverage,
}

impl Error {
    /// Whether the histogram, not what was asked of it, is why there is no model.
    pub fn is_of_coverage(&self) -> bool {
        matches!(self, Error::NoPeak | Error::NoClearPeak | Error::NoFit)
    }
}
