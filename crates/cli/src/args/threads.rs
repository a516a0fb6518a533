//! `-t`, `-@` and `--threads`, wherever work is shared among threads.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};

const MOST: u16 = 1024;

/// The option of all commands that run on several threads.
#[derive(Args, Clone, Debug)]
pub(crate) struct ThreadArgs {
    /// Threads in all [default: as many as the process may run]
    #[arg(short = 't', long, visible_short_alias = '@', value_name = "N")]
    #[arg(help_heading = "Resources")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST)))]
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
    threads: Option<ThreadsOrTaxonomy>,
}

impl ThreadsOrTaxonomyArgs {
    /// How many were asked for.
    pub(crate) fn number(&self) -> Option<usize> {
        match self.threads {
            Some(ThreadsOrTaxonomy::Threads(number)) => Some(usize::from(number)),
            _ => None,
        }
    }

    /// The folder that was given, and is no number of threads from now on.
    pub(super) fn take_taxonomy(&mut self) -> Option<PathBuf> {
        match self.threads.take() {
            Some(ThreadsOrTaxonomy::Taxonomy(folder)) => Some(folder),
            threads => {
                self.threads = threads;
                None
            }
        }
    }
}

/// What `-t` may be for a release.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ThreadsOrTaxonomy {
    Threads(u16),
    Taxonomy(PathBuf),
}

fn number_or_folder() -> impl TypedValueParser<Value = ThreadsOrTaxonomy> {
    OsStringValueParser::new().try_map(|value| parse(&value))
}

fn parse(value: &OsString) -> Result<ThreadsOrTaxonomy, String> {
    match value.to_str().map(str::parse::<i64>) {
        Some(Ok(number)) => match u16::try_from(number) {
            Ok(threads @ 1..=MOST) => Ok(ThreadsOrTaxonomy::Threads(threads)),
            _ => Err(format!("{number} is not in 1..={MOST}")),
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
