//! Reading of text files line by line, plain or compressed, without a copy of each line.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::{FileKind, in_stream, uninterrupted};

/// An error of reading a text.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// Stdin cannot be read.
    #[error(transparent)]
    Io(#[from] crate::Error),
    /// The file is not a text of lines.
    #[error("{}: {reason}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The problem and the remedy.
        reason: String,
    },
    /// The file could not be opened or read.
    #[error("{}: {}", path.display(), crate::reason(source))]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
}

/// The lines of a file, numbered from 1.
pub struct Lines {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    line: Vec<u8>,
    number: u64,
    is_open: bool,
}

impl Lines {
    /// Opens a file, which may be compressed in any format that is accepted for sequence files.
    pub fn open(path: &Path) -> Result<Lines, TextError> {
        if let Some(kind) = FileKind::of_path(path).filter(|kind| !kind.is_text()) {
            return Err(content(path, kind.instead_of("a text of lines", None)));
        }
        let text = crate::open_text(path)
            .map_err(|source| TextError::File { path: path.to_owned(), source })?;
        Ok(Lines::of(path, text))
    }

    fn of(path: &Path, text: Box<dyn Read + Send>) -> Lines {
        let reader = Box::new(BufReader::with_capacity(1 << 18, text));
        Lines { path: path.to_owned(), reader, line: Vec::new(), number: 0, is_open: false }
    }

    /// Opens a file as [`open`](Self::open) does, or stdin if `path` is `-`.
    pub fn open_or_stdin(path: &Path) -> Result<Lines, TextError> {
        match path.as_os_str() == "-" {
            true => {
                let path = shown(path);
                let text = crate::decompress(crate::stdin()?);
                let text = text.map_err(|source| TextError::File { path: path.into(), source })?;
                Ok(Lines::of(path, text))
            }
            false => Lines::open(path),
        }
    }

    /// Returns the next line without its line end, and its number.
    ///
    /// # Errors
    /// If the file cannot be read, or if a line is longer than the limit for lines of tables.
    pub fn next_line(&mut self) -> Result<Option<(u64, &[u8])>, TextError> {
        self.line.clear();
        if self.number == 0 {
            self.refuse_stream()?;
        }
        let number = self.number + 1;
        let read = crate::read_table_line(&mut self.reader, &mut self.line, number);
        let read = read.map_err(|source| TextError::File { path: self.path.clone(), source })?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        let line = self.line.strip_suffix(b"\n");
        self.is_open = line.is_none();
        let line = line.unwrap_or(&self.line);
        Ok(Some((self.number, line.strip_suffix(b"\r").unwrap_or(line))))
    }

    /// Checks that a pipe does not hold a file of a kind that cannot be read from a pipe.
    fn refuse_stream(&mut self) -> Result<(), TextError> {
        let Lines { path, reader, .. } = self;
        let failed = |source| TextError::File { path: path.clone(), source };
        let first = |bytes: &[u8]| bytes[..bytes.len().min(512)].to_vec();
        let head = uninterrupted(|| reader.fill_buf().map(first)).map_err(failed)?;
        match in_stream(path, &head) {
            Some(reason) => Err(content(path, reason)),
            None => Ok(()),
        }
    }

    /// Whether the last line that was read has no line end, as in a file that was cut.
    pub fn is_open(&self) -> bool {
        self.is_open
    }
}

/// Returns the name of an input for messages: `stdin` for `-`.
pub fn shown(path: &Path) -> &Path {
    if path.as_os_str() == "-" { Path::new("stdin") } else { path }
}

fn content(path: &Path, reason: impl Into<String>) -> TextError {
    TextError::Content { path: path.to_owned(), reason: reason.into() }
}
