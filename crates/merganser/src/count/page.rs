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
    match config.panel {
        None => spectrum::add(&mut data, histogram, config.k),
        Some(_) => {
            data.spectrum = Some(spectrum::of(histogram, config.k, None));
            data.notes.push("Only the k-mers of a panel were counted.".to_owned());
        }
    }
    data
}
