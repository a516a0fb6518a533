//! Tables of k-mers: distinct k-mers with their counts, in the order of their bases.
//!
//! [`tables::AnyTable`] opens a table of any format ([`formats`]): `.mgk` (which [`Table`] reads by itself),
//! KMC's databases, KFF, Jellyfish's files, text and Parquet. The crate can
//! - compute nested unions, intersections, differences and cuts of tables ([`algebra`]);
//! - look up k-mers in random order, on the CPU or on GPUs ([`lookup`]);
//! - filter, trim or mask reads by the counts of their k-mers, or list these counts ([`reads`]);
//! - write a matrix with a column for each table ([`matrix`]);
//! - count how many k-mers have each count ([`Histogram`]).
//!
//! Results do not depend on the number of threads, the memory or the device.
//!
//! ```
//! use merganser_kmers::algebra::{Calculation, calculate, open_tables, parse};
//! use merganser_kmers::formats::TableFormat;
//! use merganser_run::Context;
//!
//! let folder = tempfile::tempdir()?;
//! let [one, other, both] = ["one", "other", "both"].map(|name| folder.path().join(name));
//! std::fs::write(&one, "ACG\t4\nCCA\t2\n")?;
//! std::fs::write(&other, "ACG\t3\nGTA\t9\n")?;
//!
//! // The k-mers that both tables have, with the smaller of their counts.
//! let text = format!("intersect-min({}, {})", one.display(), other.display());
//! let (expression, paths) = parse(text.as_ref())?;
//! let context = Context::new().threads(2).memory(256 << 20);
//! let tables = open_tables(&paths, true, &context)?;
//! let calculation = Calculation::new(expression).output(&both).format(TableFormat::Tsv);
//! calculate(&calculation, &tables, &context)?;
//! assert_eq!(std::fs::read_to_string(&both)?, "ACG\t3\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]
#![deny(unsafe_code)]

pub mod algebra;
mod description;
mod error;
pub mod formats;
mod gathered;
pub mod hetmers;
mod histogram;
pub mod lookup;
pub mod matrix;
mod memory;
mod ranges;
pub mod reads;
#[doc(hidden)]
pub mod scattered;
pub mod tables;

pub use error::Error;
pub use formats::mgk::{Blocks, Header, JobHash, Piece, PieceKind, Table};
pub use histogram::{BadLine, Histogram, HistogramFile, HistogramFormat, HistogramLines};
pub use memory::MemoryTable;
