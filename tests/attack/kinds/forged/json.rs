//! Changes of JSON headers and of the tables behind them.

use serde_json::{Value, json};

use super::{binary, bytes};
use merganser_test_support::mend;
use merganser_test_support::reads::Random;

/// Hostile names.
pub(super) const NAMES: [&str; 16] = [
    "../x",
    "/../x",
    "/../tmp/x",
    "/../x",
    "",
    ".",
    "..",
    ".x",
    "a/b",
    "a\tb",
    "a\nb",
    "\u{1b}[31m",
    "a\0b",
    "\u{85}",
    "<script>",
    "\u{202e}",
];
/// Bytes before the JSON header: the magic and its length.
const BEFORE: usize = 16;

/// Changes a value, the length of the header, or the bytes behind it; returns a description.
pub(super) fn change(bytes: &mut Vec<u8>, random: &mut Random) -> String {
    let length = bytes[8..BEFORE].first_chunk().map_or(0, |length| u64::from_le_bytes(*length));
    let end = (BEFORE as u64).saturating_add(length).min(bytes.len() as u64) as usize;
    let parsed = serde_json::from_slice::<Value>(&bytes[BEFORE..end.max(BEFORE)]);
    let (Ok(mut header), true) = (parsed, random.below(8) > 0) else {
        let what = length_or_depth(bytes, end, random);
        return what;
    };
    if random.below(4) == 0 && end + 4 < bytes.len() {
        return behind(bytes, end, &header, random);
    }
    let what = match random.below(3) {
        0 => text(&mut header, random),
        _ => value(&mut header, "", random),
    };
    put(bytes, end, header.to_string().as_bytes());
    what
}

/// Replaces the header.
fn put(bytes: &mut Vec<u8>, end: usize, header: &[u8]) {
    bytes.splice(BEFORE..end.max(BEFORE), header.iter().copied());
    bytes[8..BEFORE].copy_from_slice(&(header.len() as u64).to_le_bytes());
}

fn length_or_depth(bytes: &mut Vec<u8>, end: usize, random: &mut Random) -> String {
    if random.below(2) == 0 {
        let length = bytes::EXTREME[random.below(bytes::EXTREME.len())];
        bytes[8..BEFORE].copy_from_slice(&length.to_le_bytes());
        return format!("{length:#x} bytes of header");
    }
    let depth = 1 << random.below(18);
    let header = format!("{{\"version\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    put(bytes, end, header.as_bytes());
    format!("lists {depth} deep")
}

/// Changes bytes behind the header; tables of k-mers there have checksums of their own.
fn behind(bytes: &mut Vec<u8>, end: usize, header: &Value, random: &mut Random) -> String {
    let table = header["assemblies"][0]["table"].as_u64().unwrap_or(0) as usize;
    let is_table = table > 0 && bytes.len() >= end + table;
    let to = if is_table { end + table } else { bytes.len() - 4 };
    let mut part = bytes[end..to].to_vec();
    if part.is_empty() {
        return "nothing behind the header".into();
    }
    let what = binary::change(&mut part, 128, random);
    if is_table {
        part.resize(table, 0);
        mend::table(&mut part);
    }
    bytes.splice(end..to, part);
    format!("behind the header: {what}")
}

/// Changes a text value, because random values are mostly numbers.
fn text(header: &mut Value, random: &mut Random) -> String {
    fn collect<'v>(at: &'v mut Value, all: &mut Vec<&'v mut Value>) {
        match at {
            Value::String(_) => all.push(at),
            Value::Array(values) => values.iter_mut().for_each(|one| collect(one, all)),
            Value::Object(fields) => fields.values_mut().for_each(|one| collect(one, all)),
            _ => {}
        }
    }
    let mut all = Vec::new();
    collect(header, &mut all);
    let number = random.below(all.len().max(1));
    match all.get_mut(number) {
        Some(at) => value(at, &format!("text {number}"), random),
        None => "no text".into(),
    }
}

/// Changes a value or one nested in it.
fn value(at: &mut Value, name: &str, random: &mut Random) -> String {
    let goes_down = random.below(6) > 0;
    match at {
        Value::Object(fields) if goes_down && !fields.is_empty() => {
            let number = random.below(fields.len());
            let (key, field) = fields.iter_mut().nth(number).unwrap();
            value(field, &format!("{name}.{key}"), random)
        }
        Value::Array(all) if goes_down && !all.is_empty() => {
            let number = random.below(all.len());
            value(&mut all[number], &format!("{name}.{number}"), random)
        }
        _ => {
            let old = at.take();
            *at = other(old, random);
            let shown: String = at.to_string().chars().take(60).collect();
            format!("{name} = {shown}")
        }
    }
}

/// Returns a value that replaces `old`, mostly of the same type.
fn other(old: Value, random: &mut Random) -> Value {
    let extreme = bytes::EXTREME[random.below(bytes::EXTREME.len())];
    match (old, random.below(8)) {
        (_, 0) => Value::Null,
        (_, 1) => extreme.into(),
        (Value::Number(old), 2) => old.as_u64().unwrap_or(0).wrapping_add(1).into(),
        (Value::Number(old), 3) => old.as_u64().unwrap_or(0).saturating_sub(1).into(),
        (Value::Number(_), 4) => [json!(-1), json!(0.5), json!("1")][random.below(3)].clone(),
        (Value::Number(_), _) => extreme.into(),
        (Value::String(old), 2) => old.repeat(1 << random.below(14)).into(),
        (Value::String(old), 3) => format!("{old}{}", NAMES[random.below(NAMES.len())]).into(),
        (Value::String(_), _) => NAMES[random.below(NAMES.len())].into(),
        (Value::Bool(old), _) => (!old).into(),
        (Value::Array(all), 2) => [&all[..], &all].concat().into(),
        (Value::Array(mut all), 3) if !all.is_empty() => {
            all.pop();
            all.into()
        }
        (Value::Array(mut all), 4) => {
            all.reverse();
            all.into()
        }
        (Value::Array(_), _) => json!([]),
        (Value::Object(mut fields), 2..5) if !fields.is_empty() => {
            let key = fields.keys().nth(random.below(fields.len())).unwrap().clone();
            fields.remove(&key);
            fields.into()
        }
        (Value::Object(_), _) => json!({}),
        (Value::Null, _) => json!({}),
    }
}
