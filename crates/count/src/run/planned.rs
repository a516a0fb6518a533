//! The plan of a run, without the run.

use merganser_io::Input;
use merganser_run::{Context, JobPlan, format_size};
use merganser_seq::with_kmer;

use super::{RunContext, choose_devices, panel_table, reading};
use crate::config::Storage;
use crate::cpu::{Width, small};
use crate::fragments;
use crate::job::Job;
use crate::plan::{self, Plan};
use crate::{Config, Error};

/// Determines how [`run`](super::run) would count `inputs`: on which devices, and with how much memory. If all inputs are
/// files, the beginning of the first is read, whose k-mers decide the number of bins. Nothing is written.
///
/// ```
/// use merganser_count::{Config, plan_run};
/// use merganser_run::Context;
///
/// # let folder = tempfile::tempdir()?;
/// # let reads = folder.path().join("reads.fa");
/// # std::fs::write(&reads, ">one\nACGTTA\n")?;
/// let plan = plan_run(&Config::new(21), [reads], &Context::new().threads(2).memory(1 << 30))?;
/// assert!(plan.memory.is_some_and(|bytes| bytes < 1 << 30));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The errors that a run would report before it reads more.
pub fn plan_run(
    config: &Config,
    inputs: impl IntoIterator<Item = impl Into<Input>>,
    context: &Context,
) -> Result<JobPlan, Error> {
    let inputs: &[Input] = &inputs.into_iter().map(Into::into).collect::<Vec<_>>();
    config.validate()?;
    context.validate()?;
    if let Some(path) = config.panel.as_deref() {
        panel_table::check_unread(path, config, context)?;
    }
    let part = match config.shard {
        Some(shard) => merganser_io::shard(inputs, shard, fragments::overlap(config))?,
        None => inputs.to_vec(),
    };
    let inputs = &part[..];
    let devices = choose_devices(config, context, inputs, config.panel.is_some())?;
    let job = Job::new(config, context, &devices);
    let found = JobPlan::on(devices.clone());
    // The memory for a panel depends on its size, and that on devices on theirs.
    if config.panel.is_some() || !devices.is_empty() {
        return Ok(found);
    }
    let (plan, needed) = with_kmer!(config.k, K => {
        let plan = planned::<K>(job, inputs, context)?;
        (plan, plan::needed::<K>(job, plan.bins))
    });
    let found = found.with_note(match plan.bins {
        1 => "k-mers are counted at once".to_owned(),
        bins => format!("k-mers are counted in {bins} bins"),
    });
    let found = match config.storage {
        Storage::Disk => found.with_note("all k-mers go to temporary files (--storage disk)"),
        _ => found
            .with_note(format!("up to {} of k-mers stay in memory", format_size(plan.full_bytes))),
    };
    Ok(match needed {
        Some(bytes) => found.with_memory(bytes),
        None => found,
    })
}

/// Divides the memory as a run on the CPU does.
fn planned<K: Width>(job: Job<'_>, inputs: &[Input], context: &Context) -> Result<Plan, Error> {
    let config = job.config;
    if config.k <= small::MAX_K {
        return plan::plan::<K>(job, 1);
    }
    if !inputs.iter().all(Input::is_file) {
        return plan::plan::<K>(job, plan::bins(config, None));
    }
    let (progress, cancel) = (&*context.progress, &context.cancel);
    let reader = reading::open(job, inputs, cancel)?;
    let run = RunContext { job, config, reader: &reader, progress, cancel };
    let (_, _, expected) = run.sample_first()?;
    plan::plan::<K>(job, plan::bins(config, expected))
}
