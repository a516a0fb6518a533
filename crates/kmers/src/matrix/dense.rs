//! The dense matrix: a JSON header, then rows of a fixed size. The layout is in `docs/reference/formats.md`.

use std::io::Write;

use merganser_io::AtomicFile;
use merganser_store::sealed::{Summed, magic, put_json};
use merganser_store::shard::JobShard;
use serde::{Deserialize, Serialize};

use super::format::RowFormat;
use super::{Cells, MatrixFormat};
use crate::Error;

pub(crate) const MAGIC: [u8; 8] = magic(b'X');
/// The version of a whole matrix.
const OF_ALL: u32 = 1;
/// The version of a range.
const OF_RANGES: u32 = 2;
/// The number of digits that are reserved for the number of rows, which is known at the end.
const DIGITS: usize = 20;

/// A file that is being written.
pub(super) struct Dense {
    file: Summed<AtomicFile>,
    /// The offset of the number of rows.
    rows_at: u64,
}

/// The header of a file.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Header {
    version: u32,
    pub(super) k: usize,
    pub(super) canonical: bool,
    pub(super) kmer_bytes: usize,
    cells: String,
    pub(super) row_bytes: usize,
    pub(super) samples: Vec<String>,
    /// The range of the k-mers; missing in a whole matrix.
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    /// The hash that identifies the job of a range.
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<String>,
    /// The number of rows, which is written at the end.
    #[serde(skip_serializing)]
    pub(super) rows: u64,
}

impl Header {
    fn new(format: &RowFormat) -> Header {
        let samples = format.names.len();
        let (cells, cell_bytes) = match format.cells {
            Cells::Counts => ("u32", 4 * samples),
            Cells::Presence => ("bit", samples.div_ceil(8)),
        };
        let (range, job) = format.range.map(JobShard::to_texts).unzip();
        Header {
            // Programs without support for ranges must not take one for a whole matrix.
            version: if range.is_some() { OF_RANGES } else { OF_ALL },
            k: format.k,
            canonical: format.canonical,
            kmer_bytes: format.kmer_bytes,
            cells: cells.to_owned(),
            row_bytes: format.kmer_bytes + cell_bytes,
            samples: format.names.clone(),
            range,
            job,
            rows: 0,
        }
    }

    /// Parses the header of a range; `None` if it is not valid.
    pub(super) fn of_range(json: &[u8]) -> Option<(Header, RowFormat)> {
        let header: Header = serde_json::from_slice(json).ok()?;
        let range = JobShard::of_texts(header.range.as_ref()?, header.job.as_ref()?)?;
        let cells = match &header.cells[..] {
            "u32" => Cells::Counts,
            "bit" => Cells::Presence,
            _ => return None,
        };
        let in_range = (1..=merganser_seq::kmer::MAX_K).contains(&header.k);
        let format = RowFormat {
            k: header.k,
            canonical: header.canonical,
            kmer_bytes: if in_range { kmer_bytes(header.k) } else { return None },
            names: header.samples.clone(),
            cells,
            format: MatrixFormat::Dense,
            range: Some(range),
        };
        let expected = Header { rows: header.rows, ..Header::new(&format) };
        (header == expected).then_some((header, format))
    }
}

/// Returns the size of a k-mer in bytes.
pub(super) fn kmer_bytes(k: usize) -> usize {
    8 * (2 * k).div_ceil(64)
}

impl Dense {
    pub(super) fn new(format: &RowFormat, mut file: AtomicFile) -> Result<Dense, Error> {
        file.refuse_unseekable()?;
        let header = serde_json::to_string(&Header::new(format)).map_err(std::io::Error::from)?;
        let mut json = header.strip_suffix('}').unwrap_or(&header).to_owned();
        json.push_str(",\"rows\":");
        let rows_at = (MAGIC.len() + 8 + json.len()) as u64;
        json.push_str(&" ".repeat(DIGITS));
        json.push('}');
        // Rows begin at a multiple of 64 bytes.
        let padding = (MAGIC.len() + 8 + json.len() + 1).next_multiple_of(64);
        json.push_str(&" ".repeat(padding - (MAGIC.len() + 8 + json.len() + 1)));
        json.push('\n');
        put_json(&MAGIC, json.as_bytes(), &mut file)?;
        Ok(Dense { file: Summed::new(file), rows_at })
    }

    pub(super) fn put(&mut self, rows: &[u8]) -> Result<(), Error> {
        Ok(self.file.write_all(rows)?)
    }

    pub(super) fn finish(self, rows: u64) -> Result<(), Error> {
        let mut file = self.file.seal()?;
        file.patch(self.rows_at, format!("{rows:>DIGITS$}").as_bytes())?;
        file.commit()?;
        Ok(())
    }
}
