//! Tables of k-mers: distinct k-mers with their counts, in the order of their bases.
//!
//! [`tables::AnyTable`] opens a table of any format ([`formats`]): ours (`.mgk`, which [`Table`] reads by
//! itself), KMC's databases, KFF, text and Parquet. With tables one can
//! - compute: unions, intersections, differences and cuts, nested at will ([`algebra`]);
//! - look k-mers up at random, on the CPU or on GPUs ([`lookup`]);
//! - hold reads against them: filter, trim or mask them, or list the counts along each ([`reads`]);
//! - put them side by side, a column each ([`matrix`]);
//! - see how many k-mers occur how often ([`Histogram`]).
//!
//! Tables are made from something else with [`scattered`], which keeps and sorts k-mers, and with
//! [`formats`], which writes them. No result depends on the number
//! of threads, the memory or the device.
//!
//! ```
//! use merganser_io::OutputSet;
//! use merganser_kmers::algebra::{Calculation, CountLimits, calculate, open_tables, parse};
//! use merganser_kmers::formats::TableFormat;
//! use merganser_run::{Cancel, Resources, Silent};
//!
//! let folder = tempfile::tempdir()?;
//! let [one, other, both] = ["one", "other", "both"].map(|name| folder.path().join(name));
//! std::fs::write(&one, "ACG\t4\nCCA\t2\n")?;
//! std::fs::write(&other, "ACG\t3\nGTA\t9\n")?;
//!
//! // The k-mers that both tables have, with the smaller of their counts.
//! let text = format!("intersect-min({}, {})", one.display(), other.display());
//! let (expression, paths) = parse(text.as_ref())?;
//! let cancel = Cancel::default();
//! let tables = open_tables(&paths, true, &cancel)?;
//! let calculation = Calculation {
//!     expression,
//!     limits: CountLimits::default(),
//!     output: Some(both.clone()),
//!     format: TableFormat::Tsv,
//! };
//! let resources = Resources::new().threads(2).memory(256 << 20);
//! let outputs = OutputSet::alone();
//! calculate(&calculation, &tables, &resources, &outputs, &Silent, &cancel)?;
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
pub mod scattered;
pub mod tables;

pub use error::Error;
pub use formats::mgk::{Blocks, Header, JobHash, Piece, PieceKind, Table};
pub use histogram::{BadLine, Histogram, HistogramFile, HistogramFormat, HistogramLines};
pub use memory::MemoryTable;
