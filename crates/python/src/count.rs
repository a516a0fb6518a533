//! `merganser.count`.

use std::ops::RangeInclusive;

use merganser_count::{Config, Format, MAX_BINS, run_with};
use merganser_io::OutputSet;
use merganser_run::options::Auto;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::call;
use crate::errors::mistyped;
use crate::integers::Int;
use crate::keywords::Keywords;
use crate::sequences;
use crate::table::{Owned, Table};

/// The largest length of k-mers.
const MAX_K: i64 = 128;
/// The counts of k-mers.
const COUNTS: RangeInclusive<i64> = 1..=u32::MAX as i64;

/// Counts the distinct k-mers of reads or genomes.
///
/// Args:
///     reads: A file or several (str or PathLike; FASTA, FASTQ, SAM, BAM, CRAM, compressed or not; "@list.txt" is a
///         list of files), or sequences: an iterable of bytes, Arrow strings (a Polars Series, a pyarrow array), or a
///         NumPy array (dtype "S", or uint8 with one row per sequence). A str always is the name of a file.
///     k: The length of a k-mer in bases, 1 to 128.
///     panel: Count only the k-mers of this file: a table in any format, or sequences; None counts all.
///     min_count: Keep k-mers that occur at least this often; 1 keeps all. None is 2, or 1 with a panel.
///     max_count: Keep k-mers that occur at most this often; None for no limit.
///     forward_only: Count each k-mer as written in the read, separately from its reverse complement.
///     hpc: Collapse each run of the same base to one base first (homopolymer compression).
///     min_qual: Bases with a lower Phred quality break k-mers; None ignores qualities.
///     quality_offset: The offset of FASTQ qualities: 33, or 64 for old Illumina (1.3 to 1.7).
///     storage: Keep intermediate data in memory while it fits ("auto"), only in memory ("ram"), or on disk ("disk").
///     bins: The number of bins of intermediate data; None for an automatic choice.
///     reference: The FASTA file that the reads of CRAM files were aligned to.
///     output: The file for the table (.mgk); None for a temporary file, which is deleted with the table.
///     device: "auto", "cpu", "cuda", or GPUs by number, "cuda:0,1"; None is "auto".
///     threads: The number of threads; None for one per processor.
///     memory: Bytes, or a size such as "8G"; None for three quarters of the free memory.
///     tmp_dir: The folder for temporary files; None for $TMPDIR or /tmp.
///     progress: True for a bar, or a function that is called with the name of the stage, the amount done and the
///         total (or None).
///
/// Returns:
///     The table. It does not depend on threads, memory and device.
///
/// Raises:
///     ArgumentError: If an argument is out of range.
///     FileNotFound: If an input does not exist.
///     InputError: If an input is invalid; it has `file` and `record`.
///     OutputError: If the table or a temporary file cannot be written.
///     MemoryLimitError: If `memory` is too small.
///     DeviceError: If a requested GPU cannot be used.
///     KeyboardInterrupt: On Ctrl-C, within a moment; no incomplete file remains.
///
/// >>> import merganser
/// >>> table = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1)
/// >>> table
/// <merganser.Table of 3 5-mers>
#[pyfunction]
#[pyo3(signature = (reads, k=Int::Of(31), **options), text_signature = "(reads, k=31, *, panel=None, min_count=None, max_count=None, \
forward_only=False, hpc=False, min_qual=None, quality_offset=33, storage='auto', bins=None, reference=None, output=None, \
device=None, threads=None, memory=None, tmp_dir=None, progress=None)")]
pub(crate) fn count(
    py: Python<'_>,
    reads: &Bound<'_, PyAny>,
    k: Int,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Table> {
    let keywords = Keywords::new(py, "count", options)?;
    let (context, progress) = (keywords.context()?, keywords.object("progress")?);
    let config = config(k_of(py, k)?, &keywords)?;
    let (reference, output) = (keywords.path("reference")?, keywords.path("output")?);
    keywords.finish()?;
    let inputs = sequences::inputs("reads", reads, &context.temp_dir)?;
    let file = Owned::place(py, output, &context.temp_dir)?;
    call::run(py, &context, progress.as_ref(), |context| {
        let outputs = OutputSet::new();
        let path = Some(file.path());
        let inputs = inputs.with_reference(reference.as_deref());
        run_with(&config, &inputs, path, &outputs, context)?;
        outputs.commit()?;
        Ok::<_, merganser_count::Error>(())
    })?;
    Table::of(py, file)
}

/// Returns the length of k-mers. Another thing in its place may be a second file.
fn k_of(py: Python<'_>, k: Int) -> PyResult<usize> {
    match k {
        Int::Other(kind) if kind != "bool" && kind != "float" => {
            let problem = format!("give an int, not {kind}; give several files as a list of files");
            Err(mistyped("k", problem))
        }
        k => k.within(py, "k", 1..=MAX_K),
    }
}

fn config(k: usize, keywords: &Keywords<'_>) -> PyResult<Config> {
    let of = Config::new(k);
    Ok(Config {
        panel: keywords.path("panel")?,
        forward_only: keywords.flag("forward_only")?,
        min_count: keywords.within("min_count", COUNTS)?.or(of.min_count),
        max_count: keywords.within("max_count", COUNTS)?,
        min_qual: keywords.int("min_qual")?,
        quality_offset: keywords.quality_offset()?,
        hpc: keywords.flag("hpc")?,
        storage: keywords.named("storage")?.unwrap_or_default(),
        bins: Auto(keywords.within("bins", 1..=MAX_BINS as i64)?),
        format: Format::Mgk,
        ..of
    })
}
