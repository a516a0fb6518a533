//! The text of a sheet, by itself: the fuzz target `sheet` takes this file as it stands.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use anyhow::{Result, bail};
use merganser_io::{Input, Segment};

/// A sample and its reads.
pub(crate) type Sample = (OsString, Vec<Segment>);

/// The samples of a sheet.
///
/// # Errors
/// What is wrong, and in which line.
pub(crate) fn parse(text: &[u8], interleaved: bool) -> Result<Vec<Sample>> {
    let mut samples: Vec<Sample> = Vec::new();
    let mut places = HashMap::new();
    let mut first = true;
    for (number, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let (at, line) = (number + 1, line.trim_ascii());
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let separator = if line.contains(&b'\t') { b'\t' } else { b',' };
        let cells: Vec<&[u8]> =
            line.split(|&byte| byte == separator).map(<[u8]>::trim_ascii).collect();
        if std::mem::take(&mut first) && cells[0].eq_ignore_ascii_case(b"sample") {
            continue;
        }
        let file = |cell: &[u8]| Input::File(OsStr::from_bytes(cell).into());
        let (name, segment) = match cells[..] {
            [name, reads] | [name, reads, b""] if !reads.is_empty() => match interleaved {
                true => (name, Segment::Interleaved(file(reads))),
                false => (name, Segment::Single(file(reads))),
            },
            [name, one, two] if !one.is_empty() => (name, Segment::Pair(file(one), file(two))),
            _ => bail!(
                "line {at}: not SAMPLE<TAB>READS or SAMPLE<TAB>MATES1<TAB>MATES2 (or with commas)"
            ),
        };
        let name = OsStr::from_bytes(name);
        if name.is_empty() || name.as_bytes().contains(&b'/') || name.as_bytes()[0] == b'.' {
            let name = name.display();
            bail!("line {at}: `{name}` cannot be a sample's name, as files are named after it");
        }
        if segment.inputs().any(|input| *input == file(b"-")) {
            bail!("line {at}: the reads of a sheet come from files, not from stdin");
        }
        let place = *places.entry(name).or_insert(samples.len());
        if place == samples.len() {
            samples.push((name.to_owned(), Vec::new()));
        }
        samples[place].1.push(segment);
    }
    if samples.is_empty() {
        bail!("no sample in this sheet");
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, interleaved: bool) -> Result<Vec<Sample>> {
        super::parse(text.as_bytes(), interleaved)
    }

    #[test]
    fn names_may_have_any_bytes() {
        let samples = super::parse(b"s\xff\t\xe9.fq\n", false).unwrap();
        let file = Input::File(OsStr::from_bytes(b"\xe9.fq").into());
        let expected = (OsStr::from_bytes(b"s\xff").to_owned(), vec![Segment::Single(file)]);
        assert_eq!(samples, [expected]);
    }

    #[test]
    fn lines_of_a_sample_belong_together() {
        let file = |name: &str| Input::File(name.into());
        let text =
            "sample,fastq_1,fastq_2\n# lanes\nb,1.fq,2.fq\r\na,x.fq,\n\nb,3.fq,4.fq\na\ty.fq\n";
        let pair = |one, two| Segment::Pair(file(one), file(two));
        assert_eq!(
            parse(text, false).unwrap(),
            [
                ("b".into(), vec![pair("1.fq", "2.fq"), pair("3.fq", "4.fq")]),
                ("a".into(), vec![Segment::Single(file("x.fq")), Segment::Single(file("y.fq"))]),
            ]
        );
        assert_eq!(parse("a\tb c.fq", true).unwrap()[0].1, [Segment::Interleaved(file("b c.fq"))]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let message = |text| parse(text, false).unwrap_err().to_string();
        let shape = "not SAMPLE<TAB>READS or SAMPLE<TAB>MATES1<TAB>MATES2 (or with commas)";
        assert_eq!(message("a\n"), format!("line 1: {shape}"));
        assert_eq!(message("a,b\n\na,b,c,d\n"), format!("line 3: {shape}"));
        assert_eq!(
            message("x/y\tb.fq"),
            "line 1: `x/y` cannot be a sample's name, as files are named after it"
        );
        assert_eq!(message("a\t-"), "line 1: the reads of a sheet come from files, not from stdin");
        assert_eq!(message("# nothing\nsample\treads\n"), "no sample in this sheet");
    }
}
