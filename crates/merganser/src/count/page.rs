//! The data of a page for a count.

use merganser_report::data::Data;

use super::Finished;
use crate::pages::{frame, parameter, spectrum};

/// Returns the histogram, with a model if it has all k-mers and one fits it.
pub(super) fn of(finished: &Finished<'_>) -> Data {
    let (args, config) = (finished.args, finished.config);
    let mut data = frame("count", &args.pages, None, finished.inputs.iter());
    data.parameters = vec![
        parameter("k", config.k),
        parameter("canonical", config.is_canonical()),
        parameter("min_count (of the table)", config.least()),
    ];
    data.parameters
        .extend(args.config.max_count.map(|most| parameter("max_count (of the table)", most)));
    data.parameters.extend(args.config.min_qual.map(|least| parameter("min_qual", least)));
    data.parameters.extend(args.config.hpc.then(|| parameter("hpc", true)));
    let histogram = &finished.outcome.histogram;
    let why_no_model = match (&config.panel, config.forward_only) {
        (Some(_), _) => Some("Only the k-mers of a panel were counted."),
        (None, true) => Some("No model is drawn: k-mers of the two strands were counted apart."),
        (None, false) => None,
    };
    match why_no_model {
        None => spectrum::add(&mut data, histogram, config.k),
        Some(why) => {
            data.spectrum = Some(spectrum::of(histogram, config.k, None));
            data.notes.push(why.to_owned());
        }
    }
    data
}
