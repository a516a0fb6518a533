//! `merganser count`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use merganser_count::{Config, Format};
use merganser_kmers::HistogramFormat;
use merganser_run::options::cli::one_of;
use merganser_seq::signature::Rule;

use super::pages::PageArgs;
use super::{DeviceArgs, ReadsArgs, ThreadArgs};
use crate::holds::FormatChoice;

const MORE: &str = "\
Alphabet:
  A C G T count in either case, and U counts as T. Any other letter (N, IUPAC
  codes, gaps) breaks k-mers: no k-mer holds it, and the number of such letters
  is reported. A k-mer and its reverse complement count together unless
  --forward-only is given; a palindrome counts once for each time it occurs.

Inputs:
  FASTA (lines of any width) and FASTQ (four lines a record), told apart by
  content, plain or compressed with gzip, BGZF, zstd, bzip2 or xz; SAM, BAM and
  CRAM, of which secondary and supplementary alignments are passed over. Formats
  may be mixed. `-` is standard input, `@list.txt` a file that names one input a
  line.

Examples:
  Count the 31-mers of paired reads; those that occur once are mostly errors and
  are dropped:
    merganser count -k 31 -o sample.mgk reads_1.fq.gz reads_2.fq.gz
  Keep all, and write the histogram for GenomeScope in the same run:
    merganser count -k 21 --min-count 1 --histogram sample.hist \\
      -o sample.mgk reads.fq.gz
  Only the histogram, on the terminal:
    merganser count -k 21 --format none --histogram - reads.fq.gz
  A KMC database, for kmc_tools (writes sample.kmc_pre and sample.kmc_suf):
    merganser count -k 28 --format kmc -o sample reads.fq.gz
  From a pipe, as text:
    curl -s $URL | merganser count -k 31 --format tsv -o sample.tsv.gz -
  From CRAM, with the genome that the reads were aligned to:
    merganser count -k 31 --reference genome.fa -o sample.mgk sample.cram
  On two machines, each a shard of the input, joined to what one would count:
    merganser count -k 31 --shard 1/2 -o shard1.mgk @files.txt
    merganser count -k 31 --shard 2/2 -o shard2.mgk @files.txt
    merganser kmers union --min-count 2 -o sample.mgk shard1.mgk shard2.mgk
  Many files, little memory:
    merganser count -k 31 --memory 2G --tmp-dir scratch/ \\
      -o sample.mgk @files.txt";

#[derive(Args, Debug)]
#[command(after_help = MORE)]
pub(crate) struct CountArgs {
    /// Files of reads or genomes, @LIST of such files, or - for stdin
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) reads: ReadsArgs,

    /// The table to write; - is stdout (tsv); tsv is compressed if the name ends in .gz; kmc
    /// writes FILE.kmc_pre and FILE.kmc_suf
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Format of the table: our own, a KMC database, KFF, KMER<TAB>COUNT lines, Parquet (if built
    /// in), or no table [default: by the end of FILE's name (.kff, .tsv, .parquet), else mgk]
    #[arg(long = "format", value_name = "FORMAT", value_parser = one_of(&FORMATS))]
    #[arg(help_heading = "Output")]
    pub(crate) given_format: Option<Format>,
    /// Write how many distinct k-mers occur once, twice, ...: COUNT<TAB>NUMBER lines, before
    /// any cut; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) histogram: Option<PathBuf>,
    /// How the histogram is written; jellyfish is what MultiQC reads, in files named *_jf.hist;
    /// fastk is FastK's .hist
    #[arg(long, value_name = "FORMAT", default_value = "tsv", requires = "histogram")]
    #[arg(help_heading = "Output")]
    pub(crate) histogram_format: HistogramFormat,
    /// Leave counts above N out of the histogram [default: no limit]
    #[arg(long, value_name = "N", requires = "histogram", help_heading = "Output")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) hist_max: Option<u32>,
    /// Write a summary of the run for other programs; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pages: PageArgs,

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Memory that the process may use, e.g. 500M or 8G [default: three quarters of the
    /// memory that is free to use]
    #[arg(long, value_name = "SIZE", value_parser = merganser_run::parse_size)]
    #[arg(help_heading = "Resources")]
    pub(crate) memory: Option<u64>,
    /// Directory for temporary files, made if missing [default: $TMPDIR or /tmp]
    #[arg(long, value_name = "DIR", help_heading = "Resources")]
    pub(crate) tmp_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Rule by which k-mers are sent to bins; all (for --stats-only) compares the rules
    #[arg(long, value_name = "RULE", default_value = "gkc", help_heading = "Partitioning")]
    pub(crate) signature: Signature,
    /// Only partition, and print on stdout what the signature rule makes of the reads
    #[arg(long, help_heading = "Partitioning")]
    #[arg(conflicts_with_all = ["output", "histogram", "json", "report_html", "report_data", "multiqc"])]
    pub(crate) stats_only: bool,
    // Last, so that headings of help are in the order of the fields above.
    #[command(flatten)]
    pub(crate) config: Config,
}

impl CountArgs {
    /// Where the table goes.
    pub(crate) fn table(&self) -> Option<PathBuf> {
        self.output.as_deref().map(|output| self.format().path(output))
    }

    /// The format of the table.
    pub(crate) fn format(&self) -> Format {
        let format = Format::choose(self.given_format, self.output.as_deref(), Format::Mgk);
        // A name that asks for another format is refused, or replaces an input, which is said of it then.
        if FORMATS.contains(&format) { format } else { Format::Mgk }
    }
}

/// The formats that a count writes.
const FORMATS: [Format; 6] =
    [Format::Mgk, Format::Kmc, Format::Kff, Format::Tsv, Format::Parquet, Format::None];

/// `--signature`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Signature {
    Gkc,
    Kmc2,
    Minimizer,
    Hash,
    All,
}

impl Signature {
    /// The rules that are meant; the first is the one to count with.
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
