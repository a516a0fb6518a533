//! Memory-mapped files.
//!
//! The contents of a mapped file are compared with its checksums before they are used, and again before results are
//! kept if the file was changed in the meantime ([`MappedFile::check`]). If a file becomes shorter and an access to
//! the map fails, the run ends with a message ([`fault`]).
#![allow(unsafe_code, reason = "maps files")]

mod fault;
mod huge;

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::SystemTime;

use memmap2::{Mmap, MmapOptions, UncheckedAdvice};
use merganser_run::locks::lock;
use merganser_run::{Cancel, Cancelled, Context};

use crate::Error;
use crate::content::{Content, checksums};
use fault::Watched;

/// A memory-mapped file.
#[derive(Debug)]
pub struct MappedFile {
    path: PathBuf,
    file: File,
    /// The map; `None` if the file is empty. It is dropped after [`Self::watched`].
    map: Option<Mmap>,
    watched: Option<Watched>,
    /// A copy in huge pages, if one was made.
    copy: OnceLock<Vec<u8>>,
    /// The state of the file when all its checksums were last found right.
    sound: Mutex<Option<Stamp>>,
}

/// A section of a file and its expected CRC-32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SectionSum {
    /// The offset of the first byte.
    pub start: u64,
    /// The length in bytes.
    pub len: u64,
    /// The CRC-32, as used by gzip.
    pub checksum: u32,
}

/// The properties of a file that change when it is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Stamp {
        Stamp { len: metadata.len(), modified: metadata.modified().ok() }
    }
}

/// The file systems that keep files only in memory, by their `statfs(2)` types: tmpfs, ramfs, hugetlbfs.
const IN_MEMORY: [u64; 3] = [0x0102_1994, 0x8584_58f6, 0x9584_58f6];

impl MappedFile {
    /// Maps an open file. `path` is its name in messages.
    ///
    /// # Errors
    /// If the file cannot be mapped; a directory is [`io::ErrorKind::IsADirectory`].
    pub fn of_file(file: &File, path: &Path) -> io::Result<MappedFile> {
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let (path, file, sound) = (path.to_owned(), file.try_clone()?, Mutex::new(None));
        let copy = OnceLock::new();
        if metadata.len() == 0 {
            return Ok(MappedFile { path, file, map: None, watched: None, copy, sound });
        }
        // SAFETY: the map is only read, as bytes and as numbers that may have any value. If another process
        // shortens the file, reads past its end raise SIGBUS, which ends the run.
        let map = unsafe { MmapOptions::new().map(&file) }?;
        let watched = Watched::new(&map, &path)?;
        Ok(MappedFile { path, file, map: Some(map), watched: Some(watched), copy, sound })
    }

    /// Returns the path of the file, as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the bytes of the file. Only a [check](Self::check) shows that they are undamaged.
    pub fn bytes(&self) -> &[u8] {
        self.copy.get().map_or_else(|| self.map.as_deref().unwrap_or_default(), Vec::as_slice)
    }

    /// Prepares for random accesses: copies the file to huge pages, unless it is in such pages already, if there are at
    /// least a sixteenth of its size in bytes of reads (`text`), so that the accesses take longer than the copy, and if
    /// half of the available memory suffices. [`bytes`](Self::bytes) returns the copy from then on; slices of the map stay
    /// valid. Nothing happens if the copy cannot be made.
    pub fn prepare_for_random_accesses(&self, text: Option<u64>, context: &Context) {
        let map = self.map.as_deref().unwrap_or_default();
        let pays = text.is_some_and(|text| text >= map.len() as u64 / 16);
        let fits = map.len() as u64 <= context.available() / 2;
        if !pays || !fits || self.copy.get().is_some() || huge::has_huge_pages(map) {
            return;
        }
        if let Some(copy) = huge::copy(&self.file, map.len(), context.threads, &context.cancel) {
            // If several threads get here at the same time, the first copy is used.
            let _ = self.copy.set(copy);
        }
    }

    /// Whether the file is stored only in memory (tmpfs, such as `/dev/shm`), so that mapping it needs no further
    /// memory.
    pub fn is_in_memory(&self) -> bool {
        let kind = rustix::fs::fstatfs(&self.file).map(|system| system.f_type as u64 & 0xffff_ffff);
        kind.is_ok_and(|kind| IN_MEMORY.contains(&kind))
    }

    /// Whether all checksums were right when they were last checked.
    pub fn is_checked(&self) -> bool {
        self.sound().is_some()
    }

    fn sound(&self) -> std::sync::MutexGuard<'_, Option<Stamp>> {
        lock(&self.sound)
    }

    /// Compares the checksums of `sections` with the file, using `threads` threads, and returns the index of the
    /// first damaged section, if any.
    ///
    /// The sections must be the same in each call and lie within the file. A file that was found undamaged is not
    /// read again unless it was written to since.
    ///
    /// # Errors
    /// If the file cannot be read, or if its length has changed since it was mapped; if cancelled.
    pub fn check<E>(
        &self,
        sections: &[SectionSum],
        threads: usize,
        cancel: &Cancel,
    ) -> Result<Option<usize>, E>
    where
        E: From<Error> + From<Cancelled>,
    {
        let failed = |error| read_error(&self.path, error);
        let mut sound = self.sound();
        let now = Stamp::of(&self.file.metadata().map_err(failed)?);
        if now.len != self.bytes().len() as u64 {
            return Err(Error::Changed { input: self.path.display().to_string() }.into());
        }
        if *sound == Some(now) {
            return Ok(None);
        }
        *sound = None;
        let parts: Vec<_> = sections.iter().map(|at| at.start..at.start + at.len).collect();
        let sums = checksums(&self.file, &parts, threads, cancel, failed)?.ok_or(Cancelled)?;
        let wrong = sums.iter().zip(sections).position(|(sum, section)| *sum != section.checksum);
        if wrong.is_none() {
            *sound = Some(now);
        }
        Ok(wrong)
    }

    /// Returns the CRC-32 of the whole file.
    ///
    /// # Errors
    /// If the file cannot be read, or if cancelled.
    pub fn checksum<E>(&self, cancel: &Cancel) -> Result<u32, E>
    where
        E: From<Error> + From<Cancelled>,
    {
        let failed = |error| read_error(&self.path, error);
        Ok(Content::read(&self.file, 1, cancel, failed)?.ok_or(Cancelled)?.crc32)
    }

    /// Reads a part of the file to `to`, which has the length of the part, without an access to the map: this is
    /// faster, and takes no memory for the map. A slice outside of the map is copied.
    ///
    /// # Errors
    /// If the file cannot be read, or became shorter since it was mapped.
    pub fn read(&self, part: &[u8], to: &mut [u8]) -> Result<(), Error> {
        let Some(from) = self.place(part) else {
            to.copy_from_slice(part);
            return Ok(());
        };
        let failed = |error| read_error(&self.path, error);
        self.file.read_exact_at(to, from as u64).map_err(failed)
    }

    /// Whether a slice is a part of the map.
    pub fn holds(&self, part: &[u8]) -> bool {
        self.place(part).is_some()
    }

    /// Returns the offset of a part of the map in the file; `None` for parts of the copy.
    fn place(&self, part: &[u8]) -> Option<usize> {
        let map = self.map.as_ref()?;
        let from = part.as_ptr().addr().checked_sub(map.as_ptr().addr())?;
        (from + part.len() <= map.len()).then_some(from)
    }

    /// Releases the pages of a part of the file from the process's memory until they are accessed again. A slice
    /// outside of the map is ignored.
    pub fn release(&self, part: &[u8]) {
        const PAGE: usize = 4096;
        let Some((map, from)) = self.map.as_ref().zip(self.place(part)) else { return };
        let (from, to) = (from.next_multiple_of(PAGE), (from + part.len()) / PAGE * PAGE);
        if from < to {
            // SAFETY: the pages are backed by the file and were never written, so they are read again unchanged.
            // Failure does not matter.
            let _ =
                unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, from, to - from) };
        }
    }
}

/// Stops watching the addresses of the map before they are unmapped.
impl Drop for MappedFile {
    fn drop(&mut self) {
        self.watched = None;
    }
}

fn read_error(path: &Path, cause: io::Error) -> Error {
    let input = path.display().to_string();
    match cause.kind() {
        io::ErrorKind::UnexpectedEof => Error::Changed { input },
        _ => Error::Read { input, cause: cause.into() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    type Failed = Box<dyn std::error::Error + Send + Sync>;

    fn section(bytes: &[u8], start: usize, len: usize) -> SectionSum {
        let checksum = crc32fast::hash(&bytes[start..start + len]);
        SectionSum { start: start as u64, len: len as u64, checksum }
    }

    #[test]
    fn copies_are_made_for_many_reads_and_have_the_same_contents() {
        let mut stored = tempfile::NamedTempFile::new().unwrap();
        let contents: Vec<u8> = (0..100_000u32).map(|at| (at % 251) as u8).collect();
        stored.write_all(&contents).unwrap();
        let file = MappedFile::of_file(stored.as_file(), stored.path()).unwrap();
        let context = Context::new().threads(2);
        let map = file.bytes().as_ptr();
        // A copy pays for a sixteenth of the size.
        for text in [None, Some(6_249)] {
            file.prepare_for_random_accesses(text, &context);
            assert_eq!(file.bytes().as_ptr(), map);
        }
        let before = &file.bytes()[1000..2000];
        file.prepare_for_random_accesses(Some(6_250), &context);
        assert_ne!(file.bytes().as_ptr(), map);
        assert!(file.bytes() == contents && before == &contents[1000..2000]);
        for part in [before, &file.bytes()[1000..2000]] {
            let mut read = vec![0; 1000];
            file.read(part, &mut read).unwrap();
            assert_eq!(read, part);
            file.release(part);
        }
        assert!(file.bytes() == contents);
    }

    #[test]
    fn damage_is_found_in_its_section_by_any_number_of_threads() {
        // The second section is longer than a piece.
        let bytes: Vec<u8> = (0..10u32 << 20).map(|at| (at.wrapping_mul(at) >> 7) as u8).collect();
        let sections =
            [section(&bytes, 5, 1000), section(&bytes, 1005, 9 << 20), section(&bytes, 7, 0)];
        let cancel = Cancel::default();
        for (damaged, expected) in [
            (None, None),
            (Some(4), None),
            (Some(1004), Some(0)),
            (Some(1005), Some(1)),
            (Some(9 << 20), Some(1)),
        ] {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            let mut bytes = bytes.clone();
            damaged.into_iter().for_each(|at| bytes[at] ^= 16);
            file.write_all(&bytes).unwrap();
            for threads in [1, 3] {
                let mapped = MappedFile::of_file(file.as_file(), file.path()).unwrap();
                assert_eq!(mapped.check::<Failed>(&sections, threads, &cancel).unwrap(), expected);
                assert_eq!(mapped.is_checked(), expected.is_none());
            }
            cancel_leaves_nothing_checked(&file, &sections);
        }
    }

    fn cancel_leaves_nothing_checked(file: &tempfile::NamedTempFile, sections: &[SectionSum]) {
        let cancel = Cancel::default();
        cancel.cancel();
        let mapped = MappedFile::of_file(file.as_file(), file.path()).unwrap();
        let failed = mapped.check::<Failed>(sections, 1, &cancel).unwrap_err();
        assert!(failed.is::<Cancelled>());
        assert!(!mapped.is_checked());
    }

    #[test]
    fn files_that_are_in_memory_alone_are_known() {
        let is_in_memory = |path: &str| {
            let file = File::open(path).unwrap();
            MappedFile::of_file(&file, Path::new(path)).unwrap().is_in_memory()
        };
        // procfs is not one of the file systems in memory.
        assert!(!is_in_memory("/proc/version"));
        if let Ok(mut file) = tempfile::NamedTempFile::new_in("/dev/shm") {
            file.write_all(b"x").unwrap();
            assert!(is_in_memory(file.path().to_str().unwrap()));
        }
    }

    #[test]
    fn bytes_are_the_same_after_they_were_released() {
        let bytes: Vec<u8> = (0..50_000u32).map(|at| (at % 251) as u8).collect();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&bytes).unwrap();
        let mapped = MappedFile::of_file(file.as_file(), file.path()).unwrap();
        for part in [0..50_000, 100..30_000, 49_000..50_000, 7..7] {
            mapped.release(&mapped.bytes()[part]);
            assert_eq!(mapped.bytes(), bytes);
        }
        // A slice that is not part of the map.
        mapped.release(&bytes);
        let last = bytes.iter().rposition(|&byte| byte != 0);
        assert_eq!(last, Some(49_999));
    }

    #[test]
    fn parts_are_read_without_the_map() {
        let bytes: Vec<u8> = (0..50_000u32).map(|at| (at % 251) as u8).collect();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&bytes).unwrap();
        let mapped = MappedFile::of_file(file.as_file(), file.path()).unwrap();
        for (part, expected) in [
            (&mapped.bytes()[7..40_007], &bytes[7..40_007]),
            (&mapped.bytes()[49_999..], &bytes[49_999..]),
            // A slice that is not part of the map.
            (&bytes[..5], &bytes[..5]),
        ] {
            let mut read = vec![0; part.len()];
            mapped.read(part, &mut read).unwrap();
            assert_eq!(read, expected);
        }
        file.as_file().set_len(40_000).unwrap();
        let message = mapped.read(&mapped.bytes()[7..40_007], &mut [0; 40_000]).unwrap_err();
        let expected = "while it was in use: run again with an unchanging file";
        assert!(message.to_string().ends_with(expected), "{message}");
    }

    #[test]
    fn a_file_that_is_written_to_is_looked_at_again() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let bytes = vec![7; 100_000];
        file.write_all(&bytes).unwrap();
        let old = SystemTime::now() - std::time::Duration::from_secs(100);
        file.as_file().set_modified(old).unwrap();
        let sections = [section(&bytes, 0, bytes.len())];
        let mapped = MappedFile::of_file(file.as_file(), file.path()).unwrap();
        let check = || mapped.check::<Failed>(&sections, 2, &Cancel::default());
        assert_eq!(check().unwrap(), None);
        // The file is only touched.
        file.as_file().set_modified(SystemTime::now()).unwrap();
        assert_eq!(check().unwrap(), None);
        file.as_file().write_all_at(b"x", 5).unwrap();
        file.as_file().set_modified(old).unwrap();
        assert_eq!(check().unwrap(), Some(0));
        file.as_file().set_len(50_000).unwrap();
        let message = check().unwrap_err().to_string();
        assert!(message.ends_with("while it was in use: run again with an unchanging file"));
    }
}
