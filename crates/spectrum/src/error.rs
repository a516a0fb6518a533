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
}
