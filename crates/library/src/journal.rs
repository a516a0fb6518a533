//! The journal of a run that has not ended: the file `MANIFEST.part` in the folder of the future manifest. A line is
//! appended to it for each file that is checked. A run after one that was killed reuses its journal.
//!
//! The first line identifies the format. All other lines are rows of a manifest with one more column: the CRC-32 of
//! the line before it, as 8 hexadecimal digits. A line without a valid CRC was cut when its process or machine
//! stopped, and is ignored. The file is removed after the manifest has appeared.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use merganser_io::look_up;
use merganser_run::locks::lock;

use super::row::{Row, Status};
use crate::Error;

const FIRST: &[u8] = b"##merganser-checked\t1\n";

/// A journal that rows are appended to; locked, so that no other run writes to it.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: Mutex<File>,
}

impl Journal {
    /// Returns the path of the journal of a manifest.
    pub(super) fn path(manifest: &Path) -> PathBuf {
        let mut path = manifest.as_os_str().to_owned();
        path.push(".part");
        path.into()
    }

    /// Returns the sound rows that an earlier run left for a manifest; empty if there is no journal.
    ///
    /// # Errors
    /// If another file has its name, or if it cannot be read.
    pub(super) fn read(manifest: &Path) -> Result<Vec<Row>, Error> {
        let path = Journal::path(manifest);
        let failed = |source| Error::File { path: path.clone(), source };
        let bytes = match look_up(&path).map_err(failed)? {
            None => return Ok(Vec::new()),
            Some(there) if !there.is_file() => return Err(foreign(&path)),
            Some(_) => fs::read(&path).map_err(failed)?,
        };
        let Some(lines) = bytes.strip_prefix(FIRST) else {
            // A run that was killed at its beginning has left only a part of the first line.
            return if FIRST.starts_with(&bytes) { Ok(Vec::new()) } else { Err(foreign(&path)) };
        };
        let rows = lines.split(|&byte| byte == b'\n').filter_map(row);
        Ok(rows.filter(|row| row.status == Status::Sound).collect())
    }

    /// Opens the journal of a manifest to append to it, or creates it.
    ///
    /// # Errors
    /// If it cannot be written, or if another run has it open.
    pub(super) fn open(manifest: &Path) -> Result<Journal, Error> {
        let path = Journal::path(manifest);
        let failed =
            |cause| merganser_io::Error::Write { path: path.clone(), cause: Arc::new(cause) };
        let options = File::options().read(true).append(true).create(true).open(&path);
        let mut file = options.map_err(failed)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(Error::content(
                    &path,
                    "another run is making this manifest: wait for it",
                ));
            }
            // Some file systems do not support locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let length = file.metadata().map_err(failed)?.len();
        if length < FIRST.len() as u64 {
            file.set_len(0).and_then(|()| file.write_all(FIRST)).map_err(failed)?;
        } else {
            // The last line may lack its line end.
            file.write_all(b"\n").map_err(failed)?;
        }
        Ok(Journal { path, file: Mutex::new(file) })
    }

    /// Appends a row.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn add(&self, row: &Row) -> Result<(), Error> {
        let mut line = Vec::new();
        row.put(&mut line);
        let sum = crc32fast::hash(&line);
        line.extend_from_slice(format!("\t{sum:08x}\n").as_bytes());
        // Written in one call, so that a process that is killed leaves whole lines.
        let written = lock(&self.file).write_all(&line);
        let failed =
            |cause| merganser_io::Error::Write { path: self.path.clone(), cause: Arc::new(cause) };
        Ok(written.map_err(failed)?)
    }
}

/// Removes the journal at `path`; everything in it is also in the manifest.
///
/// # Errors
/// If it cannot be removed.
pub(super) fn remove(path: PathBuf) -> Result<(), Error> {
    match fs::remove_file(&path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(Error::File { path, source })
        }
        _ => Ok(()),
    }
}

fn foreign(path: &Path) -> Error {
    Error::content(
        path,
        "is where db prepare keeps its journal, but is not one: move it away, or name another file \
         with `output`",
    )
}

/// Parses the row of a line; `None` if the line is not whole.
fn row(line: &[u8]) -> Option<Row> {
    let tab = line.iter().rposition(|&byte| byte == b'\t')?;
    let digits = &line[tab + 1..];
    let is_sum = digits.len() == 8 && digits.iter().all(u8::is_ascii_hexdigit);
    let digits = std::str::from_utf8(digits).ok().filter(|_| is_sum)?;
    let sum = u32::from_str_radix(digits, 16).ok()?;
    (crc32fast::hash(&line[..tab]) == sum).then(|| Row::parse(&line[..tab]).ok())?
}

#[cfg(test)]
mod tests {
    use super::super::row::tests::sound;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_journal_goes_on_after_a_cut() {
        let dir = tempfile::tempdir().unwrap();
        let manifest = dir.path().join("m.tsv");
        let path = Journal::path(&manifest);
        assert!(path.ends_with("m.tsv.part"));
        assert_eq!(Journal::read(&manifest).unwrap(), []);
        let journal = Journal::open(&manifest).unwrap();
        let other = Journal::open(&manifest).unwrap_err().to_string();
        assert!(other.ends_with("m.tsv.part: another run is making this manifest: wait for it"));
        journal.add(&sound("a")).unwrap();
        journal.add(&sound("b")).unwrap();
        drop(journal);
        let whole = fs::read(&path).unwrap();
        for cut in 0..=whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let before = Journal::read(&manifest).unwrap();
            let most = whole[..cut].iter().filter(|&&byte| byte == b'\n').count();
            assert!(before.len() <= most, "{cut}");
            assert!([sound("a"), sound("b")].starts_with(&before), "{cut}");
            Journal::open(&manifest).unwrap().add(&sound("c")).unwrap();
            let after = Journal::read(&manifest).unwrap();
            assert!(
                after[..after.len() - 1] == before && after.last() == Some(&sound("c")),
                "{cut}"
            );
        }
        remove(path.clone()).unwrap();
        remove(path.clone()).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn other_files_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let manifest = dir.path().join("m");
        let path = Journal::path(&manifest);
        fs::write(&path, "mine\n").unwrap();
        let said = Journal::read(&manifest).unwrap_err().to_string();
        assert!(said.contains("m.part: is where db prepare keeps its journal"), "{said}");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(Journal::read(&manifest).is_err());
    }

    proptest! {
        /// A line with a changed byte is ignored, unless it still has the same row.
        #[test]
        fn changed_lines_are_left_out(at in any::<u16>(), byte in any::<u8>()) {
            let mut line = Vec::new();
            sound("a/b").put(&mut line);
            let sum = crc32fast::hash(&line);
            line.extend_from_slice(format!("\t{sum:08x}").as_bytes());
            let at = usize::from(at) % line.len();
            let was = std::mem::replace(&mut line[at], byte);
            let same = byte.eq_ignore_ascii_case(&was);
            prop_assert!(row(&line).is_none_or(|found| same && found == sound("a/b")));
        }
    }
}
