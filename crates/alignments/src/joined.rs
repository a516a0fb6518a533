//! Joins the records of shards: the output equals that of a single run.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;

use merganser_io::{BgzfBlocks, Output, finish_all};
use merganser_run::{Budget, Cancel, Cancelled, Context, Progress, Shortage, StartError, each};

use crate::sorted::{self, FileIndex, RecordIndex, Written};
use crate::{Contig, Error, Form, Held, IndexKind, Sorted, Sorting};

/// The number of bytes that are copied at a time.
const BLOCK: usize = 1 << 20;

/// The number of shards, and a function that passes the records of a shard, given by its number, to a callback, in
/// pieces.
pub type EachRecords<'e, E> =
    (usize, &'e (dyn Fn(usize, &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> + Sync));

/// Writes the blocks of all shards one after the other. `files` gives the path, the open file, the first byte and the
/// number of bytes of each shard.
///
/// # Errors
/// If reading or writing fails, or if cancelled.
pub fn write_blocks<'f>(
    files: impl Iterator<Item = (&'f Path, &'f File, u64, u64)>,
    head: (&[u8], u8),
    mut records: Output,
    cancel: &Cancel,
) -> Result<(), Error> {
    records.write_all(&compressed(head))?;
    let mut block = vec![0; BLOCK];
    for (path, file, mut at, mut left) in files {
        while left > 0 {
            if cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let own = left.min(BLOCK as u64);
            let part = &mut block[..own as usize];
            file.read_exact_at(part, at)
                .map_err(|source| Error::File { path: path.to_owned(), source })?;
            records.write_all(part)?;
            (at, left) = (at + own, left - own);
        }
    }
    records.write_all(&BgzfBlocks::END)?;
    finish_all([records])?;
    Ok(())
}

fn compressed((head, level): (&[u8], u8)) -> Vec<u8> {
    let mut bytes = Vec::new();
    BgzfBlocks::new(level).compress(head, true, &mut bytes);
    bytes
}

/// Sorts the records of all shards together and writes them with their index. Records with the same position stay in
/// the order of the shards.
///
/// # Errors
/// If there is too little memory, if reading or writing fails, or if cancelled.
pub fn sort_records<E>(
    (shards, records_of): EachRecords<'_, E>,
    head: (&[u8], u8),
    contigs: &[Contig],
    context: &Context,
    (records, index): (Output, Option<(Output, IndexKind)>),
    (progress, cancel): (&dyn Progress, &Cancel),
) -> Result<(), E>
where
    E: From<Error> + From<Cancelled> + From<StartError> + Send,
{
    let threads = context.threads as u64;
    let memory = memory(context)?;
    let sorting = Sorting::new([memory, memory], threads, &context.temp_dir, cancel);
    let held = each(context.threads, 0..shards, cancel, |numbers| {
        let mut held = Held::new(&sorting);
        for number in numbers {
            held.begin(number as u64);
            records_of(number, &mut |records| Ok(held.take(records)?))?;
        }
        Ok::<_, E>(held)
    })?;
    let sorted =
        Sorted { sorting: &sorting, held, form: Form::Bam(head.1), threads: context.threads };
    Ok(write_joined(sorted, head, contigs, (records, index), progress)?)
}

/// Writes sorted records with their index.
fn write_joined(
    sorted: Sorted<'_>,
    head: (&[u8], u8),
    contigs: &[Contig],
    (mut records, mut index): (Output, Option<(Output, IndexKind)>),
    progress: &dyn Progress,
) -> Result<(), Error> {
    let head_bytes = compressed(head);
    records.write_all(&head_bytes)?;
    let places = index.as_ref().map(|(_, kind)| FileIndex::Bam(RecordIndex::new(*kind, contigs)));
    let begin = head_bytes.len() as u64;
    let Written { index: places, end, .. } =
        sorted::write(sorted, &mut records, begin, places, progress)?;
    if let (Some(FileIndex::Bam(places)), Some((output, _))) = (places, &mut index) {
        places.write(end, output)?;
    }
    records.write_all(&BgzfBlocks::END)?;
    finish_all([records].into_iter().chain(index.map(|(output, _)| output)))?;
    Ok(())
}

/// Returns the memory that is available for records, in bytes.
fn memory(context: &Context) -> Result<u64, Error> {
    let threads = context.threads;
    let beside = Budget::of_run(context, 2 * BLOCK as u64);
    let what = format_args!("joining with {threads} threads needs");
    let least = Sorting::least_memory(threads as u64);
    beside.with(least).check(what, Shortage::FEWER_THREADS)?;
    Ok(beside.left())
}
