//! Partial results with Kraken 2 databases: reads and minimizers by node, and sketches of distinct minimizers.

use std::io::Write;

use merganser_run::Cancel;

use merganser_taxreport::partial::{
    Decoder, Encoder, Fields, Origin, WrittenShard, field, flag, offset_field,
};

use crate::Error;
use crate::{Kraken2Config, Kraken2Counts, Kraken2Database, Kraken2Options, Kraken2Taxonomy};

/// Returns the fields that identify the database.
fn database_fields(database: &Kraken2Database) -> Fields {
    let options = database.options();
    let &Kraken2Options { k, l, spaced_mask, toggle_mask, minimum_hash, old_complement } = options;
    let mut fields = vec![
        field("k", k),
        field("l", l),
        field("spaced mask", format_args!("{spaced_mask:#x}")),
        field("toggle mask", format_args!("{toggle_mask:#x}")),
        field("minimum hash", minimum_hash),
        flag("old complement", old_complement),
        field("cells", database.cells()),
        field("filled", database.filled()),
        field("bytes", database.table_bytes()),
        field("taxa", database.taxonomy().len()),
    ];
    let tables = database.tables.all().count();
    if tables > 1 {
        fields.push(field("tables", tables));
    }
    fields
}

/// Returns the options on which the counts depend, in addition to the reads and the database.
fn parameter_fields(config: &Kraken2Config) -> Fields {
    let mut fields = vec![
        field("confidence", config.confidence),
        field("minimum-hit-groups", config.minimum_hit_groups),
        field("min-qual", config.min_qual),
        flag("quick", config.quick),
        flag("report-minimizer-data", config.report_minimizer_data),
    ];
    fields.extend(offset_field(config.min_qual, config.quality_offset));
    if config.share.is_some() {
        // The lines of shards are joined too.
        fields.push(flag("use-names", config.use_names));
        fields.push(flag("mapped-only", config.mapped_only));
    }
    fields
}

/// Writes the results of a run over reads with the given sum. `shard` is the shard of a job that was
/// classified, or `None` for all reads.
///
/// # Errors
/// If writing fails; if cancelled.
pub(crate) fn write_results(
    database: &Kraken2Database,
    config: &Kraken2Config,
    (counts, reads_sum): (&Kraken2Counts, u64),
    shard: Option<WrittenShard>,
    cancel: &Cancel,
    output: &mut dyn Write,
) -> Result<(), Error> {
    let mut encoder = Encoder::new(output);
    let mut of_database = database_fields(database);
    if shard.is_some() {
        // The machines of a job may have their own copies of the database. Results of all reads have no checksum,
        // because they are joined with results of earlier versions, and the table is large.
        let checksum = database.table_checksum(cancel)?;
        of_database.push(field("checksum", format_args!("{checksum:08x}")));
    }
    let origin = Origin {
        is_kraken2: true,
        database: of_database,
        parameters: parameter_fields(config),
        reads: reads_sum,
        shard,
        by_database: config.database_report,
    };
    origin.write(&mut encoder)?;
    encoder.text(&database.taxonomy().to_bytes())?;
    counts.store(config.report_minimizer_data, &mut encoder)?;
    if config.database_report {
        counts.by_database.store(&mut encoder)?;
    }
    Ok(encoder.finish()?)
}

/// The sums of the counts of several runs.
#[derive(Debug)]
pub struct JoinedCounts {
    /// The taxonomy of the database.
    pub taxa: Kraken2Taxonomy,
    /// The reads and minimizers by taxon.
    pub counts: Kraken2Counts,
    /// Whether distinct minimizers were estimated.
    pub minimizers: bool,
    /// The number of files whose reads end within a block of Kraken 2's input.
    pub cut: usize,
}

impl JoinedCounts {
    /// Returns empty counts for the taxonomy that the files contain, or `None` if it is damaged.
    pub fn new(taxonomy: &[u8]) -> Option<JoinedCounts> {
        let taxa = Kraken2Taxonomy::parse(taxonomy).ok()?;
        let counts = Kraken2Counts::default();
        Some(JoinedCounts { taxa, counts, minimizers: false, cut: 0 })
    }

    /// Adds the counts of a file.
    ///
    /// # Errors
    /// If reading fails, or if the file is damaged.
    pub fn add(&mut self, mut decoder: Decoder) -> Result<(), Error> {
        let nodes = self.taxa.len();
        let stored = self.counts.add_stored(nodes, &mut decoder)?;
        self.minimizers |= stored.minimizers;
        self.cut += usize::from(stored.is_cut);
        if decoder.is_by_database() {
            self.counts.add_stored_by_database(nodes, &mut decoder)?;
        }
        Ok(decoder.finish()?)
    }

    /// Returns the same results with bases in place of reads, and without minimizers.
    #[must_use]
    pub fn in_bases(&self) -> JoinedCounts {
        let counts = self.counts.in_bases();
        JoinedCounts { taxa: self.taxa.clone(), counts, minimizers: false, cut: 0 }
    }

    /// Returns the number of taxa whose estimate of distinct minimizers may differ from the estimate of a single run
    /// over the same reads in one file, because the blocks of its input would differ.
    pub fn uncertain(&self) -> usize {
        if self.cut < 2 { 0 } else { self.counts.uncertain() }
    }
}
