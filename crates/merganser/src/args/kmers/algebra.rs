//! The subcommands of `merganser kmers` that compute with tables.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use merganser_kmers::HistogramFormat;
use merganser_kmers::algebra::{CountLimits, Mode};
use merganser_kmers::formats::TableFormat;
use merganser_run::Shard;

use crate::args::ThreadArgs;
use crate::holds::FormatChoice;
use merganser_io::OutputFormat;

/// Puts the description of tables before a help text.
macro_rules! operands {
    ($($more:literal),*) => {
        concat!(
            "\
Tables:
  .mgk, KMC databases (named with or without .kmc_pre), KFF, Jellyfish's .jf,
  and text (KMER COUNT lines or `jellyfish dump`, also compressed; - is stdin),
  in any mixture, counted with the same k. TABLE:MIN..MAX uses only the k-mers
  whose counts are within these bounds, e.g. sample.mgk:2.. or
  sample.mgk:..1000.

",
            $($more),*
        )
    };
}

pub(super) const UNION: &str = operands!(
    "\
Shards:
  The union of the tables of `merganser count --shard` equals the table of one
  count of the whole input, byte for byte. Shards have all k-mers: give the
  --min-count here (2 is the default of count). The histogram is that before
  --min-count and --max-count. --range I/N computes a range of the k-mers only,
  one on each machine; `merganser kmers concat` joins the ranges.

Examples:
  merganser kmers union -o both.mgk a.mgk b.mgk
  merganser kmers union --min-count 2 --range 1/2 -o range1.mgk \\
    shard1.mgk shard2.mgk
  merganser kmers union --min-count 2 --range 2/2 -o range2.mgk \\
    shard1.mgk shard2.mgk
  merganser kmers union --counts max --format kmc -o both a.mgk b.kmc_pre c.kff"
);

pub(super) const CONCAT: &str = "\
The ranges may be given in any order; all ranges of one union are required. The
histogram is that of all k-mers, before the --min-count and --max-count of the
ranges.

Examples:
  merganser kmers concat -o sample.mgk range1.mgk range2.mgk
  merganser kmers concat --histogram sample.hist -o sample.mgk \\
    range1.mgk range2.mgk";

pub(super) const INTERSECT: &str = operands!(
    "\
Examples:
  merganser kmers intersect -o shared.mgk a.mgk:2.. b.mgk:2..
  merganser kmers intersect --counts left -o shared.mgk sample.mgk panel.mgk"
);

pub(super) const SUBTRACT: &str = operands!(
    "\
Examples:
  merganser kmers subtract -o child_only.mgk \\
    child.mgk:5.. mother.mgk father.mgk"
);

pub(super) const COUNTERS_SUBTRACT: &str = operands!(
    "\
Examples:
  merganser kmers counters-subtract -o left.mgk all.mgk contaminants.mgk"
);

pub(super) const EVAL: &str = operands!(
    "\
Expressions:
  union(A, B, ...)                k-mers of any operand, counts summed
  intersect(A, B, ...)            k-mers of all operands, smallest counts
  counters-subtract(A, B, ...)    k-mers of A, counts less those of the others
  subtract(A, B, ...)             k-mers of A that no other operand has
  set-counts(A, N)                k-mers of A, all with the count N
  The first three take a suffix -min, -max, -sum, -diff, -left or -right, which
  chooses the count of k-mers that two operands have: union-max(A, B).
  An operand is a table or an expression. Each may be followed by bounds of its
  counts, as in a.mgk:2.. or union(a.mgk, b.mgk):3..100. Quote names with
  blanks, commas, parentheses or colons; quote the whole expression for the
  shell.

Examples:
  merganser kmers eval -o shared.mgk 'intersect(union(a.mgk, b.mgk), c.mgk:2..)'
  merganser kmers eval -o x.mgk \\
    'subtract(union-max(a.mgk, b.mgk:2..), \"host (1).mgk\"):3..'"
);

pub(super) const REDUCE: &str = operands!(
    "\
Examples:
  merganser kmers reduce --min-count 5 -o solid.mgk sample.mgk
  merganser kmers convert --format kff -o sample.kff sample.kmc_pre
  merganser kmers convert -o sample.jf sample.mgk"
);

pub(super) const SET_COUNTS: &str = operands!(
    "\
Examples:
  merganser kmers set-counts 1 -o set.mgk sample.mgk"
);

pub(super) const COMPARE: &str = operands!(
    "\
Columns, one line per pair of tables: the two tables; their numbers of k-mers;
shared k-mers; Jaccard index (shared k-mers by k-mers of either); the same for
occurrences; the fraction of the first table's k-mers that the second has, and
vice versa; Mash distance, -ln(2j/(1+j))/k with the exact Jaccard index j.

Examples:
  merganser kmers compare a.mgk b.mgk
  merganser kmers compare a.mgk:2.. b.mgk:2.. c.mgk:2.. -o distances.tsv"
);

/// The options of all subcommands that read tables.
#[derive(Args, Debug)]
pub(crate) struct TableArgs {
    /// Read the k-mers of text tables as they are written, without making them canonical
    #[arg(long)]
    pub(crate) forward_only: bool,
    /// Treat tables without that information (all but .mgk) as homopolymer-compressed
    #[arg(long)]
    pub(crate) hpc: bool,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Memory that the process may use, e.g. 500M or 8G [default: three quarters of the available
    /// memory]
    #[arg(long, value_name = "SIZE", value_parser = merganser_run::parse_size)]
    #[arg(help_heading = "Resources")]
    pub(crate) memory: Option<u64>,
    /// Directory for temporary files, which unsorted tables need if they exceed the memory [default:
    /// $TMPDIR or /tmp]
    #[arg(long, value_name = "DIR", help_heading = "Resources")]
    pub(crate) tmp_dir: Option<PathBuf>,
}

/// The options of a result: its output, and the counts that it keeps.
#[derive(Args, Debug)]
pub(crate) struct ResultArgs {
    #[command(flatten)]
    pub(crate) written: WrittenArgs,
    #[command(flatten)]
    pub(crate) limits: CountLimits,
}

/// The outputs of a result.
#[derive(Args, Debug)]
pub(crate) struct WrittenArgs {
    /// Output; - is stdout (tsv, fasta or jellyfish)
    ///
    /// Text is compressed if the name ends in .gz. kmc writes two files, FILE.kmc_pre and FILE.kmc_suf.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Format of the output [default: by FILE's suffix (.kff, .jf, .tsv, .fa, .parquet), else mgk]
    ///
    /// jf is the binary format of Jellyfish 2, which PanGenie reads; jellyfish is text, as jellyfish dump -c
    /// prints it. none writes no table, only the histogram or the summary.
    #[arg(long = "format", value_name = "FORMAT", help_heading = "Output")]
    pub(crate) given_format: Option<TableFormat>,
    /// Write the histogram of the result's counts to FILE: COUNT<TAB>NUMBER lines; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) histogram: Option<PathBuf>,
    /// Format of the histogram
    ///
    /// jellyfish is the format that MultiQC reads, from files named *_jf.hist. fastk is FastK's .hist.
    #[arg(long, value_name = "FORMAT", default_value = "tsv", requires = "histogram")]
    #[arg(help_heading = "Output")]
    pub(crate) histogram_format: HistogramFormat,
    /// Write a summary of the run as JSON; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
}

/// The options of all subcommands that compute a table from tables.
#[derive(Args, Debug)]
pub(crate) struct ComputingArgs {
    #[command(flatten)]
    pub(crate) result: ResultArgs,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
}

impl WrittenArgs {
    /// Returns the path of the result, `None` without `-o`.
    pub(crate) fn table(&self) -> Option<PathBuf> {
        self.output.as_deref().map(|output| self.format().path(output))
    }

    /// Returns the format of the result.
    pub(crate) fn format(&self) -> TableFormat {
        TableFormat::choose(self.given_format, self.output.as_deref(), TableFormat::Mgk)
    }
}

impl FormatChoice for TableFormat {
    fn format(self) -> Option<OutputFormat> {
        match self {
            TableFormat::Mgk => Some(OutputFormat::Mgk),
            TableFormat::Kmc => Some(OutputFormat::Kmc),
            TableFormat::Kff => Some(OutputFormat::Kff),
            TableFormat::Jf => Some(OutputFormat::Jellyfish),
            TableFormat::Tsv => Some(OutputFormat::Tsv),
            TableFormat::Fasta => Some(OutputFormat::Fasta),
            TableFormat::Parquet => Some(OutputFormat::Parquet),
            TableFormat::Jellyfish | TableFormat::None => None,
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct OperationArgs {
    /// Tables, each with optional bounds of its counts
    #[arg(required = true, value_name = "TABLE[:MIN..MAX]")]
    pub(crate) operands: Vec<OsString>,
    /// Count of a k-mer that two tables have, applied from left to right [default: sum for union, min
    /// for intersect, diff for counters-subtract]
    #[arg(long, value_name = "MODE")]
    pub(crate) counts: Option<Mode>,
    #[command(flatten)]
    pub(crate) computing: ComputingArgs,
}

#[derive(Args, Debug)]
pub(crate) struct UnionArgs {
    /// Compute only range I of N of the k-mers, for `kmers concat`; only with .mgk tables
    #[arg(long, value_name = "I/N")]
    pub(crate) range: Option<Shard>,
    #[command(flatten)]
    pub(crate) of: OperationArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ConcatArgs {
    /// Ranges that `kmers union --range` wrote
    #[arg(required = true, value_name = "TABLE")]
    pub(crate) tables: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) written: WrittenArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Memory that the process may use, e.g. 500M or 8G [default: three quarters of the available
    /// memory]
    #[arg(long, value_name = "SIZE", value_parser = merganser_run::parse_size)]
    #[arg(help_heading = "Resources")]
    pub(crate) memory: Option<u64>,
}

#[derive(Args, Debug)]
pub(crate) struct SubtractArgs {
    /// Tables, each with optional bounds of its counts
    #[arg(required = true, value_name = "TABLE[:MIN..MAX]")]
    pub(crate) operands: Vec<OsString>,
    #[command(flatten)]
    pub(crate) computing: ComputingArgs,
}

#[derive(Args, Debug)]
pub(crate) struct EvalArgs {
    /// Expression to evaluate
    #[arg(value_name = "EXPRESSION")]
    pub(crate) expression: OsString,
    #[command(flatten)]
    pub(crate) computing: ComputingArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ReduceArgs {
    /// Table, with optional bounds of its counts
    #[arg(value_name = "TABLE[:MIN..MAX]")]
    pub(crate) operand: OsString,
    #[command(flatten)]
    pub(crate) computing: ComputingArgs,
}

#[derive(Args, Debug)]
pub(crate) struct SetCountsArgs {
    /// Count of all k-mers of the result
    #[arg(value_name = "N", value_parser = first_count)]
    pub(crate) count: u32,
    /// Table, with optional bounds of its counts
    #[arg(value_name = "TABLE[:MIN..MAX]")]
    pub(crate) operand: OsString,
    #[command(flatten)]
    pub(crate) computing: ComputingArgs,
}

#[derive(Args, Debug)]
#[command(override_usage = "merganser kmers compare [OPTIONS] <TABLE[:MIN..MAX]>...")]
pub(crate) struct CompareArgs {
    /// Two or more tables, each with optional bounds of its counts
    #[arg(required = true, num_args = 2.., value_name = "TABLE[:MIN..MAX]")]
    pub(crate) operands: Vec<OsString>,
    /// Output; - is stdout
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
}

/// Parses the count of `set-counts`, which comes before the table.
fn first_count(text: &str) -> Result<u32, String> {
    let count = text.parse().ok().filter(|&count| count > 0);
    count.ok_or_else(|| "give a count of 1 or more first, then the table".into())
}
