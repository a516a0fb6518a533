//! The data of a page for a filter with a host's set.

use merganser_report::data::{Data, Selection, SelectionPart};

use super::filter::Finished;
use crate::pages::{frame, parameter};

/// Returns the kept and the removed reads.
pub(super) fn of(finished: &Finished<'_>) -> Data {
    let (args, outcome, host) = (finished.args, finished.outcome, finished.host);
    let mut data = frame("deplete filter", &args.pages, None, finished.inputs.iter());
    let set = args.set.file_name().unwrap_or_default();
    data.parameters = vec![
        parameter("set", set.to_string_lossy()),
        parameter("minimizers", host.len()),
        parameter("k", host.params().k()),
        parameter("w", host.params().w()),
        parameter("abs_threshold", args.config.thresholds.abs_threshold),
        parameter("rel_threshold", args.config.thresholds.rel_threshold),
        parameter("keep", args.config.keep),
    ];
    data.parameters.extend(args.edits.map(|edits| parameter("edits", edits)));
    if outcome.records == 0 {
        data.warnings.push("There are no reads in the input.".to_owned());
    }
    if args.config.mask.is_some() {
        let (bases, reads) = (outcome.masked_bases, outcome.masked_records);
        data.notes.push(format!("{bases} bases of {reads} reads were masked."));
    }
    data.selection = Some(selection(finished));
    data
}

fn selection(finished: &Finished<'_>) -> Selection {
    let outcome = finished.outcome;
    let part = |name: &str, reads, bases| SelectionPart { name: name.to_owned(), reads, bases };
    let removed = outcome.records - outcome.kept_records;
    let bases = outcome.bases - outcome.kept_bases;
    let mut parts = vec![part("Kept", outcome.kept_records, Some(outcome.kept_bases))];
    match &outcome.confirmed {
        Some(confirmed) => {
            let of_set = removed.saturating_sub(confirmed.removed);
            parts.push(part("Removed by the set", of_set, None));
            parts.push(part("Removed by the haplotypes", removed - of_set, None));
        }
        None => parts.push(part("Removed", removed, Some(bases))),
    }
    let edits = outcome.confirmed.iter().flat_map(|confirmed| &confirmed.kept_by_edits);
    let edits = (0..).zip(edits).map(|(edits, &reads)| (edits, reads));
    Selection {
        reads: outcome.records,
        bases: Some(outcome.bases),
        parts,
        edits: edits.filter(|row| row.1 > 0).collect(),
    }
}
