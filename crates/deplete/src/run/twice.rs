//! Runs whose outputs are alignments: once through the input if its templates lie side by side, otherwise twice.

use merganser_alignments::{CopyByName, Names, Sink, TemplatePass, can_begin_again, once_or_twice};
use merganser_io::{CommentTags, Error as IoError, Input, OutputSet, ReadInput};
use merganser_run::{ConfigError, Context, peak_rss};
use std::collections::HashMap;

use super::{Host, Outcome, OutputPaths, Outputs, longest_record, run_pass, run_with};
use crate::{Config, Error};

pub(super) fn run(
    config: &Config,
    host: Host<'_>,
    segments: &[ReadInput],
    (outputs, set): (&OutputPaths, &OutputSet),
    context: &Context,
) -> Result<Outcome, Error> {
    let refused = |problem: &str| Err(ConfigError::new(problem).into());
    if config.rename {
        return refused("`rename` is for FASTQ: alignments keep their names");
    }
    if config.mask.is_some() {
        return refused("`mask` is for FASTQ: alignments keep their bases");
    }
    once_or_twice(
        segments,
        outputs.all().all(|path| can_begin_again(path)),
        |error| {
            let is_ungrouped = matches!(error, Error::Io(IoError::Ungrouped { .. }));
            is_ungrouped && host.haplotypes.is_none()
        },
        || run_with(config, host, segments, outputs.create(set)?, context),
        |input| in_two_passes(config, host, input, outputs.create(set)?, context),
    )
}

/// Decides first, by primary alignments, and then writes all alignments by the names of the reads that matched.
fn in_two_passes(
    config: &Config,
    host: Host<'_>,
    input: &Input,
    outputs: Outputs,
    context: &Context,
) -> Result<Outcome, Error> {
    if host.haplotypes.is_some() {
        // Haplotypes are searched pair by pair.
        let (input, place) = (input.to_string(), "header".to_owned());
        let problem = "does not say that the alignments of a read lie side by side".to_owned();
        return Err(IoError::Ungrouped { input, place, problem }.into());
    }
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
    let (command, stage, tags) = (&*command, "filter", HashMap::new());
    let copy = CopyByName { input, names, tags, sinks, command, stage, max_record };
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
