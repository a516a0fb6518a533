//! Errors of this crate.

/// An error of fitting a model; its message is one line that tells what the histogram lacks or which setting is
/// invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The histogram has no k-mers.
    #[error("the histogram is empty")]
    Empty,
    /// The numbers only fall.
    #[error("no peak behind the errors: the coverage is too low for a model")]
    NoPeak,
    /// The numbers rise so little that it may be chance.
    #[error("no clear peak behind the errors: the coverage is too low for a model")]
    NoClearPeak,
    /// There are peaks, but the model fits none of them.
    #[error("the model fits none of the peaks of this histogram")]
    NoFit,
    /// The main peak is at the last count or beyond it.
    #[error(
        "the main peak lies at or beyond its last count, {0}: make the histogram again without an upper \
         limit for counts (e.g. `jellyfish histo -h 1000000`; `kmc -cs1000000` and `kmc_tools transform \
         … histogram -cx1000000`)"
    )]
    BeyondEnd(u32),
    /// The rows are bins of several counts.
    #[error(
        "its counts rise by {0}: the rows are bins of several counts; make the histogram again with a row \
         for each count (e.g. `jellyfish histo -i 1`)"
    )]
    Bins(u32),
    /// The ploidy is not 1 to 6.
    #[error("the ploidy is {0}: it must be from 1 to 6")]
    Ploidy(u32),
    /// The ploidy has no topology with this number.
    #[error("the topologies of ploidy {ploidy} are 0 to {last}")]
    Topology {
        /// The ploidy.
        ploidy: u32,
        /// The largest topology number of the ploidy.
        last: u32,
    },
    /// The initial coverage is invalid.
    #[error("the initial coverage must be from 1 to 1,000,000")]
    Coverage,
}

impl Error {
    /// Whether the histogram is the reason that there is no model, and not a setting.
    pub fn is_of_coverage(&self) -> bool {
        matches!(self, Error::NoPeak | Error::NoClearPeak | Error::NoFit)
    }
}
