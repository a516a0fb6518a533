//! `classify --shard`: a share of one sample's reads, for `classify join` to put together.

use anyhow::Result;
use merganser_io::ReadInput;
use merganser_kraken2::{Error, ReadShare};
use merganser_run::Shard;

use super::Environment;
use crate::args::classify::QueryArgs;
use crate::failure;
use crate::progress::Bar;

/// Sees to it that all that is written of a shard can be joined.
///
/// # Errors
/// The first option that is of all reads, or that there are no partial results.
pub(super) fn check(args: &QueryArgs) -> Result<()> {
    let QueryArgs { given, lines, reports, pages, .. } = args;
    let of_all = [
        (reports.report.is_some(), "--report"),
        (reports.mpa.is_some(), "--mpa"),
        (reports.krona.is_some(), "--krona"),
        (reports.abundance.is_some(), "--abundance"),
        (reports.cami.is_some(), "--cami"),
        (reports.bracken.is_some(), "--bracken"),
    ];
    failure::refuse_given(&of_all, |option| {
        format!(
            "{option} is of all reads, and a shard has some: classify join makes it of --partial"
        )
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
        format!("{option} is of all reads, and a shard has some: classify without --shard")
    })?;
    match lines.partial {
        Some(_) => Ok(()),
        None => failure::usage(
            "--shard needs --partial FILE, by which classify join knows that all shards are there",
        ),
    }
}

impl Environment<'_> {
    /// The share of the reads that this run classifies, if not all; `at_blocks`, one that begins and ends
    /// where blocks of Kraken 2's input do.
    ///
    /// # Errors
    /// As counting reads.
    pub(super) fn share(
        &self,
        segments: &[ReadInput],
        shard: Option<Shard>,
        at_blocks: bool,
    ) -> Result<Option<ReadShare>, Error> {
        let Some(shard) = shard else { return Ok(None) };
        let (resources, cancel, bar) = (&self.resources, self.cancel, Bar::new(self.console));
        match at_blocks {
            true => ReadShare::at_blocks(segments, shard, resources, &bar, cancel),
            false => ReadShare::new(segments, shard, resources, &bar, cancel),
        }
        .map(Some)
    }
}
