//! `merganser.MinimizerSet`: removal of a host's reads.

mod files;
mod reads;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use merganser_deplete::{
    Config, Error, Format, MinimizerLookup, MinimizerSet as Set, Outcome, Params, Thresholds,
    build, describe, read, run_in, write,
};
use merganser_io::OutputSet;
use merganser_run::locks::lock;
use merganser_run::{Context, counted, thousands};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use tempfile::TempPath;

use crate::errors::OrRaise;
use crate::held::Held;
use crate::keywords::Keywords;
use crate::options::Options;
use crate::outputs::check;
use crate::reads::Reads;
use crate::sequences::inputs;
use crate::{call, html, pipe, temporary};
use files::Files;
use reads::KeptReads;

/// The set of the minimizers of a host's genomes, by which the host's reads are removed from a sample, or kept. Sets can
/// be combined: `|`, `-` and `&` are the union, the difference and the intersection. Threads may share a set. `with`
/// closes it and removes its temporary file.
///
/// >>> import merganser, random
/// >>> genome = bytes(random.Random(1).choices(b"ACGT", k=500))
/// >>> host = merganser.MinimizerSet.build([genome])
/// >>> other = bytes(random.Random(2).choices(b"ACGT", k=100))
/// >>> host.filter([genome[100:200], other])["read"]
/// ['2']
#[pyclass(frozen, module = "merganser")]
pub(crate) struct MinimizerSet {
    file: Held<SetFile>,
    params: Params,
    minimizers: u64,
    lookup: Mutex<Option<Arc<MinimizerLookup>>>,
}

/// The file of a set: the requested file, or a temporary one that is deleted with the set.
enum SetFile {
    Kept(PathBuf),
    Temporary(TempPath),
}

impl SetFile {
    /// Returns the place of a result: the file `output`, or a temporary file in `folder`.
    fn place(output: Option<PathBuf>, folder: &Path) -> PyResult<SetFile> {
        if let Some(path) = output {
            return Ok(SetFile::Kept(path));
        }
        let file = tempfile::Builder::new()
            .prefix(temporary::BEGINNING)
            .suffix(".mgd")
            .tempfile_in(folder)?;
        Ok(SetFile::Temporary(file.into_temp_path()))
    }

    fn path(&self) -> &Path {
        match self {
            SetFile::Kept(path) => path,
            SetFile::Temporary(path) => path,
        }
    }
}

impl MinimizerSet {
    /// Opens the set in a file.
    fn of(py: Python<'_>, file: SetFile) -> PyResult<MinimizerSet> {
        let description = py.detach(|| describe(file.path())).or_raise(py)?;
        Ok(MinimizerSet {
            file: Held::new("set", file),
            params: description.params,
            minimizers: description.count,
            lookup: Mutex::new(None),
        })
    }

    /// Returns the set for look-ups, which is loaded once.
    fn lookup(&self, file: &SetFile, context: &Context) -> Result<Arc<MinimizerLookup>, Error> {
        let mut lookup = lock(&self.lookup);
        if let Some(lookup) = &*lookup {
            return Ok(Arc::clone(lookup));
        }
        let loaded = Arc::new(MinimizerLookup::read(file.path(), context)?);
        *lookup = Some(Arc::clone(&loaded));
        Ok(loaded)
    }

    /// Combines this set with others.
    fn combined(
        &self,
        py: Python<'_>,
        others: &[PyRef<'_, MinimizerSet>],
        output: Option<PathBuf>,
        combine: impl Fn(&mut Set, &Set) -> Result<(), Error> + Sync,
    ) -> PyResult<MinimizerSet> {
        let context = Options::default().context(py)?;
        let own = self.file.get()?;
        let others = others.iter().map(|other| other.file.get()).collect::<PyResult<Vec<_>>>()?;
        let read_files = std::iter::once(&own).chain(&others).map(|file| file.path().to_owned());
        check(py, read_files, output.as_deref().map(|path| ("output", path)))?;
        let file = SetFile::place(output, &context.temp_dir)?;
        call::run(py, &context, None, |context| {
            let mut set = read(own.path(), context, 0)?;
            for other in &others {
                let held = 2 * set.bytes();
                combine(&mut set, &read(other.path(), context, held)?)?;
            }
            saved(&set, file.path(), context.threads)
        })?;
        MinimizerSet::of(py, file)
    }
}

/// Writes a set in the format that the name asks for.
fn saved(set: &Set, path: &Path, threads: usize) -> Result<(), Error> {
    let outputs = OutputSet::new();
    write(set, Format::of(path), threads, outputs.file(path)?)?;
    outputs.commit()?;
    Ok(())
}

#[pymethods]
impl MinimizerSet {
    #[new]
    #[pyo3(signature = (*_arguments, **_options))]
    fn new(
        _arguments: &Bound<'_, PyTuple>,
        _options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<MinimizerSet> {
        Err(PyTypeError::new_err(
            "make a set with MinimizerSet.build(genomes), or open one with MinimizerSet.open(path)",
        ))
    }

    /// Makes the set of the minimizers of genomes.
    ///
    /// Args:
    ///     genomes: Files or sequences, as for `count`.
    ///     output: The file: in Deacon's format if the name ends in .idx, else .mgd; None for a temporary file, which is
    ///         deleted with the set.
    ///     k: The length of a minimizer in bases, odd, up to 61. Above 31, a set takes three times the memory.
    ///     w: The number of k-mers in a window, which gets one minimizer; odd, k + w at most 96.
    ///     threads: As for `count`.
    ///     memory: As for `count`.
    ///     tmp_dir: As for `count`.
    ///     progress: As for `count`.
    ///
    /// Returns:
    ///     The set.
    ///
    /// Raises:
    ///     ArgumentError: If k or w is out of range.
    ///     InputError: If a genome is invalid, or there are no minimizers.
    ///     OutputError: If the set cannot be written.
    #[staticmethod]
    #[pyo3(
        signature = (genomes, **options),
        text_signature = "(genomes, *, output=None, k=31, w=15, threads=None, memory=None, tmp_dir=None, progress=None)"
    )]
    fn build(
        py: Python<'_>,
        genomes: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<MinimizerSet> {
        let keywords = Keywords::new(py, "MinimizerSet.build", options)?;
        let (context, progress) = (keywords.context()?, keywords.object("progress")?);
        let params = Params::new(keywords.int_or("k", 31)?, keywords.int_or("w", 15)?);
        let (params, output) = (params.or_raise(py)?, keywords.path("output")?);
        keywords.finish()?;
        let genomes = inputs("genomes", genomes, &context.temp_dir)?;
        let files = genomes.inputs.iter().flat_map(|input| input.files());
        check(py, files.collect::<Vec<_>>(), output.as_deref().map(|path| ("output", path)))?;
        let file = SetFile::place(output, &context.temp_dir)?;
        call::run(py, &context, progress.as_ref(), |context| {
            let set = build(params, &genomes.inputs, context)?;
            saved(&set, file.path(), context.threads)
        })?;
        MinimizerSet::of(py, file)
    }

    /// Opens a set: .mgd, or .idx of Deacon. It is loaded into memory when it is first used.
    ///
    /// Args:
    ///     path: The file.
    ///
    /// Returns:
    ///     The set.
    ///
    /// Raises:
    ///     FileNotFound: If there is no such file.
    ///     InputError: If the file is not a set.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<MinimizerSet> {
        MinimizerSet::of(py, SetFile::Kept(path))
    }

    /// Writes the set to a file.
    ///
    /// Args:
    ///     path: The file: in Deacon's format if the name ends in .idx, else .mgd.
    ///
    /// Raises:
    ///     OutputError: If the file cannot be written.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let context = Options::default().context(py)?;
        let file = self.file.get()?;
        check(py, [file.path()], [("path", path.as_path())])?;
        call::run(py, &context, None, |context| {
            saved(&read(file.path(), context, 0)?, &path, context.threads)
        })
    }

    /// The file of the set; None if it is temporary.
    #[getter]
    fn path(&self) -> PyResult<Option<PathBuf>> {
        Ok(match &*self.file.get()? {
            SetFile::Kept(path) => Some(path.clone()),
            SetFile::Temporary(_) => None,
        })
    }

    /// The length of a minimizer in bases.
    #[getter]
    fn k(&self) -> usize {
        self.params.k()
    }

    /// The number of k-mers in a window.
    #[getter]
    fn w(&self) -> usize {
        self.params.w()
    }

    fn __len__(&self) -> usize {
        self.minimizers as usize
    }

    fn __bool__(&self) -> bool {
        self.minimizers > 0
    }

    fn __repr__(&self) -> String {
        let (k, w) = (self.params.k(), self.params.w());
        let minimizers = counted(self.minimizers, "minimizer");
        format!("<merganser.MinimizerSet of {minimizers}, k = {k}, w = {w}>")
    }

    fn _repr_html_(&self) -> PyResult<String> {
        let path = self.path()?;
        let file = path.map_or("temporary".to_owned(), |path| path.display().to_string());
        Ok(html::summary(
            "merganser.MinimizerSet",
            &[
                ("file", file),
                ("minimizers", thousands(self.minimizers)),
                ("k", self.params.k().to_string()),
                ("w", self.params.w().to_string()),
            ],
        ))
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let Ok(other) = other.cast::<MinimizerSet>() else { return Ok(py.NotImplemented()) };
        let other = other.get();
        let mut is_equal = self.params == other.params && self.minimizers == other.minimizers;
        if is_equal {
            let context = Options::default().context(py)?;
            let (own, other) = (self.file.get()?, other.file.get()?);
            is_equal = call::run(py, &context, None, |context| {
                let own = read(own.path(), context, 0)?;
                let held = own.bytes();
                Ok::<_, Error>(own == read(other.path(), context, held)?)
            })?;
        }
        Ok(is_equal.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    /// Releases the set and removes its file if it is temporary. Later uses raise ValueError.
    fn close(&self) {
        self.file.close();
        lock(&self.lookup).take();
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyResult<PyRef<'_, Self>> {
        this.file.get()?;
        Ok(this)
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) {
        self.close();
    }

    /// Returns the minimizers that are in any of the sets.
    ///
    /// Args:
    ///     others: Sets with the same k and w.
    ///     output: The file for the result; None for a temporary one.
    ///
    /// Returns:
    ///     A new set.
    ///
    /// Raises:
    ///     InputError: If the sets have different k or w.
    ///
    /// >>> import merganser, random
    /// >>> one, other = (bytes(random.Random(seed).choices(b"ACGT", k=500)) for seed in (1, 2))
    /// >>> sets = [merganser.MinimizerSet.build([genome]) for genome in (one, other)]
    /// >>> len(sets[0] | sets[1]) == len(sets[0]) + len(sets[1])
    /// True
    #[pyo3(signature = (*others, **options), text_signature = "($self, *others, output=None)")]
    fn union(
        &self,
        py: Python<'_>,
        others: Vec<PyRef<'_, MinimizerSet>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<MinimizerSet> {
        let keywords = Keywords::new(py, "MinimizerSet.union", options)?;
        let output = keywords.path("output")?;
        keywords.finish()?;
        self.combined(py, &others, output, Set::unite)
    }

    /// Returns the minimizers that are in no other set.
    ///
    /// Args:
    ///     others: Sets with the same k and w.
    ///     output: The file for the result; None for a temporary one.
    ///
    /// Returns:
    ///     A new set.
    ///
    /// Raises:
    ///     InputError: If the sets have different k or w.
    #[pyo3(signature = (*others, **options), text_signature = "($self, *others, output=None)")]
    fn subtract(
        &self,
        py: Python<'_>,
        others: Vec<PyRef<'_, MinimizerSet>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<MinimizerSet> {
        let keywords = Keywords::new(py, "MinimizerSet.subtract", options)?;
        let output = keywords.path("output")?;
        keywords.finish()?;
        self.combined(py, &others, output, Set::subtract)
    }

    /// Returns the minimizers that are in all of the sets.
    ///
    /// Args:
    ///     others: Sets with the same k and w.
    ///     output: The file for the result; None for a temporary one.
    ///
    /// Returns:
    ///     A new set.
    ///
    /// Raises:
    ///     InputError: If the sets have different k or w.
    #[pyo3(signature = (*others, **options), text_signature = "($self, *others, output=None)")]
    fn intersect(
        &self,
        py: Python<'_>,
        others: Vec<PyRef<'_, MinimizerSet>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<MinimizerSet> {
        let keywords = Keywords::new(py, "MinimizerSet.intersect", options)?;
        let output = keywords.path("output")?;
        keywords.finish()?;
        self.combined(py, &others, output, Set::intersect)
    }

    fn __or__(&self, py: Python<'_>, other: PyRef<'_, MinimizerSet>) -> PyResult<MinimizerSet> {
        self.combined(py, &[other], None, Set::unite)
    }

    fn __sub__(&self, py: Python<'_>, other: PyRef<'_, MinimizerSet>) -> PyResult<MinimizerSet> {
        self.combined(py, &[other], None, Set::subtract)
    }

    fn __and__(&self, py: Python<'_>, other: PyRef<'_, MinimizerSet>) -> PyResult<MinimizerSet> {
        self.combined(py, &[other], None, Set::intersect)
    }

    /// Removes the host's reads, or keeps only these, with the decisions of `merganser deplete filter` and Deacon.
    ///
    /// Args:
    ///     reads: Files or sequences, as for `count`.
    ///     mates: The second mates, the same number of files or sequences as `reads`.
    ///     interleaved: First and second mates alternate in `reads`.
    ///     any_names: Pair mates by position, even if their names differ.
    ///     reference: The reference as FASTA, which reads in CRAM need.
    ///     output: The file for the kept reads; compressed if the name ends in .gz or .zst. If it ends in .bam, .cram or .sam,
    ///         the alignments of the kept reads are written as they are in the input, with all tags. For pairs, # in the name
    ///         becomes 1 and 2 (in `classify_to` and `extract` _1 and _2, as in Kraken 2); without it and without `output2`, mates are interleaved. None to return the reads.
    ///     output2: The file for second mates.
    ///     output_matching: The file for the removed reads, named as `output`; not with `keep` or `mask`.
    ///     abs_threshold: The minimum number of a read's distinct minimizers that are in the set.
    ///     rel_threshold: The minimum fraction of a read's distinct minimizers that are in the set, 0 to 1.
    ///     prefix_length: Look only at the first bases of each read, this many; 0 looks at all.
    ///     complexity_threshold: Ignore minimizers of the set that are less complex than this, 0 to 1.
    ///     mask: "n" or "lower": keep all reads, and mask the host's stretches of matching ones by N or in lower case.
    ///     keep: Keep the matching reads, and remove the others.
    ///     rename: Replace names by numbers: 1, 2 and so on.
    ///     threads: As for `count`.
    ///     memory: As for `count`.
    ///     tmp_dir: As for `count`.
    ///     progress: As for `count`.
    ///
    /// Returns:
    ///     Without `output`, `Rows` of the kept reads, mates one after the other: `read` (its name; for a sequence its
    ///     number, from 1), `sequence` and `quality` (null for reads without qualities). With `output`, a dict of
    ///     numbers: reads, bases, kept_reads, kept_bases; a pair is two reads.
    ///
    /// Raises:
    ///     ArgumentError: If an argument is out of range.
    ///     InputError: If a read is invalid; it has `file` and `record`.
    ///     OutputError: If an output cannot be written; then no output appears.
    #[pyo3(
        signature = (reads, mates=None, **options),
        text_signature = "($self, reads, mates=None, *, interleaved=False, any_names=False, reference=None, output=None, \
            output2=None, output_matching=None, abs_threshold=2, rel_threshold=0.01, prefix_length=0, complexity_threshold=0.0, \
            mask=None, keep=False, rename=False, threads=None, memory=None, tmp_dir=None, progress=None)"
    )]
    fn filter<'py>(
        &self,
        py: Python<'py>,
        reads: &Bound<'py, PyAny>,
        mates: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let file = self.file.get()?;
        let keywords = Keywords::new(py, "MinimizerSet.filter", options)?;
        keywords.refuse(&["device"], "is not an option of this job: only the CPU depletes")?;
        let (context, progress) = (keywords.context()?, keywords.object("progress")?);
        let reads = Reads::of(reads, mates, &keywords, &context.temp_dir)?;
        reads.warn_of_mates("filtered", &context.warnings);
        let config = config(&reads, &keywords)?;
        config.validate().or_raise(py)?;
        let files = Files::of(&config, &reads, &keywords)?;
        keywords.finish()?;
        let read = reads.files().into_iter().chain([file.path().to_owned()]);
        check(py, read, files.all())?;
        let kept = !files.kept.is_empty();
        let (outcome, rows) = call::run(py, &context, progress.as_ref(), |context| {
            let lookup = self.lookup(&file, context)?;
            let run = |kept: &[PathBuf], set: &OutputSet| {
                let paths = files.paths(kept);
                run_in(&config, &*lookup, &reads.segments, (&paths, set), context)
            };
            if kept {
                let set = OutputSet::new();
                let outcome = run(&files.kept, &set)?;
                set.commit()?;
                return Ok::<_, Error>((outcome, KeptReads::default()));
            }
            let set = OutputSet::new();
            let job = |path: &Path| run(&[path.to_owned()], &set);
            let done = pipe::through::<_, _, Error>(job, |text| KeptReads::default().read(text))?;
            set.commit()?;
            Ok(done)
        })?;
        match kept {
            true => Ok(numbers(py, &outcome)?.into_any()),
            false => Ok(Bound::new(py, rows.rows()?)?.into_any()),
        }
    }

    /// Supports pickling of a set with a file: the receiving process opens the file.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let Some(path) = self.path()? else {
            return Err(PyTypeError::new_err(
                "a set in a temporary file cannot be pickled: save it and open the saved file",
            ));
        };
        let open = py.get_type::<MinimizerSet>().getattr("open")?;
        (open, (std::path::absolute(path)?,)).into_pyobject(py)
    }
}

/// Takes the options of decisions.
fn config(reads: &Reads, keywords: &Keywords<'_>) -> PyResult<Config> {
    let of = Config::default();
    Ok(Config {
        thresholds: Thresholds {
            abs_threshold: keywords.int_or("abs_threshold", of.thresholds.abs_threshold)?,
            rel_threshold: keywords.or("rel_threshold", of.thresholds.rel_threshold)?,
        },
        prefix_length: keywords.int_or("prefix_length", of.prefix_length)?,
        complexity_threshold: keywords.or("complexity_threshold", of.complexity_threshold)?,
        mask: keywords.named("mask")?,
        keep: keywords.flag("keep")?,
        rename: keywords.flag("rename")?,
        any_names: reads.any_names,
    })
}

/// Returns the numbers of an outcome as a dict.
fn numbers<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let numbers = PyDict::new(py);
    numbers.set_item("reads", outcome.records)?;
    numbers.set_item("bases", outcome.bases)?;
    numbers.set_item("kept_reads", outcome.kept_records)?;
    numbers.set_item("kept_bases", outcome.kept_bases)?;
    Ok(numbers)
}
