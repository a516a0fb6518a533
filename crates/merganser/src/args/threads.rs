//! `-t`, `-@` and `--threads`, wherever work is shared among threads.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};

const MAX: u16 = 1024;

/// The option of all commands that run on several threads.
#[derive(Args, Clone, Debug)]
pub(crate) struct ThreadArgs {
    /// Threads in all [default: as many as the process may run]
    #[arg(short = 't', long, visible_short_alias = '@', value_name = "N")]
    #[arg(help_heading = "Resources")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX)))]
    threads: Option<u16>,
}

impl ThreadArgs {
    /// How many were asked for.
    pub(crate) fn number(&self) -> Option<usize> {
        self.threads.map(usize::from)
    }
}

/// The same for commands whose `-t` once was the taxonomy: a folder there still is it.
#[derive(Args, Clone, Debug)]
pub(crate) struct ThreadsOrTaxonomyArgs {
    /// Threads in all [default: as many as the process may run]
    #[arg(short = 't', long, visible_short_alias = '@', value_name = "N")]
    #[arg(help_heading = "Resources", value_parser = number_or_folder())]
    // More than one, as `-t DIR --threads N` was right and is.
    #[arg(action = clap::ArgAction::Append)]
    threads: Vec<ThreadsOrTaxonomy>,
}

impl ThreadsOrTaxonomyArgs {
    /// How many were asked for.
    pub(crate) fn number(&self) -> Option<usize> {
        self.threads.iter().find_map(|given| match given {
            ThreadsOrTaxonomy::Threads(number) => Some(usize::from(*number)),
            ThreadsOrTaxonomy::Taxonomy(_) => None,
        })
    }

    /// Whether a number or a folder was given more than once.
    pub(super) fn is_doubled(&self) -> bool {
        let folders = self.threads.iter().filter(|given| given.is_taxonomy()).count();
        folders > 1 || self.threads.len() - folders > 1
    }

    /// The folder that was given, and is no number of threads from now on.
    pub(super) fn take_taxonomy(&mut self) -> Option<PathBuf> {
        let at = self.threads.iter().position(ThreadsOrTaxonomy::is_taxonomy)?;
        match self.threads.remove(at) {
            ThreadsOrTaxonomy::Taxonomy(folder) => Some(folder),
            ThreadsOrTaxonomy::Threads(_) => None,
        }
    }
}

/// What `-t` may be for a release.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ThreadsOrTaxonomy {
    Threads(u16),
    Taxonomy(PathBuf),
}

impl ThreadsOrTaxonomy {
    fn is_taxonomy(&self) -> bool {
        matches!(self, ThreadsOrTaxonomy::Taxonomy(_))
    }
}

fn number_or_folder() -> impl TypedValueParser<Value = ThreadsOrTaxonomy> {
    OsStringValueParser::new().try_map(|value| parse(&value))
}

fn parse(value: &OsString) -> Result<ThreadsOrTaxonomy, String> {
    match value.to_str().map(str::parse::<i64>) {
        Some(Ok(number)) => match u16::try_from(number) {
            Ok(threads @ 1..=MAX) => Ok(ThreadsOrTaxonomy::Threads(threads)),
            _ => Err(format!("{number} is not in 1..={MAX}")),
        },
        _ if Path::new(value).is_dir() => Ok(ThreadsOrTaxonomy::Taxonomy(value.into())),
        _ => Err("give a number; the folder of a taxonomy goes to --taxonomy".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::{ThreadsOrTaxonomy, parse};

    #[test]
    fn numbers_are_threads_and_folders_the_taxonomy() {
        assert_eq!(parse(&"8".into()), Ok(ThreadsOrTaxonomy::Threads(8)));
        assert_eq!(parse(&"/".into()), Ok(ThreadsOrTaxonomy::Taxonomy("/".into())));
        for wrong in ["0", "1025", "-3", "eight", ""] {
            assert!(parse(&wrong.into()).is_err(), "{wrong}");
        }
    }
}
