//! SAM: lines of columns.

use super::{Alignment, Reads, Sniffed};
use memchr::{memchr, memchr_iter};

/// Columns that every record has.
const COLUMNS: usize = 11;

/// Whether a text that begins with `@` is SAM: `@HD`, `@SQ`, `@RG` or `@PG`, and a tag with its
/// colon, which no FASTQ has.
pub(super) fn sniff_header(text: &[u8]) -> Sniffed {
    let known = [b"@HD\t", b"@SQ\t", b"@RG\t", b"@PG\t"];
    if !known.iter().any(|start| start.starts_with(&text[..text.len().min(4)])) {
        return Sniffed::Other;
    }
    match text.get(4..7) {
        Some([a, b, b':']) if a.is_ascii_alphabetic() && b.is_ascii_alphanumeric() => Sniffed::Sam,
        None if memchr(b'\n', text).is_none() => Sniffed::Short,
        _ => Sniffed::Other,
    }
}

/// Names and references are short: where so many bytes have too few tabs there is no record.
const MOST_BEFORE_SEQUENCE: usize = 1 << 16;

/// Whether a text begins with a record: the columns before the sequence are what they should be.
pub(super) fn sniff_record(text: &[u8]) -> Sniffed {
    let end = memchr(b'\n', text);
    let line = &text[..end.unwrap_or(text.len())];
    let mut columns = [&[][..]; 9];
    let mut tabs = memchr_iter(b'\t', line);
    let mut start = 0;
    for column in &mut columns {
        let Some(tab) = tabs.next() else {
            let hopeless = end.is_some()
                || line.len() > MOST_BEFORE_SEQUENCE
                || line.iter().any(|byte| !matches!(byte, b'\t' | b' '..=b'~'));
            return if hopeless { Sniffed::Other } else { Sniffed::Short };
        };
        *column = &line[start..tab];
        start = tab + 1;
    }
    let [name, flags, reference, position, quality, cigar, next, mate, length] = columns;
    let number = |column: &[u8], most: i64| {
        let number = std::str::from_utf8(column).ok().and_then(|text| text.parse::<i64>().ok());
        number.is_some_and(|number| (0..=most).contains(&number))
    };
    let word = |column: &[u8]| !column.is_empty() && column.iter().all(u8::is_ascii_graphic);
    let length = length.strip_prefix(b"-").unwrap_or(length);
    let legal = [name, reference, next].into_iter().all(word)
        && number(flags, 0xffff)
        && number(quality, 255)
        && [position, mate, length].into_iter().all(|column| number(column, i64::MAX))
        && is_cigar(cigar);
    // The number of columns is looked at where records are read.
    if legal { Sniffed::Sam } else { Sniffed::Other }
}

/// `*`, or lengths with their operations.
fn is_cigar(column: &[u8]) -> bool {
    let mut digits = false;
    column == b"*"
        || column.iter().all(|&byte| {
            let before = std::mem::replace(&mut digits, byte.is_ascii_digit());
            digits || before && b"MIDNSHPX=".contains(&byte)
        }) && !digits
            && !column.is_empty()
}

/// A line's columns.
struct Record<'a> {
    name: &'a [u8],
    flags: u16,
    letters: &'a [u8],
    qualities: &'a [u8],
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
                "{found} columns: an alignment has {COLUMNS}; is the line cut, or the file no SAM?"
            ));
        }
        let [name, flags, .., letters, qualities] = columns;
        let flags = std::str::from_utf8(flags).ok().and_then(|text| text.parse().ok());
        let Some(flags) = flags else {
            let shown = String::from_utf8_lossy(columns[1]);
            return Err(format!("the second column, '{shown}', should be flags, 0 to 65535"));
        };
        Ok(Record { name, flags, letters, qualities })
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
            // Of a single letter it may be its quality, too: it is taken for none.
            b"*" => {}
            qualities => {
                graphic(qualities, "qualities")?;
                text.extend_from_slice(qualities);
            }
        }
        Ok(())
    }
}

fn graphic(column: &[u8], what: &str) -> Result<(), String> {
    // A sum over the whole column, so that the compiler makes SIMD of it.
    let bad = column.iter().fold(false, |bad, byte| bad | !byte.is_ascii_graphic());
    match column.iter().find(|byte| bad && !byte.is_ascii_graphic()) {
        Some(byte) => {
            Err(format!("binary data (byte 0x{byte:02x}) in its {what}: is the file damaged?"))
        }
        None => Ok(()),
    }
}

/// Whether a line, which may have its own at its end, has a carriage return: of old Macs' line ends, all
/// records but the first would pass for columns of that. Comments may have any letters.
pub(crate) fn has_return(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    memchr(b'\r', line).is_some() && !line.starts_with(b"@CO\t")
}

/// Adds the reads of whole lines, header lines among them. What is wrong comes with the number of
/// its line, from 0.
pub(crate) fn read(lines: &[u8], reads: &mut Reads) -> Result<(), (u64, String)> {
    let mut rest = lines;
    let mut number = 0;
    while !rest.is_empty() {
        let end = memchr(b'\n', rest);
        let line = &rest[..end.unwrap_or(rest.len())];
        rest = end.map_or(&[][..], |end| &rest[end + 1..]);
        if has_return(line) {
            return Err((number, "a carriage return within the line: is the file damaged?".into()));
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // No name begins with it.
        if !line.is_empty() && line[0] != b'@' {
            Record::parse(line)
                .and_then(|record| reads.add(&record))
                .map_err(|problem| (number, problem))?;
        }
        number += 1;
    }
    Ok(())
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
        // Old Macs' lines: the second record would pass for a tag of the first.
        let (number, problem) = found(&format!("{record}\n{record}\r{record}\n")).unwrap_err();
        assert_eq!(number, 1);
        assert!(problem.starts_with("a carriage return within the line"), "{problem}");
        found(&format!("@HD\tVN:1.6\r{record}\n")).unwrap_err();
    }
}
