//! Tables in Parquet files, as written by Merganser and by data frame libraries. The layout is in
//! `docs/reference/formats.md`.

mod reader;
mod writer;

pub(crate) use reader::Parquet;
pub(crate) use writer::{ParquetFormat, ParquetSink, failed};
