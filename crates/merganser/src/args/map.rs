//! `merganser index` and `merganser map`.

mod preset;

use std::path::{Path, PathBuf};

use clap::builder::TypedValueParser;
use clap::{Args, Subcommand};
use merganser_io::{OutputFormat, is_regular};
use merganser_map::{IndexKind, Topology};
use merganser_run::options::cli::one_of;
use merganser_run::{Context, Shard};

use super::ThreadArgs;
use super::device::DeviceArgs;
use super::dry_run::DryRunArgs;
use super::joins::MapJoinArgs;
use super::pages::PageArgs;
use super::{PairArgs, ReadsArgs};
use crate::common;
use preset::MapConfig;

const INDEX: &str = "\
Examples:
  merganser index ref.fa.gz -o ref.mgi
  merganser index --verify ref.mgi";

const MAP: &str = "\
Hits:
  Without options, one hit of each read is reported, with clipped ends: what
  variant callers need (--preset variants). With -e alone, all hits are.

  A hit is the end of an alignment of the whole read, on either strand, with at
  most -e edits, if no better hit ends or begins within -e bases of where it
  does. All hits are found, in any reference: docs/guide/map.md.

Output:
  SAM, or BAM or CRAM if the name of -o ends in .bam or .cram. Reads are in the
  order of the input or, with --sort, in the order of the reference, as by
  samtools sort, with an index (.bai, .csi or .crai) next to the output. CRAM is
  sorted, and needs --reference if the reference has letters other than A, C, G
  and T.

  The hits of a read are ordered by edits, contig, end and strand; the first is
  its primary record, with the read's bases. MAPQ is 60 if the read has only one
  hit; otherwise it is 10 for each edit that the next hit has more than the
  first, at most 50. --best and --best-strata stop early: with them MAPQ takes
  into account only hits with up to one edit more than the first.

Pairs:
  Mates that face each other (--orientation), with --min-insert to --max-insert
  bases from end to end, are reported together. Each such combination has two
  records with the same HI. A pair without any has the hits of each mate.
  --learn-insert, part of --preset variants, learns these limits from the first
  pairs.

Examples:
  Pairs as sorted BAM with an index, for bcftools:
    merganser map ref.fa reads_1.fq.gz reads_2.fq.gz --sort -o out.bam \\
      -R '@RG\\tID:{}\\tSM:s1'
  The same for all samples of a table, as CRAM:
    merganser map ref.mgi --sample-sheet run.tsv --sort --reference ref.fa \\
      -o {}.cram
  All hits with up to 5 edits, as BAM:
    merganser map ref.mgi reads.fq.gz -e 5 -o out.bam
  Unaligned BAM of a sequencer, with barcodes, base modifications and read
  groups:
    merganser map ref.mgi sample.bam --tags '*' --sort -o out.bam
  All best hits of single reads, without unmapped reads, for OptiType (HLA):
    merganser map hla.fa reads.fq.gz --preset hla -o out.bam";

#[derive(Args, Debug)]
#[command(after_help = INDEX)]
pub(crate) struct IndexArgs {
    /// Reference in FASTA, plain or compressed; with --verify, an index; - is stdin
    #[arg(value_name = "REFERENCE")]
    pub(crate) reference: PathBuf,
    /// Index to write (.mgi)
    #[arg(short, long, value_name = "FILE", required_unless_present = "verify")]
    pub(crate) output: Option<PathBuf>,
    /// Check the checksums of an index
    #[arg(long, conflicts_with_all = ["output", "dry_run"])]
    pub(crate) verify: bool,
    /// Circular contigs: names, separated by commas, all or none [default: those whose header has
    /// topology=circular or circular=true]
    ///
    /// A read over the junction of the last and the first base has a record on each side.
    #[arg(long, value_name = "NAMES", conflicts_with = "verify")]
    pub(crate) circular: Option<Topology>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) dry: DryRunArgs,
}

/// The options that limit threads and memory.
#[derive(Args, Clone, Debug)]
pub(crate) struct LimitArgs {
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Memory that the process may use, e.g. 500M or 8G [default: three quarters of the available
    /// memory]
    #[arg(long, value_name = "SIZE", value_parser = merganser_run::parse_size)]
    #[arg(help_heading = "Resources")]
    pub(crate) memory: Option<u64>,
}

impl LimitArgs {
    /// Returns the context of a run on these devices.
    pub(crate) fn context(&self, device: &DeviceArgs) -> Context {
        common::context(self.threads.number(), self.memory, None, Some(device))
    }
}

/// `merganser map`: a run, or a subcommand.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(disable_help_subcommand = true, after_help = MAP, override_usage = "\
merganser map [OPTIONS] <REFERENCE> <READS>...
       merganser map [OPTIONS] <REFERENCE> -1 <FILE> -2 <FILE>
       merganser map join [OPTIONS] --output <FILE> <SHARD>...")]
pub(crate) struct MapCommandArgs {
    #[command(subcommand)]
    pub(crate) command: Option<MapCommand>,
    #[command(flatten)]
    pub(crate) run: Option<MapArgs>,
}

/// Subcommands of `merganser map`.
#[derive(Debug, Subcommand)]
pub(crate) enum MapCommand {
    /// Join the results of shards (map --shard)
    ///
    /// The joined BAM file equals that of one run over all reads, byte for byte. It is an error if a shard
    /// is missing, or if shards differ in reads, reference or options.
    Join(Box<MapJoinArgs>),
}

#[derive(Args, Clone, Debug)]
// Shows clap that a run is requested: with groups within, the derived group has no members.
#[group(id = "map_run", args = ["reference"], multiple = true)]
pub(crate) struct MapArgs {
    /// Reference: an index that `merganser index` wrote (.mgi), or FASTA, which is indexed in each run
    #[arg(value_name = "REFERENCE")]
    pub(crate) reference: PathBuf,
    /// Reads in FASTA, FASTQ, SAM, BAM or CRAM, plain or compressed; - is stdin
    ///
    /// First mates if -2 is given without -1. Two files whose first 1,000 records are mates by name are a pair; if many
    /// of these are, but the files are swapped or out of step, or if both are pipes, give -1 and -2, or -U.
    #[arg(required_unless_present_any = ["mates1", "sample_sheet"], value_name = "READS")]
    pub(crate) reads: Vec<PathBuf>,
    /// First mates; repeat -1 and -2 for more files; pairs come before READS in the output
    #[arg(short = '1', value_name = "FILE", requires = "mates", id = "mates1")]
    pub(crate) mates1: Vec<PathBuf>,
    /// Second mates: the same number of files as for -1 or, without -1, as READS
    #[arg(short = '2', long = "mates", value_name = "FILE")]
    pub(crate) mates: Vec<PathBuf>,
    /// READS contain pairs: each first mate is followed by its second mate
    #[arg(long)]
    pub(crate) interleaved: bool,
    /// READS are single reads, even if they are two files of mates or pipes, or alignments of mates
    #[arg(short = 'U', long, conflicts_with_all = ["interleaved", "sample_sheet"])]
    pub(crate) single: bool,
    #[command(flatten)]
    pub(crate) pairs: PairArgs,
    /// Map all samples of a table with one index; {} in -o and --unmapped is replaced by the sample
    ///
    /// Lines are SAMPLE<TAB>READS or SAMPLE<TAB>MATES1<TAB>MATES2, or have the columns that a header names.
    /// A file of --report-html or --report-data without {} in its name has all samples.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["reads", "mates1", "mates"])]
    pub(crate) sample_sheet: Option<PathBuf>,
    /// Skip samples of the sheet that are finished; FILE is the journal, which is appended to
    ///
    /// A sample is finished if its outputs are unchanged since they were written, and its reads and the reference
    /// still have the same names and content.
    #[arg(long, value_name = "FILE", requires = "sample_sheet")]
    pub(crate) resume: Option<PathBuf>,
    /// Map only shard I of N: of the reads, or of the samples of a sheet
    ///
    /// `merganser map join` joins the BAM files of all shards of the reads. With a sample sheet, each shard
    /// takes some of the samples as a whole, and nothing needs to be joined.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    #[command(flatten)]
    pub(crate) inputs: ReadsArgs,
    /// Circular contigs of a reference in FASTA: names, separated by commas, all or none [default: those
    /// whose header has topology=circular or circular=true]
    ///
    /// A read over the junction of the last and the first base has a record on each side, of which the shorter one is
    /// supplementary. An index states its circular contigs: merganser index --circular.
    #[arg(long, value_name = "NAMES", help_heading = "Hits")]
    pub(crate) circular: Option<Topology>,

    #[command(flatten)]
    pub(crate) config: MapConfig,

    /// Output: BAM or CRAM if the name ends in .bam or .cram, else SAM; - is stdout
    ///
    /// stdout gets SAM, or BAM with --sort, unless --output-format says otherwise.
    // Listed before the options of `Config`.
    #[arg(short, long, value_name = "FILE", default_value = "-", help_heading = "Output")]
    #[arg(display_order = 0)]
    pub(crate) output: PathBuf,
    /// Format of the records [default: that of the name of -o]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) output_format: Option<RecordFormat>,
    /// Location of the reference that the header of CRAM names (UR), a path or URL, for readers of the file
    ///
    /// Without it the header names no location: give readers the reference, as in samtools view -T.
    #[arg(long, value_name = "URI", help_heading = "Output")]
    pub(crate) cram_uri: Option<String>,
    /// Kind of the index [default: bai, or csi if a contig is too long for it]
    #[arg(long, value_name = "KIND", help_heading = "Output", requires = "sort")]
    #[arg(value_parser = index_format())]
    pub(crate) index_format: Option<IndexKind>,
    /// Read group of all reads, e.g. '@RG\tID:lane1\tSM:sample'; {} is a file's name or a sample
    ///
    /// Given once, it is for all reads. Otherwise give it once for each file or pair of files, in their
    /// order.
    #[arg(short = 'R', long, value_name = "LINE", help_heading = "Output")]
    pub(crate) read_group: Vec<String>,
    /// Also write reads without a hit to FILE, unchanged; compressed if the name ends in .gz
    ///
    /// A pair is written, interleaved, if neither of its mates has a hit. With --tags, the headers have these tags.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) unmapped: Option<PathBuf>,
    /// Compression level of BAM, 0 (none) to 12
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Output")]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=12))]
    pub(crate) level: u8,
    /// Write a summary of the run as JSON; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pages: PageArgs,

    /// Directory for the temporary files of --sort, created if missing [default: $TMPDIR or /tmp]
    #[arg(long, value_name = "DIR", help_heading = "Resources", requires = "sort")]
    pub(crate) tmp_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) dry: DryRunArgs,
}

merganser_run::named! {
    /// A format of alignments.
    pub(crate) enum RecordFormat {
        Sam = "sam",
        Bam = "bam",
        Cram = "cram",
    }
}

impl MapArgs {
    /// Returns the format of the records that are written to `output`.
    pub(crate) fn format_of(&self, output: &Path) -> RecordFormat {
        // Sorted records that go to stdout or a pipe are written as BAM.
        let sorted_stream = || self.config.sort && !is_regular(output);
        self.output_format.unwrap_or_else(|| match OutputFormat::of_name(output) {
            Some(OutputFormat::Cram) => RecordFormat::Cram,
            Some(OutputFormat::Bam) => RecordFormat::Bam,
            _ if sorted_stream() => RecordFormat::Bam,
            _ => RecordFormat::Sam,
        })
    }
}

/// Returns the parser of `--index-format`: kinds for BAM, as CRAM has only one.
pub(super) fn index_format() -> impl TypedValueParser<Value = IndexKind> {
    one_of(&[IndexKind::Bai, IndexKind::Csi])
}
