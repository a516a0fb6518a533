//! An interactive session: the database stays open, and each line of stdin is a query (Kobus et
//! al., 2021, section 4).

use std::ffi::OsString;
use std::io::{self, BufReader, IsTerminal, Write};
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Error, Result, anyhow};
use clap::{Arg, Args, Command, CommandFactory, FromArgMatches};
use merganser_io::{Input, read_table_line, reason};

use super::Environment;
use super::query::Query;
use crate::args::classify::{QueryArgs, SessionLine};
use crate::args::given::Given;
use crate::failure;

const HELP: &str = "\
Each line has the reads and options of a query, as on the command line without the database:
  -1 a_1.fq.gz -2 a_2.fq.gz -o a.tsv --report a.kreport
  b.fq --no-map --abundance b.tsv --hitmin 3
Names with blanks need quotes. `help` prints this text, `quit` or the end of the input ends the
session, and lines that begin with # are ignored. A query that fails leaves no outputs; the session
continues, and its exit code is 1. Options of Decision on the command line are the defaults of all
queries.
";

/// The help headings of options that apply to all lines if they are given on the command line.
const INHERITED: [&str; 2] = ["Decision", "Kraken 2's databases"];

/// The maximum number of words of a line; this many take up to 20 MB.
const MAX_WORDS: usize = 1 << 16;

/// Runs the queries on the lines of stdin until it ends.
pub(super) fn run(environment: &Environment<'_>, given: &QueryArgs) -> Result<ExitCode> {
    // Options that would be ignored without notice are refused.
    let all = QueryArgs::augment_args(Command::new(""));
    let is_for_lines = |argument: &Arg| {
        !argument.get_help_heading().is_some_and(|heading| INHERITED.contains(&heading))
    };
    let for_lines = all.get_arguments().filter(|argument| is_for_lines(argument));
    // READS was given: it has the database.
    let mut for_lines =
        for_lines.map(|argument| argument.get_id().as_str()).filter(|id| *id != "reads");
    if for_lines.any(|id| given.given.has(id)) {
        return failure::usage(
            "with --interactive, give reads, outputs and filters in the lines of stdin",
        );
    }
    let mut stdin = BufReader::new(merganser_io::stdin()?);
    let prompt = stdin.get_ref().is_terminal();
    let mut ended_well = true;
    let mut line = Vec::new();
    for number in 1.. {
        if prompt {
            write!(io::stderr(), "merganser> ")?;
        }
        line.clear();
        if read_table_line(&mut stdin, &mut line, number).map_err(|error| failed(&error))? == 0 {
            break;
        }
        if environment.cancel.is_cancelled() {
            return Err(merganser_classify::Error::Cancelled.into());
        }
        match line.trim_ascii() {
            b"quit" | b"exit" => break,
            b"help" => environment.console.text(HELP.trim_end()),
            line if line.is_empty() || line.starts_with(b"#") => {}
            line => match answer(environment, line, &given.given) {
                Ok(()) => {}
                Err(error) if environment.cancel.is_cancelled() => return Err(error),
                // The next answer could not be written either.
                Err(error) if failure::is_broken_pipe(&error) => return Err(error),
                Err(error) => {
                    environment.console.error(failure::message(&error));
                    ended_well = false;
                }
            },
        }
    }
    Ok(if ended_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn failed(error: &io::Error) -> Error {
    anyhow!("stdin: {}", reason(error))
}

fn answer(environment: &Environment<'_>, line: &[u8], given: &Given) -> Result<()> {
    let Some(words) = shlex::bytes::split(line) else {
        let line = String::from_utf8_lossy(line);
        return failure::usage(format!("a quote is not closed: {line}"));
    };
    if words.len() > MAX_WORDS {
        return failure::usage(format!(
            "a line has {} words, more than {MAX_WORDS}: write the names of files to a list, and give it \
             as @LIST",
            words.len()
        ));
    }
    let words = words.into_iter().map(OsString::from_vec);
    let command = SessionLine::command();
    let inherited = given.under(&command, &INHERITED);
    let command = inherited.as_defaults(command);
    let parsed = command.try_get_matches_from(words);
    let parsed = parsed.and_then(|matches| SessionLine::from_arg_matches(&matches));
    let parsed = parsed.map_err(|error| {
        // The first paragraph is the error, the rest describes the usage of a command line.
        let text = error.to_string();
        let text = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        failure::Usage(format!("{text} (enter `help` for help)"))
    });
    let mut args = parsed?.query;
    args.given.inherit(inherited);
    let query = Query::new(&args, None)?;
    if query.inputs().any(Input::is_stdin) {
        return failure::usage("stdin is used for the session's lines: reads must come from files");
    }
    let outputs = query.check(environment.files.clone())?;
    query.run(environment, &outputs, Instant::now())?;
    Ok(())
}
