//! `merganser classify`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand};
use merganser_alignments::ReadFormat;
use merganser_classify::RunConfig;
use merganser_classify::SketchConfig;
use merganser_run::Shard;
use merganser_taxreport::bracken::Level;

use super::build::{ResourceArgs, TaxidArgs};
use super::dry_run::DryRunArgs;
use super::given::Given;
use super::joins::ClassifyJoinArgs;
use super::pages::PageArgs;
use super::reads::MixedReadsArgs;

const CLASSIFY: &str = "\
Output:
  One line per read, in the order of the reads, in Kraken 2's format: C or U,
  name, taxid (0 if none), length (100|98 for a pair), and the candidates as
  TAXID:HITS, the best first (0:0 if none). All reports come from the same pass
  over the reads. docs/guide/classify.md describes each of them.

Many samples:
  --sample-sheet FILE has lines of SAMPLE<TAB>READS or
  SAMPLE<TAB>MATES1<TAB>MATES2, or with commas; lines of the same sample are
  taken together. {} in the name of an output is replaced by the sample.
  --report-html and --report-data without {} make one file of all samples.
  --interactive takes reads and options from the lines of stdin; enter `help`
  for more.

Examples:
  Pairs, with a report for Bracken, Krona or Pavian:
    merganser classify refs.mgdb -1 reads_1.fq.gz -2 reads_2.fq.gz \\
      -o reads.tsv --report sample.kreport
  Single reads, reports only:
    merganser classify refs.mgdb reads.fq.gz --no-map \\
      --report sample.kreport --abundance sample.tsv
  Interleaved pairs from a pipe:
    samtools fastq sample.bam | \\
      merganser classify refs.mgdb --interleaved - -o reads.tsv.gz
  With a database of Kraken 2, with the results of kraken2:
    merganser classify kraken_db/ reads.fq.gz --confidence 0.1 \\
      -o reads.kraken --report sample.kreport
  With several databases of the same kind, as if they were one:
    merganser classify kraken_db/ own_kraken_db/ reads.fq.gz \\
      -o reads.kraken --report sample.kreport
  With a table of the reads that each database supports:
    merganser classify kraken_db/ own_kraken_db/ reads.fq.gz --no-map \\
      --report sample.kreport --database-report sample.databases.tsv
  With the reads of each species, estimated as by Bracken:
    merganser classify refs.mgdb reads.fq.gz --no-map \\
      --bracken refs.mgdb.100mers.kmer_distrib --bracken-output sample.bracken
  Long reads, with the bases of each taxon and the segments of each read:
    merganser classify refs.mgdb reads.fq.gz -o reads.tsv \\
      --report-bases sample.kreport --segments-out segments.tsv
  In several runs, whose results are merged into one report:
    merganser classify refs.mgdb a.fq.gz --no-map --partial a.partial
    merganser classify refs.mgdb b.fq.gz --no-map --partial b.partial
    merganser report merge --format kreport a.partial b.partial -o all.kreport
  Without a database file:
    merganser classify --references genomes/ --taxonomy taxonomy/ \\
      reads.fq.gz -o reads.tsv
  Unaligned BAM with all its tags and the taxon of each read:
    merganser classify refs.mgdb sample.bam --no-map \\
      --classified-out classified.bam --unclassified-out rest.bam
  All samples of a run, opening the database once:
    merganser classify refs.mgdb --sample-sheet run.tsv \\
      -o {}.tsv.gz --report {}.kreport";

const READS: &str = "\
One or several databases (.mgdb, or folders of Kraken 2) unless --references is given, then files of reads: \
FASTA, FASTQ, SAM, BAM or CRAM, plain or compressed; @LIST of such files, or - for stdin";

const MEMORY: &str = "\
Memory that the run may use, including the database, e.g. 8G. If the database does not fit, its \
parts are loaded in turn (see build --parts), or an error says how much is needed [default: three \
quarters of the available memory, or more if the database needs it and it is available]";

#[derive(Args, Debug)]
#[command(mut_arg("memory", |arg| arg.help(MEMORY)))]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[command(after_help = CLASSIFY, override_usage = "\
merganser classify [OPTIONS] <DATABASE>... [READS]...
       merganser classify [OPTIONS] --references <GENOMES> --taxonomy <PATH>
         [READS]...
       merganser classify join [OPTIONS] <PARTIAL>...")]
pub(crate) struct ClassifyArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ClassifyCommand>,
    #[command(flatten)]
    pub(crate) query: QueryArgs,

    /// Table of samples and their reads; {} in the names of outputs is replaced by the sample
    ///
    /// The lines of the table are described under "Many samples" below.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["mates1", "singles", "interactive"])]
    pub(crate) sample_sheet: Option<PathBuf>,
    /// Skip samples of the sheet that are finished; FILE is the journal, which is appended to
    ///
    /// A sample is finished if its outputs are unchanged since they were written, and its reads and the
    /// database still have the same content.
    #[arg(long, value_name = "FILE", requires = "sample_sheet", conflicts_with = "references")]
    pub(crate) resume: Option<PathBuf>,
    /// Classify only shard I of N: of the reads, or of the samples of a sheet
    ///
    /// `merganser classify join` joins the results of all shards of the reads. With a sample sheet, each
    /// shard takes some of the samples as a whole, and nothing needs to be joined.
    #[arg(long, value_name = "I/N", conflicts_with = "interactive")]
    pub(crate) shard: Option<Shard>,
    /// Keep the database open and run a query for each line of stdin
    #[arg(long, conflicts_with_all = ["mates1", "singles"])]
    pub(crate) interactive: bool,

    /// Genomes to build a database from in memory, in place of DATABASE: FASTA files, folders, @LIST
    ///
    /// May be given more than once.
    #[arg(long, value_name = "GENOMES", help_heading = "On the fly")]
    pub(crate) references: Vec<PathBuf>,
    /// NCBI's taxdump folder (nodes.dmp, names.dmp), or a table of GTDB
    ///
    /// May be given more than once for several tables of GTDB.
    #[arg(long, value_name = "PATH", requires = "references", help_heading = "On the fly")]
    pub(crate) taxonomy: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) taxids: TaxidArgs,
    #[command(flatten)]
    pub(crate) sketches: SketchConfig,
    #[command(flatten)]
    pub(crate) resources: ResourceArgs,
    #[command(flatten)]
    pub(crate) dry: DryRunArgs,
}

/// Subcommands of `merganser classify`.
#[derive(Debug, Subcommand)]
pub(crate) enum ClassifyCommand {
    /// Join the results of shards (classify --shard)
    ///
    /// The joined lines, reports, abundances and distinct features equal those of one run over all reads,
    /// byte for byte. It is an error if a shard is missing, or if shards differ in reads, options or
    /// database.
    Join(Box<ClassifyJoinArgs>),
}

/// A line of an interactive session.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true, name = "")]
pub(crate) struct SessionLine {
    #[command(flatten)]
    pub(crate) query: QueryArgs,
}

/// A query: what to classify, how, and what to write.
#[derive(Args, Clone, Debug)]
#[command(mut_arg("reads", |arg| arg.help(READS)))]
#[command(group(ArgGroup::new("counted").args(["report", "partial", "report_html", "report_data"]).multiple(true)))]
pub(crate) struct QueryArgs {
    // First, because the derived parsers of the other fields take their values out of the matches.
    #[command(flatten)]
    pub(crate) given: Given,
    #[command(flatten)]
    pub(crate) reads: MixedReadsArgs,

    #[command(flatten)]
    pub(crate) lines: LineArgs,
    #[command(flatten)]
    pub(crate) reports: ReportArgs,
    #[command(flatten)]
    pub(crate) pages: PageArgs,
    #[command(flatten)]
    pub(crate) config: RunConfig,
}

/// Outputs that have lines of single reads, or the reads themselves.
#[derive(Args, Clone, Debug)]
pub(crate) struct LineArgs {
    /// Output with one line per read; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-", help_heading = "Output")]
    pub(crate) output: PathBuf,
    /// Write no lines for single reads, only reports
    #[arg(long, help_heading = "Output", conflicts_with = "output")]
    pub(crate) no_map: bool,
    /// Write the reads that have a taxon to FILE, unchanged; compressed if the name ends in .gz
    ///
    /// # in the name becomes _1 and _2 for pairs, and nothing for single reads. Without it, mates are
    /// interleaved. If the name ends in .bam, .cram or .sam, all alignments of the reads are written as they
    /// are in the input, with the tags tx (the taxid) and tn (its name). Reads of FASTQ become unmapped, and
    /// tags in their headers (BC:Z:ACGT) are kept. CRAM is written without a reference.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) classified_out: Option<PathBuf>,
    /// Write the reads without a taxon to FILE; names as for --classified-out
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) unclassified_out: Option<PathBuf>,
    /// Format of --classified-out and --unclassified-out, whatever their names
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) output_format: Option<ReadFormat>,
    /// Classify each read in segments, too, and write a table of them, which tells chimeric reads
    ///
    /// A line has the read, its mate, the segment, its taxon and hits, and whether the read looks chimeric:
    /// two neighbouring segments are of one genus, and elsewhere two neighbouring ones of another.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) segments_out: Option<PathBuf>,
    /// Write a table of the reference sequences that were hit: taxon, windows covered, reads, hits
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(crate) hits_per_ref: Option<PathBuf>,
    /// Write a table of the reads that each of several databases supports, by taxon
    ///
    /// A database of Kraken 2 supports a read if it has at least one of its k-mers whose taxon is in the clade
    /// of the read's taxon. One of merganser supports it if a sequence in that clade has at least one of the
    /// read's features. Columns: taxid, rank code and name; reads of the clade and of the taxon itself; the same
    /// two for each database. With --shard, FILE has the reads of the shard, and `classify join` with the
    /// same option writes the table of all reads.
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(crate) database_report: Option<PathBuf>,
    /// Write partial results, for `report merge` or `classify join`
    ///
    /// Merged with the partial results of other reads, they give the reports of one run over all reads.
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(crate) partial: Option<PathBuf>,
    /// Show the largest taxa as a bar chart in text on stderr (`report plot` draws figures)
    #[arg(long, value_name = "-", value_parser = ["-"], help_heading = "Output")]
    pub(crate) plot: Option<String>,
    /// Write a summary of the run as JSON; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
}

/// Reports that are made from the numbers of reads per taxon.
#[derive(Args, Clone, Debug)]
pub(crate) struct ReportArgs {
    /// Write reads per taxon as a Kraken-style report; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(crate) report: Option<PathBuf>,
    /// Include taxa of the database without reads in --report, --report-bases and --mpa
    #[arg(long, help_heading = "Reports")]
    pub(crate) report_zero_counts: bool,
    /// Write bases per taxon as a Kraken-style report: its numbers are bases of the reads
    ///
    /// Long reads differ in length, and their bases are closer to the abundance of DNA than their number. The
    /// report has the columns of --report, so that all programs that read those can read it, `report mpa` and
    /// `report krona` among them.
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(crate) report_bases: Option<PathBuf>,
    /// Add three columns of bases to --abundance and to --bracken-output, and bases to pages
    ///
    /// The bases of higher taxa are distributed with the reads.
    #[arg(long, help_heading = "Reports")]
    pub(crate) bases: bool,
    /// Write reads per taxon as a MetaPhlAn-style table
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(crate) mpa: Option<PathBuf>,
    /// Write reads per taxon as text for Krona's ktImportText
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(crate) krona: Option<PathBuf>,
    /// Write estimated abundances of all taxa at every rank
    ///
    /// Reads of higher taxa are distributed to the taxa below them.
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(crate) abundance: Option<PathBuf>,
    /// Write estimated abundances as a CAMI profile
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(crate) cami: Option<PathBuf>,
    /// Name of the sample in --cami [default: the name in the sample sheet, or `sample`]
    #[arg(long, value_name = "NAME", help_heading = "Reports", requires = "cami")]
    pub(crate) sample_id: Option<String>,
    /// Distribution of the database for reads of about this length, for --bracken-output
    ///
    /// Reads of higher taxa are given back to species by Bracken's rule. `build --bracken` and `db bracken`
    /// write distributions.
    #[arg(long, value_name = "FILE", help_heading = "Reports", requires = "bracken_output")]
    pub(crate) bracken: Option<PathBuf>,
    /// Write Bracken's table of estimated reads
    #[arg(long, value_name = "FILE", help_heading = "Reports", requires = "bracken")]
    pub(crate) bracken_output: Option<PathBuf>,
    /// Write --report with the reads that Bracken estimates, from --bracken-level up
    #[arg(long, value_name = "FILE", help_heading = "Reports", requires = "bracken")]
    pub(crate) bracken_report: Option<PathBuf>,
    /// Rank code of the taxa that Bracken assigns reads to
    #[arg(
        long,
        value_name = "CODE",
        default_value = "S",
        help_heading = "Reports",
        requires = "bracken"
    )]
    pub(crate) bracken_level: Level,
    /// Reads that a taxon of that level needs for Bracken to consider it present
    #[arg(
        long,
        value_name = "READS",
        default_value_t = 10,
        help_heading = "Reports",
        requires = "bracken"
    )]
    pub(crate) bracken_threshold: u64,
    /// Reads that a taxon needs to be present in --abundance and --cami
    ///
    /// Reads of taxa with fewer count for the parent.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Reports")]
    pub(crate) min_reads: u64,
}
