//! `merganser report`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use merganser_report::plot::{Chart, Options};
use merganser_taxreport::bracken::Level;
use merganser_taxreport::report::ReportSelection;

use super::given::Given;

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
    /// Put the reports of several samples together
    ///
    /// Writes the table of KrakenTools' combine_kreports: a row for each taxon with the reads of all
    /// samples and of each, in the clade and of the taxon itself. Or the report of all samples as if
    /// they were one. Of the partial results of classify (--partial), any report of one run over the
    /// reads of all, with the columns of distinct minimizers.
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
    /// Write one page of several samples, for a browser
    ///
    /// A file that needs no network: charts and tables of all runs, side by side where they are of the
    /// same kind. `--report-html` of a command writes the page of a run.
    #[command(after_help = HTML)]
    Html(ReportHtmlArgs),
    /// Draw results for a paper: SVG, PNG or PDF
    ///
    /// The charts of pages. The format is that which the output's name ends with.
    #[command(after_help = PLOT)]
    Plot(ReportPlotArgs),
}

const BRACKEN: &str = "\
Distributions:
  `merganser build --bracken` and `merganser db bracken` write them, and
  Bracken's own build does for databases of Kraken 2.

Examples:
  merganser report bracken -d refs.mgdb.100mers.kmer_distrib sample.kreport \\
    -o sample.bracken --out-report sample.bracken.kreport
  merganser report bracken -d refs.mgdb.100mers.kmer_distrib sample.kreport \\
    --level G --threshold 0";

const MERGE: &str = "\
Examples:
  merganser report merge a.kreport b.kreport -o table.tsv
  merganser report merge --format kreport a.kreport b.kreport -o both.kreport
  merganser report merge --sample-names gut,skin --no-headers a.kreport \\
    b.kreport
  One run's reports, of reads that were classified in pieces:
    merganser report merge --format kreport *.partial -o all.kreport
    merganser report merge --format abundance *.partial -o all.tsv";

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

const HTML: &str = "\
Examples:
  merganser classify refs.mgdb a.fq.gz -o a.tsv --report-data a.json
  merganser classify refs.mgdb b.fq.gz -o b.tsv --report-data b.json
  merganser report html a.json b.json -o samples.html
  merganser report html a.kreport b.kreport -o samples.html";

const PLOT: &str = "\
Examples:
  merganser count -k 21 --format none --report-data a.json reads.fq.gz
  merganser report plot --chart spectrum a.json -o spectrum.pdf
  merganser report plot --chart taxa --rank G a.kreport b.kreport -o genera.svg
  merganser report plot --chart taxa --dpi 600 a.kreport -o species.png";

#[derive(Args, Debug)]
pub(crate) struct ReportPlotArgs {
    /// What --report-data wrote, or reports with 6 or 8 columns
    #[arg(required = true, value_name = "DATA")]
    pub(crate) results: Vec<PathBuf>,
    /// Where to: .svg, .png or .pdf
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// What is drawn
    #[arg(long, value_name = "CHART")]
    pub(crate) chart: Chart,
    /// Dots an inch of PNG; the picture is 180 mm wide
    #[arg(long, value_name = "N", default_value_t = 300)]
    #[arg(value_parser = clap::value_parser!(u32).range(36..=1200))]
    pub(crate) dpi: u32,
    #[command(flatten)]
    pub(crate) options: Options,
}

#[derive(Args, Debug)]
pub(crate) struct ReportHtmlArgs {
    /// What --report-data wrote, or reports with 6 or 8 columns
    #[arg(required = true, value_name = "DATA")]
    pub(crate) results: Vec<PathBuf>,
    /// Where to; - is stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

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
pub(crate) struct ReportMergeArgs {
    /// Reports with 6 or 8 columns, plain or compressed; - is stdin. Or partial results of classify
    #[arg(required = true, value_name = "REPORT")]
    pub(crate) reports: Vec<PathBuf>,
    /// Where to; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// A table with columns for each sample, or a report of all
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: MergedFormat,
    /// Names of the samples in the table's heading, with commas between [default: S1,S2,...]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) sample_names: Vec<String>,
    /// No lines before the table, and no names of columns
    #[arg(long)]
    pub(crate) no_headers: bool,
    /// Only the reads of all samples together, not those of each
    #[arg(long)]
    pub(crate) only_combined: bool,
    /// Taxa of the database without reads, too (kreport and mpa)
    #[arg(long, help_heading = "Partial results")]
    pub(crate) report_zero_counts: bool,
    /// Taxa with fewer reads count as not there (abundance and cami)
    #[arg(long, value_name = "N", help_heading = "Partial results")]
    pub(crate) min_reads: Option<u64>,
    /// The sample's name (cami) [default: sample]
    #[arg(long, value_name = "NAME", help_heading = "Partial results")]
    pub(crate) sample_id: Option<String>,
}

/// `--format` of reports that are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MergedFormat {
    /// KrakenTools' combine_kreports
    Table,
    /// Kraken's report
    Kreport,
    /// MetaPhlAn's table, of partial results
    Mpa,
    /// The text of Krona's ktImportText, of partial results
    Krona,
    /// Estimated abundances at every rank, of partial results
    Abundance,
    /// CAMI's profile, of partial results
    Cami,
}

#[derive(Args, Debug)]
pub(crate) struct ReportFilterArgs {
    // First: what the others take of the command line is gone then.
    #[command(flatten)]
    pub(crate) given: Given,
    /// A report with 6 or 8 columns, plain or compressed; - is stdin
    #[arg(value_name = "REPORT")]
    pub(crate) report: PathBuf,
    /// Where to; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) selection: ReportSelection,
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
