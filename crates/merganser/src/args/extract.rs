//! `merganser extract`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::ThreadArgs;
use super::pages::PageArgs;
use super::reads::MixedReadsArgs;
use super::taxon::TaxonArg;
use crate::holds::FormatChoice;
use merganser_alignments::ReadFormat;
use merganser_io::{CommentTags, OutputFormat};

/// Subcommands of `merganser extract`.
#[derive(Debug, Subcommand)]
pub(crate) enum ExtractCommand {
    /// Write the reads that were assigned to given taxa
    ///
    /// Uses the output of `merganser classify` or Kraken 2 with one line per read. As long as lines and
    /// reads have the same order, both are read side by side. From the first read on that is not where
    /// its line is, names are kept in memory.
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
  Pairs of bacteria, the taxon 2, and of all taxa below it in the report:
    merganser extract reads --taxid 2 --include-children --lines sample.tsv \\
      --report sample.kreport -1 reads_1.fq.gz -2 reads_2.fq.gz \\
      -o bacteria#.fq.gz
  A species by its name:
    merganser extract reads --taxid 'Escherichia coli' --lines sample.tsv \\
      --report sample.kreport -1 reads_1.fq.gz -2 reads_2.fq.gz -o ecoli#.fq.gz
  All reads except unclassified ones and those of a species and below:
    merganser extract reads --taxid 562,0 --include-children --exclude \\
      --database refs.mgdb --lines reads.tsv reads.fq.gz -o rest.fq.gz
  Alignments, or unaligned BAM of a sequencer, with all tags:
    merganser extract reads --taxid 562 --lines sample.tsv sample.bam \\
      -o ecoli.bam
  Lines from a pipe, reads as FASTA:
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
    /// Classified reads, one per line: C or U, name, taxid; plain or compressed; - is stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) lines: PathBuf,
    /// Taxa whose reads are written, separated by commas: taxids, or names; 0 means unclassified reads
    ///
    /// Names are those in --report, --taxonomy or --database. Give the taxid of a taxon that has a comma in its name.
    #[arg(long, value_name = "TAXID", value_delimiter = ',', required = true)]
    pub(crate) taxid: Vec<TaxonArg>,
    /// Include the reads of all taxa below the given ones
    #[arg(long)]
    pub(crate) include_children: bool,
    /// Include the reads of all taxa above the given ones
    #[arg(long)]
    pub(crate) include_parents: bool,
    /// Write the reads of all other taxa instead
    #[arg(long)]
    pub(crate) exclude: bool,
    /// Kraken-style report that tells which taxa are above and below
    #[arg(long, value_name = "FILE", conflicts_with_all = ["taxonomy", "database"])]
    pub(crate) report: Option<PathBuf>,
    /// NCBI's taxdump folder (nodes.dmp, names.dmp) that tells which taxa are above and below
    #[arg(long, value_name = "DIR", conflicts_with = "database")]
    pub(crate) taxonomy: Option<PathBuf>,
    /// Database that tells which taxa are above and below (.mgdb, or a folder of Kraken 2)
    #[arg(long, value_name = "DATABASE")]
    pub(crate) database: Option<PathBuf>,

    /// Output; - is stdout; compressed if the name ends in .gz
    ///
    /// For pairs, # in the name becomes _1 and _2. Without it and without --output2, mates are interleaved.
    /// If the name ends in .bam, .cram or .sam, the alignments of the reads are written as they are in the
    /// input, with all tags, and those of a read and its mate stay together. Reads of FASTQ become unmapped,
    /// and tags in their headers (BC:Z:ACGT) are kept. CRAM is written without a reference.
    #[arg(short, long, value_name = "FILE", default_value = "-", help_heading = "Output")]
    pub(crate) output: PathBuf,
    /// Output for second mates
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output2: Option<PathBuf>,
    /// Format of the reads: as in the input, FASTA, or alignments [default: fasta, sam, bam or cram if
    /// FILE's name ends so, else same]
    #[arg(long = "format", value_name = "FORMAT", help_heading = "Output")]
    pub(crate) given_format: Option<ExtractFormat>,
    /// Tags of alignments that are written into the headers of FASTQ, as samtools fastq -T does: BC,RX
    /// or * for all
    ///
    /// Each follows a tab after the name: BC:Z:ACGT. Alignments keep all their tags.
    #[arg(long, value_name = "TAGS", help_heading = "Output")]
    pub(crate) tags: Option<CommentTags>,
    #[command(flatten)]
    pub(crate) pages: PageArgs,

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Memory that the process may use, e.g. 500M or 8G [default: three quarters of the available
    /// memory]
    #[arg(long, value_name = "SIZE", value_parser = merganser_run::parse_size)]
    #[arg(help_heading = "Resources")]
    pub(crate) memory: Option<u64>,
}

/// The values of `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExtractFormat {
    Same,
    Fasta,
    Sam,
    Bam,
    Cram,
}

impl ExtractReadsArgs {
    /// Returns the format in which reads are written.
    pub(crate) fn format(&self) -> ExtractFormat {
        ExtractFormat::choose(self.given_format, Some(&self.output), ExtractFormat::Same)
    }
}

impl FormatChoice for ExtractFormat {
    fn format(self) -> Option<OutputFormat> {
        match self {
            ExtractFormat::Same => None,
            ExtractFormat::Fasta => Some(OutputFormat::Fasta),
            ExtractFormat::Sam => Some(OutputFormat::Sam),
            ExtractFormat::Bam => Some(OutputFormat::Bam),
            ExtractFormat::Cram => Some(OutputFormat::Cram),
        }
    }
}

impl From<ExtractFormat> for ReadFormat {
    fn from(format: ExtractFormat) -> ReadFormat {
        match format {
            ExtractFormat::Same | ExtractFormat::Fasta => ReadFormat::Fastq,
            ExtractFormat::Sam => ReadFormat::Sam,
            ExtractFormat::Bam => ReadFormat::Bam,
            ExtractFormat::Cram => ReadFormat::Cram,
        }
    }
}
