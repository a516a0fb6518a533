//! Tables of k-mers in every format that is read, behind one face: their k-mers in order, range by
//! range.
//!
//! `.mgk` tables, KMC1 databases and FastK's tables lie sorted on disk, bins of KMC2 databases, too, and ranges of
//! them are read as they are needed. All others (meryl's, KFF, Parquet, text, the largest KMC2 databases) are
//! first gathered: scattered by their first bits, in memory or on disk, and sorted range by range.

pub(crate) mod clipped;
pub(crate) mod temporary;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use merganser_io::OutputCompression;
use merganser_run::Cancel;
use merganser_seq::kmer::Kmer;

pub use crate::description::{Description, Kind};
use crate::error::bad;
use crate::formats::fastk::{FastK, FastKRanges};
use crate::formats::kff::Kff;
pub use crate::formats::kmc::Database;
use crate::formats::meryl::Meryl;
use crate::formats::mgk::{self, MgkRanges, PieceKind};
#[cfg(feature = "parquet")]
use crate::formats::parquet::Parquet;
use crate::formats::text::{Text, is_dump};
use crate::formats::{TABLE, is_no_folder, not_a_table};
use crate::gathered::Gathered;
use crate::ranges::Ranges;
use crate::{Error, Histogram, Table};

/// An open table of any format.
#[derive(Debug)]
pub struct AnyTable {
    path: PathBuf,
    description: Description,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Mgk(Table),
    Kmc(Database),
    FastK(FastK),
    Meryl(Meryl),
    Kff(Kff),
    Text(Box<Text>),
    #[cfg(feature = "parquet")]
    Parquet(Parquet),
}

impl AnyTable {
    /// Opens the table at `path`: its format is told by its content, a KMC database by either of its
    /// files or the name without suffix; `-` is text on standard input. Text does not say whether
    /// its k-mers are canonical: `canonical` does.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, is of no format that is known, or is but a piece of one.
    pub fn open(path: &Path, canonical: bool, cancel: &Cancel) -> Result<AnyTable, Error> {
        let table = AnyTable::open_piece(path, canonical, cancel)?;
        match table.description.header.as_ref().and_then(|header| header.piece) {
            None => Ok(table),
            Some(piece) => {
                let remedy = match piece.kind {
                    PieceKind::Shard => "all shards of its count first (merganser kmers union)",
                    PieceKind::Range => "all ranges of its job first (merganser kmers concat)",
                };
                Err(bad(path, format!("it is but {piece}: join {remedy}")))
            }
        }
    }

    /// As [`open`](Self::open), a table that may be a shard of a count or a range of k-mers, too.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, or is of no format that is known.
    pub fn open_piece(path: &Path, canonical: bool, cancel: &Cancel) -> Result<AnyTable, Error> {
        let (content, description) = AnyTable::content(path, canonical, cancel)?;
        Ok(AnyTable { path: path.to_owned(), description, content })
    }

    /// A table of ours in an open file, which messages call `path`.
    pub(crate) fn own(file: File, path: &Path) -> Result<AnyTable, Error> {
        let table = Table::of_file(file, path)?;
        let description = Description::of_header(table.header());
        Ok(AnyTable { path: path.to_owned(), description, content: Content::Mgk(table) })
    }

    fn content(
        path: &Path,
        canonical: bool,
        cancel: &Cancel,
    ) -> Result<(Content, Description), Error> {
        if path.as_os_str() != "-" {
            if let Some(stem) = Database::stem(path) {
                let database = Database::open(&stem)?;
                let description = database.description();
                return Ok((Content::Kmc(database), description));
            }
            // Its stub has no magic.
            if path.extension().is_some_and(|end| end == "ktab") && is_no_folder(path) {
                let table = FastK::open(path)?;
                let description = table.description();
                return Ok((Content::FastK(table), description));
            }
            if Meryl::is_at(path) {
                let database = Meryl::open(path, canonical)?;
                let description = database.description();
                return Ok((Content::Meryl(database), description));
            }
            match &magic(path)?[..] {
                [b'K', b'F', b'F', ..] => {
                    let kff = Kff::open(path)?;
                    let description = kff.description();
                    return Ok((Content::Kff(kff), description));
                }
                #[cfg(feature = "parquet")]
                [b'P', b'A', b'R', b'1', ..] => {
                    let table = Parquet::open(path, canonical)?;
                    let description = table.description();
                    return Ok((Content::Parquet(table), description));
                }
                #[cfg(not(feature = "parquet"))]
                [b'P', b'A', b'R', b'1', ..] => return Err(bad(path, crate::formats::NO_PARQUET)),
                magic if magic.starts_with(&mgk::FORMAT.magic) => {
                    let table = Table::open(path)?;
                    let description = Description::of_header(table.header());
                    return Ok((Content::Mgk(table), description));
                }
                magic if !is_text(magic) => return Err(bad(path, not_a_table(path))),
                _ => {}
            }
        }
        let text = Text::open(path, canonical, cancel)?;
        let description = text.description();
        Ok((Content::Text(Box::new(text)), description))
    }

    /// Whether a FASTA file is a table, as `jellyfish dump` writes it, and not sequences.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn is_fasta(path: &Path) -> Result<bool, Error> {
        is_dump(path)
    }

    /// Opens the table once more.
    ///
    /// # Errors
    /// As [`open_piece`](Self::open_piece).
    pub fn reopen(&self, cancel: &Cancel) -> Result<AnyTable, Error> {
        let content = match &self.content {
            Content::Mgk(table) => Content::Mgk(table.reopen()?),
            _ => AnyTable::content(&self.path, self.description.canonical, cancel)?.0,
        };
        Ok(AnyTable { path: self.path.clone(), description: self.description.clone(), content })
    }

    /// Whether its k-mers can be read only once: a text from a pipe ([`kept`](Self::kept) helps).
    pub(crate) fn is_read_once(&self) -> bool {
        matches!(&self.content, Content::Text(text) if text.is_read_once())
    }

    /// Takes a table of a format that does not say so for one of homopolymer-compressed reads.
    ///
    /// # Errors
    /// If it says that it is none.
    pub fn of_homopolymer_compressed(mut self) -> Result<AnyTable, Error> {
        if self.description.header.is_some() && !self.description.homopolymer_compressed {
            let reason = "it is of reads as they are: leave `hpc` out, or count with it";
            return Err(bad(&self.path, reason));
        }
        self.description.homopolymer_compressed = true;
        Ok(self)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it says of itself.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The table, if it is one of ours.
    pub fn as_mgk(&self) -> Option<&Table> {
        match &self.content {
            Content::Mgk(table) => Some(table),
            _ => None,
        }
    }

    /// The files that it is made of.
    pub fn files(&self) -> Vec<PathBuf> {
        match &self.content {
            Content::Kmc(database) => database.names().to_vec(),
            Content::FastK(table) => table.files(),
            Content::Meryl(database) => database.files(),
            _ => vec![self.path.clone()],
        }
    }

    /// Its size on disk in bytes, 0 for a pipe.
    ///
    /// # Errors
    /// If the system cannot tell.
    pub fn bytes(&self) -> Result<u64, Error> {
        let size = |path: PathBuf| match merganser_io::look_up(&path) {
            Ok(there) => Ok(there.map_or(0, |there| there.len())),
            Err(source) => Err(Error::File { path, source }),
        };
        self.files().into_iter().map(size).sum()
    }

    /// Bytes of memory that it takes while `threads` workers read it, apart from what is gathered.
    pub fn resident(&self, threads: usize) -> u64 {
        match &self.content {
            Content::Mgk(table) => table.header().file_bytes - table.header().index_offset,
            Content::Kmc(database) => database.resident(threads as u64),
            Content::Meryl(database) => database.resident(threads as u64),
            _ => 0,
        }
    }

    /// Whether its k-mers must be gathered before they come in order.
    pub(crate) fn is_unsorted(&self) -> bool {
        match &self.content {
            Content::Mgk(_) | Content::FastK(_) => false,
            Content::Kmc(database) => !database.is_sorted(),
            _ => true,
        }
    }

    /// How many of its k-mers occur how often, if its counts can be read by themselves.
    ///
    /// # Errors
    /// If they cannot be read, or [`Error::Cancelled`].
    pub fn histogram(&self, threads: usize, cancel: &Cancel) -> Result<Option<Histogram>, Error> {
        match &self.content {
            Content::Kmc(database) => database.histogram(threads, cancel).map(Some),
            Content::Meryl(database) => Ok(database.histogram().cloned()),
            _ => Ok(None),
        }
    }

    /// Checks what can be checked of this table's bytes: of one of ours, all checksums and numbers; of
    /// other formats, which have no checksums, what must go together. What is no fault of a record by
    /// itself (a k-mer that comes twice in an unsorted table) is found by reading the k-mers in order.
    ///
    /// # Errors
    /// What is wrong; if it cannot be read; [`Error::Cancelled`].
    pub fn verify(&self, threads: usize, cancel: &Cancel) -> Result<(), Error> {
        match &self.content {
            Content::Mgk(table) => table.verify(),
            Content::Kmc(database) => database.verify(threads, cancel),
            Content::FastK(table) => table.verify(),
            Content::Meryl(database) => database.verify(threads, cancel),
            Content::Kff(kff) => kff.verify(cancel),
            Content::Text(_) => Ok(()),
            #[cfg(feature = "parquet")]
            Content::Parquet(_) => Ok(()),
        }
    }

    /// Its k-mers in order. Those of a table without order are gathered in `pool` first; each worker
    /// sorts as many at a time as take `sorting` bytes.
    pub(crate) fn ranges<'t, 'p: 't, K: Kmer>(
        &'t self,
        pool: &'p merganser_store::BlockPool,
        sorting: u64,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<Box<dyn Ranges<K> + 't>, Error> {
        Ok(match &self.content {
            Content::Mgk(table) => Box::new(MgkRanges(table)),
            Content::FastK(table) => Box::new(FastKRanges(table)),
            Content::Kmc(database) if database.is_sorted() => database.ranges(),
            Content::Kmc(database) => {
                let gathered = Gathered::new(&self.path, &self.description, pool, sorting);
                Box::new(database.gather(gathered, threads, cancel)?)
            }
            Content::Meryl(database) => {
                let gathered = Gathered::new(&self.path, &self.description, pool, sorting);
                Box::new(database.gather(gathered, threads, cancel)?)
            }
            Content::Kff(kff) => {
                let gathered = Gathered::new(&self.path, &self.description, pool, sorting);
                Box::new(kff.gather(gathered, cancel)?)
            }
            Content::Text(text) => {
                let gathered = Gathered::new(&self.path, &self.description, pool, sorting);
                Box::new(text.gather(gathered, threads, cancel)?)
            }
            #[cfg(feature = "parquet")]
            Content::Parquet(table) => {
                let gathered = Gathered::new(&self.path, &self.description, pool, sorting);
                Box::new(table.gather(gathered, threads, cancel)?)
            }
        })
    }
}

/// The first bytes of a file.
fn magic(path: &Path) -> Result<Vec<u8>, Error> {
    let at = |source| Error::File { path: path.to_owned(), source };
    let metadata = std::fs::metadata(path).map_err(at)?;
    if metadata.is_dir() {
        return Err(bad(path, not_a_table(path)));
    }
    let mut start = Vec::new();
    if metadata.is_file() {
        File::open(path).map_err(at)?.take(16).read_to_end(&mut start).map_err(at)?;
        if start.is_empty() && OutputCompression::of_name(path).is_none() {
            return Err(bad(path, format!("is empty, and no {TABLE}")));
        }
    } else {
        // A pipe is text, and what is taken from it here would be lost.
        start.push(b'>');
    }
    Ok(start)
}

/// Whether a file that begins so is text, perhaps compressed, that can be a table.
fn is_text(magic: &[u8]) -> bool {
    let compressed = [&b"\x1f\x8b"[..], b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ"];
    compressed.iter().any(|start| magic.starts_with(start))
        || magic.first().is_some_and(|first| b">ACGTUacgtu0123456789".contains(first))
}
