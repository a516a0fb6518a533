//! Tables of k-mers in any format that can be read, with a common interface: k-mers in ascending order, by ranges.
//!
//! `.mgk` tables, KMC1 databases and FastK's tables are sorted on disk, and so are the bins of KMC2 databases;
//! ranges of them are read when needed. All other tables (meryl's, KFF, Jellyfish's, Parquet, text, the
//! largest KMC2 databases) are gathered first: their k-mers are scattered by their first bits, in memory or on disk, and
//! sorted range by range.

pub(crate) mod clipped;
pub(crate) mod temporary;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use merganser_io::{FileKind, OutputCompression};
use merganser_run::{Cancel, Context};
use merganser_seq::kmer::Kmer;

use crate::MemoryTable;
use crate::algebra::{Calculation, Expression, calculate, calculate_in_memory};
pub use crate::description::{Description, Kind};
use crate::error::bad;
use crate::formats::TableFormat;
use crate::formats::fastk::{FastK, FastKRanges};
use crate::formats::jf::{self, Jf};
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
    Jf(Jf),
    Text(Box<Text>),
    #[cfg(feature = "parquet")]
    Parquet(Parquet),
}

impl AnyTable {
    /// Opens the table at `path`. Its format is detected by its content; a KMC database is named by either of
    /// its files or without suffix; `-` is text on standard input. Text does not record whether its k-mers are
    /// canonical: they are taken as canonical.
    ///
    /// # Errors
    /// If the table cannot be read, is damaged, has an unknown format, or is only a piece of a table.
    pub fn open(path: impl AsRef<Path>) -> Result<AnyTable, Error> {
        AnyTable::open_with(path.as_ref(), true, &Context::new())
    }

    /// Opens a table like [`open`](Self::open). `canonical` says whether the k-mers of text are canonical; text is read
    /// by the threads of `context`, and waiting for a pipe ends when it is cancelled.
    ///
    /// # Errors
    /// Fails as [`open`](Self::open) does.
    pub fn open_with(path: &Path, canonical: bool, context: &Context) -> Result<AnyTable, Error> {
        let table = AnyTable::open_piece(path, canonical, context)?;
        match table.description.header.as_ref().and_then(|header| header.piece) {
            None => Ok(table),
            Some(piece) => {
                let remedy = match piece.kind {
                    PieceKind::Shard => "all shards of its count first (merganser kmers union)",
                    PieceKind::Range => "all ranges of its job first (merganser kmers concat)",
                };
                Err(bad(path, format!("it is only {piece}: join {remedy}")))
            }
        }
    }

    /// Opens a table like [`open`](Self::open), which may also be a shard of a count or a range of k-mers.
    ///
    /// # Errors
    /// If the table cannot be read, is damaged, or has an unknown format.
    pub fn open_piece(path: &Path, canonical: bool, context: &Context) -> Result<AnyTable, Error> {
        let (content, description) = AnyTable::content(path, canonical, context)?;
        Ok(AnyTable { path: path.to_owned(), description, content })
    }

    /// Opens an `.mgk` table in an open file; error messages name it `path`.
    pub(crate) fn own(file: File, path: &Path) -> Result<AnyTable, Error> {
        let table = Table::of_file(file, path)?;
        let description = Description::of_header(table.header());
        Ok(AnyTable { path: path.to_owned(), description, content: Content::Mgk(table) })
    }

    fn content(
        path: &Path,
        canonical: bool,
        context: &Context,
    ) -> Result<(Content, Description), Error> {
        if path.as_os_str() != "-" {
            if let Some(stem) = Database::stem(path) {
                let database = Database::open(&stem)?;
                let description = database.description();
                return Ok((Content::Kmc(database), description));
            }
            // The stub of a FastK table has no magic number.
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
                magic if jf::is_header(magic) => {
                    let table = Jf::open(path)?;
                    let description = table.description();
                    return Ok((Content::Jf(table), description));
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
        let text = Text::open(path, canonical, context)?;
        let description = text.description();
        Ok((Content::Text(Box::new(text)), description))
    }

    /// Whether a file has sequences and is no table. FASTA that `jellyfish dump` wrote is a table.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn is_of_sequences(path: &Path) -> Result<bool, Error> {
        let failed = |source| Error::File { path: path.to_owned(), source };
        match FileKind::read(path).map_err(failed)? {
            Some(FileKind::Fasta) => Ok(!is_dump(path)?),
            kind => Ok(kind.is_some_and(FileKind::is_sequences)),
        }
    }

    /// Opens the table once more.
    ///
    /// # Errors
    /// Fails as [`open_piece`](Self::open_piece) does.
    pub fn reopen(&self, context: &Context) -> Result<AnyTable, Error> {
        let content = match &self.content {
            Content::Mgk(table) => Content::Mgk(table.reopen()?),
            _ => AnyTable::content(&self.path, self.description.canonical, context)?.0,
        };
        Ok(AnyTable { path: self.path.clone(), description: self.description.clone(), content })
    }

    /// Whether the k-mers can be read only once: text from a pipe (see [`kept`](Self::kept)).
    pub(crate) fn is_read_once(&self) -> bool {
        matches!(&self.content, Content::Text(text) if text.is_read_once())
    }

    /// Marks a table as one of homopolymer-compressed reads, if its format does not record that.
    ///
    /// # Errors
    /// If the table records that its reads were not compressed.
    pub fn of_homopolymer_compressed(mut self) -> Result<AnyTable, Error> {
        if self.description.header.is_some() && !self.description.homopolymer_compressed {
            let reason =
                "its reads were not homopolymer-compressed: leave `hpc` out, or count with it";
            return Err(bad(&self.path, reason));
        }
        self.description.homopolymer_compressed = true;
        Ok(self)
    }

    /// Makes text a panel, whose counts do not matter: its k-mers with the count 0 are in the table, too.
    #[must_use]
    pub fn of_panel(mut self) -> AnyTable {
        if let Content::Text(text) = &mut self.content {
            text.takes_zeros = true;
        }
        self
    }

    /// Returns the path of the table.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the description of the table.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Returns the table if it is an `.mgk` table.
    pub fn as_mgk(&self) -> Option<&Table> {
        match &self.content {
            Content::Mgk(table) => Some(table),
            _ => None,
        }
    }

    /// Returns the files of the table.
    pub fn files(&self) -> Vec<PathBuf> {
        match &self.content {
            Content::Kmc(database) => database.names().to_vec(),
            Content::FastK(table) => table.files(),
            Content::Meryl(database) => database.files(),
            _ => vec![self.path.clone()],
        }
    }

    /// Returns the size of the table on disk in bytes; 0 for a pipe.
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

    /// Returns the memory in bytes while `threads` workers read the table, without gathered k-mers.
    pub fn resident(&self, threads: usize) -> u64 {
        match &self.content {
            Content::Mgk(table) => table.header().file_bytes - table.header().index_offset,
            Content::Kmc(database) => database.resident(threads as u64),
            Content::Meryl(database) => database.resident(threads as u64),
            _ => 0,
        }
    }

    /// Whether the k-mers must be gathered before they can be read in ascending order.
    pub(crate) fn is_unsorted(&self) -> bool {
        match &self.content {
            Content::Mgk(_) | Content::FastK(_) => false,
            Content::Kmc(database) => !database.is_sorted(),
            _ => true,
        }
    }

    /// Reads the table into memory, where its k-mers can be iterated. The memory of the result is not part of
    /// [`Context::memory`].
    ///
    /// ```
    /// use merganser_kmers::tables::AnyTable;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.tsv");
    /// std::fs::write(&path, "CCA\t2\nACG\t4\n")?;
    /// let table = AnyTable::open(&path)?.in_memory(&merganser_run::Context::new())?;
    /// assert_eq!(table.iter().next(), Some(("ACG".to_owned(), 4)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the table cannot be read, or the run was cancelled ([`Error::Cancelled`]).
    pub fn in_memory(&self, context: &Context) -> Result<MemoryTable, Error> {
        let whole = Calculation::new(Expression::Table(0));
        Ok(calculate_in_memory(&whole, std::slice::from_ref(self), context)?.1)
    }

    /// Returns the number of k-mers with each count.
    ///
    /// # Errors
    /// If the table cannot be read, or the run was cancelled ([`Error::Cancelled`]).
    pub fn histogram(&self, context: &Context) -> Result<Histogram, Error> {
        if let Some(histogram) = self.stored_histogram(context)? {
            return Ok(histogram);
        }
        let calculation =
            Calculation { format: TableFormat::None, ..Calculation::new(Expression::Table(0)) };
        Ok(calculate(&calculation, std::slice::from_ref(self), context)?.histogram)
    }

    /// Returns the number of k-mers with each count if the format allows reading the counts alone; otherwise `None`.
    ///
    /// # Errors
    /// If the counts cannot be read, or the run was cancelled ([`Error::Cancelled`]).
    #[doc(hidden)]
    pub fn stored_histogram(&self, context: &Context) -> Result<Option<Histogram>, Error> {
        let (threads, cancel) = (context.threads, &context.cancel);
        match &self.content {
            Content::Kmc(database) => database.histogram(threads, cancel).map(Some),
            Content::Meryl(database) => Ok(database.histogram().cloned()),
            _ => Ok(None),
        }
    }

    /// Checks the content of the table: for an `.mgk` table, all checksums and numbers; for other formats,
    /// which have no checksums, parts that must be consistent. Problems that no single record shows, such as a
    /// k-mer that occurs twice in an unsorted table, are found only by reading the k-mers in ascending order.
    ///
    /// # Errors
    /// If a check fails, the table cannot be read, or the run was cancelled ([`Error::Cancelled`]).
    pub fn verify(&self, context: &Context) -> Result<(), Error> {
        let (threads, cancel) = (context.threads, &context.cancel);
        match &self.content {
            Content::Mgk(table) => table.verify(),
            Content::Kmc(database) => database.verify(threads, cancel),
            Content::FastK(table) => table.verify(),
            Content::Meryl(database) => database.verify(threads, cancel),
            Content::Kff(kff) => kff.verify(cancel),
            Content::Jf(table) => table.verify(cancel),
            Content::Text(_) => Ok(()),
            #[cfg(feature = "parquet")]
            Content::Parquet(_) => Ok(()),
        }
    }

    /// Returns the k-mers in ascending order. Those of an unsorted table are first gathered in `pool`; each worker
    /// sorts up to `sorting` bytes of them at a time.
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
            Content::Jf(table) => {
                let gathered = Gathered::new(&self.path, &self.description, pool, sorting);
                Box::new(table.gather(gathered, cancel)?)
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

/// Returns the first bytes of a file.
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
            return Err(bad(path, format!("is empty, not a {TABLE}")));
        }
    } else {
        // A pipe must be text; reading from it here would lose bytes.
        start.push(b'>');
    }
    Ok(start)
}

/// Whether a file with these first bytes is text, possibly compressed, that can be a table.
fn is_text(magic: &[u8]) -> bool {
    let compressed = [&b"\x1f\x8b"[..], b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ"];
    compressed.iter().any(|start| magic.starts_with(start))
        || magic.first().is_some_and(|first| b">ACGTUacgtu0123456789".contains(first))
}
