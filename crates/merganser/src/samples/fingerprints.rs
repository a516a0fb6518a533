//! Fingerprints of files, which show whether a file has changed since an earlier run.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use merganser_io::{Content, look_up};
use merganser_run::Cancel;
use serde::{Deserialize, Serialize};

use crate::common::text_of;

/// A file in the state in which it was read.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Fingerprint {
    path: String,
    #[serde(flatten)]
    stamp: Stamp,
    /// The CRC-32 of all its bytes.
    crc32: u32,
}

/// Metadata of a file, which change with its content.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, Serialize)]
struct Stamp {
    bytes: u64,
    /// The time of the last change, in nanoseconds since 1970.
    modified_ns: i64,
    inode: u64,
}

impl Stamp {
    /// Returns the stamp of a regular file, `None` for anything else.
    fn new(at: &Metadata) -> Option<Stamp> {
        let modified_ns = at.mtime().saturating_mul(1_000_000_000).saturating_add(at.mtime_nsec());
        at.is_file().then(|| Stamp { bytes: at.len(), modified_ns, inode: at.ino() })
    }

    /// Returns the stamp of the file at `path`, `None` if there is no regular file.
    fn look_up(path: &Path) -> io::Result<Option<Stamp>> {
        Ok(look_up(path)?.as_ref().and_then(Stamp::new))
    }
}

impl Fingerprint {
    /// Whether the file at `path` still has the same size, time and inode.
    pub(crate) fn is_unchanged(&self, path: &Path) -> bool {
        Stamp::look_up(path).is_ok_and(|now| now == Some(self.stamp))
    }

    /// Whether size and checksum are equal.
    fn has_content_of(&self, other: &Fingerprint) -> bool {
        (self.stamp.bytes, self.crc32) == (other.stamp.bytes, other.crc32)
    }
}

/// All known fingerprints. A file is read at most once, and not at all if the journal has its fingerprint.
#[derive(Debug, Default)]
pub(crate) struct Fingerprints {
    checksums: HashMap<(String, Stamp), u32>,
}

impl Fingerprints {
    /// Adds a fingerprint that an earlier run noted.
    pub(crate) fn add(&mut self, known: &Fingerprint) {
        self.checksums.insert((known.path.clone(), known.stamp), known.crc32);
    }

    /// Returns the fingerprints of `files`, in the order of `files`.
    ///
    /// # Errors
    /// Names the first that is not a regular file, cannot be read or changes meanwhile; or if the run is cancelled.
    pub(crate) fn take(
        &mut self,
        files: &[impl AsRef<Path>],
        cancel: &Cancel,
    ) -> Result<Vec<Fingerprint>, String> {
        let mut take = |file: &Path| {
            let taken = self.take_one(file, cancel).ok().flatten();
            taken.ok_or_else(|| format!("{} is not a regular file, or was changed", file.display()))
        };
        files.iter().map(|file| take(file.as_ref())).collect()
    }

    /// Returns the fingerprints of `files` if their content is as `before`; reads files of another time or inode.
    pub(crate) fn take_same(
        &mut self,
        before: &[Fingerprint],
        files: &[impl AsRef<Path>],
        cancel: &Cancel,
    ) -> Option<Vec<Fingerprint>> {
        if before.len() != files.len() {
            return None;
        }
        let pairs = before.iter().zip(files);
        let take = |(before, file)| self.take_one_same(before, AsRef::as_ref(file), cancel);
        pairs.map(take).collect()
    }

    fn take_one_same(
        &mut self,
        before: &Fingerprint,
        path: &Path,
        cancel: &Cancel,
    ) -> Option<Fingerprint> {
        let stamp = Stamp::look_up(path).ok()??;
        if stamp == before.stamp {
            return Some(Fingerprint { path: text_of(path.as_os_str()), ..before.clone() });
        }
        // A file of another size need not be read.
        let may_be = stamp.bytes == before.stamp.bytes;
        let now = may_be.then(|| self.take_one(path, cancel).ok().flatten()).flatten()?;
        now.has_content_of(before).then_some(now)
    }

    fn take_one(&mut self, path: &Path, cancel: &Cancel) -> anyhow::Result<Option<Fingerprint>> {
        let name = text_of(path.as_os_str());
        // Looked up before the file is opened, because opening a named pipe waits for its writer.
        let Some(stamp) = Stamp::look_up(path)? else { return Ok(None) };
        let key = (name, stamp);
        let crc32 = match self.checksums.get(&key) {
            Some(&crc32) => crc32,
            None => {
                let file = File::open(path)?;
                let content = Content::read(&file, 1, cancel, anyhow::Error::from)?;
                let is_same = Stamp::new(&file.metadata()?) == Some(stamp);
                let Some(content) = content.filter(|_| is_same) else { return Ok(None) };
                self.checksums.insert(key.clone(), content.crc32);
                content.crc32
            }
        };
        Ok(Some(Fingerprint { path: key.0, stamp, crc32 }))
    }
}
