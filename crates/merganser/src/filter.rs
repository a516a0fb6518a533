//! `merganser filter`.

mod outputs;
mod report;
mod summary;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use merganser_filter::{Config, Error, Job, Method, Outcome};
use merganser_io::Input;

use crate::args::FilterArgs;
use crate::console::Console;
use crate::progress::Bar;
use crate::{devices, interrupt};
use outputs::Outputs;

/// Bytes of text from which on GPUs make up for their start, beside 16 cores (docs/benchmarks.md):
/// the exact method is so fast on the CPU that only reading takes time.
fn gpu_break_even(method: Method) -> u64 {
    match method {
        Method::Exact => 8_000_000_000,
        _ => 2_000_000_000,
    }
}

/// A finished run, as the reports need it.
struct Finished<'r> {
    args: &'r FilterArgs,
    job: &'r Job,
    inputs: &'r [Input],
    outcome: &'r Outcome,
    /// Reading, deciding and writing.
    filtering: Duration,
    started: Instant,
}

/// Decides the pairs and reports.
pub(crate) fn run(args: &FilterArgs, console: &Console, started: Instant) -> Result<ExitCode> {
    outputs::check(args)?;
    let mut job = job(args);
    job.config.validate()?;
    let inputs = args.reads.expand(&args.inputs).map_err(Error::from)?;
    let cancel = interrupt::cancel_on_interrupt();
    let set = outputs::declared(args, &inputs).check()?;
    job.devices =
        devices::choose(&args.device.device, &inputs, gpu_break_even(job.config.method), console)?;
    let Outputs { writer, json } = Outputs::create(args, &set)?;
    let bar = Bar::new(console);
    let begun = Instant::now();
    let outcome = merganser_filter::run(&job, &inputs, writer, &bar, &cancel);
    drop(bar);
    let outcome = outcome?;
    let filtering = begun.elapsed().saturating_sub(outcome.sync);
    let finished =
        Finished { args, job: &job, inputs: &inputs, outcome: &outcome, filtering, started };
    if let Some(output) = json {
        summary::write(&finished, output)?;
    }
    set.commit().map_err(Error::from)?;
    report::print(&finished, console);
    Ok(ExitCode::SUCCESS)
}

fn job(args: &FilterArgs) -> Job {
    let config = Config {
        threshold: args.threshold.0,
        method: args.method.into(),
        n_mode: args.n_mode.into(),
        align: args.align.into(),
    };
    Job {
        config,
        threads: merganser_run::resolve_threads(args.threads.number()),
        memory: args.memory.unwrap_or_else(merganser_run::default_budget),
        verify: args.verify,
        devices: Vec::new(),
        gpu_memory: args.device.gpu_memory,
        gpus_alone: std::env::var_os("MERGANSER_TEST_GPUS_ALONE").is_some(),
    }
}
