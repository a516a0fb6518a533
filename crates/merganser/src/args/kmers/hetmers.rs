//! `merganser kmers hetmers`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::TableArgs;

pub(super) const HETMERS: &str = "\
Where two haplotypes differ in one base, their k-mers differ in that base. Pairs
of k-mers that differ in one base are counted by how often both occur: in a
triploid, most pairs have one k-mer twice as often as the other (AAB). With
--positions any, pairs are those of Smudgeplot 0.5, which differ in any base.

k must be odd for middle bases, and the table must have all k-mers (--min-count
1). K-mers of errors, below the valley of the histogram, are skipped.

Columns: smaller count, larger count, number of pairs. FILE.smu is for
`smudgeplot all`: no header, and each pair counts on both strands. The inferred
ploidy is printed on stderr at the end, and written by --json.

Examples:
  merganser kmers hetmers sample.mgk -o pairs.tsv --plot pairs.svg
  merganser kmers hetmers --positions any sample.mgk -o pairs.smu
  merganser kmers hetmers --json ploidy.json sample.mgk > pairs.tsv
  merganser kmers histogram --model --ploidy auto sample.mgk";

/// The bases in which the k-mers of a pair may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Positions {
    /// The middle base; no third k-mer differs in it
    Middle,
    /// Any one base, on either strand, as in Smudgeplot 0.5; neither k-mer differs in one base from a third one
    Any,
}

#[derive(Args, Debug)]
pub(crate) struct HetmersArgs {
    /// Table, with optional bounds of its counts
    #[arg(value_name = "TABLE[:MIN..MAX]")]
    pub(crate) operand: OsString,
    /// Bases in which pairs differ
    ///
    /// With any, counts below the valley of the histogram are skipped if TABLE has no lower bound.
    #[arg(long, value_name = "BASES", default_value = "middle")]
    pub(crate) positions: Positions,
    /// Output for the pairs; - is stdout; compressed if the name ends in .gz
    ///
    /// If the name ends in .smu, it is in Smudgeplot's format.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Write the k-mers of each pair; requires --positions any
    ///
    /// Columns: smaller count, larger count, rarer k-mer, other k-mer on the same strand.
    #[arg(long, value_name = "FILE")]
    pub(crate) sequences: Option<PathBuf>,
    /// Plot the pairs: PNG or PDF by FILE's suffix, else SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Write the inferred ploidy and its evidence as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
}
