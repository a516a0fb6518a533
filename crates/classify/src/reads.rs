//! Access to the reads of a batch.

use merganser_io::RecordBatch;

/// Returns the letters of each read's mates. The second mate of a single read is empty.
pub(crate) fn views(batch: &RecordBatch) -> Vec<[&[u8]; 2]> {
    let letters = |at: usize| batch.letters(at);
    let reads = 0..batch.reads();
    match batch.is_paired() {
        true => reads.map(|read| [letters(2 * read), letters(2 * read + 1)]).collect(),
        false => reads.map(|read| [letters(read), &[][..]]).collect(),
    }
}

/// Returns the name of a read; for a pair, the common part of its mates' names.
pub(crate) fn id(batch: &RecordBatch, read: usize) -> &[u8] {
    batch.name(read * batch.mates())
}

/// Returns the number of bases of a read, and of its mate if it is a pair.
pub(crate) fn lengths(batch: &RecordBatch, read: usize) -> (usize, Option<usize>) {
    let bases = |at: usize| batch.letter_count(at);
    let first = read * batch.mates();
    (bases(first), batch.is_paired().then(|| bases(first + 1)))
}
