//! Division of inputs into shards: each shard of a job reads its own part of them, and all shards together read
//! every record once.
//!
//! The inputs are divided evenly by their bytes on disk. A border within a file moves to the next position at which
//! the file can be cut: in plain text, BGZF and gzip with several members, before a record, or between two lines of
//! a FASTA sequence, in which case the later shard repeats the last bases before the cut. Files with one gzip
//! member, in other compression formats, or with alignments are not cut. They belong to the shard in whose part
//! they begin. The borders depend only on the files and on the number of shards, so machines need not communicate.

mod cut;
mod members;
mod stretch;

pub use members::read_bgzf_block;
pub(crate) use stretch::Stretch;

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use merganser_run::Shard;

use crate::alignment::{CRAM_MAGIC, Sniffed, sniff};
use crate::beginning;
use crate::compress::{Compression, HEAD, decompress};
use crate::format::Format;
use crate::input::{check, open_error};
use crate::there::{is_of_system, uninterrupted};
use crate::{Error, Input};
use cut::Cut;

/// Returns the part of `inputs` that `shard` reads: whole files and stretches of files, in the order of the inputs.
/// `overlap` is the number of bases that are repeated where a FASTA sequence is cut. With k-1 bases, no k-mer is lost
/// or seen twice.
///
/// # Errors
/// If an input is not a regular file, or cannot be read.
pub fn shard(inputs: &[Input], shard: Shard, overlap: usize) -> Result<Vec<Input>, Error> {
    let sizes = inputs.iter().map(size).collect::<Result<Vec<_>, _>>()?;
    let total = sizes.iter().sum();
    let share = shard.share(total);
    let is_last = shard.number() == shard.of();
    let (mut parts, mut begin) = (Vec::new(), 0);
    for (input, &size) in inputs.iter().zip(&sizes) {
        let end = begin + size;
        let begins_here = share.contains(&begin) || is_last && begin == share.end;
        if begins_here || (share.start < end && share.end > begin) {
            // The borders within the file: that at which the shard's part begins, and all later ones.
            let from = share.start.checked_sub(begin).filter(|&from| from > 0);
            let later = shard.borders(total).take_while(|&border| border < end);
            let later = later.map(|border| border - begin);
            parts.extend(part(input, size, (from, later), begins_here, overlap)?);
        }
        begin = end;
    }
    Ok(parts)
}

/// Checks that an input is a regular file.
pub(crate) fn check_file(input: &Input) -> Result<(), Error> {
    size(input).map(drop)
}

/// Returns the size of an input in bytes.
fn size(input: &Input) -> Result<u64, Error> {
    check(input)?.ok_or_else(|| Error::Open {
        input: input.to_string(),
        reason: "shards are parts of files, and this is not a regular file: name files".into(),
    })
}

fn open(input: &Input) -> Result<File, Error> {
    // An input with a size has a path.
    let path = input.path().unwrap_or(Path::new(""));
    File::open(path).map_err(|error| open_error(input, &error))
}

/// Returns the part of a file of `size` bytes that belongs to a shard, from the border `from`, or the beginning, to the first
/// of the `later` borders at which the file can be cut.
fn part(
    input: &Input,
    size: u64,
    (from, later): (Option<u64>, impl Iterator<Item = u64>),
    begins_here: bool,
    overlap: usize,
) -> Result<Option<Input>, Error> {
    let whole = || begins_here.then(|| input.clone());
    let mut later = later.peekable();
    if from.is_none() && later.peek().is_none() {
        return Ok(whole());
    }
    let file = open(input)?;
    let failed = |error| open_error(input, &error);
    let Some((compression, format)) = kind(&file).map_err(failed)? else { return Ok(whole()) };
    let find = |borders: &mut dyn Iterator<Item = u64>| {
        cut::find(&file, size, (compression, format), borders, overlap).map_err(failed)
    };
    let from = match from {
        None => Some(Cut::default()),
        Some(at) => find(&mut std::iter::once(at))?,
    };
    // The file cannot be cut at this border: what follows belongs to an earlier shard.
    let Some(from) = from else { return Ok(None) };
    let to = find(&mut later)?;
    if to.as_ref() == Some(&from) {
        return Ok(None);
    }
    if from == Cut::default() && to.is_none() {
        return Ok(whole());
    }
    let stretch = Stretch { compression, format, size, from, to };
    Ok(Some(Input::Stretch(Box::new(input.clone()), Arc::new(stretch))))
}

/// Returns the compression and the format of a file, if it can be cut.
fn kind(file: &File) -> std::io::Result<Option<(Compression, Format)>> {
    /// The number of bytes of text that suffice to distinguish alignments from reads.
    const ENOUGH: u64 = 1 << 16;
    let mut head = [0; HEAD];
    let known = uninterrupted(|| file.read_at(&mut head, 0))?;
    let compression = Compression::sniff(&head[..known]);
    if head.starts_with(CRAM_MAGIC)
        || !matches!(compression, Compression::None | Compression::Bgzf | Compression::Gzip)
    {
        return Ok(None);
    }
    let mut text = Vec::new();
    // A file that is damaged at its beginning is not cut; its reader reports the damage.
    let read = decompress(file.try_clone()?)
        .and_then(|text_of| text_of.take(ENOUGH).read_to_end(&mut text));
    if let Err(error) = read {
        return if is_of_system(&error) { Err(error) } else { Ok(None) };
    }
    let text = beginning::records(&text);
    let format = match (sniff(text), text.first()) {
        (Sniffed::Other, Some(b'>')) => Format::Fasta,
        (Sniffed::Other, Some(b'@')) => Format::Fastq,
        _ => return Ok(None),
    };
    Ok(Some((compression, format)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{RecordBatch, RecordOptions, Records};
    use crate::{ReadInput, SequencesOnly};
    use flate2::Compression as Level;
    use flate2::write::GzEncoder;
    use std::io::Write;

    /// Returns a gzip member of this many records, without compression.
    fn member(records: usize, name: char) -> Vec<u8> {
        let mut member = GzEncoder::new(Vec::new(), Level::none());
        for number in 0..records {
            writeln!(member, "@{name}{number}\n{}\n+\n{}", "ACGT".repeat(25), "I".repeat(100))
                .unwrap();
        }
        member.finish().unwrap()
    }

    /// Returns the number of records that a shard reads.
    fn records_of(input: &Input, shard: &str) -> usize {
        let parts = super::shard(std::slice::from_ref(input), shard.parse().unwrap(), 0).unwrap();
        let inputs: Vec<ReadInput> = parts.into_iter().map(ReadInput::Single).collect();
        let records = Records::open(&inputs, RecordOptions::<SequencesOnly>::default()).unwrap();
        let (mut batch, mut number) = (RecordBatch::default(), 0);
        while records.next(&mut batch).unwrap().is_some() {
            number += batch.len();
        }
        number
    }

    /// Members may lie far behind a border, and near a later one.
    #[test]
    fn each_record_of_distant_members_is_in_one_shard() {
        let folder = tempfile::tempdir().unwrap();
        for numbers in
            [&[4000][..], &[3700, 300], &[300, 3700], &[1700, 600, 1700], &[1000, 2, 2998]]
        {
            let path = folder.path().join("r.fq.gz");
            let members = ('a'..).zip(numbers).map(|(name, &records)| member(records, name));
            std::fs::write(&path, members.collect::<Vec<_>>().concat()).unwrap();
            let input = Input::File(path);
            for of in 1..9 {
                let shards = (1..=of).map(|number| records_of(&input, &format!("{number}/{of}")));
                let shards: Vec<usize> = shards.collect();
                assert_eq!(shards.iter().sum::<usize>(), 4000, "{numbers:?}: {shards:?}");
            }
        }
    }
}
