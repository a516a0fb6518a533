//! Options for building a database and classifying reads.

mod build;
mod columns;
mod per_mille;
mod query;
mod verdict;

pub(crate) use build::MAX_PARTS;
pub use build::{BuildConfig, PartConfig, SketchConfig, TaxidConfig};
pub use columns::Columns;
pub(crate) use columns::Taxids;
pub(crate) use per_mille::as_percent;
pub use query::{LineFormat, RunConfig};
pub use verdict::VerdictConfig;

use merganser_run::ConfigError;

use crate::Error;

fn refused(message: impl Into<String>) -> Error {
    Error::Config(ConfigError::new(message))
}
