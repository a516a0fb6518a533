//! `merganser report`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// What to do with reports.
#[derive(Debug, Subcommand)]
pub(crate) enum ReportCommand {
    /// Put the reports of several samples together
    ///
    /// Writes the table of KrakenTools' combine_kreports: a row for each taxon with the reads of all
    /// samples and of each, in the clade and of the taxon itself. Or the report of all samples as if
    /// they were one.
    #[command(after_help = MERGE)]
    Merge(ReportMergeArgs),
    /// Keep or drop clades of a report
    ///
    /// A clade stays with all taxa below it, and the taxa above it with its reads. Reads that go are
    /// not counted any more: the per cents of what is written are of the reads that stay.
    #[command(after_help = FILTER)]
    Filter(ReportFilterArgs),
    /// Write a report as MetaPhlAn's table; of several reports, one table of all
    ///
    /// Lines of lineage (d__Bacteria|p__...) and reads of the clade, for taxa of the main ranks. Of
    /// several reports the table of KrakenTools' combine_mpa: a column for each, 0 for those without
    /// the taxon.
    #[command(after_help = MPA)]
    Mpa(ReportMpaArgs),
    /// Write a report as the text that Krona's ktImportText reads
    ///
    /// Lines of the reads of a taxon itself and the names from the top down. Of several reports, a
    /// file for each.
    #[command(after_help = KRONA)]
    Krona(ReportKronaArgs),
}

const MERGE: &str = "\
Examples:
  merganser report merge a.kreport b.kreport -o table.tsv
  merganser report merge --format kreport a.kreport b.kreport -o both.kreport
  merganser report merge --sample-names gut,skin --no-headers a.kreport \\
    b.kreport";

const FILTER: &str = "\
Examples:
  One genus, with what is above and below it:
    merganser report filter --taxid 2 sample.kreport
  Without a host's reads, and unclassified ones:
    merganser report filter --taxid 9606,0 --exclude sample.kreport -o rest.txt
  No taxa with fewer than 10 reads; these count for the taxon above:
    merganser report filter --min-reads 10 sample.kreport -o clean.kreport
  Nothing below species:
    merganser report filter --rank S1 --exclude sample.kreport";

const MPA: &str = "\
Examples:
  merganser report mpa sample.kreport -o sample.mpa
  merganser report mpa a.kreport b.kreport -o table.mpa";

const KRONA: &str = "\
Examples:
  merganser report krona sample.kreport -o sample.krona
  merganser report krona a.kreport b.kreport -o {}.krona";

#[derive(Args, Debug)]
pub(crate) struct ReportMergeArgs {
    /// Reports with 6 or 8 columns, plain or compressed; - is stdin
    #[arg(required = true, value_name = "REPORT")]
    pub(crate) reports: Vec<PathBuf>,
    /// Where to; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// A table with columns for each sample, or one report of all
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: MergedFormat,
    /// Names of the samples in the lines before the table, with commas between [default: S1,S2,...]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) sample_names: Vec<String>,
    /// No lines before the table, and no names of columns
    #[arg(long)]
    pub(crate) no_headers: bool,
    /// Only the reads of all samples together, not those of each
    #[arg(long)]
    pub(crate) only_combined: bool,
}

/// `--format` of reports that are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MergedFormat {
    Table,
    Kreport,
}

#[derive(Args, Debug)]
pub(crate) struct ReportFilterArgs {
    /// A report with 6 or 8 columns, plain or compressed; - is stdin
    #[arg(value_name = "REPORT")]
    pub(crate) report: PathBuf,
    /// Where to; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Keep the clades of these taxa; 0 is of the unclassified reads
    #[arg(long, value_name = "TAXID", value_delimiter = ',')]
    pub(crate) taxid: Vec<u64>,
    /// Keep the clades of taxa with this rank code, e.g. S; with --taxid, of those within its clades
    #[arg(long, value_name = "CODE")]
    pub(crate) rank: Option<String>,
    /// Drop what --taxid and --rank choose, and keep all else
    #[arg(long)]
    pub(crate) exclude: bool,
    /// Count clades with fewer reads for the taxon above
    #[arg(long, value_name = "N")]
    pub(crate) min_reads: Option<u64>,
    /// Count clades with a smaller share of the reads that stay for the taxon above
    #[arg(long, value_name = "PERCENT")]
    pub(crate) min_percent: Option<f64>,
}

#[derive(Args, Debug)]
pub(crate) struct ReportMpaArgs {
    /// Reports with 6 or 8 columns, plain or compressed; - is stdin
    #[arg(required = true, value_name = "REPORT")]
    pub(crate) reports: Vec<PathBuf>,
    /// Where to; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Names of the columns, with commas between [default: the files' names]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) sample_names: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ReportKronaArgs {
    /// Reports with 6 or 8 columns, plain or compressed; - is stdin
    #[arg(required = true, value_name = "REPORT")]
    pub(crate) reports: Vec<PathBuf>,
    /// Where to; {} stands for the sample, a report's name without what follows the last point; - is
    /// stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
}
