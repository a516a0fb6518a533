//! SAM: lines of tab-separated columns.

use super::Alignment;
use super::comments::put_columns;
use super::templates::Templates;
use memchr::memchr;
use merganser_io::{AlignmentBytes, CommentTags, Reads};

/// The number of mandatory columns.
const COLUMNS: usize = 11;

/// The columns of a line that a read needs.
struct Record<'a> {
    name: &'a [u8],
    flags: u16,
    letters: &'a [u8],
    qualities: &'a [u8],
    line: &'a [u8],
}

impl<'a> Record<'a> {
    fn parse(line: &'a [u8]) -> Result<Record<'a>, String> {
        let mut columns = [&[][..]; COLUMNS];
        let mut found = 0;
        for column in line.split(|&byte| byte == b'\t').take(COLUMNS) {
            columns[found] = column;
            found += 1;
        }
        if found < COLUMNS {
            return Err(format!(
                "{found} columns: an alignment has {COLUMNS}; is the line cut, or is the file not SAM?"
            ));
        }
        let [name, flags, .., letters, qualities] = columns;
        let flags = std::str::from_utf8(flags).ok().and_then(|text| text.parse().ok());
        let Some(flags) = flags else {
            let shown = String::from_utf8_lossy(columns[1]);
            return Err(format!("the second column, '{shown}', should be flags, 0 to 65535"));
        };
        Ok(Record { name, flags, letters, qualities, line })
    }
}

impl Alignment for Record<'_> {
    fn name(&self) -> Option<&[u8]> {
        Some(self.name)
    }

    fn flags(&self) -> u16 {
        self.flags
    }

    fn letters(&self, text: &mut Vec<u8>) -> Result<(), String> {
        if self.letters != b"*" {
            graphic(self.letters, "sequence")?;
            text.extend_from_slice(self.letters);
        }
        Ok(())
    }

    fn qualities(&self, text: &mut Vec<u8>) -> Result<(), String> {
        match self.qualities {
            // For a read of one letter, `*` may also be its quality. It is taken as missing.
            b"*" => {}
            qualities => {
                graphic(qualities, "qualities")?;
                text.extend_from_slice(qualities);
            }
        }
        Ok(())
    }

    fn tags(&self, tags: &CommentTags, text: &mut Vec<u8>) -> Result<(), String> {
        put_columns(self.line.split(|&byte| byte == b'\t').skip(COLUMNS), tags, text)
    }
}

fn graphic(column: &[u8], what: &str) -> Result<(), String> {
    // Folding over the whole column lets the compiler vectorize the loop.
    let bad = column.iter().fold(false, |bad, byte| bad | !byte.is_ascii_graphic());
    match column.iter().find(|byte| bad && !byte.is_ascii_graphic()) {
        Some(byte) => {
            Err(format!("binary data (byte 0x{byte:02x}) in its {what}: is the file damaged?"))
        }
        None => Ok(()),
    }
}

/// Whether a line has a carriage return, except at its end. In a file with the line ends of old Macs, all records
/// after the first would otherwise be parsed as columns of the first. Comments may contain any character.
fn has_return(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    memchr(b'\r', line).is_some() && !line.starts_with(b"@CO\t")
}

/// Whether a line is a valid header line or empty.
pub(crate) fn is_header(line: &[u8]) -> bool {
    matches!(line.first(), None | Some(b'@' | b'\r')) && !has_return(line)
}

/// Adds the reads of whole lines, which may include header lines. The error has the number of the invalid line, from
/// 0.
pub(crate) fn read(lines: &[u8], reads: &mut Reads) -> Result<(), (u64, String)> {
    let mut rest = lines;
    let mut number = 0;
    let mut templates = Templates::default();
    while !rest.is_empty() {
        let end = memchr(b'\n', rest);
        let (whole, others) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
        let line = whole.strip_suffix(b"\n").unwrap_or(whole);
        rest = others;
        if has_return(line) {
            return Err((number, "a carriage return within the line: is the file damaged?".into()));
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // No read name begins with `@`.
        if !line.is_empty() && line[0] != b'@' {
            let put = |kept: &mut AlignmentBytes| {
                kept.extend(line);
                kept.extend(b"\n");
                Ok(())
            };
            Record::parse(line)
                .and_then(|record| templates.add(reads, &record, put))
                .map_err(|problem| (number, problem))?;
        }
        number += 1;
    }
    templates.end(reads).map_err(|problem| (number.saturating_sub(1), problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_carriage_return_within_a_line_is_no_line_end() {
        let record = "r\t0\tc\t1\t9\t4M\t*\t0\t0\tACGT\tIIII";
        let found = |lines: &str| {
            let mut reads = Reads::default();
            read(lines.as_bytes(), &mut reads).map(|()| String::from_utf8(reads.text).unwrap())
        };
        let fastq = "@r\nACGT\n+\nIIII\n";
        assert_eq!(found(&format!("@CO\ta\rb\r\n{record}\r\n")).unwrap(), fastq);
        // Line ends of old Macs: the second record would be parsed as a tag of the first.
        let (number, problem) = found(&format!("{record}\n{record}\r{record}\n")).unwrap_err();
        assert_eq!(number, 1);
        assert!(problem.starts_with("a carriage return within the line"), "{problem}");
        found(&format!("@HD\tVN:1.6\r{record}\n")).unwrap_err();
    }
}
