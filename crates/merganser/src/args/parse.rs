//! Parses the command line into [`Cli`], and checks what clap cannot express.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{ArgMatches, FromArgMatches};

use super::db::DbCommand;
use super::environment::Environment;
use super::{Cli, Command, hints};
use crate::console::Console;

/// Parses the command line.
///
/// # Errors
/// A usage error, with a tip if an option of another tool was meant; or the help that was requested.
pub(crate) fn parse() -> Result<Cli, clap::Error> {
    let environment = Environment::read();
    let command = environment.apply(super::command());
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(problem) = hints::misunderstood(&command, &words) {
        return Err(clap::Error::raw(ErrorKind::ValueValidation, format!("{problem}\n")));
    }
    let parsed = command.clone().try_get_matches().and_then(|matches| {
        let checked = environment.check(&command, &matches);
        checked.map_err(|wrong| super::command().error(ErrorKind::ValueValidation, wrong))?;
        limit_memory(&matches);
        Cli::from_arg_matches(&matches)
            .map_err(|error| error.format(&mut named(&called(&matches).0)))
    });
    let mut cli = parsed.map_err(|mut error| {
        let mut command = super::command();
        command.build();
        hints::add(&mut error, &command, &words);
        error
    })?;
    let console = Console::new(cli.talk.level());
    settle_taxonomy(&mut cli.command, &environment, &console)?;
    Ok(cli)
}

/// Tells `io` the memory limit of the command. A default is determined here once, because less memory is
/// available when the run has allocated its share.
fn limit_memory(matches: &ArgMatches) {
    let given = called(matches).1.try_get_one("memory").ok().flatten().copied();
    merganser_io::limit_memory(given.unwrap_or_else(merganser_run::default_budget));
}

/// Takes a folder that was given as `-t`, the former option of the taxonomy, as `--taxonomy`.
fn settle_taxonomy(
    command: &mut Command,
    environment: &Environment,
    console: &Console,
) -> Result<(), clap::Error> {
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
    let folder = threads.take_taxonomy();
    if folder.is_some()
        && let Some(number) = environment.threads().map_err(|error| wrong(name, &error))?
    {
        threads.set_default(number);
    }
    settle(name, folder, taxonomy, console)?;
    if let Command::Build(args) = command
        && args.taxonomy.is_empty()
        && args.beside.is_none()
    {
        return Err(wrong(
            &["build"],
            "--taxonomy <PATH> is missing: the folder of NCBI's taxdump, or a table of GTDB",
        ));
    }
    Ok(())
}

/// Adds the folder that was given as `-t` to the taxonomy.
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
    Ok(())
}

/// Makes a usage error of a command.
fn wrong(names: &[&str], message: &str) -> clap::Error {
    named(names).error(ErrorKind::MissingRequiredArgument, message)
}

/// Returns the names of the command that is called, such as `["db", "add"]`, and its arguments.
fn called(mut matches: &ArgMatches) -> (Vec<&str>, &ArgMatches) {
    let mut names = Vec::new();
    while let Some((name, inner)) = matches.subcommand() {
        names.push(name);
        matches = inner;
    }
    (names, matches)
}

/// Returns the command with these names, whose usage knows them.
fn named(names: &[&str]) -> clap::Command {
    let mut command = super::command();
    command.build();
    for name in names {
        if let Some(inner) = command.find_subcommand(name).cloned() {
            command = inner;
        }
    }
    command
}
