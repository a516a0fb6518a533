//! The plan of a run, without the run.

use merganser_io::Input;
use merganser_run::engine::Source;
use merganser_run::{Context, JobPlan};

use super::RunContext;
use crate::source::{Block, PairSource};
use crate::{Config, Error, Filter, PairBatch};

/// Bytes of text that are read of the beginning of an input.
const BEGINNING: usize = 64 << 10;

/// Determines how [`run`](super::run()) would decide the pairs of `inputs`: on which devices, and with how much memory. If all
/// inputs are files, the first pair is read. Nothing is written.
///
/// # Errors
/// The errors that a run would report up to the first pair.
pub fn plan_run(
    config: &Config,
    inputs: impl IntoIterator<Item = impl Into<Input>>,
    context: &Context,
) -> Result<JobPlan, Error> {
    let inputs: &[Input] = &inputs.into_iter().map(Into::into).collect::<Vec<_>>();
    Filter::new(*config)?;
    context.validate()?;
    let run = RunContext::new(config, context, false);
    let devices = run.choose_gpus(inputs)?;
    let budget = run.least_memory(!devices.is_empty());
    run.block_bytes(!devices.is_empty())?;
    let source = PairSource::open(inputs, &run.reader_options(BEGINNING))?;
    if inputs.iter().all(Input::is_file) {
        let mut block = Block::default();
        if source.next(&mut block)?.is_some() {
            block.take(1, &mut PairBatch::new())?;
        }
    }
    Ok(JobPlan::on(devices).with_memory(budget.needed()))
}
