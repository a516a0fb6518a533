//! The dense matrix: a header of JSON, then rows of the same size. Layout in `docs/formats.md`.

use std::io::Write;

use merganser_io::AtomicFile;

use super::Cells;
use super::rows::RowFormat;
use crate::Error;

/// The file's first bytes: a high byte, a name, and line ends that a text-mode copy would change.
pub(crate) const MAGIC: [u8; 8] = *b"\x89MGX\r\n\x1a\n";
/// Digits of the number of rows, which is known at the end.
const DIGITS: usize = 20;

/// A file that is being written.
pub(super) struct Dense {
    file: AtomicFile,
    /// Where the number of rows stands.
    rows_at: u64,
    checksum: crc32fast::Hasher,
}

impl Dense {
    pub(super) fn new(format: &RowFormat, mut file: AtomicFile) -> Result<Dense, Error> {
        let samples = format.names.len();
        let (cells, cell_bytes) = match format.cells {
            Cells::Counts => ("u32", 4 * samples),
            Cells::Presence => ("bit", samples.div_ceil(8)),
        };
        let names: Vec<String> = format.names.iter().map(|name| quoted(name)).collect();
        let mut json = format!(
            "{{\"version\":1,\"k\":{},\"canonical\":{},\"kmer_bytes\":{},\"cells\":\"{cells}\",\"row_bytes\":{},\"samples\":[{}],\"rows\":",
            format.k,
            format.canonical,
            format.kmer_bytes,
            format.kmer_bytes + cell_bytes,
            names.join(",")
        );
        let rows_at = (MAGIC.len() + 8 + json.len()) as u64;
        json.push_str(&" ".repeat(DIGITS));
        json.push('}');
        // Rows begin at a multiple of 64 bytes.
        let padding = (MAGIC.len() + 8 + json.len() + 1).next_multiple_of(64);
        json.push_str(&" ".repeat(padding - (MAGIC.len() + 8 + json.len() + 1)));
        json.push('\n');
        file.write_all(&MAGIC)?;
        file.write_all(&(json.len() as u64).to_le_bytes())?;
        file.write_all(json.as_bytes())?;
        Ok(Dense { file, rows_at, checksum: crc32fast::Hasher::new() })
    }

    pub(super) fn put(&mut self, rows: &[u8]) -> Result<(), Error> {
        self.checksum.update(rows);
        Ok(self.file.write_all(rows)?)
    }

    pub(super) fn finish(mut self, rows: u64) -> Result<(), Error> {
        self.file.write_all(&self.checksum.finalize().to_le_bytes())?;
        self.file.patch(self.rows_at, format!("{rows:>DIGITS$}").as_bytes())?;
        self.file.flush()?;
        self.file.commit()?;
        Ok(())
    }
}

/// A text in JSON.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            control if control.is_control() => {
                out.push_str(&format!("\\u{:04x}", u32::from(control)))
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
