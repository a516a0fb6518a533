//! Streams with a checksum.

use std::io::{self, Read, Write};

use crc32fast::Hasher;

/// The CRC-32 of every byte string that ends with its own CRC-32 (little-endian, over the preceding bytes).
pub const SEALED: u32 = 0x2144_df1c;

/// A writer or reader that computes the CRC-32 of the bytes that pass through it.
#[derive(Debug)]
pub struct Summed<S> {
    stream: S,
    checksum: Hasher,
}

impl<S> Summed<S> {
    /// Wraps a stream; the checksum starts here.
    pub fn new(stream: S) -> Summed<S> {
        Summed { stream, checksum: Hasher::new() }
    }

    /// Returns the inner stream. Bytes that are read from it or written to it directly are not included in the
    /// checksum.
    pub fn stream(&mut self) -> &mut S {
        &mut self.stream
    }

    /// Returns the inner stream.
    pub fn into_stream(self) -> S {
        self.stream
    }

    /// Returns the CRC-32 of the bytes since the last call, and starts a new one.
    pub fn take_sum(&mut self) -> u32 {
        std::mem::take(&mut self.checksum).finalize()
    }
}

impl<W: Write> Summed<W> {
    /// Appends the checksum of all bytes and returns the inner stream.
    ///
    /// # Errors
    /// If writing fails.
    pub fn seal(mut self) -> io::Result<W> {
        let sum = self.take_sum();
        self.stream.write_all(&sum.to_le_bytes())?;
        Ok(self.stream)
    }
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.stream.write(bytes)?;
        self.checksum.update(&bytes[..written]);
        Ok(written)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.checksum.update(bytes);
        self.stream.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(buffer)?;
        self.checksum.update(&buffer[..read]);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealed_bytes_are_told_from_others() {
        for length in [0, 1, 100_000] {
            let text: Vec<u8> =
                (0..length).map(|at: u32| (at.wrapping_mul(at) >> 3) as u8).collect();
            let mut writer = Summed::new(Vec::new());
            writer.write_all(&text).unwrap();
            let mut sealed = writer.seal().unwrap();
            assert_eq!(sealed[text.len()..], crc32fast::hash(&text).to_le_bytes());
            let sum = |bytes: &[u8]| {
                let mut reader = Summed::new(bytes);
                io::copy(&mut reader, &mut io::sink()).unwrap();
                reader.take_sum()
            };
            assert_eq!(sum(&sealed), SEALED);
            let end = sealed.len() - 1;
            sealed[end] ^= 1;
            assert_ne!(sum(&sealed), SEALED);
        }
    }
}
