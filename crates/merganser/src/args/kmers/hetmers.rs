//! `merganser kmers hetmers`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::TableArgs;

pub(super) const HETMERS: &str = "\
Where two haplotypes differ in one base, their k-mers differ in that base. Pairs
of k-mers that differ only in their middle base are counted by how often both
occur: in a triploid, most pairs have one k-mer twice as often as the other
(AAB). k must be odd, and the table must have all k-mers (--min-count 1). K-mers
of errors, below the valley of the histogram, are skipped.

Columns: smaller count, larger count, number of pairs. The inferred ploidy is
printed on stderr at the end, and written by --json.

Examples:
  merganser kmers hetmers sample.mgk -o pairs.tsv --plot pairs.svg
  merganser kmers hetmers --json ploidy.json sample.mgk > pairs.tsv
  merganser kmers histogram --model --ploidy auto sample.mgk";

#[derive(Args, Debug)]
pub(crate) struct HetmersArgs {
    /// Table, with optional bounds of its counts
    #[arg(value_name = "TABLE[:MIN..MAX]")]
    pub(crate) operand: OsString,
    /// Output for the pairs; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Plot the pairs: PNG if FILE's name ends in .png, else SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Write the inferred ploidy and its evidence as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
}
