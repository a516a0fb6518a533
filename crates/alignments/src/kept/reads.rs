//! Alignments of reads that have none, from FASTQ or FASTA.

use merganser_io::{RecordBatch, common_name};

use crate::record::name_problem;
use crate::{Format, Record, RecordStyle, flag};

/// Appends a read as an unmapped one, with the tags in its header; or returns what is wrong with its name.
pub(super) fn put(
    batch: &RecordBatch,
    at: usize,
    format: Format,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    let record = batch.record(at);
    let (name, flags) = match batch.is_paired() {
        false => (record.name, 0),
        true => {
            let name = common_name(batch.record(at & !1).name, batch.record(at | 1).name);
            let mate = if at.is_multiple_of(2) { flag::FIRST } else { flag::LAST };
            (name, flag::PAIRED | flag::MATE_UNMAPPED | mate)
        }
    };
    if let Some(problem) = name_problem(name, format) {
        return Err(problem);
    }
    let tags = tags_of(&record.header[record.name.len()..]).filter_map(Tag::of);
    let letters = [record.letters, record.quality.unwrap_or_default()];
    let unmapped = Record::unmapped(name, flags, None, Some(letters));
    let begin = out.len();
    RecordStyle::without_contigs(format).write(&unmapped, out);
    if format == Format::Sam {
        out.pop();
        tags.for_each(|tag| {
            out.push(b'\t');
            out.extend_from_slice(tag.text);
        });
        out.push(b'\n');
        return Ok(());
    }
    tags.for_each(|tag| tag.put(out));
    let size = (out.len() - begin - 4) as u32;
    out[begin..begin + 4].copy_from_slice(&size.to_le_bytes());
    Ok(())
}

/// Returns the texts that may be tags in a comment: the rest of a header after the name, which begins with a blank.
pub(crate) fn tags_of(comment: &[u8]) -> impl Iterator<Item = &[u8]> {
    comment.get(1..).unwrap_or_default().split(|&byte| byte == b'\t')
}

/// A tag of SAM (SAM specification, section 1.5).
pub(crate) struct Tag<'t> {
    /// `BC:Z:ACGT`.
    text: &'t [u8],
    value: Value<'t>,
}

enum Value<'t> {
    Letter(u8),
    Whole(i64),
    Real(f32),
    Text(&'t str),
    Bytes(&'t str),
    /// The type of the items, and the items in the form of BAM.
    List(u8, Vec<u8>, u32),
}

impl<'t> Tag<'t> {
    /// Parses a tag; `None` if the text has another form.
    pub(crate) fn of(text: &'t [u8]) -> Option<Tag<'t>> {
        let [first, second, b':', kind, b':', value @ ..] = text else { return None };
        if !first.is_ascii_alphabetic() || !second.is_ascii_alphanumeric() {
            return None;
        }
        let value = std::str::from_utf8(value).ok()?;
        let all = |is: fn(&u8) -> bool| value.as_bytes().iter().all(is);
        let value = match kind {
            b'A' if value.len() == 1 && all(u8::is_ascii_graphic) => {
                Value::Letter(value.as_bytes()[0])
            }
            b'i' => {
                let number = value.parse().ok()?;
                (-(1 << 31)..1 << 32).contains(&number).then_some(Value::Whole(number))?
            }
            b'f' => Value::Real(value.parse().ok().filter(|number: &f32| number.is_finite())?),
            b'Z' if all(|byte| matches!(byte, b' '..=b'~')) => Value::Text(value),
            b'H' if value.len() % 2 == 0
                && all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F')) =>
            {
                Value::Bytes(value)
            }
            b'B' => list(value)?,
            _ => return None,
        };
        Some(Tag { text, value })
    }

    /// Appends the tag in the form of BAM (SAM specification, section 4.2.4).
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.text[..2]);
        match &self.value {
            Value::Letter(letter) => out.extend_from_slice(&[b'A', *letter]),
            Value::Whole(number) => {
                out.push(if i32::try_from(*number).is_ok() { b'i' } else { b'I' });
                out.extend_from_slice(&(*number as u32).to_le_bytes());
            }
            Value::Real(number) => {
                out.push(b'f');
                out.extend_from_slice(&number.to_le_bytes());
            }
            Value::Text(text) | Value::Bytes(text) => {
                out.push(if matches!(self.value, Value::Text(_)) { b'Z' } else { b'H' });
                out.extend_from_slice(text.as_bytes());
                out.push(0);
            }
            Value::List(kind, items, count) => {
                out.extend_from_slice(&[b'B', *kind]);
                out.extend_from_slice(&count.to_le_bytes());
                out.extend_from_slice(items);
            }
        }
    }
}

/// Parses the value of a tag of numbers: their type, and the numbers after commas.
fn list(value: &str) -> Option<Value<'_>> {
    let mut parts = value.split(',');
    let kind = parts.next()?;
    let (mut items, mut count) = (Vec::new(), 0);
    for item in parts {
        match kind {
            "c" => items.extend(item.parse::<i8>().ok()?.to_le_bytes()),
            "C" => items.extend(item.parse::<u8>().ok()?.to_le_bytes()),
            "s" => items.extend(item.parse::<i16>().ok()?.to_le_bytes()),
            "S" => items.extend(item.parse::<u16>().ok()?.to_le_bytes()),
            "i" => items.extend(item.parse::<i32>().ok()?.to_le_bytes()),
            "I" => items.extend(item.parse::<u32>().ok()?.to_le_bytes()),
            "f" => items.extend(item.parse::<f32>().ok()?.to_le_bytes()),
            _ => return None,
        }
        count += 1;
    }
    let &[kind] = kind.as_bytes() else { return None };
    b"cCsSiIf".contains(&kind).then_some(Value::List(kind, items, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAGS: [&str; 10] = [
        "BC:Z:ACGT",
        "X0:i:-5",
        "X1:i:4294967295",
        "ab:A:x",
        "fl:f:0.5",
        "hx:H:00FF",
        "ML:B:C,1,255",
        "MN:B:s,-3",
        "ee:B:f",
        "zz:Z:",
    ];

    #[test]
    fn tags_are_told_from_other_comments() {
        for tag in TAGS {
            assert!(Tag::of(tag.as_bytes()).is_some(), "{tag}");
        }
        for other in [
            "1:N:0:ACGT",
            "BC:Z",
            "BC:i:x",
            "0X:i:5",
            "hx:H:0",
            "hx:H:ff",
            "fl:f:nan",
            "ML:B:C,256",
            "ML:B:x,1",
            "ML:B:x",
            "ab:A:xy",
            "len:3",
            "X0:i:4294967296",
            "",
        ] {
            assert!(Tag::of(other.as_bytes()).is_none(), "{other}");
        }
    }

    #[test]
    fn tags_have_the_same_text_in_bam() {
        let mut tags = Vec::new();
        TAGS.iter().for_each(|tag| Tag::of(tag.as_bytes()).unwrap().put(&mut tags));
        let mut record = Vec::new();
        let unmapped = Record::unmapped(b"r", 0, None, Some([b"A", b"I"]));
        RecordStyle::without_contigs(Format::Bam(0)).write(&unmapped, &mut record);
        record.extend(tags);
        let size = record.len() as u32 - 4;
        record[..4].copy_from_slice(&size.to_le_bytes());
        let mut line = Vec::new();
        super::super::header::References::default().lines_of(&record, &mut line).unwrap();
        let line = String::from_utf8(line).unwrap();
        let found: Vec<&str> = line.trim_end().split('\t').skip(11).collect();
        assert_eq!(found, TAGS);
    }
}
