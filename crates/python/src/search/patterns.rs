//! The patterns and the primers of a search.

use std::collections::HashSet;
use std::path::PathBuf;

use merganser_io::check_cell;
use merganser_search::{Error, MAX_PATTERN, Pattern, Patterns, PrimerPair};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMapping, PyString};

use crate::errors::{OrRaise, mistyped, raise, wrong};

/// Patterns or primers, and the file that they are from, if any.
pub(super) struct Given<T> {
    pub(super) all: Vec<T>,
    pub(super) file: Option<PathBuf>,
}

/// Returns the patterns in an argument: letters, several of these, pairs of a name and letters, a mapping, or a file.
pub(super) fn patterns(given: &Bound<'_, PyAny>) -> PyResult<Given<Pattern>> {
    let py = given.py();
    if given.hasattr("__fspath__")? {
        let (file, mut patterns) = (given.extract::<PathBuf>()?, Patterns::new());
        py.detach(|| patterns.read(&file)).or_raise(py)?;
        return Ok(Given { all: patterns.all().to_vec(), file: Some(file) });
    }
    let mut list = List::new("patterns");
    if letters(given)?.is_some() {
        list.add_pattern(given)?;
    } else {
        for item in items(given).ok_or_else(|| not_patterns(given))?? {
            list.add_pattern(&item?)?;
        }
    }
    list.finish(given, "give at least one pattern")
}

/// Returns the pairs of primers in an argument: a mapping of names and pairs, several of a name and two primers, or a
/// file.
pub(super) fn primers(given: &Bound<'_, PyAny>) -> PyResult<Given<PrimerPair>> {
    let py = given.py();
    if given.is_instance_of::<PyString>() || given.hasattr("__fspath__")? {
        let file: PathBuf = given.extract()?;
        let all = py.detach(|| PrimerPair::read(&file)).or_raise(py)?;
        return Ok(Given { all, file: Some(file) });
    }
    let mut list = List::new("primers");
    for item in items(given).ok_or_else(|| not_primers(given))?? {
        list.add_pair(&item?)?;
    }
    list.finish(given, "give at least one pair of primers")
}

type Items<'py> = Box<dyn Iterator<Item = PyResult<Bound<'py, PyAny>>> + 'py>;

/// Returns the items of a mapping, which are pairs, or of an iterable; `None` if the object is neither.
fn items<'py>(object: &Bound<'py, PyAny>) -> Option<PyResult<Items<'py>>> {
    if let Ok(named) = object.cast::<PyMapping>() {
        let pairs = named.items().and_then(|pairs| pairs.try_iter());
        return Some(pairs.map(|pairs| Box::new(pairs) as Items<'py>));
    }
    object.try_iter().ok().map(|items| Ok(Box::new(items) as Items<'py>))
}

/// Patterns or primers with different names.
struct List<T> {
    argument: &'static str,
    all: Vec<T>,
    names: HashSet<String>,
}

impl<T> List<T> {
    fn new(argument: &'static str) -> List<T> {
        List { argument, all: Vec::new(), names: HashSet::new() }
    }

    /// Adds what `new` makes if its name is new and can be a cell of a table.
    fn add(
        &mut self,
        py: Python<'_>,
        name: String,
        new: impl FnOnce(&str) -> Result<T, Error>,
    ) -> PyResult<()> {
        let number = self.all.len() + 1;
        let one = new(&name).map_err(|error| match &error {
            Error::Pattern { problem, .. } => {
                wrong(py, self.argument, format!("item {number}: {problem}"))
            }
            _ => raise(py, &error),
        })?;
        let problem = match check_cell(name.as_ref()) {
            Err(problem) => problem,
            Ok(()) if name.is_empty() => "the name is empty: give another name".to_owned(),
            Ok(()) if self.names.contains(&name) => format!(
                "an earlier item has the name '{name}', too: leave one out, or give it another name"
            ),
            Ok(()) => {
                self.names.insert(name);
                self.all.push(one);
                return Ok(());
            }
        };
        Err(wrong(py, self.argument, format!("item {number}: {problem}")))
    }

    fn finish(self, given: &Bound<'_, PyAny>, remedy: &str) -> PyResult<Given<T>> {
        match self.all.is_empty() {
            true => Err(wrong(given.py(), self.argument, format!("it is empty: {remedy}"))),
            false => Ok(Given { all: self.all, file: None }),
        }
    }
}

impl List<Pattern> {
    /// Adds the pattern in an item: letters, which are its name, too, or a pair of a name and letters.
    fn add_pattern(&mut self, item: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Some(letters) = letters(item)? {
            // More letters than a pattern has are an error, which does not show them.
            let name = String::from_utf8_lossy(&letters[..letters.len().min(MAX_PATTERN)]);
            return self.add(item.py(), name.into_owned(), |name| Pattern::new(name, letters));
        }
        let (name, own): (String, Bound<'_, PyAny>) =
            item.extract().map_err(|_| not_patterns(item))?;
        let letters = letters(&own)?.ok_or_else(|| not_patterns(&own))?;
        self.add(item.py(), name, |name| Pattern::new(name, letters))
    }
}

impl List<PrimerPair> {
    /// Adds the pair in an item: a name with the two primers, or with a pair of these.
    fn add_pair(&mut self, item: &Bound<'_, PyAny>) -> PyResult<()> {
        type Parts<'py> = (String, Bound<'py, PyAny>, Bound<'py, PyAny>);
        let (name, forward, reverse) = item.extract::<Parts<'_>>().or_else(|_| {
            let (name, pair): (String, Bound<'_, PyAny>) =
                item.extract().map_err(|_| not_primers(item))?;
            let (forward, reverse) = pair.extract().map_err(|_| not_primers(&pair))?;
            Ok::<_, PyErr>((name, forward, reverse))
        })?;
        let forward = letters(&forward)?.ok_or_else(|| not_primers(&forward))?;
        let reverse = letters(&reverse)?.ok_or_else(|| not_primers(&reverse))?;
        self.add(item.py(), name, |name| PrimerPair::new(name, forward, reverse))
    }
}

/// Returns the letters in bytes or a `str`; `None` if the object is neither.
fn letters<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<Option<&'a [u8]>> {
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(Some(bytes.as_bytes()));
    }
    match object.cast::<PyString>() {
        Ok(text) => Ok(Some(text.to_str()?.as_bytes())),
        Err(_) => Ok(None),
    }
}

fn not_patterns(object: &Bound<'_, PyAny>) -> PyErr {
    let remedy = "give letters as str or bytes, pairs of a name and letters, a dict of these, or a file as a PathLike";
    mistyped_as("patterns", remedy, object)
}

fn not_primers(object: &Bound<'_, PyAny>) -> PyErr {
    let remedy =
        "give a dict of names and pairs of primers, several of (NAME, FORWARD, REVERSE), or a file";
    mistyped_as("primers", remedy, object)
}

fn mistyped_as(argument: &str, remedy: &str, object: &Bound<'_, PyAny>) -> PyErr {
    match object.get_type().name() {
        Ok(kind) => mistyped(argument, format!("{remedy}, not {kind}")),
        Err(error) => error,
    }
}
