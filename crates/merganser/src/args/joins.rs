//! `merganser classify join` and `merganser map join`.

use std::path::PathBuf;

use clap::Args;
use merganser_map::IndexKind;

use super::classify::ReportArgs;
use super::map::{LimitArgs, index_format};

const CLASSIFY_JOIN: &str = "\
Examples:
  Two machines classify half of the reads each; the result equals that of one:
    merganser classify refs.mgdb --shard 1/2 -1 r_1.fq.gz -2 r_2.fq.gz \\
      -o 1.tsv --partial 1.partial
    merganser classify refs.mgdb --shard 2/2 -1 r_1.fq.gz -2 r_2.fq.gz \\
      -o 2.tsv --partial 2.partial
    merganser classify join 1.partial 2.partial --lines 1.tsv 2.tsv \\
      -o all.tsv --report all.kreport";

/// `merganser classify join`.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true, after_help = CLASSIFY_JOIN)]
pub(crate) struct ClassifyJoinArgs {
    /// Files of classify --partial: all shards of a job, in any order
    #[arg(required = true, value_name = "PARTIAL")]
    pub(crate) partials: Vec<PathBuf>,
    /// Lines of the shards (the files of their -o), in the order of the PARTIALs
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Output")]
    pub(crate) lines: Vec<PathBuf>,
    /// Output with the lines of all reads; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Write the reads that each database supports, by taxon, if the shards were classified with
    /// --database-report
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(crate) database_report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reports: ReportArgs,
}

const MAP_JOIN: &str = "\
Examples:
  Two machines map half of the reads each; the result equals that of one:
    merganser map ref.mgi -1 r_1.fq.gz -2 r_2.fq.gz -e 10% \\
      --rescue 20% --best --clip --max-insert 1000 --sort \\
      --shard 1/2 -o 1.bam
    merganser map ref.mgi -1 r_1.fq.gz -2 r_2.fq.gz -e 10% \\
      --rescue 20% --best --clip --max-insert 1000 --sort \\
      --shard 2/2 -o 2.bam
    merganser map join 1.bam 2.bam -o all.bam";

/// `merganser map join`.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true, after_help = MAP_JOIN)]
pub(crate) struct MapJoinArgs {
    /// Files of map --shard: all shards of a job, in any order
    #[arg(required = true, value_name = "SHARD")]
    pub(crate) shards: Vec<PathBuf>,
    /// BAM file to write; if the shards are sorted, with an index next to it
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: PathBuf,
    /// Kind of the index [default: bai, or csi if a contig is too long for it]
    #[arg(long, value_name = "KIND", help_heading = "Output")]
    #[arg(value_parser = index_format())]
    pub(crate) index_format: Option<IndexKind>,
    /// Directory for temporary files, created if missing [default: $TMPDIR or /tmp]
    #[arg(long, value_name = "DIR", help_heading = "Resources")]
    pub(crate) tmp_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}
