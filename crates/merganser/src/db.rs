//! `merganser db`: the subcommands that read and make databases.

mod add;
mod bracken;
mod info;
mod merge;
mod page;
mod prepare;
mod split;
mod taxa;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_classify::{Database, Error, Thresholds};
use merganser_kraken2::Kraken2Database;
use merganser_run::Context;
use serde_json::{Value, json};

use crate::args::DbCommand;
use crate::args::db::DbVerifyArgs;
use crate::console::Console;
use crate::database::AnyDatabase;
use crate::verify::verify_each;
use crate::{common, interrupt};

pub(crate) fn run(command: &DbCommand, console: &Console, started: Instant) -> Result<ExitCode> {
    match command {
        DbCommand::Prepare(args) => prepare::run(args, console, started),
        DbCommand::Add(args) => add::run(args, console, started),
        DbCommand::Bracken(args) => bracken::run(args, console, started),
        DbCommand::Taxa(args) => taxa::run(args),
        DbCommand::Split(args) => split::run(args, console),
        DbCommand::MergeResults(args) => merge::run(args, console),
        DbCommand::Info(args) => info::run(args, console),
        DbCommand::Verify(args) => verify(args, console),
    }
}

/// Describes the parameters, the contents and the preset's thresholds of a database. What a database of Kraken 2 has, too,
/// has the same keys in both.
pub(crate) fn describe(database: &Database) -> Value {
    let params = database.params();
    let thresholds = Thresholds::new(params);
    json!({
        "format": "mgdb",
        "preset": params.preset.name(),
        "k": params.k,
        "sketch": params.sketch,
        "window": params.window,
        "stride": params.stride,
        "density": f64::from(params.density) / 256.0,
        "max_locations": params.max_locations,
        "masked": params.masking.name(),
        "lowest": thresholds.lowest.name(),
        "highest": thresholds.highest.name(),
        "max_cand": thresholds.max_cand,
        "hitmin": thresholds.hitmin,
        "hitmin_contested": thresholds.hitmin_contested,
        "hitdiff": f64::from(thresholds.hitdiff) / 10.0,
        "near": thresholds.near,
        "sequences": database.targets().len(),
        "without_taxon": database.without_taxon(),
        "left_out": database.left_out(),
        "bases": database.targets().iter().map(|target| target.bases).sum::<u64>(),
        "taxa": database.taxonomy().len(),
        "windows": database.windows(),
        "features": database.features(),
        "locations": database.locations(),
        "overfull": database.overfull(),
        "pruned": database.is_pruned(),
        "parts": database.parts(),
        "bytes": database.bytes(),
    })
}

/// Describes a database of Kraken 2.
fn describe_kraken2(database: &Kraken2Database) -> Value {
    let options = database.options();
    json!({
        "format": "kraken2",
        "k": options.k,
        "minimizer_len": options.l,
        "spaced_mask": format!("{:x}", options.spaced_mask),
        "toggle_mask": format!("{:x}", options.toggle_mask),
        "minimum_hash": options.minimum_hash,
        "taxa": database.tree().len(),
        "unreached": database.taxonomy().unreached(),
        "cells": database.cells(),
        "minimizers": database.filled(),
        "bytes": database.table_bytes(),
    })
}

/// Checks a database of either kind.
fn check(path: &Path, context: &Context) -> Result<(), Error> {
    match AnyDatabase::open(path)? {
        AnyDatabase::Own(database) => database.verify(context),
        AnyDatabase::Kraken2(database) => Ok(database.verify(context)?),
    }
}

/// Checks every database, even after a damaged one.
fn verify(args: &DbVerifyArgs, console: &Console) -> Result<ExitCode> {
    let cancel = interrupt::cancel_on_interrupt();
    let context = common::context(None, None, None, None);
    verify_each(&args.databases, &cancel, console, |path| Ok(check(path, &context)?))
}
