//! The table of a panel, which may have to be made first.

use std::path::Path;

use merganser_io::{Input, OutputSet, TemporaryFolder};
use merganser_kmers::tables::AnyTable;
use merganser_run::{ConfigError, Context, DeviceChoice};

use super::run_quietly;
use crate::config::Format;
use crate::{Config, Error};

/// The open table of a panel, and the folder that it is in if it was made from sequences.
pub(super) struct PanelTable {
    pub(super) table: AnyTable,
    _folder: Option<TemporaryFolder>,
}

/// Opens a panel: a table, or sequences, all k-mers of which are counted into a temporary table.
///
/// # Errors
/// If the panel cannot be read, or its k-mers are not like those that `config` counts.
pub(super) fn open(path: &Path, config: &Config, context: &Context) -> Result<PanelTable, Error> {
    if path.as_os_str() == "-" || !AnyTable::is_of_sequences(path)? {
        let table = AnyTable::open_with(path, config.is_canonical(), context)?.of_panel();
        check(&table, config)?;
        return Ok(PanelTable { table: table.sorted(context)?, _folder: None });
    }
    let folder = TemporaryFolder::create(&context.temp_dir)?;
    let (file, outputs) = (folder.file("panel.mgk")?, OutputSet::new());
    let own = Config {
        panel: None,
        min_count: Some(1),
        max_count: None,
        min_qual: None,
        format: Format::Mgk,
        ..config.clone()
    };
    let inputs = [Input::from(path.to_owned())];
    let context = context.clone().device(DeviceChoice::Cpu);
    run_quietly(&own, &inputs, Some(&file), &outputs, &context)?;
    outputs.commit()?;
    Ok(PanelTable { table: AnyTable::open(&file)?, _folder: Some(folder) })
}

/// Checks a panel without reading all of it: a table must have k-mers like those that `config` counts. Sequences, and what
/// can be read only once, are not read.
///
/// # Errors
/// If the panel cannot be opened, or its k-mers differ.
pub(super) fn check_unread(path: &Path, config: &Config, context: &Context) -> Result<(), Error> {
    let input = Input::from(path.to_owned());
    if path.as_os_str() == "-" || (path.exists() && !input.is_file()) {
        return Ok(());
    }
    if AnyTable::is_of_sequences(path)? {
        return Ok(());
    }
    check(&AnyTable::open_with(path, config.is_canonical(), context)?, config)
}

/// Checks that the k-mers of the reads can be in the table.
fn check(table: &AnyTable, config: &Config) -> Result<(), Error> {
    let (panel, path) = (table.description(), table.path().display());
    let fail = |message: String| Err(Error::Config(ConfigError::new(message)));
    if panel.k != config.k {
        return fail(format!(
            "`k` {}: the k-mers of the `panel` {path} have {} bases",
            config.k, panel.k
        ));
    }
    if panel.canonical != config.is_canonical() {
        let what = if panel.canonical {
            "are canonical: leave `forward_only` out"
        } else {
            "are not canonical: use `forward_only`"
        };
        return fail(format!("`panel`: the k-mers of {path} {what}"));
    }
    if panel.header.is_some() && panel.homopolymer_compressed != config.hpc {
        let what = if config.hpc {
            "were not homopolymer-compressed: leave `hpc` out"
        } else {
            "were homopolymer-compressed: use `hpc`"
        };
        return fail(format!("`panel`: the reads of {path} {what}"));
    }
    Ok(())
}
