//! Sample sheets: which reads are of which sample.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::{Result, bail};
use merganser_io::{Input, Segment};
use merganser_run::Shard;

use crate::args::ReadsArgs;

/// A sample and its reads.
pub(crate) type Sample = (OsString, Vec<Segment>);

/// Reads a sample sheet: a line for each file or pair of files, `SAMPLE<TAB>READS` or
/// `SAMPLE<TAB>MATES1<TAB>MATES2`, or with commas; a first line whose first cell is `sample` is a
/// header, empty lines and those that begin with `#` say nothing. Lines of the same sample belong
/// together; samples are in the order of their first lines.
///
/// # Errors
/// What is wrong, and in which line.
pub(crate) fn read(path: &Path, reads: &ReadsArgs, interleaved: bool) -> Result<Vec<Sample>> {
    let text = merganser_io::read_table(path)
        .map_err(|error| anyhow::anyhow!("{}: {}", path.display(), merganser_io::reason(&error)))?;
    let samples = parse(&text, interleaved)
        .map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
    let segment = |segment| match segment {
        Segment::Single(input) => Segment::Single(reads.input(input)),
        Segment::Interleaved(input) => Segment::Interleaved(reads.input(input)),
        Segment::Pair(one, two) => Segment::Pair(reads.input(one), reads.input(two)),
    };
    let sample = |(name, segments): Sample| (name, segments.into_iter().map(segment).collect());
    Ok(samples.into_iter().map(sample).collect())
}

/// The samples that a shard of a job takes, of about as many bytes as the others': a sample is whole, and
/// of the shard in whose share it begins. All, if there are no shards.
///
/// # Errors
/// If a file of reads is none.
pub(crate) fn of_shard(samples: Vec<Sample>, shard: Option<Shard>) -> Result<Vec<Sample>> {
    let Some(shard) = shard else { return Ok(samples) };
    let bytes = |(name, segments): &Sample| {
        let inputs = segments.iter().flat_map(Segment::inputs);
        // Of empty files, too, each is one shard's.
        merganser_io::text_bytes(inputs).map(|bytes| bytes + 1).ok_or_else(|| {
            anyhow::anyhow!("{}: --shard takes samples by their size: name files", name.display())
        })
    };
    let sizes = samples.iter().map(bytes).collect::<Result<Vec<u64>>>()?;
    let share = shard.share(sizes.iter().sum());
    let mut at = 0;
    let begins_here = sizes.into_iter().map(|size| {
        let begin = at;
        at += size;
        share.contains(&begin)
    });
    Ok(samples.into_iter().zip(begins_here).filter(|(_, own)| *own).map(|(own, _)| own).collect())
}

fn parse(text: &[u8], interleaved: bool) -> Result<Vec<Sample>> {
    let mut samples: Vec<Sample> = Vec::new();
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
        match samples.iter_mut().find(|(known, _)| known == name) {
            Some((_, segments)) => segments.push(segment),
            None => samples.push((name.to_owned(), vec![segment])),
        }
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
