//! Runs whose outputs are alignments: once through the input if its templates lie side by side, otherwise twice.

use std::path::Path;

use merganser_alignments::RecordOptions;
use merganser_io::{
    AlignmentHeader, Error as IoError, Input, KeepAlignments, OutputSet, ReadInput, RecordBatch,
    Records, WhichAlignments, is_file,
};
use merganser_run::Context;

use super::names::Names;
use super::output::refused;
use super::{Decision, Host, Outcome, OutputPaths, Outputs, Pass, run_pass, run_with};
use crate::{Config, Error};

pub(super) fn run(
    config: &Config,
    host: Host<'_>,
    segments: &[ReadInput],
    (outputs, set): (&OutputPaths, &OutputSet),
    context: &Context,
) -> Result<Outcome, Error> {
    let [segment] = segments else {
        return Err(refused("alignments are written from one input at a time"));
    };
    if config.rename {
        return Err(refused("`rename` is for FASTQ: alignments keep their names"));
    }
    if config.mask.is_some() {
        return Err(refused("`mask` is for FASTQ: alignments keep their bases"));
    }
    let input = match segment {
        ReadInput::Single(input) | ReadInput::Interleaved(input) if input.is_file() => input,
        _ => return run_with(config, host, segments, outputs.create(set)?, context),
    };
    // Bytes on a stream cannot be taken back if the templates turn out not to lie side by side.
    let can_begin_again = outputs.all().all(|path| is_replaced(path));
    if can_begin_again || !may_be_apart(input)? {
        let once = run_with(config, host, segments, outputs.create(set)?, context);
        let is_ungrouped = matches!(once, Err(Error::Io(IoError::Ungrouped { .. })));
        if !is_ungrouped || !can_begin_again {
            return once;
        }
    }
    in_two_passes(config, host, input, outputs.create(set)?, context)
}

/// Decides first, by primary alignments, and then writes all alignments by the names of the reads that matched.
fn in_two_passes(
    config: &Config,
    host: Host<'_>,
    input: &Input,
    outputs: Outputs,
    context: &Context,
) -> Result<Outcome, Error> {
    let segments = [ReadInput::from(input.clone())];
    let keep = |which| KeepAlignments { which, ..KeepAlignments::default() };
    let names = Names::new(context.budget() / 2);
    let pass = Pass {
        keep: keep(WhichAlignments::OfReads),
        decision: Decision::Minimizers,
        names: Some(&names),
        input: None,
    };
    let nothing = Outputs { kept: Vec::new(), others: Vec::new(), command: String::new() };
    let first = run_pass(config, host, (&segments, &pass), nothing, context)?;
    let names = names.into_set();
    let pass = Pass {
        keep: keep(WhichAlignments::All),
        decision: Decision::Names(&names),
        names: None,
        input: None,
    };
    let mut outcome = run_pass(config, host, (&segments, &pass), outputs, context)?;
    outcome.confirmed = first.confirmed;
    for (stage, time) in first.stages.iter() {
        outcome.stages.add(stage, time);
    }
    Ok(outcome)
}

/// Whether an output is a file that appears at the end.
fn is_replaced(path: &Path) -> bool {
    path.as_os_str() != "-" && (is_file(path).unwrap_or(false) || !path.exists())
}

/// Whether the templates of a regular file may not lie side by side: it has alignments, and its header does not say
/// that they do.
fn may_be_apart(input: &Input) -> Result<bool, Error> {
    let keep_alignments =
        KeepAlignments { which: WhichAlignments::OfReads, ..KeepAlignments::default() };
    let options =
        RecordOptions { keep_alignments: keep_alignments.clone(), ..RecordOptions::whole() };
    let records = Records::open([ReadInput::from(input.clone())], options)?;
    records.next(&mut RecordBatch::default())?;
    let header = keep_alignments.header.get();
    Ok(header.is_some_and(|header: &AlignmentHeader| !header.is_grouped()))
}
