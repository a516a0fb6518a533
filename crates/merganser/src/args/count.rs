//! `merganser count`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use merganser_count::{Config, Format};
use merganser_kmers::HistogramFormat;
use merganser_run::options::cli::one_of;
use merganser_seq::signature::Rule;

use super::pages::PageArgs;
use super::{DeviceArgs, DryRunArgs, ReadsArgs, ThreadArgs};
use crate::holds::FormatChoice;

const MORE: &str = "\
Alphabet:
  A, C, G and T count in either case; U counts as T. Any other letter (N, IUPAC
  codes, gaps) breaks k-mers: no k-mer contains it, and the summary has the
  number of such letters. A k-mer and its reverse complement count together
  unless --forward-only is given; a palindrome counts once per occurrence.

Inputs:
  FASTA (lines of any width) and FASTQ (four lines per record), recognized by
  content, plain or compressed with gzip, BGZF, zstd, bzip2 or xz; SAM, BAM and
  CRAM, whose secondary and supplementary alignments are skipped. Formats may be
  mixed. `-` is stdin; `@list.txt` is a file that lists one input per line.

Examples:
  The 31-mers of paired reads that occur at least twice (others are errors):
    merganser count -k 31 -o sample.mgk reads_1.fq.gz reads_2.fq.gz
  All 21-mers, and the histogram for GenomeScope in the same run:
    merganser count -k 21 --min-count 1 --histogram sample.hist \\
      -o sample.mgk reads.fq.gz
  Only the histogram, on stdout:
    merganser count -k 21 --format none --histogram - reads.fq.gz
  Genome size, heterozygosity and coverage at a glance:
    merganser count -k 21 --model -o sample.mgk reads.fq.gz
  A KMC database, for kmc_tools (sample.kmc_pre and sample.kmc_suf):
    merganser count -k 28 --format kmc -o sample reads.fq.gz
  All 31-mers for PanGenie, in Jellyfish's format:
    merganser count -k 31 --min-count 1 -o sample.jf reads.fq.gz
  All 29-mers for vg haplotypes, in KFF:
    merganser count -k 29 --min-count 1 -o sample.kff reads.fq.gz
  How often the k-mers of a panel occur, also those that do not:
    merganser count -k 31 --panel panel.tsv --min-count 0 -o counts.tsv \\
      reads.fq.gz
  Each sample of a table, in a run that can be continued:
    merganser count -k 31 --sample-sheet run.tsv -o {}.mgk \\
      --resume journal.txt
  From a pipe, as text:
    curl -s $URL | merganser count -k 31 --format tsv -o sample.tsv.gz -
  CRAM, with the genome that the reads were aligned to:
    merganser count -k 31 --reference genome.fa -o sample.mgk sample.cram
  On two machines, one shard of the input each, then joined:
    merganser count -k 31 --shard 1/2 -o shard1.mgk @files.txt
    merganser count -k 31 --shard 2/2 -o shard2.mgk @files.txt
    merganser kmers union --min-count 2 -o sample.mgk shard1.mgk shard2.mgk
  Many files, little memory:
    merganser count -k 31 --memory 2G --tmp-dir scratch/ \\
      -o sample.mgk @files.txt";

#[derive(Args, Clone, Debug)]
#[command(after_help = MORE)]
pub(crate) struct CountArgs {
    /// Files of reads or genomes, @LIST of such files, or - for stdin
    #[arg(required_unless_present = "sample_sheet", value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) reads: ReadsArgs,
    /// Count each sample of a table by itself; {} in the names of outputs is replaced by the sample
    ///
    /// Lines are SAMPLE<TAB>READS or SAMPLE<TAB>MATES1<TAB>MATES2, or have the columns that a header names.
    /// A file of --report-html or --report-data without {} in its name has all samples.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["inputs", "stats_only"])]
    pub(crate) sample_sheet: Option<PathBuf>,
    /// Skip samples of the sheet that are finished; FILE is the journal, which is appended to
    ///
    /// A sample is finished if its outputs are unchanged since they were written, and its reads and the panel still
    /// have the same names and content.
    #[arg(long, value_name = "FILE", requires = "sample_sheet")]
    pub(crate) resume: Option<PathBuf>,

    /// Table to write; - is stdout (tsv only)
    ///
    /// tsv is compressed if the name ends in .gz. kmc writes two files, FILE.kmc_pre and FILE.kmc_suf.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Format of the table [default: by FILE's suffix (.kff, .jf, .tsv, .parquet), else mgk]
    ///
    /// mgk is Merganser's own format, kmc a KMC database, kff a KFF file, jf the binary format of Jellyfish 2,
    /// tsv KMER<TAB>COUNT lines.
    /// parquet needs a build with the feature parquet. none writes no table, for --histogram alone.
    #[arg(long = "format", value_name = "FORMAT", value_parser = one_of(&FORMATS))]
    #[arg(help_heading = "Output")]
    pub(crate) given_format: Option<Format>,
    /// Write the histogram of counts to FILE: COUNT<TAB>NUMBER lines; - is stdout
    ///
    /// NUMBER is the number of distinct k-mers that occur COUNT times, before --min-count and --max-count
    /// apply.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) histogram: Option<PathBuf>,
    /// Format of the histogram
    ///
    /// jellyfish is the format that MultiQC reads, from files named *_jf.hist. fastk is FastK's .hist.
    #[arg(long, value_name = "FORMAT", default_value = "tsv", requires = "histogram")]
    #[arg(help_heading = "Output")]
    pub(crate) histogram_format: HistogramFormat,
    /// Leave counts above N out of the histogram [default: no limit]
    #[arg(long, value_name = "N", requires = "histogram", help_heading = "Output")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) hist_max: Option<u32>,
    /// Also fit a diploid genome model to the histogram, and print it with a plot on stderr
    ///
    /// `merganser kmers histogram --model` fits models of other ploidies, and writes all values.
    // Neither a panel nor a shard has all k-mers, and the model is one of both strands together.
    #[arg(long, help_heading = "Output", conflicts_with_all = ["panel", "shard", "forward_only"])]
    pub(crate) model: bool,
    /// Write a summary of the run as JSON; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pages: PageArgs,

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Memory that the process may use, e.g. 500M or 8G [default: three quarters of the available
    /// memory]
    #[arg(long, value_name = "SIZE", value_parser = merganser_run::parse_size)]
    #[arg(help_heading = "Resources")]
    pub(crate) memory: Option<u64>,
    /// Directory for temporary files, created if missing [default: $TMPDIR or /tmp]
    #[arg(long, value_name = "DIR", help_heading = "Resources")]
    pub(crate) tmp_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Signature rule that assigns k-mers to bins; all compares the rules (with --stats-only)
    #[arg(long, value_name = "RULE", default_value = "gkc", help_heading = "Partitioning")]
    pub(crate) signature: Signature,
    /// Only partition the k-mers, and print statistics of the signature rule on stdout
    #[arg(long, help_heading = "Partitioning")]
    #[arg(conflicts_with_all = ["output", "histogram", "model", "json", "report_html", "report_data", "multiqc", "dry_run"])]
    pub(crate) stats_only: bool,
    // Last, so that the headings of the help are in the order of the fields above.
    #[command(flatten)]
    pub(crate) config: Config,
    #[command(flatten)]
    pub(crate) dry: DryRunArgs,
}

impl CountArgs {
    /// Returns the path of the table, `None` without `-o`.
    pub(crate) fn table(&self) -> Option<PathBuf> {
        self.output.as_deref().map(|output| self.format().path(output))
    }

    /// Returns the format of the table.
    pub(crate) fn format(&self) -> Format {
        let format = Format::choose(self.given_format, self.output.as_deref(), Format::Mgk);
        // A suffix of a different format is refused elsewhere; if it belongs to an input, that is reported there.
        if FORMATS.contains(&format) { format } else { Format::Mgk }
    }
}

/// The formats that a count can write.
const FORMATS: [Format; 7] =
    [Format::Mgk, Format::Kmc, Format::Kff, Format::Jf, Format::Tsv, Format::Parquet, Format::None];

/// `--signature`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Signature {
    /// RapidGKC's signatures
    Gkc,
    /// KMC 2's signatures
    Kmc2,
    /// Canonical minimizers
    Minimizer,
    /// Canonical minimizers in the order of a hash
    Hash,
    /// All rules, to compare them (--stats-only)
    All,
}

impl Signature {
    /// Returns the rules that are selected; the first is the one to count with.
    pub(crate) fn rules(self) -> &'static [Rule] {
        match self {
            Signature::Gkc => &[Rule::Gkc],
            Signature::Kmc2 => &[Rule::Kmc2],
            Signature::Minimizer => &[Rule::Minimizer],
            Signature::Hash => &[Rule::Hash],
            Signature::All => &Rule::ALL,
        }
    }
}
