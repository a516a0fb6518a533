//! `merganser db bracken`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};
use merganser_io::is_file;
use merganser_kraken2::Error;
use merganser_kraken2::Kraken2Database;
use merganser_kraken2::check_read_length;
use merganser_library::{LibraryMaps, References, files_beside};
use merganser_run::DeviceChoice;
use merganser_taxonomy::Dump;
use merganser_taxreport::bracken::Distribution;

use crate::args::db::DbBrackenArgs;
use crate::bracken::{Distributions, Genomes, Library, tell_missing, tell_unmapped};
use crate::console::Console;
use crate::database::{self, AnyDatabase};
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::{build, common, failure, interrupt};

/// The map that `kraken2-build` leaves in the folder of a database.
const MAP: &str = "seqid2taxid.map";

pub(super) fn run(args: &DbBrackenArgs, console: &Console, started: Instant) -> Result<ExitCode> {
    check(args)?;
    let databases = databases(args);
    let opened = match &databases[..] {
        [only] => AnyDatabase::open(only)?,
        all => AnyDatabase::open_all(all)?,
    };
    let k = match &opened {
        AnyDatabase::Own(database) => database.params().k as usize,
        AnyDatabase::Kraken2(database) => database.options().k,
    };
    args.read_lengths.iter().try_for_each(|&length| check_read_length(length, k))?;
    merganser_run::raise_open_file_limit();
    let found = References::expand(&args.inputs)?;
    build::tell_others(&found.others, console);
    let (maps, maps_beside) = (maps(args, &found)?, found.maps);
    let inputs = found.inputs;
    let context = common::context(args.threads.number(), None, None, Some(&args.device));
    interrupt::cancel_on_interrupt();
    let library = Library { inputs: &inputs, context: &context };
    library.refuse_pipes("--read-lengths")?;
    let path = |length| match (&args.output, &opened) {
        (Some(prefix), _) => Distribution::path_beside(prefix, length),
        (None, AnyDatabase::Own(_)) => Distribution::path_beside(&args.database, length),
        (None, AnyDatabase::Kraken2(_)) => Distribution::path_in(&args.database, length),
    };
    let paths: Vec<PathBuf> = args.read_lengths.iter().map(|&length| path(length)).collect();
    let taxonomy = common::taxonomy_of(&args.taxonomy);
    let beside = files_beside(&inputs, taxonomy.as_ref());
    let files = RunFiles::new().lists(&args.inputs).inputs(&inputs).read(beside);
    let own: Result<Vec<_>, _> = databases.iter().map(|path| database::files(path)).collect();
    let files = files.read(own?.concat()).read(&maps).read(&maps_beside);
    let outputs =
        files.write(Holds::LINES, &args.taxids.unmapped).write(Holds::ANYTHING, &paths).check()?;
    let distributions = Distributions::create(&args.read_lengths, path, &outputs)?;
    let unmapped = args.taxids.unmapped.as_deref().map(|path| outputs.output(path)).transpose()?;
    let (made, are_empty) = match &opened {
        AnyDatabase::Own(database) => distributions.write(|length| library.of(database, length))?,
        AnyDatabase::Kraken2(database) => {
            let dump = taxonomy.as_ref().map(Dump::read).transpose()?;
            let genomes = Genomes(LibraryMaps {
                given: &maps,
                beside: &maps_beside,
                taxonomy: dump.as_ref(),
                context: &context,
            });
            distributions.write(|length| library.of_kraken2(database, &genomes, length))?
        }
    };
    tell_unmapped(&made.unmapped, &args.taxids, unmapped, console)?;
    if are_empty {
        bail!(
            "these genomes have no reads with a taxon of the database, so that the distribution would have no \
             rows, and nothing is written: give the genomes that the database was built from, or smaller lengths"
        );
    }
    outputs.commit_last()?;
    tell_missing(&made.missing, console);
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let seconds = started.elapsed().as_secs_f64();
    console.info(format_args!("wrote {} in {seconds:.1} s", names.join(", ")));
    Ok(ExitCode::SUCCESS)
}

/// Returns the databases that reads are classified with.
fn databases(args: &DbBrackenArgs) -> Vec<PathBuf> {
    std::iter::once(&args.database).chain(&args.beside).cloned().collect()
}

/// Options that databases of Kraken 2 alone have a meaning for.
fn check(args: &DbBrackenArgs) -> Result<()> {
    let is_kraken2 = Kraken2Database::is_one(&args.database)?;
    if !is_kraken2 && (!args.taxonomy.is_empty() || !args.taxids.config.map.is_empty()) {
        return failure::usage(
            "--taxonomy and --map require a database of Kraken 2: this one (.mgdb) knows the taxids of \
             its sequences",
        );
    }
    if !is_kraken2 && matches!(args.device.device, DeviceChoice::Cuda(_) | DeviceChoice::AllCuda) {
        return failure::usage("--device: databases of merganser (.mgdb) use only the CPU");
    }
    Ok(())
}

/// The maps that were given, manifests among the genomes, and the maps in the databases' folders.
fn maps(args: &DbBrackenArgs, found: &References) -> Result<Vec<PathBuf>> {
    let mut maps = build::maps(&args.taxids, found);
    for database in databases(args) {
        let own = database.join(MAP);
        if is_file(&own).map_err(|source| Error::File { path: own.clone(), source })? {
            maps.push(own);
        }
    }
    Ok(maps)
}
