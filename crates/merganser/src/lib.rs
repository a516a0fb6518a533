//! Merganser as a library: counts k-mers, classifies reads, filters pairs, maps reads, removes host reads and
//! evaluates assemblies, on all cores and, with the feature `cuda`, on GPUs.
//!
//! Each job is a module with these parts:
//!
//! - `Config` (for classification `RunConfig` and `BuildConfig`): plain data with good defaults;
//! - `run`, which reads inputs and writes outputs by their paths. All outputs appear at the end; an error leaves no
//!   output. `run_with` takes outputs that are already open, for programs that write more files of the same run.
//!   `run_in_memory`, where there is one, returns the results;
//! - `build`, if the job needs an index, a database or a set;
//! - `plan_run` and `plan_build`, for some: how a run would proceed, with how much memory, and the errors that it would
//!   report before it reads its inputs. The result is a [`JobPlan`](run::JobPlan);
//! - `Outcome`: the results and statistics of a run;
//! - `Error`: its message is one line that says what is wrong, where, and what to do.
//!
//! The last argument of a run is its [`Context`]: threads, memory, devices, progress, warnings and cancellation.
//! Results never depend on it. Inputs are paths, or anything else that is `Into<`[`Input`]`>`; inputs of reads are
//! paths, pairs of paths, or anything else that is `Into<`[`ReadInput`]`>`.
//!
//! | module | input → output |
//! |---|---|
//! | [`count`] | reads → a sorted table of distinct k-mers with their counts |
//! | [`kmers`] | tables of any format → queries, unions, intersections, matrices, histograms, filtered reads |
//! | [`spectrum`] | the histogram of a table → genome size, heterozygosity, coverage |
//! | [`assembly`] | reads (or their table) and assemblies → QV, completeness, copy-number spectra |
//! | [`classify`] | reference genomes and a taxonomy → a database; reads and a database → a taxon for each read |
//! | [`filter`] | pairs of a read and a segment → the number of edits, or a rejection |
//! | [`map`] | a reference → an index; reads and an index → every place within a number of edits |
//! | [`search`] | short patterns; genomes or reads → every occurrence within a number of edits |
//! | [`deplete`] | a host's genomes → a set of minimizers; reads and a set → the reads without the host's |
//!
//! [`io`] has inputs and outputs, [`run`] the context and what all errors share, [`seq`] DNA as numbers, and [`gpu`]
//! the devices of the machine.
//!
//! ```
//! use merganser::{Context, count};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = |name: &str| folder.path().join(name);
//! # std::fs::write(path("reads.fa"), ">one\nACGTTA\n>two\nCGTTAC\n")?;
//! let config = count::Config { min_count: Some(1), ..count::Config::new(5) };
//! let (outcome, table) = count::run_in_memory(&config, [path("reads.fa")], &Context::new())?;
//! assert_eq!((outcome.total_kmers, table.len()), (4, 3));
//! for (kmer, count) in &table {
//!     println!("{kmer} {count}");
//! }
//! assert_eq!(table.get("CGTTA"), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The folder `examples` of the package has a program for each task. The examples of single items are those of the crates
//! that they come from: read `merganser_count::run` as `merganser::count::run`, and `merganser_run::Context` as
//! `merganser::Context`. Options such as `--gpu-memory` in the descriptions of fields are those of the program.
//!
//! # Errors, warnings, progress and cancellation
//!
//! The errors of all jobs implement [`run::Fault`]: its kind distinguishes a wrong argument, a cancelled run, and a
//! problem of the input or the machine. A run that succeeds may still have warnings, for instance that the input has no
//! reads: they are in [`Context::warnings`](run::Context::warnings). [`run::Progress`] receives the progress, and
//! [`Cancel`] ends a run from another thread.
//!
//! # Features
//!
//! - `cli`, on by default: the program `merganser` and its dependencies. Libraries should use
//!   `default-features = false`, which needs 93 crates instead of 181 (including Merganser's own). Plots
//!   of histograms are only in this feature.
//! - `cram`, on by default: reads CRAM files; needs 5 crates.
//! - `cuda`: runs jobs on NVIDIA GPUs. Needs a CUDA toolkit (12 or 13) to build; the result also runs on
//!   machines without a GPU.
//! - `parquet`: k-mer tables as Parquet; needs 15 crates.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

#[doc(inline)]
pub use io::{Input, ReadInput};
#[doc(inline)]
pub use run::{Cancel, Context, DeviceChoice};

/// k-mer counting: reads to a sorted table of distinct k-mers with their counts.
///
/// ```
/// use merganser::{Context, count};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = |name: &str| folder.path().join(name);
/// # std::fs::write(path("reads.fa"), ">one\nACGTTA\n>two\nCGTTAC\n")?;
/// let outcome = count::run(&count::Config::new(5), [path("reads.fa")], path("reads.mgk"), &Context::new())?;
/// // CGTTA is the only 5-mer that occurs twice.
/// assert_eq!(outcome.kept_kmers, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod count {
    #[doc(inline)]
    pub use merganser_count::{
        Config, Error, Format, Outcome, QualityOffset, Storage, plan_run, run, run_histogram,
        run_in_memory, run_with,
    };
    #[doc(inline)]
    pub use merganser_kmers::MemoryTable;
    #[doc(inline)]
    pub use merganser_seq::signature::Rule;
}

/// Tables of k-mers: formats, look-ups, set operations, matrices, and reads compared with tables.
///
/// ```
/// use merganser::Context;
/// use merganser::kmers::{AnyTable, Calculation, Expression, calculate_in_memory};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = |name: &str| folder.path().join(name);
/// # std::fs::write(path("a.tsv"), "ACG\t4\nCCA\t2\n")?;
/// # std::fs::write(path("b.tsv"), "ACG\t3\nGTA\t9\n")?;
/// let tables = [AnyTable::open(path("a.tsv"))?, AnyTable::open(path("b.tsv"))?];
/// // The k-mers that both tables have, with the smaller of their counts.
/// let both = Calculation::new(Expression::intersection(0..2));
/// let (_, table) = calculate_in_memory(&both, &tables, &Context::new())?;
/// assert_eq!(table.iter().collect::<Vec<_>>(), [("ACG".to_owned(), 3)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod kmers {
    #[doc(inline)]
    pub use merganser_kmers::algebra::{
        Calculated, Calculation, Comparison, CountLimits, Cut, Expression, Mode, Operation, Pair,
        Visitor, calculate, calculate_in_memory, calculate_with, compare, compare_with,
        open_tables, parse, visit,
    };
    #[doc(inline)]
    pub use merganser_kmers::formats::TableFormat;
    #[doc(inline)]
    pub use merganser_kmers::hetmers::{Anywhere, HetPair, Pairs, hetmers, hetmers_anywhere};
    #[doc(inline)]
    pub use merganser_kmers::lookup::{
        Lookup, LookupOptions, Pair as LookupPair, Use, open_lookup,
    };
    #[doc(inline)]
    pub use merganser_kmers::matrix::{
        MatrixConfig, MatrixFormat, MatrixOutcome, matrix, matrix_with,
    };
    #[doc(inline)]
    pub use merganser_kmers::reads::{
        FilterConfig, FilterOutputs, Filtered, Job, Limit, Mark, Marked, Mask, Mates, Profiled,
        filter_reads, filter_reads_in, filter_reads_with, marks, profile, query, record_bytes,
        reserved_bytes,
    };
    #[doc(inline)]
    pub use merganser_kmers::tables::{AnyTable, Description, Kind};
    #[doc(inline)]
    pub use merganser_kmers::{
        BadLine, Blocks, Error, Header, Histogram, HistogramFile, HistogramFormat, MemoryTable,
        Table,
    };
}

/// Models fitted to k-mer histograms (GenomeScope 2), and the arithmetic of assembly quality (Merqury).
///
/// ```
/// use merganser::spectrum::Model;
///
/// // Half a million 21-mers of a haploid genome that is covered 30 times: counts lie around 30.
/// let peak = |count: f64| 5e5 * 0.0728 * (-(count - 30.0).powi(2) / 60.0).exp();
/// let histogram: Vec<(u32, u64)> = (1..100).map(|count| (count, peak(count.into()) as u64)).collect();
/// let model = Model::fit(&histogram, 21, 1)?;
/// assert!((model.coverage - 30.0).abs() < 1.0);
/// # Ok::<(), merganser::spectrum::Error>(())
/// ```
pub mod spectrum {
    #[doc(inline)]
    pub use merganser_spectrum::*;
}

/// Evaluation of assemblies by the k-mers of the reads: QV, completeness, copy-number spectra and phase blocks.
pub mod assembly {
    #[doc(inline)]
    pub use merganser_assembly::track;
    #[doc(inline)]
    pub use merganser_assembly::{
        Assembly, AssemblyQuality, Block, BlockRule, Config, Copies, Error, HapmerSpectra,
        Membership, OfAssembly, Only, Outcome, Parent, Reads, Spectra, Subject, Tracks, Trio, run,
        run_with,
    };
    #[doc(inline)]
    pub use merganser_kmers::reads::Mark;
}

/// Removal of a host's reads from a sample.
pub mod deplete {
    #[doc(inline)]
    pub use merganser_deplete::{
        Compression, Config, Description, Error, Format, MinimizerLookup, MinimizerSet, Minimizers,
        Outcome, OutputPaths, Outputs, Params, Sink, Thresholds, Word, build, describe, plan_build,
        plan_run, run, run_with,
    };
}

/// Pre-alignment filtering: decides which pairs of a read and a segment have few edits.
///
/// ```
/// use merganser::filter::{Config, Decision, Filter, Threshold};
///
/// let filter = Filter::new(Config::new(Threshold::Edits(2)))?;
/// let pairs: [(&[u8], &[u8]); 2] = [(b"ACGTACGT", b"ACGAACGT"), (b"ACGTACGT", b"TTTTTTTT")];
/// assert_eq!(filter.run_pairs(pairs)?, [Decision::Accepted { edits: 1 }, Decision::Rejected]);
/// # Ok::<(), merganser::filter::Error>(())
/// ```
pub mod filter {
    #[doc(inline)]
    pub use merganser_filter::{
        Align, Code, Config, Decision, Error, Filter, Format, Method, NMode, Outcome,
        PackedReference, PairBatch, REJECTED, Scratch, Sequence, Threshold, UNDEFINED, Verified,
        Writer, plan_run, run, run_with,
    };
}

/// Mapping of reads: every place of a reference where a read aligns within a number of edits.
///
/// ```
/// use merganser::filter::Threshold;
/// use merganser::{Context, map};
///
/// # let folder = tempfile::tempdir()?;
/// # let fasta = folder.path().join("reference.fa");
/// # std::fs::write(&fasta, ">c\nTTTTTTTTTTGATTACAGATCCCGTAATTTTTTTTTT\n")?;
/// let context = Context::new();
/// let (index, _) = map::build_in_memory(fasta, &context)?;
/// let config = map::Config::new(Threshold::Edits(1));
/// let hits = map::run_in_memory(&config, &index, &["GATTACAGATCCCGTAA"], &context)?;
/// let [hit] = &hits[0][..] else { panic!("{hits:?}") };
/// assert_eq!((hit.contig, hit.position, hit.reverse, hit.edits), (0, 10, false, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod map {
    #[doc(inline)]
    pub use merganser_filter::Threshold;
    #[doc(inline)]
    pub use merganser_map::{
        BuildOutcome, BuildPlan, Config, Contig, DeviceTimes, Effort, Error, Format, Index,
        IndexKind, InsertSizes, MAX_READ, NMode, Operation, Orientation, Outcome, OutputPaths,
        Outputs, Placements, Prefilter, ReadGroup, ReadHit, Reported, Select, Strand, ThreadTimes,
        Topology, build, build_in_memory, build_with, plan_build, plan_run, run, run_in_memory,
        run_with,
    };
}

/// Search for short patterns: every occurrence of guides, primers and barcodes within a number of edits.
///
/// ```
/// use merganser::filter::Threshold;
/// use merganser::search::{Config, Pattern, find};
///
/// let patterns = [Pattern::new("515F", b"GTGYCAGCMGCCGCGGTAA")?];
/// let texts = ["TTGTGCCAGCAGCCGCGGTAATT", "TTACCGCGGATGCTGGCACTT"];
/// let hits = find(&Config::new(Threshold::Edits(1)), &patterns, &texts)?;
/// let hit = |text: usize| (hits[text][0].alignment.start, hits[text][0].reverse, hits[text][0].edits);
/// assert_eq!([hit(0), hit(1)], [(2, false, 0), (0, true, 1)]);
/// # Ok::<(), merganser::search::Error>(())
/// ```
pub mod search {
    #[doc(inline)]
    pub use merganser_filter::Threshold;
    #[doc(inline)]
    pub use merganser_search::{
        Alignment, BarcodeOptions, Config, Demultiplexed, Error, Format, Hit, Lengths, MAX_PATTERN,
        OffTargets, Operation, Outcome, Pam, Pattern, Patterns, PrimerPair, ReadFiles, Sample,
        SampleCounts, Samples, Score, Seed, Strand, Trimmed, UNASSIGNED, Way, Writer,
        demultiplex_in, find, run, run_primers, run_with, trim_in, write_adapter_counts,
        write_counts, write_sample_counts,
    };
}

/// Metagenomic classification: databases (our own and Kraken 2's), classification of reads, and reports.
///
/// ```
/// use std::sync::Arc;
///
/// use merganser::Context;
/// use merganser::classify::{
///     BuildConfig, Preset, SharedClassifier, TaxidConfig, Thresholds, build_in_memory, expand_references,
/// };
///
/// # let data = std::path::Path::new("../../tests/data");
/// let genomes = data.join("genomes");
/// let params = Preset::Sensitive.params();
/// let taxids = TaxidConfig { map: vec![genomes.join("seqid2taxid.map")], strict: false };
/// let config = BuildConfig { taxids, ..BuildConfig::new(params) };
/// let (references, context) = (expand_references(&[genomes])?, Context::new());
/// let (database, _) = build_in_memory(&config, references, data.join("taxonomy"), &context)?;
///
/// // May be kept, moved and shared by threads.
/// let classifier = SharedClassifier::new(Arc::new(database), Thresholds::new(&params), &context)?;
/// let read = "ATTAAAGGTTTATACCTTCCCAGGTAACAAACCAACCAACTTTCGATCTCTTGTAGATCTGTTCTCTAAACGAACTTTAAAATCTGTGTGGCTGTCACTC";
/// let found = classifier.classify([read])?;
/// let expected = "Severe acute respiratory syndrome-related coronavirus";
/// assert_eq!(found[0].map(|taxon| taxon.name), Some(expected));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod classify {
    #[doc(inline)]
    pub use merganser_classify::{
        Additions, BuildConfig, BuildOutcome, Candidate, Classifier, Columns, Database, Devices,
        Error, HashRule, LineFormat, Outcome, OutputPaths, Outputs, Params, PartConfig, Preset,
        Query, QueryParams, ReadLetters, ReadOutput, ReferenceHits, RunConfig, Session,
        SharedClassifier, SketchConfig, Target, TargetSum, TargetSums, TaxidConfig, Taxon,
        Thresholds, Verdict, VerdictConfig, add, add_with, build, build_in_memory, build_with,
        plan_build, run, run_with,
    };
    #[doc(inline)]
    pub use merganser_library as library;
    #[doc(inline)]
    pub use merganser_library::{References, expand_references};
    #[doc(inline)]
    pub use merganser_seq::masking::Masking;
    #[doc(inline)]
    pub use merganser_taxonomy as taxonomy;
    #[doc(inline)]
    pub use merganser_taxreport::{eval, extract};

    /// Databases of Kraken 2: building, and classification with the same bytes as Kraken 2.
    pub mod kraken2 {
        #[doc(inline)]
        pub use merganser_classify::{OutputPaths, Outputs};
        #[doc(inline)]
        pub use merganser_kraken2::{
            Error, Kraken2BuildConfig, Kraken2BuildNotes, Kraken2Config, Kraken2Counts,
            Kraken2Database, Kraken2Library, Kraken2Options, Kraken2Outcome, Kraken2ReportOptions,
            Kraken2Sequence, Kraken2Taxids, Kraken2Taxonomy, plan_build, plan_run, run, run_with,
            taxids_of_library,
        };
        #[doc(inline)]
        pub use merganser_library::LibraryMaps;
    }

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
        pub use merganser_taxreport::Error;
        #[doc(inline)]
        pub use merganser_taxreport::report::*;
    }
}

/// Inputs and outputs: files of reads, their records, and outputs that appear together.
///
/// ```
/// use merganser::io::{RecordOptions, Records};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("reads.fq");
/// # std::fs::write(&path, "@one text\nACGT\n+\nIIII\n")?;
/// // FASTA, FASTQ, SAM, BAM and CRAM, plain or compressed.
/// for record in Records::open([path], RecordOptions::whole())? {
///     let record = record?;
///     assert_eq!((&record.name[..], record.quality.as_deref()), (&b"one"[..], Some(&b"IIII"[..])));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod io {
    #[doc(inline)]
    pub use merganser_alignments::{ReadFormat, RecordOptions};
    #[doc(inline)]
    pub use merganser_io::{
        AtomicFile, CommentTags, Error, FastaProblem, FastqProblem, FileKind, Header, Input, Keep,
        Needs, Output, OutputCompression, OutputFormat, OutputSet, OwnedRecord, Phred,
        QualityOffset, ReadInput, Record, RecordBatch, RecordIter, Records, are_mates, common_name,
        expand_inputs,
    };
}

/// The context of runs, and what the errors of all jobs share.
pub mod run {
    #[doc(inline)]
    pub use merganser_run::options::Auto;
    #[doc(inline)]
    pub use merganser_run::{
        Cancel, Cancelled, ConfigError, Context, DeviceChoice, Fault, FaultKind, JobPlan, Progress,
        Shard, Silent, SizeError, Stages, Unit, Warnings, available_memory, format_size,
        parse_size, peak_rss, with_names,
    };
}

/// DNA as numbers: bases, k-mers, and the letters of both.
pub mod seq {
    #[doc(inline)]
    pub use merganser_seq::{base, kmer};
}

/// The GPUs of the machine.
pub mod gpu {
    #[doc(inline)]
    pub use merganser_gpu::{
        Availability, BuildInfo, CudaVersion, DeviceInfo, DeviceReport, DriverVersion, Error,
        Memory, Report, diagnose, usable,
    };
}
