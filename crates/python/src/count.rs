//! `merganser.count`.

use std::path::PathBuf;

use merganser::count::{Config, Format, count as count_kmers};
use merganser::io::{OutputSet, QualityOffset};
use merganser::run::ConfigError;
use pyo3::prelude::*;

use crate::call;
use crate::errors::raise;
use crate::options::{Memory, Options};
use crate::sequences;
use crate::table::{Owned, Table};

/// Counts the distinct k-mers of reads or genomes.
///
/// Args:
///     reads: A file or several (str or PathLike; FASTA, FASTQ, SAM, BAM, CRAM, compressed or not; "@list.txt" names a list of
///         them), or sequences: an iterable of str and bytes, or strings of Arrow (a Polars Series, a pyarrow array). A str that
///         names an existing file is a file; one of nothing but letters is a sequence.
///     k: Bases of a k-mer, 1 to 128.
///     min_count: Keep k-mers that occur at least so often; 1 keeps all.
///     max_count: Keep k-mers that occur at most so often; None for no limit.
///     canonical: Count a k-mer and its reverse complement together.
///     hpc: Make one base of each run of the same base first (homopolymer compression).
///     min_quality: Bases of a lower quality (Phred) break k-mers; None: qualities are ignored.
///     quality_offset: Qualities of FASTQ are Phred+33, or Phred+64 as of old Illumina (1.3 to 1.7): 33 or 64.
///     output: The file of the table (.mgk); None for a temporary one, which goes with the table.
///     device: "auto", "cpu", "cuda", or GPUs by number, "cuda:0,1"; None is "auto".
///     threads: None for as many as there are processors.
///     memory: Bytes, or a size such as "8G"; None for three quarters of what is free.
///     tmp_dir: Where temporary files go; None for $TMPDIR or /tmp.
///     progress: True for a bar, or a function of the stage's name, how much is done, and how much there is (or None).
///
/// Returns:
///     The table. The same whatever threads, memory and device.
///
/// Raises:
///     ConfigError: If an argument is out of range.
///     InputError: If an input is at fault, or a disk is full; it has `file` and `record`.
///     KeyboardInterrupt: By Ctrl-C, within a moment; no file is left half written.
///
/// >>> import merganser
/// >>> table = merganser.count(["ACGTTA", "CGTTAC"], k=5, min_count=1)
/// >>> table
/// <merganser.Table of 3 5-mers>
#[pyfunction]
#[pyo3(signature = (
    reads, k=31, *, min_count=2, max_count=None, canonical=true, hpc=false, min_quality=None, quality_offset=33,
    output=None, device=None, threads=None, memory=None, tmp_dir=None, progress=None
))]
#[allow(clippy::too_many_arguments, reason = "they are Python's keywords")]
pub(crate) fn count(
    py: Python<'_>,
    reads: &Bound<'_, PyAny>,
    k: usize,
    min_count: u32,
    max_count: Option<u32>,
    canonical: bool,
    hpc: bool,
    min_quality: Option<u8>,
    quality_offset: u8,
    output: Option<PathBuf>,
    device: Option<&str>,
    threads: Option<usize>,
    memory: Option<Memory>,
    tmp_dir: Option<PathBuf>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Table> {
    let resources = Options { device, threads, memory, tmp_dir }.resources(py)?;
    let offset = QualityOffset::of_number(quality_offset).ok_or_else(|| {
        let problem = format!("`quality_offset` {quality_offset} is neither 33 nor 64");
        raise(py, &ConfigError::new(problem))
    })?;
    let config = Config {
        forward_only: !canonical,
        min_count: Some(min_count),
        max_count,
        min_qual: min_quality,
        quality_offset: offset,
        hpc,
        format: Format::Mgk,
        ..Config::new(k)
    };
    let inputs = sequences::inputs(reads, &resources.temp_dir)?;
    let file = Owned::place(output, &resources.temp_dir)?;
    call::run(py, &resources.warnings, progress, |progress, cancel| {
        let outputs = OutputSet::new();
        let path = Some(file.path());
        count_kmers(&config, &resources, &inputs.inputs, path, &outputs, progress, cancel)?;
        outputs.commit()?;
        Ok::<_, merganser::count::Error>(())
    })?;
    Table::of(py, file)
}
