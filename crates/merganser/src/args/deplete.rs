//! `merganser deplete`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use merganser_deplete::{Config, ReadFormat};
use merganser_filter::Threshold;
use merganser_io::CommentTags;

use super::dry_run::DryRunArgs;
use super::map::LimitArgs;
use super::pages::PageArgs;
use super::reads::{ReadsArgs, SegmentArgs};

/// Subcommands of `merganser deplete`.
#[derive(Debug, Subcommand)]
pub(crate) enum DepleteCommand {
    /// Make the set of minimizers of a host's genomes
    ///
    /// The set's bytes depend only on the genomes, -k, -w and the format.
    #[command(after_help = INDEX)]
    Index(DepleteIndexArgs),
    /// Remove or keep a host's reads
    ///
    /// Makes the same decisions as Deacon with the same --abs-threshold and --rel-threshold. The output
    /// is in the order of the input, and depends only on the set, the reads, and the options under
    /// Decision and Output.
    #[command(after_help = FILTER)]
    Filter(Box<DepleteFilterArgs>),
    /// Write the minimizers that are in any of the sets
    #[command(
        after_help = "Examples:\n  merganser deplete union -o both.mgd human.mgd mouse.mgd\n  \
        merganser deplete union -o human.idx human.mgd   # in Deacon's format"
    )]
    Union(SetsArgs),
    /// Write the minimizers of the first set that are in none of the others
    #[command(after_help = "Examples:\n  \
        merganser deplete diff -o host_only.mgd host.mgd pathogens.mgd")]
    Diff(SetsArgs),
    /// Write the minimizers that are in all sets
    #[command(
        after_help = "Examples:\n  merganser deplete intersect -o core.mgd a.mgd b.mgd c.mgd"
    )]
    Intersect(SetsArgs),
    /// Print a set's properties
    #[command(after_help = "Examples:\n  merganser deplete info host.mgd\n  \
        merganser deplete info panhuman-1.k31w15.idx --json")]
    Info(SetInfoArgs),
}

const INDEX: &str = "\
Examples:
  merganser deplete index -o human.mgd human.fa.gz
  merganser deplete index -o human.idx human.fa.gz   # in Deacon's format";

const FILTER: &str = "\
A read matches if the set contains at least N (--abs-threshold) of its distinct
minimizers, and at least a fraction R (--rel-threshold) of them. The mates of a
pair are counted together. Matching reads are removed; with --keep, all others.

Examples:
  Remove a host's pairs:
    merganser deplete filter host.mgd -1 a_1.fq.gz -2 a_2.fq.gz \\
      -o clean_#.fq.gz
  Single reads, also writing the removed reads and a summary for MultiQC:
    merganser deplete filter host.mgd reads.fq.gz -o clean.fq.gz \\
      --output-matching host.fq.gz --hostile sample.json
  Show that no kept read is within 3 edits of the host:
    merganser index -o haplotypes.mgi human.fa.gz
    merganser deplete filter host.mgd reads.fq.gz -o clean.fq.gz \\
      --confirm haplotypes.mgi -e 3 --certificate clean.json
  All samples of a table, in a run that can be continued:
    merganser deplete filter host.mgd --sample-sheet run.tsv \\
      -o {}.clean.fq.gz --resume journal.txt
  Unaligned BAM of a sequencer, or alignments, with all tags:
    merganser deplete filter host.mgd sample.bam -o clean.bam
  Keep the matching reads, with a set that Deacon made:
    merganser deplete filter --keep panhuman.idx reads.fq -o human.fq";

#[derive(Args, Clone, Debug)]
pub(crate) struct DepleteIndexArgs {
    /// Genomes (FASTA or FASTQ), @LIST of such files, or - for stdin
    #[arg(value_name = "GENOMES", required = true)]
    pub(crate) genomes: Vec<PathBuf>,
    /// Set to write: in Deacon's format if the name ends in .idx, else .mgd
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Length of a minimizer in bases, odd, up to 61; above 31, a set takes three times the memory
    #[arg(short, value_name = "K", default_value_t = 31)]
    pub(crate) k: usize,
    /// Number of k-mers in a window, which gets one minimizer; W is odd, K + W at most 96
    #[arg(short, value_name = "W", default_value_t = 15)]
    pub(crate) w: usize,
    #[command(flatten)]
    pub(crate) inputs: ReadsArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) dry: DryRunArgs,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct SetsArgs {
    /// Sets: .mgd, or Deacon's .idx
    #[arg(value_name = "SETS", required = true)]
    pub(crate) sets: Vec<PathBuf>,
    /// Set to write: in Deacon's format if the name ends in .idx, else .mgd
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct SetInfoArgs {
    /// Set: .mgd, or Deacon's .idx
    #[arg(value_name = "SET")]
    pub(crate) set: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Clone, Debug)]
#[command(mut_arg("reads", |arg| arg.required_unless_present("sample_sheet")))]
pub(crate) struct DepleteFilterArgs {
    /// The host's set: .mgd, or Deacon's .idx
    #[arg(value_name = "SET")]
    pub(crate) set: PathBuf,
    #[command(flatten)]
    pub(crate) reads: SegmentArgs,
    /// Filter all samples of a table with one set; {} in the names of outputs is replaced by the sample
    ///
    /// Lines are SAMPLE<TAB>READS or SAMPLE<TAB>MATES1<TAB>MATES2, or have the columns that a header names.
    /// A file of --report-html or --report-data without {} in its name has all samples.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["reads", "first", "second"])]
    pub(crate) sample_sheet: Option<PathBuf>,
    /// Skip samples of the sheet that are finished; FILE is the journal, which is appended to
    ///
    /// A sample is finished if its outputs are unchanged since they were written, and its reads and the set still have
    /// the same names and content.
    #[arg(long, value_name = "FILE", requires = "sample_sheet")]
    pub(crate) resume: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) config: Config,

    /// Also remove reads that have a place with at most --edits edits in this index, whatever the set decides
    ///
    /// The index (.mgi) has the host's haplotypes. The reads that the set keeps are mapped against it, and with
    /// a read its mate is removed. No read within --edits of any place is kept.
    #[arg(long, value_name = "INDEX", help_heading = "Confirmation", requires = "edits")]
    #[arg(conflicts_with = "keep")]
    pub(crate) confirm: Option<PathBuf>,
    /// Maximum edits of a host's read: a number, or N% of the read's length, rounded down
    #[arg(short, long, value_name = "N|N%", help_heading = "Confirmation", requires = "confirm")]
    pub(crate) edits: Option<Threshold>,
    /// Write a certificate as JSON: digests of all files, and what was found; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Confirmation", requires = "confirm")]
    pub(crate) certificate: Option<PathBuf>,

    /// Output for the kept reads, or - for stdout; compressed if the name ends in .gz or .zst
    ///
    /// If it ends in .bam, .cram or .sam, the alignments of the kept reads are written as they are in
    /// the input, with all tags, and those of a read and its mate stay together. Reads of FASTQ become
    /// unmapped, and tags in their headers (BC:Z:ACGT) are kept. CRAM is written without a reference.
    /// For pairs in FASTQ, # in the name becomes 1 and 2. Without it and without --output2, mates are
    /// interleaved.
    #[arg(short, long, value_name = "FILE", default_value = "-", help_heading = "Output")]
    #[arg(display_order = 0)]
    pub(crate) output: PathBuf,
    /// Output for second mates; cannot be used with a # in the name of -o
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output2: Option<PathBuf>,
    /// Output for the removed reads, named as for -o; cannot be used with --keep
    #[arg(long, value_name = "FILE", help_heading = "Output", conflicts_with = "keep")]
    pub(crate) output_matching: Option<PathBuf>,
    /// Format of all outputs for reads, whatever their names
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) output_format: Option<ReadFormat>,
    /// Tags of alignments that are written into the headers of FASTQ, as samtools fastq -T does: BC,RX
    /// or * for all
    ///
    /// Each follows a tab after the name: BC:Z:ACGT. Alignments keep all their tags.
    #[arg(long, value_name = "TAGS", help_heading = "Output")]
    pub(crate) tags: Option<CommentTags>,
    /// Write a summary with the keys of Deacon's summary, which MultiQC reads; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) summary: Option<PathBuf>,
    /// Write a summary in Hostile's format, which MultiQC reads; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) hostile: Option<PathBuf>,
    /// Write a summary of the run as JSON; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pages: PageArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) dry: DryRunArgs,
}
