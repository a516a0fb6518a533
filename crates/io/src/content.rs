//! What tells files apart: their sizes and checksums of all their bytes.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use merganser_run::{Cancel, Cancelled};

use crate::input::open_error;
use crate::shard::check_file;
use crate::there::uninterrupted;
use crate::{Error, Input};

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

/// Returns a number that tells inputs from others by all their bytes and their order, those of references among
/// them: not by names, places or times, as each machine may have copies of its own. Reads every file once.
///
/// # Errors
/// If an input is no regular file, or cannot be read; if cancelled.
pub fn fingerprint<E>(inputs: &[Input], cancel: &Cancel) -> Result<u64, E>
where
    E: From<Error> + From<Cancelled>,
{
    /// FNV-1a's first value and factor.
    const FNV: [u64; 2] = [0xcbf2_9ce4_8422_2325, 0x0100_0000_01b3];
    let mut number = FNV[0];
    let mut add = |Content { bytes, crc32 }| {
        let all = bytes.to_le_bytes().into_iter().chain(crc32.to_le_bytes());
        number = all.fold(number, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(FNV[1]));
    };
    // Inputs mostly have the same one.
    let mut last_reference: Option<(PathBuf, Content)> = None;
    for input in inputs {
        check_file(input)?;
        // A regular file has a path.
        add(content_of::<E>(input.path().unwrap_or(Path::new("")), cancel)?);
        let Some(reference) = input.reference() else { continue };
        let content = match &last_reference {
            Some((path, content)) if **path == **reference => *content,
            _ => content_of::<E>(reference, cancel)?,
        };
        add(content);
        last_reference = Some((reference.to_path_buf(), content));
    }
    Ok(number)
}

fn content_of<E>(path: &Path, cancel: &Cancel) -> Result<Content, E>
where
    E: From<Error> + From<Cancelled>,
{
    let read = File::open(path).and_then(|mut file| Content::read(&mut file, cancel));
    let read = read.map_err(|error| open_error(&Input::File(path.to_owned()), &error))?;
    read.ok_or_else(|| Cancelled.into())
}
