//! The model of a table's histogram.

use merganser::spectrum::{Model, Settings};
use merganser_report::model as picture;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::wrong;

/// What a table's histogram tells of a genome, by GenomeScope's model; a notebook shows its picture.
#[pyclass(frozen, module = "merganser")]
pub(crate) struct Spectrum(Model);

impl Spectrum {
    /// Fits a model to a histogram.
    pub(crate) fn fit(
        py: Python<'_>,
        rows: &[(u32, u64)],
        k: usize,
        settings: Settings,
    ) -> PyResult<Spectrum> {
        let fitted = py.detach(|| Model::fit_with(rows, k, &settings));
        fitted.map(Spectrum).map_err(|error| wrong(py, error.to_string()))
    }
}

#[pymethods]
impl Spectrum {
    /// Bases of a k-mer.
    #[getter]
    fn k(&self) -> usize {
        self.0.k
    }

    /// Haplotypes.
    #[getter]
    fn ploidy(&self) -> u32 {
        self.0.ploidy
    }

    /// Bases of one haplotype.
    #[getter]
    fn genome_size(&self) -> f64 {
        self.0.genome_size
    }

    /// Those of them that stand once in it.
    #[getter]
    fn unique_size(&self) -> f64 {
        self.0.unique_size
    }

    /// Differences between haplotypes, a base.
    #[getter]
    fn heterozygosity(&self) -> f64 {
        self.0.heterozygosity
    }

    /// How often a k-mer occurs that one haplotype has once.
    #[getter]
    fn coverage(&self) -> f64 {
        self.0.coverage
    }

    /// Errors a base of the reads; None if the table was cut.
    #[getter]
    fn error_rate(&self) -> Option<f64> {
        self.0.error_rate
    }

    /// The part of the histogram's variance that the model explains, 0 to 1.
    #[getter]
    fn explained(&self) -> f64 {
        self.0.explained
    }

    /// What one should know before believing it, a sentence each.
    #[getter]
    fn doubts(&self) -> Vec<String> {
        self.0.doubts.iter().map(ToString::to_string).collect()
    }

    /// How many k-mers the model expects of each count, from 0 on.
    #[getter]
    fn expected(&self) -> Vec<f64> {
        self.0.expected.clone()
    }

    /// All values by their names.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = PyDict::new(py);
        values.set_item("k", self.0.k)?;
        values.set_item("ploidy", self.0.ploidy)?;
        for (name, value) in [
            ("genome_size", self.0.genome_size),
            ("unique_size", self.0.unique_size),
            ("heterozygosity", self.0.heterozygosity),
            ("coverage", self.0.coverage),
            ("explained", self.0.explained),
        ] {
            values.set_item(name, value)?;
        }
        values.set_item("error_rate", self.0.error_rate)?;
        values.set_item("doubts", self.doubts())?;
        Ok(values)
    }

    /// The picture of histogram and model, as SVG.
    fn svg(&self) -> String {
        picture::picture(&self.0).svg()
    }

    fn _repr_svg_(&self) -> String {
        self.svg()
    }

    fn __repr__(&self) -> String {
        let Model { ploidy, genome_size, heterozygosity, coverage, .. } = &self.0;
        format!(
            "<merganser.Spectrum: genome_size {genome_size:.0}, ploidy {ploidy}, heterozygosity {heterozygosity:.6}, coverage {coverage:.2}>"
        )
    }
}
