//! Indexes of references, and mapping of reads.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{Array, ArrayRef, BooleanArray, UInt32Array, UInt64Array};
use arrow_schema::{Field, Schema};
use merganser::filter::Threshold;
use merganser::io::{Input, OutputSet};
use merganser::map::{self, Config, Error, ReadHit, Select};
use merganser::run::{Cancel, each_in_order};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::arrow::{self, Batch};
use crate::call;
use crate::errors::{OrRaise, wrong};
use crate::options::{Memory, Options};
use crate::sequences::with_letters;

/// The number of reads that a thread maps at a time.
const AT_ONCE: usize = 512;

/// The index of a reference, for mapping reads. Threads may share it.
///
/// >>> import merganser, tempfile, os
/// >>> path = os.path.join(tempfile.mkdtemp(), "reference.fa")
/// >>> _ = open(path, "w").write(">c\nTTTTTTTTTTGATTACAGATCCCGTAATTTTTTTTTT\n")
/// >>> hits = merganser.Index.build(path).map(["GATTACAGATCCCGTAA"], threshold=1)
/// >>> hits["contig"], hits["position"].tolist(), hits["edits"].tolist(), hits["cigar"]
/// (['c'], [10], [0], ['17='])
#[pyclass(frozen, module = "merganser")]
pub(crate) struct Index {
    index: map::Index,
    path: Option<PathBuf>,
}

#[pymethods]
impl Index {
    /// Opens an index (.mgi). Its file is mapped into memory and read on demand.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Index> {
        let index = py.detach(|| map::Index::open(&path)).or_raise(py)?;
        Ok(Index { index, path: Some(path) })
    }

    /// Builds the index of a reference.
    ///
    /// Args:
    ///     reference: A FASTA file.
    ///     output: The file (.mgi); None to keep the index in memory.
    ///     device: As for `count`.
    ///     threads: As for `count`.
    ///     memory: As for `count`.
    ///     progress: As for `count`.
    #[staticmethod]
    #[pyo3(signature = (reference, *, output=None, device=None, threads=None, memory=None, progress=None))]
    fn build(
        py: Python<'_>,
        reference: PathBuf,
        output: Option<PathBuf>,
        device: Option<&str>,
        threads: Option<usize>,
        memory: Option<Memory>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Index> {
        let resources = Options { device, threads, memory, tmp_dir: None }.resources(py)?;
        let input = Input::File(reference);
        let index = call::run(py, &resources.warnings, progress, |progress, cancel| {
            let outputs = OutputSet::new();
            let file = output.as_ref().map(|path| outputs.file(path)).transpose()?;
            let (index, _) = map::build(&resources, &input, file, progress, cancel)?;
            outputs.commit()?;
            Ok::<_, Error>(index)
        })?;
        Ok(Index { index, path: output })
    }

    /// The file of the index; None if it is in memory.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.path.clone()
    }

    /// The names of the reference's sequences and their lengths in bases.
    #[getter]
    fn contigs(&self) -> Vec<(String, u32)> {
        self.index.contigs().iter().map(|contig| (contig.name.clone(), contig.len)).collect()
    }

    /// The number of bases of the reference.
    #[getter]
    fn bases(&self) -> u64 {
        self.index.bases()
    }

    fn __repr__(&self) -> String {
        format!(
            "<merganser.Index of {} contigs, {} bases>",
            self.index.contigs().len(),
            self.index.bases()
        )
    }

    /// Finds the positions of reads in the reference, with at most `threshold` edits, on either strand.
    ///
    /// Args:
    ///     reads: Arrow strings, or an iterable of str and bytes.
    ///     threshold: The maximum number of edits.
    ///     best: Return only the first hit of each read.
    ///     best_strata: Return all hits that have the same number of edits as the first.
    ///     max_hits: The maximum number of hits per read; 0 for no limit.
    ///     threads: The number of threads; None for one per processor.
    ///     progress: True, or a function, which is called regularly and may raise an exception to end the run.
    ///
    /// Returns:
    ///     A `Batch` with one row per hit, ordered by read: `read` (uint64, its number from 0), `contig`, `position`
    ///     (uint32, from 0), `reverse` (whether the reverse complement of the read matches), `edits` (uint32),
    ///     `cigar` (with = and X).
    #[pyo3(signature = (reads, threshold, *, best=false, best_strata=false, max_hits=0, threads=None, progress=None))]
    #[allow(clippy::too_many_arguments, reason = "they are Python's keywords")]
    fn map(
        &self,
        py: Python<'_>,
        reads: &Bound<'_, PyAny>,
        threshold: u32,
        best: bool,
        best_strata: bool,
        max_hits: u32,
        threads: Option<usize>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Batch> {
        let select = match (best, best_strata) {
            (false, false) => Select::All,
            (true, false) => Select::Best,
            (false, true) => Select::BestStrata,
            (true, true) => return Err(wrong(py, "best and best_strata cannot be used together")),
        };
        let threshold = Threshold::Edits(threshold);
        let config = Config { max_hits, select, ..Config::new(threshold) };
        let resources = Options { threads, ..Options::default() }.resources(py)?;
        let mut letters: Vec<Vec<u8>> = Vec::new();
        if arrow::is_arrow(reads)? {
            arrow::for_each_text(reads, |text| {
                letters.push(text.unwrap_or_default().to_vec());
                Ok(())
            })?;
        } else {
            for read in reads.try_iter()? {
                with_letters(&read?, |read| {
                    letters.push(read.to_vec());
                    Ok(())
                })?;
            }
        }
        let reads: Vec<&[u8]> = letters.iter().map(Vec::as_slice).collect();
        let threads = resources.threads;
        let hits = call::run(py, &resources.warnings, progress, |_, cancel| {
            map_all(&config, &self.index, &reads, threads, cancel)
        })?;
        self.batch(&hits)
    }

    /// Supports pickling of an index with a file: the receiving process opens the file.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
        let Some(path) = &self.path else {
            return Err(PyTypeError::new_err(
                "an index in memory cannot be pickled: build it with output=",
            ));
        };
        let open = py.get_type::<Index>().getattr("open")?;
        (open, (std::path::absolute(path)?,)).into_pyobject(py)
    }
}

impl Index {
    /// Returns the hits of all reads as rows.
    fn batch(&self, hits: &[Vec<ReadHit>]) -> PyResult<Batch> {
        let rows = || {
            hits.iter().enumerate().flat_map(|(read, hits)| hits.iter().map(move |hit| (read, hit)))
        };
        let (mut contigs, mut cigars) = (StringBuilder::new(), StringBuilder::new());
        for (_, hit) in rows() {
            contigs.append_value(&self.index.contigs()[hit.contig].name);
            let cigar =
                hit.cigar.iter().map(|(operation, len)| format!("{len}{}", operation.letter()));
            cigars.append_value(cigar.collect::<String>());
        }
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("read", Arc::new(UInt64Array::from_iter_values(rows().map(|(read, _)| read as u64)))),
            ("contig", Arc::new(contigs.finish())),
            (
                "position",
                Arc::new(UInt32Array::from_iter_values(rows().map(|(_, hit)| hit.position))),
            ),
            (
                "reverse",
                Arc::new(BooleanArray::from_iter(rows().map(|(_, hit)| Some(hit.reverse)))),
            ),
            ("edits", Arc::new(UInt32Array::from_iter_values(rows().map(|(_, hit)| hit.edits)))),
            ("cigar", Arc::new(cigars.finish())),
        ];
        let field = |(name, column): &(&str, ArrayRef)| {
            Field::new(*name, column.data_type().clone(), false)
        };
        let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
        Batch::of(Arc::new(schema), columns.into_iter().map(|(_, column)| column).collect())
    }
}

/// Maps all reads with all threads; returns the hits of each read.
fn map_all(
    config: &Config,
    index: &map::Index,
    reads: &[&[u8]],
    threads: usize,
    cancel: &Cancel,
) -> Result<Vec<Vec<ReadHit>>, Error> {
    let parts: Vec<_> = reads.chunks(AT_ONCE).collect();
    let map = |(): &mut (), part: usize| map::map_reads(config, index, parts[part], cancel);
    let done = each_in_order::<_, _, Error>(threads, 0..parts.len(), cancel, || (), map)?;
    Ok(done.into_iter().flatten().collect())
}
