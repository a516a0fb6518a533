//! A sample, classified by a database of Kraken 2.

use std::ffi::OsStr;
use std::time::Instant;

use anyhow::Result;
use merganser_io::{OutputSet, Segment};
use merganser_kraken2::{Kraken2Config, Kraken2Database, Kraken2Outcome, Kraken2Rules, classify};
use merganser_run::Summary;

use super::Environment;
use super::outputs::{Closed, Files};
use crate::args::classify::{FormatName, QueryArgs};
use crate::args::name_of;
use crate::common::{tell_skipped, write_summary};
use crate::pages::{frame, inputs_of, parameter};
use crate::progress::Bar;
use crate::{devices, failure};

/// What a sample needs besides the environment.
pub(super) struct Sample<'a> {
    pub(super) args: &'a QueryArgs,
    /// In a sample sheet.
    pub(super) name: Option<&'a OsStr>,
    pub(super) segments: &'a [Segment],
    pub(super) files: Files,
    pub(super) started: Instant,
}

/// Options that databases of ours alone have a meaning for.
///
/// # Errors
/// The first that was given.
pub(super) fn check(args: &QueryArgs) -> Result<()> {
    let (lines, filter, decision) = (&args.lines, &args.filter, &args.decision);
    let verdict = &decision.verdict;
    let given = [
        (lines.format == FormatName::Metacache, "--format metacache"),
        (lines.hits_per_ref.is_some(), "--hits-per-ref"),
        (filter.min_read_len.is_some(), "--min-read-len"),
        (filter.max_read_len.is_some(), "--max-read-len"),
        (verdict.lowest.is_some(), "--lowest"),
        (verdict.highest.is_some(), "--highest"),
        (verdict.max_cand.is_some(), "--max-cand"),
        (verdict.hitmin.is_some(), "--hitmin"),
        (verdict.hitmin_per_kb.is_some(), "--hitmin-per-kb"),
        (verdict.hitmin_contested.is_some(), "--hitmin-contested"),
        (verdict.hitdiff.is_some(), "--hitdiff"),
        (decision.insert.is_some(), "--insert"),
        (decision.near.is_some(), "--near"),
        (decision.cov_percentile.is_some(), "--cov-percentile"),
    ];
    failure::refuse_given(&given, |option| {
        format!("{option} goes with databases of merganser (.mgdb), and this is one of Kraken 2")
    })
}

/// Options that databases of Kraken 2 alone have a meaning for.
///
/// # Errors
/// The first that was given.
pub(super) fn check_own(args: &QueryArgs) -> Result<()> {
    let kraken = &args.decision.kraken;
    let given =
        [(kraken.minimum_hit_groups.is_some(), "--minimum-hit-groups"), (kraken.quick, "--quick")];
    failure::refuse_given(&given, |option| {
        format!(
            "{option} goes with databases of Kraken 2, and this is one of merganser (.mgdb): --hitmin \
             and --hitdiff say how clear a match must be"
        )
    })
}

impl Sample<'_> {
    /// Classifies, writes and reports; all of `outputs` appear.
    ///
    /// # Errors
    /// As [`classify`] and writing; then none of the outputs appears.
    pub(super) fn run(
        mut self,
        environment: &Environment<'_>,
        database: &Kraken2Database,
        outputs: &OutputSet,
    ) -> Result<Summary> {
        let config = config(self.args);
        let share = environment.share(self.segments, environment.shard, config.minimizers)?;
        let config = config.share(share);
        let Environment { resources, cancel, .. } = environment;
        let begun = Instant::now();
        let bar = Bar::new(environment.console);
        let mut streams = self.files.streams();
        let done =
            classify(&config, resources, database, self.segments, &mut streams, &bar, cancel);
        drop(bar);
        let mut outcome = done?;
        let queried = begun.elapsed();
        let mut page = frame("classify", &self.args.pages, self.name, inputs_of(self.segments));
        page.parameters = vec![
            parameter("database", &environment.name),
            parameter("confidence", config.rules.confidence),
            parameter("minimum-hit-groups", config.rules.minimum_hit_groups),
        ];
        let Sample { files, started, .. } = self;
        let Closed { json, picture } =
            files.finish_kraken2(&mut outcome, database, config.minimizers, page, cancel)?;
        let mut summary = summary(&config, environment, &outcome);
        let gpus: Vec<u32> = outcome.devices.iter().map(|device| device.ordinal).collect();
        devices::describe(&gpus, resources.gpu_memory, &mut summary);
        devices::clocks(started, &mut summary);
        if let Some(shard) = environment.shard {
            summary.set("parameters", "shard", shard.to_string());
        }
        let upload = outcome.stages.get("upload");
        if !outcome.devices.is_empty() {
            summary.stage("upload", upload);
        }
        summary.stage("query", queried - upload);
        if started == environment.started {
            summary.stage("open", environment.opened);
        }
        if let Some(output) = json {
            write_summary(&mut summary, output)?;
        }
        environment.commit(outputs)?;
        if let Some(picture) = picture {
            environment.console.text(picture.trim_end());
        }
        tell(environment, &config, &outcome, started);
        Ok(summary)
    }
}

fn config(args: &QueryArgs) -> Kraken2Config {
    let (lines, kraken) = (&args.lines, &args.decision.kraken);
    let of = Kraken2Rules::default();
    let rules = Kraken2Rules {
        confidence: kraken.confidence.unwrap_or(of.confidence),
        minimum_hit_groups: kraken.minimum_hit_groups.unwrap_or(of.minimum_hit_groups),
        minimum_base_quality: args.filter.min_qual,
        quality_offset: args.filter.quality_offset,
        quick: kraken.quick,
        names: lines.use_names,
    };
    Kraken2Config::new(rules)
        .minimizers(lines.report_minimizer_data)
        .classified_only(lines.mapped_only)
        .any_names(args.pairs.any_names)
}

/// The parameters and results of a run.
fn summary(
    config: &Kraken2Config,
    environment: &Environment<'_>,
    outcome: &Kraken2Outcome,
) -> Summary {
    let mut summary = Summary::new("classify");
    summary.version(env!("CARGO_PKG_VERSION"));
    let rules = &config.rules;
    summary.set("parameters", "threads", environment.resources.threads);
    summary.set("parameters", "format", name_of(&FormatName::Kraken));
    summary.set("parameters", "confidence", rules.confidence);
    summary.set("parameters", "minimum_hit_groups", rules.minimum_hit_groups);
    summary.set("parameters", "min_qual", rules.minimum_base_quality);
    summary.set("parameters", "quality_offset", rules.quality_offset.number());
    summary.set("parameters", "quick", rules.quick);
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
    started: Instant,
) {
    let console = environment.console;
    if outcome.records == 0 {
        console.warn("there are no reads in the input");
    }
    tell_skipped(outcome.skipped_alignments, console);
    let percent = 100.0 * outcome.classified as f64 / outcome.records.max(1) as f64;
    console.info(format_args!(
        "classified {} of {} reads ({percent:.2} %) in {:.1} s by Kraken 2's rules; confidence {}, \
         minimum-hit-groups {}",
        outcome.classified,
        outcome.records,
        started.elapsed().as_secs_f64(),
        config.rules.confidence,
        config.rules.minimum_hit_groups
    ));
}
