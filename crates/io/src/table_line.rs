//! Lines of text tables that are read one after the other: lists of files, sheets, maps, taxonomies.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// The most bytes of a line: paths have up to 4 KiB, and no table that is read so has a line of a
/// tenth of this.
const MOST: u64 = 1 << 20;

/// Appends the next line to `line`, with its end, and gives its length; 0 at the end of the text. It is
/// the line of this `number`, from 1.
///
/// # Errors
/// As reading; and if the line has more than 1 MiB, after so much of it.
pub fn read_table_line(
    text: &mut dyn BufRead,
    line: &mut Vec<u8>,
    number: u64,
) -> io::Result<usize> {
    let read = text.take(MOST + 1).read_until(b'\n', line)?;
    if read as u64 > MOST {
        let problem = format!(
            "line {number}: a line of more than {}, which no such file has: is this the right file?",
            merganser_run::format_size(MOST)
        );
        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    }
    Ok(read)
}

/// A list or sheet as a whole.
///
/// # Errors
/// As [`read_table_line`].
pub fn read_table(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = BufReader::new(File::open(path)?);
    let (mut lines, mut number) = (Vec::new(), 1);
    while read_table_line(&mut text, &mut lines, number)? > 0 {
        number += 1;
    }
    Ok(lines)
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
}
