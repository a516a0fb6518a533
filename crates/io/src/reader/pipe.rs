//! Reading of standard input, named pipes and devices: sources that may be silent without limit, but must not keep
//! a cancelled run from ending.

use crate::stream::{Access, Descriptor};
use merganser_run::Cancel;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::{self, Read};

/// The interval at which a reader of a silent source checks for cancellation.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// A reader that returns an error when the run is cancelled.
pub(super) struct Pipe {
    file: File,
    cancel: Cancel,
}

impl Pipe {
    pub(super) fn new(file: File, cancel: Cancel) -> Self {
        Self { file, cancel }
    }

    pub(super) fn stdin(cancel: Cancel) -> io::Result<Self> {
        Ok(Self { file: Descriptor::STDIN.open(Access::Read)?, cancel })
    }

    /// Waits until there is something to read, or the end is reached.
    fn wait(&self) -> io::Result<()> {
        loop {
            if self.cancel.is_cancelled() {
                return Err(io::Error::other("the run was cancelled"));
            }
            match poll(&mut [PollFd::new(&self.file, PollFlags::IN)], Some(&PATIENCE)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.wait()?;
            match (&self.file).read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return result,
            }
        }
    }
}
