//! Writes the partial results of a run: reads by node and target, and distinct features.

use std::io::{self, Write};

use merganser_run::{Cancel, ConfigError};
use merganser_taxreport::partial::{
    Ascending, Encoder, Fields, Origin, WrittenShard, field, flag, offset_field,
};
use merganser_taxreport::report::{FeatureCounts, Tally, TaxonBases};

use super::outcome::Outcome;
use crate::config::{LineFormat, RunConfig};
use crate::decide::Thresholds;
use crate::features::FeatureCounter;
use crate::{Database, Error, Target};

/// The version of the rules by which reads are decided. Results of other rules are not joined with those of these; 0.2.0,
/// without rivals of other families and with another meaning of the confidence, stated none.
const RULES: u32 = 2;

/// Number of features between two checks for cancellation.
const LOOK: u64 = 1 << 16;

/// Checks that a run with `database` can write partial results.
///
/// # Errors
/// If the database has no file, whose checksums identify it; if the result of a read depends on all other reads.
pub(super) fn check(database: &Database, config: &RunConfig) -> Result<(), Error> {
    let refused = |what: &str| Err(Error::Config(ConfigError::new(what)));
    if database.fingerprint().is_none() {
        return refused("`partial` requires a database in a file: build it first");
    }
    if config.cov_percentile > 0 {
        return refused(
            "`cov_percentile` needs the hits of all reads, but `partial` results are of only some of \
             them",
        );
    }
    Ok(())
}

/// Returns the fields that identify the database.
fn database_fields(database: &Database) -> Fields {
    let params = database.params();
    vec![
        field("preset", params.preset.name()),
        field("k", params.k),
        field("sequences", database.targets().len()),
        field("features", database.features()),
        field("bytes", database.bytes()),
        field("checksum", database.fingerprint().unwrap_or_default()),
    ]
}

/// Returns the parameters, besides reads and database, on which the results depend.
fn parameter_fields(config: &RunConfig, thresholds: &Thresholds) -> Fields {
    let (common, filter) = (&config.kraken2, config.filter());
    let &Thresholds { hitmin, hitmin_per_kb, hitdiff, above_minimum, .. } = thresholds;
    let longest = match filter.max_bases {
        usize::MAX => "none".to_owned(),
        bases => bases.to_string(),
    };
    let mut fields = vec![
        field("rules", RULES),
        field("lowest", thresholds.lowest.name()),
        field("highest", thresholds.highest.name()),
        field("max-cand", thresholds.max_cand),
        field("hitmin", hitmin),
        field("hitmin-per-kb", hitmin_per_kb),
        field("hitmin-contested", thresholds.hitmin_contested),
        field("hitdiff", f64::from(hitdiff) / 10.0),
        flag("hitdiff above hitmin", above_minimum),
        field("insert", thresholds.insert),
        field("near", thresholds.near),
        field("confidence", thresholds.confidence),
        field("min-read-len", filter.min_bases),
        field("max-read-len", longest),
        field("min-qual", filter.min_quality),
        flag("report-minimizer-data", common.report_minimizer_data),
    ];
    // Earlier versions had no such field.
    fields.extend(config.least_fraction().map(|fraction| field("min-fraction", fraction)));
    fields.extend(offset_field(filter.min_quality, common.quality_offset));
    if common.share.is_some() {
        // Lines of shards are joined, too, and their format must agree.
        let columns = &config.columns;
        fields.push(field("format", config.format));
        fields.push(match config.format {
            LineFormat::Kraken => flag("use-names", common.use_names),
            LineFormat::MetaCache => field("columns", format_args!("{columns:?}")),
        });
        fields.push(flag("mapped-only", common.mapped_only));
    }
    fields
}

/// Writes the results of a run: reads by taxon, and features if they were counted. `shard` is set if the run was
/// over a shard of a job.
///
/// # Errors
/// If writing fails; if cancelled.
pub(super) fn write(
    database: &Database,
    (config, thresholds): (&RunConfig, &Thresholds),
    (outcome, features): (&Outcome<'_>, Option<(&FeatureCounter<'_>, &FeatureCounts)>),
    shard: Option<WrittenShard>,
    cancel: &Cancel,
    output: &mut dyn Write,
) -> Result<(), Error> {
    let mut encoder = Encoder::new(output);
    let origin = Origin {
        is_kraken2: false,
        database: database_fields(database),
        parameters: parameter_fields(config, thresholds),
        reads: outcome.reads_sum,
        shard,
        by_database: outcome.by_database.is_wanted(),
    };
    origin.write(&mut encoder)?;
    let mut taxonomy = Vec::new();
    database.taxonomy().store(&mut taxonomy);
    encoder.text(&taxonomy)?;
    encoder.number(outcome.tally.unclassified())?;
    encoder.pairs(outcome.tally.of_nodes())?;
    encoder.pairs(outcome.by_genome.of_nodes())?;
    write_targets(&outcome.tally, database.targets(), &mut encoder)?;
    write_bases(&outcome.bases_by_taxon, &mut encoder)?;
    if outcome.by_database.is_wanted() {
        outcome.by_database.store(&mut encoder)?;
    }
    encoder.number(features.is_some().into())?;
    if let Some((counter, counts)) = features {
        let [hits, _] = counts.by_node();
        let hits = (0..).zip(hits.iter().copied());
        encoder.pairs(hits.filter(|(_, hits)| *hits > 0))?;
        let mut list = Ascending::default();
        let mut number = 0u64;
        counter.each_seen(|feature, node| {
            number += 1;
            if number.is_multiple_of(LOOK) && cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            encoder.number(list.step_to(feature))?;
            Ok(encoder.number(node.into())?)
        })?;
        encoder.end_list()?;
    }
    Ok(encoder.finish()?)
}

/// Writes the bases of reads: those of unclassified reads, and by node, by node of genomes, and by target.
fn write_bases(bases: &TaxonBases, encoder: &mut Encoder<'_>) -> io::Result<()> {
    encoder.number(bases.tally.unclassified())?;
    encoder.pairs(bases.tally.of_nodes())?;
    encoder.pairs(bases.by_genome.of_nodes())?;
    encoder.pairs(bases.tally.of_targets().into_iter())
}

/// Writes the targets with reads, which abundances show.
fn write_targets(tally: &Tally, targets: &[Target], encoder: &mut Encoder<'_>) -> io::Result<()> {
    let mut list = Ascending::default();
    for (number, reads) in tally.of_targets() {
        let target = &targets[number as usize];
        encoder.number(list.step_to(number.into()))?;
        encoder.number(reads)?;
        encoder.number(target.node.into())?;
        encoder.text(target.name.as_bytes())?;
    }
    encoder.end_list()
}
