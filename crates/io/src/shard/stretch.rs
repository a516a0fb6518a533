//! The stretch of a file that one shard reads.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use merganser_inflate::BgzfBlocks;

use super::cut::Cut;
use super::members::{MemberText, read_bgzf_block, text_from};
use crate::compress::Compression;
use crate::format::Format;

/// A stretch of a file, from one position at which it can be cut to another one or to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(super) compression: Compression,
    pub(super) format: Format,
    /// The size of the file in bytes.
    pub(super) size: u64,
    pub(super) from: Cut,
    pub(super) to: Option<Cut>,
}

impl Stretch {
    /// Returns the compression of the file.
    pub(crate) fn compression(&self) -> Compression {
        self.compression
    }

    /// Whether the stretch begins at the beginning of the file.
    pub(crate) fn begins_file(&self) -> bool {
        self.from == Cut::default()
    }

    /// Returns the format of the file.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Returns the bases before the stretch, if it begins within a FASTA sequence.
    pub(crate) fn repeated(&self) -> Option<&[u8]> {
        self.from.repeated.as_deref()
    }

    /// Returns the size of the stretch in the file in bytes; it is approximate in compressed files.
    pub(crate) fn bytes(&self) -> u64 {
        self.end() - self.from.offset
    }

    /// Returns the offsets in a plain file at which the stretch begins and ends.
    pub(crate) fn range(&self) -> (u64, u64) {
        (self.from.offset, self.end())
    }

    fn end(&self) -> u64 {
        self.to.as_ref().map_or(self.size, |to| to.offset)
    }

    /// Returns a BGZF stream with the text of this stretch of a BGZF file: complete blocks are copied, and blocks
    /// that are cut are compressed again.
    pub(crate) fn blocks(&self, mut file: File) -> io::Result<Box<dyn Read + Send>> {
        let mut head = Vec::new();
        let mut from = self.from.offset;
        let mut store = BgzfBlocks::new(0);
        if self.from.skip > 0 {
            let (size, text) = block(&file, from)?;
            let last = match &self.to {
                Some(to) if to.offset == from => to.skip as usize,
                _ => text.len(),
            };
            let text = text.get(self.from.skip as usize..last).ok_or(io::ErrorKind::InvalidData)?;
            store.compress(text, true, &mut head);
            from += size;
        }
        let mut tail = Vec::new();
        if let Some(to) = &self.to {
            if to.skip > 0 && to.offset >= from {
                let (_, text) = block(&file, to.offset)?;
                let text = text.get(..to.skip as usize).ok_or(io::ErrorKind::InvalidData)?;
                store.compress(text, true, &mut tail);
            }
            tail.extend_from_slice(&BgzfBlocks::END);
        }
        file.seek(SeekFrom::Start(from))?;
        let between = file.take(self.end().saturating_sub(from));
        Ok(Box::new(Cursor::new(head).chain(between).chain(Cursor::new(tail))))
    }

    /// Returns the text of this stretch of a gzip file. The number of bytes read from the file is added to `count`.
    pub(crate) fn text(
        &self,
        file: File,
        count: Arc<AtomicU64>,
    ) -> io::Result<Box<dyn Read + Send>> {
        let mut text = text_from(file, self.from.offset)?;
        io::copy(&mut (&mut text).take(self.from.skip), &mut io::sink())?;
        let taken = self.from.skip;
        let to = self.to.as_ref().map(|to| (to.offset, to.skip));
        Ok(Box::new(UpTo {
            text,
            member: self.from.offset,
            taken,
            to,
            count,
            at: self.from.offset,
        }))
    }
}

/// Reads the block that was found at the beginning or the end of a shard.
fn block(file: &File, offset: u64) -> io::Result<(u64, Vec<u8>)> {
    let changed = || io::Error::new(io::ErrorKind::InvalidData, "the file was changed");
    read_bgzf_block(file, offset)?.ok_or_else(changed)
}

/// A reader that ends at a position in a text.
struct UpTo {
    text: MemberText,
    /// The current member. [`taken`](Self::taken) is the number of bytes of its text that were read.
    member: u64,
    taken: u64,
    /// The member in which the stretch ends, and the number of bytes of its text that belong to the stretch.
    to: Option<(u64, u64)>,
    count: Arc<AtomicU64>,
    /// The offset in the file up to which bytes are included in `count`.
    at: u64,
}

impl Read for UpTo {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() || self.to.is_some_and(|to| to == (self.member, self.taken)) {
            return Ok(0);
        }
        let read = self.text.read(buffer)?;
        let at = self.text.at();
        self.count.fetch_add(at.saturating_sub(self.at), Ordering::Relaxed);
        (self.at, self.taken) = match self.text.member() == self.member {
            true => (at, self.taken),
            false => (at, 0),
        };
        self.member = self.text.member();
        let Some((last, most)) = self.to else { return Ok(read) };
        let read = match self.member.cmp(&last) {
            std::cmp::Ordering::Less if read > 0 => read,
            std::cmp::Ordering::Equal => read.min((most - self.taken) as usize),
            // The next shard begins at an offset at which no member begins.
            _ => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!(
                        "no gzip member begins at byte {last}, where one was expected: do not divide this file"
                    ),
                ));
            }
        };
        self.taken += read as u64;
        Ok(read)
    }
}
