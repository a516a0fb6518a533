//! Patterns from files and from the command line: FASTA, or a pattern per line.

use std::collections::HashMap;
use std::path::Path;

use merganser_io::{Lines, check_cell, shown};
use merganser_run::thousands;

use crate::{Error, MAX_PATTERN, Pattern};

/// The maximum number of patterns. Each one takes about a kilobyte of memory, and some time for each letter of the text.
pub(crate) const MAX_PATTERNS: usize = 1 << 20;

/// Patterns with different names, in the order in which they were added.
///
/// ```
/// use merganser_search::Patterns;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("primers.fa");
/// # std::fs::write(&path, ">515F\nGTGYCAGCMGCCGCGGTAA\n>806R\nGGACTACNVGGGTWTCTAAT\n")?;
/// let mut patterns = Patterns::new();
/// patterns.read(&path)?;
/// patterns.add("ACGTN")?;
/// let names = patterns.all().iter().map(|pattern| pattern.name());
/// assert_eq!(names.collect::<Vec<_>>(), ["515F", "806R", "ACGTN"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    all: Vec<Pattern>,
    /// The number of the pattern with each name.
    numbers: HashMap<String, usize>,
}

impl Patterns {
    /// Returns an empty list.
    pub fn new() -> Patterns {
        Patterns::default()
    }

    /// Returns the patterns.
    pub fn all(&self) -> &[Pattern] {
        &self.all
    }

    /// Adds a pattern whose name is its letters.
    ///
    /// # Errors
    /// If it is not a pattern, or was added before.
    pub fn add(&mut self, letters: &str) -> Result<(), Error> {
        let pattern = Pattern::new(letters, letters.as_bytes())?;
        let name = || letters.to_owned();
        self.push(pattern).map_err(|problem| Error::Pattern { name: name(), problem })
    }

    /// Adds the patterns of a file, plain or compressed; `-` is stdin.
    ///
    /// In FASTA, the name of a pattern is the header up to the first blank. In other files each line is a pattern: its
    /// name, a tab and its letters, or its letters alone, which are then its name, too. Blank lines and lines that begin
    /// with `#` are skipped.
    ///
    /// # Errors
    /// If the file cannot be read or has no patterns, a pattern is invalid, or a name occurs twice.
    pub fn read(&mut self, path: &Path) -> Result<(), Error> {
        let before = self.all.len();
        let mut file = PatternFile { path: shown(path), patterns: self, open: None };
        let mut lines = Lines::open_or_stdin(path)?;
        while let Some((number, line)) = lines.next_line()? {
            let line = line.trim_ascii_end();
            if !line.is_empty() && line[0] != b'#' {
                file.take(number, line)?;
            }
        }
        file.close()?;
        if self.all.len() == before {
            let reason = "it has no patterns: give FASTA, or lines of NAME<TAB>LETTERS or LETTERS";
            return Err(Error::content(shown(path), reason));
        }
        Ok(())
    }

    /// Adds a pattern. Returns the problem if its name is unsuitable or known, or there are too many.
    fn push(&mut self, pattern: Pattern) -> Result<(), String> {
        let name = pattern.name();
        check_cell(name.as_ref())?;
        if self.all.len() == MAX_PATTERNS {
            let most = thousands(MAX_PATTERNS as u64);
            return Err(format!(
                "these are more than {most} patterns: search them in several runs"
            ));
        }
        if let Some(&first) = self.numbers.get(name) {
            let first = match self.all[first].place() {
                Some((path, line)) => format!("line {line} of {}", path.display()),
                None => "the command line".to_owned(),
            };
            let remedy = "leave one out, or give it another name";
            return Err(format!("{first} has a pattern of this name, too: {remedy}"));
        }
        self.numbers.insert(name.to_owned(), self.all.len());
        self.all.push(pattern);
        Ok(())
    }
}

/// A record of FASTA that is being read: the line of its header, its name and its letters so far.
struct OpenRecord {
    line: u64,
    name: String,
    letters: Vec<u8>,
}

/// A file of patterns that is being read.
struct PatternFile<'p> {
    path: &'p Path,
    patterns: &'p mut Patterns,
    /// The current record if the file is FASTA.
    open: Option<OpenRecord>,
}

impl PatternFile<'_> {
    /// Takes a line that is neither blank nor a comment.
    fn take(&mut self, number: u64, line: &[u8]) -> Result<(), Error> {
        if let Some(header) = line.strip_prefix(b">") {
            self.close()?;
            let end = header.iter().position(u8::is_ascii_whitespace).unwrap_or(header.len());
            let name = self.text(number, &header[..end])?;
            if name.is_empty() {
                return Err(self.wrong(number, "a header without a name: write >NAME"));
            }
            self.open = Some(OpenRecord { line: number, name, letters: Vec::new() });
            return Ok(());
        }
        match &mut self.open {
            Some(open) => {
                open.letters.extend_from_slice(line.trim_ascii());
                if open.letters.len() > MAX_PATTERN { self.close() } else { Ok(()) }
            }
            None => self.take_row(number, line),
        }
    }

    /// Takes a line of a file that is not FASTA.
    fn take_row(&mut self, number: u64, line: &[u8]) -> Result<(), Error> {
        let mut cells = line.split(|&byte| byte == b'\t');
        let (first, second) = (cells.next().unwrap_or_default(), cells.next());
        if cells.next().is_some() {
            let problem = "more than two columns: write NAME<TAB>LETTERS or LETTERS alone";
            return Err(self.wrong(number, problem));
        }
        let letters = second.unwrap_or(first).trim_ascii();
        let name = match second {
            Some(_) => first.trim_ascii(),
            None => letters,
        };
        if name.is_empty() {
            return Err(self.wrong(number, "a pattern without a name: write NAME<TAB>LETTERS"));
        }
        // The name may be as long as the letters: what is too long for a pattern is not shown whole.
        let name = if second.is_none() { &name[..name.len().min(MAX_PATTERN)] } else { name };
        let name = self.text(number, name)?;
        self.add(number, name, letters)
    }

    /// Adds the current record of FASTA.
    fn close(&mut self) -> Result<(), Error> {
        match self.open.take() {
            Some(OpenRecord { line, name, letters }) => self.add(line, name, &letters),
            None => Ok(()),
        }
    }

    fn add(&mut self, line: u64, name: String, letters: &[u8]) -> Result<(), Error> {
        let named = |name: &str, problem: String| {
            let shown = name.escape_default();
            Error::content(self.path, format!("line {line}: pattern {shown}: {problem}"))
        };
        let pattern = match Pattern::new(name, letters) {
            Err(Error::Pattern { name, problem }) => return Err(named(&name, problem)),
            other => other?,
        };
        let name = pattern.name().to_owned();
        let added = self.patterns.push(pattern.at(self.path, line));
        added.map_err(|problem| named(&name, problem))
    }

    fn text(&self, line: u64, name: &[u8]) -> Result<String, Error> {
        let text = std::str::from_utf8(name);
        let wrong = |_| self.wrong(line, "the name is not UTF-8: save the file as UTF-8");
        text.map(str::to_owned).map_err(wrong)
    }

    fn wrong(&self, line: u64, problem: &str) -> Error {
        Error::content(self.path, format!("line {line}: {problem}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: impl AsRef<[u8]>) -> Result<Vec<(String, String)>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p");
        std::fs::write(&path, text).unwrap();
        let mut patterns = Patterns::new();
        let failed = |error: Error| error.to_string().replace(&*path.to_string_lossy(), "p");
        patterns.read(&path).map_err(failed)?;
        let letters = |pattern: &Pattern| String::from_utf8_lossy(pattern.letters()).into_owned();
        Ok(patterns.all().iter().map(|one| (one.name().to_owned(), letters(one))).collect())
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, letters)| ((*name).to_owned(), (*letters).to_owned())).collect()
    }

    #[test]
    fn fasta_and_lines_are_read() {
        let fasta = "\u{feff}# primers\n\n>a x y\nACG\n TN \r\n\n>b\nacgu";
        assert_eq!(read(fasta).unwrap(), pairs(&[("a", "ACGTN"), ("b", "ACGU")]));
        let lines = "# guides\r\none two\tACG\r\n\nGGRC \nb\t ttt\nGGRCA";
        let expected = [("one two", "ACG"), ("GGRC", "GGRC"), ("b", "TTT"), ("GGRCA", "GGRCA")];
        assert_eq!(read(lines).unwrap(), pairs(&expected));
        // The same letters twice are two patterns.
        assert_eq!(read("a\tACG\nb\tACG\n").unwrap(), pairs(&[("a", "ACG"), ("b", "ACG")]));
        assert_eq!(read("A".repeat(128)).unwrap().len(), 1);
    }

    #[test]
    fn errors_name_the_line_and_the_remedy() {
        let long = "A".repeat(129);
        for (text, expected) in [
            ("", "p: it has no patterns: give FASTA, or lines of NAME<TAB>LETTERS or LETTERS"),
            ("# x\n\n", "p: it has no patterns: give FASTA, or lines of"),
            (">a\nACG\n>b\n>c\nA", "p: line 3: pattern b: it has no letters"),
            (
                "a\tACG\nb\tAC-G",
                "p: line 2: pattern b: '-' at letter 3 is no IUPAC letter of DNA: use",
            ),
            (">a\nAC\nGX", "p: line 1: pattern a: 'X' at letter 4 is no IUPAC letter"),
            (
                &format!("\nb\t{long}"),
                "p: line 2: pattern b: it has 129 letters; a pattern has at most 128",
            ),
            (&format!(">b\n{long}\n{long}"), "p: line 1: pattern b: it has 129 letters"),
            (
                "a\tAC\n\na\tAG",
                "p: line 3: pattern a: line 1 of p has a pattern of this name, too: leave one out",
            ),
            ("AC\nAC", "p: line 2: pattern AC: line 1 of p has a pattern of this name, too"),
            ("a\tACG\t3", "p: line 1: more than two columns: write NAME<TAB>LETTERS"),
            ("\tACG", "p: line 1: a pattern without a name: write NAME<TAB>LETTERS"),
            ("> \nACG", "p: line 1: a header without a name: write >NAME"),
            ("a\u{7}b\tACG", "p: line 1: pattern a\\u{7}b: the name "),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
            assert!(!error.contains('\n'), "{error}");
        }
        assert!(read(b"a\xff\tACG").unwrap_err().contains("line 1: the name is not UTF-8"));
    }

    #[test]
    fn names_are_different_in_all_files() {
        let mut patterns = Patterns::new();
        patterns.add("ACGT").unwrap();
        let error = patterns.add("ACGT").unwrap_err().to_string();
        let expected = "pattern ACGT: the command line has a pattern of this name, too: ";
        assert!(error.starts_with(expected), "{error}");
        let error = patterns.add("AC GT").unwrap_err().to_string();
        assert!(error.starts_with("pattern AC GT: byte 0x20 at letter 3"), "{error}");
    }
}
