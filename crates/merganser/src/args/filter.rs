//! `merganser filter`.

use std::path::PathBuf;

use clap::Args;
use merganser_filter::{Config, Format};

use super::dry_run::DryRunArgs;
use super::pages::PageArgs;
use super::{DeviceArgs, ReadsArgs, ThreadArgs};

const MORE: &str = "\
Inputs:
  One file with a pair per line, READ<TAB>SEGMENT (further columns are ignored),
  or with two lines per pair, >READ and <SEGMENT, as the WFA tools use; the
  format is recognized by content. Or two files in FASTA or FASTQ (or SAM, BAM,
  CRAM), whose records are paired in order. Plain or compressed with gzip, BGZF,
  zstd, bzip2 or xz. `-` is stdin.

Output:
  tsv         a header, then index<TAB>accept<TAB>edits per pair; index counts
              from 0, accept is 1 or 0
  gatekeeper  FILE.filter with 1 or 0 per line, FILE.edits with the edits
  none        only the summary
  Edits are -1 for a rejected pair and -2 for an undefined one (--n-mode pass);
  otherwise the edit distance (exact method) or an estimate (other methods).

Methods:
  exact                the edit distance (banded bit vectors): every decision is
                       correct, and this is the fastest method
  gatekeeper           GateKeeper-GPU's rule, corrected so that it rejects no
                       pair within the threshold
  snake                SneakySnake's rule, which rejects no pair within the
                       threshold
  gatekeeper-original  the published GateKeeper-GPU; may reject pairs within the
                       threshold; up to 32 edits
  The last three are for study. They compare sequences of equal length; other
  pairs are decided by the exact method.

Alphabet:
  A, C, G and T in either case; U is T; N and the other IUPAC letters are N; any
  other character is an error.

Examples:
  Pairs with up to 5 edits:
    merganser filter -e 5 pairs.tsv -o decisions.tsv
  Edits up to 4 % of each read's length, summary only:
    merganser filter -e 4% --format none pairs.tsv.gz
  Reads that may start anywhere in their segments:
    merganser filter -e 5 --align semiglobal reads.fq.gz segments.fa \\
      -o decisions.tsv
  How often a heuristic errs:
    merganser filter -e 5 --method snake --verify --format none pairs.tsv
  The accepted pairs, for an aligner:
    merganser filter -q -e 5 pairs.tsv | tail -n +2 | paste - pairs.tsv | \\
      awk '$2' | cut -f 4,5";

#[derive(Args, Debug)]
#[command(after_help = MORE)]
pub(crate) struct FilterArgs {
    /// A file of pairs, or a file of reads and a file of their segments; - is stdin
    #[arg(required = true, num_args = 1..=2, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) reads: ReadsArgs,

    #[command(flatten)]
    pub(crate) config: Config,

    /// Output; - is stdout (tsv); compressed if the name ends in .gz [default: -]
    ///
    /// gatekeeper writes two files, FILE.filter and FILE.edits.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Format of the decisions
    ///
    /// tsv has lines of index, accept and edits; gatekeeper is GateKeeper-GPU's two files; none writes
    /// only the summary.
    #[arg(long, value_name = "FORMAT", default_value_t, help_heading = "Output")]
    pub(crate) format: Format,
    /// Write a summary of the run as JSON; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pages: PageArgs,

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Memory that the process may use, e.g. 500M or 8G [default: three quarters of the available
    /// memory]
    #[arg(long, value_name = "SIZE", value_parser = merganser_run::parse_size)]
    #[arg(help_heading = "Resources")]
    pub(crate) memory: Option<u64>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) dry: DryRunArgs,
}
