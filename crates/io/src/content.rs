//! Contents of files: sizes and checksums of all bytes, by which files are told apart.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crc32fast::Hasher;
use merganser_run::{Cancel, Cancelled, StartError, each_in_order};

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
    /// If the file cannot be read.
    pub fn read(file: &mut File, cancel: &Cancel) -> io::Result<Option<Content>> {
        let (mut bytes, mut checksum) = (0, Hasher::new());
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
/// them: not by names, places or times, as each machine may have copies of its own. `threads` workers read every file once.
///
/// # Errors
/// If an input is no regular file, or cannot be read; if cancelled.
pub fn fingerprint<E>(inputs: &[Input], threads: usize, cancel: &Cancel) -> Result<u64, E>
where
    E: From<Error> + From<Cancelled> + From<StartError> + Send,
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
        add(content_of::<E>(input.path().unwrap_or(Path::new("")), threads, cancel)?);
        let Some(reference) = input.reference() else { continue };
        let content = match &last_reference {
            Some((path, content)) if **path == **reference => *content,
            _ => content_of::<E>(reference, threads, cancel)?,
        };
        add(content);
        last_reference = Some((reference.to_path_buf(), content));
    }
    Ok(number)
}

/// Bytes of a file that a worker sums by itself.
const PIECE: u64 = 1 << 25;

/// Reads a file by pieces, whose checksums are combined in their order.
fn content_of<E>(path: &Path, threads: usize, cancel: &Cancel) -> Result<Content, E>
where
    E: From<Error> + From<Cancelled> + From<StartError> + Send,
{
    let failed = |error| open_error(&Input::File(path.to_owned()), &error);
    let file = File::open(path).map_err(failed)?;
    let bytes = file.metadata().map_err(failed)?.len();
    let pieces = 0..bytes.div_ceil(PIECE) as usize;
    let sum = |block: &mut Vec<u8>, piece: usize| {
        let start = piece as u64 * PIECE;
        let sum = sum_of(&file, start..bytes.min(start + PIECE), block);
        sum.map_err(|error| E::from(failed(error)))
    };
    let sums = each_in_order(threads, pieces, cancel, || vec![0; BLOCK], sum)?;
    let mut whole = Hasher::new();
    sums.iter().for_each(|sum| whole.combine(sum));
    Ok(Content { bytes, crc32: whole.finalize() })
}

/// The checksum of a range of a file.
fn sum_of(file: &File, range: Range<u64>, block: &mut [u8]) -> io::Result<Hasher> {
    let (mut at, mut sum) = (range.start, Hasher::new());
    while at < range.end {
        let wanted = block.len().min((range.end - at) as usize);
        file.read_exact_at(&mut block[..wanted], at)?;
        sum.update(&block[..wanted]);
        at += wanted as u64;
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_have_the_checksum_of_the_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let bytes: Vec<u8> = (0..2 * PIECE + 12_345).map(|at| ((at * at) >> 7) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        let cancel = Cancel::default();
        let whole = Content::read(&mut File::open(&path).unwrap(), &cancel).unwrap().unwrap();
        assert_eq!(whole, Content { bytes: bytes.len() as u64, crc32: crc32fast::hash(&bytes) });
        type Failed = Box<dyn std::error::Error + Send + Sync>;
        for threads in [1, 3, 8] {
            assert_eq!(content_of::<Failed>(&path, threads, &cancel).unwrap(), whole);
        }
        std::fs::write(&path, "").unwrap();
        let empty = content_of::<Failed>(&path, 2, &cancel).unwrap();
        assert_eq!(empty, Content { bytes: 0, crc32: 0 });
    }
}
