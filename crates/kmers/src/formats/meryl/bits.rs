//! meryl's bit objects: blocks of 64-bit words, little-endian on disk, whose bits are read from the highest to
//! the lowest. No number crosses the border of two blocks.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::Error;
use crate::error::bad;

/// The size of the header before the offsets of blocks: the largest number of bits of a block, the number of
/// blocks, and the capacity for blocks.
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
    /// The index of the first word and the number of bits of each block.
    blocks: Vec<(usize, u64)>,
}

impl Objects {
    pub(super) fn open(path: &Path) -> Result<Objects, Error> {
        let at = |source| Error::File { path: path.to_owned(), source };
        let file = merganser_io::open_file(path).map_err(at)?;
        let left = file.metadata().map_err(at)?.len();
        Ok(Objects { path: path.to_owned(), bytes: BufReader::with_capacity(1 << 18, file), left })
    }

    /// Reads the next object; `None` at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<Object>, Error> {
        let Some(blocks) = self.head()? else { return Ok(None) };
        let words = blocks.last().map_or(0, |&(first, bits)| first + bits.div_ceil(64) as usize);
        let words = self.words(words as u64)?;
        Ok(Some(Object { words, blocks }))
    }

    /// Reads the positions of the blocks of the next object; `None` at the end of the file.
    fn head(&mut self) -> Result<Option<Vec<(usize, u64)>>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        let [_, number] = self.words(HEAD / 8)?[..] else { return Ok(None) };
        // The upper half is the capacity.
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

/// Returns the size of the largest object of a file in bytes. The objects must fill the file.
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
    /// Returns a reader of the object's bits; error messages name the file `path`.
    pub(super) fn bits<'o>(&'o self, path: &'o Path) -> Bits<'o> {
        Bits { object: self, path, block: 0, at: 0 }
    }
}

/// A reader of the bits of an object.
pub(super) struct Bits<'o> {
    object: &'o Object,
    path: &'o Path,
    block: usize,
    /// The position of the next bit in the block.
    at: u64,
}

impl Bits<'_> {
    /// Returns the index of the first word of the block with the next `bits` bits: the current block or else
    /// the next one.
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

    /// Reads a number of up to 64 bits.
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

    /// Reads a unary number: the number of zeros before a one.
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

    /// Reads bytes in their order in the file.
    pub(super) fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut bytes = [0; N];
        for eight in bytes.as_chunks_mut::<8>().0 {
            *eight = self.take(64)?.to_le_bytes();
        }
        Ok(bytes)
    }

    /// Returns an upper bound of the number of bits that follow.
    pub(super) fn left(&self) -> u64 {
        64 * self.object.words.len() as u64
    }

    /// Returns the error for content that meryl does not write.
    pub(super) fn damaged(&self, what: &str) -> Error {
        bad(self.path, format!("{what}: the database is damaged; copy it again, or make it again"))
    }
}
