//! The data of a page for decisions.

use merganser_filter::Method;
use merganser_report::data::Data;

use super::Finished;
use crate::pages::{decisions, frame, parameter};

/// Returns the edits and decisions.
pub(super) fn of(finished: &Finished<'_>) -> Data {
    let (args, outcome) = (finished.args, finished.outcome);
    let config = args.config;
    let mut data = frame("filter", &args.pages, None, finished.inputs.iter());
    data.parameters = vec![
        parameter("threshold", config.threshold),
        parameter("method", config.method),
        parameter("n_mode", config.n_mode),
        parameter("align", config.align),
    ];
    let is_exact = config.method == Method::Exact;
    if !is_exact {
        data.warnings.push("The edits are estimates: the method is not the exact one.".to_owned());
    }
    if outcome.records == 0 {
        data.warnings.push("There are no pairs in the input.".to_owned());
    }
    data.decisions = Some(decisions::of(outcome, is_exact));
    data
}
