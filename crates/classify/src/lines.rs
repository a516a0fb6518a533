//! Text files line by line, plain or compressed, without a copy for each line.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use merganser_io::{FileKind, in_stream, uninterrupted};

use crate::Error;

/// The lines of a file, numbered from 1.
pub(crate) struct Lines {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    line: Vec<u8>,
    number: u64,
    is_open: bool,
}

impl Lines {
    /// Opens a file of any compression that sequences may have.
    pub(crate) fn open(path: &Path) -> Result<Lines, Error> {
        if let Some(kind) = FileKind::of_path(path).filter(|kind| !kind.is_text()) {
            return Err(Error::content(path, kind.instead_of("a text of lines", None)));
        }
        let text = merganser_io::open_text(path)
            .map_err(|source| Error::File { path: path.to_owned(), source })?;
        let reader = Box::new(BufReader::with_capacity(1 << 18, text));
        Ok(Lines { path: path.to_owned(), reader, line: Vec::new(), number: 0, is_open: false })
    }

    /// As [`open`](Self::open); `-` is stdin.
    pub(crate) fn open_or_stdin(path: &Path) -> Result<Lines, Error> {
        match path.as_os_str() == "-" {
            true => {
                merganser_io::stdin()?;
                Ok(Lines { path: shown(path).to_owned(), ..Lines::open("/dev/stdin".as_ref())? })
            }
            false => Lines::open(path),
        }
    }

    /// The next line with its number, without its end.
    ///
    /// # Errors
    /// As reading, and if a line is longer than that of any table.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, &[u8])>, Error> {
        self.line.clear();
        if self.number == 0 {
            self.refuse_stream()?;
        }
        let number = self.number + 1;
        let read = merganser_io::read_table_line(&mut self.reader, &mut self.line, number);
        let read = read.map_err(|source| Error::File { path: self.path.clone(), source })?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        let line = self.line.strip_suffix(b"\n");
        self.is_open = line.is_none();
        let line = line.unwrap_or(&self.line);
        Ok(Some((self.number, line.strip_suffix(b"\r").unwrap_or(line))))
    }

    /// Sees to it that a pipe holds no file that is read in another way.
    fn refuse_stream(&mut self) -> Result<(), Error> {
        let Lines { path, reader, .. } = self;
        let failed = |source| Error::File { path: path.clone(), source };
        let first = |bytes: &[u8]| bytes[..bytes.len().min(512)].to_vec();
        let head = uninterrupted(|| reader.fill_buf().map(first)).map_err(failed)?;
        match in_stream(path, &head) {
            Some(reason) => Err(Error::content(path, reason)),
            None => Ok(()),
        }
    }

    /// Whether the line that was read last has no end, as that of a file that was cut.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }
}

/// The name of an input in messages, which may be stdin (`-`).
pub(crate) fn shown(path: &Path) -> &Path {
    if path.as_os_str() == "-" { Path::new("stdin") } else { path }
}
