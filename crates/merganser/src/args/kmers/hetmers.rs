//! `merganser kmers hetmers`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::TableArgs;

pub(super) const HETMERS: &str = "\
Two haplotypes that differ in a base have k-mers that differ in it. Pairs of
k-mers that differ in their middle base alone are counted by how often both
occur: in a triploid, most have one k-mer twice as often as the other (AAB). k
must be odd, and the table have all k-mers (--min-count 1); those of errors,
below the valley of its histogram, are passed over.

Columns: the smaller count, the larger one, pairs. What they tell is printed as
the last line of the run, and written by --json.

Examples:
  merganser kmers hetmers sample.mgk -o pairs.tsv --plot pairs.svg
  merganser kmers hetmers --json ploidy.json sample.mgk > pairs.tsv
  merganser kmers histogram --model --ploidy auto sample.mgk";

#[derive(Args, Debug)]
pub(crate) struct HetmersArgs {
    /// A table, perhaps with bounds of its counts
    #[arg(value_name = "TABLE[:MIN..MAX]")]
    pub(crate) operand: OsString,
    /// Where to write pairs; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Write a picture of them: PNG if the name ends in .png, else SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Write what they tell for other programs
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
}
