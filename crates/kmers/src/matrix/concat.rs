//! Concatenates ranges of a matrix that were made on several machines.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use merganser_io::{OutputSet, check_cell};
use merganser_run::Cancel;
use merganser_seq::kmer::{Kmer, MAX_K};
use merganser_seq::with_kmer;
use merganser_store::sealed::{SEALED, Summed, open_json};
use merganser_store::shard::{JobShard, Words, check_all};

use super::dense::{Header, MAGIC};
use super::format::{EncodedRows, RowFormat};
use super::sink::Sink;
use super::{Cells, MatrixFormat, MatrixOutcome};
use crate::Error;
use crate::error::bad;

/// The approximate size of the blocks of rows that are read, in bytes.
const BLOCK: usize = 1 << 20;

/// Writes the matrix from the files of its ranges ([`MatrixConfig::range`](super::MatrixConfig::range)), given
/// in any order, to `path`. The file has the bytes that [`matrix`](super::matrix()) writes for all k-mers, and
/// appears when `outputs` is committed. The outcome has only the number of rows.
///
/// # Errors
/// If a file cannot be read, is damaged or is not a range of a matrix; if two files belong to different
/// matrices or are the same range; if a range is missing; if writing fails; if the run was cancelled. Then no
/// file exists.
pub fn concat_matrix(
    ranges: &[PathBuf],
    format: MatrixFormat,
    path: &Path,
    outputs: &OutputSet,
    cancel: &Cancel,
) -> Result<MatrixOutcome, Error> {
    let mut files =
        ranges.iter().map(|path| RangeFile::open(path)).collect::<Result<Vec<_>, _>>()?;
    check(&files)?;
    files.sort_by_key(|file| file.of.shard.number());
    let Some(first) = files.first() else { return Ok(MatrixOutcome::default()) };
    let whole = RowFormat { format, range: None, ..first.format.clone() };
    let mut sink = Sink::create(&whole, path, outputs)?;
    let mut outcome = MatrixOutcome::default();
    for file in files {
        outcome.rows += file.rows;
        with_kmer!(whole.k, K => file.put_rows::<K>(&whole, &mut sink, cancel))?;
    }
    sink.finish(&outcome)?;
    Ok(outcome)
}

/// Checks that the files are all ranges of one matrix.
fn check(files: &[RangeFile]) -> Result<(), Error> {
    let remedy = "give all ranges of one matrix";
    let other_job = " belongs to another matrix (other tables or options) than";
    let shards = files.iter().map(|file| (&*file.path, file.of));
    check_all(shards, Words::Named { name: "range", other_job, remedy })
        .map_err(|(at, what)| bad(&files[at].path, what))
}

/// A file with a range of the rows.
struct RangeFile {
    path: PathBuf,
    file: Summed<BufReader<File>>,
    of: JobShard,
    format: RowFormat,
    rows: u64,
    row_bytes: usize,
}

impl RangeFile {
    fn open(path: &Path) -> Result<RangeFile, Error> {
        let (file, size, json) = open_json(&MAGIC, path)?;
        let none =
            || bad(path, "not a range of a matrix, which merganser kmers matrix --range writes");
        let json = json.ok().flatten().ok_or_else(none)?;
        let (header, format) = Header::of_range(&json).ok_or_else(none)?;
        let mut names = format.names.iter().map(AsRef::as_ref);
        names.try_for_each(check_cell).map_err(|what| bad(path, &what))?;
        let Header { rows, row_bytes, .. } = header;
        // The size of the whole file, with its checksum.
        let bytes = rows
            .checked_mul(row_bytes as u64)
            .and_then(|all| all.checked_add(20 + json.len() as u64));
        if bytes != Some(size) {
            return Err(bad(path, "truncated or changed: copy it again, or make this range again"));
        }
        let of = format.range.ok_or_else(none)?;
        let (path, file) = (path.to_owned(), Summed::new(file));
        Ok(RangeFile { path, file, of, format, rows, row_bytes })
    }

    /// Writes all rows, and verifies the checksum.
    fn put_rows<K: Kmer>(
        mut self,
        whole: &RowFormat,
        sink: &mut Sink,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let damaged = |path: &Path| bad(path, "damaged: copy it again, or make this range again");
        let (mut left, at_once) = (self.rows, (BLOCK / self.row_bytes).max(1) as u64);
        let (mut bytes, mut row) = (Vec::new(), vec![0; whole.names.len()]);
        while left > 0 {
            cancel.check()?;
            let rows = left.min(at_once);
            bytes.resize(rows as usize * self.row_bytes, 0);
            self.file.read_exact(&mut bytes).map_err(|_| damaged(&self.path))?;
            let mut part = EncodedRows::default();
            for one in bytes.chunks_exact(self.row_bytes) {
                let (kmer, cells) = one.split_at(whole.kmer_bytes);
                fill(&mut row, cells, whole.cells);
                whole.put(load::<K>(kmer, whole.k), &row, &mut part);
            }
            sink.put(&part)?;
            left -= rows;
        }
        self.file.read_exact(&mut [0; 4]).map_err(|_| damaged(&self.path))?;
        match self.file.take_sum() {
            SEALED => Ok(()),
            _ => Err(damaged(&self.path)),
        }
    }
}

/// Fills a row with the decoded cells.
fn fill(row: &mut [u32], cells: &[u8], kind: Cells) {
    match kind {
        Cells::Counts => {
            for (cell, bytes) in row.iter_mut().zip(cells.as_chunks().0) {
                *cell = u32::from_le_bytes(*bytes);
            }
        }
        Cells::Presence => {
            let bit = |at: usize| u32::from(cells[at / 8] >> (at % 8) & 1);
            row.iter_mut().enumerate().for_each(|(at, cell)| *cell = bit(at));
        }
    }
}

/// Loads the k-mer of a row; bits beyond its bases are ignored.
fn load<K: Kmer>(bytes: &[u8], k: usize) -> K {
    let mut whole = [0; MAX_K / 4];
    whole[..bytes.len()].copy_from_slice(bytes);
    // Clear the bits beyond the bases.
    let used = (2 * k).div_ceil(8);
    whole[used..].fill(0);
    if !(2 * k).is_multiple_of(8) {
        whole[used - 1] &= (1 << (2 * k % 8)) - 1;
    }
    K::load(&whole)
}
