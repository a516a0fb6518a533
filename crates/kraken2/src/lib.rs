//! Kraken 2 databases: reading, building, and classification with the lines and reports of Kraken 2,
//! byte for byte (Wood, Lu and Langmead, 2019; the rules are those of version 2.17.1).
//!
//! A [`Kraken2Database`] is a folder with opts.k2d, taxo.k2d and hash.k2d. [`run()`] turns files of
//! reads into lines and counts; [`Kraken2Counts::write_report`] writes the report of the counts.
//! [`Kraken2Database::build`] builds the database of a library: the files that `kraken2-build` writes
//! with one thread, byte for byte.
//!
//! [`distribution`] makes Bracken's distributions, [`taxids_of_library`] finds the taxids of a library's sequences, and
//! [`partial`] writes and joins partial results. [`ReadShare`]s split the reads of a job into shards.

#![deny(missing_docs)]

mod batch;
mod build;
mod by_database;
mod classify;
mod codes;
mod config;
mod counts;
mod cuda;
mod database;
mod distinct;
mod error;
mod held_ranges;
mod joining;
mod library;
mod library_taxids;
mod lines;
mod minimizers;
mod naive;
mod on_gpus;
mod options;
pub mod partial;
mod plan;
mod read_share;
mod report;
mod rounds;
mod run;
mod segments;
mod sequences;
mod share;
mod simulated;
mod simulation;
mod simulator;
mod std_sort;
mod stored;
mod table;
mod tables;
mod taxonomy;
mod together;
mod waiting;
mod work;
mod worker;

pub use build::{Kraken2BuildConfig, Kraken2BuildNotes, Kraken2Library, plan_build};
pub use config::Kraken2Config;
pub use counts::Kraken2Counts;
pub use database::Kraken2Database;
pub use error::Error;
pub use library::{Kraken2Sequence, Kraken2Taxids};
pub use library_taxids::taxids_of_library;
pub use options::Kraken2Options;
pub use read_share::{ReadShare, reads_of};
pub use report::Kraken2ReportOptions;
pub use run::{Kraken2Outcome, plan_run, run, run_with};
pub use simulation::{Counter, Simulation};
pub use simulator::{begin_simulation, check_read_length, distribution};
pub use taxonomy::Kraken2Taxonomy;
pub use together::{Kraken2Relation, Kraken2Together};
