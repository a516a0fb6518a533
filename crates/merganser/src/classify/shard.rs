//! `classify --shard`: classifies a part of one sample's reads, for `classify join`.

use anyhow::Result;
use merganser_io::ReadInput;
use merganser_kraken2::{Error, ReadShare};
use merganser_run::Shard;

use super::Environment;
use crate::args::classify::QueryArgs;
use crate::failure;

/// Checks that all outputs of a shard can be joined.
///
/// # Errors
/// Names the first output that needs all reads, or says that `--partial` is missing.
pub(super) fn check(args: &QueryArgs) -> Result<()> {
    let QueryArgs { given, lines, reports, pages, .. } = args;
    let of_all = [
        (reports.report.is_some(), "--report"),
        (reports.report_bases.is_some(), "--report-bases"),
        (reports.mpa.is_some(), "--mpa"),
        (reports.krona.is_some(), "--krona"),
        (reports.abundance.is_some(), "--abundance"),
        (reports.cami.is_some(), "--cami"),
        (reports.bracken.is_some(), "--bracken"),
    ];
    failure::refuse_given(&of_all, |option| {
        format!("{option} needs all reads, and a shard has only some: use it with classify join")
    })?;
    let of_run = [
        (lines.hits_per_ref.is_some(), "--hits-per-ref"),
        (pages.report_html.is_some(), "--report-html"),
        (pages.report_data.is_some(), "--report-data"),
        (pages.multiqc.is_some(), "--multiqc"),
        (lines.plot.is_some(), "--plot"),
        (given.has("cov_percentile"), "--cov-percentile"),
    ];
    failure::refuse_given(&of_run, |option| {
        format!("{option} needs all reads, and a shard has only some: classify without --shard")
    })?;
    match lines.partial {
        Some(_) => Ok(()),
        None => failure::usage(
            "--shard requires --partial FILE, which classify join needs to join the shards",
        ),
    }
}

impl Environment<'_> {
    /// Returns the part of the reads that this run classifies, `None` for all. With `at_blocks`, it begins and ends
    /// at boundaries of Kraken 2's input blocks.
    ///
    /// # Errors
    /// Returns the errors of counting the reads.
    pub(super) fn share(
        &self,
        segments: &[ReadInput],
        shard: Option<Shard>,
        at_blocks: bool,
    ) -> Result<Option<ReadShare>, Error> {
        let Some(shard) = shard else { return Ok(None) };
        let context = &self.context;
        match at_blocks {
            true => ReadShare::at_blocks(segments, shard, context),
            false => ReadShare::new(segments, shard, context),
        }
        .map(Some)
    }
}
