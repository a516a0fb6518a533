//! The file of a range: a header, the spectra, and a table for each assembly.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use merganser_io::{Content, OutputSet, check_stored_name};
use merganser_kmers::Histogram;
use merganser_run::Cancel;
use merganser_seq::kmer::MAX_K;
use merganser_store::sealed::{SEALED, Summed, magic, open_json, put_json};
use merganser_store::shard::JobShard;
use serde::{Deserialize, Serialize};

use crate::spectra::OfAssembly;
use crate::{Error, Only, Spectra};

const MAGIC: [u8; 8] = magic(b'Q');
/// The version of the layout.
const VERSION: u32 = 1;
/// The size of the blocks that are copied, in bytes.
const BLOCK: usize = 1 << 20;
/// The number of bytes before the JSON: magic and length.
const FRAME: u64 = 8 + 8;

/// The identity of a range file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RangeHeader {
    /// The range, and the hash of the evaluation's tables.
    pub(super) of: JobShard,
    pub(super) k: usize,
    /// Whether homopolymers are compressed.
    pub(super) compressed: bool,
    /// Whether low counts may be missing in the reads.
    pub(super) hybrid: bool,
    /// The name of the reads.
    pub(super) reads: String,
    /// The names of the assemblies.
    pub(super) names: Vec<String>,
}

impl RangeHeader {
    /// Checks the names, which become parts of file names.
    ///
    /// # Errors
    /// A text that tells which name is not allowed.
    fn check_names(&self) -> Result<(), String> {
        let names = std::iter::once(&self.reads).chain(&self.names);
        names.map(AsRef::as_ref).try_for_each(check_stored_name)
    }
}

/// Counts, each with the number of k-mers that have it.
type Rows = Vec<(u32, u64)>;

/// The JSON before the tables.
#[derive(Debug, Deserialize, Serialize)]
struct Stored {
    version: u32,
    range: String,
    job: String,
    k: usize,
    homopolymer_compressed: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    hybrid: bool,
    reads_name: String,
    reads: Rows,
    assemblies: Vec<StoredAssembly>,
    /// The spectrum of two assemblies together.
    both: StoredSpectrum,
    sources: [Rows; 4],
    only: [u64; 3],
}

#[derive(Debug, Deserialize, Serialize)]
struct StoredAssembly {
    name: String,
    /// The size of its table, in bytes.
    table: u64,
    #[serde(flatten)]
    spectrum: StoredSpectrum,
}

#[derive(Debug, Deserialize, Serialize)]
struct StoredSpectrum {
    kmers: u64,
    only_distinct: u64,
    only_instances: u64,
    copies: [Rows; 6],
}

impl StoredSpectrum {
    fn new(of: &OfAssembly) -> StoredSpectrum {
        StoredSpectrum {
            kmers: of.kmers,
            only_distinct: of.only.distinct,
            only_instances: of.only.instances,
            copies: of.copies.each_ref().map(rows),
        }
    }

    fn spectrum(&self) -> OfAssembly {
        OfAssembly {
            copies: self.copies.each_ref().map(histogram),
            only: Only { distinct: self.only_distinct, instances: self.only_instances },
            kmers: self.kmers,
        }
    }
}

fn rows(histogram: &Histogram) -> Rows {
    histogram.iter().collect()
}

fn histogram(rows: &Rows) -> Histogram {
    let mut histogram = Histogram::default();
    rows.iter().for_each(|&(count, number)| histogram.add_many(count, number));
    histogram
}

impl Stored {
    fn new(header: &RangeHeader, spectra: &Spectra, tables: &[u64]) -> Stored {
        let (range, job) = header.of.to_texts();
        let assemblies = header.names.iter().zip(tables).zip(&spectra.assemblies);
        Stored {
            version: VERSION,
            range,
            job,
            k: header.k,
            homopolymer_compressed: header.compressed,
            hybrid: header.hybrid,
            reads_name: header.reads.clone(),
            reads: rows(&spectra.reads),
            assemblies: assemblies
                .map(|((name, &table), of)| StoredAssembly {
                    name: name.clone(),
                    table,
                    spectrum: StoredSpectrum::new(of),
                })
                .collect(),
            both: StoredSpectrum::new(&spectra.both),
            sources: spectra.sources.each_ref().map(rows),
            only: spectra.only,
        }
    }

    /// Returns the header, or `None` if a value is impossible.
    fn header(&self) -> Option<RangeHeader> {
        let fits = (1..=MAX_K).contains(&self.k) && (1..=2).contains(&self.assemblies.len());
        Some(RangeHeader {
            of: JobShard::of_texts(&self.range, &self.job)?,
            k: fits.then_some(self.k)?,
            compressed: self.homopolymer_compressed,
            hybrid: self.hybrid,
            reads: self.reads_name.clone(),
            names: self.assemblies.iter().map(|assembly| assembly.name.clone()).collect(),
        })
    }

    fn spectra(&self) -> Spectra {
        Spectra {
            reads: histogram(&self.reads),
            assemblies: self.assemblies.iter().map(|of| of.spectrum.spectrum()).collect(),
            both: self.both.spectrum(),
            sources: self.sources.each_ref().map(histogram),
            only: self.only,
        }
    }
}

/// Writes a range to `path`. `only` are the tables of the k-mers in no read, one for each assembly.
pub(super) fn write(
    header: &RangeHeader,
    spectra: &Spectra,
    only: &[PathBuf],
    path: &Path,
    outputs: &OutputSet,
) -> Result<(), Error> {
    let sizes = only.iter().map(|path| {
        let at = std::fs::metadata(path).map_err(|error| of_temporary(path, "read", error))?;
        Ok(at.len())
    });
    let sizes = sizes.collect::<Result<Vec<u64>, merganser_io::Error>>()?;
    let json =
        serde_json::to_vec(&Stored::new(header, spectra, &sizes)).map_err(io::Error::from)?;
    let mut file = Summed::new(outputs.file(path)?);
    put_json(&MAGIC, &json, &mut file)?;
    for path in only {
        let failed = |error| of_temporary(path, "read", error);
        let table = File::open(path).map_err(failed)?;
        each_block(table, failed, |block| Ok(file.write_all(block)?))?;
    }
    file.seal()?.commit()?;
    Ok(())
}

/// A range file whose content has been checked.
#[derive(Debug)]
pub(super) struct RangeFile {
    pub(super) path: PathBuf,
    pub(super) header: RangeHeader,
    pub(super) spectra: Spectra,
    /// The offset and the size of each assembly's table, in bytes.
    tables: Vec<(u64, u64)>,
}

impl RangeFile {
    pub(super) fn open(path: &Path, cancel: &Cancel) -> Result<RangeFile, Error> {
        let error = |what: &str| error(path, what.to_owned());
        let none =
            || error("it is not a range of an evaluation, which merganser kmers qv --range writes");
        let damaged = || error("truncated or damaged: copy it again, or make this range again");
        let (file, size, json) = open_json(&MAGIC, path)?;
        let json = match json {
            Ok(json) => json.ok_or_else(none)?,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(damaged()),
            Err(error) => return Err(reading(path)(error).into()),
        };
        let content = Content::read(file.get_ref(), 1, cancel, reading(path))?;
        if content.ok_or(Error::Cancelled)?.crc32 != SEALED {
            return Err(damaged());
        }
        // The checksum is right: the file has the content that was written.
        let version = serde_json::from_slice::<Version>(&json).map_err(|_| none())?.version;
        if version != VERSION {
            return Err(error(&format!(
                "it has version {version}, but this program reads version {VERSION}: use a newer program"
            )));
        }
        let stored: Stored = serde_json::from_slice(&json).map_err(|_| none())?;
        let header = stored.header().ok_or_else(none)?;
        header.check_names().map_err(|what| error(&what))?;
        let (mut tables, mut at) = (Vec::new(), FRAME + json.len() as u64);
        for assembly in &stored.assemblies {
            tables.push((at, assembly.table));
            at = at.checked_add(assembly.table).ok_or_else(damaged)?;
        }
        if at + 4 != size {
            return Err(damaged());
        }
        Ok(RangeFile { path: path.to_owned(), header, spectra: stored.spectra(), tables })
    }

    /// Copies the table of an assembly to a file of its own.
    pub(super) fn extract(&self, assembly: usize, to: &Path) -> Result<(), Error> {
        let (at, bytes) = self.tables[assembly];
        let (mut file, ..) = open_json(&MAGIC, &self.path)?;
        file.seek(SeekFrom::Start(at)).map_err(reading(&self.path))?;
        let written = |cause| of_temporary(to, "write", cause);
        let mut copy = File::create(to).map_err(written)?;
        let copied = each_block(file.take(bytes), reading(&self.path), |block| {
            Ok(copy.write_all(block).map_err(written)?)
        })?;
        match copied == bytes {
            true => Ok(()),
            false => Err(self.error("it was truncated while it was read".into())),
        }
    }

    pub(super) fn error(&self, what: String) -> Error {
        error(&self.path, what)
    }
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

fn error(path: &Path, reason: String) -> Error {
    Error::Kmers(merganser_kmers::Error::Table { path: path.to_owned(), reason })
}

/// Calls `take` with the bytes of a file, block by block, and returns their number. `failed` makes the error of
/// reading.
fn each_block(
    mut file: impl Read,
    failed: impl Fn(io::Error) -> merganser_io::Error,
    mut take: impl FnMut(&[u8]) -> Result<(), Error>,
) -> Result<u64, Error> {
    let (mut block, mut bytes) = (vec![0; BLOCK], 0);
    loop {
        match file.read(&mut block) {
            Ok(0) => return Ok(bytes),
            Ok(count) => {
                take(&block[..count])?;
                bytes += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error).into()),
        }
    }
}

/// Returns the error of reading a file of the user.
fn reading(path: &Path) -> impl Fn(io::Error) -> merganser_io::Error {
    |cause| merganser_io::Error::Read { input: path.display().to_string(), cause: Arc::new(cause) }
}

/// Returns the error of a temporary file.
fn of_temporary(path: &Path, action: &'static str, cause: io::Error) -> merganser_io::Error {
    let dir = path.parent().unwrap_or(path).to_owned();
    merganser_io::Error::Temporary { dir, action, cause: Arc::new(cause) }
}
