//! `merganser.Report`: the reads of a sample by taxon.

mod bracken;
mod given;
mod ranks;

use std::io::Write;
use std::path::{Path, PathBuf};

use arrow_array::builder::StringBuilder;
use arrow_array::{Float64Array, UInt32Array, UInt64Array};
use merganser_classify::Error;
use merganser_classify::partial::{join, read_report};
use merganser_io::{Input, OutputSet, warn_of_repeated};
use merganser_report::data::Data;
use merganser_report::html::page;
use merganser_report::taxa;
use merganser_run::{Cancel, Warnings, counted};
use merganser_taxreport::bracken::{Distribution, Level};
use merganser_taxreport::report::{
    CombinedReports, KrakenReport, ReportMinimizers, ReportRow, ReportSelection,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyIterator, PyTuple, PyType};

use crate::columns::Columns;
use crate::errors::{OrRaise, malformed, mistyped, wrong};
use crate::keywords::Keywords;
use crate::rows::{self, Rows};
use crate::{call, html};
use given::{Given, partial};

/// A report of the reads of each taxon, in the format of Kraken 2. Iteration, Polars, pyarrow, DuckDB and pandas take
/// its `rows`.
///
/// >>> import merganser, tempfile, os
/// >>> path = os.path.join(tempfile.mkdtemp(), "sample.kreport")
/// >>> lines = ["25.00\t1\t1\tU\t0\tunclassified", "75.00\t3\t0\tR\t1\troot", "75.00\t3\t3\tS\t562\t  Escherichia coli"]
/// >>> _ = open(path, "w").write("\n".join(lines) + "\n")
/// >>> report = merganser.Report.open(path)
/// >>> report.reads, report.unclassified, report.rows["name"]
/// (4, 1, ['unclassified', 'root', 'Escherichia coli'])
#[pyclass(frozen, module = "merganser")]
pub(crate) struct Report(KrakenReport);

impl Report {
    /// Parses the text of a report.
    pub(crate) fn of_text(py: Python<'_>, text: &[u8]) -> PyResult<Report> {
        KrakenReport::of_text(text).map(Report).or_raise(py)
    }

    /// Reads a report, or makes one of partial results.
    fn read(py: Python<'_>, path: &Path, warnings: &Warnings) -> PyResult<KrakenReport> {
        py.detach(|| read_report(path, warnings)).or_raise(py)
    }

    /// Returns the report in an object or at a path, and the files that were read.
    pub(crate) fn given(
        py: Python<'_>,
        given: &Bound<'_, PyAny>,
        warnings: &Warnings,
    ) -> PyResult<(KrakenReport, Vec<PathBuf>)> {
        match Given::of("report", given)? {
            Given::Report(report) => Ok((report.get().0.clone(), Vec::new())),
            Given::Path(path) => Ok((Report::read(py, &path, warnings)?, vec![path])),
        }
    }

    /// Returns what a method of the report writes.
    fn written(
        &self,
        write: impl FnOnce(&KrakenReport, &mut dyn Write) -> std::io::Result<()>,
    ) -> PyResult<String> {
        let mut text = Vec::new();
        write(&self.0, &mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

#[pymethods]
impl Report {
    #[new]
    #[pyo3(signature = (*_arguments, **_options))]
    fn new(
        _arguments: &Bound<'_, PyTuple>,
        _options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Report> {
        Err(PyTypeError::new_err(
            "open a report with Report.open(path), or parse a text with Report.parse(text)",
        ))
    }

    /// Reads a report with 6 or 8 columns, plain or compressed, or partial results of `classify_to`.
    ///
    /// Args:
    ///     path: The file.
    ///
    /// Returns:
    ///     The report.
    ///
    /// Raises:
    ///     FileNotFound: If there is no such file.
    ///     InputError: If the file is not a report.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Report> {
        let warnings = Warnings::default();
        let report = Report::read(py, &path, &warnings)?;
        call::warn(py, &warnings)?;
        Ok(Report(report))
    }

    /// Parses the text of a report, as `text` returns it.
    ///
    /// Args:
    ///     text: The text.
    ///
    /// Returns:
    ///     The report.
    ///
    /// Raises:
    ///     InputError: If the text is not a report.
    ///
    /// >>> import merganser
    /// >>> merganser.Report.parse("100.00\t3\t0\tR\t1\troot\n100.00\t3\t3\tS\t562\t  Escherichia coli\n")
    /// <merganser.Report of 3 reads, 2 rows>
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str) -> PyResult<Report> {
        Report::of_text(py, text.as_bytes())
    }

    /// Merges the reports of several samples into one of all reads.
    ///
    /// Args:
    ///     reports: Reports, or files of reports or partial results. Partial results alone keep the columns of
    ///         minimizers.
    ///
    /// Returns:
    ///     The report of all samples.
    ///
    /// Raises:
    ///     InputError: If a file is not a report, or the reports contradict each other.
    ///
    /// >>> import merganser
    /// >>> report = merganser.Report.parse("100.00\t3\t0\tR\t1\troot\n100.00\t3\t3\tS\t562\t  Escherichia coli\n")
    /// >>> merganser.Report.merge([report, report]).rows["clade_reads"].tolist()
    /// [6, 6]
    #[classmethod]
    fn merge(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        reports: &Bound<'_, PyAny>,
    ) -> PyResult<Report> {
        let reports = Given::all(reports)?;
        let warnings = Warnings::default();
        if let Some(paths) = partial(&reports) {
            let joined = py.detach(|| join(&paths, &Cancel::default())).or_raise(py)?;
            joined.warn(&warnings);
            call::warn(py, &warnings)?;
            return joined.report().map(Report).or_raise(py);
        }
        let files: Vec<Input> = reports.iter().filter_map(Given::input).collect();
        warn_of_repeated(&files, "its reads count twice", &warnings);
        let mut combined = CombinedReports::default();
        for (number, given) in reports.iter().enumerate() {
            let name = PathBuf::from(format!("report {}", number + 1));
            let (path, report) = match given {
                Given::Report(report) => (name, report.get().0.clone()),
                Given::Path(path) => (path.clone(), Report::read(py, path, &warnings)?),
            };
            combined.add(&path, &report).or_raise(py)?;
        }
        combined.warn(&warnings);
        combined.warn_of_minimizers(&warnings);
        call::warn(py, &warnings)?;
        Ok(Report(combined.report()))
    }

    /// The rows: `percent` (float64), `clade_reads`, `taxon_reads` (uint64), `rank` (its code, such as "S"), `rank_name`
    /// ("species", as in the rows of `classify`; null for codes without a rank of their own, such as "S1"), `taxid`
    /// (uint64), `name` and `depth` (uint32, 0 for the root). Reports with 8 columns also have `minimizers` and `distinct_minimizers`
    /// (uint64).
    #[getter]
    fn rows(&self) -> PyResult<Rows> {
        let rows = self.0.rows();
        let numbers =
            |number: fn(&ReportRow) -> u64| UInt64Array::from_iter_values(rows.iter().map(number));
        let text = StringBuilder::new;
        let (mut codes, mut ranks, mut names) = (text(), text(), text());
        for row in rows {
            codes.append_value(&row.rank);
            ranks.append_option(ranks::name(row));
            names.append_value(String::from_utf8_lossy(&row.name));
        }
        let columns = Columns::new()
            .with("percent", Float64Array::from_iter_values(rows.iter().map(|row| row.percent)))
            .with("clade_reads", numbers(|row| row.clade))
            .with("taxon_reads", numbers(|row| row.own))
            .with("rank", codes.finish())
            .optional("rank_name", ranks.finish())
            .with("taxid", numbers(|row| row.taxid))
            .with("name", names.finish())
            .with("depth", UInt32Array::from_iter_values(rows.iter().map(|row| row.depth as u32)));
        let found = |row: &ReportRow| row.minimizers.unwrap_or(NONE);
        match self.0.has_minimizers() {
            false => columns.rows(),
            true => {
                let [all, distinct] = [
                    UInt64Array::from_iter_values(rows.iter().map(|row| found(row).found)),
                    UInt64Array::from_iter_values(rows.iter().map(|row| found(row).distinct)),
                ];
                columns.with("minimizers", all).with("distinct_minimizers", distinct).rows()
            }
        }
    }

    /// The number of all reads; a pair is one read.
    #[getter]
    fn reads(&self) -> u64 {
        self.0.total()
    }

    /// The number of reads without a taxon.
    #[getter]
    fn unclassified(&self) -> u64 {
        self.0.unclassified()
    }

    fn __len__(&self) -> usize {
        self.0.rows().len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.rows()?.tuples(py)
    }

    /// Returns the columns of the rows as lists, by name.
    ///
    /// >>> import merganser
    /// >>> merganser.Report.parse("100.00\t3\t3\tR\t1\troot\n").to_dict()["name"]
    /// ['root']
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.rows()?.to_dict(py)
    }

    /// Returns the rows as a `pandas.DataFrame`. Needs the packages pandas and pyarrow.
    ///
    /// >>> import merganser
    /// >>> merganser.Report.parse("100.00\t3\t3\tR\t1\troot\n").to_pandas().shape
    /// (1, 8)
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        rows::to_pandas(Bound::new(py, self.rows()?)?.as_any())
    }

    /// Returns the rows as a `polars.DataFrame`. Needs the package polars.
    ///
    /// >>> import merganser
    /// >>> merganser.Report.parse("100.00\t3\t3\tR\t1\troot\n").to_polars().shape
    /// (1, 8)
    fn to_polars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        rows::to_polars(Bound::new(py, self.rows()?)?.as_any())
    }

    /// Returns the rows as a `pyarrow.Table`. Needs the package pyarrow.
    ///
    /// >>> import merganser
    /// >>> merganser.Report.parse("100.00\t3\t3\tR\t1\troot\n").to_arrow().shape
    /// (1, 8)
    fn to_arrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        rows::to_arrow(Bound::new(py, self.rows()?)?.as_any())
    }

    #[getter]
    fn __array_interface__(&self) -> PyResult<()> {
        Err(rows::no_array("a report"))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        self.rows()?.__arrow_c_stream__(py, requested_schema)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        self.rows()?.__arrow_c_schema__(py)
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let Ok(other) = other.cast::<Report>() else { return Ok(py.NotImplemented()) };
        let is_equal = self.text()? == other.get().text()?;
        Ok(is_equal.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    fn __repr__(&self) -> String {
        let (reads, rows) = (self.0.total(), self.0.rows().len() as u64);
        format!("<merganser.Report of {}, {}>", counted(reads, "read"), counted(rows, "row"))
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let caption = format!("merganser.Report of {}", counted(self.0.total(), "read"));
        let rows = self.rows()?;
        html::table(py, &caption, &rows.0, rows.0.num_rows() as u64)
    }

    /// Returns the report of some clades. A clade is kept with all taxa below it, and with the taxa above it as far as
    /// they have its reads; percentages are those of the kept reads.
    ///
    /// Args:
    ///     taxid: Keep the clades of these taxa: an int or several; 0 for the unclassified reads.
    ///     rank: Keep the clades of taxa of this rank, "S" or "species"; with `taxid`, only those within its clades.
    ///     exclude: Drop the clades that `taxid` and `rank` select, and keep the rest.
    ///     min_reads: Merge clades with fewer reads into the taxon above.
    ///     min_percent: Merge clades with a smaller share of the kept reads, in per cent, into the taxon above.
    ///
    /// Returns:
    ///     A new report.
    ///
    /// Raises:
    ///     ArgumentError: If an argument is out of range.
    ///
    /// >>> import merganser
    /// >>> text = "25.00\t1\t1\tU\t0\tunclassified\n75.00\t3\t0\tR\t1\troot\n75.00\t3\t3\tS\t562\t  Escherichia coli\n"
    /// >>> merganser.Report.parse(text).filter(taxid=0, exclude=True).rows["name"]
    /// ['root', 'Escherichia coli']
    #[pyo3(
        signature = (**options),
        text_signature = "($self, *, taxid=None, rank=None, exclude=False, min_reads=0, min_percent=0.0)"
    )]
    fn filter(&self, py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Report> {
        let keywords = Keywords::new(py, "Report.filter", options)?;
        let taxid = keywords.object("taxid")?;
        let taxid = taxid.map(|given| taxids("taxid", &given)).transpose()?.unwrap_or_default();
        let rank = keywords.take::<String>("rank")?;
        let selection = ReportSelection {
            taxid,
            rank: rank.map(|rank| ranks::code(py, "rank", &rank)).transpose()?,
            exclude: keywords.flag("exclude")?,
            min_reads: keywords.int_or("min_reads", 0)?,
            min_percent: keywords.or("min_percent", 0.0)?,
        };
        keywords.finish()?;
        let found = selection.apply(&self.0).or_raise(py)?;
        let warnings = Warnings::default();
        found.warn(None, &warnings);
        call::warn(py, &warnings)?;
        Ok(Report(found.report))
    }

    /// Estimates the reads of each species, or of another level, with Bracken's method.
    ///
    /// Args:
    ///     distribution: The file with the distribution of the database for reads of about this length (.kmer_distrib).
    ///     level: The rank code of the taxa that reads are assigned to: D, K, P, C, O, F, G, S, or S1 and the like.
    ///     threshold: The reads that a taxon of the level needs to be present.
    ///
    /// Returns:
    ///     The table of taxa of the level, and the report of the level and the taxa above it with the estimated reads.
    ///     The table is `Rows` with the columns `name`, `taxid` (uint64), `level`, `reads`, `added`, `estimated`
    ///     (uint64) and `fraction` (float64, of the estimated reads of all rows).
    ///
    /// Raises:
    ///     ArgumentError: If the level is unknown.
    ///     InputError: If the file is not a distribution, or is of another database.
    #[pyo3(
        signature = (distribution, **options),
        text_signature = "($self, distribution, *, level='S', threshold=10)"
    )]
    fn bracken(
        &self,
        py: Python<'_>,
        distribution: PathBuf,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<(Rows, Report)> {
        let keywords = Keywords::new(py, "Report.bracken", options)?;
        let level = keywords.named("level")?.unwrap_or_else(Level::species);
        let threshold = keywords.int_or("threshold", 10)?;
        keywords.finish()?;
        let shares = Distribution::read(&distribution).or_raise(py)?;
        bracken::estimated(py, &self.0, (&shares, &distribution), &level, threshold)
    }

    /// Returns the report as text, as `str` does.
    fn text(&self) -> PyResult<String> {
        self.written(|report, output| report.write(output))
    }

    fn __str__(&self) -> PyResult<String> {
        self.text()
    }

    /// Returns the report as a MetaPhlAn-style table: lines of a lineage and the reads of the clade.
    ///
    /// >>> import merganser
    /// >>> report = merganser.Report.parse("100.00\t3\t0\tR\t1\troot\n100.00\t3\t3\tS\t562\t  Escherichia coli\n")
    /// >>> report.mpa()
    /// 's__Escherichia coli\t3\n'
    fn mpa(&self) -> PyResult<String> {
        self.written(|report, output| report.write_mpa(output))
    }

    /// Returns the report as text for Krona's ktImportText.
    ///
    /// >>> import merganser
    /// >>> report = merganser.Report.parse("100.00\t3\t0\tR\t1\troot\n100.00\t3\t3\tS\t562\t  Escherichia coli\n")
    /// >>> report.krona().splitlines()
    /// ['# reads\ttaxa from the highest to the lowest', '3\tEscherichia coli']
    fn krona(&self) -> PyResult<String> {
        self.written(|report, output| report.write_krona(output))
    }

    /// Returns an HTML page with charts and tables of the report, a single file that needs no network.
    ///
    /// Args:
    ///     sample: The name of the sample.
    ///     others: Further samples on the same page, as `NAME=report`.
    ///
    /// Returns:
    ///     The text of the page.
    #[pyo3(signature = (sample="sample", **others))]
    fn html(
        &self,
        py: Python<'_>,
        sample: &str,
        others: Option<std::collections::BTreeMap<String, Bound<'_, Report>>>,
    ) -> PyResult<String> {
        let others = others.unwrap_or_default();
        let others = others.iter().map(|(name, report)| (name.as_str(), &report.get().0));
        let all = std::iter::once((sample, &self.0)).chain(others);
        let data: Vec<Data> = all.map(|(name, of)| taxa::data(name, name.to_owned(), of)).collect();
        page(&data).map_err(|problem| malformed(py, problem.to_string(), None))
    }

    /// Supports pickling: the text of the report is stored.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let parse = py.get_type::<Report>().getattr("parse")?;
        (parse, (self.text()?,)).into_pyobject(py)
    }

    /// Writes the report to a file; compressed if the name ends in .gz.
    ///
    /// Args:
    ///     path: The file.
    ///
    /// Raises:
    ///     OutputError: If the file cannot be written.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let write = || {
            let mut file = OutputSet::alone().output(&path)?;
            self.0.write(&mut file)?;
            file.finish()?;
            Ok::<_, Error>(())
        };
        py.detach(write).or_raise(py)
    }
}

/// The minimizers of a row without any.
const NONE: ReportMinimizers = ReportMinimizers { found: 0, distinct: 0 };

/// Returns taxids that were given as an int or several.
pub(crate) fn taxids(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    if let Ok(taxid) = given.extract::<u64>() {
        return Ok(vec![taxid]);
    }
    let all = given.try_iter().and_then(|items| items.map(|item| item?.extract::<u64>()).collect());
    let all: Vec<u64> =
        all.map_err(|_| mistyped(argument, "give a taxid, an int from 0, or several"))?;
    match all.is_empty() {
        true => Err(wrong(given.py(), argument, "give at least one taxid")),
        false => Ok(all),
    }
}
