//! The verbs of `merganser kmers` that compute with tables.

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

/// Said wherever tables are named.
macro_rules! operands {
    ($($more:literal),*) => {
        concat!(
            "\
Tables:
  .mgk, KMC databases (named with or without .kmc_pre), KFF, and text (KMER
  COUNT lines or `jellyfish dump`, also compressed; - is stdin), mixed at will,
  counted with the same k. TABLE:MIN..MAX takes only the k-mers whose count lies
  within, e.g. sample.mgk:2.. or sample.mgk:..1000.

",
            $($more),*
        )
    };
}

pub(super) const UNION: &str = operands!(
    "\
Shards:
  Tables of `merganser count --shard` are joined to the table that one count of
  the whole input makes, with the same bytes; cuts are made here (--min-count 2
  is what count does unless told otherwise), and the histogram is that before
  the cut. --range I/N joins a part of the k-mers: each machine takes one, and
  `merganser kmers concat` puts them together.

Examples:
  merganser kmers union -o both.mgk a.mgk b.mgk
  merganser kmers union --min-count 2 --range 1/2 -o range1.mgk \\
    shard1.mgk shard2.mgk
  merganser kmers union --min-count 2 --range 2/2 -o range2.mgk \\
    shard1.mgk shard2.mgk
  merganser kmers union --counts max --format kmc -o both a.mgk b.kmc_pre c.kff"
);

pub(super) const CONCAT: &str = "\
Ranges are taken in any order; all of one union must be there. The histogram is
that of all k-mers, before the cut of the ranges.

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
  union(A, B, ...)                the k-mers of any operand, counts summed
  intersect(A, B, ...)            those of all, the smallest count
  counters-subtract(A, B, ...)    those of the first, its count less the others'
  subtract(A, B, ...)             those of the first that no other has
  set-counts(A, N)                those of A, each with the count N
  Behind the names of the first three, -min, -max, -sum, -diff, -left or -right
  chooses another count for k-mers that two operands have: union-max(A, B).
  An operand is a table or an expression; each may have a cut behind it, as in
  a.mgk:2.. or union(a.mgk, b.mgk):3..100. Names with blanks, commas,
  parentheses or colons go in quotes, and the whole expression in those of the
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
  merganser kmers convert --format kff -o sample.kff sample.kmc_pre"
);

pub(super) const SET_COUNTS: &str = operands!(
    "\
Examples:
  merganser kmers set-counts 1 -o set.mgk sample.mgk"
);

pub(super) const COMPARE: &str = operands!(
    "\
Columns, a line for each pair: the two tables; their k-mers; shared k-mers;
Jaccard index (shared k-mers over those of either); the same of occurrences; the
part of the first table's k-mers that the second has, and the other way round;
Mash distance, -ln(2j/(1+j))/k of the exact Jaccard index j.

Examples:
  merganser kmers compare a.mgk b.mgk
  merganser kmers compare a.mgk:2.. b.mgk:2.. c.mgk:2.. -o distances.tsv"
);

/// What all verbs that read tables take.
#[derive(Args, Debug)]
pub(crate) struct TableArgs {
    /// Take the k-mers of texts as they stand, not as canonical ones
    #[arg(long)]
    pub(crate) forward_only: bool,
    /// Take tables that do not say so (all but .mgk) for those of homopolymer-compressed reads
    #[arg(long)]
    pub(crate) hpc: bool,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Memory that the process may use, e.g. 500M or 8G [default: three quarters of the
    /// memory that is free to use]
    #[arg(long, value_name = "SIZE", value_parser = merganser_run::parse_size)]
    #[arg(help_heading = "Resources")]
    pub(crate) memory: Option<u64>,
    /// Directory for temporary files, which tables that are not sorted need if memory is little
    /// [default: $TMPDIR or /tmp]
    #[arg(long, value_name = "DIR", help_heading = "Resources")]
    pub(crate) tmp_dir: Option<PathBuf>,
}

/// What of a result is kept, and where it goes.
#[derive(Args, Debug)]
pub(crate) struct ResultArgs {
    #[command(flatten)]
    pub(crate) written: WrittenArgs,
    #[command(flatten)]
    pub(crate) limits: CountLimits,
}

/// Where a result goes.
#[derive(Args, Debug)]
pub(crate) struct WrittenArgs {
    /// Where the result goes; - is stdout (tsv, fasta, jellyfish); text is compressed if the name
    /// ends in .gz; kmc writes FILE.kmc_pre and FILE.kmc_suf
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// How it is written; none for the histogram or the numbers alone [default: by the end of FILE's
    /// name (.kff, .tsv, .fa, .parquet), else mgk]
    #[arg(long = "format", value_name = "FORMAT", help_heading = "Output")]
    pub(crate) given_format: Option<TableFormat>,
    /// Write how many k-mers of the result have a count of 1, 2, ...: COUNT<TAB>NUMBER lines; - is
    /// stdout
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) histogram: Option<PathBuf>,
    /// How the histogram is written; jellyfish is what MultiQC reads, in files named *_jf.hist;
    /// fastk is FastK's .hist
    #[arg(long, value_name = "FORMAT", default_value = "tsv", requires = "histogram")]
    #[arg(help_heading = "Output")]
    pub(crate) histogram_format: HistogramFormat,
    /// Write a summary of the run for other programs; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
}

/// What all verbs that compute a table from tables take.
#[derive(Args, Debug)]
pub(crate) struct ComputingArgs {
    #[command(flatten)]
    pub(crate) result: ResultArgs,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
}

impl WrittenArgs {
    /// Where the result goes.
    pub(crate) fn table(&self) -> Option<PathBuf> {
        self.output.as_deref().map(|output| self.format().path(output))
    }

    /// How the result is written.
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
            TableFormat::Tsv => Some(OutputFormat::Tsv),
            TableFormat::Fasta => Some(OutputFormat::Fasta),
            TableFormat::Parquet => Some(OutputFormat::Parquet),
            TableFormat::Jellyfish | TableFormat::None => None,
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct OperationArgs {
    /// Tables, each perhaps with bounds of its counts
    #[arg(required = true, value_name = "TABLE[:MIN..MAX]")]
    pub(crate) operands: Vec<OsString>,
    /// The count of a k-mer that two tables have, from left to right [default: sum for union, min
    /// for intersect, diff for counters-subtract]
    #[arg(long, value_name = "MODE")]
    pub(crate) counts: Option<Mode>,
    #[command(flatten)]
    pub(crate) computing: ComputingArgs,
}

#[derive(Args, Debug)]
pub(crate) struct UnionArgs {
    /// Compute but the I-th of N ranges of the k-mers, which kmers concat puts together; .mgk alone
    #[arg(long, value_name = "I/N")]
    pub(crate) range: Option<Shard>,
    #[command(flatten)]
    pub(crate) of: OperationArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ConcatArgs {
    /// The ranges
    #[arg(required = true, value_name = "TABLE")]
    pub(crate) tables: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) written: WrittenArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Memory that the process may use, e.g. 500M or 8G [default: three quarters of the
    /// memory that is free to use]
    #[arg(long, value_name = "SIZE", value_parser = merganser_run::parse_size)]
    #[arg(help_heading = "Resources")]
    pub(crate) memory: Option<u64>,
}

#[derive(Args, Debug)]
pub(crate) struct SubtractArgs {
    /// Tables, each perhaps with bounds of its counts
    #[arg(required = true, value_name = "TABLE[:MIN..MAX]")]
    pub(crate) operands: Vec<OsString>,
    #[command(flatten)]
    pub(crate) computing: ComputingArgs,
}

#[derive(Args, Debug)]
pub(crate) struct EvalArgs {
    /// What to compute
    #[arg(value_name = "EXPRESSION")]
    pub(crate) expression: OsString,
    #[command(flatten)]
    pub(crate) computing: ComputingArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ReduceArgs {
    /// A table, perhaps with bounds of its counts
    #[arg(value_name = "TABLE[:MIN..MAX]")]
    pub(crate) operand: OsString,
    #[command(flatten)]
    pub(crate) computing: ComputingArgs,
}

#[derive(Args, Debug)]
pub(crate) struct SetCountsArgs {
    /// The count
    #[arg(value_name = "N", value_parser = first_count)]
    pub(crate) count: u32,
    /// A table, perhaps with bounds of its counts
    #[arg(value_name = "TABLE[:MIN..MAX]")]
    pub(crate) operand: OsString,
    #[command(flatten)]
    pub(crate) computing: ComputingArgs,
}

#[derive(Args, Debug)]
#[command(override_usage = "merganser kmers compare [OPTIONS] <TABLE[:MIN..MAX]>...")]
pub(crate) struct CompareArgs {
    /// Two tables or more, each perhaps with bounds of its counts
    #[arg(required = true, num_args = 2.., value_name = "TABLE[:MIN..MAX]")]
    pub(crate) operands: Vec<OsString>,
    /// Where to write; - is stdout
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
}

/// The count of `set-counts`, which stands before the table.
fn first_count(text: &str) -> Result<u32, String> {
    let count = text.parse().ok().filter(|&count| count > 0);
    count.ok_or_else(|| "give a count of 1 or more first, then the table".into())
}
