//! Reader of lines of results; it uses only the first three columns.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use memchr::{memchr, memrchr};
use merganser_io::{BYTE_ORDER_MARK, FileKind};

use crate::Error;
use merganser_io::shown;

/// The maximum size of the first three columns in bytes; no name is that long.
const MAX: usize = 1 << 20;

/// A reader of the lines of a file; lines may have any length.
pub(super) struct ReadLines {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    number: u64,
    /// The beginning of a line that spans two buffers.
    split: Vec<u8>,
}

/// The content of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ReadLine {
    /// The name of the read.
    pub(super) name: Vec<u8>,
    /// The taxid of the read; 0 if it is unclassified.
    pub(super) taxid: u64,
}

impl ReadLines {
    /// Opens a file, with any compression that inputs may have; `-` is stdin.
    pub(super) fn open(path: &Path) -> Result<ReadLines, Error> {
        let is_stdin = path.as_os_str() == "-";
        let kind = if is_stdin { None } else { FileKind::of_path(path) };
        if let Some(kind) = kind.filter(|kind| !kind.is_text()) {
            return Err(Error::content(
                path,
                kind.instead_of("the lines of classified reads", None),
            ));
        }
        let text = match is_stdin {
            true => merganser_io::decompress(merganser_io::stdin()?),
            false => merganser_io::open_text(path),
        };
        let path = shown(path);
        let text = text.map_err(|source| Error::File { path: path.to_owned(), source })?;
        let reader = Box::new(BufReader::with_capacity(1 << 18, text));
        Ok(ReadLines { path: path.to_owned(), reader, number: 0, split: Vec::new() })
    }

    /// Returns the number of lines so far.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Reads the next line into `line`; returns `false` at the end of the file.
    ///
    /// # Errors
    /// If reading fails; if the line is malformed or has no line end.
    pub(super) fn next(&mut self, line: &mut ReadLine) -> Result<bool, Error> {
        let failed = |source| Error::File { path: self.path.clone(), source };
        let buffer = self.reader.fill_buf().map_err(failed)?;
        if buffer.is_empty() {
            return Ok(false);
        }
        self.number += 1;
        let Some(end) = memchr(b'\n', buffer) else { return self.next_split(line).map(|()| true) };
        let parsed = line.parse(text(&buffer[..end], self.number));
        self.reader.consume(end + 1);
        parsed.map(|()| true).map_err(|what| self.error(&what))
    }

    /// Reads a line that continues after the buffer.
    fn next_split(&mut self, line: &mut ReadLine) -> Result<(), Error> {
        self.split.clear();
        loop {
            let failed = |source| Error::File { path: self.path.clone(), source };
            let buffer = self.reader.fill_buf().map_err(failed)?;
            if buffer.is_empty() {
                return Err(self.error("it has no line end: the file is cut short"));
            }
            let end = memchr(b'\n', buffer);
            let part = &buffer[..end.unwrap_or(buffer.len())];
            let wanted = part.len().min(MAX - self.split.len());
            self.split.extend_from_slice(&part[..wanted]);
            let used = end.map_or(buffer.len(), |end| end + 1);
            self.reader.consume(used);
            if end.is_some() {
                let parsed = line.parse(text(&self.split, self.number));
                return parsed.map_err(|what| self.error(&what));
            }
        }
    }

    /// Returns an error about the last line.
    pub(super) fn error(&self, what: &str) -> Error {
        Error::content(&self.path, format!("line {}: {what}", self.number))
    }
}

/// Returns a line without the byte order mark that the first one may have.
fn text(line: &[u8], number: u64) -> &[u8] {
    let marked = (number == 1).then(|| line.strip_prefix(BYTE_ORDER_MARK)).flatten();
    marked.unwrap_or(line)
}

impl ReadLine {
    /// Whether the line belongs to a read with one of these names.
    pub(super) fn is_of(&self, names: &[&[u8]]) -> bool {
        names.iter().any(|name| self.name == *name)
    }

    fn parse(&mut self, text: &[u8]) -> Result<(), String> {
        let mut cells = text.splitn(4, |&byte| byte == b'\t');
        let (Some(b"C" | b"U"), Some(name), Some(taxon)) =
            (cells.next(), cells.next(), cells.next())
        else {
            return Err(other(text));
        };
        if name.is_empty() {
            return Err("the name of the read is missing".into());
        }
        self.name.clear();
        self.name.extend_from_slice(name);
        self.taxid = taxid(taxon.strip_suffix(b"\r").unwrap_or(taxon))
            .ok_or_else(|| format!("'{}' is not a taxid", String::from_utf8_lossy(taxon)))?;
        Ok(())
    }
}

/// Returns an error that names the format that a line seems to have instead.
fn other(text: &[u8]) -> String {
    let columns = text.iter().filter(|&&byte| byte == b'\t').count() + 1;
    let what = if text.starts_with(b"#") || memchr::memmem::find(text, b"\t|\t").is_some() {
        "this is MetaCache's table"
    } else if matches!(columns, 6 | 8) {
        "this is a report"
    } else {
        "these are not Kraken's columns (C or U, the read's name, its taxid)"
    };
    format!("{what}: give what `classify -o` or Kraken 2 wrote, a line for each read")
}

/// Parses the taxid of `562` or of `Escherichia coli (taxid 562)`.
fn taxid(text: &[u8]) -> Option<u64> {
    let digits = match text.strip_suffix(b")") {
        Some(named) => {
            let at = memrchr(b'(', named)?;
            named[at..].strip_prefix(b"(taxid ")?
        }
        None => text,
    };
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |number, &digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(text: &[u8], buffer: usize) -> Result<Vec<(String, u64)>, String> {
        let reader =
            Box::new(BufReader::with_capacity(buffer, std::io::Cursor::new(text.to_vec())));
        let mut lines = ReadLines { path: "x".into(), reader, number: 0, split: Vec::new() };
        let (mut found, mut line) = (Vec::new(), ReadLine::default());
        while lines.next(&mut line).map_err(|error| error.to_string())? {
            found.push((String::from_utf8_lossy(&line.name).into_owned(), line.taxid));
        }
        Ok(found)
    }

    #[test]
    fn lines_of_all_kinds_in_buffers_of_any_size() {
        let text = b"C\ta\t562\t100\t562:3\nU\tb/1\t0\t5|7\t0:0\nC\tc\tE. coli (K-12) (taxid 83333)\t1\t\n\
                     C\td\t18446744073709551615\r\n";
        let expected = [("a", 562), ("b/1", 0), ("c", 83333), ("d", u64::MAX)];
        let expected = expected.map(|(name, taxid)| (name.to_owned(), taxid));
        for buffer in [1, 2, 7, 64, 4096] {
            assert_eq!(all(text, buffer).unwrap(), expected);
        }
        let mut long = b"C\ta\t5\t".to_vec();
        long.resize(3 << 20, b'x');
        long.extend_from_slice(b"\nU\tb\t0\t\n");
        assert_eq!(all(&long, 1000).unwrap(), [("a".to_owned(), 5), ("b".to_owned(), 0)]);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_lines() {
        let text = b"\xef\xbb\xbfC\ta\t5\r\nU\tb\t0\r\n";
        for buffer in [1, 2, 4096] {
            assert_eq!(all(text, buffer).unwrap(), [("a".to_owned(), 5), ("b".to_owned(), 0)]);
        }
        assert!(all(b"C\ta\t5\n\xef\xbb\xbfC\tb\t5\n", 8).is_err());
    }

    #[test]
    fn what_is_no_line_is_said() {
        for (text, message) in [
            (&b"C\ta\t5\nC\tb\t5"[..], "x: line 2: it has no line end: the file is cut short"),
            (b"C\ta\tfive\n", "x: line 1: 'five' is not a taxid"),
            (b"C\ta\t\n", "x: line 1: '' is not a taxid"),
            (b"C\ta\tx (taxon 5)\n", "x: line 1: 'x (taxon 5)' is not a taxid"),
            (b"C\ta\t18446744073709551616\n", "x: line 1: '18446744073709551616' is not a taxid"),
            (b"C\t\t5\n", "x: line 1: the name of the read is missing"),
        ] {
            assert_eq!(all(text, 8).unwrap_err(), message);
        }
        for (text, what) in [
            (&b"\n"[..], "these are not Kraken's columns"),
            (b"@r1\n", "these are not Kraken's columns"),
            (b"Classified\ta\t5\n", "these are not Kraken's columns"),
            (b" 1.0\t5\t5\tS\t5\t  x\n", "this is a report"),
            (b"# Reads\n", "this is MetaCache's table"),
            (b"r1\t|\tspecies:x\n", "this is MetaCache's table"),
        ] {
            let message = all(text, 64).unwrap_err();
            assert!(message.starts_with(&format!("x: line 1: {what}")), "{message}");
        }
        let mut endless = b"C\t".to_vec();
        endless.resize(2 << 20, b'x');
        endless.push(b'\n');
        assert!(all(&endless, 1000).unwrap_err().contains("not Kraken's columns"));
    }

    const PARTS: &[&[u8]] = &[
        b"C\tr\t5\tx\n",
        b"U\t",
        b"\t",
        b"\n",
        b"562",
        b"C\ta b\tx (taxid 9)\t\n",
        b"(taxid ",
        b")",
        b"\xff#",
    ];

    proptest! {
        /// Any file is read to its end or refused, with the same result for all buffer sizes.
        #[test]
        fn any_bytes_are_lines_or_refused(
            parts in proptest::collection::vec(
                proptest::sample::select(PARTS),
                0..12,
            ),
            buffer in 1usize..40,
        ) {
            let text = parts.concat();
            prop_assert_eq!(all(&text, buffer), all(&text, 1 << 16));
            let sound = all(&text, buffer);
            let whole = text.is_empty() || text.ends_with(b"\n");
            prop_assert!(sound.is_err() || whole);
            let lines = text.iter().filter(|&&byte| byte == b'\n').count();
            prop_assert!(sound.is_err() || sound.is_ok_and(|found| found.len() == lines));
        }
    }
}
