//! Merganser as a library: k-mers counted, reads classified, pairs filtered and reads mapped, by all
//! cores, and by GPUs with the feature `cuda`.
//!
//! Each job is a module with a configuration, which begins with good values, and a function or type
//! that does the work. No result depends on the number of threads, the memory or the device.
//!
//! | module | what goes in → comes out |
//! |---|---|
//! | [`count`] | reads → a table of distinct k-mers with their counts, in order |
//! | [`kmers`] | tables of any format → look-ups, unions, intersections, histograms; reads held against them |
//! | [`spectrum`] | the histogram of a table → genome size, heterozygosity, coverage |
//! | [`classify`] | reference genomes and a taxonomy → a database; reads and a database → a taxon a read |
//! | [`filter`] | pairs of a read and a segment → the number of edits, or that they are too many |
//! | [`map`] | a reference → an index; reads and an index → every place within so many edits |
//!
//! What several of them take is in [`io`] (files in and out), [`run`] (threads, memory, progress,
//! cancellation), [`seq`] (DNA as numbers) and [`gpu`] (which devices there are).
//!
//! # Counting k-mers
//!
//! ```
//! use merganser::count::{Config, count};
//! use merganser::io::{Input, OutputSet};
//! use merganser::kmers::Table;
//! use merganser::run::{Cancel, Silent};
//!
//! let folder = tempfile::tempdir()?;
//! let (reads, output) = (folder.path().join("reads.fa"), folder.path().join("reads.mgk"));
//! std::fs::write(&reads, ">one\nACGTTA\n>two\nCGTTAC\n")?;
//!
//! // Of the 5-mers only CGTTA is in both reads.
//! let (inputs, outputs) = ([Input::File(reads)], OutputSet::alone());
//! let outcome =
//!     count(&Config::new(5), &inputs, Some(&output), &outputs, &Silent, &Cancel::default())?;
//! assert_eq!((outcome.total_kmers, outcome.kept_kmers), (4, 1));
//! assert_eq!(Table::open(&output)?.header().largest_count, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What a histogram tells
//!
//! ```
//! use merganser::spectrum::Model;
//!
//! // Half a million 21-mers of a haploid genome that is covered 30 times: counts lie around 30.
//! let peak = |count: f64| 5e5 * 0.0728 * (-(count - 30.0).powi(2) / 60.0).exp();
//! let histogram: Vec<(u32, u64)> = (1..100).map(|count| (count, peak(count.into()) as u64)).collect();
//! let model = Model::fit(&histogram, 21, 1)?;
//! assert!((model.coverage - 30.0).abs() < 1.0);
//! # Ok::<(), merganser::spectrum::Error>(())
//! ```
//!
//! # Filtering pairs
//!
//! ```
//! use merganser::filter::{Config, Filter, PairBatch, REJECTED, Threshold};
//!
//! let filter = Filter::new(Config::new(Threshold::Edits(2)))?;
//! let mut batch = PairBatch::new();
//! batch.push(b"ACGTACGT", b"ACGAACGT")?;
//! batch.push(b"ACGTACGT", b"TTTTTTTT")?;
//! assert_eq!(filter.run(&batch), [1, REJECTED]);
//! # Ok::<(), merganser::filter::Error>(())
//! ```
//!
//! # Features
//!
//! - `cli`, on by default: the program `merganser` and what it alone needs. A library wants
//!   `default-features = false`: 87 crates instead of 125, these of Merganser included.
//! - `cuda`: runs jobs on NVIDIA GPUs, too. Needs a CUDA toolkit (12 or 13) to build; what is built
//!   also starts where there is no GPU.
//! - `parquet`: tables of k-mers as Parquet.
#![forbid(unsafe_code)]

#[doc(inline)]
pub use merganser_classify as classify;
#[doc(inline)]
pub use merganser_count as count;
#[doc(inline)]
pub use merganser_filter as filter;
#[doc(inline)]
pub use merganser_gpu as gpu;
#[doc(inline)]
pub use merganser_io as io;
#[doc(inline)]
pub use merganser_kmers as kmers;
#[doc(inline)]
pub use merganser_map as map;
#[doc(inline)]
pub use merganser_run as run;
#[doc(inline)]
pub use merganser_seq as seq;
#[doc(inline)]
pub use merganser_spectrum as spectrum;
