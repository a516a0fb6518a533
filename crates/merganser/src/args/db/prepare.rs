//! `merganser db prepare`.

use std::path::PathBuf;

use clap::Args;
use merganser_library::LibraryConfig;

use crate::args::ThreadArgs;

pub(super) const PREPARE: &str = "\
Folders:
  Downloads by rsync, `datasets` or ncbi-genome-download, or GTDB's archives,
  unpacked, in any layout. Genomes are .fna, .fa, .fasta and .fas files, plain
  or compressed, except files of genes (cds_from_genomic, rna_from_genomic). The
  accession is in the file's name (GCF_000005845.2_ASM584v2_genomic.fna.gz), or
  in that of its folder. If there are several versions, the newest is used.

Lists:
  assembly_summary*.txt and assembly_data_report.jsonl give taxids and assembly
  levels; md5checksums.txt, MD5SUMS and md5sum.txt give checksums. Such files in
  the folders are found by their names.

Examples:
  NCBI's genomes with their assembly_summary.txt, then a database of them:
    merganser db prepare refseq/ -o library.tsv
    merganser build --taxonomy taxonomy/ -o refseq.mgdb library.tsv
  Only complete genomes, and a table of those that are not downloaded yet:
    merganser db prepare refseq/ --level complete --missing missing.tsv \\
      -o complete.tsv
  GTDB's genomes, with the lineages of GTDB's tables as taxa:
    merganser db prepare genomes_reps/ --taxonomy bac120_taxonomy.tsv.gz \\
      --taxonomy ar53_taxonomy.tsv.gz -o gtdb.tsv
    merganser build --taxonomy bac120_taxonomy.tsv.gz \\
      --taxonomy ar53_taxonomy.tsv.gz -o gtdb.mgdb gtdb.tsv";

#[derive(Args, Debug)]
pub(crate) struct DbPrepareArgs {
    /// Folders of downloads, searched with all subfolders
    #[arg(required = true, value_name = "FOLDER")]
    pub(crate) folders: Vec<PathBuf>,
    /// Manifest to write, or to update if it exists
    ///
    /// FILE.part next to it is the journal of a run that has not finished.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Write listed genomes that are not in the folders to FILE; - is stdout
    ///
    /// Lines are ACCESSION<TAB>TAXON<TAB>URL.
    #[arg(long, value_name = "FILE")]
    pub(crate) missing: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) config: LibraryConfig,
    /// Table of GTDB (bac120_taxonomy.tsv.gz), or NCBI's taxdump folder (nodes.dmp, names.dmp)
    ///
    /// The lineages of GTDB's tables become the taxa; give the option once for each table. In NCBI's
    /// taxdump, the taxids of the lists are looked up.
    #[arg(long, value_name = "PATH", help_heading = "Lists")]
    pub(crate) taxonomy: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Write a summary of the run as JSON; - is stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}
