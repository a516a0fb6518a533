//! Search rules that both backends follow, so that they find and count the same.

use crate::NMode;
use crate::index::SHORTEST;
use crate::queries::Query;

/// A plan for finding a query's hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// The query cannot have hits.
    Nothing,
    /// Verify candidates at the positions of seeds.
    Seeds,
    /// Scan the whole reference.
    Scan,
}

impl Plan {
    /// Returns the plan for a query; it is the same for both strands.
    pub(crate) fn of(query: &Query<'_>, mode: NMode) -> Plan {
        let hopeless = mode == NMode::Mismatch && query.unknown > query.edits;
        if query.len <= query.most || hopeless {
            return Plan::Nothing;
        }
        let long = query.len / (query.edits + 1) >= SHORTEST;
        // A seed with a letter that matches everything cannot be looked up.
        if long && (mode == NMode::Mismatch || query.unknown == 0) {
            Plan::Seeds
        } else {
            Plan::Scan
        }
    }
}

/// The largest number of seed positions with which the equal division is kept: searching for a better one takes
/// longer than verifying the positions.
pub(crate) const CHEAP: usize = if cfg!(test) { 4 } else { 96 };
/// The limit of [`CHEAP`] for searches stratum by stratum, whose fewer and longer seeds have fewer positions
/// that a better division would save.
pub(crate) const CHEAP_STRATA: usize = if cfg!(test) { 8 } else { 512 };
/// The offset that is added to diagonals to make them non-negative; the lowest diagonal is
/// -[`crate::MAX_READ`].
pub(crate) const BIAS: i64 = crate::MAX_READ as i64;

/// The maximum number of positions that are sorted at a time. Queries with more are processed slice by slice of the
/// reference, so that memory does not grow with the frequency of a seed.
pub(crate) const MAX_SORTED: usize = if cfg!(test) { 100 } else { 1 << 20 };
