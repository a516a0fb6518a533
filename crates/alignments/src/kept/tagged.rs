//! Tags that are added to alignments.

use super::reads::Tag;
use crate::{Fields, Format};

/// Appends alignments with more tags, which replace tags of the same names. `tags` has the form of SAM, with tabs between
/// the tags.
///
/// # Errors
/// If the alignments are damaged.
pub(super) fn put(
    format: Format,
    alignments: &[u8],
    tags: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), String> {
    match format {
        Format::Sam => alignments.split_inclusive(|&byte| byte == b'\n').for_each(|line| {
            put_line(line.strip_suffix(b"\n").unwrap_or(line), tags, out);
        }),
        _ => {
            let mut rest = alignments;
            while !rest.is_empty() {
                let record = first_of(rest).ok_or("an alignment is damaged")?;
                put_record(record, tags, out).ok_or("the tags of an alignment are damaged")?;
                rest = &rest[record.len()..];
            }
        }
    }
    Ok(())
}

/// The columns of a line of SAM before its tags (SAM specification, section 1.4).
const COLUMNS: usize = 11;

fn put_line(line: &[u8], tags: &[u8], out: &mut Vec<u8>) {
    let columns = line.split(|&byte| byte == b'\t').enumerate();
    for (_, column) in columns.filter(|(at, column)| *at < COLUMNS || !have(tags, column)) {
        out.extend_from_slice(column);
        out.push(b'\t');
    }
    out.extend_from_slice(tags);
    out.push(b'\n');
}

fn put_record(record: &[u8], tags: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (begin, fields) = (out.len(), Fields(record));
    let mut rest = &record[fields.tags_at()..];
    out.extend_from_slice(&record[..fields.tags_at()]);
    while !rest.is_empty() {
        let (key, value) = crate::fields::split_tag(rest)?;
        let (tag, others) = rest.split_at(key.len() + value.len());
        if !have(tags, &key) {
            out.extend_from_slice(tag);
        }
        rest = others;
    }
    let added = tags.split(|&byte| byte == b'\t').filter_map(Tag::of);
    added.for_each(|tag| tag.put(out));
    let size = u32::try_from(out.len() - begin - 4).ok()?;
    out[begin..begin + 4].copy_from_slice(&size.to_le_bytes());
    Some(())
}

/// Returns the first of some records of BAM; `None` if it is not whole.
fn first_of(records: &[u8]) -> Option<&[u8]> {
    let size = u32::from_le_bytes(*records.first_chunk()?) as usize;
    let record = records.get(..size.checked_add(4)?)?;
    (record.len() >= 36 && Fields(record).are_whole()).then_some(record)
}

/// Whether one of the tags has the name that a tag begins with.
fn have(tags: &[u8], tag: &[u8]) -> bool {
    let mut names = tags.split(|&byte| byte == b'\t').map(|tag| &tag[..tag.len().min(2)]);
    names.any(|name| tag.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kept::header::References;

    const LINES: &str = "\
a\t4\t*\t0\t0\t*\t*\t0\t0\tAC\tII\tBC:Z:A\ttx:i:300\tML:B:C,1,2\ttn:Z:x\tMN:B:s,-3\tzi:i:-7
tx:\t4\t*\t0\t0\t*\t*\t0\t0\t*\t*
c\t4\t*\t0\t0\t*\t*\t0\t0\tA\tI\tff:f:0.5\tcc:A:x\thx:H:00FF
";
    const TAGS: &[u8] = b"tx:i:4000000000\ttn:Z:Escherichia coli";

    /// The lines without the tags of these names, and with these tags.
    fn expected() -> String {
        let of = |line: &str| {
            let columns: Vec<&str> = line.split('\t').collect();
            let (head, tags) = columns.split_at(11);
            let others = tags.iter().filter(|tag| !tag.starts_with('t'));
            let all: Vec<&str> = head.iter().chain(others).copied().collect();
            format!("{}\t{}\n", all.join("\t"), std::str::from_utf8(TAGS).unwrap())
        };
        LINES.lines().map(of).collect()
    }

    #[test]
    fn tags_of_the_same_names_are_replaced() {
        let mut out = Vec::new();
        put(Format::Sam, LINES.as_bytes(), TAGS, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected());
        let (mut records, mut tagged, mut lines) = (Vec::new(), Vec::new(), Vec::new());
        References::default().records_of(LINES.as_bytes(), &mut records).unwrap();
        put(Format::Bam(0), &records, TAGS, &mut tagged).unwrap();
        References::default().lines_of(&tagged, &mut lines).unwrap();
        assert_eq!(String::from_utf8(lines).unwrap(), expected());
    }

    #[test]
    fn damaged_records_are_refused() {
        let mut records = Vec::new();
        References::default().records_of(LINES.as_bytes(), &mut records).unwrap();
        let size = Fields(&records).len();
        let first = &records[..size];
        for length in 1..size {
            let mut cut = first[..length].to_vec();
            put(Format::Bam(0), &cut, TAGS, &mut Vec::new()).unwrap_err();
            if length >= 4 {
                cut[..4].copy_from_slice(&(length as u32 - 4).to_le_bytes());
                // It must not panic; a cut between two tags makes a whole record.
                let _ = put(Format::Bam(0), &cut, TAGS, &mut Vec::new());
            }
        }
    }
}
