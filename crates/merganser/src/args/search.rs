//! `merganser search`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use merganser_search::{Config, Format, Lengths, Score};

use super::barcodes::{BarcodeArgs, OTHERS};
use super::map::LimitArgs;
use super::pages::PageArgs;
use super::{DeviceArgs, ReadsArgs};

const MORE: &str = "\
Patterns:
  DNA in IUPAC letters, up to 128 of them: a letter matches each of its bases (N
  all, R A and G). -p gives one on the command line. A file is FASTA, or has one
  in each line: NAME<TAB>LETTERS, or LETTERS alone, which are the name, too;
  lines that begin with # are comments. Names must differ.

Hits:
  A hit is the end of an alignment of the whole pattern, on either strand, with
  at most -e edits, if no better hit ends or begins within -e letters of where
  it does; with --hamming, each position is a hit. All hits are found. N in a
  text matches no letter, except with --match-n. Hits are in the order of the
  texts, then of start, end, pattern and strand: docs/guide/search.md.

Output:
  tsv  sequence, start (from 0), end (exclusive), pattern, edits, strand, cigar,
       and the letters of the text; with --score, the score; after a header
  bed  sequence, start, end, pattern, edits, strand
  fasta
       the letters of the hits, in the direction of the pattern
  sam, bam
       the patterns as reads, sorted by position; the texts must be files, as
       they are read twice
  CIGAR and letters are in the direction of the text.
  Amplicons (--primers) as TSV, BED or FASTA, from the forward primer on.

Barcodes and adapters:
  --demultiplex divides reads among samples. A barcode is searched, from 5' to
  3', in the first letters of a read and of its reverse complement (--window).
  With two barcodes of a sample, one must be at each end. A read belongs to the
  sample with the fewest edits, if each barcode has at most -e and every other
  sample --margin more; otherwise it is written to the file of unassigned. With
  --trim alone, all reads are written to -o without the adapters (-p or
  --patterns) at their ends and the letters outside them, except reads without
  any letters left. Adapters are written as at the start of a read (5'): give
  one that reads end with (3') as its reverse complement, for Illumina's
  AGATCGGAAGAGC as GCTCTTCCGATCT.
  Reads are written as FASTQ, or FASTA if they have no qualities.

Examples:
  A primer in a genome, with up to 2 edits:
    merganser search -p GTGYCAGCMGCCGCGGTAA -e 2 genome.fa -o hits.tsv
  Amplicons of primer pairs in genomes:
    merganser search --primers primers.tsv -e 2 genome.fa -o amplicons.fa
  Guides of SpCas9 with up to 4 mismatches, and how often each one occurs:
    merganser search --guides guides.txt --pam NGG -e 4 --hamming genome.fa \\
      -o sites.bed --counts offtargets.tsv
  Also by PAM, with a weaker PAM, in the index of a genome, and as a page:
    merganser search --guides guides.txt --pam NGG,NAG -e 4 --hamming ref.mgi \\
      -o sites.tsv --off-targets offtargets.tsv --report-html offtargets.html
  Adapters in reads, with up to a tenth of their length as edits:
    merganser search --patterns adapters.fa -e 10% reads.fq.gz -o hits.tsv.gz
  Reads of each sample, without their barcodes, and the number of these reads:
    merganser search --demultiplex barcodes.tsv -e 15% --trim reads.fq.gz \\
      -o {}.fq.gz --counts counts.tsv
  Reads without the adapters that begin them, or end them (as their reverse
  complements):
    merganser search --trim --patterns adapters.fa -e 10% reads.fq.gz \\
      -o trimmed.fq.gz
  As BAM, for a genome browser:
    merganser search --patterns primers.fa -e 2 genome.fa -o primers.bam
  Only the number of hits of each primer:
    merganser search -q --patterns primers.fa -e 3 genome.fa --counts - \\
      -o /dev/null";

#[derive(Args, Debug)]
#[command(after_help = MORE)]
#[command(group = ArgGroup::new("by_ends").args(["demultiplex", "trim"]).multiple(true).conflicts_with_all(OTHERS))]
pub(crate) struct SearchArgs {
    /// Genomes or reads in FASTA, FASTQ, SAM, BAM or CRAM, plain or compressed; indexes (.mgi); @LIST of such files, or -
    /// for stdin
    #[arg(required = true, value_name = "TEXTS")]
    pub(crate) texts: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) reads: ReadsArgs,

    /// Pattern in IUPAC letters, which are its name, too; may be given several times
    #[arg(short, long, value_name = "LETTERS", help_heading = "Patterns")]
    #[arg(required_unless_present_any = ["patterns", "primers", "demultiplex"])]
    pub(crate) pattern: Vec<String>,
    /// File of patterns: FASTA, or lines of NAME<TAB>LETTERS or LETTERS; plain or compressed; - is stdin
    #[arg(long, visible_alias = "guides", value_name = "FILE", help_heading = "Patterns")]
    pub(crate) patterns: Vec<PathBuf>,
    /// File of primer pairs, lines of NAME<TAB>FORWARD<TAB>REVERSE, both from 5' to 3': writes the amplicons between
    /// primers that face each other
    #[arg(long, value_name = "FILE", help_heading = "Primers")]
    #[arg(conflicts_with_all = ["pattern", "patterns", "all_ends", "pam", "strand"])]
    pub(crate) primers: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) lengths: Lengths,
    #[command(flatten)]
    pub(crate) barcodes: BarcodeArgs,

    #[command(flatten)]
    pub(crate) config: Config,

    /// Output: reads with --demultiplex or --trim; otherwise hits: BED, FASTA, SAM or BAM if the name ends in .bed, .fa, .sam or .bam, else TSV; - is stdout; compressed if the name
    /// ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-", help_heading = "Output")]
    #[arg(display_order = 0)]
    pub(crate) output: PathBuf,
    /// Format of the hits [default: that of the name of -o]
    #[arg(long = "format", value_name = "FORMAT", help_heading = "Output")]
    pub(crate) given_format: Option<Format>,
    /// Write the number of hits of each pattern by edits; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) counts: Option<PathBuf>,
    /// Write a summary of the run as JSON; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
    /// Print on stderr how the patterns are searched on the CPU, and why: by seeds or bit-sliced, with the estimated time
    #[arg(long, help_heading = "Output")]
    pub(crate) explain: bool,
    /// Write the number of hits of each guide by PAM, as the text has it, and edits; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Guides")]
    #[arg(requires = "pam", conflicts_with = "primers")]
    pub(crate) off_targets: Option<PathBuf>,
    /// Add a column with a score of each hit: cfd, the cutting frequency of SpCas9 (Doench 2016) for guides of 20 letters
    #[arg(long, value_name = "SCORE", help_heading = "Guides")]
    #[arg(requires_all = ["pam", "hamming"], conflicts_with = "primers")]
    pub(crate) score: Option<Score>,
    #[command(flatten)]
    pub(crate) pages: PageArgs,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}
