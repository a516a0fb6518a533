//! Values of options that are not plain numbers.

use merganser_taxonomy::Rank;

/// A rank by its name.
pub(super) fn rank(text: &str) -> Result<Rank, String> {
    let all = || Rank::all().map(Rank::name).collect::<Vec<_>>().join(", ");
    Rank::named(text).ok_or_else(|| format!("give one of {}", all()))
}
