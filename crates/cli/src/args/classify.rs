//! `merganser build`, `merganser classify` and `merganser db`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use merganser_classify::taxonomy::Rank;

const BUILD: &str = "\
References:
  FASTA files, plain or compressed; folders, searched with all folders below; @list.txt, a file that
  names one a line. Sequences are numbered in this order.

Taxids:
  The taxon of a sequence is looked for in the --map files, then in its header (taxid|N,
  kraken:taxid|N), in assembly_summary*.txt beside the genomes, and in *.accession2taxid* in the
  taxonomy's folder. Sequences without one stay in the database, at the root.

Examples:
  A folder of genomes and NCBI's taxdump, unpacked in taxonomy/:
    merganser build -t taxonomy/ -o refs.mgdb genomes/
  Own genomes, with a table of ID<TAB>TAXID lines; stop if one has no taxon:
    merganser build -t taxonomy/ --map ids.tsv --strict -o refs.mgdb genomes/ mine.fa.gz
  MetaCache's parameters and rule:
    merganser build -t taxonomy/ --preset metacache -o refs.mgdb @genomes.txt";

const CLASSIFY: &str = "\
Output:
  One line a read, in the order of the reads, as Kraken 2 writes it: C or U, name, taxid (0: none),
  length (of both mates: 100|98), and the candidates as TAXID:HITS, the best first (0:0: none).

Examples:
  Pairs, with a report that Bracken, Krona and Pavian read:
    merganser classify refs.mgdb -1 reads_1.fq.gz -2 reads_2.fq.gz -o reads.tsv --report s.kreport
  Single reads, only the report:
    merganser classify refs.mgdb reads.fq.gz -o /dev/null --report sample.kreport
  From a pipe, mates one after the other:
    samtools fastq sample.bam | merganser classify refs.mgdb --interleaved - -o reads.tsv.gz";

#[derive(Args, Debug)]
#[command(after_help = BUILD)]
pub(crate) struct BuildArgs {
    /// FASTA files, folders of such files, or @LIST of both
    #[arg(required = true, value_name = "GENOMES")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Folder with nodes.dmp and names.dmp; merged.dmp and delnodes.dmp are used if there
    #[arg(short, long, value_name = "DIR")]
    pub(crate) taxonomy: PathBuf,
    /// The database to write (.mgdb)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// File that maps sequences to taxids: ID<TAB>TAXID, accession2taxid or assembly_summary; may
    /// be given more than once
    #[arg(long, value_name = "FILE", help_heading = "Taxids")]
    pub(crate) map: Vec<PathBuf>,
    /// Write the sequences that have no taxon here: ID<TAB>REASON lines; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Taxids")]
    pub(crate) unmapped: Option<PathBuf>,
    /// Fail if a sequence has no taxon, or an id occurs twice
    #[arg(long, help_heading = "Taxids")]
    pub(crate) strict: bool,

    /// Named set of parameters; the options below change single ones
    #[arg(long, value_name = "PRESET", default_value = "sensitive", help_heading = "Sketches")]
    pub(crate) preset: PresetName,
    /// Bases of a k-mer, 1 to 32
    #[arg(short, value_name = "K", help_heading = "Sketches")]
    pub(crate) k: Option<u32>,
    /// Features of a window at most, 1 to 128
    #[arg(long, value_name = "N", help_heading = "Sketches")]
    pub(crate) sketch: Option<u32>,
    /// Bases of a window, K to 1,024
    #[arg(long, value_name = "N", help_heading = "Sketches")]
    pub(crate) window: Option<u32>,
    /// Bases from one window to the next, 1 to the window's
    #[arg(long, value_name = "N", help_heading = "Sketches")]
    pub(crate) stride: Option<u32>,
    /// Locations that a feature keeps, the first ones; 1 to 65,535
    #[arg(long, value_name = "N", help_heading = "Sketches")]
    pub(crate) max_locations: Option<u32>,
    /// Leave out features with more locations than that
    #[arg(long, help_heading = "Sketches")]
    pub(crate) drop_overfull: bool,

    /// Parts of the database, queried one after the other; answers are the same
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Resources")]
    pub(crate) parts: usize,
    /// Make as many parts as needed for each to have about this size, e.g. 8G
    #[arg(long, value_name = "SIZE", value_parser = merganser_run::parse_size)]
    #[arg(help_heading = "Resources")]
    pub(crate) max_part_size: Option<u64>,
    /// Threads in all [default: as many as the process may run]
    #[arg(long, value_name = "N", help_heading = "Resources")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Memory that the process may use, e.g. 8G; more goes to temporary files [default: the smaller
    /// of 12G and three quarters of what machine or cgroup give]
    #[arg(long, value_name = "SIZE", value_parser = merganser_run::parse_size)]
    #[arg(help_heading = "Resources")]
    pub(crate) memory: Option<u64>,
    /// Existing directory for temporary files [default: $TMPDIR or /tmp]
    #[arg(long, value_name = "DIR", help_heading = "Resources")]
    pub(crate) tmp_dir: Option<PathBuf>,
    /// Write a summary of the run for other programs; - is stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

/// `--preset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PresetName {
    Sensitive,
    Metacache,
}

#[derive(Args, Debug)]
#[command(after_help = CLASSIFY)]
pub(crate) struct ClassifyArgs {
    /// The database that `merganser build` wrote (.mgdb)
    pub(crate) database: PathBuf,
    /// Reads: FASTA or FASTQ, plain or compressed; @LIST of such files, or - for stdin
    #[arg(value_name = "READS", required_unless_present = "mates1")]
    pub(crate) reads: Vec<PathBuf>,
    /// First mates; as many files as -2 has. Pairs come before READS
    #[arg(short = '1', value_name = "FILE", requires = "mates2", id = "mates1")]
    pub(crate) mates1: Vec<PathBuf>,
    /// Second mates
    #[arg(short = '2', value_name = "FILE", requires = "mates1", id = "mates2")]
    pub(crate) mates2: Vec<PathBuf>,
    /// READS hold pairs: the mates one after the other
    #[arg(long, requires = "reads")]
    pub(crate) interleaved: bool,

    /// A line for each read; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-", help_heading = "Output")]
    pub(crate) output: PathBuf,
    /// Write reads by taxon as Kraken's report; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
    /// Write a summary of the run for other programs; - is stdout
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,

    /// Lowest rank at which candidates are told apart [default: the preset's]
    #[arg(long, value_name = "RANK", value_parser = rank, help_heading = "Decision")]
    pub(crate) lowest: Option<Rank>,
    /// Highest rank of a verdict; above it, a read has none [default: domain]
    #[arg(long, value_name = "RANK", value_parser = rank, help_heading = "Decision")]
    pub(crate) highest: Option<Rank>,
    /// Candidates at most [default: the preset's]
    #[arg(long, value_name = "N", help_heading = "Decision")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) max_cand: Option<u16>,
    /// Hits that the best candidate needs [default: the preset's]
    #[arg(long, value_name = "N", help_heading = "Decision")]
    pub(crate) hitmin: Option<u32>,
    /// Per cent of the best candidate's hits that another must exceed to count [default: the
    /// preset's]
    #[arg(long, value_name = "PERCENT", value_parser = per_mille, help_heading = "Decision")]
    pub(crate) hitdiff: Option<u32>,
    /// Longest insert of a pair, in bases [default: the sum of the mates' lengths]
    #[arg(long, value_name = "BASES", help_heading = "Decision")]
    pub(crate) insert: Option<u32>,

    /// Threads in all [default: as many as the process may run]
    #[arg(long, value_name = "N", help_heading = "Resources")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

fn rank(text: &str) -> Result<Rank, String> {
    let all = || Rank::all().map(Rank::name).collect::<Vec<_>>().join(", ");
    Rank::named(text).ok_or_else(|| format!("give one of {}", all()))
}

fn per_mille(text: &str) -> Result<u32, String> {
    let percent: f64 = text.parse().map_err(|_| "give a number from 0 to 100")?;
    match (0.0..=100.0).contains(&percent) {
        true => Ok((percent * 10.0).round() as u32),
        false => Err("give a number from 0 to 100".into()),
    }
}

/// What to do with a database.
#[derive(Debug, Subcommand)]
pub(crate) enum DbCommand {
    /// Print what a database says of itself
    #[command(after_help = "Example:\n  merganser db info refs.mgdb --json")]
    Info(DbInfoArgs),
    /// Check all checksums of databases, and that their tables make sense
    #[command(after_help = "Example:\n  merganser db verify *.mgdb")]
    Verify(DbVerifyArgs),
}

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
