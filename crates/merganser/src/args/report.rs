//! `merganser report`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use merganser_report::plot::{Chart, Options};
use merganser_taxreport::bracken::Level;
use merganser_taxreport::report::ReportSelection;

use super::given::Given;
use super::taxon::TaxonArg;

/// Subcommands of `merganser report`.
#[derive(Debug, Subcommand)]
pub(crate) enum ReportCommand {
    /// Estimate the reads of each species (or other level) with Bracken's method
    ///
    /// Reads that are assigned to a genus or a higher taxon are distributed to its species. Writes Bracken's
    /// table: name, taxid, level, reads of the clade, reads added, their sum, and its fraction of the sum
    /// over all taxa that are kept.
    #[command(after_help = BRACKEN)]
    Bracken(ReportBrackenArgs),
    /// Merge the reports of several samples
    ///
    /// Writes the table of KrakenTools' combine_kreports: a row for each taxon, with the reads of all
    /// samples and of each one, in the clade and of the taxon itself. Or writes a single report of all
    /// samples together. From partial results (classify --partial) it writes any report of one run over all
    /// reads, including the columns of distinct minimizers.
    #[command(after_help = MERGE)]
    Merge(ReportMergeArgs),
    /// Keep or drop clades of a report
    ///
    /// A clade is kept with all taxa below it, and with the taxa above it as far as they have its reads.
    /// Dropped reads are not counted: percentages are of the reads that are kept.
    #[command(after_help = FILTER)]
    Filter(ReportFilterArgs),
    /// Convert reports to a MetaPhlAn-style table
    ///
    /// Lines have the lineage (d__Bacteria|p__...) and the reads of the clade, for taxa of the main ranks.
    /// Several reports give the table of KrakenTools' combine_mpa: a column for each report, 0 if it does
    /// not have the taxon.
    #[command(after_help = MPA)]
    Mpa(ReportMpaArgs),
    /// Convert reports to text for Krona's ktImportText
    ///
    /// Lines have a taxon's own reads and the names of its lineage from the top. Several reports give one
    /// file each.
    #[command(after_help = KRONA)]
    Krona(ReportKronaArgs),
    /// Write one HTML page of several samples
    ///
    /// The page has charts and tables of all runs, next to each other for runs of the same kind. It is a
    /// single file that is readable offline. To write the page of one run, use the option --report-html
    /// of its command.
    #[command(after_help = HTML)]
    Html(ReportHtmlArgs),
    /// Plot results as figures for publication: SVG, PNG or PDF
    ///
    /// Plots the charts of HTML pages. The format is that of the output's suffix.
    #[command(after_help = PLOT)]
    Plot(ReportPlotArgs),
}

const BRACKEN: &str = "\
Distributions:
  `merganser build --bracken` and `merganser db bracken` write them, and for
  databases of Kraken 2 also bracken-build.

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
  One report of reads that were classified in several runs:
    merganser report merge --format kreport *.partial -o all.kreport
    merganser report merge --format abundance *.partial -o all.tsv";

const FILTER: &str = "\
Examples:
  One genus, with the taxa above and below it:
    merganser report filter --taxid 2 sample.kreport
  A taxon by its name:
    merganser report filter --taxid 'Escherichia coli' sample.kreport
  Without the reads of a host and unclassified reads:
    merganser report filter --taxid 9606,0 --exclude sample.kreport -o rest.txt
  Without taxa of fewer than 10 reads, which count for the taxon above:
    merganser report filter --min-reads 10 sample.kreport -o clean.kreport
  Without the taxa below species:
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
    /// Files of --report-data, or Kraken-style reports with 6 or 8 columns
    #[arg(required = true, value_name = "DATA")]
    pub(crate) results: Vec<PathBuf>,
    /// Output: .svg, .png or .pdf
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Chart to plot
    #[arg(long, value_name = "CHART")]
    pub(crate) chart: Chart,
    /// Resolution of PNG in dots per inch; the figure is 180 mm wide
    #[arg(long, value_name = "N", default_value_t = 300)]
    #[arg(value_parser = clap::value_parser!(u32).range(36..=1200))]
    pub(crate) dpi: u32,
    #[command(flatten)]
    pub(crate) options: Options,
}

#[derive(Args, Debug)]
pub(crate) struct ReportHtmlArgs {
    /// Files of --report-data, or Kraken-style reports with 6 or 8 columns
    #[arg(required = true, value_name = "DATA")]
    pub(crate) results: Vec<PathBuf>,
    /// Output; - is stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct ReportBrackenArgs {
    /// Kraken-style report with 6 or 8 columns, plain or compressed; - is stdin
    #[arg(value_name = "REPORT")]
    pub(crate) report: PathBuf,
    /// Distribution of the classification database for about this length of reads (*.kmer_distrib)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) distribution: PathBuf,
    /// Rank code of the taxa that reads are assigned to: D, K, P, C, O, F, G, S, or S1 and the like
    #[arg(short, long, value_name = "CODE", default_value = "S")]
    pub(crate) level: Level,
    /// Reads that a taxon of the level needs to be present; others are dropped with their reads
    #[arg(long, value_name = "READS", default_value_t = 10)]
    pub(crate) threshold: u64,
    /// Output for the table; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Report of the bases of the same reads (classify --report-bases), which are distributed with them
    ///
    /// Adds three columns to the table: bases of the clade, these with the bases added, and their fraction.
    #[arg(long, value_name = "REPORT")]
    pub(crate) bases: Option<PathBuf>,
    /// Also write a report of the level and the taxa above it, with the estimated reads
    #[arg(long, value_name = "FILE")]
    pub(crate) out_report: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct ReportMergeArgs {
    /// Kraken-style reports, plain or compressed, or files of classify --partial; - is stdin
    #[arg(required = true, value_name = "REPORT")]
    pub(crate) reports: Vec<PathBuf>,
    /// Output; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Format of the output
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: MergedFormat,
    /// Names of the samples in the table's header, separated by commas [default: S1,S2,...]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) sample_names: Vec<String>,
    /// Write no lines before the table, and no names of columns
    #[arg(long)]
    pub(crate) no_headers: bool,
    /// Write only the reads of all samples together, not those of each sample
    #[arg(long)]
    pub(crate) only_combined: bool,
    /// Include taxa of the database without reads (kreport and mpa)
    #[arg(long, help_heading = "Partial results")]
    pub(crate) report_zero_counts: bool,
    /// Write bases in place of reads (kreport, mpa and krona), or three columns of bases (abundance)
    #[arg(long, help_heading = "Partial results")]
    pub(crate) bases: bool,
    /// Reads that a taxon needs to be present (abundance and cami)
    #[arg(long, value_name = "N", help_heading = "Partial results")]
    pub(crate) min_reads: Option<u64>,
    /// Name of the sample (cami) [default: sample]
    #[arg(long, value_name = "NAME", help_heading = "Partial results")]
    pub(crate) sample_id: Option<String>,
}

/// The values of `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MergedFormat {
    /// Table of KrakenTools' combine_kreports, with columns for each sample
    Table,
    /// One Kraken-style report of all samples
    Kreport,
    /// MetaPhlAn-style table, from partial results
    Mpa,
    /// Text for Krona's ktImportText, from partial results
    Krona,
    /// Estimated abundances at every rank, from partial results
    Abundance,
    /// CAMI profile, from partial results
    Cami,
}

#[derive(Args, Debug)]
pub(crate) struct ReportFilterArgs {
    // First, because the derived parsers of the other fields take their values out of the matches.
    #[command(flatten)]
    pub(crate) given: Given,
    /// Kraken-style report with 6 or 8 columns, plain or compressed; - is stdin
    #[arg(value_name = "REPORT")]
    pub(crate) report: PathBuf,
    /// Output; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Keep the clades of these taxa: taxids, or names in the report, separated by commas; 0 selects the unclassified
    /// reads
    ///
    /// Give the taxid of a taxon that has a comma in its name.
    #[arg(long, value_name = "TAXID", value_delimiter = ',')]
    pub(crate) taxid: Vec<TaxonArg>,
    #[command(flatten)]
    pub(crate) selection: ReportSelection,
}

#[derive(Args, Debug)]
pub(crate) struct ReportMpaArgs {
    /// Kraken-style reports with 6 or 8 columns, plain or compressed; - is stdin
    #[arg(required = true, value_name = "REPORT")]
    pub(crate) reports: Vec<PathBuf>,
    /// Output; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Names of the columns, separated by commas [default: the names of the files]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) sample_names: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ReportKronaArgs {
    /// Kraken-style reports with 6 or 8 columns, plain or compressed; - is stdin
    #[arg(required = true, value_name = "REPORT")]
    pub(crate) reports: Vec<PathBuf>,
    /// Output; - is stdout; compressed if the name ends in .gz
    ///
    /// {} in the name is replaced by the sample: the report's name without its last suffix.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
}
