//! Standard output.

use super::member::Member;
use crate::Error;
use std::io::{self, BufWriter, Stdout, Write};
use std::sync::Arc;

/// Standard output as one of a run's outputs.
#[derive(Debug)]
pub struct StdoutWriter {
    stream: BufWriter<Stdout>,
    member: Member,
}

impl StdoutWriter {
    pub(super) fn new(member: Member) -> Self {
        Self { stream: BufWriter::with_capacity(1 << 16, io::stdout()), member }
    }

    fn pass(&mut self, result: io::Result<()>) -> io::Result<()> {
        let failed = |cause| Error::Write { path: "stdout".into(), cause: Arc::new(cause) };
        Ok(self.member.written(result).map_err(failed)?)
    }
}

/// Errors are [`Error`]s within.
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
