//! Sizes and checksums of file contents, which identify files and detect damage.
//!
//! Checksums are computed with `pread` instead of a memory map. This is faster and takes no memory for the map, and
//! a file that became shorter causes an error instead of a signal.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::slice;

use crc32fast::Hasher;
use merganser_run::{Cancel, Cancelled, StartError, each_in_order};

use crate::input::open_error;
use crate::shard::check_file;
use crate::{Error, Input};

/// The number of bytes that a worker sums at a time. A run can be cancelled between two pieces.
const PIECE: u64 = 4 << 20;
/// The number of bytes that are read at a time, chosen to stay in the cache of a core.
const BLOCK: usize = 128 << 10;

/// Computes the CRC-32 (that of gzip) of each of several ranges of a file with `threads` workers; `None` if
/// cancelled.
///
/// `failed` converts read errors. A range that ends past the end of the file is an [`io::ErrorKind::UnexpectedEof`].
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn checksums<E: Send + From<StartError>>(
    file: &File,
    parts: &[Range<u64>],
    threads: usize,
    cancel: &Cancel,
    failed: impl Fn(io::Error) -> E + Sync,
) -> Result<Option<Vec<u32>>, E> {
    let pieces = parts.iter().enumerate().flat_map(|(part, range)| {
        let piece = move |at: u64| (part, at..range.end.min(at + PIECE));
        range.clone().step_by(PIECE as usize).map(piece)
    });
    let pieces: Vec<(usize, Range<u64>)> = pieces.collect();
    let bytes: u64 = parts.iter().map(|range| range.end - range.start).sum();
    let threads = threads.min((bytes / PIECE) as usize).max(1);
    let sum = |block: &mut Vec<u8>, number: usize| {
        let sum = checksum(file, &pieces[number].1, block);
        sum.map_err(|error| Ended::Failed(failed(error)))
    };
    let summed = match each_in_order(threads, 0..pieces.len(), cancel, || vec![0; BLOCK], sum) {
        Ok(summed) => summed,
        Err(Ended::Cancelled) => return Ok(None),
        Err(Ended::Failed(error)) => return Err(error),
    };
    let mut sums = vec![Hasher::new(); parts.len()];
    for ((part, _), piece) in pieces.iter().zip(&summed) {
        sums[*part].combine(piece);
    }
    Ok(Some(sums.into_iter().map(Hasher::finalize).collect()))
}

/// The reason why not all ranges were read.
enum Ended<E> {
    Cancelled,
    Failed(E),
}

impl<E> From<Cancelled> for Ended<E> {
    fn from(_: Cancelled) -> Ended<E> {
        Ended::Cancelled
    }
}

impl<E: From<StartError>> From<StartError> for Ended<E> {
    fn from(error: StartError) -> Ended<E> {
        Ended::Failed(error.into())
    }
}

fn checksum(file: &File, range: &Range<u64>, block: &mut [u8]) -> io::Result<Hasher> {
    let (mut at, mut sum) = (range.start, Hasher::new());
    while at < range.end {
        let wanted = block.len().min((range.end - at) as usize);
        file.read_exact_at(&mut block[..wanted], at)?;
        sum.update(&block[..wanted]);
        at += wanted as u64;
    }
    Ok(sum)
}

/// The size and the checksum of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// The size in bytes.
    pub bytes: u64,
    /// The CRC-32 of all bytes, as used by gzip.
    pub crc32: u32,
}

impl Content {
    /// Reads a regular file with `threads` workers; `None` if cancelled. `failed` converts read errors.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read<E: Send + From<StartError>>(
        file: &File,
        threads: usize,
        cancel: &Cancel,
        failed: impl Fn(io::Error) -> E + Sync,
    ) -> Result<Option<Content>, E> {
        let bytes = file.metadata().map_err(&failed)?.len();
        let sums = checksums(file, slice::from_ref(&(0..bytes)), threads, cancel, failed)?;
        Ok(sums.map(|sums| Content { bytes, crc32: sums[0] }))
    }
}

/// Computes a fingerprint of inputs.
///
/// It depends on all bytes of the inputs and of their references, and on their order. It does not depend on names,
/// locations or times, because each machine may have its own copies. `threads` workers read every file once.
///
/// # Errors
/// If an input is not a regular file or cannot be read, or if cancelled.
pub fn fingerprint<E>(inputs: &[Input], threads: usize, cancel: &Cancel) -> Result<u64, E>
where
    E: From<Error> + From<Cancelled> + From<StartError> + Send,
{
    /// The offset basis and the prime of FNV-1a.
    const FNV: [u64; 2] = [0xcbf2_9ce4_8422_2325, 0x0100_0000_01b3];
    let mut number = FNV[0];
    let mut add = |Content { bytes, crc32 }| {
        let all = bytes.to_le_bytes().into_iter().chain(crc32.to_le_bytes());
        number = all.fold(number, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(FNV[1]));
    };
    // Inputs mostly share one reference.
    let mut last_reference: Option<(PathBuf, Content)> = None;
    for input in inputs {
        check_file(input)?;
        // A regular file always has a path.
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

fn content_of<E>(path: &Path, threads: usize, cancel: &Cancel) -> Result<Content, E>
where
    E: From<Error> + From<Cancelled> + From<StartError> + Send,
{
    let failed = |error| open_error(&Input::File(path.to_owned()), &error);
    let file = File::open(path).map_err(failed)?;
    Ok(Content::read(&file, threads, cancel, failed)?.ok_or(Cancelled)?)
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
        let whole = Content { bytes: bytes.len() as u64, crc32: crc32fast::hash(&bytes) };
        type Failed = Box<dyn std::error::Error + Send + Sync>;
        for threads in [1, 3, 8] {
            assert_eq!(content_of::<Failed>(&path, threads, &cancel).unwrap(), whole);
        }
        std::fs::write(&path, "").unwrap();
        let empty = content_of::<Failed>(&path, 2, &cancel).unwrap();
        assert_eq!(empty, Content { bytes: 0, crc32: 0 });
    }
}
