//! Data of a filter's decisions.

use merganser_filter::Outcome;
use merganser_report::data::Decisions;

/// Returns the decisions of a run; `is_exact` tells whether they are those of the exact method.
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
