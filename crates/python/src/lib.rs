//! The Python package of Merganser: the jobs as functions and classes with Arrow and NumPy results.
//!
//! The public interface is documented in `python/merganser/_core.pyi`. Each job runs on its own thread without the
//! interpreter's lock, while the caller's thread checks for signals and shows progress ([`call`]).

mod arrow;
mod call;
mod count;
mod database;
mod devices;
mod errors;
mod index;
mod numpy;
mod options;
mod pairs;
mod sequences;
mod spectrum;
mod table;

use pyo3::prelude::*;

/// The compiled module of the package.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<arrow::Batch>()?;
    module.add_class::<arrow::Column>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<table::Batches>()?;
    module.add_class::<spectrum::Spectrum>()?;
    module.add_class::<database::Database>()?;
    module.add_class::<database::Taken>()?;
    module.add_class::<index::Index>()?;
    module.add_function(wrap_pyfunction!(count::count, module)?)?;
    module.add_function(wrap_pyfunction!(pairs::filter, module)?)?;
    module.add_function(wrap_pyfunction!(devices::devices, module)?)?;
    Ok(())
}
