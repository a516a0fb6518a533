//! Dividing inputs among machines: each shard of a job reads its own part of them, and all shards
//! together read every record once.
//!
//! The inputs' bytes on disk are divided evenly. A border within a file moves to the next place where
//! the file can be cut: in plain text, BGZF and gzip of several members, before a record, or, in a
//! FASTA sequence, between two of its lines, of which the later shard has the last bases before the
//! cut once more. Files of one gzip member, of other compressions and of alignments stay whole: they
//! belong to the shard in whose part they begin. Where the borders are depends on the files and the
//! number of shards alone, so that machines need not talk to each other.

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

/// The part of `inputs` that `shard` reads: whole files and stretches of files, in order. `overlap` is
/// the number of bases that are repeated where a FASTA sequence is cut: k-1, so that no k-mer is lost
/// or seen twice.
///
/// # Errors
/// If an input is no regular file, or cannot be read.
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
            // Where the share begins and ends within the file, if it does.
            let from = share.start.checked_sub(begin).filter(|&from| from > 0);
            let to = (share.end < end).then(|| share.end - begin);
            parts.extend(part(input, size, (from, to), begins_here, overlap)?);
        }
        begin = end;
    }
    Ok(parts)
}

/// Sees to it that an input is a regular file.
pub(crate) fn check_file(input: &Input) -> Result<(), Error> {
    size(input).map(drop)
}

/// The size of an input in bytes.
fn size(input: &Input) -> Result<u64, Error> {
    check(input)?.ok_or_else(|| Error::Open {
        input: input.to_string(),
        reason: "shards are parts of files, and this is none: name files".into(),
    })
}

fn open(input: &Input) -> Result<File, Error> {
    // What has a size has a path.
    let path = input.path().unwrap_or(Path::new(""));
    File::open(path).map_err(|error| open_error(input, &error))
}

/// What a share has of a file of `size` bytes, in which it begins or ends at these places, if it does.
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
    // Nothing begins behind the border: it is all the shard's before.
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

/// How a file is compressed and what is in it, if it can be cut.
fn kind(file: &File) -> std::io::Result<Option<(Compression, Format)>> {
    /// Text that tells alignments from reads.
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
    // A file that is damaged so early is whole: its reader says what is wrong.
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
