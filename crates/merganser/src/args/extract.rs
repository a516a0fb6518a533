//! `merganser extract`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::ThreadArgs;
use super::reads::MixedReadsArgs;
use crate::holds::FormatChoice;
use merganser_io::OutputFormat;

/// What is taken out of larger files.
#[derive(Debug, Subcommand)]
pub(crate) enum ExtractCommand {
    /// Write the reads that were classified as some taxa
    ///
    /// By the lines that `merganser classify` or Kraken 2 wrote of the reads. As long as lines and
    /// reads are in the same order, both are read side by side; from the first read on that is not
    /// where its line is, names are held in memory.
    #[command(after_help = READS)]
    Reads(Box<ExtractReadsArgs>),
}

const READS_HELP: &str = "\
Files of reads: FASTA, FASTQ, SAM, BAM or CRAM, plain or compressed; @LIST of such files, or - for \
stdin";

const READS: &str = "\
Examples:
  merganser classify refs.mgdb -1 reads_1.fq.gz -2 reads_2.fq.gz \\
    -o sample.tsv --report sample.kreport
  Pairs of a genus, with all taxa below it that the report has:
    merganser extract reads --taxid 2 --include-children --lines sample.tsv \\
      --report sample.kreport -1 reads_1.fq.gz -2 reads_2.fq.gz \\
      -o genus#.fq.gz
  All but a species and what the database has below it, and no unclassified:
    merganser extract reads --taxid 562,0 --include-children --exclude \\
      --database refs.mgdb --lines reads.tsv reads.fq.gz -o rest.fq.gz
  From a pipe, as FASTA:
    merganser classify refs.mgdb reads.fq.gz -q | \\
      merganser extract reads --taxid 562 --lines - --format fasta \\
      reads.fq.gz -o ecoli.fa";

#[derive(Args, Debug)]
#[command(mut_arg("reads", |arg| arg.help(READS_HELP)))]
#[command(override_usage = "\
merganser extract reads [OPTIONS] --lines <FILE> --taxid <TAXID>
         [READS]...")]
pub(crate) struct ExtractReadsArgs {
    #[command(flatten)]
    pub(crate) reads: MixedReadsArgs,
    /// What was written of the reads, a line each: C or U, name, taxid; plain or compressed, - is stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) lines: PathBuf,
    /// The taxa whose reads are written; 0 is of unclassified reads
    #[arg(long, value_name = "TAXID", value_delimiter = ',', required = true)]
    pub(crate) taxid: Vec<u64>,
    /// Reads of all taxa below these, too
    #[arg(long)]
    pub(crate) include_children: bool,
    /// Reads of all taxa above these, too
    #[arg(long)]
    pub(crate) include_parents: bool,
    /// Write the reads of all other taxa instead
    #[arg(long)]
    pub(crate) exclude: bool,
    /// What is below and above: by the taxa of a Kraken-style report
    #[arg(long, value_name = "FILE", conflicts_with_all = ["taxonomy", "database"])]
    pub(crate) report: Option<PathBuf>,
    /// By a folder with nodes.dmp and names.dmp
    #[arg(long, value_name = "DIR", conflicts_with = "database")]
    pub(crate) taxonomy: Option<PathBuf>,
    /// By the taxa of a database (.mgdb, or a folder that Kraken 2 made)
    #[arg(long, value_name = "DATABASE")]
    pub(crate) database: Option<PathBuf>,

    /// Where reads go; - is stdout; compressed if the name ends in .gz. # becomes _1 and _2 for mates;
    /// without it, and without --output2, they take turns
    #[arg(short, long, value_name = "FILE", default_value = "-", help_heading = "Output")]
    pub(crate) output: PathBuf,
    /// Where second mates go
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output2: Option<PathBuf>,
    /// How reads are written: as they come, or all as FASTA [default: fasta if FILE's name ends in
    /// .fa or .fasta, else same]
    #[arg(long = "format", value_name = "FORMAT", help_heading = "Output")]
    pub(crate) given_format: Option<ExtractFormat>,

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Memory that the process may use, e.g. 500M or 8G [default: three quarters of the
    /// memory that is free to use]
    #[arg(long, value_name = "SIZE", value_parser = merganser_run::parse_size)]
    #[arg(help_heading = "Resources")]
    pub(crate) memory: Option<u64>,
}

/// `--format` of reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExtractFormat {
    Same,
    Fasta,
}

impl ExtractReadsArgs {
    /// How reads are written.
    pub(crate) fn format(&self) -> ExtractFormat {
        ExtractFormat::choose(self.given_format, Some(&self.output), ExtractFormat::Same)
    }
}

impl FormatChoice for ExtractFormat {
    fn format(self) -> Option<OutputFormat> {
        match self {
            ExtractFormat::Same => None,
            ExtractFormat::Fasta => Some(OutputFormat::Fasta),
        }
    }
}
