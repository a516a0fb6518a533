//! Merganser as a library: counts k-mers, classifies reads, filters pairs and maps reads, on all cores
//! and, with the feature `cuda`, on GPUs.
//!
//! Each job is a module with a configuration, which has good defaults, and a function or type that runs
//! it. Results never depend on the number of threads, the memory or the device.
//!
//! | module | input → output |
//! |---|---|
//! | [`count`] | reads → a sorted table of distinct k-mers with their counts |
//! | [`kmers`] | tables of any format → queries, unions, intersections, histograms, filtered reads |
//! | [`spectrum`] | the histogram of a table → genome size, heterozygosity, coverage |
//! | [`classify`] | reference genomes and a taxonomy → a database; reads and a database → a taxon for each read |
//! | [`filter`] | pairs of a read and a segment → the number of edits, or a rejection |
//! | [`assembly`] | reads (or their table) and assemblies → QV, completeness, copy-number spectra |
//! | [`deplete`] | a host's genomes → a set of minimizers; reads and a set → the reads without the host's |
//! | [`map`] | a reference → an index; reads and an index → every place within a number of edits |
//!
//! Types that several modules use are in [`io`] (inputs and outputs), [`run`] (threads, memory, progress,
//! cancellation), [`seq`] (DNA as numbers) and [`gpu`] (devices).
//!
//! The sections below show the smallest use of each job. Larger examples, with real files, are in the
//! package's folder `examples`.
//!
//! # Counting k-mers
//!
//! In memory, or with [`count::count`] into a file of any format.
//!
//! ```
//! use merganser::count::{Config, count_in_memory};
//! use merganser::io::Input;
//! use merganser::run::{Cancel, Context, Silent};
//!
//! let folder = tempfile::tempdir()?;
//! let reads = folder.path().join("reads.fa");
//! std::fs::write(&reads, ">one\nACGTTA\n>two\nCGTTAC\n")?;
//!
//! let (config, context, cancel) = (Config { min_count: Some(1), ..Config::new(5) }, Context::new(), Cancel::default());
//! let inputs = [Input::File(reads)];
//! let (outcome, table) = count_in_memory(&config, &context, &inputs)?;
//! assert_eq!((outcome.total_kmers, table.len()), (4, 3));
//! for (kmer, count) in table.iter() {
//!     println!("{kmer} {count}");
//! }
//! assert_eq!(table.get("CGTTA"), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Fitting a genome model
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
//! # Classifying reads
//!
//! Reads in memory, or with [`classify::run::classify`] whole files.
//!
//! ```
//! use std::sync::Arc;
//!
//! use merganser::classify::{
//!     BuildConfig, Preset, SharedClassifier, TaxidConfig, Thresholds, build_in_memory,
//!     expand_references,
//! };
//! use merganser::run::{Cancel, Context, Silent};
//!
//! # let data = std::path::Path::new("../../tests/data");
//! let genomes = data.join("genomes");
//! let params = Preset::Sensitive.params();
//! let taxids = TaxidConfig { map: vec![genomes.join("seqid2taxid.map")], strict: false };
//! let config = BuildConfig { taxids, ..BuildConfig::new(params) };
//! let (references, taxonomy) = (expand_references(&[genomes])?, data.join("taxonomy"));
//! let (context, cancel) = (Context::new(), Cancel::default());
//! let (database, _) =
//!     build_in_memory(&config, &context, &references, &taxonomy)?;
//!
//! // May be kept, moved and shared by threads.
//! let classifier = SharedClassifier::new(Arc::new(database), Thresholds::new(&params));
//! // A read and its mate: none here.
//! let read = b"ATTAAAGGTTTATACCTTCCCAGGTAACAAACCAACCAACTTTCGATCTCTTGTAGATCTGTTCTCTAAACGAACTTTAAAATCTGTGTGGCTGTCACTC";
//! let found = classifier.classify(&[[read, b""]])?;
//! let expected = "Severe acute respiratory syndrome-related coronavirus";
//! assert_eq!(found[0].map(|taxon| taxon.name), Some(expected));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Filtering pairs
//!
//! ```
//! use merganser::filter::{Config, Filter, REJECTED, Threshold};
//!
//! let filter = Filter::new(Config::new(Threshold::Edits(2)))?;
//! let pairs: [(&[u8], &[u8]); 2] = [(b"ACGTACGT", b"ACGAACGT"), (b"ACGTACGT", b"TTTTTTTT")];
//! assert_eq!(filter.run_pairs(pairs)?, [1, REJECTED]);
//! # Ok::<(), merganser::filter::Error>(())
//! ```
//!
//! # Mapping reads
//!
//! Reads in memory, or with [`map::run`] files of reads to SAM, BAM or CRAM.
//!
//! ```
//! use merganser::filter::Threshold;
//! use merganser::io::Input;
//! use merganser::map::{Config, build, map_reads};
//! use merganser::run::{Cancel, Context, Silent};
//!
//! # let folder = tempfile::tempdir()?;
//! # let fasta = folder.path().join("reference.fa");
//! std::fs::write(&fasta, ">c\nTTTTTTTTTTGATTACAGATCCCGTAATTTTTTTTTT\n")?;
//! let cancel = Cancel::default();
//! let (index, _) = build(&Context::new(), &Input::File(fasta), None)?;
//!
//! let config = Config::new(Threshold::Edits(1));
//! let hits = map_reads(&config, &index, &[b"GATTACAGATCCCGTAA"], &cancel)?;
//! let [hit] = &hits[0][..] else { panic!("{hits:?}") };
//! assert_eq!((hit.contig, hit.position, hit.reverse, hit.edits), (0, 10, false, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! - `cli`, on by default: the program `merganser` and its dependencies. Libraries should use
//!   `default-features = false`, which needs 75 crates instead of 125 (including Merganser's own). Plots
//!   of histograms are only in this feature.
//! - `cram`, on by default: reads CRAM files; needs 12 crates.
//! - `cuda`: runs jobs on NVIDIA GPUs. Needs a CUDA toolkit (12 or 13) to build; the result also runs on
//!   machines without a GPU.
//! - `parquet`: k-mer tables as Parquet; needs 15 crates.
#![forbid(unsafe_code)]

#[doc(inline)]
pub use merganser_assembly as assembly;
#[doc(inline)]
pub use merganser_count as count;
pub use merganser_deplete as deplete;
#[doc(inline)]
pub use merganser_filter as filter;
#[doc(inline)]
pub use merganser_gpu as gpu;
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

/// Metagenomic classification: databases (our own and Kraken 2's), classification of reads, and reports.
pub mod classify {
    #[doc(inline)]
    pub use merganser_classify::*;
    #[doc(inline)]
    pub use merganser_kraken2 as kraken2;
    #[doc(inline)]
    pub use merganser_kraken2::{ReadShare, taxids_of_library};
    #[doc(inline)]
    pub use merganser_library as library;
    #[doc(inline)]
    pub use merganser_library::{
        ConflictPlace, LibraryMaps, MapConflict, References, expand_references, files_beside,
    };
    #[doc(inline)]
    pub use merganser_seq::masking::{MASKED, Masking, REACH};
    #[doc(inline)]
    pub use merganser_taxonomy as taxonomy;
    #[doc(inline)]
    pub use merganser_taxreport::{eval, extract};

    /// Bracken: estimates the reads of each species from the reads of each taxon.
    pub mod bracken {
        #[doc(inline)]
        pub use merganser_classify::bracken::distribution;
        #[doc(inline)]
        pub use merganser_kraken2::distribution as kraken2_distribution;
        #[doc(inline)]
        pub use merganser_taxreport::bracken::*;
    }

    /// Reports of reads by taxon.
    pub mod report {
        #[doc(inline)]
        pub use merganser_classify::ReferenceHits;
        #[doc(inline)]
        pub use merganser_taxreport::Error;
        #[doc(inline)]
        pub use merganser_taxreport::report::*;
    }
}

/// Inputs and outputs.
pub mod io {
    pub use merganser_alignments::{ReaderOptions, RecordOptions};
    #[doc(inline)]
    pub use merganser_io::*;
}
