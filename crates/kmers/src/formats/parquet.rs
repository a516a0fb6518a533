//! Tables in Parquet files, as we and data frames write them. Layout in `docs/formats.md`.

mod reader;
mod writer;

pub(crate) use reader::Parquet;
pub(crate) use writer::{ParquetFormat, ParquetSink, failed};
