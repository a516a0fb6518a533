//! Compressed bytes of a file from any offset.

use crate::deflate::{Input, PADDING, find};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A stretch of a file, which is extended at its end.
#[derive(Default)]
pub(super) struct Raw {
    /// The data, followed by zeros.
    bytes: Vec<u8>,
    length: usize,
    offset: u64,
    ended: bool,
}

/// The number of bytes that are read at a time when more are needed.
const STEP: usize = 128 * 1024;

impl Raw {
    /// Returns an empty stretch at byte `offset` of the file, with the memory of `bytes`.
    pub(super) fn at(offset: u64, bytes: Vec<u8>) -> Self {
        Self { bytes, length: 0, offset, ended: false }
    }

    /// Returns the buffer.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Reads `count` more bytes; fewer at the end of the file.
    pub(super) fn read(&mut self, file: &File, count: usize) -> io::Result<()> {
        let wanted = self.length + count;
        if self.bytes.len() < wanted + PADDING {
            self.bytes.resize(wanted + PADDING, 0);
        }
        while self.length < wanted {
            let place = self.offset + self.length as u64;
            let room = &mut self.bytes[self.length..wanted];
            let read = match file.read_at(room, place) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            if read == 0 {
                self.ended = true;
                break;
            }
            self.length += read;
        }
        self.bytes[self.length..self.length + PADDING].fill(0);
        Ok(())
    }

    /// Drops the bytes before bit `at` of the file, and reads more.
    pub(super) fn read_on(&mut self, file: &File, at: u64) -> io::Result<()> {
        let used = (at / 8 - self.offset) as usize;
        self.bytes.copy_within(used..self.length, 0);
        self.length -= used;
        self.offset += used as u64;
        self.read(file, STEP)
    }

    /// Whether bit `at` of the file has been dropped.
    pub(super) fn begins_behind(&self, at: u64) -> bool {
        at / 8 < self.offset
    }

    /// Returns the first bit of the file, among `bits`, at which a block can begin.
    pub(super) fn find(&self, bits: std::ops::Range<u64>) -> Option<u64> {
        let first = 8 * self.offset;
        let (from, to) = ((bits.start - first) as usize, (bits.end - first) as usize);
        find(&self.bytes, self.length, from, to).map(|found| first + found as u64)
    }

    pub(super) fn input(&self) -> Input<'_> {
        Input { bytes: &self.bytes, length: self.length, offset: self.offset, ended: self.ended }
    }
}
