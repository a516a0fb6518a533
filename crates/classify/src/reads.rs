//! The reads of a batch.

use merganser_io::RecordBatch;

/// The letters of each read's mates.
pub(crate) fn views(batch: &RecordBatch) -> Vec<[&[u8]; 2]> {
    let letters = |at: usize| batch.record(at).letters;
    let reads = 0..batch.reads();
    match batch.is_paired() {
        true => reads.map(|read| [letters(2 * read), letters(2 * read + 1)]).collect(),
        false => reads.map(|read| [letters(read), &[][..]]).collect(),
    }
}

/// The name of a read; of a pair, what its mates' names share.
pub(crate) fn id(batch: &RecordBatch, read: usize) -> &[u8] {
    batch.name(read * batch.mates())
}

/// The bases of a read, and those of its mate.
pub(crate) fn lengths(batch: &RecordBatch, read: usize) -> (usize, Option<usize>) {
    let bases = |at: usize| batch.record(at).letters.len();
    let first = read * batch.mates();
    (bases(first), batch.is_paired().then(|| bases(first + 1)))
}
