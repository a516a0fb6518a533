//! What a page says of decisions.

use merganser_report::data::Data;

use super::Finished;
use crate::args::filter::MethodName;
use crate::args::name_of;
use crate::pages::{decisions, frame, parameter};

/// Edits and decisions.
pub(super) fn of(finished: &Finished<'_>) -> Data {
    let (args, outcome) = (finished.args, finished.outcome);
    let mut data = frame("filter", &args.pages, None, finished.inputs.iter());
    data.parameters = vec![
        parameter("threshold", args.threshold),
        parameter("method", name_of(&args.method)),
        parameter("n_mode", name_of(&args.n_mode)),
        parameter("align", name_of(&args.align)),
    ];
    let is_exact = args.method == MethodName::Exact;
    if !is_exact {
        data.warnings.push("The edits are estimates: the method is not the exact one.".to_owned());
    }
    if outcome.records == 0 {
        data.warnings.push("There are no pairs in the input.".to_owned());
    }
    data.decisions = Some(decisions::of(outcome, is_exact));
    data
}
