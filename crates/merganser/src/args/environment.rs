//! Environment variables that are defaults of options.

use std::str::FromStr;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use merganser_run::DeviceChoice;

use super::threads::MAX;

/// A variable, and the option whose default it is, in all commands that have the option.
struct Variable {
    name: &'static str,
    option: &'static str,
    /// Checks a value; the error is what to give.
    check: fn(&str) -> Result<(), String>,
}

const VARIABLES: [Variable; 4] = [
    Variable { name: "MERGANSER_THREADS", option: "threads", check: threads },
    Variable { name: "MERGANSER_MEMORY", option: "memory", check: memory },
    Variable { name: "MERGANSER_DEVICE", option: "device", check: device },
    Variable { name: "MERGANSER_TMPDIR", option: "tmp-dir", check: |_| Ok(()) },
];

fn threads(value: &str) -> Result<(), String> {
    match value.parse() {
        Ok(1..=MAX) => Ok(()),
        _ => Err(format!("give a number of threads, 1 to {MAX}")),
    }
}

fn memory(value: &str) -> Result<(), String> {
    merganser_run::parse_size(value).map(drop).map_err(|error| error.to_string())
}

fn device(value: &str) -> Result<(), String> {
    DeviceChoice::from_str(value).map(drop).map_err(|error| error.to_string())
}

/// The variables that are set, and not empty.
pub(super) struct Environment {
    set: Vec<(&'static Variable, Result<String, String>)>,
}

impl Environment {
    /// Reads the variables of the process.
    pub(super) fn read() -> Environment {
        Environment::of(|name| std::env::var_os(name).map(|value| value.into_string()))
    }

    /// Reads variables with `value`, which returns those that are not text as an error.
    fn of<E>(value: impl Fn(&str) -> Option<Result<String, E>>) -> Environment {
        let one = |variable: &'static Variable| {
            let value = match value(variable.name)? {
                Ok(value) if value.is_empty() => return None,
                Ok(value) => (variable.check)(&value)
                    .map_err(|error| format!("{}='{value}': {error}", variable.name))
                    .map(|()| value),
                Err(_) => Err(format!("{}: is not UTF-8 text", variable.name)),
            };
            Some((variable, value))
        };
        Environment { set: VARIABLES.iter().filter_map(one).collect() }
    }

    /// Returns the default of the number of threads, `None` if it is not set.
    ///
    /// # Errors
    /// If the value is wrong.
    pub(super) fn threads(&self) -> Result<Option<u16>, String> {
        let of_threads = self.set.iter().find(|(variable, _)| variable.option == "threads");
        let value = of_threads.map(|(_, value)| value.clone()).transpose()?;
        Ok(value.and_then(|value| value.parse().ok()))
    }

    /// Makes the values defaults of their options. Options on the command line have precedence.
    pub(super) fn apply(&self, command: Command) -> Command {
        let command = command.mut_args(|option| {
            let value = self.set.iter().find_map(|(variable, value)| {
                let is_own = option.get_long() == Some(variable.option);
                value.as_ref().ok().filter(|_| is_own)
            });
            match value {
                Some(value) => {
                    // The text of an option has its other default.
                    let help = option.get_help().map(ToString::to_string).unwrap_or_default();
                    let has_own = help.contains("[default:");
                    option.default_value(value.clone()).hide_default_value(has_own)
                }
                None => option,
            }
        });
        command.mut_subcommands(|inner| self.apply(inner))
    }

    /// Checks the values that a command line uses: those of options which it does not give.
    ///
    /// # Errors
    /// Names the first variable with a wrong value.
    pub(super) fn check(&self, command: &Command, matches: &ArgMatches) -> Result<(), String> {
        if let Some((name, inner)) = matches.subcommand()
            && let Some(command) = command.find_subcommand(name)
        {
            return self.check(command, inner);
        }
        for (variable, value) in &self.set {
            let Err(error) = value else { continue };
            let option =
                command.get_arguments().find(|arg| arg.get_long() == Some(variable.option));
            let is_given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
            if option.is_some_and(|option| !is_given(option.get_id().as_str())) {
                return Err(error.clone());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Environment;
    use crate::args::Cli;

    /// Parses a command line with these variables.
    fn parse(variables: &[(&str, &str)], line: &str) -> Result<String, String> {
        let value = |name: &str| {
            let (_, value) = variables.iter().find(|(variable, _)| *variable == name)?;
            Some(Ok::<_, ()>((*value).to_owned()))
        };
        let environment = Environment::of(value);
        let command = environment.apply(Cli::command());
        let matches = command.clone().try_get_matches_from(line.split(' ')).unwrap();
        environment.check(&command, &matches)?;
        let (_, count) = matches.subcommand().unwrap();
        let threads = count.get_one::<u16>("threads").map_or(0, |&threads| threads);
        Ok(format!("{threads} {}", count.get_one::<u64>("memory").map_or(0, |&bytes| bytes)))
    }

    #[test]
    fn variables_are_defaults_and_options_have_precedence() {
        let count = "merganser count -k 5 -o x y";
        let set = [("MERGANSER_THREADS", "3"), ("MERGANSER_MEMORY", "1G")];
        assert_eq!(parse(&set, count), Ok("3 1073741824".into()));
        assert_eq!(parse(&set, "merganser count -k 5 -t 2 y"), Ok("2 1073741824".into()));
        assert_eq!(parse(&[("MERGANSER_THREADS", "")], count), Ok("0 0".into()));
    }

    #[test]
    fn wrong_values_name_the_variable() {
        let count = "merganser count -k 5 -o x y";
        for (name, value) in
            [("MERGANSER_THREADS", "all"), ("MERGANSER_MEMORY", "x"), ("MERGANSER_DEVICE", "tpu")]
        {
            let message = parse(&[(name, value)], count).unwrap_err();
            assert!(message.starts_with(&format!("{name}='{value}': ")), "{message}");
        }
        // An option that is given, and commands without the option, do not use the variable.
        let wrong = [("MERGANSER_THREADS", "all")];
        assert_eq!(parse(&wrong, "merganser count -k 5 -t 2 y"), Ok("2 0".into()));
    }
}
