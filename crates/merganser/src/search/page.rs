//! The data of a page for hits of patterns.

use merganser_report::data::{Data, PatternHits, Search};

use super::{Finished, report};
use crate::pages::{frame, parameter};

/// Returns the hits of each pattern by edits.
pub(super) fn of(finished: &Finished<'_>) -> Data {
    let (args, outcome) = (finished.args, finished.outcome);
    let config = &args.config;
    let mut data = frame("search", &args.pages, None, finished.inputs.iter());
    data.parameters = vec![
        parameter("threshold", config.threshold),
        parameter("hamming", config.hamming),
        parameter("strand", config.strand),
    ];
    data.parameters.extend(config.pam.as_ref().map(|pam| parameter("pam", pam)));
    data.parameters.extend(config.seed.map(|seed| parameter("seed", seed)));
    if outcome.texts == 0 {
        data.warnings.push("There are no sequences in the input.".to_owned());
    }
    let patterns = finished.patterns.iter().zip(&outcome.hits);
    let patterns = patterns.map(|(pattern, hits)| PatternHits {
        name: pattern.name().to_owned(),
        letters: String::from_utf8_lossy(pattern.letters()).into_owned(),
        hits: hits.clone(),
    });
    data.search = Some(Search {
        texts: outcome.texts,
        letters: outcome.letters,
        edits: (0..).zip(report::sums(finished)).collect(),
        patterns: patterns.collect(),
    });
    data
}
