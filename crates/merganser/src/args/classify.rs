//! `merganser classify`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand};
use merganser_classify::SketchConfig;
use merganser_classify::run::RunConfig;
use merganser_run::Shard;
use merganser_taxreport::bracken::Level;

use super::build::{ResourceArgs, TaxidArgs};
use super::given::Given;
use super::joins::ClassifyJoinArgs;
use super::pages::PageArgs;
use super::reads::MixedReadsArgs;

const CLASSIFY: &str = "\
Output:
  One line a read, in the order of the reads, as Kraken 2 writes it: C or U,
  name, taxid (0: none), length (of both mates: 100|98), and the candidates as
  TAXID:HITS, the best first (0:0: none). All reports come from the same pass
  over the reads. docs/classify.md describes each.

Many samples:
  --sample-sheet FILE has a line for each: SAMPLE<TAB>READS or
  SAMPLE<TAB>MATES1<TAB>MATES2 (or with commas); lines of the same sample belong
  together. {} in a file name stands for the sample. --interactive takes reads
  and options from the lines of stdin; `help` explains.

Examples:
  Pairs, with a report that Bracken, Krona and Pavian read:
    merganser classify refs.mgdb -1 reads_1.fq.gz -2 reads_2.fq.gz \\
      -o reads.tsv --report sample.kreport
  Single reads, only reports:
    merganser classify refs.mgdb reads.fq.gz --no-map \\
      --report sample.kreport --abundance sample.tsv
  From a pipe, mates one after the other:
    samtools fastq sample.bam | \\
      merganser classify refs.mgdb --interleaved - -o reads.tsv.gz
  By a database of Kraken 2, as kraken2 does:
    merganser classify kraken_db/ reads.fq.gz --confidence 0.1 \\
      -o reads.kraken --report sample.kreport
  With the reads of each species, by Bracken's rule:
    merganser classify refs.mgdb reads.fq.gz --no-map \\
      --bracken refs.mgdb.100mers.kmer_distrib --bracken-output sample.bracken
  In pieces, whose results make one report:
    merganser classify refs.mgdb a.fq.gz --no-map --partial a.partial
    merganser classify refs.mgdb b.fq.gz --no-map --partial b.partial
    merganser report merge --format kreport a.partial b.partial -o all.kreport
  Without a database:
    merganser classify --references genomes/ --taxonomy taxonomy/ \\
      reads.fq.gz -o reads.tsv
  All samples of a run, the database opened once:
    merganser classify refs.mgdb --sample-sheet run.tsv \\
      -o {}.tsv.gz --report {}.kreport";

const READS: &str = "\
The database (.mgdb, or a folder that Kraken 2 made), unless --references are given; then reads: \
FASTA, FASTQ, SAM, BAM or CRAM, plain or compressed; @LIST of such files, or - for stdin";

const MEMORY: &str = "\
Memory that the run may use, the database included, e.g. 8G: where that does not fit, its parts \
take turns (build --parts), or an error says what is needed [default: three quarters of the \
memory that is free to use, or more if the database needs it and it is free]";

#[derive(Args, Debug)]
#[command(mut_arg("memory", |arg| arg.help(MEMORY)))]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[command(after_help = CLASSIFY, override_usage = "\
merganser classify [OPTIONS] <DATABASE> [READS]...
       merganser classify [OPTIONS] --references <GENOMES> --taxonomy <PATH>
         [READS]...
       merganser classify join [OPTIONS] <PARTIAL>...")]
pub(crate) struct ClassifyArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ClassifyCommand>,
    #[command(flatten)]
    pub(crate) query: QueryArgs,

    /// Samples and their reads, a line each; {} in the names of outputs stands for the sample
    #[arg(long, value_name = "FILE", conflicts_with_all = ["mates1", "singles", "interactive"])]
    pub(crate) sample_sheet: Option<PathBuf>,
    /// Skip the samples of the sheet that are done; FILE is the journal (appended): a sample is done if
    /// its outputs are as they were written, and its reads and the database have the same content
    #[arg(long, value_name = "FILE", requires = "sample_sheet", conflicts_with = "references")]
    pub(crate) resume: Option<PathBuf>,
    /// Classify but the I-th of N shards: of the reads, for classify join to put together with the
    /// others; of a sample sheet, some of its samples, whole
    #[arg(long, value_name = "I/N", conflicts_with = "interactive")]
    pub(crate) shard: Option<Shard>,
    /// Classify what the lines of stdin ask for, with the database opened once
    #[arg(long, conflicts_with_all = ["mates1", "singles"])]
    pub(crate) interactive: bool,

    /// Genomes to build a database of in memory, instead of DATABASE: FASTA files, folders, @LIST;
    /// may be given more than once
    #[arg(long, value_name = "GENOMES", help_heading = "On the fly")]
    pub(crate) references: Vec<PathBuf>,
    /// Folder with nodes.dmp and names.dmp, or a table of GTDB; may be given again for another table
    #[arg(long, value_name = "PATH", requires = "references", help_heading = "On the fly")]
    pub(crate) taxonomy: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) taxids: TaxidArgs,
    #[command(flatten)]
    pub(crate) sketches: SketchConfig,
    #[command(flatten)]
    pub(crate) resources: ResourceArgs,
}

/// What else there is to do.
#[derive(Debug, Subcommand)]
pub(crate) enum ClassifyCommand {
    /// Join what the shards of a job wrote (classify --shard)
    ///
    /// What comes out are the bytes of one run over all reads: lines, reports, abundances and distinct
    /// features. Shards of other reads, options or databases, or not all of them, are refused.
    Join(Box<ClassifyJoinArgs>),
}

/// A line of an interactive session.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true, name = "")]
pub(crate) struct SessionLine {
    #[command(flatten)]
    pub(crate) query: QueryArgs,
}

/// What to classify, how, and what to write.
#[derive(Args, Clone, Debug)]
#[command(mut_arg("reads", |arg| arg.help(READS)))]
#[command(group(ArgGroup::new("counted").args(["report", "partial", "report_html", "report_data"]).multiple(true)))]
pub(crate) struct QueryArgs {
    // First: what the others take of the command line is gone then.
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

/// The lines of reads and the reads themselves.
#[derive(Args, Clone, Debug)]
pub(crate) struct LineArgs {
    /// A line for each read; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-", help_heading = "Output")]
    pub(crate) output: PathBuf,
    /// No line for each read
    #[arg(long, help_heading = "Output", conflicts_with = "output")]
    pub(crate) no_map: bool,
    /// Write the reads that have a taxon here, as they are. # in the name becomes _1 and _2 for
    /// pairs (without it, mates follow each other) and nothing for single reads; .gz compresses
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) classified_out: Option<PathBuf>,
    /// The same for the reads that have none
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) unclassified_out: Option<PathBuf>,
    /// Write a table of the sequences that were hit: taxon, windows covered, reads, hits
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(crate) hits_per_ref: Option<PathBuf>,
    /// Write what `report merge` joins with the results of other reads, to the reports of one run over
    /// all
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(crate) partial: Option<PathBuf>,
    /// Show the largest taxa as bars of letters, on stderr (`report plot` writes pictures)
    #[arg(long, value_name = "-", value_parser = ["-"], help_heading = "Output")]
    pub(crate) plot: Option<String>,
    /// Write a summary of the run for other programs; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
}

/// What is made of the numbers of reads.
#[derive(Args, Clone, Debug)]
pub(crate) struct ReportArgs {
    /// Reads by taxon as Kraken's report; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(crate) report: Option<PathBuf>,
    /// Taxa of the database without reads, too, in --report and --mpa
    #[arg(long, help_heading = "Reports")]
    pub(crate) report_zero_counts: bool,
    /// Reads by taxon as MetaPhlAn's table
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(crate) mpa: Option<PathBuf>,
    /// Reads by taxon for Krona's ktImportText
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(crate) krona: Option<PathBuf>,
    /// Estimated abundances of all taxa at every rank: reads of higher taxa are pushed down
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(crate) abundance: Option<PathBuf>,
    /// The same as CAMI's profile
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(crate) cami: Option<PathBuf>,
    /// The sample's name in --cami [default: that of the sample sheet, or `sample`]
    #[arg(long, value_name = "NAME", help_heading = "Reports")]
    pub(crate) sample_id: Option<String>,
    /// The distribution of the database for reads of about this length (build --bracken, db bracken),
    /// for --bracken-output: reads of higher taxa go back to species, by Bracken's rule
    #[arg(long, value_name = "FILE", help_heading = "Reports", requires = "bracken_output")]
    pub(crate) bracken: Option<PathBuf>,
    /// Bracken's table of estimated reads
    #[arg(long, value_name = "FILE", help_heading = "Reports", requires = "bracken")]
    pub(crate) bracken_output: Option<PathBuf>,
    /// Bracken's report: --report with the estimated reads, from the level up
    #[arg(long, value_name = "FILE", help_heading = "Reports", requires = "bracken")]
    pub(crate) bracken_report: Option<PathBuf>,
    /// Rank code of the taxa that Bracken gives reads to
    #[arg(long, value_name = "CODE", default_value = "S", help_heading = "Reports")]
    pub(crate) bracken_level: Level,
    /// To Bracken, taxa of that level with fewer reads are not there
    #[arg(long, value_name = "READS", default_value_t = 10, help_heading = "Reports")]
    pub(crate) bracken_threshold: u64,
    /// In --abundance and --cami, a taxon with fewer reads is not there: they are its parent's
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Reports")]
    pub(crate) min_reads: u64,
}
