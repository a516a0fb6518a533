//! `merganser report`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use merganser_classify::bracken::Level;

/// What to do with reports.
#[derive(Debug, Subcommand)]
pub(crate) enum ReportCommand {
    /// Estimate the reads of each species (or of another level) by Bracken's rule
    ///
    /// Reads that only a genus or a higher taxon is known of are given back to the species. Writes
    /// Bracken's table: name, taxid, level, reads of the clade, reads added, their sum, and its share
    /// of all that is kept.
    #[command(after_help = BRACKEN)]
    Bracken(ReportBrackenArgs),
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

const BRACKEN: &str = "\
Distributions:
  `merganser build --bracken` and `merganser db bracken` write them, and Bracken's
  own build does for databases of Kraken 2.

Examples:
  merganser report bracken -d refs.mgdb.100mers.kmer_distrib sample.kreport \\
    -o sample.bracken --out-report sample.bracken.kreport
  merganser report bracken -d refs.mgdb.100mers.kmer_distrib sample.kreport \\
    --level G --threshold 0";

const MPA: &str = "\
Examples:
  merganser report mpa sample.kreport -o sample.mpa
  merganser report mpa a.kreport b.kreport -o table.mpa";

const KRONA: &str = "\
Examples:
  merganser report krona sample.kreport -o sample.krona
  merganser report krona a.kreport b.kreport -o {}.krona";

#[derive(Args, Debug)]
pub(crate) struct ReportBrackenArgs {
    /// A report with 6 or 8 columns, plain or compressed; - is stdin
    #[arg(value_name = "REPORT")]
    pub(crate) report: PathBuf,
    /// The distribution of the database that the reads were classified by, for reads of about their
    /// length (*.kmer_distrib)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) distribution: PathBuf,
    /// Rank code of the taxa that get the reads: D, K, P, C, O, F, G, S, or steps below one, as S1
    #[arg(short, long, value_name = "CODE", default_value = "S")]
    pub(crate) level: Level,
    /// Taxa of the level with fewer reads are taken not to be there, and left out with theirs
    #[arg(long, value_name = "READS", default_value_t = 10)]
    pub(crate) threshold: u64,
    /// The table; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Write a report of the level and the taxa above it, with the estimated reads, too
    #[arg(long, value_name = "FILE")]
    pub(crate) out_report: Option<PathBuf>,
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
