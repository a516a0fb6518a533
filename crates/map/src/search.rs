//! What both backends keep to when they look for hits, so that they find and count the same.

use crate::NMode;
use crate::index::SHORTEST;
use crate::queries::Query;

/// How a query's hits can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// There are none.
    Nothing,
    /// Around the seeds' positions.
    Seeds,
    /// Anywhere: the reference has to be scanned.
    Scan,
}

impl Plan {
    /// How the hits of a query can be found, which is the same for both strands.
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

/// With so many positions the equal division is not worth improving: looking for a better one
/// takes longer than to verify them.
pub(crate) const CHEAP: usize = if cfg!(test) { 4 } else { 96 };
/// The same where hits are looked for stratum by stratum: fewer and longer seeds have fewer positions that a
/// better division would spare.
pub(crate) const CHEAP_STRATA: usize = if cfg!(test) { 8 } else { 512 };
/// Diagonals begin at -[`crate::MAX_READ`].
pub(crate) const BIAS: i64 = crate::MAX_READ as i64;

/// Positions that are sorted at a time: more of a query are taken slice by slice of the reference,
/// so that memory does not grow with the most frequent seed.
pub(crate) const MAX_SORTED: usize = if cfg!(test) { 100 } else { 1 << 20 };
