//! Decisions of a filter.

use merganser_filter::Outcome;
use merganser_report::data::Decisions;

/// What a run decided, by the exact method or another.
pub(crate) fn of(outcome: &Outcome, is_exact: bool) -> Decisions {
    let edits = (0..).zip(&outcome.edits).map(|(edits, &pairs)| (edits, pairs));
    Decisions {
        pairs: outcome.records,
        accepted: outcome.accepted,
        undefined: outcome.undefined,
        edits: edits.collect(),
        is_exact,
    }
}
