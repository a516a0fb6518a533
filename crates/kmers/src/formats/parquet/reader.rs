//! Reads tables from Parquet files: the columns `kmer` (the letters, as text or as bytes of a fixed length) and
//! `count` (an integer), as written by Merganser and by data frame libraries.

use std::fs::File;
use std::path::{Path, PathBuf};

use merganser_run::{Cancel, each};
use merganser_seq::kmer::{Kmer, MAX_K};
use parquet::basic::{ConvertedType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{AsBytes, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::Error;
use crate::description::{Description, Kind};
use crate::error::bad;
use crate::gathered::{Gathered, Gathering};

/// The number of rows that are read at a time.
const BATCH_ROWS: usize = 1 << 13;

/// An open file.
#[derive(Debug)]
pub(crate) struct Parquet {
    path: PathBuf,
    k: usize,
    canonical: bool,
    bounds: [u32; 2],
    kmers: u64,
    groups: usize,
    kmer: Column,
    count: Column,
}

/// A column that is read.
#[derive(Clone, Copy, Debug)]
struct Column {
    place: usize,
    /// Whether rows may have no value.
    optional: bool,
    /// Whether the values are unsigned 32-bit integers.
    unsigned: bool,
}

type Reader = SerializedFileReader<File>;

impl Parquet {
    /// Opens a file; `canonical` is used if the file does not tell whether its k-mers are canonical.
    pub(crate) fn open(path: &Path, canonical: bool) -> Result<Parquet, Error> {
        let reader = open(path)?;
        let metadata = reader.metadata().file_metadata();
        let value = |key: &str| {
            let values = metadata.key_value_metadata()?;
            values.iter().find(|value| value.key == key)?.value.clone()
        };
        let number = |key: &str| value(key)?.parse::<u32>().ok();
        let kmer = column(path, &reader, "kmer", &[Type::BYTE_ARRAY, Type::FIXED_LEN_BYTE_ARRAY])?;
        let count = column(path, &reader, "count", &[Type::INT32, Type::INT64])?;
        let kmers = u64::try_from(metadata.num_rows()).unwrap_or(0);
        let mut table = Parquet {
            path: path.to_owned(),
            k: number("k").map_or(0, |k| k as usize),
            canonical: value("canonical").map_or(canonical, |value| value == "true"),
            bounds: [
                number("min_count").unwrap_or(1).max(1),
                number("max_count").unwrap_or(u32::MAX),
            ],
            kmers,
            groups: reader.num_row_groups(),
            kmer,
            count,
        };
        if table.k == 0 {
            table.k = table.first_length(&reader)?;
        }
        match table.k {
            1..=MAX_K => Ok(table),
            k => Err(bad(path, format!("its k is {k}: k can be at most {MAX_K}"))),
        }
    }

    /// Returns the length of the first k-mer.
    fn first_length(&self, reader: &Reader) -> Result<usize, Error> {
        for group in 0..self.groups {
            let mut length = 0;
            self.batches(reader, group, |kmers, _| {
                length = kmers.first().map_or(0, Vec::len);
                // One batch is enough: the error ends the reading.
                Err(Error::Cancelled)
            })
            .or_else(|error| if length > 0 { Ok(()) } else { Err(error) })?;
            if length > 0 {
                return Ok(length);
            }
        }
        Err(bad(&self.path, "it is empty, so its k is unknown"))
    }

    pub(crate) fn description(&self) -> Description {
        Description {
            kind: Kind::Parquet,
            k: self.k,
            canonical: self.canonical,
            homopolymer_compressed: false,
            min_count: self.bounds[0],
            max_count: self.bounds[1],
            kmers: Some(self.kmers),
            largest_count: None,
            header: None,
        }
    }

    pub(crate) fn gather<'p, K: Kmer>(
        &self,
        gathered: Gathered<'p, K>,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<Gathered<'p, K>, Error> {
        each(threads, 0..self.groups, cancel, |groups| {
            let mut writer = gathered.writer();
            let reader = open(&self.path)?;
            for group in groups {
                self.batches(&reader, group, |kmers, counts| {
                    cancel.check()?;
                    let mut rows = kmers.iter().zip(counts);
                    rows.try_for_each(|(kmer, &count)| self.add(kmer, count, &mut writer))
                })?;
            }
            writer.finish()
        })?;
        Ok(gathered.gathered())
    }

    fn add<K: Kmer>(
        &self,
        letters: &[u8],
        count: i64,
        writer: &mut Gathering<'_, '_, K>,
    ) -> Result<(), Error> {
        let shown = || String::from_utf8_lossy(letters);
        let Some(kmer) = K::from_letters(letters).filter(|_| letters.len() == self.k) else {
            let k = self.k;
            return Err(self.bad(format!("'{}' is not a k-mer of {k} letters A C G T", shown())));
        };
        if self.canonical && kmer.reverse_complement(self.k) < kmer {
            return Err(self.bad(format!(
                "{} is greater than its reverse complement: give --forward-only if strands were \
                 counted apart",
                shown()
            )));
        }
        match u32::try_from(count) {
            Ok(0) => Ok(()),
            Ok(count) => writer.add(kmer, count),
            Err(_) => Err(self.bad(format!("'{count}' is not a count: 0 to {}", u32::MAX))),
        }
    }

    fn bad(&self, reason: String) -> Error {
        bad(&self.path, reason)
    }

    /// Passes the rows of a row group to `take`, one batch at a time.
    fn batches(
        &self,
        reader: &Reader,
        group: usize,
        mut take: impl FnMut(&[Vec<u8>], &[i64]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let damaged = |error| damaged(&self.path, &error);
        let group = reader.get_row_group(group).map_err(damaged)?;
        let mut kmers = group.get_column_reader(self.kmer.place).map_err(damaged)?;
        let mut counts = group.get_column_reader(self.count.place).map_err(damaged)?;
        let mut rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        while rows > 0 {
            let number = rows.min(BATCH_ROWS);
            let kmers = self.letters(&mut kmers, number)?;
            let counts = self.numbers(&mut counts, number)?;
            take(&kmers, &counts)?;
            rows -= number;
        }
        Ok(())
    }

    fn letters(&self, reader: &mut ColumnReader, number: usize) -> Result<Vec<Vec<u8>>, Error> {
        let column = self.kmer;
        match reader {
            ColumnReader::ByteArrayColumnReader(reader) => {
                self.values(reader, column, number, |value| value.as_bytes().to_vec())
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                self.values(reader, column, number, |value| value.as_bytes().to_vec())
            }
            _ => Ok(Vec::new()),
        }
    }

    fn numbers(&self, reader: &mut ColumnReader, number: usize) -> Result<Vec<i64>, Error> {
        let column = self.count;
        match reader {
            ColumnReader::Int64ColumnReader(reader) => {
                self.values(reader, column, number, |&value| value)
            }
            ColumnReader::Int32ColumnReader(reader) if column.unsigned => {
                self.values(reader, column, number, |&value| i64::from(value.cast_unsigned()))
            }
            ColumnReader::Int32ColumnReader(reader) => {
                self.values(reader, column, number, |&value| i64::from(value))
            }
            _ => Ok(Vec::new()),
        }
    }

    fn values<T: DataType, V>(
        &self,
        reader: &mut ColumnReaderImpl<T>,
        column: Column,
        number: usize,
        value: impl Fn(&T::T) -> V,
    ) -> Result<Vec<V>, Error> {
        let (mut values, mut levels) = (Vec::with_capacity(number), Vec::new());
        let mut rows = 0;
        while rows < number {
            let levels = column.optional.then_some(&mut levels);
            let (read, ..) = reader
                .read_records(number - rows, levels, None, &mut values)
                .map_err(|error| damaged(&self.path, &error))?;
            if read == 0 {
                return Err(self.bad("damaged: a column ends before the others".into()));
            }
            rows += read;
        }
        if values.len() < number {
            return Err(self.bad("a row has no k-mer or no count: remove it".into()));
        }
        Ok(values.iter().map(value).collect())
    }
}

fn open(path: &Path) -> Result<Reader, Error> {
    let file = merganser_io::open_file(path)
        .map_err(|source| Error::File { path: path.to_owned(), source })?;
    Reader::new(file).map_err(|error| damaged(path, &error))
}

fn damaged(path: &Path, error: &ParquetError) -> Error {
    bad(path, format!("damaged Parquet, or a kind that is not supported ({error})"))
}

/// Finds the column with this name, which must have one of these types.
fn column(path: &Path, reader: &Reader, name: &str, types: &[Type]) -> Result<Column, Error> {
    let schema = reader.metadata().file_metadata().schema_descr();
    let columns = schema.columns().iter().enumerate();
    let found = columns.into_iter().find(|(_, column)| column.path().string() == name);
    let Some((place, column)) = found else {
        let reason = format!("no column '{name}': a table of k-mers has 'kmer' and 'count'");
        return Err(bad(path, reason));
    };
    if !types.contains(&column.physical_type()) || column.max_rep_level() > 0 {
        let kind = column.physical_type();
        let wanted = if name == "kmer" { "text is" } else { "integers are" };
        return Err(bad(path, format!("its column '{name}' is {kind}: {wanted} expected")));
    }
    let unsigned = column.converted_type() == ConvertedType::UINT_32;
    Ok(Column { place, optional: column.max_def_level() > 0, unsigned })
}
