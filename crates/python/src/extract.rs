//! `merganser.extract`: the reads of some taxa.

use std::path::PathBuf;

use merganser_alignments::ReadFormat;
use merganser_classify::Error;
use merganser_io::{OutputFormat, OutputSet, ReadInput};
use merganser_run::Warnings;
use merganser_taxonomy::{Dump, TaxonomySource};
use merganser_taxreport::extract::{
    ExtractConfig, ExtractOutcome, ExtractPaths, relatives_in_report, relatives_in_taxonomy, run_in,
};
use merganser_taxreport::output::ReadPaths;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::call;
use crate::database::Database;
use crate::errors::{OrRaise, require, wrong};
use crate::keywords::Keywords;
use crate::outputs::check;
use crate::reads::Reads;
use crate::reports::{Report, taxids as taxids_in};
use crate::sequences::paths;

/// Writes the reads that were assigned to some taxa, as `merganser extract reads` does.
///
/// Args:
///     lines: The file of classified reads with one line per read, from `classify_to`, the program or Kraken 2.
///     reads: The same files or sequences as for `classify_to`.
///     taxids: The taxa: an int or several; 0 for unclassified reads.
///     mates: The second mates, the same number of files or sequences as `reads`.
///     output: The file for the reads; compressed if the name ends in .gz. If it ends in .bam, .cram or .sam, the
///         alignments of the reads are written as they are in the input, with all tags. For pairs, # in the name becomes
///         _1 and _2; without it and without `output2`, mates are interleaved.
///     interleaved: First and second mates alternate in `reads`.
///     any_names: Pair mates by position, even if their names differ.
///     reference: The reference as FASTA, which reads in CRAM need.
///     output2: The file for second mates.
///     include_children: Include the reads of all taxa below the given ones; with `report`, `taxonomy` or `database`.
///     include_parents: Include the reads of all taxa above the given ones; with one of these, too.
///     exclude: Write the reads of all other taxa instead.
///     report: A `Report` or the file of one, which tells the taxa above and below.
///     taxonomy: NCBI's taxdump folder, which tells them.
///     database: A `Database` or the path of one, which tells them.
///     format: "same" as in the input, "fasta", "sam", "bam" or "cram"; None for the format that the name of
///         `output` asks for.
///     threads: As for `count`.
///     memory: As for `count`.
///     tmp_dir: As for `count`.
///     progress: As for `count`.
///
/// Returns:
///     A dict of numbers: reads, extracted, lines, without_line; a pair is one read.
///
/// Raises:
///     ArgumentError: If arguments cannot be used together.
///     InputError: If reads or lines are invalid, or do not belong together.
///     OutputError: If an output cannot be written; then no output appears.
///
/// >>> import merganser, tempfile, os
/// >>> folder = tempfile.mkdtemp()
/// >>> reads, lines, output = (os.path.join(folder, name) for name in ("reads.fa", "lines.tsv", "some.fa"))
/// >>> _ = open(reads, "w").write(">a\nACGT\n>b\nACGT\n")
/// >>> _ = open(lines, "w").write("C\ta\t562\t4\t562:1\nU\tb\t0\t4\t0:0\n")
/// >>> merganser.extract(lines, reads, 562, output=output)["extracted"]
/// 1
/// >>> open(output).read()
/// '>a\nACGT\n'
#[pyfunction]
#[pyo3(
    signature = (lines, reads, taxids, mates=None, *, output, **options),
    text_signature = "(lines, reads, taxids, mates=None, *, output, interleaved=False, any_names=False, reference=None, \
        output2=None, include_children=False, include_parents=False, exclude=False, report=None, taxonomy=None, \
        database=None, format=None, threads=None, memory=None, tmp_dir=None, progress=None)"
)]
pub(crate) fn extract<'py>(
    py: Python<'py>,
    lines: PathBuf,
    reads: &Bound<'py, PyAny>,
    taxids: &Bound<'py, PyAny>,
    mates: Option<&Bound<'py, PyAny>>,
    output: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let keywords = Keywords::new(py, "extract", options)?;
    keywords.refuse(&["device"], "is not an option of this job: only the CPU extracts reads")?;
    let (context, progress) = (keywords.context()?, keywords.object("progress")?);
    let reads = Reads::of(reads, mates, &keywords, &context.temp_dir)?;
    reads.warn_of_mates("extracted", &context.warnings);
    let output = keywords.path_of("output", output)?;
    let files = read_paths(py, output, &reads, &keywords)?;
    let (fasta, format) = format(&files, &keywords)?;
    let files = ExtractPaths { format, ..ExtractPaths::new(files) };
    let (any_names, exclude) = (reads.any_names, keywords.flag("exclude")?);
    let (taxa, others) = taxa(taxids_in("taxids", taxids)?, &keywords, &context.warnings)?;
    keywords.finish()?;
    let config = ExtractConfig { exclude, any_names, fasta, ..taxa };
    let read = reads.files().into_iter().chain([lines.clone()]).chain(others);
    check(py, read, files.reads.all().map(|path| ("output", path)))?;
    let outcome = call::run(py, &context, progress.as_ref(), |context| {
        let set = OutputSet::new();
        let outcome = run_in(&config, &lines, &reads.segments, (&files, &set), context)?;
        set.commit()?;
        Ok::<_, Error>(outcome)
    })?;
    numbers(py, &outcome)
}

/// Returns the paths of the outputs.
fn read_paths(
    py: Python<'_>,
    output: PathBuf,
    reads: &Reads,
    keywords: &Keywords<'_>,
) -> PyResult<ReadPaths> {
    let Some(second) = keywords.path("output2")? else {
        return Ok(ReadPaths::new(&output, &reads.segments));
    };
    if !reads.segments.iter().all(ReadInput::is_paired) {
        return Err(wrong(py, "output2", "is for pairs: give mates, or interleaved=True"));
    }
    Ok(ReadPaths { single: None, mates: Some([output, second]) })
}

/// Returns whether reads are written as FASTA, and their format otherwise, if it is given.
fn format(files: &ReadPaths, keywords: &Keywords<'_>) -> PyResult<(bool, Option<ReadFormat>)> {
    let by_name = files.all().next().and_then(OutputFormat::of_name) == Some(OutputFormat::Fasta);
    Ok(match keywords.take::<String>("format")?.as_deref() {
        None => (by_name, None),
        Some("same") => (false, Some(ReadFormat::Fastq)),
        Some("fasta") => (true, Some(ReadFormat::Fastq)),
        Some("sam") => (false, Some(ReadFormat::Sam)),
        Some("bam") => (false, Some(ReadFormat::Bam)),
        Some("cram") => (false, Some(ReadFormat::Cram)),
        Some(other) => {
            let problem = format!("'{other}' is unknown: give same, fasta, sam, bam or cram");
            return Err(wrong(keywords.py(), "format", problem));
        }
    })
}

/// Returns the selected taxa with their relatives, and the files that these were read from.
fn taxa(
    taxids: Vec<u64>,
    keywords: &Keywords<'_>,
    warnings: &Warnings,
) -> PyResult<(ExtractConfig, Vec<PathBuf>)> {
    let py = keywords.py();
    let children = keywords.flag("include_children")?;
    let parents = keywords.flag("include_parents")?;
    let report = keywords.object("report")?;
    let (taxonomy, database) = (keywords.object("taxonomy")?, keywords.object("database")?);
    if [&report, &taxonomy, &database].into_iter().flatten().count() > 1 {
        return Err(wrong(py, "report", "give only one of report, taxonomy and database"));
    }
    let (found, files) = if let Some(report) = report {
        let (report, file) = Report::given(py, &report, warnings)?;
        (relatives_in_report(&report, &taxids, children, parents), file)
    } else if let Some(given) = taxonomy {
        let given = paths("taxonomy", &given)?;
        require(py, "taxonomy", &given)?;
        let source = TaxonomySource::from(given.as_slice());
        let dump = py.detach(|| Dump::read(&source)).or_raise(py)?;
        let found = relatives_in_taxonomy(&dump.taxonomy, &taxids, children, parents);
        (found, source.files())
    } else if let Some(given) = database {
        let (opened, files) = Database::given(py, &given)?;
        let found = relatives_in_taxonomy(opened.taxonomy(), &taxids, children, parents);
        (found, files)
    } else if children || parents {
        let name = if children { "include_children" } else { "include_parents" };
        return Err(wrong(py, name, "needs a taxonomy: give report, taxonomy or database"));
    } else {
        return Ok((ExtractConfig::new(taxids), Vec::new()));
    };
    found.warn(warnings);
    Ok((found.into(), files))
}

fn numbers<'py>(py: Python<'py>, outcome: &ExtractOutcome) -> PyResult<Bound<'py, PyDict>> {
    let numbers = PyDict::new(py);
    numbers.set_item("reads", outcome.records)?;
    numbers.set_item("extracted", outcome.extracted)?;
    numbers.set_item("lines", outcome.lines)?;
    numbers.set_item("without_line", outcome.without_line)?;
    Ok(numbers)
}
