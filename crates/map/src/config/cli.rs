//! Command-line arguments of [`Select`], which is set by flags instead of by a value.

use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::Select;

/// The flags that set [`Select`].
#[derive(Args)]
#[group(skip)]
struct SelectFlags {
    /// Report all hits: the default if -e is given
    #[arg(long, help_heading = "Reports", group = "select")]
    all: bool,
    /// Report only the first hit
    #[arg(long, help_heading = "Reports", group = "select")]
    best: bool,
    /// Report all hits with the same number of edits as the first one
    #[arg(long, help_heading = "Reports", group = "select")]
    best_strata: bool,
}

impl Args for Select {
    fn augment_args(command: Command) -> Command {
        SelectFlags::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        SelectFlags::augment_args_for_update(command)
    }
}

impl FromArgMatches for Select {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Select, clap::Error> {
        Ok(match SelectFlags::from_arg_matches(matches)? {
            SelectFlags { best: true, .. } => Select::Best,
            SelectFlags { best_strata: true, .. } => Select::BestStrata,
            SelectFlags { .. } => Select::All,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Select::from_arg_matches(matches)?;
        Ok(())
    }
}
