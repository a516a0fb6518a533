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

use crate::family::{CHILD, Family, Limit};
use crate::spectra::OfAssembly;
use crate::{Error, Membership, Only, Spectra};

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

/// The names of the parents.
type Names = [String; 2];
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
    /// The spectrum of all assemblies together.
    both: StoredSpectrum,
    sources: Vec<Rows>,
    only: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parents: Option<StoredParents>,
}

/// The numbers of the family's k-mers.
#[derive(Debug, Deserialize, Serialize)]
struct StoredParents {
    names: [String; 2],
    own: [Rows; 2],
    /// Counts in the parent, counts in the child, and numbers of k-mers.
    inherited: [Vec<(u32, u32, u64)>; 2],
    both: Rows,
    neither: Rows,
    has_kmers: [bool; 2],
    /// The sizes, in bytes, of the tables of candidates.
    tables: Vec<u64>,
}

impl StoredParents {
    fn new((names, family): &(Names, Family), tables: &[u64]) -> StoredParents {
        let inherited = family.inherited.each_ref().map(|numbers| {
            let rows = numbers.iter().map(|(&(parent, child), &number)| (parent, child, number));
            let mut rows: Vec<_> = rows.collect();
            rows.sort_unstable();
            rows
        });
        StoredParents {
            names: names.clone(),
            own: family.own.each_ref().map(rows),
            inherited,
            both: rows(&family.both),
            neither: rows(&family.neither),
            has_kmers: family.has_kmers,
            tables: tables.to_vec(),
        }
    }

    fn parents(&self) -> (Names, Family) {
        let inherited = self.inherited.each_ref().map(|rows| {
            rows.iter().map(|&(parent, child, number)| ((parent, child), number)).collect()
        });
        let family = Family {
            own: self.own.each_ref().map(histogram),
            inherited,
            both: histogram(&self.both),
            neither: histogram(&self.neither),
            has_kmers: self.has_kmers,
            limit: Limit::default(),
        };
        (self.names.clone(), family)
    }
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
    fn new(
        header: &RangeHeader,
        spectra: &Spectra,
        parents: Option<&(Names, Family)>,
        tables: &[u64],
    ) -> Stored {
        let (tables, candidates) = tables.split_at(header.names.len());
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
            sources: spectra.sources.iter().map(rows).collect(),
            only: spectra.only.clone(),
            parents: parents.map(|parents| StoredParents::new(parents, candidates)),
        }
    }

    /// Returns the header, or `None` if a value is impossible.
    fn header(&self) -> Option<RangeHeader> {
        let assemblies = self.assemblies.len();
        let classes = Membership::classes(assemblies).len();
        // The child, two parents, and the assemblies.
        let has_all = |parents: &StoredParents| parents.tables.len() == 3 + assemblies;
        let fits = (1..=MAX_K).contains(&self.k)
            && assemblies > 0
            && self.sources.len() >= classes
            && self.only.len() >= classes - 1
            && self.parents.as_ref().is_none_or(has_all);
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
        // Earlier programs wrote empty classes of a second assembly, too.
        let classes = Membership::classes(self.assemblies.len()).len();
        Spectra {
            reads: histogram(&self.reads),
            assemblies: self.assemblies.iter().map(|of| of.spectrum.spectrum()).collect(),
            both: self.both.spectrum(),
            sources: self.sources.iter().take(classes).map(histogram).collect(),
            only: self.only[..classes - 1].to_vec(),
        }
    }
}

/// Writes a range to `path`. `tables` are those of the k-mers in no read, one for each assembly, and with parents those of
/// [`candidates`](crate::hapmers::candidates).
pub(super) fn write(
    header: &RangeHeader,
    spectra: &Spectra,
    parents: Option<&(Names, Family)>,
    tables: &[PathBuf],
    path: &Path,
    outputs: &OutputSet,
) -> Result<(), Error> {
    let sizes = tables.iter().map(|path| {
        let at = std::fs::metadata(path).map_err(|error| of_temporary(path, "read", error))?;
        Ok(at.len())
    });
    let sizes = sizes.collect::<Result<Vec<u64>, merganser_io::Error>>()?;
    let stored = Stored::new(header, spectra, parents, &sizes);
    let json = serde_json::to_vec(&stored).map_err(io::Error::from)?;
    let mut file = Summed::new(outputs.file(path)?);
    put_json(&MAGIC, &json, &mut file)?;
    for path in tables {
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
    /// The parents and the numbers of the family's k-mers.
    pub(super) parents: Option<(Names, Family)>,
    /// The offset and the size of each table, in bytes.
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
        let parents = stored.parents.as_ref().map(StoredParents::parents);
        let parent_names = parents.iter().flat_map(|(names, _)| names);
        let mut checked = parent_names.map(|name| check_stored_name(name.as_ref()));
        checked.try_for_each(|checked| checked).map_err(|what| error(&what))?;
        let (mut tables, mut at) = (Vec::new(), FRAME + json.len() as u64);
        let sizes = stored.assemblies.iter().map(|assembly| &assembly.table);
        for &size in sizes.chain(stored.parents.iter().flat_map(|parents| &parents.tables)) {
            tables.push((at, size));
            at = at.checked_add(size).ok_or_else(damaged)?;
        }
        if at + 4 != size {
            return Err(damaged());
        }
        let spectra = stored.spectra();
        Ok(RangeFile { path: path.to_owned(), header, spectra, parents, tables })
    }

    /// Returns the number of k-mers that a table must have, if it is known.
    pub(super) fn kmers(&self, number: usize) -> Option<u64> {
        if let Some(of) = self.spectra.assemblies.get(number) {
            return Some(of.only.distinct);
        }
        let (_, family) = self.parents.as_ref()?;
        let of = |parent: usize| family.inherited[parent].values().copied();
        let sum = |numbers: &mut dyn Iterator<Item = u64>| numbers.fold(0, u64::saturating_add);
        match number - self.spectra.assemblies.len() {
            CHILD => Some(sum(&mut of(0).chain(of(1)))),
            1 => Some(sum(&mut of(0))),
            2 => Some(sum(&mut of(1))),
            _ => None,
        }
    }

    /// Copies a table to a file of its own.
    pub(super) fn extract(&self, number: usize, to: &Path) -> Result<(), Error> {
        let (at, bytes) = self.tables[number];
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
