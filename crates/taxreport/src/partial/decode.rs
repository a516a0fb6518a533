//! Reader of partial results. Lengths in a file are not trusted, as it may be damaged: memory grows only with the
//! bytes that are really read.

use std::io::Read;
use std::path::{Path, PathBuf};

use merganser_store::sealed::SEALED;

use super::{Ascending, BY_DATABASE, MAGIC, NEWEST, OF_RUNS, WITH_BASES};
use crate::Error;

/// The number of bytes that are read at a time.
const BLOCK: usize = 1 << 16;

/// A reader of a file from beginning to end.
pub struct Decoder {
    path: PathBuf,
    input: Box<dyn Read + Send>,
    block: Vec<u8>,
    /// The index of the next byte in the block.
    next: usize,
    /// The number of bytes before the block.
    before: u64,
    checksum: crc32fast::Hasher,
    of_shard: bool,
    has_bases: bool,
    by_database: bool,
}

impl Decoder {
    /// Opens a file, plain or compressed, and reads the magic and the version.
    ///
    /// # Errors
    /// If the file cannot be read, has another format, or has an unknown version.
    pub fn open(path: &Path) -> Result<Decoder, Error> {
        let kind = merganser_io::FileKind::of_path(path);
        if let Some(kind) = kind.filter(|&kind| kind != merganser_io::FileKind::Partial) {
            return Err(Error::content(path, kind.instead_of(WANTED, None)));
        }
        let input = merganser_io::open_text(path)
            .map_err(|source| Error::File { path: path.to_owned(), source })?;
        let mut decoder = Decoder::new(path, input);
        let mut magic = [0; MAGIC.len()];
        for byte in &mut magic {
            if !decoder.fill()? {
                break;
            }
            *byte = decoder.byte()?;
        }
        if magic != MAGIC {
            let what = format!("not {WANTED}: merganser classify --partial writes them");
            return Err(Error::content(path, what));
        }
        let version = u32::from_le_bytes(decoder.array()?);
        if !(OF_RUNS..=NEWEST).contains(&version) {
            decoder.check_sum_of_all()?;
            let what = format!(
                "partial results of format {version}, not this program's {OF_RUNS} to {NEWEST}: \
                 join them with the version of merganser that wrote them"
            );
            return Err(Error::content(path, what));
        }
        decoder.has_bases = version >= OF_RUNS + WITH_BASES;
        decoder.by_database = version >= OF_RUNS + WITH_BASES + BY_DATABASE;
        decoder.of_shard = version.is_multiple_of(2);
        Ok(decoder)
    }

    /// Reads the rest of a file whose version is unknown, and verifies the checksum at its end.
    ///
    /// # Errors
    /// If reading fails, or if the checksum does not match.
    fn check_sum_of_all(&mut self) -> Result<(), Error> {
        while self.fill()? {
            self.next = self.block.len();
        }
        // So that the error does not state a position.
        self.before = 0;
        match std::mem::take(&mut self.checksum).finalize() {
            SEALED => Ok(()),
            _ => Err(self.damaged("its version is unknown, or it was changed or cut short")),
        }
    }

    fn new(path: &Path, input: Box<dyn Read + Send>) -> Decoder {
        let (path, block, checksum) = (path.to_owned(), Vec::new(), crc32fast::Hasher::new());
        Decoder {
            path,
            input,
            block,
            next: 0,
            before: 0,
            checksum,
            of_shard: false,
            has_bases: true,
            by_database: false,
        }
    }

    /// Returns a reader of these bytes, for tests.
    #[doc(hidden)]
    pub fn of(bytes: Vec<u8>) -> Decoder {
        Decoder::new(Path::new("test"), Box::new(std::io::Cursor::new(bytes)))
    }

    /// Whether the results are those of a shard of a job.
    pub(super) fn is_of_shard(&self) -> bool {
        self.of_shard
    }

    /// Whether the file has the bases of reads beside their numbers; earlier versions wrote none.
    pub fn has_bases(&self) -> bool {
        self.has_bases
    }

    /// Whether the results also have the reads by database.
    pub fn is_by_database(&self) -> bool {
        self.by_database
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns an error that the file is damaged at the current position.
    pub fn damaged(&self, what: &str) -> Error {
        let at = self.before + self.next as u64;
        let text = format!("damaged before byte {at}: {what}; copy it again, or classify again");
        Error::content(&self.path, text)
    }

    /// Reads the next block if necessary; returns false at the end of the file.
    fn fill(&mut self) -> Result<bool, Error> {
        if self.next < self.block.len() {
            return Ok(true);
        }
        self.checksum.update(&self.block);
        self.before += self.block.len() as u64;
        self.block.clear();
        self.next = 0;
        let read = (&mut self.input).take(BLOCK as u64).read_to_end(&mut self.block);
        read.map_err(|source| Error::File { path: self.path.clone(), source })?;
        Ok(!self.block.is_empty())
    }

    fn byte(&mut self) -> Result<u8, Error> {
        if !self.fill()? {
            return Err(self.damaged("the file is cut short"));
        }
        self.next += 1;
        Ok(self.block[self.next - 1])
    }

    /// Reads `COUNT` bytes.
    ///
    /// # Errors
    /// If reading fails, or if the file ends before.
    pub fn array<const COUNT: usize>(&mut self) -> Result<[u8; COUNT], Error> {
        let mut bytes = [0; COUNT];
        for byte in &mut bytes {
            *byte = self.byte()?;
        }
        Ok(bytes)
    }

    /// Reads `count` bytes and calls `take` with them, block by block.
    ///
    /// # Errors
    /// If reading fails, or if the file ends before.
    pub fn each_block(&mut self, count: u64, mut take: impl FnMut(&[u8])) -> Result<(), Error> {
        let mut left = count;
        while left > 0 {
            if !self.fill()? {
                return Err(self.damaged("the file is cut short"));
            }
            let rest = &self.block[self.next..];
            let own = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
            take(&rest[..own]);
            self.next += own;
            left -= own as u64;
        }
        Ok(())
    }

    /// Reads a number.
    ///
    /// # Errors
    /// If reading fails, or if the number exceeds 64 bits.
    pub fn number(&mut self) -> Result<u64, Error> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            if shift == 63 && byte > 1 {
                break;
            }
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        Err(self.damaged("a number is too large"))
    }

    /// Reads a text.
    ///
    /// # Errors
    /// If reading fails, or if the text is not UTF-8.
    pub fn text(&mut self) -> Result<String, Error> {
        let (length, mut bytes) = (self.number()?, Vec::new());
        self.each_block(length, |block| bytes.extend_from_slice(block))?;
        String::from_utf8(bytes).map_err(|_| self.damaged("a text is not UTF-8"))
    }

    /// Reads the next number of an ascending list of numbers below `end`; returns `None` at the end of the list.
    ///
    /// # Errors
    /// If reading fails, or if the number is not below `end`.
    pub fn next_of(&mut self, list: &mut Ascending, end: u64) -> Result<Option<u64>, Error> {
        let step = self.number()?;
        if step == 0 {
            return Ok(None);
        }
        match list.after(step).filter(|&value| value < end) {
            Some(value) => Ok(Some(value)),
            None => Err(self.damaged("a number is too large")),
        }
    }

    /// Reads a list of pairs and calls `take` with each: a key below `end`, in ascending order, and a value.
    ///
    /// # Errors
    /// If reading fails; if a key is not below `end`; if `take` returns an error message.
    pub fn each_pair(
        &mut self,
        end: usize,
        mut take: impl FnMut(u32, u64) -> Result<(), &'static str>,
    ) -> Result<(), Error> {
        let mut keys = Ascending::default();
        while let Some(key) = self.next_of(&mut keys, end as u64)? {
            let value = self.number()?;
            take(key as u32, value).map_err(|what| self.damaged(what))?;
        }
        Ok(())
    }

    /// Verifies the checksum, which must be at the end of the file.
    ///
    /// # Errors
    /// If reading fails, or if the file is damaged.
    pub fn finish(mut self) -> Result<(), Error> {
        self.array::<4>()?;
        let mut checksum = std::mem::take(&mut self.checksum);
        checksum.update(&self.block[..self.next]);
        if checksum.finalize() != SEALED {
            return Err(self.damaged("the checksum does not match"));
        }
        match self.fill()? {
            true => Err(self.damaged("there is data after its end")),
            false => Ok(()),
        }
    }
}

/// The name of the format in error messages about other files.
const WANTED: &str = "partial results of merganser classify";
