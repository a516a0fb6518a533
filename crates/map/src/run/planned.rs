//! The plan of a run, without the run.

use merganser_alignments::IndexKind;
use merganser_io::ReadInput;
use merganser_run::{Context, JobPlan};

use super::memory::Memory;
use super::{check, choose_gpus, learn};
use crate::index::Index;
use crate::{Config, Error};

/// Determines how [`run`](super::run()) would map `inputs` with `index`: on which devices, and with how much memory. `kind`
/// is the kind of the index of sorted records, if one is written. No read is read, and nothing is written.
///
/// # Errors
/// The errors that a run would report before it reads anything.
///
/// # Panics
/// If the index is that of a file and was not [checked](Index::check).
pub fn plan_run(
    config: &Config,
    index: &Index,
    inputs: &[ReadInput],
    kind: Option<IndexKind>,
    context: &Context,
) -> Result<JobPlan, Error> {
    check(config, index, inputs, kind, context)?;
    let gaps = index.view().gaps(config.n_mode);
    let devices = choose_gpus(context, index, &gaps, inputs)?;
    let paired = inputs.iter().any(ReadInput::is_paired);
    let memory = Memory::new(config, context, index, paired, learn::held_bytes(config, inputs))?;
    index.warn_of_none(&context.warnings);
    Ok(JobPlan::on(devices).with_memory(memory.least))
}
