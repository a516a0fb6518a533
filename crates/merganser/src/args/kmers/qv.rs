//! `merganser kmers qv`.

use std::path::{Path, PathBuf};

use clap::Args;
use merganser_assembly::Config;
use merganser_run::Shard;

use crate::args::device::DeviceArgs;
use crate::args::map::LimitArgs;
use crate::args::pages::PageArgs;

pub(super) const QV: &str = "\
What Merqury writes, under its names behind PREFIX:
  PREFIX.qv                  NAME, k-mers that no read has, all, QV, error rate
  PREFIX.NAME.qv             the same of each sequence
  PREFIX.completeness.stats  NAME, all, solid k-mers found, all of them, %
  PREFIX.NAME.spectra-cn.hist, PREFIX.spectra-asm.hist, .only.hist, .dist_only
  PREFIX.NAME_only.bed, .wig   bases that k-mers without a read cover
  PREFIX.READS.hist, .hist.ploidy, .filt
and of two assemblies PREFIX.spectra-cn.hist, PREFIX.only.hist, and a last line
for both. NAME is the file's without .fa, .fasta and .gz. Spectra are drawn as
lines (.ln), areas (.fl) and stacked areas (.st), as .png and .svg.

With --maternal and --paternal also, of the k-mers that one parent alone passed
on: PREFIX.hapmers.count, PREFIX.NAME.100_20000.phased_block.bed, .counts and
.stats, PREFIX.inherited_hapmers.hist, .cutoffs.txt, and their completeness.
Rates of switches are na, with a warning, where a parent is not the child's, or
covered too few times: 15 or more is right.

Examples:
  merganser count -k 21 --min-count 1 -o reads.mgk reads.fq.gz
  merganser kmers qv -o sample reads.mgk assembly.fa.gz
  merganser kmers qv -o sample -k 21 @reads.txt hap1.fa hap2.fa
  Reads of two technologies, whose errors differ:
    merganser kmers union -o hybrid.mgk hifi.mgk:2.. illumina.mgk:2..
    merganser kmers qv -o sample --hybrid hybrid.mgk assembly.fa.gz
  merganser kmers qv -o trio child.mgk hap1.fa hap2.fa \\
    --maternal mother.mgk --paternal father.mgk
  On two machines, each a range of the k-mers:
    merganser kmers qv reads.mgk assembly.fa --range 1/2 -o 1.mgq
    merganser kmers qv reads.mgk assembly.fa --range 2/2 -o 2.mgq
    merganser kmers qv -o sample assembly.fa --ranges 1.mgq 2.mgq";

#[derive(Args, Debug)]
pub(crate) struct QvArgs {
    /// The reads: a table of all their k-mers (counted with --min-count 1), or the
    /// reads (FASTQ, FASTA, ...; @LIST of such files), which are counted first
    #[arg(value_name = "READS", required_unless_present = "ranges")]
    pub(crate) reads: Option<PathBuf>,
    /// An assembly, or the two haplotypes of one (FASTA)
    #[arg(value_name = "ASSEMBLY", required_unless_present = "ranges", num_args = 1..=2)]
    pub(super) assemblies: Vec<PathBuf>,
    /// What names of results begin with; with --range the file
    #[arg(short, long, value_name = "PREFIX")]
    pub(crate) output: PathBuf,
    /// The mother's reads or their table, for haplotypes
    #[arg(long, value_name = "READS", requires = "paternal", help_heading = "Trio")]
    pub(crate) maternal: Option<PathBuf>,
    /// The father's
    #[arg(long, value_name = "READS", requires = "maternal", help_heading = "Trio")]
    pub(crate) paternal: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) config: Config,
    /// Judge by the I-th of N ranges of the k-mers alone, and write what --ranges takes; of a .mgk table
    #[arg(long, value_name = "I/N", help_heading = "Ranges")]
    #[arg(conflicts_with_all = ["maternal", "paternal", "solid", "no_plots", "json", "ranges"])]
    #[arg(conflicts_with_all = ["report_html", "report_data", "multiqc", "sample_name"])]
    pub(crate) range: Option<Shard>,
    /// All ranges (--range), in place of READS: their results are put together
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Ranges")]
    #[arg(conflicts_with_all = ["maternal", "paternal", "k", "hpc"])]
    pub(crate) ranges: Vec<PathBuf>,
    /// Draw no pictures (PREFIX.*.ln, .fl, .st as .png and .svg)
    #[arg(long)]
    pub(crate) no_plots: bool,
    /// Write a summary of the run as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pages: PageArgs,
    /// Directory for temporary files: the k-mers of reads and assemblies [default: $TMPDIR
    /// or /tmp]
    #[arg(long, value_name = "DIR", help_heading = "Resources")]
    pub(crate) tmp_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

impl QvArgs {
    /// The reads, unless there are ranges, and the assemblies.
    pub(crate) fn files(&self) -> (Option<&Path>, Vec<&Path>) {
        let mut all = self.reads.iter().chain(&self.assemblies).map(PathBuf::as_path);
        let reads = if self.ranges.is_empty() { all.next() } else { None };
        (reads, all.collect())
    }
}
