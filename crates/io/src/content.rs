//! What tells files apart: their sizes and checksums of all their bytes.

use std::fs::File;
use std::io::{self, Read};

use merganser_run::Cancel;

use crate::there::uninterrupted;

/// Bytes that are read and summed together; between two blocks a run may be cancelled.
const BLOCK: usize = 1 << 18;

/// The size of a file and the checksum of all its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// Its size in bytes.
    pub bytes: u64,
    /// The CRC-32 of all of them, as gzip has it.
    pub crc32: u32,
}

impl Content {
    /// Reads a file from where it is to its end; `None` if cancelled.
    ///
    /// # Errors
    /// As reading.
    pub fn read(file: &mut File, cancel: &Cancel) -> io::Result<Option<Content>> {
        let (mut bytes, mut checksum) = (0, crc32fast::Hasher::new());
        let mut block = vec![0; BLOCK];
        while !cancel.is_cancelled() {
            let read = uninterrupted(|| file.read(&mut block))?;
            if read == 0 {
                return Ok(Some(Content { bytes, crc32: checksum.finalize() }));
            }
            bytes += read as u64;
            checksum.update(&block[..read]);
        }
        Ok(None)
    }
}
