//! `merganser eval`.

use std::path::PathBuf;

use clap::Args;

const EVAL: &str = "\
Output:
  One line a rank, the lowest first: reads of the truth; how many of them have a
  taxon of this rank in their true lineage; how many were given a taxon of this
  rank or one below it; how many of those were right; precision (right of given)
  and sensitivity (right of all reads); how far the taxa's shares of given reads
  are from the true ones, summed up, and the share of taxa that no read has. The
  last four are in per cent.

Examples:
  merganser eval --taxonomy taxonomy/ truth.tsv reads.tsv
  merganser eval --taxonomy taxonomy/ truth.tsv kraken2.out --json
  MetaCache's table with names of sequences, whose taxa a database knows:
    merganser eval --database refs.mgdb truth.tsv metacache.txt";

#[derive(Args, Debug)]
#[command(after_help = EVAL)]
pub(crate) struct EvalArgs {
    /// The truth: READ<TAB>TAXID lines, plain or compressed
    pub(crate) truth: PathBuf,
    /// What is judged: Kraken's columns, as `merganser classify` and Kraken 2 write them, or
    /// MetaCache's table; plain or compressed
    pub(crate) results: PathBuf,
    /// Folder with nodes.dmp and names.dmp, or tables of GTDB, for the lineages of all taxids
    #[arg(long, value_name = "PATH", required_unless_present_any = ["database", "old_taxonomy"])]
    pub(crate) taxonomy: Vec<PathBuf>,
    // What --taxonomy was called once; the command runs on one thread.
    #[arg(short = 't', value_name = "DIR", hide = true)]
    pub(crate) old_taxonomy: Option<PathBuf>,
    /// A database (.mgdb), for the taxa of its sequences; without --taxonomy, for the lineages too
    #[arg(long, value_name = "FILE")]
    pub(crate) database: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
