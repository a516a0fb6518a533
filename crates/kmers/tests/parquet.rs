//! Writes tables as Parquet and reads them, also in the forms that data frame libraries write.
#![cfg(feature = "parquet")]
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;

use merganser_io::OutputSet;
use merganser_kmers::algebra::{Calculation, CountLimits, Expression, calculate_with};
use merganser_kmers::formats::TableFormat;
use merganser_kmers::tables::{AnyTable, Kind};
use merganser_run::Context;
use parquet::data_type::{ByteArray, ByteArrayType, FixedLenByteArrayType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// Converts the table at `from` to `to`.
fn convert(from: &Path, to: &Path, format: TableFormat, threads: usize) -> Result<(), String> {
    let table =
        AnyTable::open_with(from, true, &Context::new()).map_err(|error| error.to_string())?;
    let calculation = Calculation {
        expression: Expression::Table(0),
        limits: CountLimits::default(),
        output: Some(to.to_owned()),
        format,
    };
    let context = Context::new().threads(threads).memory(1 << 30);
    calculate_with(&calculation, &[table], &OutputSet::alone(), &context)
        .map(drop)
        .map_err(|error| error.to_string())
}

/// Returns sorted canonical 21-mers: they begin with A and end with C.
fn text(number: u32) -> String {
    let line = |i: u32| {
        let letter = |at: u32| ["A", "C", "G", "T"][(i >> (2 * at) & 3) as usize];
        let middle: String = (0..10).rev().map(letter).collect();
        format!("AACCA{middle}CCGAAC\t{}\n", i.wrapping_mul(2_654_435_761) >> (i % 32) | 1)
    };
    (0..number).map(line).collect()
}

#[test]
fn tables_come_back_whatever_the_threads() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    // More than one row group.
    let text = text(300_000);
    std::fs::write(at("t.tsv"), &text).unwrap();
    convert(&at("t.tsv"), &at("one.parquet"), TableFormat::Parquet, 1).unwrap();
    convert(&at("t.tsv"), &at("two.parquet"), TableFormat::Parquet, 3).unwrap();
    assert!(std::fs::read(at("one.parquet")).unwrap() == std::fs::read(at("two.parquet")).unwrap());
    let table = AnyTable::open_with(&at("one.parquet"), false, &Context::new()).unwrap();
    let description = table.description();
    assert_eq!((description.kind, description.k, description.canonical), (Kind::Parquet, 21, true));
    assert_eq!(description.kmers, Some(300_000));
    convert(&at("one.parquet"), &at("back.tsv"), TableFormat::Tsv, 2).unwrap();
    assert!(std::fs::read_to_string(at("back.tsv")).unwrap() == text);
}

/// Writes a file of two rows with other types.
fn foreign(path: &Path, schema: &str, kmers: [&str; 2], counts: [i64; 2]) {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let file = std::fs::File::create(path).unwrap();
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(file, schema.clone(), properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    while let Some(mut column) = group.next_column().unwrap() {
        let values = kmers.map(|kmer| ByteArray::from(kmer.as_bytes().to_vec()));
        use parquet::column::writer::ColumnWriter as Writer;
        let levels = [1, 1];
        match column.untyped() {
            Writer::ByteArrayColumnWriter(_) => {
                column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None).unwrap();
            }
            Writer::FixedLenByteArrayColumnWriter(_) => {
                let values = values.map(Into::into);
                column.typed::<FixedLenByteArrayType>().write_batch(&values, None, None).unwrap();
            }
            Writer::Int32ColumnWriter(_) => {
                let counts = counts.map(|count| count as i32);
                column.typed::<Int32Type>().write_batch(&counts, Some(&levels), None).unwrap();
            }
            _ => {
                column.typed::<Int64Type>().write_batch(&counts, Some(&levels), None).unwrap();
            }
        }
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

#[test]
fn other_shapes_are_read_and_others_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("f.parquet"), dir.path().join("t.tsv"));
    let optional = "message a { optional int64 count; optional binary kmer (string); }";
    let fixed = "message a { required fixed_len_byte_array(4) kmer; optional int32 count (integer(32, false)); }";
    let signed = "message a { optional binary kmer; optional int32 count; optional int64 other; }";
    for (schema, largest) in [(optional, 4_000_000_000), (fixed, 4_000_000_000), (signed, 7)] {
        foreign(&from, schema, ["ACCA", "AAAC"], [largest, 3]);
        convert(&from, &to, TableFormat::Tsv, 2).unwrap();
        let text = std::fs::read_to_string(&to).unwrap();
        assert_eq!(text, format!("AAAC\t3\nACCA\t{largest}\n"), "{schema}");
    }
    let fails = |schema: &str, kmers: [&str; 2], counts: [i64; 2], expected: &str| {
        foreign(&from, schema, kmers, counts);
        let error = convert(&from, &to, TableFormat::Tsv, 2).unwrap_err();
        assert!(error.contains(expected), "{error}");
    };
    fails(optional, ["ACCA", "AAA"], [1, 2], "'AAA' is not a k-mer of 4 letters");
    fails(optional, ["ACCA", "ANAA"], [1, 2], "'ANAA' is not a k-mer of 4 letters");
    fails(optional, ["ACCA", "TTTT"], [1, 2], "TTTT is greater than its reverse complement");
    fails(optional, ["ACCA", "ACCA"], [1, 2], "it has the k-mer ACCA more than once");
    fails(optional, ["ACCA", "AAAA"], [1, -2], "'-2' is not a count");
    fails(optional, ["ACCA", "AAAA"], [1, 1 << 32], "'4294967296' is not a count");
    let name = "message a { optional binary word; optional int64 count; }";
    fails(name, ["ACCA", "AAAA"], [1, 2], "no column 'kmer'");
    let kind = "message a { optional int64 kmer; optional int64 count; }";
    fails(kind, ["ACCA", "AAAA"], [1, 2], "its column 'kmer' is INT64: text is expected");
    let whole = std::fs::read(&from).unwrap();
    for length in [4, 30, whole.len() - 1] {
        std::fs::write(&from, &whole[..length]).unwrap();
        let error = convert(&from, &to, TableFormat::Tsv, 1).unwrap_err();
        assert!(error.contains("damaged Parquet"), "{error}");
    }
}
