//! Writing: numbers of as many bytes as they need, and a checksum of all.

use std::io::{self, BufWriter, IntoInnerError, Write};

use merganser_store::sealed::Summed;

/// Bytes that are handed on together.
const BLOCK: usize = 1 << 16;

/// Writes the parts of a file, and at its end the checksum of all before it.
pub struct Encoder<'o> {
    output: BufWriter<Summed<&'o mut dyn Write>>,
}

impl<'o> Encoder<'o> {
    /// Writes to `output`.
    pub fn new(output: &'o mut dyn Write) -> Encoder<'o> {
        Encoder { output: BufWriter::with_capacity(BLOCK, Summed::new(output)) }
    }

    /// Puts bytes as they are.
    ///
    /// # Errors
    /// As writing.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.output.write_all(bytes)
    }

    /// Puts a number, seven bits a byte, the lowest first; the last byte is below 128.
    ///
    /// # Errors
    /// As writing.
    pub fn number(&mut self, mut value: u64) -> io::Result<()> {
        let (mut bytes, mut len) = ([0; 10], 0);
        while value >= 128 {
            bytes[len] = value as u8 | 128;
            (value, len) = (value >> 7, len + 1);
        }
        bytes[len] = value as u8;
        self.bytes(&bytes[..=len])
    }

    /// Puts a text behind its length.
    ///
    /// # Errors
    /// As writing.
    pub fn text(&mut self, text: &[u8]) -> io::Result<()> {
        self.number(text.len() as u64)?;
        self.bytes(text)
    }

    /// Ends a list of ascending numbers.
    ///
    /// # Errors
    /// As writing.
    pub fn end_list(&mut self) -> io::Result<()> {
        self.number(0)
    }

    /// Puts a list of ascending numbers, each with another one.
    ///
    /// # Errors
    /// As writing.
    pub fn pairs(&mut self, pairs: impl Iterator<Item = (u32, u64)>) -> io::Result<()> {
        let mut keys = Ascending::default();
        for (key, value) in pairs {
            self.number(keys.step_to(key.into()))?;
            self.number(value)?;
        }
        self.end_list()
    }

    /// Puts the checksum.
    ///
    /// # Errors
    /// As writing.
    pub fn finish(self) -> io::Result<()> {
        self.output.into_inner().map_err(IntoInnerError::into_error)?.seal().map(drop)
    }
}

/// Ascending numbers as steps of 1 or more from one to the next: 0 is left for a list's end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ascending {
    /// The least that may come next.
    least: u64,
}

impl Ascending {
    /// The step to the next number, which is larger than the one before and less than the largest that
    /// there is.
    pub fn step_to(&mut self, value: u64) -> u64 {
        let step = value - self.least + 1;
        self.least = value + 1;
        step
    }

    /// The number that a step leads to; `None` if there is none.
    pub fn after(&mut self, step: u64) -> Option<u64> {
        let value = self.least.checked_add(step.checked_sub(1)?)?;
        self.least = value.checked_add(1)?;
        Some(value)
    }
}
