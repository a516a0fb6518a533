//! The data of a page for extracted reads.

use merganser_io::ReadInput;
use merganser_report::data::{Data, Selection, SelectionPart};
use merganser_taxreport::extract::ExtractOutcome;

use crate::args::extract::ExtractReadsArgs;
use crate::pages::{frame, parameter};

/// The maximum number of taxids in the list of parameters.
const SHOWN: usize = 20;

/// Returns the extracted reads and the others.
pub(super) fn of(
    args: &ExtractReadsArgs,
    segments: &[ReadInput],
    outcome: &ExtractOutcome,
) -> Data {
    let inputs = segments.iter().flat_map(ReadInput::inputs);
    let mut data = frame("extract reads", &args.pages, None, inputs);
    let mut taxids: Vec<String> = args.taxid.iter().take(SHOWN).map(ToString::to_string).collect();
    if args.taxid.len() > SHOWN {
        taxids.push(format!("and {} more", args.taxid.len() - SHOWN));
    }
    data.parameters = vec![
        parameter("taxid", taxids.join(", ")),
        parameter("include_children", args.include_children),
        parameter("include_parents", args.include_parents),
        parameter("exclude", args.exclude),
    ];
    if segments.iter().any(ReadInput::is_paired) {
        data.notes.push("A pair counts as one read.".to_owned());
    }
    if outcome.records == 0 {
        data.warnings.push("There are no reads in the input.".to_owned());
    }
    let part = |name: &str, reads| SelectionPart { name: name.to_owned(), reads, bases: None };
    let rest = if args.exclude { "Of these taxa" } else { "Of other taxa" };
    let others = outcome.records.saturating_sub(outcome.extracted + outcome.without_line);
    let mut parts = vec![part("Extracted", outcome.extracted), part(rest, others)];
    if outcome.without_line > 0 {
        parts.push(part("Without a line", outcome.without_line));
        data.warnings.push(format!("{} reads have no line.", outcome.without_line));
    }
    data.selection =
        Some(Selection { reads: outcome.records, bases: None, parts, edits: Vec::new() });
    data
}
