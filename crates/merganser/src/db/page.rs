//! The page of databases.

use std::io;
use std::path::Path;

use anyhow::Result;
use merganser_classify::Database;
use merganser_kraken2::Kraken2Database;
use merganser_report::data::{self, Data, Taxon};
use merganser_run::Context;
use merganser_taxonomy::Taxonomy;
use merganser_taxreport::report::{KrakenReport, ReportOptions, Tally};
use serde_json::Value;

use super::info::shown;
use crate::common::text_of;
use crate::database::AnyDatabase;
use crate::pages::{parameter, taxa};

/// Returns the data of the page of a database. `properties` are those that `db info` prints.
///
/// # Errors
/// If the database is damaged, or the run is cancelled.
pub(super) fn of(
    path: &Path,
    database: &AnyDatabase,
    properties: &Value,
    context: &Context,
) -> Result<Data> {
    let name = text_of(path.file_name().unwrap_or(path.as_os_str()));
    let mut data = Data::new(env!("CARGO_PKG_VERSION"), "db info", &name);
    data.inputs.push(name);
    let fields = properties.as_object().into_iter().flatten();
    data.parameters = fields.map(|(key, value)| parameter(key, shown(value))).collect();
    data.database = Some(match database {
        AnyDatabase::Own(database) => of_own(database)?,
        AnyDatabase::Kraken2(database) => of_kraken2(database, context)?,
    });
    Ok(data)
}

fn of_own(database: &Database) -> Result<data::Database> {
    let targets = database.targets();
    let (mut sequences, mut bases) = <[Tally; 2]>::default().into();
    for target in targets {
        sequences.count_many(Some(target.node), 1);
        bases.count_many(Some(target.node), target.bases);
    }
    Ok(data::Database {
        kind: "Merganser".to_owned(),
        bytes: database.bytes(),
        taxa: database.taxonomy().len() as u64,
        references: Some(targets.len() as u64),
        bases: Some(bases.total()),
        unit: "features".to_owned(),
        stored: database.features(),
        cells: None,
        rows: rows(&sequences, Some(&bases), database.taxonomy())?,
    })
}

fn of_kraken2(database: &Kraken2Database, context: &Context) -> Result<data::Database> {
    let mut minimizers = Tally::default();
    for (node, number) in database.minimizers(context)? {
        minimizers.count_many(Some(node), number);
    }
    Ok(data::Database {
        kind: "Kraken 2".to_owned(),
        bytes: database.table_bytes(),
        taxa: database.tree().len() as u64,
        references: None,
        bases: None,
        unit: "minimizers".to_owned(),
        stored: minimizers.total(),
        cells: Some(database.cells()),
        rows: rows(&minimizers, None, database.tree())?,
    })
}

/// Returns the taxa that have any sequences or minimizers, as a report of reads would.
fn rows(counts: &Tally, bases: Option<&Tally>, tree: &Taxonomy) -> Result<Vec<Taxon>> {
    let report = |tally: &Tally| -> Result<KrakenReport> {
        let mut text = Vec::new();
        let options = ReportOptions { zero_counts: false, features: None };
        tally.write_kraken(tree, options, &mut text)?;
        Ok(KrakenReport::of_text(&text).map_err(io::Error::other)?)
    };
    let bases = bases.map(report).transpose()?;
    Ok(taxa::of(&report(counts)?, bases.as_ref(), None).rows)
}
