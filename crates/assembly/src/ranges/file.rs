//! The file of a range: what it says of itself, its spectra, and a table for each assembly.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use merganser_io::{OutputSet, check_stored_name};
use merganser_kmers::Histogram;
use merganser_run::{Cancel, Shard};
use merganser_seq::kmer::MAX_K;
use serde::{Deserialize, Serialize};

use crate::spectra::OfAssembly;
use crate::{Error, Only, Spectra};

/// The file's first bytes: a high byte, a name, and line ends that a text-mode copy would change.
const MAGIC: [u8; 8] = *b"\x89MGQ\r\n\x1a\n";
/// The version of the layout.
const VERSION: u32 = 1;
/// Bytes that are read together.
const BLOCK: usize = 1 << 20;
/// Magic, length of the JSON; the checksum at the end.
const FRAME: u64 = 8 + 8 + 4;

/// Which range of which judgement a file has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RangeHeader {
    pub(super) range: Shard,
    /// The same for ranges that go together: by the tables.
    pub(super) job: u64,
    pub(super) k: usize,
    /// Whether runs of the same base are one base.
    pub(super) compressed: bool,
    /// What reads
    pub(super) reads: String,
    /// and assemblies are called.
    pub(super) names: Vec<String>,
}

impl RangeHeader {
    /// Checks the names, after which files are called.
    ///
    /// # Errors
    /// Which one cannot be, in words.
    fn check_names(&self) -> Result<(), String> {
        let names = std::iter::once(&self.reads).chain(&self.names);
        names.map(AsRef::as_ref).try_for_each(check_stored_name)
    }
}

/// Counts, with how many k-mers have each.
type Rows = Vec<(u32, u64)>;

/// What stands in the file before its tables.
#[derive(Debug, Deserialize, Serialize)]
struct Stored {
    version: u32,
    range: String,
    job: String,
    k: usize,
    homopolymer_compressed: bool,
    reads_name: String,
    reads: Rows,
    assemblies: Vec<StoredAssembly>,
    /// Of two assemblies together.
    both: StoredSpectrum,
    sources: [Rows; 4],
    only: [u64; 3],
}

#[derive(Debug, Deserialize, Serialize)]
struct StoredAssembly {
    name: String,
    /// Bytes of its table.
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
        let assemblies = header.names.iter().zip(tables).zip(&spectra.assemblies);
        Stored {
            version: VERSION,
            range: header.range.to_string(),
            job: format!("{:016x}", header.job),
            k: header.k,
            homopolymer_compressed: header.compressed,
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

    /// `None` if it says what cannot be.
    fn header(&self) -> Option<RangeHeader> {
        let fits = (1..=MAX_K).contains(&self.k) && (1..=2).contains(&self.assemblies.len());
        Some(RangeHeader {
            range: self.range.parse().ok()?,
            job: u64::from_str_radix(&self.job, 16).ok()?,
            k: fits.then_some(self.k)?,
            compressed: self.homopolymer_compressed,
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

/// Writes a range to `path`; of each assembly there is a table of the k-mers that no read has.
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
    let mut file = outputs.file(path)?;
    let mut checksum = crc32fast::Hasher::new();
    let mut put = |bytes: &[u8]| {
        checksum.update(bytes);
        file.write_all(bytes)
    };
    put(&MAGIC)?;
    put(&(json.len() as u64).to_le_bytes())?;
    put(&json)?;
    for path in only {
        let failed = |error| of_temporary(path, "read", error);
        let table = File::open(path).map_err(failed)?;
        each_block(table, failed, |block| Ok(put(block)?))?;
    }
    file.write_all(&checksum.finalize().to_le_bytes())?;
    file.flush()?;
    file.commit()?;
    Ok(())
}

/// A file with a range, which has been checked.
#[derive(Debug)]
pub(super) struct RangeFile {
    pub(super) path: PathBuf,
    pub(super) header: RangeHeader,
    pub(super) spectra: Spectra,
    /// Where each assembly's table begins, and its bytes.
    tables: Vec<(u64, u64)>,
}

impl RangeFile {
    pub(super) fn open(path: &Path, cancel: &Cancel) -> Result<RangeFile, Error> {
        let error = |what: &str| error(path, what.to_owned());
        let none =
            || error("it is not a range of a judgement, which merganser kmers qv --range makes");
        let damaged = || error("truncated or damaged: copy it again, or make this range again");
        let mut file = BufReader::with_capacity(BLOCK, open(path)?);
        let size = file.get_ref().metadata().map_err(reading(path))?.len();
        let or = |why: &dyn Fn() -> Error, error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => why(),
            _ => reading(path)(error).into(),
        };
        let (mut magic, mut length) = ([0; MAGIC.len()], [0; 8]);
        file.read_exact(&mut magic).map_err(|error| or(&none, error))?;
        if magic != MAGIC {
            return Err(none());
        }
        file.read_exact(&mut length).map_err(|error| or(&damaged, error))?;
        let is_sound = check_sum(&mut file, size, cancel).map_err(|error| or(&damaged, error))?;
        cancel.check()?;
        is_sound.then_some(()).ok_or_else(damaged)?;
        let length = u64::from_le_bytes(length);
        // What follows was written so, or by somebody who means it.
        if length > size - FRAME {
            return Err(damaged());
        }
        file.seek(SeekFrom::Start(FRAME - 4)).map_err(reading(path))?;
        let mut json = vec![0; length as usize];
        file.read_exact(&mut json).map_err(|error| or(&damaged, error))?;
        let version = serde_json::from_slice::<Version>(&json).map_err(|_| none())?.version;
        if version != VERSION {
            return Err(error(&format!(
                "it is of version {version}, and this program knows {VERSION}: use a newer one"
            )));
        }
        let stored: Stored = serde_json::from_slice(&json).map_err(|_| none())?;
        let header = stored.header().ok_or_else(none)?;
        header.check_names().map_err(|what| error(&what))?;
        let (mut tables, mut at) = (Vec::new(), FRAME - 4 + length);
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
        let mut file = open(&self.path)?;
        file.seek(SeekFrom::Start(at)).map_err(reading(&self.path))?;
        let written = |cause| of_temporary(to, "write", cause);
        let mut copy = File::create(to).map_err(written)?;
        let copied = each_block(file.take(bytes), reading(&self.path), |block| {
            Ok(copy.write_all(block).map_err(written)?)
        })?;
        match copied == bytes {
            true => Ok(()),
            false => Err(self.error("it was cut short meanwhile".into())),
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

fn open(path: &Path) -> Result<File, Error> {
    let failed = |source| merganser_io::Error::Open {
        input: path.display().to_string(),
        reason: merganser_io::reason(&source),
    };
    Ok(merganser_io::open_file(path).map_err(failed)?)
}

/// Calls `take` with a file's bytes, block by block, and returns their number. `failed` makes the error of reading.
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

/// The error of reading a file of the user's.
fn reading(path: &Path) -> impl Fn(io::Error) -> merganser_io::Error {
    |cause| merganser_io::Error::Read { input: path.display().to_string(), cause: Arc::new(cause) }
}

/// The error of a temporary file.
fn of_temporary(path: &Path, action: &'static str, cause: io::Error) -> merganser_io::Error {
    let dir = path.parent().unwrap_or(path).to_owned();
    merganser_io::Error::Temporary { dir, action, cause: Arc::new(cause) }
}

/// Whether the file's last bytes are the checksum of those before; anything, once the run is cancelled.
fn check_sum(file: &mut BufReader<File>, size: u64, cancel: &Cancel) -> io::Result<bool> {
    if size < FRAME {
        return Ok(false);
    }
    file.seek(SeekFrom::Start(0))?;
    let (mut checksum, mut left) = (crc32fast::Hasher::new(), size - 4);
    let mut block = vec![0; BLOCK];
    while left > 0 {
        if cancel.is_cancelled() {
            return Ok(false);
        }
        let bytes = left.min(BLOCK as u64) as usize;
        file.read_exact(&mut block[..bytes])?;
        checksum.update(&block[..bytes]);
        left -= bytes as u64;
    }
    let mut expected = [0; 4];
    file.read_exact(&mut expected)?;
    Ok(u32::from_le_bytes(expected) == checksum.finalize())
}
