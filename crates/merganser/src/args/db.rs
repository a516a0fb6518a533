//! `merganser db`.

pub(crate) mod prepare;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use merganser_classify::{PartConfig, VerdictConfig};
use merganser_taxonomy::Rank;

use super::build::{ResourceArgs, TaxidArgs};
use super::classify::ReportArgs;
use super::pages::file;
use super::{DeviceArgs, ThreadArgs};
use prepare::DbPrepareArgs;

/// Subcommands of `merganser db`.
#[derive(Debug, Subcommand)]
pub(crate) enum DbCommand {
    /// Check downloaded genomes and assign taxa to them, before `merganser build`
    ///
    /// Finds the genomes in folders of downloads from NCBI or GTDB, reads each to its end, compares it
    /// with its MD5 checksum, and writes a manifest: a table that `merganser build` takes in place of
    /// genomes. A later run reads only new genomes. A run that was interrupted continues where it
    /// stopped.
    #[command(after_help = prepare::PREPARE)]
    Prepare(Box<DbPrepareArgs>),
    /// Print the properties of databases, and whether they belong together
    ///
    /// With several databases, also prints how any two of them differ, and whether `classify` can use all of
    /// them together. If it cannot, the exit code is 1.
    #[command(after_help = "Examples:\n  merganser db info refs.mgdb\n  \
        merganser db info refs.mgdb --json\n  \
        merganser db info refs.mgdb --report-html refs.html\n  \
        merganser db info kraken_db/ own_kraken_db/")]
    Info(DbInfoArgs),
    /// Check the checksums and the consistency of databases
    #[command(after_help = "Examples:\n  merganser db verify refs.mgdb\n  \
        merganser db verify *.mgdb")]
    Verify(DbVerifyArgs),
    /// Print a database's taxa or sequences
    ///
    /// Columns: taxid, rank, name, parent's taxid, number and bases of the taxon's own sequences, number
    /// and bases of the sequences of its clade. With --sequences: sequence, taxid, rank, name, bases,
    /// windows.
    #[command(after_help = "Examples:\n  merganser db taxa refs.mgdb --rank genus\n  \
        merganser db taxa refs.mgdb --sequences | grep -w 562")]
    Taxa(DbTaxaArgs),
    /// Add genomes to a database
    ///
    /// The result equals a database that is built from the old genomes and then the new ones, with the
    /// same parameters.
    #[command(after_help = ADD)]
    Add(Box<DbAddArgs>),
    /// Write Bracken's distributions for a database
    ///
    /// Classifies every stretch of LENGTH bases of every genome as a read without errors, and writes to
    /// which taxa they are assigned. The files are for `classify --bracken`, `report bracken` and Bracken
    /// itself.
    #[command(after_help = BRACKEN)]
    Bracken(Box<DbBrackenArgs>),
    /// Write each part of a database (build --parts) as a separate database
    ///
    /// Use it if no machine can hold the whole database: each machine classifies the same reads with
    /// one of the parts, with --near 0, and `db merge-results` joins the results into those of the
    /// whole database.
    #[command(after_help = SPLIT)]
    Split(DbSplitArgs),
    /// Join the results of parts of a database, or of separate databases
    ///
    /// The same reads must have been classified with each database, with `classify --near 0` and Kraken's
    /// format. The results of the parts that `db split` wrote are joined into those of the whole
    /// database. The results of separate databases are joined into those of one database of all genomes,
    /// except that features with more locations than a database keeps may differ. The databases must
    /// have the same parameters; their order is that of the genomes. Give the same options of Decision
    /// in all steps. Reports have no reads below the taxa in the lines: those of all databases in one
    /// `classify` also have strains.
    #[command(after_help = MERGE)]
    MergeResults(Box<DbMergeArgs>),
}

const ADD: &str = "\
Examples:
  Add to the database itself, which is replaced at the end:
    merganser db add --taxonomy taxonomy/ refs.mgdb mine.fa.gz
  Write a new database; taxids refer to the taxonomy in the old one:
    merganser db add refs.mgdb --map ids.tsv more/ -o more.mgdb";

const BRACKEN: &str = "\
Files:
  For refs.mgdb the file is refs.mgdb.100mers.kmer_distrib next to it. For a
  database of Kraken 2 it is database100mers.kmer_distrib in the folder, where
  `bracken` looks for it. With -o PREFIX it is PREFIX.100mers.kmer_distrib.

Taxids:
  A database of Merganser knows the taxids of its genomes by the ids of their
  sequences. For a database of Kraken 2, taxids come from the --map files, then
  its seqid2taxid.map, then the places where `build` looks for them.

Examples:
  merganser db bracken refs.mgdb --read-lengths 100,150 genomes/
  merganser db bracken kraken_db/ --read-lengths 150 kraken_db/library/
  For `classify kraken_db/ own_kraken_db/ reads.fq`:
    merganser db bracken kraken_db/ --beside own_kraken_db/ \\
      --read-lengths 150 kraken_db/library/ mine.fa.gz -o both";

const SPLIT: &str = "\
Examples:
  merganser build --parts 2 --taxonomy taxonomy/ -o refs.mgdb genomes/
  merganser db split refs.mgdb -o part{}.mgdb
  merganser classify part1.mgdb --near 0 reads.fq -o 1.tsv
  merganser classify part2.mgdb --near 0 reads.fq -o 2.tsv
  merganser db merge-results -d part1.mgdb -d part2.mgdb 1.tsv 2.tsv \\
    -o reads.tsv --report sample.kreport";

const MERGE: &str = "\
Examples:
  merganser classify a.mgdb --near 0 reads.fq -o a.tsv
  merganser classify b.mgdb --near 0 reads.fq -o b.tsv
  merganser db merge-results -d a.mgdb -d b.mgdb a.tsv b.tsv \\
    -o reads.tsv --report sample.kreport";

#[derive(Args, Debug)]
pub(crate) struct DbInfoArgs {
    /// Databases (.mgdb, or folders of Kraken 2)
    #[arg(required = true, value_name = "DATABASE")]
    pub(crate) databases: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write an HTML page with the databases' sizes, taxa and parameters; a single file, readable offline
    ///
    /// It shows how many reference sequences and bases each taxon has, or how many minimizers in a database of Kraken 2, of
    /// which the whole table is read.
    #[arg(long, value_name = "FILE", value_parser = file, help_heading = "Pages")]
    pub(crate) report_html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
}

#[derive(Args, Debug)]
pub(crate) struct DbVerifyArgs {
    /// Databases (.mgdb)
    #[arg(required = true, value_name = "DATABASE")]
    pub(crate) databases: Vec<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct DbTaxaArgs {
    /// Database (.mgdb)
    pub(crate) database: PathBuf,
    /// Print only the taxa of this rank
    #[arg(long, value_name = "RANK", conflicts_with = "sequences")]
    pub(crate) rank: Option<Rank>,
    /// Print one line per sequence instead
    #[arg(long)]
    pub(crate) sequences: bool,
    /// Output; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct DbAddArgs {
    /// Database to add to (.mgdb)
    pub(crate) database: PathBuf,
    /// Genomes to add: FASTA files, folders, manifests of `db prepare`, or @LIST of these
    #[arg(required = true, value_name = "GENOMES")]
    pub(crate) inputs: Vec<PathBuf>,
    /// NCBI's taxdump folder (nodes.dmp, names.dmp), or the tables of GTDB that the database was built
    /// with [default: the taxonomy in the database]
    #[arg(long, value_name = "PATH")]
    pub(crate) taxonomy: Vec<PathBuf>,
    /// Database to write [default: replace the old one]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) taxids: TaxidArgs,
    /// Leave out sequences without a taxon instead of failing
    #[arg(long, help_heading = "Taxids", conflicts_with = "strict")]
    pub(crate) allow_unmapped: bool,
    #[command(flatten)]
    pub(crate) parts: PartConfig,
    #[command(flatten)]
    pub(crate) resources: ResourceArgs,
    /// Write a summary of the run as JSON; - is stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(override_usage = "\
merganser db bracken [OPTIONS] --read-lengths <LENGTHS>
         <DATABASE> <GENOMES>...")]
pub(crate) struct DbBrackenArgs {
    /// Database (.mgdb, or a folder of Kraken 2)
    pub(crate) database: PathBuf,
    /// Genomes of the database: FASTA files, folders, manifests of `db prepare`, or @LIST of these
    #[arg(required = true, value_name = "GENOMES")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Database that reads are classified with together with DATABASE; give the genomes of all. May be repeated
    #[arg(long, value_name = "DATABASE", requires = "output")]
    pub(crate) beside: Vec<PathBuf>,
    /// Write PREFIX.LENGTHmers.kmer_distrib [default: where Bracken looks for it, see Files]
    #[arg(short, long, value_name = "PREFIX")]
    pub(crate) output: Option<PathBuf>,
    /// Lengths of reads in bases, e.g. 100,150: one file is written for each
    #[arg(long, required = true, value_name = "LENGTHS", value_delimiter = ',')]
    pub(crate) read_lengths: Vec<usize>,
    /// Taxonomy for databases of Kraken 2: NCBI's taxdump folder, or tables of GTDB
    ///
    /// nodes.dmp and names.dmp resolve taxids that were merged; *.accession2taxid* gives the taxids of
    /// genomes.
    #[arg(long, value_name = "PATH")]
    pub(crate) taxonomy: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) taxids: TaxidArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
}

#[derive(Args, Debug)]
pub(crate) struct DbSplitArgs {
    /// Database (.mgdb)
    pub(crate) database: PathBuf,
    /// Databases to write; {} in the name is replaced by the number of the part, from 1
    #[arg(short, long, value_name = "NAME")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
}

#[derive(Args, Debug)]
pub(crate) struct DbMergeArgs {
    /// Databases, in the order of the FILEs
    #[arg(short, long, value_name = "DATABASE", required = true)]
    pub(crate) database: Vec<PathBuf>,
    /// Output of `merganser classify` with each database, plain or compressed
    #[arg(required = true, value_name = "FILE")]
    pub(crate) results: Vec<PathBuf>,
    /// Output with one line per read; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-", help_heading = "Output")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) reports: ReportArgs,
    #[command(flatten)]
    pub(crate) verdict: VerdictConfig,
}
