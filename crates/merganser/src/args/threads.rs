//! `-t`, `-@` and `--threads` of all commands that run on several threads.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};

pub(super) const MAX: u16 = 1024;

/// The number of threads.
#[derive(Args, Clone, Debug)]
pub(crate) struct ThreadArgs {
    /// Number of threads [default: the number of CPUs that the process may use]
    #[arg(short = 't', long, visible_short_alias = '@', value_name = "N")]
    #[arg(help_heading = "Resources")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX)))]
    threads: Option<u16>,
}

impl ThreadArgs {
    /// Returns the number of threads, `None` for the default.
    pub(crate) fn number(&self) -> Option<usize> {
        self.threads.map(usize::from)
    }
}

/// The number of threads, for commands whose `-t` was the taxonomy once: a folder is still accepted.
#[derive(Args, Clone, Debug)]
pub(crate) struct ThreadsOrTaxonomyArgs {
    /// Number of threads [default: the number of CPUs that the process may use]
    #[arg(short = 't', long, visible_short_alias = '@', value_name = "N")]
    #[arg(help_heading = "Resources", value_parser = number_or_folder())]
    // Several values, as `-t DIR --threads N` was valid and still is.
    #[arg(action = clap::ArgAction::Append)]
    threads: Vec<ThreadsOrTaxonomy>,
}

impl ThreadsOrTaxonomyArgs {
    /// Returns the number of threads, `None` for the default.
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

    /// Sets the number of threads, unless it was given.
    pub(super) fn set_default(&mut self, number: u16) {
        if self.number().is_none() {
            self.threads.push(ThreadsOrTaxonomy::Threads(number));
        }
    }

    /// Removes and returns the folder that was given.
    pub(super) fn take_taxonomy(&mut self) -> Option<PathBuf> {
        let at = self.threads.iter().position(ThreadsOrTaxonomy::is_taxonomy)?;
        match self.threads.remove(at) {
            ThreadsOrTaxonomy::Taxonomy(folder) => Some(folder),
            ThreadsOrTaxonomy::Threads(_) => None,
        }
    }
}

/// A value of `-t`, as long as folders are accepted (for one release).
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
