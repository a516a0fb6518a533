//! Writer of partial results: numbers with as many bytes as they need, and a checksum at the end.

use std::io::{self, BufWriter, IntoInnerError, Write};

use merganser_store::sealed::Summed;

/// The number of bytes that are written at a time.
const BLOCK: usize = 1 << 16;

/// Writes the content of a file, and the checksum of everything before it at the end.
pub struct Encoder<'o> {
    output: BufWriter<Summed<&'o mut dyn Write>>,
}

impl<'o> Encoder<'o> {
    /// Returns a writer to `output`.
    pub fn new(output: &'o mut dyn Write) -> Encoder<'o> {
        Encoder { output: BufWriter::with_capacity(BLOCK, Summed::new(output)) }
    }

    /// Writes bytes without a length.
    ///
    /// # Errors
    /// If writing fails.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.output.write_all(bytes)
    }

    /// Writes a number, seven bits per byte, the lowest first; only the last byte is below 128.
    ///
    /// # Errors
    /// If writing fails.
    pub fn number(&mut self, mut value: u64) -> io::Result<()> {
        let (mut bytes, mut len) = ([0; 10], 0);
        while value >= 128 {
            bytes[len] = value as u8 | 128;
            (value, len) = (value >> 7, len + 1);
        }
        bytes[len] = value as u8;
        self.bytes(&bytes[..=len])
    }

    /// Writes the length of a text and the text.
    ///
    /// # Errors
    /// If writing fails.
    pub fn text(&mut self, text: &[u8]) -> io::Result<()> {
        self.number(text.len() as u64)?;
        self.bytes(text)
    }

    /// Writes the end of a list of ascending numbers.
    ///
    /// # Errors
    /// If writing fails.
    pub fn end_list(&mut self) -> io::Result<()> {
        self.number(0)
    }

    /// Writes a list of pairs: keys in ascending order, each with a value.
    ///
    /// # Errors
    /// If writing fails.
    pub fn pairs(&mut self, pairs: impl Iterator<Item = (u32, u64)>) -> io::Result<()> {
        let mut keys = Ascending::default();
        for (key, value) in pairs {
            self.number(keys.step_to(key.into()))?;
            self.number(value)?;
        }
        self.end_list()
    }

    /// Writes the checksum.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(self) -> io::Result<()> {
        self.output.into_inner().map_err(IntoInnerError::into_error)?.seal().map(drop)
    }
}

/// Converts ascending numbers to steps of 1 or more and back; a step of 0 marks the end of a list.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ascending {
    /// The minimum of the next number.
    least: u64,
}

impl Ascending {
    /// Returns the step to the next number, which must be greater than the previous one and less than
    /// [`u64::MAX`].
    pub fn step_to(&mut self, value: u64) -> u64 {
        let step = value - self.least + 1;
        self.least = value + 1;
        step
    }

    /// Returns the number after a step; `None` if the step is invalid.
    pub fn after(&mut self, step: u64) -> Option<u64> {
        let value = self.least.checked_add(step.checked_sub(1)?)?;
        self.least = value.checked_add(1)?;
        Some(value)
    }
}
