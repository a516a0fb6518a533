//! Runs whose outputs are alignments: once through the input if its templates lie side by side, otherwise twice.

use merganser_alignments::{CopyByName, Names, Sink, TemplatePass, can_begin_again, once_or_twice};
use merganser_io::{CommentTags, Error as IoError, Input, OutputSet, ReadInput};
use merganser_run::{Context, peak_rss};

use super::{Outcome, OutputPaths, Outputs, longest_record, run_pass, run_with};
use crate::{Config, Error, MinimizerLookup};

pub(super) fn run(
    config: &Config,
    host: &MinimizerLookup,
    segments: &[ReadInput],
    (outputs, set): (&OutputPaths, &OutputSet),
    context: &Context,
) -> Result<Outcome, Error> {
    if config.rename {
        let problem = "`rename` is for FASTQ: alignments keep their names";
        return Err(merganser_run::ConfigError::new(problem).into());
    }
    once_or_twice(
        segments,
        outputs.all().all(|path| can_begin_again(path)),
        |error| matches!(error, Error::Io(IoError::Ungrouped { .. })),
        || run_with(config, host, segments, outputs.create(set)?, context),
        |input| in_two_passes(config, host, input, outputs.create(set)?, context),
    )
}

/// Decides first, by primary alignments, and then writes all alignments by the names of the reads that matched.
fn in_two_passes(
    config: &Config,
    host: &MinimizerLookup,
    input: &Input,
    outputs: Outputs,
    context: &Context,
) -> Result<Outcome, Error> {
    let segments = [ReadInput::from(input.clone())];
    let names = Names::new(context.budget() / 2);
    let pass = TemplatePass::of_names(&names);
    let (command, tags) = (String::new(), CommentTags::None);
    let nothing = Outputs { kept: Vec::new(), others: Vec::new(), command, tags };
    let first = run_pass(config, host, (&segments, &pass), nothing, context)?;
    let max_record = longest_record(host, &pass, context)?;
    let Outputs { kept, others, command, .. } = outputs;
    let [kept, others] = [kept, others].map(|sinks: Vec<Sink>| sinks.into_iter().next());
    let sinks = if config.keep { [kept, others] } else { [others, kept] };
    let (command, stage) = (&*command, "filter");
    let copy = CopyByName { input, names, sinks, command, stage, max_record };
    let copied = copy.run(context)?;
    let kept = usize::from(!config.keep);
    let mut outcome = Outcome {
        records: copied.reads.iter().sum(),
        bases: copied.bases.iter().sum(),
        kept_records: copied.reads[kept],
        kept_bases: copied.bases[kept],
        peak_memory: peak_rss(),
        ..first
    };
    for (stage, time) in copied.stages.iter() {
        outcome.stages.add(stage, time);
    }
    Ok(outcome)
}
