//! Copies of files in huge pages.
//!
//! A random access to gigabytes of pages of 4 KiB nearly always misses the processor's table of pages as well, which
//! takes about as long as the access itself. Some file systems keep files in huge pages; for others a copy pays once
//! there are about as many accesses as it has bytes.

use std::fs::{self, File};
use std::hint::black_box;
use std::io;
use std::mem::MaybeUninit;
use std::sync::Mutex;

use merganser_run::locks::lock;
use merganser_run::{Cancel, StartError, may_fail, prefer_huge_pages, run_workers};

/// The number of bytes that a thread reads at a time.
const PIECE: usize = 16 << 20;

/// Whether some pages of `map`, of which one is accessed here, are huge.
pub(super) fn has_huge_pages(map: &[u8]) -> bool {
    if map.is_empty() {
        return false;
    }
    black_box(map[map.len() / 2]);
    let smaps = fs::read_to_string("/proc/self/smaps").unwrap_or_default();
    is_huge(&smaps, map.as_ptr().addr() as u64)
}

/// Whether the mapping that begins at `start` has huge pages, according to the text of `/proc/self/smaps`.
fn is_huge(smaps: &str, start: u64) -> bool {
    let begins = |line: &&str| {
        let (first, _) = line.split_once('-')?;
        Some(u64::from_str_radix(first, 16).ok()? == start)
    };
    let fields = smaps.lines().skip_while(|line| begins(line) != Some(true)).skip(1);
    let mut fields = fields.take_while(|line| !line.contains('-')).filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.ends_with("PmdMapped").then(|| value.trim() != "0 kB")
    });
    fields.any(|huge| huge)
}

/// Reads the first `len` bytes of a file to huge pages with `threads` threads. `None` if there is too little memory, if
/// the file cannot be read, or if cancelled.
pub(super) fn copy(file: &File, len: usize, threads: usize, cancel: &Cancel) -> Option<Vec<u8>> {
    let mut bytes: Vec<u8> = Vec::new();
    may_fail(|| bytes.try_reserve_exact(len)).ok()?;
    let room = &mut bytes.spare_capacity_mut()[..len];
    prefer_huge_pages(room);
    let pieces = Mutex::new(room.chunks_mut(PIECE).enumerate());
    let read = run_workers(threads, |_| {
        // The guard is released before the piece is read.
        while let Some((number, piece)) = { lock(&pieces).next() } {
            cancel.check().map_err(|_| Stopped)?;
            fill(file, (number * PIECE) as u64, piece).map_err(|_| Stopped)?;
        }
        Ok::<(), Stopped>(())
    });
    read.ok()?;
    // SAFETY: all pieces were filled, and they are the first `len` bytes.
    unsafe { bytes.set_len(len) };
    Some(bytes)
}

/// A reason to do without a copy.
struct Stopped;

impl From<StartError> for Stopped {
    fn from(_: StartError) -> Stopped {
        Stopped
    }
}

/// Fills `piece` with the bytes of a file from `at` on.
fn fill(file: &File, mut at: u64, mut piece: &mut [MaybeUninit<u8>]) -> io::Result<()> {
    while !piece.is_empty() {
        match rustix::io::pread(file, &mut *piece, at) {
            Ok(([], _)) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok((read, _)) => {
                let count = read.len();
                at += count as u64;
                piece = &mut piece[count..];
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const SMAPS: &str = "\
7f0000000000-7f0000400000 r--s 00000000 00:1b 7 /dev/shm/a
Size:               4096 kB
FilePmdMapped:         0 kB
VmFlags: rd mr mw
7f0000400000-7f0000800000 r--s 00000000 00:1b 8 /data/b-c
Size:               4096 kB
ShmemPmdMapped:        0 kB
FilePmdMapped:      2048 kB
";

    #[test]
    fn huge_pages_are_those_of_the_mapping() {
        assert!(!is_huge(SMAPS, 0x7f00_0000_0000));
        assert!(is_huge(SMAPS, 0x7f00_0040_0000));
        assert!(!is_huge(SMAPS, 0x7f00_0080_0000));
        assert!(!is_huge("", 0));
        assert!(!has_huge_pages(&[]));
        assert!(!has_huge_pages(&[1]));
    }

    #[test]
    fn copies_have_the_bytes_of_the_file() {
        let text: Vec<u8> = (0..2 * PIECE + 77).map(|at| (at % 251) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&text).unwrap();
        for threads in [1, 3] {
            let bytes = copy(&file, text.len(), threads, &Cancel::default());
            assert!(bytes.as_deref() == Some(&text[..]));
        }
        assert_eq!(copy(&file, 0, 2, &Cancel::default()), Some(Vec::new()));
        // The file became shorter, there is too little memory, the run is cancelled.
        assert_eq!(copy(&file, text.len() + 1, 2, &Cancel::default()), None);
        assert_eq!(copy(&file, isize::MAX as usize, 2, &Cancel::default()), None);
        let cancel = Cancel::default();
        cancel.cancel();
        assert_eq!(copy(&file, text.len(), 2, &cancel), None);
    }
}
