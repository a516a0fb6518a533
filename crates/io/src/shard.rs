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
            // The offsets at which the shard's part begins and ends within the file, if it does.
            let from = share.start.checked_sub(begin).filter(|&from| from > 0);
            let to = (share.end < end).then(|| share.end - begin);
            parts.extend(part(input, size, (from, to), begins_here, overlap)?);
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

/// Returns the part of a file of `size` bytes that belongs to a shard. `from` and `to` are the offsets at which the
/// shard's part begins and ends within the file, if it does.
fn part(
    input: &Input,
    size: u64,
    (from, to): (Option<u64>, Option<u64>),
    begins_here: bool,
    overlap: usize,
) -> Result<Option<Input>, Error> {
    let whole = || begins_here.then(|| input.clone());
    if from.is_none() && to.is_none() {
        return Ok(whole());
    }
    let file = open(input)?;
    let failed = |error| open_error(input, &error);
    let Some((compression, format)) = kind(&file).map_err(failed)? else { return Ok(whole()) };
    let find = |at: u64| cut::find(&file, size, (compression, format), at, overlap).map_err(failed);
    let from = match from {
        None => Some(Cut::default()),
        Some(at) => find(at)?,
    };
    // No record begins after the border: the rest of the file belongs to an earlier shard.
    let Some(from) = from else { return Ok(None) };
    let to = to.map(find).transpose()?.flatten();
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
