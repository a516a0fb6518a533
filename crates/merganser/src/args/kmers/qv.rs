//! `merganser kmers qv`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use merganser_assembly::Config;
use merganser_run::Shard;

use crate::args::device::DeviceArgs;
use crate::args::map::LimitArgs;
use crate::args::pages::PageArgs;

pub(super) const QV: &str = "\
Files, named as by Merqury:
  PREFIX.qv                  NAME, k-mers not in reads, all, QV, error rate
  PREFIX.NAME.qv             the same for each sequence
  PREFIX.completeness.stats  NAME, all, solid k-mers found, solid k-mers, %
  PREFIX.NAME.spectra-cn.hist, PREFIX.spectra-asm.hist, .only.hist, .dist_only
  PREFIX.NAME_only.bed, .wig   bases covered by k-mers that are not in reads
  PREFIX.READS.hist, .hist.ploidy, .filt
  Two or more assemblies also have PREFIX.spectra-cn.hist, PREFIX.only.hist, and
  a last line for both, or all. NAME is the file's name without .fa, .fasta and
  .gz. Spectra are plotted as lines (.ln), areas (.fl) and stacked areas (.st),
  as .png and .svg.

Trios:
  --maternal and --paternal also write, from the k-mers that only one parent
  passed on: PREFIX.hapmers.count, PREFIX.NAME.100_20000.phased_block.bed,
  .counts and .stats, PREFIX.NAME.100_20000.switches.txt,
  PREFIX.NAME.PARENT.spectra-hap-cn.hist, PREFIX.inherited_hapmers.hist,
  .cutoffs.txt, and the completeness of these k-mers. Switch rates are na, with
  a warning, if a parent is not the child's or its coverage is too low; it
  should be 15 or more.

Examples:
  merganser count -k 21 --min-count 1 -o reads.mgk reads.fq.gz
  merganser kmers qv -o sample reads.mgk assembly.fa.gz
  merganser kmers qv -o sample -k 21 @reads.txt hap1.fa hap2.fa
  Reads of two technologies with different errors:
    merganser kmers qv -o sample --reads hifi.mgk:2.. \\
      --reads illumina.mgk:2.. assembly.fa.gz
  All samples of a table (sample,fastq_1,fastq_2,assembly):
    merganser kmers qv --sample-sheet assemblies.csv -o {}
  merganser kmers qv -o trio child.mgk hap1.fa hap2.fa \\
    --maternal mother.mgk --paternal father.mgk
  On two machines, one range of the k-mers each:
    merganser kmers qv reads.mgk assembly.fa --range 1/2 -o 1.mgq
    merganser kmers qv reads.mgk assembly.fa --range 2/2 -o 2.mgq
    merganser kmers qv -o sample assembly.fa --ranges 1.mgq 2.mgq";

/// The reads of a sample in a sheet.
#[derive(Clone, Debug)]
pub(crate) struct SampleReads {
    /// The sample's name, which names of outputs have in place of that of a file of reads.
    pub(crate) name: String,
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Args, Clone, Debug)]
#[command(group = ArgGroup::new("haplotypes").args(["maternal", "ranges"]).multiple(true))]
pub(crate) struct QvArgs {
    /// Reads: a table of all their k-mers (counted with --min-count 1), or a file of reads to count first
    ///
    /// A file of reads is FASTQ, FASTA and so on; several files, such as those of mates, are given as @LIST, a file with a
    /// name in each line.
    #[arg(value_name = "READS", required_unless_present_any = ["ranges", "union", "sample_sheet"])]
    pub(crate) reads: Option<PathBuf>,
    /// Assembly, its haplotypes, or several assemblies of one genome (FASTA)
    #[arg(value_name = "ASSEMBLY", num_args = 1..)]
    #[arg(required_unless_present_any = ["ranges", "union", "sample_sheet"])]
    pub(crate) assemblies: Vec<PathBuf>,
    /// Evaluate all samples of a table; {} in -o and names of pages is replaced by the sample
    ///
    /// Its header names the columns: sample, fastq_1 and fastq_2 or reads (files, or one table), and assembly, or hap1
    /// and hap2.
    /// A file of --report-html or --report-data without {} in its name has all samples.
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["reads", "assemblies", "union", "maternal", "range", "ranges"])]
    pub(crate) sample_sheet: Option<PathBuf>,
    /// Skip samples of the sheet that are finished; FILE is the journal, which is appended to
    ///
    /// A sample is finished if its outputs are unchanged since they were written, and its reads and assemblies still
    /// have the same names and content.
    #[arg(long, value_name = "FILE", requires = "sample_sheet")]
    pub(crate) resume: Option<PathBuf>,
    /// The reads of a sample in a sheet.
    #[arg(skip)]
    pub(crate) of_sample: Option<SampleReads>,
    /// Prefix of the names of all outputs; with --range, the output
    #[arg(short, long, value_name = "PREFIX")]
    pub(crate) output: PathBuf,
    /// Reads of one technology (repeat the option): a table or files of reads, and the least count that is used;
    /// replaces READS
    ///
    /// The k-mers are those of any of them, and their counts are added, as by `merganser kmers union`. FILE:2.. drops
    /// k-mers that occur once, which are mostly errors.
    #[arg(long = "reads", id = "union", value_name = "FILE[:MIN..]")]
    #[arg(conflicts_with_all = ["ranges", "hybrid"])]
    pub(crate) union: Vec<OsString>,
    /// Mother's reads or their table, to evaluate haplotypes
    #[arg(long, value_name = "READS", requires = "paternal", help_heading = "Trio")]
    pub(crate) maternal: Option<PathBuf>,
    /// Father's reads or their table
    #[arg(long, value_name = "READS", requires = "maternal", help_heading = "Trio")]
    pub(crate) paternal: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) config: Config,
    /// Use only range I of N of the k-mers of a .mgk table, and write a result for --ranges
    #[arg(long, value_name = "I/N", help_heading = "Ranges")]
    #[arg(conflicts_with_all = ["block_markers", "block_bases", "solid", "no_plots", "json", "ranges"])]
    #[arg(conflicts_with_all = ["report_html", "report_data", "multiqc", "sample_name"])]
    pub(crate) range: Option<Shard>,
    /// Join the results of all ranges (--range); replaces READS
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Ranges")]
    #[arg(conflicts_with_all = ["maternal", "paternal", "k", "hpc"])]
    pub(crate) ranges: Vec<PathBuf>,
    /// Write no plots (PREFIX.*.ln, .fl and .st as .png and .svg)
    #[arg(long)]
    pub(crate) no_plots: bool,
    /// Write a summary of the run as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pages: PageArgs,
    /// Directory for temporary files: the k-mers of reads and assemblies [default: $TMPDIR or /tmp]
    #[arg(long, value_name = "DIR", help_heading = "Resources")]
    pub(crate) tmp_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

impl QvArgs {
    /// Returns the file of reads, `None` with `--ranges`, `--reads` or a sheet, and the assemblies.
    pub(crate) fn files(&self) -> (Option<&Path>, Vec<&Path>) {
        let mut all = self.reads.iter().chain(&self.assemblies).map(PathBuf::as_path);
        let is_first = self.ranges.is_empty() && self.union.is_empty() && self.of_sample.is_none();
        let reads = if is_first { all.next() } else { None };
        (reads, all.collect())
    }
}
