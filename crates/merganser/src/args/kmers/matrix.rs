//! `merganser kmers matrix`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use merganser_io::OutputFormat;
use merganser_kmers::matrix::{MatrixConfig, MatrixFormat};

use super::TableArgs;
use crate::holds::FormatChoice;

pub(super) const MATRIX: &str = "\
The matrix has a row for each k-mer, in order, and a column for each table, with
the name of its file without suffix. A count is solid if it is at least --solid.
A k-mer has a row if it is solid in at least --min-samples tables. Other counts
become 0; with --rescue N they are kept if the k-mer is solid in N tables.

Examples:
  merganser kmers matrix a.mgk b.mgk c.mgk -o matrix.tsv.gz
  merganser kmers matrix a.mgk b.mgk c.mgk --presence --min-samples 2 \\
    --format dense -o shared.mgx
  merganser kmers matrix a.mgk b.mgk c.mgk --solid 3 --min-samples 2 \\
    --rescue 2 -o matrix.tsv
  On two machines, one range of the k-mers each:
    merganser kmers matrix a.mgk b.mgk --range 1/2 --format dense -o 1.mgx
    merganser kmers matrix a.mgk b.mgk --range 2/2 --format dense -o 2.mgx
    merganser kmers matrix --concat 1.mgx 2.mgx -o matrix.tsv.gz";

impl FormatChoice for MatrixFormat {
    fn format(self) -> Option<OutputFormat> {
        Some(match self {
            MatrixFormat::Tsv => OutputFormat::Tsv,
            MatrixFormat::Dense => OutputFormat::Matrix,
            MatrixFormat::Parquet => OutputFormat::Parquet,
        })
    }
}

#[derive(Args, Debug)]
#[command(override_usage = "merganser kmers matrix [OPTIONS] <TABLE[:MIN..MAX]>...")]
pub(crate) struct MatrixArgs {
    /// Tables, each with optional bounds of its counts
    #[arg(required = true, value_name = "TABLE[:MIN..MAX]")]
    pub(crate) operands: Vec<OsString>,
    /// Output; - is stdout; text is compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Format of the output [default: by FILE's suffix (.mgx, .parquet), else tsv]
    ///
    /// tsv is text; dense is binary with a JSON header; parquet needs a build with the feature parquet.
    #[arg(long = "format", value_name = "FORMAT")]
    pub(crate) given_format: Option<MatrixFormat>,
    /// Concatenate the TABLEs, which are all ranges of a matrix (--range)
    // Listed after --range.
    #[arg(display_order = 4)]
    #[arg(long, conflicts_with_all = ["presence", "solid", "min_samples", "rescue", "range"])]
    pub(crate) concat: bool,
    #[command(flatten)]
    pub(crate) config: MatrixConfig,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
}
