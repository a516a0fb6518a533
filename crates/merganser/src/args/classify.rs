//! `merganser classify`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use merganser_io::QualityOffset;
use merganser_run::Shard;
use merganser_taxonomy::Rank;
use merganser_taxreport::bracken::Level;

use super::build::{ResourceArgs, SketchArgs, TaxidArgs};
use super::joins::ClassifyJoinArgs;
use super::pages::PageArgs;
use super::values::rank;
use super::{PairArgs, ReadsArgs};

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
    pub(crate) sketches: SketchArgs,
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
#[derive(Args, Clone, Debug, PartialEq)]
#[command(group(ArgGroup::new("counted").args(["report", "partial", "report_html", "report_data"]).multiple(true)))]
pub(crate) struct QueryArgs {
    /// The database (.mgdb, or a folder that Kraken 2 made), unless --references are given; then reads: FASTA, FASTQ, SAM, BAM
    /// or CRAM, plain or compressed; @LIST of such files, or - for stdin
    #[arg(value_name = "READS")]
    pub(crate) reads: Vec<PathBuf>,
    /// First mates; as many files as -2 has. Pairs come before all other reads
    #[arg(short = '1', value_name = "FILE", requires = "mates2", id = "mates1")]
    pub(crate) mates1: Vec<PathBuf>,
    /// Second mates
    #[arg(short = '2', value_name = "FILE", requires = "mates1", id = "mates2")]
    pub(crate) mates2: Vec<PathBuf>,
    /// READS hold pairs: the mates one after the other
    #[arg(long)]
    pub(crate) interleaved: bool,
    #[command(flatten)]
    pub(crate) pairs: PairArgs,
    /// Single reads, beside -1 and -2 or interleaved READS; they come before READS
    #[arg(short = 'U', value_name = "FILE", id = "singles")]
    pub(crate) singles: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) inputs: ReadsArgs,

    #[command(flatten)]
    pub(crate) lines: LineArgs,
    #[command(flatten)]
    pub(crate) reports: ReportArgs,
    #[command(flatten)]
    pub(crate) pages: PageArgs,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    #[command(flatten)]
    pub(crate) decision: DecisionArgs,
}

/// The lines of reads and the reads themselves.
#[derive(Args, Clone, Debug, PartialEq)]
pub(crate) struct LineArgs {
    /// A line for each read; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-", help_heading = "Output")]
    pub(crate) output: PathBuf,
    /// No line for each read
    #[arg(long, help_heading = "Output", conflicts_with = "output")]
    pub(crate) no_map: bool,
    /// What a read's line looks like
    #[arg(long, value_name = "FORMAT", default_value = "kraken", help_heading = "Output")]
    pub(crate) format: FormatName,
    /// Only lines of reads that have a taxon
    #[arg(long, help_heading = "Output")]
    pub(crate) mapped_only: bool,
    /// Kraken's format: `NAME (taxid TAXID)` instead of the taxid
    #[arg(long, help_heading = "Output")]
    pub(crate) use_names: bool,
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
    /// Two more columns in --report: features of the reads, and distinct ones, in each taxon; for pages,
    /// the evidence that a taxon is there
    #[arg(long, requires = "counted", help_heading = "Reports")]
    pub(crate) report_minimizer_data: bool,
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

/// `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    /// Kraken 2's five columns
    Kraken,
    /// MetaCache's table
    Metacache,
}

/// What is made of the numbers of reads.
#[derive(Args, Clone, Debug, PartialEq)]
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

/// The columns of MetaCache's table.
#[derive(Args, Clone, Debug, PartialEq)]
pub(crate) struct TableArgs {
    /// Candidates with their hits
    #[arg(long, help_heading = "MetaCache's table (--format metacache)")]
    pub(crate) tophits: bool,
    /// All hits: SEQUENCE/WINDOW:HITS
    #[arg(long, help_heading = "MetaCache's table (--format metacache)")]
    pub(crate) allhits: bool,
    /// The bases that the hits of each candidate reach over: `[BEGIN,END]`
    #[arg(long, help_heading = "MetaCache's table (--format metacache)")]
    pub(crate) locations: bool,
    /// All ranks from the taxon's up to --highest, -- where a lineage has none
    #[arg(long, help_heading = "MetaCache's table (--format metacache)")]
    pub(crate) lineage: bool,
    /// Numbers of reads, from 1
    #[arg(long, help_heading = "MetaCache's table (--format metacache)")]
    pub(crate) queryids: bool,
    /// Taxids in brackets
    #[arg(long, help_heading = "MetaCache's table (--format metacache)")]
    pub(crate) taxids: bool,
    /// Taxids and no names
    #[arg(long, help_heading = "MetaCache's table (--format metacache)")]
    pub(crate) taxids_only: bool,
    /// No ranks before names
    #[arg(long, help_heading = "MetaCache's table (--format metacache)")]
    pub(crate) omit_ranks: bool,
    /// Rank, name and taxid in columns of their own
    #[arg(long, conflicts_with = "lineage")]
    #[arg(help_heading = "MetaCache's table (--format metacache)")]
    pub(crate) separate_cols: bool,
    /// Between columns; \t is a tab [default: \t|\t]
    #[arg(long, value_name = "TEXT", help_heading = "MetaCache's table (--format metacache)")]
    pub(crate) separator: Option<String>,
    /// Before lines that are no reads [default: "# "]
    #[arg(long, value_name = "TEXT", help_heading = "MetaCache's table (--format metacache)")]
    pub(crate) comment: Option<String>,
}

/// What of the reads takes part.
#[derive(Args, Clone, Debug, PartialEq)]
pub(crate) struct FilterArgs {
    /// Mates of fewer bases take no part; reads of which none is left are unclassified
    #[arg(long, alias = "min-readlen", value_name = "BASES", help_heading = "Reads")]
    pub(crate) min_read_len: Option<usize>,
    /// Mates of more bases take no part
    #[arg(long, alias = "max-readlen", value_name = "BASES", help_heading = "Reads")]
    pub(crate) max_read_len: Option<usize>,
    /// Bases of a lower quality count as N
    #[arg(long, alias = "minimum-base-quality", value_name = "Q", default_value_t = 0)]
    #[arg(help_heading = "Reads")]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=93))]
    pub(crate) min_qual: u8,
    /// Qualities of FASTQ are Phred+33, or Phred+64 as of old Illumina (1.3 to 1.7), which are written
    /// back as Phred+33
    #[arg(long, value_name = "33|64", default_value_t)]
    #[arg(hide_default_value = true, help_heading = "Reads")]
    pub(crate) quality_offset: QualityOffset,
}

/// How a taxon is chosen among candidates.
#[derive(Args, Clone, Debug, PartialEq)]
pub(crate) struct VerdictArgs {
    /// Lowest rank at which candidates are told apart [default: the preset's]
    #[arg(long, value_name = "RANK", value_parser = rank, help_heading = "Decision")]
    pub(crate) lowest: Option<Rank>,
    /// Highest rank of a verdict; above it, a read has none [default: domain]
    #[arg(long, value_name = "RANK", value_parser = rank, help_heading = "Decision")]
    pub(crate) highest: Option<Rank>,
    /// Candidates at most [default: the preset's]
    #[arg(long, alias = "maxcand", value_name = "N", help_heading = "Decision")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) max_cand: Option<u16>,
    /// Hits that the best candidate needs [default: the preset's]
    #[arg(long, value_name = "N", help_heading = "Decision")]
    pub(crate) hitmin: Option<u32>,
    /// Hits that it needs for each 1,000 bases of the read or pair, rounded down; the larger of both
    /// counts [default: 0]
    #[arg(long, value_name = "N", help_heading = "Decision")]
    pub(crate) hitmin_per_kb: Option<u32>,
    /// Hits that it needs more if there is another candidate [default: the preset's; 0 with --hitmin]
    #[arg(long, value_name = "N", help_heading = "Decision")]
    pub(crate) hitmin_contested: Option<u32>,
    /// Per cent of the best candidate's hits that another must exceed to count [default: the
    /// preset's]
    #[arg(long, value_name = "PERCENT", value_parser = per_mille, help_heading = "Decision")]
    pub(crate) hitdiff: Option<u32>,
}

/// How a taxon is chosen by a database of Kraken 2, as its options of these names say; confidence, by
/// one of ours, too.
#[derive(Args, Clone, Debug, PartialEq)]
pub(crate) struct KrakenArgs {
    /// Share of a read's k-mers (of its features, by databases of merganser) that must be in the clade
    /// of its taxon: the taxon is moved up until they are [default: 0]
    #[arg(long, value_name = "0..1", help_heading = "Decision")]
    pub(crate) confidence: Option<f64>,
    /// Hit groups (runs of k-mers of one minimizer that is in the database) without which a read is
    /// unclassified [default: 2]
    #[arg(long, value_name = "N", help_heading = "Kraken 2's databases")]
    pub(crate) minimum_hit_groups: Option<u64>,
    /// Look at reads until they have so many hit groups
    #[arg(long, help_heading = "Kraken 2's databases")]
    pub(crate) quick: bool,
}

/// How candidates are found, and a taxon among them.
#[derive(Args, Clone, Debug, PartialEq)]
pub(crate) struct DecisionArgs {
    #[command(flatten)]
    pub(crate) verdict: VerdictArgs,
    #[command(flatten)]
    pub(crate) kraken: KrakenArgs,
    /// Longest insert of a pair, in bases [default: the sum of the mates' lengths]
    #[arg(long, alias = "insertsize", value_name = "BASES", help_heading = "Decision")]
    pub(crate) insert: Option<u32>,
    /// Candidates with fewer hits than the best by less than N are told apart by what all sequences
    /// of their taxa have together; 0: by their best sequences alone [default: the preset's]
    #[arg(long, value_name = "N", help_heading = "Decision")]
    pub(crate) near: Option<u16>,
    /// Leave out the sequences with the lowest coverage, as long as all of these together have no
    /// more than so many per cent of the coverage of all; reads wait in temporary files
    #[arg(long, value_name = "PERCENT", value_parser = per_mille, help_heading = "Decision")]
    pub(crate) cov_percentile: Option<u32>,
}

fn per_mille(text: &str) -> Result<u32, String> {
    let percent: f64 = text.parse().map_err(|_| "give a number from 0 to 100")?;
    match (0.0..=100.0).contains(&percent) {
        true => Ok((percent * 10.0).round() as u32),
        false => Err("give a number from 0 to 100".into()),
    }
}
