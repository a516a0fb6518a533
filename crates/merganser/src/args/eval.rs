//! `merganser eval`.

use std::path::PathBuf;

use clap::Args;

const EVAL: &str = "\
Output:
  One line per rank, the lowest first: reads in the truth; reads whose true
  lineage has a taxon of this rank; reads that were assigned to this rank or
  below; reads of these that are right; precision (right of assigned) and
  sensitivity (right of all reads); the summed difference between the assigned
  and the true shares of taxa; and the share of taxa that no read was assigned
  to. The last four are percentages.

Examples:
  merganser eval --taxonomy taxonomy/ truth.tsv reads.tsv
  merganser eval --taxonomy taxonomy/ truth.tsv kraken2.out --json
  A MetaCache table with names of sequences, whose taxa are in a database:
    merganser eval --database refs.mgdb truth.tsv metacache.txt";

#[derive(Args, Debug)]
#[command(after_help = EVAL)]
pub(crate) struct EvalArgs {
    /// True taxa as READ<TAB>TAXID lines, plain or compressed
    pub(crate) truth: PathBuf,
    /// Classified reads: output of `merganser classify` or Kraken 2, or MetaCache's table; plain or
    /// compressed
    pub(crate) results: PathBuf,
    /// NCBI's taxdump folder (nodes.dmp, names.dmp), or tables of GTDB, for the lineages of all taxids
    #[arg(long, value_name = "PATH", required_unless_present_any = ["database", "old_taxonomy"])]
    pub(crate) taxonomy: Vec<PathBuf>,
    // The former name of --taxonomy. The command runs on one thread, so -t is free.
    #[arg(short = 't', value_name = "DIR", hide = true)]
    pub(crate) old_taxonomy: Option<PathBuf>,
    /// Database (.mgdb), for the taxa of its sequences; without --taxonomy, also for the lineages
    #[arg(long, value_name = "FILE")]
    pub(crate) database: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
