//! `merganser report`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What to do with reports.
#[derive(Debug, Subcommand)]
pub(crate) enum ReportCommand {
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

const MPA: &str = "\
Examples:
  merganser report mpa sample.kreport -o sample.mpa
  merganser report mpa a.kreport b.kreport -o table.mpa";

const KRONA: &str = "\
Examples:
  merganser report krona sample.kreport -o sample.krona
  merganser report krona a.kreport b.kreport -o {}.krona";

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
