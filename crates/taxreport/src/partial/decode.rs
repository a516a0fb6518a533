//! Reading back. Of a damaged file nothing is believed before it has been looked at: no memory is taken
//! for what a length says, but for what is there.

use std::io::Read;
use std::path::{Path, PathBuf};

use merganser_store::sealed::SEALED;

use super::{Ascending, MAGIC, OF_RUNS, OF_SHARDS};
use crate::Error;

/// Bytes that are read together.
const BLOCK: usize = 1 << 16;

/// A file that is read from its beginning to its end.
pub struct Decoder {
    path: PathBuf,
    input: Box<dyn Read + Send>,
    block: Vec<u8>,
    /// The next byte of the block,
    next: usize,
    /// and the bytes before the block.
    before: u64,
    checksum: crc32fast::Hasher,
    of_shard: bool,
}

impl Decoder {
    /// Opens a file, plain or compressed, and reads what all partial results begin with.
    ///
    /// # Errors
    /// If it cannot be read, or is something else, or of another version.
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
        if ![OF_RUNS, OF_SHARDS].contains(&version) {
            decoder.check_sum_of_all()?;
            let what = format!(
                "partial results of format {version}, not this program's {OF_RUNS} or {OF_SHARDS}: \
                 join them with the version of merganser that wrote them"
            );
            return Err(Error::content(path, what));
        }
        decoder.of_shard = version == OF_SHARDS;
        Ok(decoder)
    }

    /// Reads a file of which nothing but its beginning is known to its end.
    ///
    /// # Errors
    /// As reading, and if its last bytes are not the checksum of all others.
    fn check_sum_of_all(&mut self) -> Result<(), Error> {
        while self.fill()? {
            self.next = self.block.len();
        }
        // It says nothing of a place.
        self.before = 0;
        match std::mem::take(&mut self.checksum).finalize() {
            SEALED => Ok(()),
            _ => Err(self.damaged("its version is none, or it was changed or cut short")),
        }
    }

    fn new(path: &Path, input: Box<dyn Read + Send>) -> Decoder {
        let (path, block, checksum) = (path.to_owned(), Vec::new(), crc32fast::Hasher::new());
        Decoder { path, input, block, next: 0, before: 0, checksum, of_shard: false }
    }

    /// A reader of these bytes, for tests.
    #[doc(hidden)]
    pub fn of(bytes: Vec<u8>) -> Decoder {
        Decoder::new(Path::new("test"), Box::new(std::io::Cursor::new(bytes)))
    }

    /// Whether the results are of a shard of a job.
    pub(super) fn is_of_shard(&self) -> bool {
        self.of_shard
    }

    /// The file's name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The error of a file that is not as it was written.
    pub fn damaged(&self, what: &str) -> Error {
        let at = self.before + self.next as u64;
        let text = format!("damaged before byte {at}: {what}; copy it again, or classify again");
        Error::content(&self.path, text)
    }

    /// Makes sure that there is a next byte; false at the file's end.
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
            return Err(self.damaged("it ends there, cut short"));
        }
        self.next += 1;
        Ok(self.block[self.next - 1])
    }

    /// So many bytes.
    ///
    /// # Errors
    /// As reading, and if the file ends before.
    pub fn array<const COUNT: usize>(&mut self) -> Result<[u8; COUNT], Error> {
        let mut bytes = [0; COUNT];
        for byte in &mut bytes {
            *byte = self.byte()?;
        }
        Ok(bytes)
    }

    /// Calls `take` with all of so many bytes, block by block.
    ///
    /// # Errors
    /// As reading, and if the file ends before.
    pub fn each_block(&mut self, count: u64, mut take: impl FnMut(&[u8])) -> Result<(), Error> {
        let mut left = count;
        while left > 0 {
            if !self.fill()? {
                return Err(self.damaged("it ends there, cut short"));
            }
            let rest = &self.block[self.next..];
            let own = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
            take(&rest[..own]);
            self.next += own;
            left -= own as u64;
        }
        Ok(())
    }

    /// A number.
    ///
    /// # Errors
    /// As reading, and if it is none.
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

    /// A text.
    ///
    /// # Errors
    /// As reading, and if it is none.
    pub fn text(&mut self) -> Result<String, Error> {
        let (length, mut bytes) = (self.number()?, Vec::new());
        self.each_block(length, |block| bytes.extend_from_slice(block))?;
        String::from_utf8(bytes).map_err(|_| self.damaged("a text is not UTF-8"))
    }

    /// The next number of an ascending list of numbers below `end`; none at the list's end.
    ///
    /// # Errors
    /// As reading, and if it is too large.
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

    /// Takes each pair of a list: a number below `end`, and another one.
    ///
    /// # Errors
    /// As reading, and if a number is too large; those of `take`, in words.
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

    /// Checks the checksum, behind which nothing may come.
    ///
    /// # Errors
    /// As reading, and if the file is damaged.
    pub fn finish(mut self) -> Result<(), Error> {
        self.array::<4>()?;
        let mut checksum = std::mem::take(&mut self.checksum);
        checksum.update(&self.block[..self.next]);
        if checksum.finalize() != SEALED {
            return Err(self.damaged("the checksum is another one"));
        }
        match self.fill()? {
            true => Err(self.damaged("there is more behind its end")),
            false => Ok(()),
        }
    }
}

/// What is wanted where other files are found.
const WANTED: &str = "partial results of merganser classify";
