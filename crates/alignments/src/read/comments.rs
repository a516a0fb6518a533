//! Tags of alignments in the text of SAM, which become comments of their reads.

use std::io;

use merganser_io::CommentTags;
use noodles_sam::alignment::Record;
use noodles_sam::alignment::record::data::field::Value;
use noodles_sam::alignment::record::data::field::value::Array;
use noodles_sam::alignment::record::data::field::value::array::Values;

/// Appends the tags of columns of SAM, each after a tab.
pub(super) fn put_columns<'c>(
    columns: impl Iterator<Item = &'c [u8]>,
    tags: &CommentTags,
    text: &mut Vec<u8>,
) -> Result<(), String> {
    for column in columns {
        if let [first, second, b':', ..] = *column
            && tags.have([first, second])
        {
            text.push(b'\t');
            put_text(column, text).map_err(|problem| in_tag([first, second], &problem))?;
        }
    }
    Ok(())
}

/// Appends the tags of a record, each after a tab.
pub(super) fn put_fields(
    record: &impl Record,
    tags: &CommentTags,
    text: &mut Vec<u8>,
) -> Result<(), String> {
    for field in record.data().iter() {
        let (tag, value) = field.map_err(|error| format!("its tags: {error}"))?;
        let name = *tag.as_ref();
        if tags.have(name) {
            text.push(b'\t');
            put_text(&name, text).map_err(|problem| in_tag(name, &problem))?;
            put_value(&value, text).map_err(|problem| in_tag(name, &problem))?;
        }
    }
    Ok(())
}

fn in_tag(name: [u8; 2], problem: &str) -> String {
    format!("its tag '{}': {problem}", String::from_utf8_lossy(&name))
}

/// Appends text, which must be printable: a line end in it would end the header of the read.
fn put_text(more: &[u8], text: &mut Vec<u8>) -> Result<(), String> {
    if let Some(byte) = more.iter().find(|byte| !matches!(byte, b' '..=b'~')) {
        return Err(format!("binary data (byte 0x{byte:02x}): is the file damaged?"));
    }
    text.extend_from_slice(more);
    Ok(())
}

/// Appends the type and the value of a tag.
fn put_value(value: &Value<'_>, text: &mut Vec<u8>) -> Result<(), String> {
    let mut whole = |number: i64| put_text(format!(":i:{number}").as_bytes(), text);
    match *value {
        Value::Int8(number) => whole(number.into()),
        Value::UInt8(number) => whole(number.into()),
        Value::Int16(number) => whole(number.into()),
        Value::UInt16(number) => whole(number.into()),
        Value::Int32(number) => whole(number.into()),
        Value::UInt32(number) => whole(number.into()),
        Value::Character(letter) => put_text(&[b':', b'A', b':', letter], text),
        Value::Float(number) => put_text(format!(":f:{}", shown(number)).as_bytes(), text),
        Value::String(letters) => put_text(&[&b":Z:"[..], letters.as_ref()].concat(), text),
        Value::Hex(letters) => put_text(&[&b":H:"[..], letters.as_ref()].concat(), text),
        Value::Array(ref array) => put_array(array, text).map_err(|error| error.to_string()),
    }
}

fn put_array(array: &Array<'_>, text: &mut Vec<u8>) -> io::Result<()> {
    match array {
        Array::Int8(values) => put_items(b'c', &**values, text, |item| item.to_string()),
        Array::UInt8(values) => put_items(b'C', &**values, text, |item| item.to_string()),
        Array::Int16(values) => put_items(b's', &**values, text, |item| item.to_string()),
        Array::UInt16(values) => put_items(b'S', &**values, text, |item| item.to_string()),
        Array::Int32(values) => put_items(b'i', &**values, text, |item| item.to_string()),
        Array::UInt32(values) => put_items(b'I', &**values, text, |item| item.to_string()),
        Array::Float(values) => put_items(b'f', &**values, text, shown),
    }
}

/// Appends the type of an array and its items.
fn put_items<'v, T>(
    kind: u8,
    values: &(dyn Values<'v, T> + 'v),
    text: &mut Vec<u8>,
    shown: impl Fn(T) -> String,
) -> io::Result<()> {
    text.extend_from_slice(&[b':', b'B', b':', kind]);
    for value in values.iter() {
        text.push(b',');
        text.extend_from_slice(shown(value?).as_bytes());
    }
    Ok(())
}

/// Returns the shortest text of a number that is read as the same number, in the form of C's `%g`.
fn shown(number: f32) -> String {
    let scientific = format!("{number:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_form_of_c() {
        let numbers = [0.0, 0.1, -1.5, 2e-5, 0.0001, 123_456.0, 1e6, -3.25e12, f32::MAX];
        let expected = ["0", "0.1", "-1.5", "2e-05", "0.0001", "123456", "1e+06", "-3.25e+12"];
        for (number, expected) in numbers.into_iter().zip(expected) {
            assert_eq!(shown(number), expected);
        }
        assert_eq!(shown(f32::MAX).parse(), Ok(f32::MAX));
        assert_eq!((&shown(f32::INFINITY)[..], &shown(f32::NAN)[..]), ("inf", "NaN"));
    }

    #[test]
    fn line_ends_in_tags_are_refused() {
        let mut text = Vec::new();
        let columns = [&b"BC:Z:A C"[..], b"RX:Z:GG", b"XX:Z:a\x01"];
        let put = |tags: &str, text: &mut Vec<u8>| {
            put_columns(columns.into_iter(), &tags.parse().unwrap(), text)
        };
        put("RX,BC", &mut text).unwrap();
        assert_eq!(text, b"\tBC:Z:A C\tRX:Z:GG");
        let problem = put("*", &mut text).unwrap_err();
        assert_eq!(problem, "its tag 'XX': binary data (byte 0x01): is the file damaged?");
    }
}
