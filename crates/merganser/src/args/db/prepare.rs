//! `merganser db prepare`.

use std::path::PathBuf;

use clap::Args;
use merganser_library::LibraryConfig;

use crate::args::ThreadArgs;

pub(super) const PREPARE: &str = "\
Folders:
  As rsync, `datasets`, ncbi-genome-download or GTDB's archives leave them: any
  layout. Genomes are .fna, .fa, .fasta and .fas files, plain or compressed, but
  for those of genes (cds_from_genomic, rna_from_genomic). The accession is in
  the name of the file (GCF_000005845.2_ASM584v2_genomic.fna.gz), or of its
  folder. Of several versions the newest is taken.

Lists:
  assembly_summary*.txt and assembly_data_report.jsonl tell taxids and levels,
  md5checksums.txt, MD5SUMS and md5sum.txt checksums: those in the folders are
  found by their names.

Examples:
  Genomes of NCBI and their assembly_summary.txt, then a database of them:
    merganser db prepare refseq/ -o library.tsv
    merganser build --taxonomy taxonomy/ -o refseq.mgdb library.tsv
  Only complete genomes; what the list has and the folder lacks, in a table:
    merganser db prepare refseq/ --level complete --missing missing.tsv \\
      -o complete.tsv
  Genomes of GTDB, whose taxa are the lineages of its tables:
    merganser db prepare genomes_reps/ --taxonomy bac120_taxonomy.tsv.gz \\
      --taxonomy ar53_taxonomy.tsv.gz -o gtdb.tsv
    merganser build --taxonomy bac120_taxonomy.tsv.gz \\
      --taxonomy ar53_taxonomy.tsv.gz -o gtdb.mgdb gtdb.tsv";

#[derive(Args, Debug)]
pub(crate) struct DbPrepareArgs {
    /// Folders of downloads, searched with all folders below
    #[arg(required = true, value_name = "FOLDER")]
    pub(crate) folders: Vec<PathBuf>,
    /// The manifest to write; one that is there is brought up to date. FILE.part beside it is the
    /// journal of a run that has not ended
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Write the genomes of the lists that are not in the folders here: ACCESSION<TAB>TAXON<TAB>URL
    /// lines; - is stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) missing: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) config: LibraryConfig,
    /// Table of GTDB (bac120_taxonomy.tsv.gz), whose lineages are then the taxa; may be given again.
    /// Or the folder with nodes.dmp and names.dmp, in which taxids are then looked up
    #[arg(long, value_name = "PATH", help_heading = "Lists")]
    pub(crate) taxonomy: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Write a summary of the run for other programs; - is stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}
