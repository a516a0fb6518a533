//! Operations on tables that make a table or a file.

use std::path::{Path, PathBuf};

use merganser_io::OutputSet;
use merganser_kmers::Error;
use merganser_kmers::algebra::{Calculation, CountLimits, Expression, calculate_with};
use merganser_kmers::formats::TableFormat;
use merganser_kmers::tables::AnyTable;
use merganser_run::Context;
use pyo3::prelude::*;

use super::Table;
use super::opened::Owned;
use crate::call;
use crate::keywords::Keywords;

/// The output and the resources of an operation on tables.
pub(super) struct Job<'py> {
    output: Option<PathBuf>,
    pub(super) context: Context,
    pub(super) progress: Option<Bound<'py, PyAny>>,
}

impl<'py> Job<'py> {
    /// Returns a job with default options.
    pub(super) fn simple() -> Job<'py> {
        Job { output: None, context: Context::new(), progress: None }
    }

    /// Takes the keywords of the output and of resources, and checks that no others remain.
    pub(super) fn of(keywords: Keywords<'py>) -> PyResult<Job<'py>> {
        let (context, progress) = (keywords.context()?, keywords.object("progress")?);
        let output = keywords.path("output")?;
        keywords.finish()?;
        Ok(Job { output, context, progress })
    }

    /// Returns the table that is computed from others.
    pub(super) fn table(
        self,
        py: Python<'_>,
        tables: &[AnyTable],
        (expression, limits): (Expression, CountLimits),
    ) -> PyResult<Table> {
        let file = Owned::place(py, self.output.clone(), &self.context.temp_dir)?;
        self.write(py, tables, (expression, limits, TableFormat::Mgk), file.path())?;
        Table::of(py, file)
    }

    /// Writes the table that is computed from others to `path`.
    pub(super) fn write(
        &self,
        py: Python<'_>,
        tables: &[AnyTable],
        (expression, limits, format): (Expression, CountLimits, TableFormat),
        path: &Path,
    ) -> PyResult<()> {
        let output = Some(path.to_owned());
        let calculation = Calculation { expression, limits, output, format };
        let context = &self.context;
        call::run(py, context, self.progress.as_ref(), |context| {
            let outputs = OutputSet::new();
            calculate_with(&calculation, tables, &outputs, context)?;
            outputs.commit()?;
            Ok::<_, Error>(())
        })
    }
}
