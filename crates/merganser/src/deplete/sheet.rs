//! Many samples in one run, with one set.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, anyhow};
use merganser_deplete::{Config, Error};
use merganser_io::{OutputSet, ReadInput};
use merganser_report::multiqc::Kind;
use merganser_run::Context;

use super::filter::{FilterJob, HostData, dry_run};
use crate::args::deplete::DepleteFilterArgs;
use crate::console::Console;
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::interrupt;
use crate::pages::{Pages, shared::SharedPaths};
use crate::samples::journal::Job;
use crate::samples::run::{SheetRun, check_inputs, job, journal};
use crate::samples::{self, Sample, check_places, of_sample};

/// Filters one sample after the other; see [`SheetRun::run`].
pub(super) fn run(
    args: &DepleteFilterArgs,
    sheet: &Path,
    (config, context): (&Config, &Context),
    (console, started): (&Console, Instant),
) -> Result<ExitCode> {
    let mut args = args.clone();
    let shared_pages = SharedPaths::take(&mut args.pages, Some(sheet));
    let args = &args;
    let own = [
        ("-o", Some(&args.output)),
        ("--output2", args.output2.as_ref()),
        ("--output-matching", args.output_matching.as_ref()),
        ("--summary", args.summary.as_ref()),
        ("--hostile", args.hostile.as_ref()),
        ("--certificate", args.certificate.as_ref()),
    ];
    check_places(own, &args.pages, args.json.as_ref())?;
    let interleaved = args.reads.are_interleaved();
    let samples = samples::read(sheet, &args.reads.inputs, interleaved, console)?;
    samples.iter().try_for_each(check_kinds)?;
    let each: Vec<DepleteFilterArgs> = samples.iter().map(|sample| of(args, sample)).collect();
    let job = |(own, sample): (_, &Sample)| FilterJob::of_sample(own, args, Some(&sample.0));
    let jobs = each.iter().zip(&samples).map(job).collect::<Result<Vec<_>>>()?;
    let files = RunFiles::new().read([sheet]).write(Holds::JSON, &args.json);
    let files = files.write(Holds::ANYTHING, &args.resume).write_each(shared_pages.paths());
    let files = jobs.iter().fold(files, |files, job| job.declare(files));
    let set = files.check()?;
    check_inputs(samples.iter().map(|(_, segments)| &segments[..]))?;
    jobs.iter().try_for_each(FilterJob::check)?;
    if args.dry.dry_run {
        let samples = samples.iter().map(|(name, reads)| (Some(name.as_os_str()), &reads[..]));
        return dry_run(args, (config, context), &files, &samples.collect::<Vec<_>>());
    }
    let cancel = &interrupt::cancel_on_interrupt();
    let json = args.json.as_deref().map(|path| set.output(path)).transpose();
    let json = json.map_err(Error::from)?;
    let shared = std::iter::once(&args.set).chain(&args.confirm).cloned().collect();
    let journal = journal(args.resume.as_deref(), shared, context, console)?;
    let host = HostData::open(args, context)?;
    let parts = samples.iter().zip(each.iter().zip(&jobs));
    let entries: Vec<Job> = parts.map(|(sample, parts)| entry(sample, parts)).collect();
    let stage = Some(("open", started.elapsed()));
    let (command, threads) = ("deplete filter", context.threads);
    let names = entries.iter().map(|entry| &*entry.sample);
    let pages = shared_pages.create(command, names, &set)?;
    let run = SheetRun { command, console, cancel, journal, pages, threads, started, stage };
    run.run(&entries, (json, &set), |at| {
        console.info(format_args!("{}:", entries[at].sample));
        let (set, now) = (OutputSet::new(), (console, Instant::now()));
        let summary = jobs[at].run(&host, context, &set, now, OutputSet::commit)?;
        Ok(summary.to_value()["results"].clone())
    })
}

/// Checks that a sample has either pairs or single reads, which have different outputs.
fn check_kinds((name, segments): &Sample) -> Result<()> {
    let paired = segments.iter().filter(|segment| segment.is_paired()).count();
    match paired == 0 || paired == segments.len() {
        true => Ok(()),
        false => Err(anyhow!(
            "{}: this sample has pairs and single reads: make two samples of them",
            name.display()
        )),
    }
}

/// Returns the arguments of a sample, with its own reads and outputs.
fn of(args: &DepleteFilterArgs, (name, segments): &Sample) -> DepleteFilterArgs {
    let own = |path: &Path| of_sample(path, Some(OsStr::new(name)));
    let each = |path: &Option<PathBuf>| path.as_deref().map(own);
    DepleteFilterArgs {
        reads: args.reads.of_sample(Vec::<ReadInput>::clone(segments)),
        output: own(&args.output),
        output2: each(&args.output2),
        output_matching: each(&args.output_matching),
        summary: each(&args.summary),
        hostile: each(&args.hostile),
        certificate: each(&args.certificate),
        json: None,
        pages: args.pages.of_sample(name),
        ..args.clone()
    }
}

/// Makes the entry of a sample for the journal.
fn entry(sample: &Sample, (args, filter): (&DepleteFilterArgs, &FilterJob<'_>)) -> Job {
    let summaries = [&args.summary, &args.hostile, &args.certificate];
    let of_outputs = (&args.output, &args.output2, &args.output_matching, summaries);
    let of_reads = (args.reads.pairs, &args.set, &args.confirm, args.edits);
    let options = format!(
        "{of_outputs:?} {of_reads:?} {:?} {:?} {:?} {:?}",
        args.config, args.output_format, args.tags, args.pages
    );
    let mut outputs = filter.reads_written();
    outputs.extend(summaries.into_iter().flatten().cloned());
    outputs
        .extend(Pages::paths(&args.pages, Kind::Selection, None).into_iter().map(|(_, path)| path));
    job("deplete filter", sample, &options, outputs)
}
