//! `merganser index` and `merganser map`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use merganser_map::{Config, IndexKind};
use merganser_run::{Resources, Shard};

use super::ThreadArgs;
use super::device::DeviceArgs;
use super::joins::MapJoinArgs;
use super::pages::PageArgs;
use super::{PairArgs, ReadsArgs};
use crate::common;

const INDEX: &str = "\
Examples:
  merganser index ref.fa.gz -o ref.mgi
  merganser index --verify ref.mgi";

const MAP: &str = "\
Hits:
  A hit is the end of an alignment of the whole read with at most -e edits, on
  either strand; within -e bases of it there is no better one. All are found,
  whatever the reference: docs/map.md.

Output:
  SAM, or BAM or CRAM if the name of -o ends in .bam or .cram; reads in the
  order of the input, or, with --sort, in that of the reference, as samtools
  sort has it, with an index (.bai, .csi or .crai) beside it. CRAM is sorted,
  and needs --reference where the reference has other letters than A, C, G, T.

  A read's hits are ordered by edits, contig, end and strand; the first is its
  primary record, with the read's bases. MAPQ is 60 for a read's only hit, 10
  for each edit that the next best has more, at most 50, else 0; --best and
  --best-strata, which stop early, make it of hits with one edit more at most.

Pairs:
  Mates that lie forward-reverse, --min-insert to --max-insert bases from end to
  end, are reported together, each such combination as two records with one HI;
  a pair without any reports the hits of each mate.

Examples:
  All hits with up to 5 edits, as BAM:
    merganser map ref.mgi reads.fq.gz -e 5 -o out.bam
  Pairs, as sorted BAM with an index, for bcftools:
    merganser map ref.mgi -1 reads_1.fq.gz -2 reads_2.fq.gz -e 10% \\
      --rescue 20% --best --clip --max-insert 1000 --sort \\
      -R '@RG\\tID:{}\\tSM:s1' -o out.bam
  The same of all samples of a table, as CRAM:
    merganser map ref.mgi --sample-sheet run.tsv -e 10% --rescue 20% --best \\
      --clip --max-insert 1000 --sort --reference ref.fa -o {}.cram
  All best hits of single ends, for HLA typing with OptiType, which takes no
  records of reads without a hit:
    merganser map hla.fa reads.fq.gz -e 3% --best-strata --no-unmapped \\
      -o out.bam";

#[derive(Args, Debug)]
#[command(after_help = INDEX)]
pub(crate) struct IndexArgs {
    /// The reference in FASTA, plain or compressed; with --verify, an index; - is stdin
    #[arg(value_name = "REFERENCE")]
    pub(crate) reference: PathBuf,
    /// The index to write (.mgi)
    #[arg(short, long, value_name = "FILE", required_unless_present = "verify")]
    pub(crate) output: Option<PathBuf>,
    /// Check all checksums of an index
    #[arg(long, conflicts_with = "output")]
    pub(crate) verify: bool,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Threads and memory.
#[derive(Args, Debug)]
pub(crate) struct LimitArgs {
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Memory that the process may use, e.g. 500M or 8G [default: three quarters of the
    /// memory that is free to use]
    #[arg(long, value_name = "SIZE", value_parser = merganser_run::parse_size)]
    #[arg(help_heading = "Resources")]
    pub(crate) memory: Option<u64>,
}

impl LimitArgs {
    /// What a run on these devices may use.
    pub(crate) fn resources(&self, device: &DeviceArgs) -> Resources {
        common::resources(self.threads.number(), self.memory, None, Some(device))
    }
}

/// `merganser map`: a run, or something else.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(disable_help_subcommand = true, after_help = MAP, override_usage = "\
merganser map [OPTIONS] -e <N|N%> <REFERENCE> <READS>...
       merganser map [OPTIONS] -e <N|N%> <REFERENCE> -1 <FILE> -2 <FILE>
       merganser map join [OPTIONS] --output <FILE> <SHARD>...")]
pub(crate) struct MapCommandArgs {
    #[command(subcommand)]
    pub(crate) command: Option<MapCommand>,
    #[command(flatten)]
    pub(crate) run: Option<MapArgs>,
}

/// What else there is to do.
#[derive(Debug, Subcommand)]
pub(crate) enum MapCommand {
    /// Join what the shards of a job wrote (map --shard)
    ///
    /// What comes out is the BAM of one run over all reads, to the byte. Shards of other reads,
    /// references or options, or not all of them, are refused.
    Join(Box<MapJoinArgs>),
}

#[derive(Args, Debug)]
// What tells that a run is asked for: with groups within, the derived group has no members.
#[group(id = "map_run", args = ["reference"], multiple = true)]
#[command(group = ArgGroup::new("pairs").args(["mates", "interleaved", "sample_sheet"]).multiple(true))]
pub(crate) struct MapArgs {
    /// The reference: an index that `merganser index` wrote (.mgi), or FASTA, which is indexed each
    /// time
    #[arg(value_name = "REFERENCE")]
    pub(crate) reference: PathBuf,
    /// Reads in FASTA, FASTQ, SAM, BAM or CRAM, plain or compressed; first mates if -2 is given
    /// without -1; - is stdin
    #[arg(required_unless_present_any = ["mates1", "sample_sheet"], value_name = "READS")]
    pub(crate) reads: Vec<PathBuf>,
    /// First mates; as many files as -2 has. Pairs come before READS
    #[arg(short = '1', value_name = "FILE", requires = "mates", id = "mates1")]
    pub(crate) mates1: Vec<PathBuf>,
    /// Second mates; as many files as -1 has or, without it, READS
    #[arg(short = '2', long = "mates", value_name = "FILE")]
    pub(crate) mates: Vec<PathBuf>,
    /// READS hold pairs: the mates one after the other
    #[arg(long)]
    pub(crate) interleaved: bool,
    #[command(flatten)]
    pub(crate) pairs: PairArgs,
    /// Map the samples of a table, SAMPLE<TAB>READS or SAMPLE<TAB>MATES1<TAB>MATES2 a
    /// line, with one index: {} in -o and --unmapped is the sample's name
    #[arg(long, value_name = "FILE", conflicts_with_all = ["reads", "mates1", "mates"])]
    pub(crate) sample_sheet: Option<PathBuf>,
    /// Map but the I-th of N shards: of the reads, as BAM for map join to put together with the others;
    /// of a sample sheet, some of its samples, whole
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    #[command(flatten)]
    pub(crate) inputs: ReadsArgs,

    #[command(flatten)]
    pub(crate) config: Config,

    /// Where to write: BAM or CRAM if the name ends in .bam or .cram, else SAM; - is
    /// stdout, as SAM, or BAM if it is sorted
    // Before the options of `Config`.
    #[arg(short, long, value_name = "FILE", default_value = "-", help_heading = "Output")]
    #[arg(display_order = 0)]
    pub(crate) output: PathBuf,
    /// Kind of the index [default: bai, or csi where a contig is too long for that]
    #[arg(long, value_name = "KIND", help_heading = "Output", requires = "sort")]
    pub(crate) index_format: Option<IndexFormatName>,
    /// Read group of all reads, e.g. '@RG\tID:lane1\tSM:sample', or given once for
    /// each file or pair of files; {} is a file's name, or a sheet's sample
    #[arg(short = 'R', long, value_name = "LINE", help_heading = "Output")]
    pub(crate) read_group: Vec<String>,
    /// Write the reads without a hit here, too, as they came; of pairs, those of which neither mate
    /// has one, in turn; compressed if the name ends in .gz
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) unmapped: Option<PathBuf>,
    /// Compression of BAM, 0 (none) to 12
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Output")]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=12))]
    pub(crate) level: u8,
    /// Write a summary of the run for other programs; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pages: PageArgs,

    /// With --sort: directory for temporary files, made if missing [default: $TMPDIR or /tmp]
    #[arg(long, value_name = "DIR", help_heading = "Resources", requires = "sort")]
    pub(crate) tmp_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// `--index-format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum IndexFormatName {
    Bai,
    Csi,
}

impl From<IndexFormatName> for IndexKind {
    fn from(name: IndexFormatName) -> IndexKind {
        match name {
            IndexFormatName::Bai => IndexKind::Bai,
            IndexFormatName::Csi => IndexKind::Csi,
        }
    }
}
