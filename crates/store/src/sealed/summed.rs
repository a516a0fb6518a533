//! Streams with their checksum.

use std::io::{self, Read, Write};

use crc32fast::Hasher;

/// The CRC-32 of any bytes that end with the CRC-32 (little-endian) of those before, and of no others.
pub const SEALED: u32 = 0x2144_df1c;

/// A writer or reader, and the CRC-32 of what passed through it.
#[derive(Debug)]
pub struct Summed<S> {
    stream: S,
    checksum: Hasher,
}

impl<S> Summed<S> {
    /// A stream of which nothing was summed.
    pub fn new(stream: S) -> Summed<S> {
        Summed { stream, checksum: Hasher::new() }
    }

    /// The stream itself; bytes that are read or written by it are not summed.
    pub fn stream(&mut self) -> &mut S {
        &mut self.stream
    }

    /// Returns the stream.
    pub fn into_stream(self) -> S {
        self.stream
    }

    /// Returns the CRC-32 of what passed since the last call, and begins a new one.
    pub fn take_sum(&mut self) -> u32 {
        std::mem::take(&mut self.checksum).finalize()
    }
}

impl<W: Write> Summed<W> {
    /// Writes the checksum of all bytes, and returns the stream.
    ///
    /// # Errors
    /// As writing.
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
