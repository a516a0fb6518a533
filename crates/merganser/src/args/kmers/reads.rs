//! The subcommands of `merganser kmers` that compare reads with a table.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use merganser_alignments::ReadFormat;
use merganser_io::CommentTags;
use merganser_kmers::reads::FilterConfig;

use super::TableArgs;
use crate::args::device::DeviceArgs;
use crate::args::reads::{ReadsArgs, SegmentArgs};

pub(super) const FILTER_READS: &str = "\
A read's hits are its k-mers that are in the table, with a count within MIN..MAX
if these are given. The table is loaded into memory; if it does not fit, one
range after the other is loaded for each batch of reads.

Examples:
  Reads of a child with 20 or more k-mers that neither parent has:
    merganser kmers filter-reads --min-hits 20 -o novel.fq.gz \\
      child_only.mgk child.fq.gz
  Remove the pairs with two hits in a mate to the table of all k-mers of a host:
    merganser count -k 31 --min-count 1 -o host.mgk host.fa.gz
    merganser kmers filter-reads --min-hits 2 --invert \\
      -1 reads_1.fq.gz -2 reads_2.fq.gz \\
      -o clean_1.fq.gz --output2 clean_2.fq.gz host.mgk
  Trim reads at their first rare k-mer:
    merganser kmers filter-reads --trim -o trimmed.fq.gz \\
      sample.mgk:3.. reads.fq.gz
  Mask regions that are in a table of vectors in lower case:
    merganser kmers filter-reads --mask soft --invert -o masked.fa \\
      vectors.mgk genome.fa
  Unaligned BAM of a sequencer, or alignments, with all tags:
    merganser kmers filter-reads --invert -o clean.bam host.mgk sample.bam";

pub(super) const PROFILE: &str = "\
One line per read: name, number of k-mers, how many of these are in the table,
median of their counts, and the counts of all k-mers in order, separated by
commas; 0 for k-mers that are not in the table or that contain a letter other
than a base.

Examples:
  merganser kmers profile sample.mgk assembly.fa -o profile.tsv.gz";

#[derive(Args, Debug)]
pub(crate) struct FilterReadsArgs {
    /// Table, with optional bounds of its counts
    #[arg(value_name = "TABLE[:MIN..MAX]")]
    pub(crate) table: OsString,
    #[command(flatten)]
    pub(crate) reads: SegmentArgs,

    #[command(flatten)]
    pub(crate) config: FilterConfig,

    /// Output for reads; - is stdout; compressed if the name ends in .gz
    ///
    /// First mates if --output2 is given; otherwise the mates of pairs are interleaved. If the name
    /// ends in .bam, .cram or .sam, the alignments of the kept reads are written as they are in the
    /// input, with all tags, and those of a read and its mate stay together. Reads of FASTQ become
    /// unmapped, and tags in their headers (BC:Z:ACGT) are kept. CRAM is written without a reference.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Output for second mates
    #[arg(long, value_name = "FILE")]
    pub(crate) output2: Option<PathBuf>,
    /// Format of the outputs, whatever their names
    #[arg(long, value_name = "FORMAT")]
    pub(crate) output_format: Option<ReadFormat>,
    /// Tags of alignments that are written into the headers of FASTQ, as samtools fastq -T does: BC,RX
    /// or * for all
    ///
    /// Each follows a tab after the name: BC:Z:ACGT. Alignments keep all their tags.
    #[arg(long, value_name = "TAGS")]
    pub(crate) tags: Option<CommentTags>,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ProfileArgs {
    /// Table, with optional bounds of its counts
    #[arg(value_name = "TABLE[:MIN..MAX]")]
    pub(crate) table: OsString,
    /// Files of reads or genomes, @LIST of such files, or - for stdin
    #[arg(value_name = "READS", required = true)]
    pub(crate) reads: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) inputs: ReadsArgs,
    /// Output; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
}
