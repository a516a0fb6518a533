//! Reading of the lines of small text tables: lists of files, sheets, maps, taxonomies.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use crate::beginning::{BYTE_ORDER_MARK, is_utf16};
use crate::stream::check_open;

/// The maximum size of a line in bytes. Paths have up to 4 KiB, and no line of these tables reaches a tenth of the
/// limit.
const MAX: u64 = 1 << 20;
/// The maximum size of a sheet in bytes, which is enough for more than a hundred thousand lines.
const MAX_TOTAL: usize = 16 << 20;

/// Appends the next line to `line`, with its line end, and returns its length, or 0 at the end of the text.
/// `number` is the number of the line, from 1; a byte order mark before the first line is skipped.
///
/// # Errors
/// If the text cannot be read or is UTF-16, or if the line has more than 1 MiB; then only that much of it is read.
pub fn read_table_line(
    text: &mut dyn BufRead,
    line: &mut Vec<u8>,
    number: u64,
) -> io::Result<usize> {
    let read = text.take(MAX + 1).read_until(b'\n', line)?;
    if read as u64 > MAX {
        let problem = format!(
            "line {number}: a line of more than {}, which no such file has: is this the right file?",
            merganser_run::format_size(MAX)
        );
        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    }
    let start = line.len() - read;
    if number == 1 && is_utf16(&line[start..]) {
        let problem =
            "line 1: this is UTF-16, as spreadsheets save \"Unicode text\": save it as UTF-8";
        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    }
    if number == 1 && line[start..].starts_with(BYTE_ORDER_MARK) {
        line.drain(start..start + BYTE_ORDER_MARK.len());
        // A file that contains only the mark has no line.
        return Ok(read - BYTE_ORDER_MARK.len());
    }
    Ok(read)
}

/// Calls `take` with each line of a list, a histogram or a similar file, without its line end, and with its number,
/// from 1.
///
/// # Errors
/// See [`read_table_line`]; also if `take` fails.
pub fn each_table_line<E: From<io::Error>>(
    path: &Path,
    take: impl FnMut(u64, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    check_open(path)?;
    each_line(&mut BufReader::new(File::open(path)?), take)
}

/// Calls `take` with the lines of an open text, as [`each_table_line`] does.
///
/// # Errors
/// If a line cannot be read, has more than 1 MiB or is UTF-16, or if `take` fails.
pub fn each_line<E: From<io::Error>>(
    text: &mut dyn BufRead,
    mut take: impl FnMut(u64, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let (mut line, mut number) = (Vec::new(), 1);
    while read_table_line(text, &mut line, number)? > 0 {
        take(number, line.strip_suffix(b"\n").unwrap_or(&line))?;
        line.clear();
        number += 1;
    }
    Ok(())
}

/// Reads a whole sheet.
///
/// # Errors
/// See [`read_table_line`]; also if it has more than 16 MiB.
pub fn read_table(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    each_table_line(path, |_, line| {
        if text.len() + line.len() > MAX_TOTAL {
            let most = merganser_run::format_size(MAX_TOTAL as u64);
            let problem =
                format!("more than {most}, which no such file has: is this the right file?");
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        text.extend_from_slice(line);
        text.push(b'\n');
        Ok(())
    })?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_without_end_are_refused_early() {
        let mut text = BufReader::new(b"a\n\nb".chain(io::repeat(b'x')));
        let mut line = Vec::new();
        for expected in [&b"a\n"[..], b"\n"] {
            line.clear();
            assert_eq!(read_table_line(&mut text, &mut line, 1).unwrap(), expected.len());
            assert_eq!(line, expected);
        }
        line.clear();
        let error = read_table_line(&mut text, &mut line, 3).unwrap_err().to_string();
        assert!(error.starts_with("line 3: a line of more than 1.00 MiB"), "{error}");
        assert!(line.len() < 2 << 20);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_text() {
        let lines = |text: &[u8]| {
            let (mut text, mut lines) = (BufReader::new(text), Vec::new());
            for number in 1.. {
                let mut line = b">".to_vec();
                if read_table_line(&mut text, &mut line, number)? == 0 {
                    return Ok(lines);
                }
                lines.push(String::from_utf8(line).unwrap());
            }
            unreachable!("lines end")
        };
        let ok = |text: &[u8]| -> Vec<String> { lines(text).unwrap() };
        assert_eq!(ok(b"\xef\xbb\xbfa\nb\n"), [">a\n", ">b\n"]);
        assert_eq!(ok(b"a\n\xef\xbb\xbfb"), [">a\n", ">\u{feff}b"]);
        assert_eq!(ok(b"\xef\xbb\xbf\nb"), [">\n", ">b"]);
        assert_eq!(ok(b"\xef\xbb\xbf"), Vec::<String>::new());
        for text in [&b"\xff\xfea\0\n\0"[..], b"\xfe\xff\0a\0\n"] {
            let error: io::Error = lines(text).unwrap_err();
            assert!(error.to_string().starts_with("line 1: this is UTF-16"), "{error}");
        }
    }

    #[test]
    fn sheets_have_an_end_and_lists_need_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, "a\n\nb").unwrap();
        assert_eq!(read_table(&path).unwrap(), b"a\n\nb\n");
        let mut lines = Vec::new();
        let add = |number, line: &[u8]| {
            lines.push((number, line.to_vec()));
            Ok::<(), io::Error>(())
        };
        each_table_line(&path, add).unwrap();
        assert_eq!(lines, [(1, b"a".to_vec()), (2, Vec::new()), (3, b"b".to_vec())]);
        std::fs::write(&path, b"a\tb\n".repeat(5 << 20)).unwrap();
        let error = read_table(&path).unwrap_err().to_string();
        assert!(error.starts_with("more than 16.0 MiB, which no such file has"), "{error}");
        let mut count = 0;
        let add = |_, _: &[u8]| {
            count += 1;
            Ok::<(), io::Error>(())
        };
        each_table_line(&path, add).unwrap();
        assert_eq!(count, 5 << 20);
    }
}
