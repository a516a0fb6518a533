//! `merganser.search`, `search_to`, `search_counts` and `amplicons`.

mod files;
mod lines;
mod patterns;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::builder::{StringBuilder, UInt64Builder};
use merganser_io::{Input, Output, OutputSet};
use merganser_run::Context;
use merganser_search::{
    Config, Error, Format, Lengths, Outcome, Pattern, PrimerPair, Threshold, Writer, find,
    run_primers, run_with, write_counts,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::call;
use crate::columns::Columns;
use crate::errors::OrRaise;
use crate::keywords::{Keywords, edits};
use crate::outputs::check;
use crate::pipe;
use crate::rows::Rows;
use crate::sequences::{self, Inputs};
use files::Files;
use lines::{AMPLICONS, HITS, Kind, Lines};

/// Finds every occurrence of short patterns, such as guides, primers and barcodes, with at most `e` edits.
///
/// Args:
///     patterns: The patterns, up to 128 IUPAC letters of DNA each: a str or bytes, or several, whose names are their letters;
///         pairs of a name and letters, or a dict of these; or a file (PathLike) of FASTA, or with a pattern per line.
///     texts: The genomes or reads to search: files or sequences, as for `count`; also one sequence alone. A str of letters
///         of DNA that is not the name of a file is a sequence, too.
///     e: The maximum number of edits: an int, or per cent of the pattern's length, "10%".
///     hamming: Allow only substitutions, no insertions or deletions; each position is a hit.
///     strand: The strands of the texts to search: "both", "forward" or "reverse".
///     match_n: Let N in a text match every letter; otherwise it matches none.
///     all_ends: Return every end of an alignment, not only the best one of each place.
///     overhang: Let patterns extend beyond a text; each letter outside counts as this many edits, 0 to 1.
///     pam: The letters that must follow a pattern exactly, such as "NGG" or "NGG,NAG"; they are part of the hit.
///     pam_first: The PAM comes before the pattern.
///     seed: "12:1" allows only 1 edit in the 12 letters next to the PAM or, without one, at the pattern's end.
///     reference: The reference as FASTA, which reads in CRAM need.
///     device: As for `count`.
///     threads: As for `count`. Threads share long sequences.
///     memory: As for `count`. The rows may take as much again.
///     tmp_dir: As for `count`.
///     progress: As for `count`.
///
/// Returns:
///     `Rows` with one row per hit, in the order of the texts, then of start, end, pattern and strand: `text` (uint64, the number of the
///     sequence, from 0) or, for files, `sequence` (its name); `start` and `end` (uint64, from 0; the end is exclusive), `pattern` (its
///     name), `edits` (uint32), `reverse` (whether the reverse complement of the pattern matches), `cigar` (with =, X, I, D, and S
///     outside the text) and `letters` (of the text). CIGAR and letters are in the direction of the text.
///
/// Raises:
///     ArgumentError: If an argument is out of range, or a pattern is invalid or would match everywhere.
///     InputError: If a text is invalid; it has `file` and `record`.
///     MemoryLimitError: If there are too many hits for `memory`.
///
/// >>> import merganser
/// >>> hits = merganser.search({"site": "GATTACA"}, ["TTGATTACATT", "TTTGTAGTCTT"], 1)
/// >>> for hit in hits:
/// ...     print(hit.text, hit.start, hit.end, hit.pattern, hit.edits, hit.reverse, hit.cigar)
/// 0 2 9 site 0 False 7=
/// 1 2 9 site 1 True 4=1X2=
#[pyfunction]
#[pyo3(
    signature = (patterns, texts, e, **options),
    text_signature = "(patterns, texts, e, *, hamming=False, strand='both', match_n=False, all_ends=False, overhang=None, pam=None, pam_first=False, seed=None, reference=None, device=None, threads=None, memory=None, tmp_dir=None, progress=None)"
)]
pub(crate) fn search(
    py: Python<'_>,
    patterns: &Bound<'_, PyAny>,
    texts: &Bound<'_, PyAny>,
    e: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Rows> {
    let keywords = Keywords::new(py, "search", options)?;
    let run = Run::of_patterns(e, &keywords)?;
    keywords.finish()?;
    let patterns = run.patterns(patterns)?.all;
    let (config, texts) = (&run.config, run.texts(texts)?);
    run.rows(py, &texts, HITS, |output, context| {
        let writer = Writer::new(Format::Tsv, output);
        run_with(config, &patterns, &texts.inputs, writer, context)
    })
}

/// Searches as `search` and writes the hits to a file, with the same bytes as `merganser search`.
///
/// Args:
///     patterns: As for `search`; also `texts`, `e`, `hamming`, `strand`, `match_n`, `all_ends`, `overhang`, `pam`, `pam_first`,
///         `seed`, `reference`, `device`, `threads`, `memory`, `tmp_dir` and `progress`.
///     output: The file for the hits: BED, FASTA, SAM or BAM if the name ends in .bed, .fa, .sam or .bam, else TSV;
///         compressed if the name ends in .gz.
///     format: "tsv", "bed", "fasta", "sam" or "bam"; None for that of the name of `output`.
///     counts: The file for a table of the hits of each pattern by edits, as `search_counts` returns; None for no file.
///
/// Returns:
///     A dict of numbers: sequences, letters, hits.
///
/// Raises:
///     ArgumentError: If an argument is out of range, or a pattern is invalid or would match everywhere.
///     InputError: If a text is invalid; it has `file` and `record`.
///     OutputError: If an output cannot be written; then no output appears.
///
/// >>> import merganser, pathlib, tempfile
/// >>> path = pathlib.Path(tempfile.mkdtemp()) / "hits.bed"
/// >>> merganser.search_to({"site": "GATTACA"}, "TTGATTACATT", 1, output=path)
/// {'sequences': 1, 'letters': 11, 'hits': 1}
/// >>> path.read_text()
/// '1\t2\t9\tsite\t0\t+\n'
#[pyfunction]
#[pyo3(
    signature = (patterns, texts, e, *, output, **options),
    text_signature = "(patterns, texts, e, *, output, format=None, counts=None, hamming=False, strand='both', match_n=False, all_ends=False, overhang=None, pam=None, pam_first=False, seed=None, reference=None, device=None, threads=None, memory=None, tmp_dir=None, progress=None)"
)]
pub(crate) fn search_to<'py>(
    py: Python<'py>,
    patterns: &Bound<'py, PyAny>,
    texts: &Bound<'py, PyAny>,
    e: &Bound<'py, PyAny>,
    output: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let keywords = Keywords::new(py, "search_to", options)?;
    let run = Run::of_patterns(e, &keywords)?;
    let files = Files::of(keywords.path_of("output", output)?, &keywords)?;
    keywords.finish()?;
    let patterns = run.patterns(patterns)?;
    let (config, texts) = (&run.config, run.texts(texts)?);
    let inputs = texts.inputs.iter().flat_map(Input::files);
    check(py, inputs.chain(patterns.file), files.all())?;
    let patterns = patterns.all;
    let outcome = call::run(py, &run.context, run.progress.as_ref(), |context| {
        let set = OutputSet::new();
        let (hits, counts) = files.create(&set)?;
        let outcome = run_with(config, &patterns, &texts.inputs, hits, context)?;
        if let Some(mut output) = counts {
            write_counts(&outcome, &patterns, &mut output)?;
            output.finish()?;
        }
        set.commit()?;
        Ok::<_, Error>(outcome)
    })?;
    let numbers = PyDict::new(py);
    numbers.set_item("sequences", outcome.texts)?;
    numbers.set_item("letters", outcome.letters)?;
    numbers.set_item("hits", outcome.total())?;
    Ok(numbers)
}

/// Counts the hits of `search` by pattern and edits. Hits are not kept in memory.
///
/// Args:
///     patterns: As for `search`; also `texts`, `e`, `hamming`, `strand`, `match_n`, `all_ends`, `overhang`, `pam`, `pam_first`,
///         `seed`, `reference`, `device`, `threads`, `memory`, `tmp_dir` and `progress`.
///
/// Returns:
///     `Rows` with one row per pattern: `pattern` (its name), `letters`, `edits_0`, `edits_1` and so on (uint64, the hits with this
///     number of edits; null if the pattern may not have it) and `total` (uint64).
///
/// Raises:
///     ArgumentError: If an argument is out of range, or a pattern is invalid or would match everywhere.
///     InputError: If a text is invalid; it has `file` and `record`.
///
/// >>> import merganser
/// >>> list(merganser.search_counts({"site": "GATTACA"}, ["TTGATTACATT", "TTTGTAGTCTT"], 1))
/// [Row(pattern='site', letters='GATTACA', edits_0=1, edits_1=1, total=2)]
#[pyfunction]
#[pyo3(
    signature = (patterns, texts, e, **options),
    text_signature = "(patterns, texts, e, *, hamming=False, strand='both', match_n=False, all_ends=False, overhang=None, pam=None, pam_first=False, seed=None, reference=None, device=None, threads=None, memory=None, tmp_dir=None, progress=None)"
)]
pub(crate) fn search_counts(
    py: Python<'_>,
    patterns: &Bound<'_, PyAny>,
    texts: &Bound<'_, PyAny>,
    e: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Rows> {
    let keywords = Keywords::new(py, "search_counts", options)?;
    let run = Run::of_patterns(e, &keywords)?;
    keywords.finish()?;
    let patterns = run.patterns(patterns)?.all;
    let (config, texts) = (&run.config, run.texts(texts)?);
    let outcome = call::run(py, &run.context, run.progress.as_ref(), |context| {
        let output = OutputSet::alone().output(Path::new("/dev/null"))?;
        let writer = Writer::new(Format::Bed, output);
        run_with(config, &patterns, &texts.inputs, writer, context)
    })?;
    counted(&outcome, &patterns)
}

/// Finds the amplicons of pairs of primers in genomes (in-silico PCR), as `merganser search --primers`.
///
/// An amplicon begins with a hit of one primer on the forward strand and ends with a hit of the other one on the reverse
/// strand, which does not overlap it.
///
/// Args:
///     primers: A dict of the name of a pair and its two primers, forward and reverse, both from 5' to 3'; several of
///         (name, forward, reverse); or a file with a name, a forward and a reverse primer per line, separated by tabs.
///     texts: As for `search`; also `hamming`, `match_n`, `overhang`, `seed`, `reference`, `device`, `threads`, `memory`,
///         `tmp_dir` and `progress`.
///     e: The maximum number of edits of each primer: an int, or per cent of its length, "10%".
///     min_amplicon: The minimum length of an amplicon with its primers, in bases.
///     max_amplicon: The maximum length of an amplicon with its primers, in bases.
///
/// Returns:
///     `Rows` with one row per amplicon: `text` or `sequence`, `start` and `end`, as for `search`; `pair` (its name), `reverse`
///     (whether the reverse primer begins it), `length` (uint64), `forward_edits` and `reverse_edits` (uint32), and `amplicon`
///     (its letters, from the forward primer on).
///
/// Raises:
///     ArgumentError: If an argument is out of range, or a primer is invalid or would match everywhere.
///     InputError: If a text is invalid; it has `file` and `record`.
///     MemoryLimitError: If there are too many amplicons for `memory`.
///
/// >>> import merganser
/// >>> list(merganser.amplicons({"pair": ("ACGTTG", "CCATAG")}, "TTACGTTGAAACTATGGTT", 0))
/// [Row(text=0, start=2, end=17, pair='pair', reverse=False, length=15, forward_edits=0, reverse_edits=0, amplicon='ACGTTGAAACTATGG')]
#[pyfunction]
#[pyo3(
    signature = (primers, texts, e, **options),
    text_signature = "(primers, texts, e, *, min_amplicon=1, max_amplicon=3000, hamming=False, match_n=False, overhang=None, seed=None, reference=None, device=None, threads=None, memory=None, tmp_dir=None, progress=None)"
)]
pub(crate) fn amplicons(
    py: Python<'_>,
    primers: &Bound<'_, PyAny>,
    texts: &Bound<'_, PyAny>,
    e: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Rows> {
    let keywords = Keywords::new(py, "amplicons", options)?;
    let run = Run::of_primers(e, &keywords)?;
    let of = Lengths::default();
    let lengths = Lengths {
        min_amplicon: keywords.int_or("min_amplicon", of.min_amplicon)?,
        max_amplicon: keywords.int_or("max_amplicon", of.max_amplicon)?,
    };
    keywords.finish()?;
    let pairs = run.primers(primers)?;
    let (config, texts) = (&run.config, run.texts(texts)?);
    run.rows(py, &texts, AMPLICONS, |output, context| {
        let output = (Format::Tsv, output);
        run_primers(config, lengths, &pairs, &texts.inputs, output, context)
    })
}

/// The arguments that all searches share.
struct Run<'py> {
    config: Config,
    context: Context,
    progress: Option<Bound<'py, PyAny>>,
    reference: Option<PathBuf>,
}

/// The texts of a search, and the temporary file of sequences that were passed directly.
struct Texts {
    inputs: Vec<Input>,
    are_files: bool,
    _kept: Inputs,
}

impl<'py> Run<'py> {
    /// Takes the options of a search for patterns.
    fn of_patterns(e: &Bound<'py, PyAny>, keywords: &Keywords<'py>) -> PyResult<Run<'py>> {
        let of = common(edits("e", e)?, keywords)?;
        let config = Config {
            strand: keywords.named("strand")?.unwrap_or_default(),
            all_ends: keywords.flag("all_ends")?,
            pam: keywords.named("pam")?,
            pam_first: keywords.flag("pam_first")?,
            ..of
        };
        Run::new(config, keywords)
    }

    /// Takes the options of a search for primers.
    fn of_primers(e: &Bound<'py, PyAny>, keywords: &Keywords<'py>) -> PyResult<Run<'py>> {
        Run::new(common(edits("e", e)?, keywords)?, keywords)
    }

    fn new(config: Config, keywords: &Keywords<'py>) -> PyResult<Run<'py>> {
        let (context, progress) = (keywords.context()?, keywords.object("progress")?);
        config.validate().or_raise(keywords.py())?;
        Ok(Run { config, context, progress, reference: keywords.path("reference")? })
    }

    /// Returns the patterns in an argument, after a check that none would match everywhere.
    fn patterns(&self, given: &Bound<'_, PyAny>) -> PyResult<patterns::Given<Pattern>> {
        let patterns = patterns::patterns(given)?;
        self.check(given.py(), &patterns.all)?;
        Ok(patterns)
    }

    /// Returns the primers in an argument, after a check that none would match everywhere.
    fn primers(&self, given: &Bound<'_, PyAny>) -> PyResult<Vec<PrimerPair>> {
        let pairs = patterns::primers(given)?.all;
        let both = pairs.iter().flat_map(|pair| [pair.forward.clone(), pair.reverse.clone()]);
        self.check(given.py(), &both.collect::<Vec<_>>())?;
        Ok(pairs)
    }

    /// Checks patterns before texts are read.
    fn check(&self, py: Python<'_>, patterns: &[Pattern]) -> PyResult<()> {
        find::<&[u8]>(&self.config, patterns, &[]).or_raise(py).map(drop)
    }

    fn texts(&self, given: &Bound<'_, PyAny>) -> PyResult<Texts> {
        let kept = sequences::texts("texts", given, &self.context.temp_dir)?;
        let inputs = kept.with_reference(self.reference.as_deref());
        Ok(Texts { inputs, are_files: kept.are_files(), _kept: kept })
    }

    /// Returns the rows of the table that `job` writes.
    fn rows(
        &self,
        py: Python<'_>,
        texts: &Texts,
        columns: &[(&'static str, Kind)],
        job: impl FnOnce(Output, &Context) -> Result<Outcome, Error> + Send,
    ) -> PyResult<Rows> {
        let lines = Lines::new(columns, texts.are_files, self.context.budget());
        let lines = call::run(py, &self.context, self.progress.as_ref(), |context| {
            let is_full = AtomicBool::new(false);
            let job = |path: &Path| job(OutputSet::alone().output(path)?, context);
            let done = pipe::through::<_, _, Error>(job, |text| {
                lines.read(text).inspect_err(|error| {
                    if error.kind() == ErrorKind::OutOfMemory {
                        is_full.store(true, Ordering::Relaxed);
                        // The rest would be dropped.
                        context.cancel.cancel();
                    }
                })
            });
            match is_full.into_inner() {
                true => Err(Error::TooMany { place: "texts".to_owned() }),
                false => done.map(|(_, lines)| lines),
            }
        })?;
        lines.rows()
    }
}

/// Takes the options that patterns and primers have.
fn common(threshold: Threshold, keywords: &Keywords<'_>) -> PyResult<Config> {
    Ok(Config {
        hamming: keywords.flag("hamming")?,
        n_matches: keywords.flag("match_n")?,
        overhang: keywords.take("overhang")?,
        seed: keywords.named("seed")?,
        ..Config::new(threshold)
    })
}

/// Returns the rows of the number of hits of each pattern.
fn counted(outcome: &Outcome, patterns: &[Pattern]) -> PyResult<Rows> {
    let (mut names, mut letters) = (StringBuilder::new(), StringBuilder::new());
    let mut total = UInt64Builder::new();
    for (pattern, hits) in patterns.iter().zip(&outcome.hits) {
        names.append_value(pattern.name());
        letters.append_value(String::from_utf8_lossy(pattern.letters()));
        total.append_value(hits.iter().sum());
    }
    let mut columns =
        Columns::new().with("pattern", names.finish()).with("letters", letters.finish());
    for edits in 0..outcome.hits.iter().map(Vec::len).max().unwrap_or(0) {
        let mut counts = UInt64Builder::new();
        outcome.hits.iter().for_each(|hits| counts.append_option(hits.get(edits).copied()));
        columns = columns.optional(&format!("edits_{edits}"), counts.finish());
    }
    columns.with("total", total.finish()).rows()
}
