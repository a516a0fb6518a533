//! The verbs of `merganser kmers` that hold reads against a table.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use merganser_kmers::reads::FilterConfig;

use super::TableArgs;
use crate::args::device::DeviceArgs;
use crate::args::reads::{ReadsArgs, SegmentArgs};

pub(super) const FILTER_READS: &str = "\
A read's hits are its k-mers that are in the table, within MIN..MAX if these are
given. The table is loaded into memory, or if it does not fit, range by range
for each batch of reads.

Examples:
  Reads of a family's child with 20 k-mers or more that the parents have not:
    merganser kmers filter-reads --min-hits 20 -o novel.fq.gz \\
      child_only.mgk child.fq.gz
  Remove a host's reads (its table has all its k-mers; pairs go of which a mate
  has two of them):
    merganser count -k 31 --min-count 1 -o host.mgk host.fa.gz
    merganser kmers filter-reads --min-hits 2 --invert \\
      -1 reads_1.fq.gz -2 reads_2.fq.gz \\
      -o clean_1.fq.gz --output2 clean_2.fq.gz host.mgk
  Trim reads at their first rare k-mer:
    merganser kmers filter-reads --trim -o trimmed.fq.gz \\
      sample.mgk:3.. reads.fq.gz
  Mask in lower case what is in a table of vectors:
    merganser kmers filter-reads --mask soft --invert -o masked.fa \\
      vectors.mgk genome.fa";

pub(super) const PROFILE: &str = "\
A line for each read: name, number of k-mers, how many of them the table has,
the median of their counts, and the count of each k-mer in order, with commas
between; 0 for those that the table has not and those with a letter that is no
base.

Examples:
  merganser kmers profile sample.mgk assembly.fa -o profile.tsv.gz";

#[derive(Args, Debug)]
pub(crate) struct FilterReadsArgs {
    /// The table, perhaps with bounds of its counts
    #[arg(value_name = "TABLE[:MIN..MAX]")]
    pub(crate) table: OsString,
    #[command(flatten)]
    pub(crate) reads: SegmentArgs,

    #[command(flatten)]
    pub(crate) config: FilterConfig,

    /// Where reads go, first mates if --output2 is given; - is stdout; compressed if the name ends in
    /// .gz. Pairs take turns in it unless --output2 is given
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Where second mates go
    #[arg(long, value_name = "FILE")]
    pub(crate) output2: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ProfileArgs {
    /// The table, perhaps with bounds of its counts
    #[arg(value_name = "TABLE[:MIN..MAX]")]
    pub(crate) table: OsString,
    /// Files of reads or genomes, @LIST of such files, or - for stdin
    #[arg(value_name = "READS", required = true)]
    pub(crate) reads: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) inputs: ReadsArgs,
    /// Where to write; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
}
