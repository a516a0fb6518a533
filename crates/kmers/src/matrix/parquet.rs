//! The matrix as Parquet: a column `kmer` and one for each sample.

use std::sync::Arc;

use bytes::Bytes;
use merganser_io::AtomicFile;
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};

use super::format::{EncodedRows, RowFormat};
use crate::Error;
use crate::formats::parquet::failed;

/// The approximate number of cells in a row group.
const GROUP_CELLS: usize = 1 << 22;

/// Writes row groups of a fixed size, independently of the size of the parts.
pub(super) struct Columns {
    writer: SerializedFileWriter<AtomicFile>,
    k: usize,
    samples: usize,
    group_rows: usize,
    letters: Vec<u8>,
    cells: Vec<u32>,
}

impl Columns {
    pub(super) fn new(format: &RowFormat, file: AtomicFile) -> Result<Columns, Error> {
        let text = |name: &str| {
            Type::primitive_type_builder(name, Physical::BYTE_ARRAY)
                .with_repetition(Repetition::REQUIRED)
                .with_logical_type(Some(LogicalType::String))
                .build()
        };
        let number = |name: &String| {
            Type::primitive_type_builder(name, Physical::INT64)
                .with_repetition(Repetition::REQUIRED)
                .build()
        };
        let columns = [text("kmer")].into_iter().chain(format.names.iter().map(number));
        let columns = columns.map(|column| column.map(Arc::new).map_err(failed));
        let columns = columns.collect::<Result<Vec<_>, Error>>()?;
        let schema =
            Type::group_type_builder("matrix").with_fields(columns).build().map_err(failed)?;
        let kmer = ColumnPath::from("kmer");
        let properties = WriterProperties::builder()
            // Without a version, so that the same matrix always has the same bytes.
            .set_created_by("merganser".to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).map_err(failed)?))
            .set_column_dictionary_enabled(kmer.clone(), false)
            .set_column_encoding(kmer, Encoding::DELTA_BYTE_ARRAY)
            .build();
        let writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties));
        let samples = format.names.len();
        Ok(Columns {
            writer: writer.map_err(failed)?,
            k: format.k,
            samples,
            group_rows: (GROUP_CELLS / samples.max(1)).max(1 << 10),
            letters: Vec::new(),
            cells: Vec::new(),
        })
    }

    pub(super) fn put(&mut self, part: &EncodedRows) -> Result<(), Error> {
        self.letters.extend_from_slice(&part.bytes);
        self.cells.extend_from_slice(&part.cells);
        while self.letters.len() >= self.group_rows * self.k {
            self.group(self.group_rows)?;
        }
        Ok(())
    }

    /// Writes the first `rows` of the waiting rows as a row group.
    fn group(&mut self, rows: usize) -> Result<(), Error> {
        let rest = self.letters.split_off(rows * self.k);
        let bytes = Bytes::from(std::mem::replace(&mut self.letters, rest));
        let kmers =
            (0..rows).map(|row| ByteArray::from(bytes.slice(row * self.k..(row + 1) * self.k)));
        let kmers: Vec<ByteArray> = kmers.collect();
        let mut group = self.writer.next_row_group().map_err(failed)?;
        if let Some(mut column) = group.next_column().map_err(failed)? {
            column.typed::<ByteArrayType>().write_batch(&kmers, None, None).map_err(failed)?;
            column.close().map_err(failed)?;
        }
        for sample in 0..self.samples {
            let cells = self.cells[..rows * self.samples].iter().skip(sample).step_by(self.samples);
            let cells: Vec<i64> = cells.map(|&cell| cell.into()).collect();
            if let Some(mut column) = group.next_column().map_err(failed)? {
                column.typed::<Int64Type>().write_batch(&cells, None, None).map_err(failed)?;
                column.close().map_err(failed)?;
            }
        }
        group.close().map_err(failed)?;
        self.cells.drain(..rows * self.samples);
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<(), Error> {
        let rows = self.letters.len() / self.k;
        if rows > 0 {
            self.group(rows)?;
        }
        self.writer.into_inner().map_err(failed)?.commit()?;
        Ok(())
    }
}
