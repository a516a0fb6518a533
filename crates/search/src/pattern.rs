//! Patterns: names, letters, and their sets of bases.

use std::path::{Path, PathBuf};

use crate::Error;
use crate::letters::{bases, reverse_complement};

/// The maximum number of letters of a pattern.
pub const MAX_PATTERN: usize = 128;

/// A pattern to search for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    name: String,
    letters: Vec<u8>,
    sets: Vec<u8>,
    /// The file and the line, unless it was given by its letters.
    place: Option<(PathBuf, u64)>,
}

impl Pattern {
    /// Creates a pattern of IUPAC letters in either case; U is read as T.
    ///
    /// # Errors
    /// If there are no letters or more than [`MAX_PATTERN`], or a byte is not an IUPAC letter.
    pub fn new(name: impl Into<String>, letters: &[u8]) -> Result<Pattern, Error> {
        let name = name.into();
        let sets: Vec<u8> = letters.iter().map(|&letter| bases(letter)).collect();
        let problem = match sets.iter().position(|&bases| bases == 0) {
            Some(at) => {
                let shown = merganser_io::shown_byte(letters[at]);
                format!(
                    "{shown} at letter {} is no IUPAC letter of DNA: use A, C, G, T, U and RYSWKMBDHVN",
                    at + 1
                )
            }
            None if sets.is_empty() => "it has no letters".to_owned(),
            None if sets.len() > MAX_PATTERN => {
                format!("it has {} letters; a pattern has at most {MAX_PATTERN}", sets.len())
            }
            None => {
                let letters = letters.to_ascii_uppercase();
                return Ok(Pattern { name, letters, sets, place: None });
            }
        };
        Err(Error::Pattern { name, problem })
    }

    /// Sets the file and the line that messages name.
    pub(crate) fn at(self, path: &Path, line: u64) -> Pattern {
        Pattern { place: Some((path.to_owned(), line)), ..self }
    }

    /// Returns the file and the line, if it is from a file.
    pub(crate) fn place(&self) -> Option<(&Path, u64)> {
        self.place.as_ref().map(|(path, line)| (path.as_path(), *line))
    }

    /// Returns the error of a problem with this pattern.
    pub(crate) fn error(&self, problem: String) -> Error {
        let name = self.name.clone();
        match self.place() {
            Some((path, line)) => {
                Error::content(path, format!("line {line}: pattern {name}: {problem}"))
            }
            None => Error::Pattern { name, problem },
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the letters, in upper case.
    pub fn letters(&self) -> &[u8] {
        &self.letters
    }

    /// Returns the set of bases of each letter.
    pub(crate) fn sets(&self) -> &[u8] {
        &self.sets
    }

    /// Returns the sets of the reverse complement.
    pub(crate) fn reverse_sets(&self) -> Vec<u8> {
        reverse_complement(&self.sets)
    }
}
