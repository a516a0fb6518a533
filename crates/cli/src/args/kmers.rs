//! `merganser kmers`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// What to do with a table.
#[derive(Debug, Subcommand)]
pub(crate) enum KmersCommand {
    /// Print what a table says of itself
    #[command(after_help = "Example:\n  merganser kmers info sample.mgk --json")]
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
    #[command(after_help = "Example:\n  merganser kmers verify *.mgk")]
    Verify(VerifyArgs),
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
A table holds only what --min-count and --max-count left. `merganser count --histogram FILE` gives
the whole histogram whatever the table keeps.

Example:
  merganser kmers histogram sample.mgk -o sample.hist";

const QUERY: &str = "\
A k-mer may be given in either case and on either strand (unless the table was counted with
--forward-only); it is printed as given.

Examples:
  merganser kmers query sample.mgk ACGTTGCAACGTTGCAACGTTGCAACGTTGC
  merganser kmers query sample.mgk --file markers.txt";

#[derive(Args, Debug)]
pub(crate) struct InfoArgs {
    /// A table (.mgk)
    pub(crate) table: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct DumpArgs {
    /// A table (.mgk)
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
    /// How each k-mer is written
    #[arg(long, value_name = "FORMAT", default_value = "tsv")]
    pub(crate) format: DumpFormat,
}

/// `--format` of a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DumpFormat {
    Tsv,
    Fasta,
    Jellyfish,
}

#[derive(Args, Debug)]
pub(crate) struct HistogramArgs {
    /// A table (.mgk)
    pub(crate) table: PathBuf,
    /// Where to write COUNT<TAB>NUMBER lines; - is stdout
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Leave counts above N out [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max: Option<u32>,
}

#[derive(Args, Debug)]
pub(crate) struct QueryArgs {
    /// A table (.mgk)
    pub(crate) table: PathBuf,
    /// k-mers to look up
    #[arg(value_name = "KMER", required_unless_present = "file", conflicts_with = "file")]
    pub(crate) kmers: Vec<String>,
    /// A file with a k-mer a line (the first word counts); - is stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    /// Tables (.mgk)
    #[arg(required = true, value_name = "TABLE")]
    pub(crate) tables: Vec<PathBuf>,
}
