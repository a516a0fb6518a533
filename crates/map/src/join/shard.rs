//! The file of a shard.

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

/// Bytes of a header, at most.
const MAX_HEAD: usize = 1 << 30;
/// Bytes of a record before its name, its length among them.
const FIXED: usize = 36;

#[derive(Debug)]
pub(super) struct ShardFile {
    pub(super) path: PathBuf,
    file: File,
    pub(super) head: Head,
    pub(super) mark: ShardMark,
    /// Where the blocks of its records begin and end.
    from: u64,
    to: u64,
}

impl ShardFile {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// If it cannot be read, is cut short, or is no shard.
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

    /// Sees to it that the file has its end.
    fn check_end(&self) -> Result<(), Error> {
        let mut end = [0; BgzfBlocks::END.len()];
        match self.file.read_exact_at(&mut end, self.to) {
            Err(source) if source.kind() != io::ErrorKind::UnexpectedEof => {
                return Err(Error::File { path: self.path.clone(), source });
            }
            _ => {}
        }
        if self.to < self.from || end != BgzfBlocks::END {
            return Err(self.error("is cut short: copy it again, or map this shard again"));
        }
        Ok(())
    }

    /// Sees to it that this one is of the same job as another one.
    pub(super) fn check_goes_with(&self, first: &ShardFile) -> Result<(), Error> {
        let (own, other, name) = (self.mark, first.mark, first.path.display());
        let wrong = |what: String| self.error(what);
        own.of.check_number(other.of, &first.path).map_err(wrong)?;
        if let Some([line, others]) = self.head.difference(&first.head) {
            let shown = |line: &str| line.replace('\t', " ");
            return Err(self.error(format!(
                "was mapped otherwise than {name} ({}, and there {}): only shards of one job can be \
                 joined",
                shown(line),
                shown(others)
            )));
        }
        let others = "of other reads or another reference";
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

    /// Bytes of its records' blocks.
    pub(super) fn bytes(&self) -> u64 {
        self.to - self.from
    }

    /// The blocks of its records: the file, from where on, and how many bytes.
    pub(super) fn blocks(&self) -> (&Path, &File, u64, u64) {
        (&self.path, &self.file, self.from, self.bytes())
    }

    /// Has `take` the text of each block of its records, and returns their digest.
    ///
    /// # Errors
    /// If one cannot be read or is damaged; as `take`; if cancelled.
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

    /// Has `take` its records, some whole ones at a time.
    ///
    /// # Errors
    /// As [`ShardFile::each_block`]; if a record is none, and if they are not those that were written.
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

    /// Sees to it that records are those that were written.
    fn check_content(&self, found: ShardContent) -> Result<(), Error> {
        let written = self.mark.content;
        let what = if found == written {
            return Ok(());
        } else if found.records != written.records {
            let [found, written] = [found.records, written.records].map(thousands);
            format!("has {found} records, and {written} were written to it")
        } else {
            "has not the bytes that were written to it".to_owned()
        };
        Err(self.error(format!("{what}: give it as map --shard wrote it, or map this shard again")))
    }

    fn damaged(&self, at: u64) -> Error {
        self.error(format!("is damaged behind byte {at}: copy it again, or map this shard again"))
    }
}

fn is_none(path: &Path) -> Error {
    Error::Input(format!(
        "{}: is no shard as this version of merganser map --shard writes it, or was changed: map it again",
        path.display()
    ))
}

/// The length of the record that begins here, once its number is there.
fn record_len(bytes: &[u8]) -> Option<usize> {
    let number: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
    Some((u32::from_le_bytes(number) as usize).saturating_add(4))
}

/// Whether a record has all that its numbers say, and lies on a contig or on none.
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
