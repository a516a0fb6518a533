//! The options that were given on the command line, where a default value does not tell.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches, Id};
use merganser_alignments::quoted;

/// The options that were given, with their values.
///
/// It must be the first field of the arguments, because derived parsers of other fields take their values out
/// of the matches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given(Vec<(Id, Vec<OsString>)>);

impl Args for Given {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Given, clap::Error> {
        let is_given =
            |id: &&Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        let values = |id: &Id| {
            let raw = matches.try_get_raw(id.as_str()).ok().flatten();
            (id.clone(), raw.into_iter().flatten().map(OsString::from).collect())
        };
        Ok(Given(matches.ids().filter(is_given).map(values).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Given::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Given {
    /// Whether an option was given; `id` is the name of its field.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.0.iter().any(|(given, _)| given == id)
    }

    /// Returns the first option of `A` that was given and is not in `allowed`, as written on the command line.
    pub(crate) fn first_of<A: Args>(&self, allowed: &[&str]) -> Option<String> {
        let all = A::augment_args(Command::new(""));
        let found = all.get_arguments().find(|argument| {
            let id = argument.get_id().as_str();
            self.has(id) && !allowed.contains(&id)
        })?;
        Some(match (found.get_long(), found.get_short()) {
            (Some(long), _) => format!("--{long}"),
            (None, Some(short)) => format!("-{short}"),
            (None, None) => found.get_id().to_string(),
        })
    }

    /// Returns the options of `A` that were given, with their values, each after a blank.
    pub(crate) fn of<A: Args>(&self) -> String {
        let all = A::augment_args(Command::new(""));
        let mut text = String::new();
        for argument in all.get_arguments() {
            let values = self.0.iter().find(|(id, _)| id == argument.get_id());
            let (Some((_, values)), Some(long)) = (values, argument.get_long()) else { continue };
            text += &format!(" --{long}");
            for value in values.iter().filter(|_| argument.get_action().takes_values()) {
                text += &format!(" {}", quoted(&value.to_string_lossy()));
            }
        }
        text
    }

    /// Returns the given options of `command` under these help headings.
    pub(crate) fn under(&self, command: &Command, headings: &[&str]) -> Given {
        let is_under = |id: &Id| {
            let argument = command.get_arguments().find(|argument| argument.get_id() == id);
            let heading = argument.and_then(clap::Arg::get_help_heading);
            heading.is_some_and(|heading| headings.contains(&heading))
        };
        Given(self.0.iter().filter(|(id, _)| is_under(id)).cloned().collect())
    }

    /// Makes the options the defaults of `command`.
    pub(crate) fn as_defaults(&self, command: Command) -> Command {
        self.0.iter().fold(command, |command, (id, values)| {
            let values = values.clone();
            command.mut_arg(id, |argument| argument.default_values(values))
        })
    }

    /// Adds the options of `others` that were not given.
    pub(crate) fn inherit(&mut self, others: Given) {
        let new = others.0.into_iter().filter(|(id, _)| !self.has(id.as_str()));
        let new: Vec<_> = new.collect();
        self.0.extend(new);
    }
}
