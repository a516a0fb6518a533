//! Databases of reference genomes, and classification of reads.

mod lines;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, Float64Array, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use merganser::classify::kraken2::Kraken2Config;
use merganser::classify::report::KrakenReport;
use merganser::classify::run::{Outputs, RunConfig, classify};
use merganser::classify::{
    self, BuildConfig, Error, Preset, References, TaxidConfig, VerdictConfig,
};
use merganser::io::{OutputSet, ReadInput};
use merganser::run::{Cancel, Silent};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrow::Batch;
use crate::call;
use crate::errors::{OrRaise, wrong};
use crate::options::{Memory, Options};
use crate::sequences::{self, Inputs};
use lines::Lines;
pub(crate) use lines::Taken;

/// A database of reference genomes (.mgdb) for classifying reads. Threads may share it.
#[pyclass(frozen, module = "merganser")]
pub(crate) struct Database {
    database: Arc<classify::Database>,
    path: Option<PathBuf>,
}

/// The reads to classify: single reads, or pairs.
struct Reads {
    segments: Vec<ReadInput>,
    /// Kept to keep the temporary files of sequences.
    _inputs: [Option<Inputs>; 2],
}

impl Reads {
    fn of(
        py: Python<'_>,
        reads: &Bound<'_, PyAny>,
        mates: Option<&Bound<'_, PyAny>>,
        interleaved: bool,
        folder: &Path,
    ) -> PyResult<Reads> {
        if interleaved && mates.is_some() {
            return Err(wrong(py, "interleaved and mates cannot be used together"));
        }
        let first = sequences::inputs(reads, folder)?;
        let second = mates.map(|mates| sequences::inputs(mates, folder)).transpose()?;
        let segments = match &second {
            None => {
                let kind = if interleaved { ReadInput::Interleaved } else { ReadInput::Single };
                first.inputs.iter().cloned().map(kind).collect()
            }
            Some(second) if second.inputs.len() == first.inputs.len() => {
                let pairs = first.inputs.iter().cloned().zip(second.inputs.iter().cloned());
                pairs.map(|(one, other)| ReadInput::Pair(one, other)).collect()
            }
            Some(second) => {
                let (reads, mates) = (first.inputs.len(), second.inputs.len());
                return Err(wrong(
                    py,
                    format!(
                        "{reads} files of reads and {mates} of mates: give one file of mates per file of reads"
                    ),
                ));
            }
        };
        Ok(Reads { segments, _inputs: [Some(first), second] })
    }
}

impl Database {
    fn config(confidence: f64, hitmin: Option<u32>, any_names: bool) -> RunConfig {
        let kraken2 = Kraken2Config { confidence, any_names, ..Kraken2Config::default() };
        let verdict = VerdictConfig { hitmin, ..VerdictConfig::default() };
        RunConfig { kraken2, verdict, ..RunConfig::default() }
    }
}

#[pymethods]
impl Database {
    /// Opens a database. Its file is mapped into memory and read on demand.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Database> {
        let database = py.detach(|| classify::Database::open(&path)).or_raise(py)?;
        Ok(Database { database: Arc::new(database), path: Some(path) })
    }

    /// Builds a database from genomes.
    ///
    /// Args:
    ///     genomes: FASTA files, folders of them, or libraries made by `merganser db`.
    ///     taxonomy: A folder with nodes.dmp and names.dmp from NCBI, or with the files of GTDB.
    ///     output: The file (.mgdb); None to keep the database in memory.
    ///     map: Files that map sequence IDs or assemblies to taxids.
    ///     preset: "sensitive", or "metacache" for the parameters and the rule of MetaCache.
    ///     device: As for `count`.
    ///     threads: As for `count`.
    ///     memory: As for `count`.
    ///     progress: As for `count`.
    #[staticmethod]
    #[pyo3(signature = (
        genomes, taxonomy, *, output=None, map=None, preset="sensitive", device=None, threads=None, memory=None,
        progress=None
    ))]
    #[allow(clippy::too_many_arguments, reason = "they are Python's keywords")]
    fn build(
        py: Python<'_>,
        genomes: Vec<PathBuf>,
        taxonomy: PathBuf,
        output: Option<PathBuf>,
        map: Option<Vec<PathBuf>>,
        preset: &str,
        device: Option<&str>,
        threads: Option<usize>,
        memory: Option<Memory>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Database> {
        let resources = Options { device, threads, memory, tmp_dir: None }.resources(py)?;
        let preset: Preset =
            preset.parse().map_err(|error| wrong(py, format!("preset: {error}")))?;
        let database = call::run(py, &resources.warnings, progress, |progress, cancel| {
            let found = References::expand(&genomes)?;
            let map = map.into_iter().flatten().chain(found.manifests).collect();
            let config = BuildConfig {
                taxids: TaxidConfig { map, strict: false },
                maps_beside: found.maps,
                ..BuildConfig::new(preset.params())
            };
            let references = found.inputs;
            let Some(path) = &output else {
                let built = classify::build_in_memory(
                    &config,
                    &resources,
                    &references,
                    &taxonomy,
                    progress,
                    cancel,
                )?;
                return Ok::<_, Error>(built.0);
            };
            let outputs = OutputSet::new();
            let file = outputs.file(path)?;
            let built = classify::build(
                &config,
                &resources,
                &references,
                &taxonomy,
                file,
                progress,
                cancel,
            )?;
            outputs.commit()?;
            Ok(built.0)
        })?;
        Ok(Database { database: Arc::new(database), path: output })
    }

    /// The file of the database; None if it is in memory.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.path.clone()
    }

    /// A summary of the database: k, preset, sequences, left_out, features, bytes, parts.
    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let info = PyDict::new(py);
        info.set_item("k", self.database.params().k)?;
        info.set_item("preset", self.database.params().preset.name())?;
        info.set_item("sequences", self.database.targets().len())?;
        info.set_item("left_out", self.database.left_out())?;
        info.set_item("features", self.database.features())?;
        info.set_item("bytes", self.database.bytes())?;
        info.set_item("parts", self.database.parts())?;
        Ok(info)
    }

    fn __repr__(&self) -> String {
        format!("<merganser.Database of {} sequences>", self.database.targets().len())
    }

    /// Classifies reads, in the order of the input.
    ///
    /// Args:
    ///     reads: Files or sequences, as for `count`.
    ///     mates: The second mates, the same number of files or sequences as `reads`.
    ///     interleaved: First and second mates alternate in `reads`.
    ///     any_names: Pair mates by position, even if their names differ.
    ///     confidence: The minimum fraction of a read's features that must be in the clade of its taxon, 0 to 1.
    ///     hitmin: The minimum number of hits of the best candidate.
    ///     device: As for `count`.
    ///     threads: As for `count`.
    ///     memory: As for `count`.
    ///     tmp_dir: As for `count`.
    ///
    /// Returns:
    ///     An iterator of `Batch`, which also exports `__arrow_c_stream__`. Columns: `read` (its name; for a sequence
    ///     its number, from 1), `taxid` (uint32, 0 for unclassified), `name` (of the taxon, null for unclassified)
    ///     and `length` (bases, "a|b" for a pair). Batches are made while earlier ones are consumed. Deleting the
    ///     iterator ends the run.
    #[pyo3(signature = (
        reads, mates=None, *, interleaved=false, any_names=false, confidence=0.0, hitmin=None, device=None, threads=None,
        memory=None, tmp_dir=None
    ))]
    #[allow(clippy::too_many_arguments, reason = "they are Python's keywords")]
    fn classify(
        &self,
        py: Python<'_>,
        reads: &Bound<'_, PyAny>,
        mates: Option<&Bound<'_, PyAny>>,
        interleaved: bool,
        any_names: bool,
        confidence: f64,
        hitmin: Option<u32>,
        device: Option<&str>,
        threads: Option<usize>,
        memory: Option<Memory>,
        tmp_dir: Option<PathBuf>,
    ) -> PyResult<Taken> {
        let resources = Options { device, threads, memory, tmp_dir }.resources(py)?;
        let config = Self::config(confidence, hitmin, any_names);
        config.validate().or_raise(py)?;
        let reads = Reads::of(py, reads, mates, interleaved, &resources.temp_dir)?;
        let (sender, batches) = sync_channel(lines::AHEAD);
        let (database, cancel) = (Arc::clone(&self.database), Cancel::default());
        let taken = Taken::new(batches, resources.warnings.clone(), cancel.clone());
        std::thread::Builder::new().name("merganser-classify".into()).spawn(move || {
            // Keeps the temporary files of sequences.
            let reads = reads;
            let mut lines = Lines::new(&database, sender.clone());
            let mut outputs = Outputs { lines: Some(&mut lines), ..Outputs::default() };
            let run = |outputs: &mut Outputs<'_>| {
                classify(&config, &resources, &database, &reads.segments, outputs, &Silent, &cancel)
                    .map(drop)
            };
            let done = run(&mut outputs).and_then(|()| lines.finish().map_err(Error::from));
            if let Err(error) = done {
                // Fails if the receiver has been dropped.
                let _ = sender.send(Err(error));
            }
        })?;
        Ok(taken)
    }

    /// Classifies reads and writes files with the same bytes as `merganser classify`.
    ///
    /// Args:
    ///     output: The file for one line per read, in the format of Kraken 2; None for no file. Compressed if the
    ///         name ends in .gz.
    ///     reads: As for `classify`; also `mates`, `interleaved`, `any_names`, `confidence`, `hitmin`, `device`,
    ///         `threads`, `memory`, `tmp_dir`.
    ///     report: The file for a report in the format of Kraken 2.
    ///     progress: As for `count`.
    ///
    /// Returns:
    ///     The report: a `Batch` with columns `percent` (float64), `clade_reads`, `taxon_reads` (uint64), `rank`,
    ///     `taxid` (uint32), `name`.
    #[pyo3(signature = (
        output, reads, mates=None, *, interleaved=false, any_names=false, report=None, confidence=0.0, hitmin=None,
        device=None, threads=None, memory=None, tmp_dir=None, progress=None
    ))]
    #[allow(clippy::too_many_arguments, reason = "they are Python's keywords")]
    fn classify_to(
        &self,
        py: Python<'_>,
        output: Option<PathBuf>,
        reads: &Bound<'_, PyAny>,
        mates: Option<&Bound<'_, PyAny>>,
        interleaved: bool,
        any_names: bool,
        report: Option<PathBuf>,
        confidence: f64,
        hitmin: Option<u32>,
        device: Option<&str>,
        threads: Option<usize>,
        memory: Option<Memory>,
        tmp_dir: Option<PathBuf>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Batch> {
        let resources = Options { device, threads, memory, tmp_dir }.resources(py)?;
        let config = Self::config(confidence, hitmin, any_names);
        let reads = Reads::of(py, reads, mates, interleaved, &resources.temp_dir)?;
        let text = call::run(py, &resources.warnings, progress, |progress, cancel| {
            let set = OutputSet::new();
            let mut lines = output.as_ref().map(|path| set.output(path)).transpose()?;
            let outcome = {
                let lines = lines.as_mut().map(|lines| lines as &mut (dyn Write + Send));
                let mut outputs = Outputs { lines, ..Outputs::default() };
                classify(
                    &config,
                    &resources,
                    &self.database,
                    &reads.segments,
                    &mut outputs,
                    progress,
                    cancel,
                )?
            };
            let mut text = Vec::new();
            let tree = self.database.taxonomy();
            outcome.by_genome.write_kraken(tree, Default::default(), &mut text)?;
            if let Some(path) = &report {
                let mut file = set.output(path)?;
                file.write_all(&text)?;
                file.finish()?;
            }
            if let Some(lines) = lines {
                lines.finish()?;
            }
            set.commit()?;
            Ok::<_, Error>(text)
        })?;
        rows(&KrakenReport::of_text(&text).or_raise(py)?)
    }

    /// Supports pickling of a database with a file: the receiving process opens the file.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
        let Some(path) = &self.path else {
            return Err(PyTypeError::new_err(
                "a database in memory cannot be pickled: build it with output=",
            ));
        };
        let open = py.get_type::<Database>().getattr("open")?;
        (open, (std::path::absolute(path)?,)).into_pyobject(py)
    }
}

/// Returns a report as rows.
fn rows(report: &KrakenReport) -> PyResult<Batch> {
    let total = report.total().max(1) as f64;
    let rows = report.rows();
    let (mut ranks, mut names) = (StringBuilder::new(), StringBuilder::new());
    for row in rows {
        ranks.append_value(&row.rank);
        names.append_value(String::from_utf8_lossy(&row.name));
    }
    let percent = rows.iter().map(|row| 100.0 * row.clade as f64 / total);
    let columns: Vec<(&str, DataType, ArrayRef)> = vec![
        ("percent", DataType::Float64, Arc::new(Float64Array::from_iter_values(percent))),
        (
            "clade_reads",
            DataType::UInt64,
            Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.clade))),
        ),
        (
            "taxon_reads",
            DataType::UInt64,
            Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.own))),
        ),
        ("rank", DataType::Utf8, Arc::new(ranks.finish())),
        (
            "taxid",
            DataType::UInt32,
            Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.taxid as u32))),
        ),
        ("name", DataType::Utf8, Arc::new(names.finish())),
    ];
    let schema = Schema::new(
        columns
            .iter()
            .map(|(name, kind, _)| Field::new(*name, kind.clone(), false))
            .collect::<Vec<_>>(),
    );
    Batch::of(Arc::new(schema), columns.into_iter().map(|column| column.2).collect())
}
