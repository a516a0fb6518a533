//! From the command line to [`Cli`], with what clap alone cannot say of it.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory, FromArgMatches};

use super::db::DbCommand;
use super::{Cli, Command, hints};
use crate::console::Console;

/// The command line.
///
/// # Errors
/// What is wrong with it, with a tip where options of other tools are meant; or the help that was
/// asked for.
pub(crate) fn parse() -> Result<Cli, clap::Error> {
    let parsed = Cli::command().try_get_matches().and_then(|matches| {
        limit_memory(&matches);
        Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut Cli::command()))
    });
    let mut cli = parsed.map_err(|mut error| {
        let words: Vec<String> =
            std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        let mut command = Cli::command();
        command.build();
        hints::add(&mut error, &command, &words);
        error
    })?;
    let console = Console::new(cli.talk.level());
    settle_taxonomy(&mut cli.command, &console)?;
    Ok(cli)
}

/// Says what `--memory` of any command gives; what is given by default is decided here once, as less is
/// free when a run has taken its part.
fn limit_memory(matches: &ArgMatches) {
    let mut command = matches;
    while let Some((_, inner)) = command.subcommand() {
        command = inner;
    }
    let given = command.try_get_one("memory").ok().flatten().copied();
    merganser_io::limit_memory(given.unwrap_or_else(merganser_run::default_budget));
}

/// Takes a folder that was given as `-t` for the taxonomy, which that once was.
fn settle_taxonomy(command: &mut Command, console: &Console) -> Result<(), clap::Error> {
    let (name, threads, taxonomy): (&[&str], _, &mut Vec<PathBuf>) = match command {
        Command::Build(args) => (&["build"], &mut args.resources.threads, &mut args.taxonomy),
        Command::Classify(args) => (&["classify"], &mut args.resources.threads, &mut args.taxonomy),
        Command::Db { command: DbCommand::Add(args) } => {
            (&["db", "add"], &mut args.resources.threads, &mut args.taxonomy)
        }
        Command::Eval(args) => {
            return settle(&["eval"], args.old_taxonomy.take(), &mut args.taxonomy, console);
        }
        _ => return Ok(()),
    };
    if threads.is_doubled() {
        return Err(wrong(name, "-t, -@ or --threads is given more than once"));
    }
    settle(name, threads.take_taxonomy(), taxonomy, console)
}

/// Puts the folder that was given as `-t` where it belongs.
fn settle(
    name: &[&str],
    folder: Option<PathBuf>,
    taxonomy: &mut Vec<PathBuf>,
    console: &Console,
) -> Result<(), clap::Error> {
    if let Some(folder) = folder {
        if !taxonomy.is_empty() {
            return Err(wrong(name, "-t is the number of threads; --taxonomy is given already"));
        }
        if name == ["eval"] && !folder.is_dir() {
            return Err(wrong(name, "eval runs on one thread; a taxonomy goes to --taxonomy"));
        }
        console.warn(format_args!(
            "-t means threads: write --taxonomy {0}; -t {0} is taken as the taxonomy in this \
             release only",
            folder.display()
        ));
        taxonomy.push(folder);
    }
    if name == ["build"] && taxonomy.is_empty() {
        return Err(wrong(
            name,
            "--taxonomy <PATH> is missing: the folder of NCBI's taxdump, or a table of GTDB",
        ));
    }
    Ok(())
}

/// An error of usage of a command.
fn wrong(names: &[&str], message: &str) -> clap::Error {
    let mut command = Cli::command();
    command.build();
    for name in names {
        if let Some(inner) = command.find_subcommand(name).cloned() {
            command = inner;
        }
    }
    command.error(ErrorKind::MissingRequiredArgument, message)
}
