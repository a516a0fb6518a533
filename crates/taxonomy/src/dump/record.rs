//! Records of a dump's files and their fields.

use std::path::Path;

use merganser_io::Lines;

use crate::Error;

/// Returns the record of a line, without its end; `None` for blank lines and for comments (`#`), which are not
/// part of NCBI's format but occur in hand-made files.
pub(super) fn record(line: &[u8]) -> Option<&[u8]> {
    let record = line.trim_ascii_end();
    if record.is_empty() || record.starts_with(b"#") {
        return None;
    }
    let record = record.strip_suffix(b"|").unwrap_or(record);
    Some(record.strip_suffix(b"\t").unwrap_or(record))
}

/// Detects truncated files by how their records end.
///
/// NCBI's records end in a bar; hand-made ones may not. A file is truncated if its last record has no bar and others
/// do, or if its only record has neither a bar nor a line end.
#[derive(Default)]
pub(super) struct Ends {
    records: u64,
    barred: bool,
    /// The line of the last record, if this has no bar at its end.
    bare: Option<u64>,
}

impl Ends {
    /// Notes how a record ends; `at` is its line number.
    pub(super) fn see(&mut self, at: u64, line: &[u8]) {
        let barred = line.trim_ascii_end().ends_with(b"|");
        self.records += 1;
        self.bare = (!barred).then_some(at);
        self.barred |= barred;
    }

    /// Fails if the file is truncated. `lines` must have been read to the end.
    pub(super) fn check(&self, path: &Path, lines: &Lines) -> Result<(), Error> {
        let what = "ends without `|`: the file is truncated; copy or download it again";
        let is_cut = self.barred || self.records == 1 && lines.is_open();
        self.bare.filter(|_| is_cut).map_or(Ok(()), |at| Err(malformed(path, at, what)))
    }
}

/// Returns the position of the first field separator. `bytes` is its length: 3 for a bar between tabs, which
/// allows names to contain bars; 1 for a bar alone.
fn separator(record: &[u8], bytes: usize) -> Option<usize> {
    if bytes == 1 {
        return memchr::memchr(b'|', record);
    }
    let is_whole =
        |&at: &usize| at > 0 && record[at - 1] == b'\t' && record.get(at + 1) == Some(&b'\t');
    memchr::memchr_iter(b'|', record).find(is_whole).map(|at| at - 1)
}

/// Returns the length of the separators in this record, in bytes.
fn separator_bytes(record: &[u8]) -> usize {
    if separator(record, 3).is_some() { 3 } else { 1 }
}

/// Returns the fields of a record.
pub(super) fn fields(record: &[u8]) -> impl Iterator<Item = &[u8]> {
    let bytes = separator_bytes(record);
    let mut rest = Some(record);
    std::iter::from_fn(move || {
        let own = rest?;
        let end = separator(own, bytes);
        rest = end.map(|end| &own[end + bytes..]);
        Some(own[..end.unwrap_or(own.len())].trim_ascii())
    })
}

/// Returns taxid, name and class of a record of names.dmp. If bars alone separate the fields, excess bars belong
/// to the name.
pub(super) fn name_fields(record: &[u8]) -> Option<[&[u8]; 3]> {
    let bars = memchr::memchr_iter(b'|', record).count();
    if separator_bytes(record) == 3 || bars <= 3 {
        let mut fields = fields(record);
        return Some([fields.next()?, fields.next()?, fields.nth(1)?]);
    }
    let (taxid, rest) = record.split_at(memchr::memchr(b'|', record)?);
    let class = memchr::memrchr(b'|', rest)?;
    let unique = memchr::memrchr(b'|', &rest[..class])?;
    Some([taxid, rest.get(1..unique)?, &rest[class + 1..]].map(<[u8]>::trim_ascii))
}

/// Parses the taxid in a field.
///
/// # Errors
/// If the field is not a number, with the message `missing`, or if it is too large.
pub(super) fn taxid_in(
    field: Option<&[u8]>,
    (path, line): (&Path, u64),
    missing: &str,
) -> Result<u32, Error> {
    let field = field.unwrap_or_default();
    parse_taxid(field).map_err(|what| malformed(path, line, what.as_deref().unwrap_or(missing)))
}

/// Parses a field that consists of a taxid.
///
/// # Errors
/// `Some` message if the number is too large, `None` if the field is not a number.
pub fn parse_taxid(field: &[u8]) -> Result<u32, Option<String>> {
    let text = std::str::from_utf8(field).map_err(|_| None)?;
    text.parse().map_err(|_| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| format!("taxid {text} is too large: {} is the largest", u32::MAX))
    })
}

/// Returns the error for a line that is not what it should be.
pub(super) fn malformed(path: &Path, line: u64, what: &str) -> Error {
    Error::content(path, format!("line {line}: {what}"))
}
