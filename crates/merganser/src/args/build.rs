//! `merganser build`, and how databases are built wherever that is done.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use merganser_classify::{PartConfig, SketchConfig, TaxidConfig};
use merganser_kraken2::Kraken2BuildConfig;
use merganser_run::Resources;

use super::DeviceArgs;
use super::given::Given;
use super::threads::ThreadsOrTaxonomyArgs;
use crate::common;

const BUILD: &str = "\
References:
  FASTA files, plain or compressed; folders, searched with all folders below,
  but for files of genes (cds_from_genomic.fna, rna.fna, .ffn) and reads (.fq);
  manifests of `merganser db prepare`; @list.txt, a file that names one a line.
  Sequences are numbered in this order.

Taxids:
  The taxon of a sequence is looked for in the --map files, in manifests, in
  seqid2taxid.map beside the genomes or in the folder that was given, in its
  header (taxid|N, kraken:taxid|N), in assembly_summary*.txt beside the genomes,
  and in *.accession2taxid* in the taxonomy's folder. With GTDB's tables, after
  --map and manifests, it is the sequence's id, then the accession
  (GCF_000005845.2) in its file's name. Sequences without a taxon are left out
  of the database; it is an error if none has one.

Examples:
  A folder of genomes with their map, and NCBI's taxdump, unpacked in taxonomy/:
    merganser build --taxonomy taxonomy/ -o refs.mgdb genomes/
  Downloads of NCBI, which are checked before and told their taxa:
    merganser db prepare refseq/ -o library.tsv
    merganser build --taxonomy taxonomy/ -o refs.mgdb library.tsv
  Own genomes, with a table of ID<TAB>TAXID lines; stop if one has no taxon:
    merganser build --taxonomy taxonomy/ --map ids.tsv --strict -o refs.mgdb \\
      genomes/ mine.fa.gz
  Genomes of GTDB, whose accessions are in the names of files, and its taxonomy:
    merganser build --taxonomy bac120_taxonomy.tsv.gz \\
      --taxonomy ar53_taxonomy.tsv.gz -o gtdb.mgdb genomes_reps/
  A database that Kraken 2 reads, too:
    merganser build --format kraken2 --taxonomy taxonomy/ -o kraken_new/ \\
      genomes/
  With what `classify --bracken` needs for reads of 100 and of 150 bases:
    merganser build --taxonomy taxonomy/ --bracken 100,150 -o refs.mgdb \\
      genomes/
  MetaCache's parameters and rule:
    merganser build --taxonomy taxonomy/ --preset metacache -o refs.mgdb \\
      @genomes.txt";

#[derive(Args, Debug)]
#[command(after_help = BUILD, override_usage = "\
merganser build [OPTIONS] --taxonomy <PATH> --output <FILE> <GENOMES>...")]
pub(crate) struct BuildArgs {
    // First: what the others take of the command line is gone then.
    #[command(flatten)]
    pub(crate) given: Given,
    /// FASTA files, folders of such files, manifests of `db prepare`, or @LIST of these
    #[arg(required = true, value_name = "GENOMES")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Folder with nodes.dmp and names.dmp (merged.dmp and delnodes.dmp are used if there), or a
    /// table of GTDB (bac120_taxonomy.tsv.gz); may be given again for another table
    // `-t DIR` may stand for it: `args::parse` sees to it that it is there.
    #[arg(long, value_name = "PATH", required_unless_present = "threads")]
    pub(crate) taxonomy: Vec<PathBuf>,
    /// The database to write (.mgdb), or the folder of one of Kraken 2
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// What is written
    #[arg(long, value_name = "FORMAT", default_value = "merganser")]
    pub(crate) format: DatabaseFormat,

    #[command(flatten)]
    pub(crate) taxids: TaxidArgs,
    #[command(flatten)]
    pub(crate) sketches: SketchConfig,
    #[command(flatten)]
    pub(crate) parts: PartConfig,
    #[command(flatten)]
    pub(crate) kraken2: Kraken2BuildConfig,
    /// Bracken's distributions for reads of these lengths, e.g. 100,150, too: a file for each beside
    /// the database, or in its folder. Reads the genomes again
    #[arg(long, value_name = "LENGTHS", value_delimiter = ',')]
    pub(crate) bracken: Vec<usize>,
    #[command(flatten)]
    pub(crate) resources: ResourceArgs,
    /// Write a summary of the run for other programs; - is stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

/// `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DatabaseFormat {
    /// One file (.mgdb)
    Merganser,
    /// A folder that kraken2 reads, too: the files that kraken2-build makes with one thread
    Kraken2,
}

/// Where taxids come from, and a list of the sequences without one.
#[derive(Args, Debug)]
pub(crate) struct TaxidArgs {
    #[command(flatten)]
    pub(crate) config: TaxidConfig,
    /// Write the sequences that have no taxon here: ID<TAB>REASON lines; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Taxids")]
    pub(crate) unmapped: Option<PathBuf>,
}

/// What a build may use.
#[derive(Args, Debug)]
pub(crate) struct ResourceArgs {
    #[command(flatten)]
    pub(crate) threads: ThreadsOrTaxonomyArgs,
    /// Memory that building may use, e.g. 8G; more goes to temporary files [default: three
    /// quarters of the memory that is free to use]
    #[arg(long, value_name = "SIZE", value_parser = merganser_run::parse_size)]
    #[arg(help_heading = "Resources")]
    pub(crate) memory: Option<u64>,
    /// Existing directory for temporary files [default: $TMPDIR or /tmp]
    #[arg(long, value_name = "DIR", help_heading = "Resources")]
    pub(crate) tmp_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
}

impl ResourceArgs {
    /// What a run may use.
    pub(crate) fn resources(&self) -> Resources {
        let temp_dir = self.tmp_dir.as_deref();
        common::resources(self.threads.number(), self.memory, temp_dir, Some(&self.device))
    }
}
