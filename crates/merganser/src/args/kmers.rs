//! `merganser kmers`.

mod algebra;
mod hetmers;
mod matrix;
mod qv;
mod reads;

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

pub(crate) use hetmers::HetmersArgs;
pub(crate) use matrix::MatrixArgs;
pub(crate) use qv::QvArgs;
pub(crate) use reads::{FilterReadsArgs, ProfileArgs};

/// What to do with a table.
#[derive(Debug, Subcommand)]
pub(crate) enum KmersCommand {
    /// Print what a table says of itself
    #[command(after_help = "Examples:\n  merganser kmers info sample.mgk\n  \
        merganser kmers info sample.mgk --json")]
    Info(InfoArgs),
    /// Print a table's k-mers with their counts, sorted
    #[command(after_help = DUMP)]
    Dump(DumpArgs),
    /// Print how many of a table's k-mers occur once, twice, ...
    #[command(after_help = HISTOGRAM)]
    Histogram(HistogramArgs),
    /// Print the counts of given k-mers, 0 for those not in the table
    #[command(after_help = QUERY)]
    Query(QueryArgs),
    /// Check all checksums of tables, and the order and range of what is in them
    #[command(after_help = "Examples:\n  merganser kmers verify sample.mgk\n  \
        merganser kmers verify *.mgk")]
    Verify(VerifyArgs),
    /// The k-mers of any of the tables
    #[command(after_help = algebra::UNION)]
    Union(UnionArgs),
    /// Put ranges of k-mers together, which union --range made
    #[command(after_help = algebra::CONCAT)]
    Concat(ConcatArgs),
    /// The k-mers of all tables
    #[command(after_help = algebra::INTERSECT)]
    Intersect(OperationArgs),
    /// The k-mers of the first table that no other has
    #[command(after_help = algebra::SUBTRACT)]
    Subtract(SubtractArgs),
    /// The counts of the first table less those of the others
    #[command(after_help = algebra::COUNTERS_SUBTRACT)]
    CountersSubtract(OperationArgs),
    /// Compute a nested expression of tables
    #[command(after_help = algebra::EVAL)]
    Eval(EvalArgs),
    /// Cut a table by its counts, or write it in another format
    #[command(after_help = algebra::REDUCE, visible_alias = "convert")]
    Reduce(ReduceArgs),
    /// Give all k-mers of a table the same count
    #[command(after_help = algebra::SET_COUNTS)]
    SetCounts(SetCountsArgs),
    /// Compare tables with one another: shared k-mers, Jaccard index, containment, Mash distance
    #[command(after_help = algebra::COMPARE)]
    Compare(CompareArgs),
    /// Put tables side by side: a row for each k-mer, a column for each table
    #[command(after_help = matrix::MATRIX)]
    Matrix(MatrixArgs),
    /// Find pairs of k-mers that differ in one base, and the ploidy that they tell (Smudgeplot)
    #[command(after_help = hetmers::HETMERS)]
    Hetmers(HetmersArgs),
    /// Keep, trim or mask reads by their k-mers that a table has
    #[command(after_help = reads::FILTER_READS)]
    FilterReads(Box<FilterReadsArgs>),
    /// Print the count of each k-mer along reads
    #[command(after_help = reads::PROFILE)]
    Profile(ProfileArgs),
    /// Judge assemblies by the k-mers of reads: QV, completeness, copy-number spectra (Merqury)
    #[command(after_help = qv::QV)]
    Qv(QvArgs),
}

const DUMP: &str = "\
Formats:
  tsv        KMER<TAB>COUNT
  fasta      >COUNT, then KMER on its own line, as `jellyfish dump`
  jellyfish  KMER COUNT, as `jellyfish dump -c`

Examples:
  merganser kmers dump sample.mgk | head
  merganser kmers dump --min-count 10 -o common.tsv.gz sample.mgk";

const HISTOGRAM: &str = "\
A table holds only what --min-count and --max-count left. `merganser count
--histogram FILE` gives the whole histogram whatever the table keeps, and the
file is as good as a table here: give -k.

The model (GenomeScope's) finds genome size, heterozygosity, coverage and error
rate; it needs the low counts: a table counted with --min-count 1, or such a
file. Where the coverage is too low for it, a warning says so, and the histogram
is printed.

Examples:
  merganser kmers histogram sample.mgk -o sample.hist
  merganser kmers histogram --histogram-format jellyfish sample.mgk \\
    -o sample_jf.hist   # for MultiQC
  merganser kmers histogram --model --plot sample.svg -k 21 sample.hist
  merganser kmers histogram --model --ploidy 1 bacterium.mgk
  merganser kmers histogram --model --exclude-above 1000 plant.mgk
  merganser kmers histogram --model --ploidy auto sample.mgk";

const QUERY: &str = "\
A k-mer may be given in either case and on either strand (unless the table was
counted with --forward-only); it is printed as given.

Examples:
  merganser kmers query sample.mgk ACGTTGCAACGTTGCAACGTTGCAACGTTGC
  merganser kmers query sample.mgk --file markers.txt";

#[derive(Args, Debug)]
pub(crate) struct InfoArgs {
    /// A table: .mgk, a KMC database, KFF or text
    pub(crate) table: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Take the k-mers of a text as they stand, not as canonical ones
    #[arg(long)]
    pub(crate) forward_only: bool,
}

#[derive(Args, Debug)]
pub(crate) struct DumpArgs {
    /// A table: .mgk, a KMC database, KFF or text
    pub(crate) table: PathBuf,
    /// Where to write; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Only k-mers that occur at least N times
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) min_count: u32,
    /// Only k-mers that occur at most N times [default: no limit]
    #[arg(long, value_name = "N")]
    pub(crate) max_count: Option<u32>,
    /// How each k-mer is written [default: fasta if FILE's name ends in .fa or .fasta, else tsv]
    #[arg(long = "format", value_name = "FORMAT", value_parser = dump_format())]
    pub(crate) given_format: Option<TableFormat>,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
}

/// The formats that are lines of text.
fn dump_format() -> impl TypedValueParser<Value = TableFormat> {
    one_of(&[TableFormat::Tsv, TableFormat::Fasta, TableFormat::Jellyfish])
}

#[derive(Args, Debug)]
pub(crate) struct HistogramArgs {
    /// A table: .mgk, KMC's, FastK's, meryl's, KFF or text; for a model also a histogram
    pub(crate) table: PathBuf,
    /// Where to write COUNT<TAB>NUMBER lines; - is stdout
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// How it is written; jellyfish is what MultiQC reads, in files named *_jf.hist; fastk
    /// is FastK's .hist
    #[arg(long, value_name = "FORMAT", default_value = "tsv", conflicts_with = "model")]
    pub(crate) histogram_format: HistogramFormat,
    /// Leave counts above N out [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(conflicts_with = "model")]
    pub(crate) max: Option<u32>,
    /// Print what a model of the histogram says of the genome, and a picture, instead of it
    #[arg(long, help_heading = "Model")]
    pub(crate) model: bool,
    /// Copies of the genome in a cell, 1 to 6: 1 for bacteria and inbred strains; auto: as
    /// `kmers hetmers` finds it, of a table
    #[arg(long, value_name = "N", default_value = "2", requires = "model", help_heading = "Model")]
    #[arg(value_parser = ploidy)]
    pub(crate) ploidy: PloidyChoice,
    #[command(flatten)]
    pub(crate) settings: Settings,
    /// Fail if the coverage is too low for a model, instead of printing the histogram
    #[arg(long, requires = "model", help_heading = "Model")]
    pub(crate) strict: bool,
    /// Write a picture of the histogram and its model: PNG or PDF if the name ends so, else SVG; -: of
    /// letters, on stderr
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    pub(crate) plot: Option<PathBuf>,
    /// Bases of a k-mer, where COUNT NUMBER lines are given for a table; needed to read them from
    /// a pipe
    #[arg(short, value_name = "K", value_parser = kmer_length)]
    #[arg(requires = "model", help_heading = "Model")]
    pub(crate) k: Option<usize>,
    #[command(flatten)]
    pub(crate) pages: PageArgs,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
}

/// `--ploidy`.
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
    /// A table: .mgk, a KMC database, KFF or text
    pub(crate) table: PathBuf,
    /// k-mers to look up
    #[arg(value_name = "KMER", required_unless_present = "file", conflicts_with = "file")]
    pub(crate) kmers: Vec<String>,
    /// A file with a k-mer a line (the first word counts); - is stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
}

#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    /// Tables: .mgk, KMC databases, KFF or text
    #[arg(required = true, value_name = "TABLE")]
    pub(crate) tables: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) resources: TableArgs,
}
