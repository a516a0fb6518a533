//! Encodes rows in each format.

use merganser_io::put_decimal;
use merganser_seq::kmer::Kmer;
use merganser_store::shard::JobShard;

use super::{Cells, MatrixFormat};

/// The format and the parameters of rows.
#[derive(Clone, Debug)]
pub(super) struct RowFormat {
    pub(super) k: usize,
    pub(super) canonical: bool,
    /// The size of a k-mer in a dense matrix, in bytes.
    pub(super) kmer_bytes: usize,
    pub(super) names: Vec<String>,
    pub(super) cells: Cells,
    pub(super) format: MatrixFormat,
    /// The range that is written; `None` for a whole matrix.
    pub(super) range: Option<JobShard>,
}

/// The encoded rows of a range.
#[derive(Default)]
pub(super) struct EncodedRows {
    pub(super) rows: u64,
    /// The encoded rows; for Parquet only the letters of the k-mers.
    pub(super) bytes: Vec<u8>,
    /// The cells, row by row, for Parquet.
    pub(super) cells: Vec<u32>,
}

impl RowFormat {
    /// Encodes a row.
    pub(super) fn put<K: Kmer>(&self, kmer: K, row: &[u32], part: &mut EncodedRows) {
        part.rows += 1;
        match self.format {
            MatrixFormat::Tsv => {
                kmer.write_letters(self.k, &mut part.bytes);
                for &cell in row {
                    part.bytes.push(b'\t');
                    put_decimal(cell.into(), &mut part.bytes);
                }
                part.bytes.push(b'\n');
            }
            MatrixFormat::Dense => self.put_dense(kmer, row, &mut part.bytes),
            MatrixFormat::Parquet => {
                kmer.write_letters(self.k, &mut part.bytes);
                part.cells.extend_from_slice(row);
            }
        }
    }

    fn put_dense<K: Kmer>(&self, kmer: K, row: &[u32], bytes: &mut Vec<u8>) {
        let mut whole = [0; merganser_seq::kmer::MAX_K / 4];
        kmer.store(&mut whole[..K::BYTES]);
        bytes.extend_from_slice(&whole[..self.kmer_bytes]);
        match self.cells {
            Cells::Counts => {
                row.iter().for_each(|cell| bytes.extend_from_slice(&cell.to_le_bytes()))
            }
            Cells::Presence => {
                let bits = row.chunks(8).map(|eight| {
                    eight.iter().enumerate().fold(0, |bits, (at, &cell)| bits | (cell as u8) << at)
                });
                bytes.extend(bits);
            }
        }
    }

    /// Returns the first line of a text.
    pub(super) fn header(&self) -> Vec<u8> {
        let mut line = b"kmer".to_vec();
        for name in &self.names {
            line.push(b'\t');
            line.extend_from_slice(name.as_bytes());
        }
        line.push(b'\n');
        line
    }
}
