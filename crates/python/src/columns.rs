//! Makes rows of named columns.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_schema::{Field, Schema};
use pyo3::prelude::*;

use crate::rows::Rows;

/// Columns of rows.
#[derive(Default)]
pub(crate) struct Columns {
    fields: Vec<Field>,
    columns: Vec<ArrayRef>,
}

impl Columns {
    /// Makes an empty list.
    pub(crate) fn new() -> Columns {
        Columns::default()
    }

    /// Appends a column without missing values.
    pub(crate) fn with(self, name: &str, column: impl Array + 'static) -> Columns {
        self.column(name, Arc::new(column), false)
    }

    /// Appends a column that may have missing values.
    pub(crate) fn optional(self, name: &str, column: impl Array + 'static) -> Columns {
        self.column(name, Arc::new(column), true)
    }

    fn column(mut self, name: &str, column: ArrayRef, nullable: bool) -> Columns {
        self.fields.push(Field::new(name, column.data_type().clone(), nullable));
        self.columns.push(column);
        self
    }

    /// Returns the rows.
    pub(crate) fn rows(self) -> PyResult<Rows> {
        Rows::of(Arc::new(Schema::new(self.fields)), self.columns)
    }
}
