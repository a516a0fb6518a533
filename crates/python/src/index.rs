//! Indexes of references, and mapping of reads.

mod config;
mod files;
mod hits;

use std::path::{Path, PathBuf};

use merganser_io::{Input, OutputSet};
use merganser_map::Error;
use merganser_run::{Context, counted, thousands};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::call;
use crate::errors::{Arguments, OrRaise};
use crate::held::Held;
use crate::html;
use crate::keywords::{Keywords, edits};
use crate::outputs::check;
use crate::pipe;
use crate::reads::Reads;
use crate::rows::Rows;
use hits::Hits;

/// The index of a reference, for mapping reads. Threads may share it. `with` closes it.
///
/// >>> import merganser, tempfile, os
/// >>> path = os.path.join(tempfile.mkdtemp(), "reference.fa")
/// >>> _ = open(path, "w").write(">c\nTTTTTTTTTTGATTACAGATCCCGTAATTTTTTTTTT\n")
/// >>> hits = merganser.Index.build(path).map([b"GATTACAGATCCCGTAA"], e=1)
/// >>> hits["contig"], hits["position"].tolist(), hits["edits"].tolist(), hits["cigar"]
/// (['c'], [10], [0], ['17='])
#[pyclass(frozen, module = "merganser")]
pub(crate) struct Index {
    index: Held<merganser_map::Index>,
    path: Option<PathBuf>,
    /// The FASTA file that the index was built from, if this process built it.
    reference: Option<PathBuf>,
}

impl Index {
    fn of(index: merganser_map::Index, path: Option<PathBuf>, reference: Option<PathBuf>) -> Index {
        Index { index: Held::new("index", index), path, reference }
    }
}

#[pymethods]
impl Index {
    #[new]
    #[pyo3(signature = (*_arguments, **_options))]
    fn new(
        _arguments: &Bound<'_, PyTuple>,
        _options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Index> {
        Err(PyTypeError::new_err(
            "make an index with Index.build(reference), or open one with Index.open(path)",
        ))
    }

    /// Opens an index (.mgi). Its file is mapped into memory and read on demand.
    ///
    /// Args:
    ///     path: The file.
    ///
    /// Returns:
    ///     The index.
    ///
    /// Raises:
    ///     FileNotFound: If there is no such file.
    ///     InputError: If the file is damaged or not an index.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Index> {
        let index = py.detach(|| merganser_map::Index::open(&path)).or_raise(py)?;
        Ok(Index::of(index, Some(path), None))
    }

    /// Builds the index of a reference.
    ///
    /// Args:
    ///     reference: A FASTA file.
    ///     output: The file (.mgi); None to keep the index in memory.
    ///     circular: The names of circular contigs, separated by commas, "all" or "none"; None for those whose header
    ///         has topology=circular or circular=true.
    ///     device: As for `count`.
    ///     threads: As for `count`.
    ///     memory: As for `count`.
    ///     progress: As for `count`.
    ///
    /// Returns:
    ///     The index.
    ///
    /// Raises:
    ///     FileNotFound: If there is no such file.
    ///     InputError: If the reference is not FASTA, or has no sequences.
    ///     OutputError: If the file cannot be written.
    #[staticmethod]
    #[pyo3(
        signature = (reference, **options),
        text_signature = "(reference, *, output=None, circular=None, device=None, threads=None, memory=None, progress=None)"
    )]
    fn build(
        py: Python<'_>,
        reference: PathBuf,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Index> {
        let keywords = Keywords::new(py, "Index.build", options)?;
        let (context, progress) = (keywords.context()?, keywords.object("progress")?);
        let output = keywords.path("output")?;
        let topology = keywords.named::<merganser_map::Topology>("circular")?.unwrap_or_default();
        keywords.finish()?;
        let arguments =
            Arguments::default().with("reference", [&reference]).with("output", &output);
        check(py, [&reference], output.as_deref().map(|path| ("output", path)))?;
        let input = Input::File(reference.clone());
        let build = |context: &Context| {
            let outputs = OutputSet::new();
            let file = output.as_ref().map(|path| outputs.file(path)).transpose()?;
            let (index, _) = merganser_map::build_with(&input, &topology, file, context)?;
            outputs.commit()?;
            Ok::<_, Error>(index)
        };
        let index = call::run(py, &context, progress.as_ref(), |context| {
            build(context).map_err(|error| arguments.name(error))
        })?;
        Ok(Index::of(index, output, Some(reference)))
    }

    /// The file of the index; None if it is in memory.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.path.clone()
    }

    /// The names of the reference's sequences and their lengths in bases.
    #[getter]
    fn contigs(&self) -> PyResult<Vec<(String, u32)>> {
        let index = self.index.get()?;
        Ok(index.contigs().iter().map(|contig| (contig.name.clone(), contig.len)).collect())
    }

    /// The number of bases of the reference.
    #[getter]
    fn bases(&self) -> PyResult<u64> {
        Ok(self.index.get()?.bases())
    }

    /// A summary of the index: contigs, bases, k (the length of its k-mers), positions, bytes.
    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (index, info) = (self.index.get()?, PyDict::new(py));
        info.set_item("contigs", index.contigs().len())?;
        info.set_item("bases", index.bases())?;
        info.set_item("k", index.k())?;
        info.set_item("positions", index.positions())?;
        info.set_item("bytes", index.bytes())?;
        Ok(info)
    }

    fn __repr__(&self) -> String {
        match self.index.get() {
            Ok(index) => format!(
                "<merganser.Index of {}, {}>",
                counted(index.contigs().len() as u64, "contig"),
                counted(index.bases(), "base")
            ),
            Err(_) => "<merganser.Index, closed>".to_owned(),
        }
    }

    fn _repr_html_(&self) -> PyResult<String> {
        let index = self.index.get()?;
        let contigs = index.contigs();
        let named = contigs.iter().take(5).map(|contig| contig.name.as_str());
        let mut names = named.collect::<Vec<_>>().join(", ");
        if contigs.len() > 5 {
            names += ", …";
        }
        let number = |number: u64| thousands(number);
        let file = self.path.as_ref().map_or("in memory".into(), |path| path.display().to_string());
        Ok(html::summary(
            "merganser.Index",
            &[
                ("file", file),
                ("contigs", format!("{} ({names})", number(contigs.len() as u64))),
                ("bases", number(index.bases())),
                ("k", index.k().to_string()),
                ("bytes", number(index.bytes())),
            ],
        ))
    }

    /// Releases the index. Later uses raise ValueError.
    fn close(&self) {
        self.index.close();
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyResult<PyRef<'_, Self>> {
        this.index.get()?;
        Ok(this)
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) {
        self.close();
    }

    /// Finds the positions of reads in the reference, with at most `e` edits, on either strand.
    ///
    /// Args:
    ///     reads: Files or sequences, as for `count`.
    ///     mates: The second mates, the same number of files or sequences as `reads`.
    ///     e: The maximum number of edits of a hit: an int, or per cent of the read's length, "4%".
    ///     interleaved: First and second mates alternate in `reads`.
    ///     any_names: Pair mates by position, even if their names differ.
    ///     reference: The reference as FASTA, which reads in CRAM need.
    ///     best: Return only the first hit of a read, one with the fewest edits, or the first combination of a pair.
    ///     best_strata: Return all hits that have the same number of edits as the first.
    ///     max_hits: The maximum number of hits per read, or of combinations per pair; 0 for no limit.
    ///     strand: "both", "forward" or "reverse"; only for single reads.
    ///     hamming: Allow only substitutions, no insertions or deletions.
    ///     echoes: Also return hits that begin within `e` bases of the first base of a better hit.
    ///     n_mode: "mismatch" if N and other ambiguous letters match nothing, "match" if they match everything.
    ///     crop: Map only the first bases of each read, this many.
    ///     quality_offset: As for `count`.
    ///     orientation: The strands and order of mates: "fr" (facing each other), "rf" (facing away from each other) or "ff"
    ///         (on the same strand); only for pairs.
    ///     min_insert: The minimum distance between the outer ends of mates in bases; only for pairs.
    ///     max_insert: The maximum distance between the outer ends of mates in bases; None for 500; only for pairs.
    ///     learn_insert: Learn `min_insert` and `max_insert`, where not given, from the first pairs.
    ///     rescue: For pairs without a concordant combination: search for each mate with up to this many edits near
    ///         the hits of the other one; as `e`.
    ///     clip: Clip ends of reads whose edits cost more than clipping; the hits stay the same.
    ///     filter: The rule that rejects candidates: "exact", "gatekeeper", "snake" or "none"; changes only the speed.
    ///     device: As for `count`.
    ///     threads: As for `count`.
    ///     memory: As for `count`.
    ///     tmp_dir: As for `count`.
    ///     progress: As for `count`.
    ///
    /// Returns:
    ///     `Rows` with one row per hit, in the order of the reads, and none for a read without a hit: `read` (uint64, the number of the read or pair, from
    ///     0, not from 1 as in `classify`), `name` (of the read; only for files), `mate` (uint32, 1 or 2, 0 for a single read; only for pairs),
    ///     `contig`, `position` (uint32, from 0), `reverse` (whether the reverse complement of the read matches),
    ///     `edits` (uint32), `mapq` (uint32), `cigar` (with = and X) and `concordant` (whether the mates are at a
    ///     possible distance and orientation; only for pairs).
    ///
    /// Raises:
    ///     ArgumentError: If an argument is out of range.
    ///     InputError: If a read is invalid; it has `file` and `record`.
    ///
    /// >>> import merganser, pathlib, random, tempfile
    /// >>> genome = bytes(random.Random(1).choices(b"ACGT", k=1000))
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "genome.fa"
    /// >>> _ = path.write_bytes(b">c\n" + genome + b"\n")
    /// >>> hits = merganser.Index.build(path).map([genome[10:110], genome[500:600]], e="4%", best=True)
    /// >>> for hit in hits:
    /// ...     print(hit.read, hit.contig, hit.position, hit.edits, hit.cigar)
    /// 0 c 10 0 100=
    /// 1 c 500 0 100=
    #[pyo3(
        signature = (reads, mates=None, *, e, **options),
        text_signature = "($self, reads, mates=None, *, e, interleaved=False, any_names=False, reference=None, best=False, \
            best_strata=False, max_hits=0, strand='both', hamming=False, echoes=False, n_mode='mismatch', crop=None, \
            quality_offset=33, orientation='fr', min_insert=0, max_insert=None, learn_insert=False, \
            rescue=None, clip=False, filter='exact', device=None, \
            threads=None, memory=None, tmp_dir=None, progress=None)"
    )]
    fn map(
        &self,
        py: Python<'_>,
        reads: &Bound<'_, PyAny>,
        mates: Option<&Bound<'_, PyAny>>,
        e: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Rows> {
        let index = self.index.get()?;
        let keywords = Keywords::new(py, "Index.map", options)?;
        let (context, progress) = (keywords.context()?, keywords.object("progress")?);
        let reads = Reads::of(reads, mates, &keywords, &context.temp_dir)?;
        reads.warn_of_mates("mapped", &context.warnings);
        let config =
            merganser_map::Config { eqx: true, ..config::of(edits("e", e)?, &reads, &keywords)? };
        keywords.finish()?;
        config.validate().or_raise(py)?;
        let hits = Hits::new(reads.are_files, reads.are_paired());
        let hits = call::run(py, &context, progress.as_ref(), |context| {
            let job = |path: &Path| {
                let records = OutputSet::alone().output(path)?;
                let outputs = merganser_map::Outputs { records, index: None, unmapped: None };
                merganser_map::run_with(&config, &index, &reads.segments, outputs, context)
            };
            pipe::through::<_, _, Error>(job, |text| hits.read(text)).map(|(_, hits)| hits)
        })?;
        hits.rows()
    }

    /// Maps reads and writes the records as SAM, BAM or CRAM, with the same bytes as `merganser map`.
    ///
    /// Args:
    ///     reads: As for `map`; also `mates`, `e`, `interleaved`, `any_names`, `reference`, `best`, `best_strata`, `max_hits`,
    ///         `strand`, `hamming`, `echoes`, `n_mode`, `crop`, `quality_offset`, `orientation`, `min_insert`, `max_insert`,
    ///         `learn_insert`, `rescue`, `clip`, `filter`, `device`, `threads`, `memory`, `tmp_dir` and `progress`.
    ///     output: The file: BAM or CRAM if the name ends in .bam or .cram, else SAM.
    ///     sort: Sort the records by contig and position, and write an index next to the output; for BAM and CRAM.
    ///     index_format: The kind of index of sorted BAM: "bai" or "csi"; None for bai, or csi if a contig is too long.
    ///     read_group: The read group of all reads, such as "@RG\\tID:lane1\\tSM:sample"; or a list, one for each file or
    ///         pair of files. {} is replaced by the name of the file.
    ///     reference: The reference as FASTA, which CRAM needs, as output if the reference has ambiguous letters; None
    ///         for the file that the index was built from.
    ///     unmapped: The file for reads without a hit.
    ///     no_unmapped: Write no records of reads without a hit, except mates of reads with a hit.
    ///     secondary_seq: Write bases and qualities in the records of all hits of a read, not only in the first one.
    ///     eqx: Write = and X in CIGARs instead of M.
    ///     tags: The tags of reads that all their records keep, as by `bwa mem -C`: "BC,RX", or "*" for all; None for none.
    ///         Read groups of the inputs are kept, too, unless `read_group` is given.
    ///     xa: With `best`, list the other hits with the same number of edits in the tag XA, if there are at most this
    ///         many; 0 for no tag.
    ///     level: The compression level of BAM, 0 to 12.
    ///
    /// Returns:
    ///     A dict of numbers: reads, mapped, unique, mappings, supplementary, pairs, concordant, rescued, discordant,
    ///     one_mate.
    ///
    /// Raises:
    ///     ArgumentError: If an argument is out of range.
    ///     InputError: If a read is invalid; it has `file` and `record`.
    ///     OutputError: If an output cannot be written; then no output appears.
    ///
    /// >>> import merganser, pathlib, random, tempfile
    /// >>> genome = bytes(random.Random(1).choices(b"ACGT", k=1000))
    /// >>> folder = pathlib.Path(tempfile.mkdtemp())
    /// >>> _ = (folder / "genome.fa").write_bytes(b">c\n" + genome + b"\n")
    /// >>> index = merganser.Index.build(folder / "genome.fa")
    /// >>> index.map_to([genome[10:110]], e=3, output=folder / "reads.bam", sort=True)["mapped"]
    /// 1
    /// >>> sorted(path.name for path in folder.iterdir())
    /// ['genome.fa', 'reads.bam', 'reads.bam.bai']
    #[pyo3(
        signature = (reads, mates=None, *, e, output, **options),
        text_signature = "($self, reads, mates=None, *, e, output, interleaved=False, any_names=False, reference=None, best=False, \
            best_strata=False, max_hits=0, strand='both', hamming=False, echoes=False, n_mode='mismatch', crop=None, \
            quality_offset=33, orientation='fr', min_insert=0, max_insert=None, learn_insert=False, \
            rescue=None, clip=False, filter='exact', sort=False, \
            index_format=None, read_group=None, unmapped=None, no_unmapped=False, secondary_seq=False, eqx=False, tags=None, \
            xa=0, level=1, device=None, threads=None, memory=None, tmp_dir=None, progress=None)"
    )]
    fn map_to<'py>(
        &self,
        py: Python<'py>,
        reads: &Bound<'py, PyAny>,
        mates: Option<&Bound<'py, PyAny>>,
        e: &Bound<'py, PyAny>,
        output: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let index = self.index.get()?;
        let keywords = Keywords::new(py, "Index.map_to", options)?;
        let (context, progress) = (keywords.context()?, keywords.object("progress")?);
        let reads = Reads::of(reads, mates, &keywords, &context.temp_dir)?;
        reads.warn_of_mates("mapped", &context.warnings);
        let config = config::of(edits("e", e)?, &reads, &keywords)?;
        let files = files::Files::of(keywords.path_of("output", output)?, &config, &keywords)?;
        let reference = reads.reference.clone().or(self.reference.clone());
        let config = config::to_file(config, &files, &reads, reference, &keywords)?;
        keywords.finish()?;
        config.validate().or_raise(py)?;
        check(py, reads.files().iter().chain(&self.path).chain(&config.fasta), files.all())?;
        let outcome = call::run(py, &context, progress.as_ref(), |context| {
            let set = OutputSet::new();
            let outputs = files.create(&set, &index, config.sort)?;
            let done = merganser_map::run_with(&config, &index, &reads.segments, outputs, context)?;
            set.commit()?;
            Ok::<_, Error>(done)
        })?;
        numbers(py, &outcome.reported)
    }

    /// Supports pickling of an index with a file: the receiving process opens the file.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let Some(path) = &self.path else {
            return Err(PyTypeError::new_err(
                "an index in memory cannot be pickled: build it with output=",
            ));
        };
        let open = py.get_type::<Index>().getattr("open")?;
        (open, (std::path::absolute(path)?,)).into_pyobject(py)
    }
}

/// Returns the numbers of reads and pairs as a dict.
fn numbers<'py>(
    py: Python<'py>,
    reported: &merganser_map::Reported,
) -> PyResult<Bound<'py, PyDict>> {
    let numbers = PyDict::new(py);
    for (name, number) in [
        ("reads", reported.reads),
        ("mapped", reported.mapped),
        ("unique", reported.unique),
        ("mappings", reported.mappings),
        ("supplementary", reported.supplementary),
        ("pairs", reported.pairs),
        ("concordant", reported.concordant),
        ("rescued", reported.rescued),
        ("discordant", reported.discordant),
        ("one_mate", reported.one_mate),
    ] {
        numbers.set_item(name, number)?;
    }
    Ok(numbers)
}
