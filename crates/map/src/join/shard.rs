//! The BAM file of a shard.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use merganser_alignments::{BlockDigest, Fields};
use merganser_io::{BgzfBlocks, read_bgzf_block};
use merganser_run::{Cancel, Progress, thousands};

use super::head::{Head, Parsed};
use crate::output::{ShardContent, ShardMark};
use crate::{Contig, Error};

/// The maximum size of a header, in bytes.
const MAX_HEAD: usize = 1 << 30;
/// Bytes of a BAM record before its name, including its length.
const FIXED: usize = 36;

#[derive(Debug)]
pub(super) struct ShardFile {
    pub(super) path: PathBuf,
    file: File,
    pub(super) head: Head,
    pub(super) mark: ShardMark,
    /// The offsets where the blocks of its records begin and end.
    from: u64,
    to: u64,
}

impl ShardFile {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// If it cannot be read, is truncated, or is not a shard.
    pub(super) fn open(path: &Path) -> Result<ShardFile, Error> {
        let failed = |source| Error::File { path: path.to_owned(), source };
        let file = merganser_io::open_file(path).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        let (mut bytes, mut from) = (Vec::new(), 0);
        loop {
            let block = read_bgzf_block(&file, from).map_err(failed)?;
            let Some((packed, text)) = block.filter(|_| bytes.len() < MAX_HEAD) else {
                return Err(is_none(path));
            };
            from += packed;
            bytes.extend_from_slice(&text);
            match Head::parse(&bytes) {
                Parsed::Unfinished => {}
                Parsed::Other => return Err(is_none(path)),
                Parsed::Head(head, mark) => {
                    let to = size.saturating_sub(BgzfBlocks::END.len() as u64);
                    let path = path.to_owned();
                    let shard = ShardFile { path, file, head: *head, mark, from, to };
                    shard.check_end()?;
                    return Ok(shard);
                }
            }
        }
    }

    /// Checks that the file ends with the end-of-file block.
    fn check_end(&self) -> Result<(), Error> {
        let mut end = [0; BgzfBlocks::END.len()];
        match self.file.read_exact_at(&mut end, self.to) {
            Err(source) if source.kind() != io::ErrorKind::UnexpectedEof => {
                return Err(Error::File { path: self.path.clone(), source });
            }
            _ => {}
        }
        if self.to < self.from || end != BgzfBlocks::END {
            return Err(self.error("is truncated: copy it again, or map this shard again"));
        }
        Ok(())
    }

    /// Checks that this file belongs to the same job as the first one.
    pub(super) fn check_goes_with(&self, first: &ShardFile) -> Result<(), Error> {
        let (own, other, name) = (self.mark, first.mark, first.path.display());
        let wrong = |what: String| self.error(what);
        own.of.check_number(other.of, &first.path).map_err(wrong)?;
        if let Some([line, others]) = self.head.difference(&first.head) {
            let shown = |line: &str| line.replace('\t', " ");
            return Err(self.error(format!(
                "was not mapped like {name} (here {}, there {}): only shards of one job can be \
                 joined",
                shown(line),
                shown(others)
            )));
        }
        let others = "from other reads or another reference";
        own.of.check_job(other.of, &first.path, others).map_err(wrong)?;
        if own.level != other.level {
            return Err(self.error(format!(
                "is compressed at level {}, and {name} at {}: map the shards of a job with the same \
                 `level`",
                own.level, other.level
            )));
        }
        Ok(())
    }

    pub(super) fn error(&self, what: impl std::fmt::Display) -> Error {
        Error::Input(format!("{}: {what}", self.path.display()))
    }

    /// Returns the number of bytes of its records' blocks.
    pub(super) fn bytes(&self) -> u64 {
        self.to - self.from
    }

    /// Returns the blocks of its records: path, file, offset and number of bytes.
    pub(super) fn blocks(&self) -> (&Path, &File, u64, u64) {
        (&self.path, &self.file, self.from, self.bytes())
    }

    /// Calls `take` with the text of each block of its records, and returns their digest.
    ///
    /// # Errors
    /// If a block cannot be read or is damaged, if `take` fails, or if cancelled.
    fn each_block(
        &self,
        progress: &dyn Progress,
        cancel: &Cancel,
        mut take: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<u32, Error> {
        let (mut at, mut digest) = (self.from, BlockDigest::default());
        while at < self.to {
            cancel.check()?;
            let block = read_bgzf_block(&self.file, at)
                .map_err(|source| Error::File { path: self.path.clone(), source })?;
            let Some((packed, text)) = block.filter(|(packed, _)| *packed <= self.to - at) else {
                return Err(self.damaged(at));
            };
            digest.add_text(&text);
            take(&text)?;
            progress.advance(packed);
            at += packed;
        }
        Ok(digest.value())
    }

    /// Calls `take` with its records, a number of whole ones at a time.
    ///
    /// # Errors
    /// The errors of [`ShardFile::each_block`]; also if a record is malformed, or differs from the record that
    /// was written.
    pub(super) fn each_records(
        &self,
        progress: &dyn Progress,
        cancel: &Cancel,
        take: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (mut waiting, mut records) = (Vec::new(), 0);
        let digest = self.each_block(progress, cancel, |text| {
            waiting.extend_from_slice(text);
            let mut whole = 0;
            while let Some(len) = record_len(&waiting[whole..]) {
                let record = waiting.get(whole..whole + len);
                let Some(record) = record else { break };
                if !is_record(record, &self.head.contigs) {
                    return Err(self.damaged(self.from));
                }
                whole += len;
                records += 1;
            }
            take(&waiting[..whole])?;
            waiting.drain(..whole);
            Ok(())
        })?;
        match waiting.is_empty() {
            true => self.check_content(ShardContent { records, digest }),
            false => Err(self.damaged(self.to)),
        }
    }

    /// Checks that the records are those that were written.
    fn check_content(&self, found: ShardContent) -> Result<(), Error> {
        let written = self.mark.content;
        let what = if found == written {
            return Ok(());
        } else if found.records != written.records {
            let [found, written] = [found.records, written.records].map(thousands);
            format!("has {found} records, and {written} were written to it")
        } else {
            "does not have the bytes that were written to it".to_owned()
        };
        Err(self.error(format!("{what}: give it as map --shard wrote it, or map this shard again")))
    }

    fn damaged(&self, at: u64) -> Error {
        self.error(format!("is damaged after byte {at}: copy it again, or map this shard again"))
    }
}

fn is_none(path: &Path) -> Error {
    Error::Input(format!(
        "{}: is not a shard that this version of merganser map --shard wrote, or was changed: map it again",
        path.display()
    ))
}

/// Returns the length of the record that begins here, once its length field is complete.
fn record_len(bytes: &[u8]) -> Option<usize> {
    let number: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
    Some((u32::from_le_bytes(number) as usize).saturating_add(4))
}

/// Whether a record is as long as its fields require, and lies within a contig or is unmapped.
fn is_record(record: &[u8], contigs: &[Contig]) -> bool {
    if record.len() < FIXED {
        return false;
    }
    let fields = Fields(record);
    let on_contig = match fields.contig() {
        -1 => true,
        contig => {
            let len = usize::try_from(contig).ok().and_then(|contig| contigs.get(contig));
            len.is_some_and(|contig| u32::try_from(fields.at()).is_ok_and(|at| at < contig.len))
        }
    };
    on_contig && fields.are_whole()
}
