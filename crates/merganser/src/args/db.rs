//! `merganser db`.

pub(crate) mod prepare;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use merganser_classify::{PartConfig, VerdictConfig};
use merganser_taxonomy::Rank;

use super::build::{ResourceArgs, TaxidArgs};
use super::classify::ReportArgs;
use super::{DeviceArgs, ThreadArgs};
use prepare::DbPrepareArgs;

/// What to do with a database.
#[derive(Debug, Subcommand)]
pub(crate) enum DbCommand {
    /// Check downloaded genomes and tell each its taxon: the library that databases are built of
    ///
    /// Finds the genomes in folders of downloads from NCBI or GTDB, reads each to its end, holds
    /// it against its MD5 checksum, and writes a manifest: a table that `merganser build` takes in
    /// the place of genomes. A later run reads only what is new, and goes on where one was
    /// stopped.
    #[command(after_help = prepare::PREPARE)]
    Prepare(Box<DbPrepareArgs>),
    /// Print what a database says of itself
    #[command(after_help = "Examples:\n  merganser db info refs.mgdb\n  \
        merganser db info refs.mgdb --json")]
    Info(DbInfoArgs),
    /// Check all checksums of databases, and that their tables make sense
    #[command(after_help = "Examples:\n  merganser db verify refs.mgdb\n  \
        merganser db verify *.mgdb")]
    Verify(DbVerifyArgs),
    /// Print the taxa of a database, or its sequences
    ///
    /// Columns: taxid, rank, name, parent's taxid, sequences and bases of the taxon itself,
    /// sequences and bases of it and all below. With --sequences: sequence, taxid, rank, name,
    /// bases, windows.
    #[command(after_help = "Examples:\n  merganser db taxa refs.mgdb --rank genus\n  \
        merganser db taxa refs.mgdb --sequences | grep -w 562")]
    Taxa(DbTaxaArgs),
    /// Add genomes to a database
    ///
    /// The database then answers as one that was built of its genomes and these, in this order,
    /// with its parameters.
    #[command(after_help = ADD)]
    Add(Box<DbAddArgs>),
    /// Write Bracken's distributions: to which taxa reads of a database's genomes are assigned
    ///
    /// Every stretch of LENGTH bases of every genome is taken for a read without errors, and
    /// classified by the database. For `classify --bracken`, `report bracken` and Bracken itself.
    #[command(after_help = BRACKEN)]
    Bracken(Box<DbBrackenArgs>),
    /// Write each part of a database (build --parts) as a database of its own
    ///
    /// For machines that cannot hold the whole: each classifies the same reads by one of them, with
    /// --near 0, and `db merge-results` joins their lines into those of the whole.
    #[command(after_help = SPLIT)]
    Split(DbSplitArgs),
    /// Join what reads were found to be in parts of a database, or in separately built ones
    ///
    /// The same reads are classified with each, and their lines (Kraken's format) are joined: those of
    /// the parts that `db split` wrote into those of the whole database, those of separately built
    /// databases into those that one of all would give, but for features with more locations than a
    /// database keeps; both with `classify --near 0`. The databases must have the same
    /// parameters; their order is that of the genomes. Use the same options of Decision in
    /// all steps.
    #[command(after_help = MERGE)]
    MergeResults(Box<DbMergeArgs>),
}

const ADD: &str = "\
Examples:
  Into the database itself, which is replaced when all is done:
    merganser db add --taxonomy taxonomy/ refs.mgdb mine.fa.gz
  Into a new one; the old one's own taxonomy has the taxids:
    merganser db add refs.mgdb --map ids.tsv more/ -o more.mgdb";

const BRACKEN: &str = "\
Files:
  Beside a database of merganser refs.mgdb.100mers.kmer_distrib, in the folder
  of one of Kraken 2 database100mers.kmer_distrib, where `bracken` looks for it.

Taxids:
  A database of merganser knows its genomes' taxids, by the ids of sequences.
  For one of Kraken 2 they are looked for as `build` does, after the --map files
  in its seqid2taxid.map.

Examples:
  merganser db bracken refs.mgdb --read-lengths 100,150 genomes/
  merganser db bracken kraken_db/ --read-lengths 150 kraken_db/library/";

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
  merganser classify a.mgdb reads.fq -o a.tsv
  merganser classify b.mgdb reads.fq -o b.tsv
  merganser db merge-results -d a.mgdb -d b.mgdb a.tsv b.tsv \\
    -o reads.tsv --report sample.kreport";

#[derive(Args, Debug)]
pub(crate) struct DbInfoArgs {
    /// A database (.mgdb)
    pub(crate) database: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct DbVerifyArgs {
    /// Databases (.mgdb)
    #[arg(required = true, value_name = "DATABASE")]
    pub(crate) databases: Vec<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct DbTaxaArgs {
    /// A database (.mgdb)
    pub(crate) database: PathBuf,
    /// Only taxa of this rank
    #[arg(long, value_name = "RANK", conflicts_with = "sequences")]
    pub(crate) rank: Option<Rank>,
    /// A line for each sequence instead
    #[arg(long)]
    pub(crate) sequences: bool,
    /// Where to; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct DbAddArgs {
    /// The database to add to (.mgdb)
    pub(crate) database: PathBuf,
    /// FASTA files, folders of such files, manifests of `db prepare`, or @LIST of these
    #[arg(required = true, value_name = "GENOMES")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Folder with nodes.dmp and names.dmp, or the tables of GTDB that the database was built with
    /// [default: the taxa that the database has]
    #[arg(long, value_name = "PATH")]
    pub(crate) taxonomy: Vec<PathBuf>,
    /// The database to write [default: the one to add to is replaced]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) taxids: TaxidArgs,
    /// Leave out sequences that have no taxon; without it, they are an error
    #[arg(long, help_heading = "Taxids", conflicts_with = "strict")]
    pub(crate) allow_unmapped: bool,
    #[command(flatten)]
    pub(crate) parts: PartConfig,
    #[command(flatten)]
    pub(crate) resources: ResourceArgs,
    /// Write a summary of the run for other programs; - is stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(override_usage = "\
merganser db bracken [OPTIONS] --read-lengths <LENGTHS>
         <DATABASE> <GENOMES>...")]
pub(crate) struct DbBrackenArgs {
    /// The database (.mgdb, or a folder of Kraken 2)
    pub(crate) database: PathBuf,
    /// The genomes that it was built of: FASTA files, folders of such files, manifests of
    /// `db prepare`, or @LIST of these
    #[arg(required = true, value_name = "GENOMES")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Bases of reads, e.g. 100,150: a file for each
    #[arg(long, required = true, value_name = "LENGTHS", value_delimiter = ',')]
    pub(crate) read_lengths: Vec<usize>,
    /// Databases of Kraken 2: folder with nodes.dmp and names.dmp, for taxids that were merged, and
    /// with *.accession2taxid*; or tables of GTDB
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
    /// The database (.mgdb)
    pub(crate) database: PathBuf,
    /// The databases to write; {} in the name stands for the number of the part, from 1
    #[arg(short, long, value_name = "NAME")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
}

#[derive(Args, Debug)]
pub(crate) struct DbMergeArgs {
    /// The databases, in the order of the files
    #[arg(short, long, value_name = "DATABASE", required = true)]
    pub(crate) database: Vec<PathBuf>,
    /// What `merganser classify` wrote with each database, plain or compressed
    #[arg(required = true, value_name = "FILE")]
    pub(crate) results: Vec<PathBuf>,
    /// A line for each read; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-", help_heading = "Output")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) reports: ReportArgs,
    #[command(flatten)]
    pub(crate) verdict: VerdictConfig,
}
