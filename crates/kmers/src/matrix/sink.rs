//! The output of a matrix, to which rows are written in the order of their k-mers.

use std::io::Write;
use std::path::Path;

use merganser_io::{Output, OutputSet};

use super::dense::Dense;
use super::format::{EncodedRows, RowFormat};
use super::{MatrixFormat, MatrixOutcome};
use crate::Error;

/// Writes rows in one of the formats.
pub(super) enum Sink {
    Text(Output),
    Dense(Box<Dense>),
    #[cfg(feature = "parquet")]
    Parquet(Box<super::parquet::Columns>),
}

impl Sink {
    pub(super) fn create(
        format: &RowFormat,
        path: &Path,
        outputs: &OutputSet,
    ) -> Result<Sink, Error> {
        match format.format {
            MatrixFormat::Tsv => {
                let mut output = outputs.output(path)?;
                output.write_all(&format.header())?;
                Ok(Sink::Text(output))
            }
            MatrixFormat::Dense => {
                Ok(Sink::Dense(Box::new(Dense::new(format, outputs.file(path)?)?)))
            }
            #[cfg(feature = "parquet")]
            MatrixFormat::Parquet => {
                let columns = super::parquet::Columns::new(format, outputs.file(path)?)?;
                Ok(Sink::Parquet(Box::new(columns)))
            }
            #[cfg(not(feature = "parquet"))]
            MatrixFormat::Parquet => {
                let problem = merganser_run::ConfigError::new(crate::formats::NO_PARQUET);
                Err(Error::Config(problem))
            }
        }
    }

    pub(super) fn put(&mut self, part: &EncodedRows) -> Result<(), Error> {
        match self {
            Sink::Text(output) => Ok(output.write_all(&part.bytes)?),
            Sink::Dense(dense) => dense.put(&part.bytes),
            #[cfg(feature = "parquet")]
            Sink::Parquet(columns) => columns.put(part),
        }
    }

    pub(super) fn finish(self, outcome: &MatrixOutcome) -> Result<(), Error> {
        match self {
            Sink::Text(output) => output.finish().map(drop).map_err(Error::from),
            Sink::Dense(dense) => dense.finish(outcome.rows),
            #[cfg(feature = "parquet")]
            Sink::Parquet(columns) => columns.finish(),
        }
    }
}
