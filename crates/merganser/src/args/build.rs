//! `merganser build`, and the options that all commands that build databases share.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use merganser_classify::{PartConfig, SketchConfig, TaxidConfig};
use merganser_kraken2::Kraken2BuildConfig;
use merganser_run::Context;

use super::DeviceArgs;
use super::dry_run::DryRunArgs;
use super::given::Given;
use super::threads::ThreadsOrTaxonomyArgs;
use crate::common;

const BUILD: &str = "\
References:
  FASTA files, plain or compressed; folders, searched with all subfolders but
  without files of genes (cds_from_genomic.fna, rna.fna, .ffn) and reads (.fq);
  manifests of `merganser db prepare`; @list.txt, a file that lists one of these
  per line. Sequences are numbered in this order.

Taxids:
  The taxon of a sequence comes from the first of these that has it: the --map
  files; manifests; seqid2taxid.map next to the genomes or in a folder that was
  given; the sequence's header (taxid|N, kraken:taxid|N); assembly_summary*.txt
  next to the genomes; *.accession2taxid* in the taxonomy's folder. With GTDB's
  tables, after --map and manifests: the sequence's id, then the accession in
  its file's name (GCF_000005845.2). Sequences without a taxon are left out of
  the database; it is an error if no sequence has one.

Examples:
  A folder of genomes with its map, and NCBI's taxdump, unpacked in taxonomy/:
    merganser build --taxonomy taxonomy/ -o refs.mgdb genomes/
  Genomes downloaded from NCBI, checked and assigned to taxa first:
    merganser db prepare refseq/ -o library.tsv
    merganser build --taxonomy taxonomy/ -o refs.mgdb library.tsv
  Your own genomes, with ID<TAB>TAXID lines; an error if one has no taxon:
    merganser build --taxonomy taxonomy/ --map ids.tsv --strict -o refs.mgdb \\
      genomes/ mine.fa.gz
  GTDB's genomes, named by accession, with GTDB's taxonomy:
    merganser build --taxonomy bac120_taxonomy.tsv.gz \\
      --taxonomy ar53_taxonomy.tsv.gz -o gtdb.mgdb genomes_reps/
  A database that Kraken 2 can read, too:
    merganser build --format kraken2 --taxonomy taxonomy/ -o kraken_new/ \\
      genomes/
  Your own genomes for use together with a database of Kraken 2:
    merganser build --beside kraken_db/ --taxonomy taxonomy/ --map ids.tsv \\
      -o own_kraken_db/ mine.fa.gz
  With the files that `classify --bracken` needs for reads of 100 and 150 bases:
    merganser build --taxonomy taxonomy/ --bracken 100,150 -o refs.mgdb \\
      genomes/
  With MetaCache's parameters and rule of decision:
    merganser build --taxonomy taxonomy/ --preset metacache -o refs.mgdb \\
      @genomes.txt";

#[derive(Args, Debug)]
#[command(after_help = BUILD, override_usage = "\
merganser build [OPTIONS] --taxonomy <PATH> --output <FILE> <GENOMES>...")]
pub(crate) struct BuildArgs {
    // First, because the derived parsers of the other fields take their values out of the matches.
    #[command(flatten)]
    pub(crate) given: Given,
    /// Reference genomes: FASTA files, folders, manifests of `db prepare`, or @LIST of these
    #[arg(required = true, value_name = "GENOMES")]
    pub(crate) inputs: Vec<PathBuf>,
    /// NCBI's taxdump folder (nodes.dmp, names.dmp), or a table of GTDB (bac120_taxonomy.tsv.gz)
    ///
    /// merged.dmp and delnodes.dmp are used if present. May be given more than once for several tables of
    /// GTDB.
    // `-t DIR` is accepted in its place: `args::parse` refuses a command line that has neither.
    #[arg(long, value_name = "PATH", required_unless_present_any = ["threads", "beside"])]
    pub(crate) taxonomy: Vec<PathBuf>,
    /// Build a database for use together with this one of Kraken 2, with its parameters and taxonomy
    ///
    /// `classify` takes both at once. --taxonomy is needed only for taxa that this database lacks.
    #[arg(long, value_name = "DATABASE")]
    #[arg(help_heading = "Kraken 2's databases (--format kraken2)")]
    pub(crate) beside: Option<PathBuf>,
    /// Database to write (.mgdb), or a folder with --format kraken2
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Format of the database
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
    /// Also write Bracken's distributions for reads of these lengths, e.g. 100,150
    ///
    /// Writes one file per length, next to the database or in its folder. Reads the genomes a second time.
    #[arg(long, value_name = "LENGTHS", value_delimiter = ',')]
    pub(crate) bracken: Vec<usize>,
    #[command(flatten)]
    pub(crate) resources: ResourceArgs,
    #[command(flatten)]
    pub(crate) dry: DryRunArgs,
    /// Write a summary of the run as JSON; - is stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

/// `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DatabaseFormat {
    /// A single file (.mgdb)
    Merganser,
    /// A folder that Kraken 2 can read, too, with the files of kraken2-build on one thread
    Kraken2,
}

/// The sources of taxids, and a list of the sequences without one.
#[derive(Args, Debug)]
pub(crate) struct TaxidArgs {
    #[command(flatten)]
    pub(crate) config: TaxidConfig,
    /// Write sequences without a taxon to FILE as ID<TAB>REASON lines; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Taxids")]
    pub(crate) unmapped: Option<PathBuf>,
}

/// The resources that a build may use.
#[derive(Args, Debug)]
pub(crate) struct ResourceArgs {
    #[command(flatten)]
    pub(crate) threads: ThreadsOrTaxonomyArgs,
    /// Memory that the build may use, e.g. 8G; more data goes to temporary files [default: three
    /// quarters of the available memory]
    #[arg(long, value_name = "SIZE", value_parser = merganser_run::parse_size)]
    #[arg(help_heading = "Resources")]
    pub(crate) memory: Option<u64>,
    /// Directory for temporary files, created if missing [default: $TMPDIR or /tmp]
    #[arg(long, value_name = "DIR", help_heading = "Resources")]
    pub(crate) tmp_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
}

impl ResourceArgs {
    /// Returns the context of a run.
    pub(crate) fn context(&self) -> Context {
        let temp_dir = self.tmp_dir.as_deref();
        common::context(self.threads.number(), self.memory, temp_dir, Some(&self.device))
    }
}
