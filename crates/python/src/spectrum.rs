//! The model of a table's histogram.

use std::collections::BTreeMap;

use merganser_report::model as picture;
use merganser_run::Warnings;
use merganser_spectrum::{Error, Model, Settings};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{malformed, with_keywords, wrong};
use crate::{call, html};

/// The model that GenomeScope fits to the histogram of a table, made by `Table.spectrum`. Notebooks show its plot and
/// values.
#[pyclass(frozen, module = "merganser")]
pub(crate) struct Spectrum {
    model: Model,
    /// Reasons to doubt the model, for users.
    doubts: Vec<String>,
}

impl Spectrum {
    /// Fits a model to a histogram.
    pub(crate) fn fit(
        py: Python<'_>,
        rows: &[(u32, u64)],
        k: usize,
        settings: &Settings,
    ) -> PyResult<Spectrum> {
        let model = py.detach(|| Model::fit_with(rows, k, settings));
        let model = model.map_err(|error| match argument(&error) {
            Some(argument) => wrong(py, argument, error.to_string()),
            None => malformed(py, format!("no model: {error}"), None),
        })?;
        let warnings = Warnings::default();
        model.doubts.iter().for_each(|doubt| warnings.push(doubt.to_string()));
        call::warn(py, &warnings)?;
        let doubts = warnings.all().iter().map(|doubt| with_keywords(doubt)).collect();
        Ok(Spectrum { model, doubts })
    }

    /// Returns the values that are shown, with their names.
    fn values(&self) -> Vec<(&'static str, String)> {
        let model = &self.model;
        let mut values = vec![
            ("genome_size", format!("{:.0}", model.genome_size)),
            ("unique_size", format!("{:.0}", model.unique_size)),
            ("ploidy", model.ploidy.to_string()),
            ("heterozygosity", format!("{:.6}", model.heterozygosity)),
            ("coverage", format!("{:.2}", model.coverage)),
            ("explained", format!("{:.4}", model.explained)),
        ];
        if let Some(rate) = model.error_rate {
            values.push(("error_rate", format!("{rate:.6}")));
        }
        values.extend(self.doubts.iter().cloned().map(|doubt| ("doubt", doubt)));
        values
    }
}

/// Returns the argument that is at fault for an error; `None` if it is the histogram.
fn argument(error: &Error) -> Option<&'static str> {
    match error {
        Error::Ploidy(_) => Some("ploidy"),
        Error::Topology { .. } => Some("topology"),
        Error::Coverage => Some("coverage"),
        _ => None,
    }
}

#[pymethods]
impl Spectrum {
    /// The length of a k-mer in bases.
    #[getter]
    fn k(&self) -> usize {
        self.model.k
    }

    /// The number of haplotypes.
    #[getter]
    fn ploidy(&self) -> u32 {
        self.model.ploidy
    }

    /// The number of bases of one haplotype.
    #[getter]
    fn genome_size(&self) -> f64 {
        self.model.genome_size
    }

    /// The number of bases of one haplotype that are not repeated in it.
    #[getter]
    fn unique_size(&self) -> f64 {
        self.model.unique_size
    }

    /// The number of differences between haplotypes per base.
    #[getter]
    fn heterozygosity(&self) -> f64 {
        self.model.heterozygosity
    }

    /// The number of occurrences of a k-mer that is in one haplotype once.
    #[getter]
    fn coverage(&self) -> f64 {
        self.model.coverage
    }

    /// The number of errors per base of the reads; None if low counts are missing from the table.
    #[getter]
    fn error_rate(&self) -> Option<f64> {
        self.model.error_rate
    }

    /// The standard errors of genome_size, unique_size, heterozygosity, coverage and error_rate, by these names; empty
    /// if they are unknown.
    #[getter]
    fn standard_errors(&self) -> BTreeMap<&'static str, Option<f64>> {
        let Some(errors) = &self.model.standard_errors else { return BTreeMap::new() };
        BTreeMap::from([
            ("genome_size", Some(errors.genome_size)),
            ("unique_size", Some(errors.unique_size)),
            ("heterozygosity", Some(errors.heterozygosity)),
            ("coverage", Some(errors.coverage)),
            ("error_rate", errors.error_rate),
        ])
    }

    /// The fraction of the histogram's variance that the model explains, 0 to 1.
    #[getter]
    fn explained(&self) -> f64 {
        self.model.explained
    }

    /// Reasons to doubt the model, one sentence each.
    #[getter]
    fn doubts(&self) -> Vec<String> {
        self.doubts.clone()
    }

    /// The expected number of k-mers of each count, from 0 on.
    #[getter]
    fn expected(&self) -> Vec<f64> {
        self.model.expected.clone()
    }

    /// Returns all values by name.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = PyDict::new(py);
        values.set_item("k", self.model.k)?;
        values.set_item("ploidy", self.model.ploidy)?;
        for (name, value) in [
            ("genome_size", self.model.genome_size),
            ("unique_size", self.model.unique_size),
            ("heterozygosity", self.model.heterozygosity),
            ("coverage", self.model.coverage),
            ("explained", self.model.explained),
        ] {
            values.set_item(name, value)?;
        }
        values.set_item("error_rate", self.model.error_rate)?;
        values.set_item("standard_errors", self.standard_errors())?;
        values.set_item("doubts", self.doubts.clone())?;
        Ok(values)
    }

    /// Returns the plot of histogram and model, as SVG.
    fn svg(&self) -> String {
        picture::picture(&self.model).svg()
    }

    fn _repr_html_(&self) -> String {
        self.svg() + &html::summary("Genome model", &self.values())
    }

    fn __repr__(&self) -> String {
        let Model { ploidy, genome_size, heterozygosity, coverage, .. } = &self.model;
        format!(
            "<merganser.Spectrum: genome_size {genome_size:.0}, ploidy {ploidy}, heterozygosity {heterozygosity:.6}, coverage {coverage:.2}>"
        )
    }
}
