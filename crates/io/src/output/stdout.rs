//! Standard output as an output.

use super::member::Member;
use crate::Error;
use crate::stream::{Access, Descriptor};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

/// Standard output as one of the outputs of a run.
///
/// It writes to a duplicate of the descriptor, because `std::io::Stdout` silently ignores writes to a closed stream.
#[derive(Debug)]
pub struct StdoutWriter {
    stream: BufWriter<File>,
    member: Member,
}

impl StdoutWriter {
    /// Opens standard output.
    ///
    /// # Errors
    /// If standard output is closed, or not open for writing.
    pub(super) fn new(member: Member) -> Result<Self, Error> {
        let file = Descriptor::STDOUT.open(Access::Write).map_err(failed)?;
        Ok(Self { stream: BufWriter::with_capacity(1 << 16, file), member })
    }

    fn pass(&mut self, result: io::Result<()>) -> io::Result<()> {
        Ok(self.member.written(result).map_err(failed)?)
    }
}

fn failed(cause: io::Error) -> Error {
    Error::Write { path: "stdout".into(), cause: Arc::new(cause) }
}

/// The errors wrap an [`Error`].
impl Write for StdoutWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.member.is_gone() {
            let result = self.stream.write_all(bytes);
            self.pass(result)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.member.is_gone() {
            return Ok(());
        }
        let result = self.stream.flush();
        self.pass(result)
    }
}
