//! Databases and indexes that `close` and `with` release.

use std::sync::{Arc, Mutex};

use merganser_run::locks::lock;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A value that can be released. Jobs that use it keep it until they end.
pub(crate) struct Held<T> {
    value: Mutex<Option<Arc<T>>>,
    /// The name of the value in messages.
    name: &'static str,
}

impl<T> Held<T> {
    pub(crate) fn new(name: &'static str, value: T) -> Held<T> {
        Held { value: Mutex::new(Some(Arc::new(value))), name }
    }

    /// Returns the value.
    ///
    /// # Errors
    /// If it was released.
    pub(crate) fn get(&self) -> PyResult<Arc<T>> {
        let value = lock(&self.value).clone();
        value.ok_or_else(|| {
            PyValueError::new_err(format!("the {} is closed: open it again to use it", self.name))
        })
    }

    /// Releases the value.
    pub(crate) fn close(&self) {
        lock(&self.value).take();
    }
}
