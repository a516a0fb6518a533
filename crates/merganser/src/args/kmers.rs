//! `merganser kmers`.

mod algebra;
mod hetmers;
mod matrix;
mod qv;
mod reads;
mod track;

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args, Subcommand};
use merganser_kmers::HistogramFormat;
use merganser_kmers::formats::TableFormat;
use merganser_run::options::cli::{kmer_length, one_of};
use merganser_spectrum::Settings;

use super::device::DeviceArgs;
use super::pages::PageArgs;

pub(crate) use algebra::{
    CompareArgs, ComputingArgs, ConcatArgs, EvalArgs, OperationArgs, ReduceArgs, ResultArgs,
    SetCountsArgs, SubtractArgs, TableArgs, UnionArgs, WrittenArgs,
};

pub(crate) use hetmers::{HetmersArgs, Positions};
pub(crate) use matrix::MatrixArgs;
pub(crate) use qv::{QvArgs, SampleReads};
pub(crate) use reads::{FilterReadsArgs, ProfileArgs};
pub(crate) use track::TrackArgs;

/// Subcommands of `merganser kmers`.
#[derive(Debug, Subcommand)]
pub(crate) enum KmersCommand {
    /// Print a table's properties
    #[command(after_help = "Examples:\n  merganser kmers info sample.mgk\n  \
        merganser kmers info sample.mgk --json")]
    Info(InfoArgs),
    /// Print the k-mers of a table with their counts, sorted
    #[command(after_help = DUMP)]
    Dump(DumpArgs),
    /// Print the histogram of a table's counts, or a genome model of it
    #[command(after_help = HISTOGRAM)]
    Histogram(HistogramArgs),
    /// Print the counts of given k-mers, 0 for those not in the table
    #[command(after_help = QUERY)]
    Query(QueryArgs),
    /// Check the checksums of tables and the order and range of their contents
    #[command(after_help = "Examples:\n  merganser kmers verify sample.mgk\n  \
        merganser kmers verify *.mgk")]
    Verify(VerifyArgs),
    /// Compute the union of tables: the k-mers of any of them
    #[command(after_help = algebra::UNION)]
    Union(UnionArgs),
    /// Concatenate the ranges that `kmers union --range` wrote
    #[command(after_help = algebra::CONCAT)]
    Concat(ConcatArgs),
    /// Compute the intersection of tables: the k-mers of all of them
    #[command(after_help = algebra::INTERSECT)]
    Intersect(OperationArgs),
    /// Compute the difference of tables: the k-mers of the first that no other has
    #[command(after_help = algebra::SUBTRACT)]
    Subtract(SubtractArgs),
    /// Subtract the counts of other tables from those of the first
    #[command(after_help = algebra::COUNTERS_SUBTRACT)]
    CountersSubtract(OperationArgs),
    /// Evaluate a nested expression of tables
    #[command(after_help = algebra::EVAL)]
    Eval(EvalArgs),
    /// Filter a table by count, or convert it to another format
    #[command(after_help = algebra::REDUCE, visible_alias = "convert")]
    Reduce(ReduceArgs),
    /// Set the counts of all k-mers of a table to a number
    #[command(after_help = algebra::SET_COUNTS)]
    SetCounts(SetCountsArgs),
    /// Compare tables pairwise: shared k-mers, Jaccard index, containment, Mash distance
    #[command(after_help = algebra::COMPARE)]
    Compare(CompareArgs),
    /// Join tables into a matrix: a row for each k-mer, a column for each table
    #[command(after_help = matrix::MATRIX)]
    Matrix(MatrixArgs),
    /// Find pairs of k-mers that differ in one base, and infer the ploidy (as Smudgeplot does)
    #[command(after_help = hetmers::HETMERS)]
    Hetmers(HetmersArgs),
    /// Keep, trim or mask reads by their k-mers that are in a table
    #[command(after_help = reads::FILTER_READS)]
    FilterReads(Box<FilterReadsArgs>),
    /// Print the count of each k-mer along reads
    #[command(after_help = reads::PROFILE)]
    Profile(ProfileArgs),
    /// Write tracks along sequences: counts of k-mers, copies, missing and collapsed regions
    #[command(after_help = track::TRACK)]
    Track(Box<TrackArgs>),
    /// Evaluate assemblies with the k-mers of reads: QV, completeness, spectra (as Merqury does)
    #[command(after_help = qv::QV)]
    Qv(QvArgs),
}

const DUMP: &str = "\
Formats:
  tsv        KMER<TAB>COUNT
  fasta      >COUNT, then KMER on its own line, as `jellyfish dump` writes it
  jellyfish  KMER COUNT, as `jellyfish dump -c` writes it

Examples:
  merganser kmers dump sample.mgk | head
  merganser kmers dump --min-count 10 -o common.tsv.gz sample.mgk";

const HISTOGRAM: &str = "\
A table has only the k-mers within its --min-count and --max-count. `merganser
count --histogram FILE` writes the whole histogram in any case; the file can be
given here in place of a table, with -k.

The model (GenomeScope's) estimates genome size, heterozygosity, coverage and
error rate. It needs the low counts: a table counted with --min-count 1, or such
a file. If the coverage is too low for the model, a warning says so and the
histogram is printed instead.

Examples:
  merganser kmers histogram sample.mgk -o sample.hist
  merganser kmers histogram --histogram-format jellyfish sample.mgk \\
    -o sample_jf.hist   # for MultiQC
  merganser kmers histogram --model --plot sample.svg -k 21 sample.hist
  merganser kmers histogram --model --ploidy 1 bacterium.mgk
  merganser kmers histogram --model --genomescope-summary summary.txt \\
    sample.mgk
  merganser kmers histogram --model --exclude-above 1000 plant.mgk
  merganser kmers histogram --model --ploidy auto sample.mgk";

const QUERY: &str = "\
A k-mer may be given in either case and on either strand (or only on its own, if
the table was counted with --forward-only); it is printed as given.

Examples:
  merganser kmers query sample.mgk ACGTTGCAACGTTGCAACGTTGCAACGTTGC
  merganser kmers query sample.mgk --file markers.txt";

#[derive(Args, Debug)]
pub(crate) struct InfoArgs {
    /// Table: .mgk, a KMC database, KFF, .jf or text
    pub(crate) table: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Read the k-mers of a text table as they are written, without making them canonical
    #[arg(long)]
    pub(crate) forward_only: bool,
}

#[derive(Args, Debug)]
pub(crate) struct DumpArgs {
    /// Table: .mgk, a KMC database, KFF, .jf or text
    pub(crate) table: PathBuf,
    /// Output; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Print only k-mers that occur at least N times
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) min_count: u32,
    /// Print only k-mers that occur at most N times [default: no limit]
    #[arg(long, value_name = "N")]
    pub(crate) max_count: Option<u32>,
    /// Format of the output [default: fasta if FILE's name ends in .fa or .fasta, else tsv]
    #[arg(long = "format", value_name = "FORMAT", value_parser = dump_format())]
    pub(crate) given_format: Option<TableFormat>,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
}

/// Returns the parser of the formats that are lines of text.
fn dump_format() -> impl TypedValueParser<Value = TableFormat> {
    one_of(&[TableFormat::Tsv, TableFormat::Fasta, TableFormat::Jellyfish])
}

#[derive(Args, Debug)]
pub(crate) struct HistogramArgs {
    /// Table: .mgk, KMC's, FastK's, meryl's, KFF, .jf or text; with --model also a histogram
    pub(crate) table: PathBuf,
    /// Output of COUNT<TAB>NUMBER lines; - is stdout
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Format of the output
    ///
    /// jellyfish is the format that MultiQC reads, from files named *_jf.hist. fastk is FastK's .hist.
    #[arg(long, value_name = "FORMAT", default_value = "tsv", conflicts_with = "model")]
    pub(crate) histogram_format: HistogramFormat,
    /// Leave out counts above N [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(conflicts_with = "model")]
    pub(crate) max: Option<u32>,
    /// Print the genome model of the histogram, and a plot in text, instead of the histogram
    #[arg(long, help_heading = "Model")]
    pub(crate) model: bool,
    /// Copies of the genome in a cell, 1 to 6, or auto
    ///
    /// Use 1 for bacteria and inbred strains. auto infers it from the table, as `kmers hetmers` does.
    #[arg(long, value_name = "N", default_value = "2", requires = "model", help_heading = "Model")]
    #[arg(value_parser = ploidy)]
    pub(crate) ploidy: PloidyChoice,
    #[command(flatten)]
    pub(crate) settings: Settings,
    /// Fail if the coverage is too low for the model, instead of printing the histogram
    #[arg(long, requires = "model", help_heading = "Model")]
    pub(crate) strict: bool,
    /// Also write the model as GenomeScope 2's summary.txt does
    ///
    /// The columns min and max are values less and plus two standard errors.
    #[arg(long, value_name = "FILE", requires = "model", help_heading = "Model")]
    pub(crate) genomescope_summary: Option<PathBuf>,
    /// Plot the histogram and its model: PNG or PDF by FILE's suffix, else SVG; - is text on stderr
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    pub(crate) plot: Option<PathBuf>,
    /// Length of the k-mers, if a histogram is given in place of a table
    ///
    /// Required to read a histogram from a pipe.
    #[arg(short, value_name = "K", value_parser = kmer_length)]
    #[arg(requires = "model", help_heading = "Model")]
    pub(crate) k: Option<usize>,
    #[command(flatten)]
    pub(crate) pages: PageArgs,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
}

/// The value of `--ploidy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PloidyChoice {
    Auto,
    Given(u32),
}

fn ploidy(text: &str) -> Result<PloidyChoice, String> {
    match text.parse() {
        _ if text == "auto" => Ok(PloidyChoice::Auto),
        Ok(ploidy @ 1..=6) => Ok(PloidyChoice::Given(ploidy)),
        _ => Err("1 to 6, or auto".into()),
    }
}

#[derive(Args, Debug)]
pub(crate) struct QueryArgs {
    /// Table: .mgk, a KMC database, KFF, .jf or text
    pub(crate) table: PathBuf,
    /// k-mers to look up
    #[arg(value_name = "KMER", required_unless_present = "file", conflicts_with = "file")]
    pub(crate) kmers: Vec<String>,
    /// File with one k-mer per line (only the first word is used); - is stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
}

#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    /// Tables: .mgk, KMC databases, KFF, .jf or text
    #[arg(required = true, value_name = "TABLE")]
    pub(crate) tables: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) resources: TableArgs,
}
