//! Classification of a sample with a database of Kraken 2.

use std::ffi::OsStr;
use std::time::Instant;

use anyhow::Result;
use clap::{Args, Command};
use merganser_classify::{LineFormat, RunConfig};
use merganser_io::{OutputSet, ReadInput};
use merganser_kraken2::{Kraken2Config, Kraken2Database, Kraken2Outcome, ReadShare, run_with};
use merganser_run::{Summary, thousands};

use super::outputs::{Closed, Files};
use super::{Environment, prefix_of};
use crate::args::classify::QueryArgs;
use crate::common::{tell_skipped, tell_time, unit, write_summary};
use crate::pages::{frame, inputs_of, parameter};
use crate::{devices, failure};

/// A sample: what it needs in addition to the environment.
pub(super) struct Sample<'a> {
    pub(super) args: &'a QueryArgs,
    /// The sample's name in the sample sheet.
    pub(super) name: Option<&'a OsStr>,
    pub(super) segments: &'a [ReadInput],
    pub(super) files: Files,
    pub(super) started: Instant,
}

/// Refuses options that only databases of ours have.
///
/// # Errors
/// Names the first such option.
pub(super) fn check(args: &QueryArgs) -> Result<()> {
    let option = if args.config.format == LineFormat::MetaCache {
        Some("--format metacache".to_owned())
    } else if args.lines.hits_per_ref.is_some() {
        Some("--hits-per-ref".to_owned())
    } else {
        let own = Kraken2Config::augment_args(Command::new(""));
        let shared: Vec<&str> = own.get_arguments().map(|one| one.get_id().as_str()).collect();
        args.given.first_of::<RunConfig>(&[&shared[..], &["format"]].concat())
    };
    match option {
        None => Ok(()),
        Some(option) => failure::usage(format!(
            "{option} requires a database of merganser (.mgdb), and this is one of Kraken 2"
        )),
    }
}

/// Refuses options that only databases of Kraken 2 have.
///
/// # Errors
/// Names the first such option.
pub(super) fn check_own(args: &QueryArgs) -> Result<()> {
    let given = [
        (args.given.has("minimum_hit_groups"), "--minimum-hit-groups"),
        (args.config.kraken2.quick, "--quick"),
    ];
    failure::refuse_given(&given, |option| {
        format!(
            "{option} requires a database of Kraken 2, and this is one of merganser (.mgdb): use \
             --hitmin and --hitdiff instead"
        )
    })
}

impl Sample<'_> {
    /// Classifies the reads, writes all results and reports; then all of `outputs` appear together.
    ///
    /// # Errors
    /// Returns the errors of [`classify`] and of writing; then none of the outputs appears.
    pub(super) fn run(
        mut self,
        environment: &Environment<'_>,
        database: &Kraken2Database,
        outputs: &OutputSet,
    ) -> Result<Summary> {
        let common = &self.args.config.kraken2;
        let at_blocks = common.report_minimizer_data;
        let share = environment.share(self.segments, environment.shard, at_blocks)?;
        let config = config(self.args, share);
        let context = &environment.context;
        let begun = Instant::now();
        let mut streams = self.files.streams();
        let mut outcome = run_with(&config, database, self.segments, &mut streams, context)?;
        let queried = begun.elapsed();
        let mut page = frame("classify", &self.args.pages, self.name, inputs_of(self.segments));
        page.parameters = vec![
            parameter("database", &environment.name),
            parameter("confidence", config.confidence),
            parameter("minimum-hit-groups", config.minimum_hit_groups),
        ];
        let Sample { files, started, .. } = self;
        let Closed { json, picture } = files.finish_kraken2(
            &mut outcome,
            database,
            config.report_minimizer_data,
            page,
            context,
        )?;
        let mut summary = summary(&config, environment, &outcome);
        let gpus: Vec<u32> = outcome.devices.iter().map(|device| device.ordinal).collect();
        devices::describe(&gpus, context.gpu_memory, &mut summary);
        devices::clocks(started, &mut summary);
        if let Some(shard) = environment.shard {
            summary.set("parameters", "shard", shard.to_string());
        }
        let opening = outcome.stages.get("devices");
        if !outcome.devices.is_empty() {
            summary.stage("devices", opening);
            devices::upload(outcome.uploaded, &mut summary);
        }
        summary.stage("query", queried.saturating_sub(opening));
        if started == environment.started {
            summary.stage("open", environment.opened);
        }
        if let Some(output) = json {
            write_summary(&mut summary, output)?;
        }
        environment.commit(outputs)?;
        if let Some(picture) = picture {
            environment.console.plot(&picture);
        }
        let name = prefix_of(self.name);
        tell(environment, &config, &outcome, (&name, self.segments, started));
        Ok(summary)
    }
}

/// Returns the configuration of a run.
pub(super) fn config(args: &QueryArgs, share: Option<ReadShare>) -> Kraken2Config {
    Kraken2Config {
        share,
        any_names: args.reads.pairs.any_names,
        database_report: args.lines.database_report.is_some(),
        ..args.config.kraken2.clone()
    }
}

/// Makes the summary of the parameters and results of a run.
fn summary(
    config: &Kraken2Config,
    environment: &Environment<'_>,
    outcome: &Kraken2Outcome,
) -> Summary {
    let mut summary = Summary::new("classify");
    summary.version(env!("CARGO_PKG_VERSION"));
    summary.set_all("parameters", config);
    summary.set("parameters", "threads", environment.context.threads);
    summary.set("parameters", "format", LineFormat::Kraken);
    summary.set("results", "reads", outcome.records);
    summary.set("results", "bases", outcome.bases);
    summary.set("results", "classified", outcome.classified);
    summary.set("results", "unclassified", outcome.records - outcome.classified);
    summary.set("results", "skipped_alignments", outcome.skipped_alignments);
    if outcome.rounds > 0 {
        summary.set("results", "rounds", outcome.rounds);
    }
    summary
}

fn tell(
    environment: &Environment<'_>,
    config: &Kraken2Config,
    outcome: &Kraken2Outcome,
    (name, segments, started): (&str, &[ReadInput], Instant),
) {
    let console = environment.console;
    environment.tell_what(name, segments, (outcome.bases, outcome.records));
    tell_skipped(outcome.skipped_alignments, console);
    let percent = 100.0 * outcome.classified as f64 / outcome.records.max(1) as f64;
    console.info(format_args!(
        "{name}classified {} of {} {} ({percent:.2} %) in {:.1} s by Kraken 2's rules; confidence {}, \
         minimum-hit-groups {}",
        thousands(outcome.classified),
        thousands(outcome.records),
        unit(segments),
        started.elapsed().as_secs_f64(),
        config.confidence,
        config.minimum_hit_groups
    ));
    tell_time(started, environment.context.threads, outcome.peak_memory, console);
}
