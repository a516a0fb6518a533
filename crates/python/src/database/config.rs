//! The options of classification.

use merganser_classify::{Columns, LineFormat, RunConfig};
use merganser_classify::{Error, VerdictConfig};
use merganser_kraken2::Kraken2Config;
use merganser_taxonomy::Rank;
use pyo3::prelude::*;

use super::opened::Opened;
use crate::errors::{OrRaise, wrong};
use crate::keywords::Keywords;
use crate::reads::Reads;

/// The options that only databases of Merganser have.
const OWN: [&str; 14] = [
    "min_read_len",
    "max_read_len",
    "lowest",
    "highest",
    "max_cand",
    "hitmin",
    "hitmin_per_kb",
    "hitmin_contested",
    "hitdiff",
    "insert",
    "near",
    "min_fraction",
    "cov_percentile",
    "hits_per_ref",
];
/// The options that only databases of Kraken 2 have.
const KRAKEN2: [&str; 2] = ["minimum_hit_groups", "quick"];

/// Takes the options that decide on the taxon of a read.
///
/// # Errors
/// Names an option that the database does not have, or that is out of range.
pub(super) fn of(opened: &Opened, reads: &Reads, keywords: &Keywords<'_>) -> PyResult<RunConfig> {
    match opened {
        Opened::Own(_) => keywords.refuse(
            &KRAKEN2,
            "requires a database of Kraken 2, and this is one of merganser (.mgdb): use hitmin and hitdiff instead",
        )?,
        Opened::Kraken2(_) => keywords
            .refuse(&OWN, "requires a database of merganser (.mgdb), and this is one of Kraken 2")?,
    }
    let config = RunConfig {
        kraken2: kraken2(reads, keywords)?,
        min_read_len: keywords.int("min_read_len")?,
        max_read_len: keywords.int("max_read_len")?,
        verdict: verdict(keywords)?,
        insert: keywords.int("insert")?,
        near: keywords.int("near")?,
        min_fraction: keywords.or("min_fraction", None)?,
        cov_percentile: keywords.per_mille("cov_percentile")?.unwrap_or_default(),
        ..RunConfig::default()
    };
    config.validate().or_raise(keywords.py())?;
    if let Opened::Own(database) = opened {
        config.thresholds(database.params()).or_raise(keywords.py())?;
    }
    Ok(config)
}

fn kraken2(reads: &Reads, keywords: &Keywords<'_>) -> PyResult<Kraken2Config> {
    let of = Kraken2Config::default();
    let config = Kraken2Config {
        confidence: keywords.or("confidence", of.confidence)?,
        minimum_hit_groups: keywords.int_or("minimum_hit_groups", of.minimum_hit_groups)?,
        quick: keywords.flag("quick")?,
        min_qual: keywords.within("min_qual", 0..=93)?.unwrap_or(of.min_qual),
        quality_offset: keywords.quality_offset()?,
        mapped_only: keywords.flag("mapped_only")?,
        any_names: reads.any_names,
        ..of
    };
    config.validate().map_err(Error::from).or_raise(keywords.py())?;
    Ok(config)
}

fn verdict(keywords: &Keywords<'_>) -> PyResult<VerdictConfig> {
    Ok(VerdictConfig {
        lowest: keywords.named::<Rank>("lowest")?,
        highest: keywords.named::<Rank>("highest")?,
        max_cand: keywords.int("max_cand")?,
        hitmin: keywords.int("hitmin")?,
        hitmin_per_kb: keywords.int("hitmin_per_kb")?,
        hitmin_contested: keywords.int("hitmin_contested")?,
        hitdiff: keywords.per_mille("hitdiff")?,
    })
}

/// Adds the options of lines and reports.
pub(super) fn to_files(
    config: RunConfig,
    opened: &Opened,
    keywords: &Keywords<'_>,
) -> PyResult<RunConfig> {
    let format = keywords.named::<LineFormat>("format")?.unwrap_or_default();
    if format == LineFormat::MetaCache && matches!(opened, Opened::Kraken2(_)) {
        let problem =
            "metacache requires a database of merganser (.mgdb), and this is one of Kraken 2";
        return Err(wrong(keywords.py(), "format", problem));
    }
    if format == LineFormat::MetaCache {
        keywords.refuse(&["use_names"], "requires format=\"kraken\"")?;
    }
    let kraken2 = Kraken2Config {
        use_names: keywords.flag("use_names")?,
        report_minimizer_data: keywords.flag("report_minimizer_data")?,
        segment_length: keywords.within("segment_length", 100..=u32::MAX.into())?,
        ..config.kraken2
    };
    Ok(RunConfig { format, kraken2, columns: columns(format, keywords)?, ..config })
}

/// Takes the columns of MetaCache's table.
fn columns(format: LineFormat, keywords: &Keywords<'_>) -> PyResult<Columns> {
    if format != LineFormat::MetaCache {
        let names = [
            "tophits",
            "allhits",
            "locations",
            "lineage",
            "queryids",
            "taxids",
            "taxids_only",
            "omit_ranks",
            "separate_cols",
            "separator",
            "comment",
        ];
        keywords.refuse(&names, "requires format=\"metacache\"")?;
    }
    let of = Columns::default();
    Ok(Columns {
        tophits: keywords.flag("tophits")?,
        allhits: keywords.flag("allhits")?,
        locations: keywords.flag("locations")?,
        lineage: keywords.flag("lineage")?,
        queryids: keywords.flag("queryids")?,
        taxids: keywords.flag("taxids")?,
        taxids_only: keywords.flag("taxids_only")?,
        omit_ranks: keywords.flag("omit_ranks")?,
        separate_cols: keywords.flag("separate_cols")?,
        separator: keywords.or("separator", of.separator)?,
        comment: keywords.or("comment", of.comment)?,
    })
}
