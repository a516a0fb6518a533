//! The text of one input, whatever its format, in order.

use super::ReaderOptions;
use super::expand::expand;
use super::fetch::{Fetcher, Origin};
use crate::input::check;
use crate::{Chunk, Error, Input};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Reads the text of one input piece by piece, decompressed as any input may be. For formats that a
/// [`Reader`](crate::Reader) does not know.
pub struct TextReader {
    fetcher: Fetcher,
    options: ReaderOptions,
    chunk: Chunk,
    last: bool,
    bytes_total: Option<u64>,
}

impl TextReader {
    /// A reader of `input`, in pieces of about `options.chunk_bytes`. Nothing is read yet.
    ///
    /// # Errors
    ///
    /// If the input does not exist, is a directory, or may not be read.
    pub fn open(input: &Input, options: ReaderOptions) -> Result<Self, Error> {
        let bytes_total = check(input)?;
        let chunk = Chunk { name: Arc::from(input.to_string()), ..Chunk::default() };
        let fetcher = Fetcher::new(0, Origin::Input(input.clone()));
        Ok(Self { fetcher, options, chunk, last: false, bytes_total })
    }

    /// The next piece, which may end anywhere and may be empty; `None` at the end.
    ///
    /// # Errors
    ///
    /// If the input cannot be read or decompressed.
    pub fn next_text(&mut self) -> Result<Option<&[u8]>, Error> {
        if self.last {
            return Ok(None);
        }
        (self.chunk.start, self.chunk.end) = (0, 0);
        let stopped = AtomicBool::new(false);
        let fetched = self.fetcher.fetch(&mut self.chunk, &self.options, &stopped)?;
        expand(&mut self.chunk, &fetched, &self.options)?;
        self.chunk.source_bytes = fetched.source_bytes;
        self.last = fetched.last;
        Ok(Some(self.chunk.text()))
    }

    /// About how many bytes on disk the last piece came from.
    pub fn source_bytes(&self) -> u64 {
        self.chunk.source_bytes
    }

    /// The input's size on disk in bytes, if it is a regular file.
    pub fn bytes_total(&self) -> Option<u64> {
        self.bytes_total
    }

    /// The input's name, as messages show it.
    pub fn name(&self) -> &str {
        &self.chunk.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn read(input: &Input, chunk_bytes: usize) -> Result<Vec<u8>, Error> {
        let options = ReaderOptions { chunk_bytes, ..ReaderOptions::default() };
        let mut reader = TextReader::open(input, options)?;
        let mut text = Vec::new();
        while let Some(piece) = reader.next_text()? {
            text.extend_from_slice(piece);
        }
        Ok(text)
    }

    #[test]
    fn any_text_comes_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let text: Vec<u8> = (0..5000u32).flat_map(|i| format!("{i}\t\r\n").into_bytes()).collect();
        let plain = dir.path().join("plain");
        std::fs::write(&plain, &text).unwrap();
        let packed = dir.path().join("packed");
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(&text).unwrap();
        let gz = gz.finish().unwrap();
        std::fs::write(&packed, &gz).unwrap();
        for chunk_bytes in [1, 7, 4096, 1 << 20] {
            assert!(read(&Input::File(plain.clone()), chunk_bytes).unwrap() == text);
            assert!(read(&Input::File(packed.clone()), chunk_bytes).unwrap() == text);
        }
        std::fs::write(&packed, &gz[..gz.len() / 2]).unwrap();
        let error = read(&Input::File(packed), 4096).unwrap_err();
        assert!(matches!(error, Error::Truncated { .. }), "{error}");
    }
}
