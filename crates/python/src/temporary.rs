//! Names of temporary files of sequences, which messages replace with the names of arguments.

use std::borrow::Cow;

/// The beginning of the name of a temporary file of sequences.
const BEGINNING: &str = ".merganser-";
/// Its end.
pub(crate) const END: &str = ".fa";

/// Returns the beginning of the name of a temporary file with the sequences of an argument.
pub(crate) fn beginning(argument: &str) -> String {
    format!("{BEGINNING}{argument}-")
}

/// A path of a temporary file in a text.
struct Found<'t> {
    /// The text before and after the path.
    around: [&'t str; 2],
    argument: &'t str,
}

/// Finds the first path of a temporary file in a text.
fn find(text: &str) -> Option<Found<'_>> {
    text.match_indices(BEGINNING).find_map(|(at, _)| found(text, at))
}

/// Returns the path whose last part begins at `at`, if it is that of a temporary file of sequences.
fn found(text: &str, at: usize) -> Option<Found<'_>> {
    let (argument, rest) = text[at + BEGINNING.len()..].split_once('-')?;
    let (random, after) = rest.split_once(END)?;
    let is_name = argument.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if !is_name || !random.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let start = text[..at].rfind([' ', '\'', '"', '(']).map_or(0, |before| before + 1);
    Some(Found { around: [&text[..start], after], argument })
}

/// Returns the argument whose sequences are in the first temporary file that a text names.
pub(crate) fn argument_of(text: &str) -> Option<&str> {
    find(text).map(|found| found.argument)
}

/// Replaces the paths of temporary files in a message with the names of arguments.
pub(crate) fn with_arguments(message: &str) -> Cow<'_, str> {
    let Some(Found { around: [before, after], argument }) = find(message) else {
        return Cow::Borrowed(message);
    };
    Cow::Owned(format!("{before}{argument}{}", with_arguments(after)))
}
