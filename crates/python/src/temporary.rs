//! Names of temporary files of sequences and results, which messages replace with the names of arguments.

use std::borrow::Cow;
use std::path::Path;

/// The beginning of the name of a temporary file.
pub(crate) const BEGINNING: &str = ".merganser-";
/// The end of the name of a temporary file of sequences.
pub(crate) const END: &str = ".fa";
/// The ends of the names of temporary results, and what messages call them.
const RESULTS: [(&str, &str); 2] = [(".mgk", "the table"), (".mgd", "the set")];

/// Returns the beginning of the name of a temporary file with the sequences of an argument.
pub(crate) fn beginning(argument: &str) -> String {
    format!("{BEGINNING}{argument}-")
}

/// Whether a path is that of a temporary file.
pub(crate) fn is_temporary(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(BEGINNING))
}

/// A path of a temporary file in a text.
struct Found<'t> {
    /// The text before and after the path.
    around: [&'t str; 2],
    /// The name of an argument for sequences, or of the kind of result.
    name: &'t str,
    is_argument: bool,
}

/// Finds the first path of a temporary file in a text.
fn find(text: &str) -> Option<Found<'_>> {
    text.match_indices(BEGINNING).find_map(|(at, _)| found(text, at))
}

/// Returns the path whose last part begins at `at`, if it is that of a temporary file.
fn found(text: &str, at: usize) -> Option<Found<'_>> {
    let start = text[..at].rfind([' ', '\'', '"', '(']).map_or(0, |before| before + 1);
    let rest = &text[at + BEGINNING.len()..];
    let is_random = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    for (end, name) in RESULTS {
        if let Some((random, after)) = rest.split_once(end)
            && is_random(random)
        {
            return Some(Found { around: [&text[..start], after], name, is_argument: false });
        }
    }
    let (argument, rest) = rest.split_once('-')?;
    let (random, after) = rest.split_once(END)?;
    let is_name = argument.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    (is_name && is_random(random)).then_some(Found {
        around: [&text[..start], after],
        name: argument,
        is_argument: true,
    })
}

/// Returns the argument whose sequences are in the first temporary file that a text names.
pub(crate) fn argument_of(text: &str) -> Option<&str> {
    find(text).filter(|found| found.is_argument).map(|found| found.name)
}

/// Replaces the paths of temporary files in a message with the names of arguments, or of the kinds of results.
pub(crate) fn with_arguments(message: &str) -> Cow<'_, str> {
    let Some(Found { around: [before, after], name, .. }) = find(message) else {
        return Cow::Borrowed(message);
    };
    Cow::Owned(format!("{before}{name}{}", with_arguments(after)))
}
