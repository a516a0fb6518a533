//! `merganser kmers track`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use merganser_assembly::track::{Paths, TrackConfig};

use crate::args::device::DeviceArgs;
use crate::args::map::LimitArgs;
use crate::args::reads::ReadsArgs;

pub(super) const TRACK: &str = "\
Tracks:
  --counts    count in the table of the k-mer that begins at each position
  --expected  this count divided by the coverage of one copy (--coverage)
  --copies    how often this k-mer occurs in SEQUENCES, on both strands
              These are wig (.wig) or bedGraph (any other name). Positions at
              which no k-mer of A, C, G and T begins are left out.
  --present   BED: the bases covered by k-mers of the table
  --classes   BED: the bases covered by k-mers of each of four classes:
    missing     the k-mer is in no read: an error of SEQUENCES
    low         its count is at most --solid, and may be from errors of reads
    collapsed   the reads have more copies: expected >= copies + margin
    duplicated  the reads have fewer copies: expected < copies - margin
              The margin is a quarter of the copies in SEQUENCES, at least 0.5;
              k-mers that occur once are never duplicated. Columns: sequence,
              start, end, class, mean of expected, mean of copies, k-mers.
  --expected and --classes need a table of reads, counted with --min-count 1.

The output -o has a line for each sequence: name, bases, k-mers, k-mers that the
table has and, with --classes, intervals and bases of each class.

Examples:
  merganser count -k 21 --min-count 1 -o reads.mgk reads.fq.gz
  merganser kmers track --classes classes.bed --counts counts.bedgraph \\
    -o classes.tsv reads.mgk assembly.fa.gz
  An assembly of a bacterium:
    merganser kmers track --ploidy 1 --classes classes.bed reads.mgk assembly.fa
  Both haplotypes of a diploid genome:
    merganser kmers track --haplotypes 2 --classes classes.bed reads.mgk \\
      hap1.fa hap2.fa
  Regions of a genome that k-mers of vectors cover:
    merganser kmers track --present vectors.bed vectors.mgk genome.fa";

#[derive(Args, Debug)]
pub(crate) struct TrackArgs {
    /// Table, with optional bounds of its counts: .mgk, KMC's, FastK's, meryl's, KFF, .jf or text
    #[arg(value_name = "TABLE[:MIN..MAX]")]
    pub(crate) table: OsString,
    /// Assemblies, genomes or reads, @LIST of such files, or - for stdin
    ///
    /// --copies and --classes read them twice and need files.
    #[arg(value_name = "SEQUENCES", required = true)]
    pub(crate) sequences: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) inputs: ReadsArgs,
    /// Output with a line for each sequence; - is stdout; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Write the regions that are missing, low, collapsed or duplicated as BED
    #[arg(long, value_name = "FILE", help_heading = "Tracks")]
    pub(crate) classes: Option<PathBuf>,
    /// Write the regions that are covered by k-mers of the table as BED
    #[arg(long, value_name = "FILE", help_heading = "Tracks")]
    pub(crate) present: Option<PathBuf>,
    /// Write the count in the table of the k-mer at each position
    #[arg(long, value_name = "FILE", help_heading = "Tracks")]
    pub(crate) counts: Option<PathBuf>,
    /// Write the number of copies that this count corresponds to
    #[arg(long, value_name = "FILE", help_heading = "Tracks")]
    pub(crate) expected: Option<PathBuf>,
    /// Write the number of copies of the k-mer in SEQUENCES
    #[arg(long, value_name = "FILE", help_heading = "Tracks")]
    pub(crate) copies: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) config: TrackConfig,
    /// Read the k-mers of a text table as they are written, without making them canonical
    #[arg(long)]
    pub(crate) forward_only: bool,
    /// Write a summary of the run as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Directory for temporary files: the k-mers of SEQUENCES [default: $TMPDIR or /tmp]
    #[arg(long, value_name = "DIR", help_heading = "Resources")]
    pub(crate) tmp_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

impl TrackArgs {
    /// Returns the paths of the outputs.
    pub(crate) fn paths(&self) -> Paths {
        Paths {
            summary: Some(self.output.clone()),
            classes: self.classes.clone(),
            present: self.present.clone(),
            counts: self.counts.clone(),
            expected: self.expected.clone(),
            copies: self.copies.clone(),
        }
    }
}
