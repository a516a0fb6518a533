//! meryl's objects of bits: blocks of 64-bit words, little-endian on disk, whose bits are taken from the highest one on. No
//! number goes from one block to the next.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::Error;
use crate::error::bad;

/// Bytes before the places of blocks: the most bits of one, their number, room for so many.
const HEAD: u64 = 16;

/// The objects of a file, in order.
pub(super) struct Objects {
    path: PathBuf,
    bytes: BufReader<File>,
    left: u64,
}

/// An object in memory.
pub(super) struct Object {
    words: Vec<u64>,
    /// Of each block, its first word and its bits.
    blocks: Vec<(usize, u64)>,
}

impl Objects {
    pub(super) fn open(path: &Path) -> Result<Objects, Error> {
        let at = |source| Error::File { path: path.to_owned(), source };
        let file = merganser_io::open_file(path).map_err(at)?;
        let left = file.metadata().map_err(at)?.len();
        Ok(Objects { path: path.to_owned(), bytes: BufReader::with_capacity(1 << 18, file), left })
    }

    /// The next one, none at the end.
    pub(super) fn next(&mut self) -> Result<Option<Object>, Error> {
        let Some(blocks) = self.head()? else { return Ok(None) };
        let words = blocks.last().map_or(0, |&(first, bits)| first + bits.div_ceil(64) as usize);
        let words = self.words(words as u64)?;
        Ok(Some(Object { words, blocks }))
    }

    /// The places of the next object's blocks in its words; none at the end of the file.
    fn head(&mut self) -> Result<Option<Vec<(usize, u64)>>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        let [_, number] = self.words(HEAD / 8)?[..] else { return Ok(None) };
        // The higher half is how many there is room for.
        let number = number & u64::from(u32::MAX);
        let _begins = self.words(number)?;
        let mut words = 0usize;
        let mut blocks = Vec::new();
        for bits in self.words(number)? {
            blocks.push((words, bits));
            words = words.saturating_add(bits.div_ceil(64) as usize);
        }
        match (words as u64).checked_mul(8).is_some_and(|bytes| bytes <= self.left) {
            true => Ok(Some(blocks)),
            false => Err(self.truncated()),
        }
    }

    fn words(&mut self, number: u64) -> Result<Vec<u64>, Error> {
        let bytes = number.saturating_mul(8);
        if bytes > self.left {
            return Err(self.truncated());
        }
        let mut room = vec![0; bytes as usize];
        self.bytes.read_exact(&mut room).map_err(|source| self.at(source))?;
        self.left -= bytes;
        let words = room.as_chunks::<8>().0.iter();
        Ok(words.map(|&word| u64::from_le_bytes(word)).collect())
    }

    fn skip(&mut self, bytes: u64) -> Result<(), Error> {
        let by = i64::try_from(bytes).map_err(|_| self.truncated())?;
        self.bytes.seek_relative(by).map_err(|source| self.at(source))?;
        self.left -= bytes;
        Ok(())
    }

    fn truncated(&self) -> Error {
        bad(&self.path, "is truncated or damaged: copy the database again, or make it again")
    }

    fn at(&self, source: io::Error) -> Error {
        match source.kind() {
            io::ErrorKind::UnexpectedEof => self.truncated(),
            _ => Error::File { path: self.path.clone(), source },
        }
    }
}

/// Bytes of the largest object of a file, whose objects must fill it.
pub(super) fn largest_object(path: &Path) -> Result<u64, Error> {
    let mut objects = Objects::open(path)?;
    let mut largest = 0;
    loop {
        let before = objects.left;
        let Some(blocks) = objects.head()? else { return Ok(largest) };
        let words = blocks.last().map_or(0, |&(first, bits)| first as u64 + bits.div_ceil(64));
        objects.skip(8 * words)?;
        largest = largest.max(before - objects.left);
    }
}

impl Object {
    /// Its bits from the first on; messages call its file `path`.
    pub(super) fn bits<'o>(&'o self, path: &'o Path) -> Bits<'o> {
        Bits { object: self, path, block: 0, at: 0 }
    }
}

/// A place in an object.
pub(super) struct Bits<'o> {
    object: &'o Object,
    path: &'o Path,
    block: usize,
    /// The next bit of the block.
    at: u64,
}

impl Bits<'_> {
    /// Where the words of a block begin in which so many bits follow: this one, or else the next.
    fn block_of(&mut self, bits: u64) -> Result<usize, Error> {
        for _ in 0..2 {
            let Some(&(first, length)) = self.object.blocks.get(self.block) else { break };
            if self.at + bits <= length {
                return Ok(first);
            }
            (self.block, self.at) = (self.block + 1, 0);
        }
        Err(self.damaged("a block that ends early"))
    }

    /// A number of up to 64 bits.
    #[inline]
    pub(super) fn take(&mut self, bits: u32) -> Result<u64, Error> {
        if bits == 0 {
            return Ok(0);
        }
        let first = self.block_of(u64::from(bits))?;
        let (word, from) = (first + (self.at / 64) as usize, (self.at % 64) as u32);
        self.at += u64::from(bits);
        let mut value = self.object.words[word] << from;
        if from + bits > 64 {
            value |= self.object.words[word + 1] >> (64 - from);
        }
        Ok(value >> (64 - bits))
    }

    /// The zeros before a one, which is passed over.
    #[inline]
    pub(super) fn unary(&mut self) -> Result<u64, Error> {
        let first = self.block_of(1)?;
        let length = self.object.blocks[self.block].1;
        let begin = self.at;
        while self.at < length {
            let rest = self.object.words[first + (self.at / 64) as usize] << (self.at % 64);
            if rest != 0 {
                self.at += u64::from(rest.leading_zeros());
                let zeros = self.at - begin;
                self.at += 1;
                return Ok(zeros);
            }
            self.at += 64 - self.at % 64;
        }
        Err(self.damaged("a block that ends early"))
    }

    /// Bytes as they stand in the file.
    pub(super) fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut bytes = [0; N];
        for eight in bytes.as_chunks_mut::<8>().0 {
            *eight = self.take(64)?.to_le_bytes();
        }
        Ok(bytes)
    }

    /// No fewer than the bits that follow.
    pub(super) fn left(&self) -> u64 {
        64 * self.object.words.len() as u64
    }

    /// What is said of contents that meryl does not write.
    pub(super) fn damaged(&self, what: &str) -> Error {
        bad(self.path, format!("{what}: the database is damaged; copy it again, or make it again"))
    }
}
