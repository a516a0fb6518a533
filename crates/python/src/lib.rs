//! The Python package of Merganser: the jobs as functions and classes with Arrow and NumPy results.
//!
//! The public interface is documented in `python/merganser/_core.pyi`. Each job runs on its own thread without the
//! interpreter's lock, while the caller's thread checks for signals and shows progress ([`call`]).

mod arrow;
mod assembly;
mod call;
mod column;
mod columns;
mod count;
mod database;
mod deplete;
mod devices;
mod errors;
mod extract;
mod held;
mod html;
mod index;
mod integers;
mod keywords;
mod kmers;
mod matrix;
mod numpy;
mod options;
mod outputs;
mod pairs;
mod pipe;
mod reads;
mod reports;
mod rows;
mod search;
mod sequences;
mod spectrum;
mod stream;
mod table;
mod temporary;

use pyo3::prelude::*;

/// The compiled module of the package.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("REJECTED", merganser_filter::REJECTED)?;
    module.add("UNDEFINED", merganser_filter::UNDEFINED)?;
    module.add_class::<rows::Rows>()?;
    module.add_class::<column::Column>()?;
    module.add_class::<stream::RowStream>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<spectrum::Spectrum>()?;
    module.add_class::<database::Database>()?;
    module.add_class::<index::Index>()?;
    module.add_class::<deplete::MinimizerSet>()?;
    module.add_class::<reports::Report>()?;
    module.add_function(wrap_pyfunction!(count::count, module)?)?;
    module.add_function(wrap_pyfunction!(pairs::filter, module)?)?;
    module.add_function(wrap_pyfunction!(kmers::encode_kmers, module)?)?;
    module.add_function(wrap_pyfunction!(kmers::decode_kmers, module)?)?;
    module.add_function(wrap_pyfunction!(assembly::qv, module)?)?;
    module.add_function(wrap_pyfunction!(matrix::matrix, module)?)?;
    module.add_function(wrap_pyfunction!(extract::extract, module)?)?;
    module.add_function(wrap_pyfunction!(search::search, module)?)?;
    module.add_function(wrap_pyfunction!(search::search_to, module)?)?;
    module.add_function(wrap_pyfunction!(search::search_counts, module)?)?;
    module.add_function(wrap_pyfunction!(search::amplicons, module)?)?;
    module.add_function(wrap_pyfunction!(devices::devices, module)?)?;
    Ok(())
}
