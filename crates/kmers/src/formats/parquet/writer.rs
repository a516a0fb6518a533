//! Writes Parquet: the columns `kmer` (text) and `count` (unsigned 64-bit integers), with k and whether k-mers
//! are canonical as key-value metadata. The layout is in `docs/reference/formats.md`.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use merganser_io::AtomicFile;
use merganser_seq::kmer::Kmer;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use crate::Error;
use crate::formats::mgk::Header;
use crate::formats::{Encoder, Sink};

/// The number of rows in a row group: a few megabytes, which is enough work for a thread of a reader.
const GROUP_ROWS: usize = 1 << 18;
/// The number of rows that are passed to the Parquet encoder at a time.
const BATCH_ROWS: usize = 1 << 13;

const SCHEMA: &str = "message kmers {
    required binary kmer (string);
    required int64 count (integer(64, false));
}";

/// Converts k-mers to letters.
pub(crate) struct ParquetFormat {
    pub(crate) k: usize,
}

/// Rows, column by column.
#[derive(Default)]
pub(crate) struct Columns {
    letters: Vec<u8>,
    counts: Vec<i64>,
}

impl<K: Kmer> Encoder<K> for ParquetFormat {
    type Encoded = Columns;

    fn encode(&self, kmers: &[(K, u32)]) -> Columns {
        let mut letters = Vec::with_capacity(kmers.len() * self.k);
        kmers.iter().for_each(|(kmer, _)| kmer.write_letters(self.k, &mut letters));
        Columns { letters, counts: kmers.iter().map(|&(_, count)| i64::from(count)).collect() }
    }
}

/// Writes the file in row groups of a fixed size, independently of the size of the parts.
pub(crate) struct ParquetSink {
    writer: SerializedFileWriter<AtomicFile>,
    k: usize,
    waiting: Columns,
}

impl ParquetSink {
    pub(crate) fn new(file: AtomicFile, header: &Header) -> Result<ParquetSink, Error> {
        let schema = Arc::new(parse_message_type(SCHEMA).map_err(failed)?);
        let kmer = ColumnPath::from("kmer");
        let values = [
            ("k", header.k.to_string()),
            ("canonical", header.canonical.to_string()),
            ("min_count", header.min_count.to_string()),
            ("max_count", header.max_count.to_string()),
        ];
        let values = values.map(|(key, value)| KeyValue::new(key.to_owned(), value));
        let sorting = SortingColumn { column_idx: 0, descending: false, nulls_first: false };
        let properties = WriterProperties::builder()
            // Without a version, so that the same table always has the same bytes.
            .set_created_by("merganser".to_owned())
            .set_key_value_metadata(Some(values.to_vec()))
            .set_sorting_columns(Some(vec![sorting]))
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).map_err(failed)?))
            // Neighbouring k-mers have common prefixes.
            .set_column_dictionary_enabled(kmer.clone(), false)
            .set_column_encoding(kmer, Encoding::DELTA_BYTE_ARRAY)
            .build();
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties));
        Ok(ParquetSink {
            writer: writer.map_err(failed)?,
            k: header.k,
            waiting: Columns::default(),
        })
    }

    /// Writes the first `rows` of the waiting rows as a row group.
    fn group(&mut self, rows: usize) -> Result<(), Error> {
        let Columns { letters, counts } = &mut self.waiting;
        let rest = letters.split_off(rows * self.k);
        let bytes = Bytes::from(std::mem::replace(letters, rest));
        let kmer = |row: usize| ByteArray::from(bytes.slice(row * self.k..(row + 1) * self.k));
        let mut group = self.writer.next_row_group().map_err(failed)?;
        if let Some(mut column) = group.next_column().map_err(failed)? {
            let mut values = Vec::with_capacity(BATCH_ROWS);
            for start in (0..rows).step_by(BATCH_ROWS) {
                values.clear();
                values.extend((start..rows.min(start + BATCH_ROWS)).map(kmer));
                let writer = column.typed::<ByteArrayType>();
                writer.write_batch(&values, None, None).map_err(failed)?;
            }
            column.close().map_err(failed)?;
        }
        if let Some(mut column) = group.next_column().map_err(failed)? {
            let writer = column.typed::<Int64Type>();
            writer.write_batch(&counts[..rows], None, None).map_err(failed)?;
            column.close().map_err(failed)?;
        }
        group.close().map_err(failed)?;
        counts.drain(..rows);
        Ok(())
    }
}

/// Converts an error of Parquet; if an I/O error caused it, that is returned.
pub(crate) fn failed(error: ParquetError) -> Error {
    match error {
        ParquetError::External(error) => Error::Output(match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        }),
        other => Error::Output(io::Error::other(other)),
    }
}

impl Sink<Columns> for ParquetSink {
    fn write(&mut self, part: Columns) -> Result<(), Error> {
        self.waiting.letters.extend_from_slice(&part.letters);
        self.waiting.counts.extend_from_slice(&part.counts);
        while self.waiting.counts.len() >= GROUP_ROWS {
            self.group(GROUP_ROWS)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Duration, Error> {
        let rows = self.waiting.counts.len();
        if rows > 0 {
            self.group(rows)?;
        }
        Ok(self.writer.into_inner().map_err(failed)?.commit()?)
    }
}
