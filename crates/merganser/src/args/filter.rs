//! `merganser filter`.

use std::path::PathBuf;

use clap::Args;
use merganser_filter::{Config, Format};

use super::pages::PageArgs;
use super::{DeviceArgs, ReadsArgs, ThreadArgs};

const MORE: &str = "\
Inputs:
  One file: a pair a line, READ<TAB>SEGMENT (columns after the second are
  ignored), or the WFA tools' two lines a pair, >READ and <SEGMENT; told apart
  by content. Two files: FASTA or FASTQ (or SAM, BAM, CRAM), the first record
  of one with the first of the other, and so on. Plain or compressed with gzip,
  BGZF, zstd, bzip2 or xz. `-` is standard input.

Output:
  tsv         a header, then index<TAB>accept<TAB>edits; index counts from 0,
              accept is 1 or 0
  gatekeeper  FILE.filter with 1 or 0 a line, FILE.edits with the edits a line
  none        nothing but the summary
  Edits are -1 if the pair is rejected, -2 if they are undefined (--n-mode
  pass), with the exact method the edit distance, with others an estimate.

Methods:
  exact                the edit distance (bit vectors in a band): every decision
                       is the truth, and this is the fastest method
  gatekeeper           GateKeeper-GPU's rule, made safe: rejects no pair within
                       the threshold
  snake                SneakySnake's rule: rejects no pair within the threshold
  gatekeeper-original  what the published GateKeeper-GPU computes; can reject
                       pairs within the threshold, up to 32 edits
  The last three are there for study. They compare sequences of equal length;
  other pairs are decided by the exact method.

Alphabet:
  A C G T in either case; U is T; N and the other IUPAC letters are N; any other
  is an error.

Examples:
  Pairs with up to 5 edits:
    merganser filter -e 5 pairs.tsv -o decisions.tsv
  Up to 4 % of each read's length, only the numbers:
    merganser filter -e 4% --format none pairs.tsv.gz
  Reads that may lie anywhere in their segments:
    merganser filter -e 5 --align semiglobal reads.fq.gz segments.fa \\
      -o decisions.tsv
  How often a heuristic errs:
    merganser filter -e 5 --method snake --verify --format none pairs.tsv
  The accepted pairs, to be aligned elsewhere:
    merganser filter -q -e 5 pairs.tsv | tail -n +2 | paste - pairs.tsv | \\
      awk '$2' | cut -f 4,5";

#[derive(Args, Debug)]
#[command(after_help = MORE)]
pub(crate) struct FilterArgs {
    /// A file of pairs, or a file of reads and one of their segments; - is stdin
    #[arg(required = true, num_args = 1..=2, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) reads: ReadsArgs,

    #[command(flatten)]
    pub(crate) config: Config,

    /// Where to write; - is stdout (tsv); compressed if the name ends in .gz; gatekeeper writes
    /// FILE.filter and FILE.edits [default: -]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Format of the decisions: lines with index, accept and edits; GateKeeper-GPU's two files; or
    /// nothing
    #[arg(long, value_name = "FORMAT", default_value_t, help_heading = "Output")]
    pub(crate) format: Format,
    /// Write a summary of the run for other programs; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pages: PageArgs,

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Memory that the process may use, e.g. 500M or 8G [default: three quarters of the
    /// memory that is free to use]
    #[arg(long, value_name = "SIZE", value_parser = merganser_run::parse_size)]
    #[arg(help_heading = "Resources")]
    pub(crate) memory: Option<u64>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
}
