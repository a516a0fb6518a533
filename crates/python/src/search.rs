//! `merganser.search`.

use std::ops::Range;

use arrow_array::builder::{BooleanBuilder, StringBuilder, UInt32Builder, UInt64Builder};
use merganser_run::{Context, Unit, each_in_order};
use merganser_search::{Config, Error, Hit, Pattern, find};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::call;
use crate::columns::Columns;
use crate::errors::{OrRaise, mistyped, wrong};
use crate::keywords::{Keywords, edits};
use crate::rows::Rows;
use crate::sequences::sequences;

/// The number of letters of the texts that a thread searches at a time, or one text.
const AT_ONCE: usize = 1 << 20;

/// Finds every place of short patterns, such as guides, primers and barcodes, in texts.
///
/// Args:
///     patterns: The patterns, of IUPAC letters: bytes or str, a pair of a name and letters, several of these, or a
///         dict of names and letters.
///     texts: The sequences to search: bytes, an iterable of bytes, or an array as for `filter`.
///     edits: The maximum number of edits: an int, or per cent of the pattern's length as a text, such as "10%".
///     hamming: Allow only substitutions.
///     strand: The strands to search: "both", "forward" or "reverse".
///     match_n: Let N in a text match every letter; otherwise it matches none.
///     all_ends: Report every end of an alignment, not only the best one of each place.
///     overhang: The edits, 0 to 1, that each letter of a pattern outside a text counts as; None if patterns may not
///         extend beyond a text.
///     pam: The letters that must follow a pattern exactly, such as "NGG". They are part of the hit.
///     pam_first: The PAM comes before the pattern.
///     seed: As "12:1", allow only one edit in the 12 letters next to the PAM; without a PAM, at the pattern's end.
///     threads: The number of threads; None for one per processor. A text is searched by one thread.
///     progress: As for `count`.
///
/// Returns:
///     Rows with the numbers of `text` and `pattern`, from 0, `start`, `end` (exclusive), `edits`, `reverse` and
///     `cigar`, in the order of text, start, end, pattern and strand.
///
/// Raises:
///     ArgumentError: If options exclude each other or are out of range.
///     InputError: If there is no pattern, a pattern has other letters, or matches everywhere with so many edits.
///
/// >>> import merganser
/// >>> hits = merganser.search("GATTACA", [b"TTGATTACATT", b"TTTGTAGTCTT"], 1)
/// >>> hits["text"].tolist(), hits["start"].tolist(), hits["edits"].tolist(), hits["reverse"].tolist(), hits["cigar"]
/// ([0, 1], [2, 2], [0, 1], [False, True], ['7=', '5=1X1='])
#[pyfunction]
#[pyo3(
    signature = (patterns, texts, edits, **options),
    text_signature = "(patterns, texts, edits, *, hamming=False, strand='both', match_n=False, all_ends=False, overhang=None, pam=None, pam_first=False, seed=None, threads=None, progress=None)"
)]
pub(crate) fn search(
    py: Python<'_>,
    patterns: &Bound<'_, PyAny>,
    texts: &Bound<'_, PyAny>,
    edits: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Rows> {
    let keywords = Keywords::new(py, "search", options)?;
    let (context, progress) = (keywords.context()?, keywords.object("progress")?);
    let config = config(edits, &keywords)?;
    keywords.finish()?;
    config.validate().or_raise(py)?;
    let patterns = patterns_of(patterns)?;
    // Checks the patterns if there are no texts, too.
    find::<&[u8]>(&config, &patterns, &[]).or_raise(py)?;
    let hits = match texts.cast::<PyBytes>() {
        Ok(text) => hits(py, &config, &patterns, &[text.as_bytes()], &context, progress.as_ref()),
        Err(_) => {
            let texts = sequences("texts", texts)?;
            hits(py, &config, &patterns, &texts.slices()?, &context, progress.as_ref())
        }
    }?;
    rows(&hits)
}

/// Takes the options of a search.
fn config(given: &Bound<'_, PyAny>, keywords: &Keywords<'_>) -> PyResult<Config> {
    Ok(Config {
        hamming: keywords.flag("hamming")?,
        strand: keywords.named("strand")?.unwrap_or_default(),
        n_matches: keywords.flag("match_n")?,
        all_ends: keywords.flag("all_ends")?,
        overhang: keywords.take("overhang")?,
        pam: keywords.named("pam")?,
        pam_first: keywords.flag("pam_first")?,
        seed: keywords.named("seed")?,
        ..Config::new(edits("edits", given)?)
    })
}

/// Returns the patterns in an argument.
fn patterns_of(given: &Bound<'_, PyAny>) -> PyResult<Vec<Pattern>> {
    let py = given.py();
    let patterns: Vec<Pattern> = if letters(given)?.is_some() {
        vec![pattern(given)?]
    } else if let Ok(named) = given.cast::<PyDict>() {
        named.items().iter().map(|pair| pattern(&pair)).collect::<PyResult<_>>()?
    } else {
        let items = given.try_iter().map_err(|_| not_patterns(given))?;
        items.map(|item| pattern(&item?)).collect::<PyResult<_>>()?
    };
    match patterns.is_empty() {
        true => Err(wrong(py, "patterns", "there are none: give at least one")),
        false => Ok(patterns),
    }
}

/// Returns the pattern in an item: letters, which are its name, too, or a pair of a name and letters.
fn pattern(item: &Bound<'_, PyAny>) -> PyResult<Pattern> {
    let (name, letters) = match letters(item)? {
        Some(letters) => (String::from_utf8_lossy(&letters).into_owned(), letters),
        None => {
            let (name, own): (String, Bound<'_, PyAny>) =
                item.extract().map_err(|_| not_patterns(item))?;
            (name, letters(&own)?.ok_or_else(|| not_patterns(&own))?)
        }
    };
    Pattern::new(name, &letters).or_raise(item.py())
}

/// Returns the letters in bytes or a str; `None` if the object is neither.
fn letters(object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u8>>> {
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(Some(bytes.as_bytes().to_vec()));
    }
    match object.cast::<PyString>() {
        Ok(text) => Ok(Some(text.to_cow()?.as_bytes().to_vec())),
        Err(_) => Ok(None),
    }
}

fn not_patterns(object: &Bound<'_, PyAny>) -> PyErr {
    match object.get_type().name() {
        Ok(kind) => mistyped(
            "patterns",
            format!("give letters as bytes or str, pairs of a name and letters, or a dict, not {kind}"),
        ),
        Err(error) => error,
    }
}

/// Searches texts without the interpreter's lock; returns the hits of each text.
fn hits(
    py: Python<'_>,
    config: &Config,
    patterns: &[Pattern],
    texts: &[&[u8]],
    context: &Context,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Vec<Hit>>> {
    let parts = parts(texts);
    call::run(py, context, progress, |context| {
        let progress = &*context.progress;
        progress.stage("searching texts", Unit::Steps, Some(texts.len() as u64));
        let numbers = 0..parts.len();
        let done = each_in_order(context.threads, numbers, &context.cancel, || (), |(), number| {
            let texts = &texts[parts[number].clone()];
            let hits = find(config, patterns, texts)?;
            progress.advance(texts.len() as u64);
            Ok::<_, Error>(hits)
        })?;
        progress.finish();
        Ok::<_, Error>(done.into_iter().flatten().collect())
    })
}

/// Divides texts into parts of about [`AT_ONCE`] letters.
fn parts(texts: &[&[u8]]) -> Vec<Range<usize>> {
    let (mut parts, mut start, mut letters) = (Vec::new(), 0, 0);
    for (number, text) in texts.iter().enumerate() {
        letters += text.len();
        if letters >= AT_ONCE || number + 1 == texts.len() {
            parts.push(start..number + 1);
            (start, letters) = (number + 1, 0);
        }
    }
    parts
}

/// Returns the rows of hits.
fn rows(hits: &[Vec<Hit>]) -> PyResult<Rows> {
    let (mut text, mut start, mut end) =
        (UInt64Builder::new(), UInt64Builder::new(), UInt64Builder::new());
    let (mut pattern, mut edits) = (UInt32Builder::new(), UInt32Builder::new());
    let (mut reverse, mut cigar) = (BooleanBuilder::new(), StringBuilder::new());
    for (number, hits) in (0..).zip(hits) {
        for hit in hits {
            text.append_value(number);
            pattern.append_value(hit.pattern as u32);
            start.append_value(hit.alignment.start as u64);
            end.append_value(hit.alignment.end as u64);
            edits.append_value(hit.edits as u32);
            reverse.append_value(hit.reverse);
            let operations = hit.alignment.operations.iter();
            let operations =
                operations.map(|(operation, count)| format!("{count}{}", operation.letter()));
            cigar.append_value(operations.collect::<String>());
        }
    }
    Columns::new()
        .with("text", text.finish())
        .with("pattern", pattern.finish())
        .with("start", start.finish())
        .with("end", end.finish())
        .with("edits", edits.finish())
        .with("reverse", reverse.finish())
        .with("cigar", cigar.finish())
        .rows()
}
