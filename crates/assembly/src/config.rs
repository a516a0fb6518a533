//! What is judged, and by what.

use std::fmt;
use std::path::PathBuf;

use merganser_io::Input;
use merganser_kmers::tables::{AnyTable, Description};
use merganser_run::ConfigError;
#[cfg(feature = "cli")]
use merganser_run::options::cli;
use merganser_seq::kmer::MAX_K;

use crate::{BlockRule, Error};

/// The k-mers that assemblies are held against.
#[derive(Debug)]
pub enum Reads {
    /// A table of all k-mers of the reads, those that occur once, too.
    Table(Box<AnyTable>),
    /// The reads, which are counted first.
    Inputs(Vec<Input>),
}

impl Reads {
    /// Whether this is a table of homopolymer-compressed reads.
    pub(crate) fn is_homopolymer_compressed(&self) -> bool {
        match self {
            Reads::Table(table) => table.description().homopolymer_compressed,
            Reads::Inputs(_) => false,
        }
    }
}

impl fmt::Display for Reads {
    /// Writes the name of the table, or of the first file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reads::Table(table) => table.path().display().fmt(f),
            Reads::Inputs(inputs) => inputs.first().map_or(Ok(()), |input| input.fmt(f)),
        }
    }
}

/// An assembly.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// Its name in the results.
    pub name: String,
    /// Its sequences.
    pub input: Input,
}

impl Assembly {
    /// The assembly in a file, named as Merqury names it: the file's name without the suffix of a compression and
    /// without `.fa` or `.fasta`.
    pub fn of(path: PathBuf) -> Assembly {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let without = |name: String, suffixes: &[&str]| {
            let stem = suffixes.iter().find_map(|suffix| name.strip_suffix(suffix));
            stem.map(str::to_owned).unwrap_or(name)
        };
        let name = without(name, &[".gz", ".bgz", ".zst", ".bz2", ".xz"]);
        Assembly { name: without(name, &[".fasta", ".fa"]), input: Input::File(path) }
    }
}

/// A parent of the one whose genome was assembled.
#[derive(Debug)]
pub struct Parent {
    /// Its name in the results.
    pub name: String,
    /// Its k-mers.
    pub reads: Reads,
}

/// What is judged, and by what.
#[derive(Debug)]
pub struct Subject {
    /// Of the one whose genome was assembled.
    pub reads: Reads,
    /// Its mother and its father.
    pub parents: Option<[Parent; 2]>,
    /// One assembly, or two of one genome.
    pub assemblies: Vec<Assembly>,
}

/// How to judge.
///
/// ```
/// use merganser_assembly::Config;
///
/// let config = Config { k: Some(21), hpc: true, ..Config::default() };
/// assert_eq!((config.solid, config.blocks.markers), (None, 100));
/// ```
// These comments are the help of the command line.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct Config {
    /// Bases of a k-mer where reads are given [default: enough for the largest
    /// assembly]
    // The least number, odd, of which the largest assembly has few by chance: `merganser_spectrum::least_k`.
    #[cfg_attr(feature = "cli", arg(short, value_name = "K", value_parser = cli::kmer_length))]
    pub k: Option<usize>,
    /// k-mers with a larger count in the reads are the genome's [default: the valley
    /// of the histogram]
    // As `merganser_spectrum::solid_threshold` sees it.
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub solid: Option<u32>,
    /// Accept a READS table without low counts: the union of the tables of two sequencing
    /// technologies, each cut at 2, as Merqury's authors advise for HiFi with Illumina
    #[cfg_attr(feature = "cli", arg(long))]
    pub hybrid: bool,
    /// Make one base of each run of the same base, in reads and assemblies; tables but
    /// .mgk must be of such reads
    #[cfg_attr(feature = "cli", arg(long))]
    pub hpc: bool,
    /// Which runs of markers of the other haplotype end a phase block.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub blocks: BlockRule,
}

impl Config {
    /// Sees to it that all goes together.
    ///
    /// # Errors
    /// What does not.
    pub fn validate(&self, subject: &Subject) -> Result<(), Error> {
        let problem = |what: String| Err(Error::Config(ConfigError::new(what)));
        self.check(&subject.reads, self.hybrid)?;
        let mut parents = subject.parents.iter().flatten();
        parents.try_for_each(|parent| self.check(&parent.reads, false))?;
        if let Some([one, other]) = &subject.parents
            && one.name == other.name
        {
            return problem(twice(
                "parents",
                &one.name,
                one.reads.to_string() == other.reads.to_string(),
            ));
        }
        if self.k.is_some_and(|k| k == 0 || k > MAX_K) {
            return problem(format!("`k` is {}: 1 to {MAX_K} are possible", self.k.unwrap_or(0)));
        }
        match &subject.assemblies[..] {
            [_] => Ok(()),
            [one, other] if one.name != other.name => Ok(()),
            [one, other] => problem(twice("assemblies", &one.name, one.input == other.input)),
            all => problem(format!("one or two assemblies are judged together, not {}", all.len())),
        }
    }

    /// Checks that a table has all k-mers of its reads, those of both strands together; a `hybrid` lacks those of low
    /// counts.
    fn check(&self, reads: &Reads, hybrid: bool) -> Result<(), Error> {
        let Reads::Table(table) = reads else {
            return match hybrid {
                true => Err(Error::Config(ConfigError::new(
                    "`hybrid` is for a table: unite the tables of both technologies, each cut at 2, and give the union",
                ))),
                false => Ok(()),
            };
        };
        let description = table.description();
        let Description { k, min_count, max_count, canonical, homopolymer_compressed, .. } =
            *description;
        let reason = if self.k.is_some_and(|given| given != k) {
            format!("its k is {k}: leave `k` out")
        } else if self.hpc && !homopolymer_compressed {
            "it is of reads as they are, and not homopolymer-compressed: count with `hpc`".into()
        } else if max_count < UNCUT_MAX_COUNT {
            format!(
                "k-mers that occur more than {max_count} times are cut off, and all are needed: count without `max_count`"
            )
        } else if min_count > 1 && !hybrid {
            format!(
                "k-mers that occur less than {min_count} times are cut off, and all are needed: count with a minimum of 1 \
                 (or give `hybrid`, if it unites the tables of two sequencing technologies, each cut at 2)"
            )
        } else if !canonical {
            "k-mers of both strands must be counted together: count without forward-only".into()
        } else {
            return Ok(());
        };
        Err(merganser_kmers::Error::Table { path: table.path().to_owned(), reason }.into())
    }
}

/// Says that two files have the same name in the results.
fn twice(what: &str, name: &str, is_same: bool) -> String {
    match is_same {
        true => format!("both {what} are {name}: give two files"),
        false => format!("both {what} are called {name}: rename one of the files"),
    }
}

/// Tables cut at a largest count of this or more lack no k-mer: KMC's default (`-cx`).
const UNCUT_MAX_COUNT: u32 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_merqurys() {
        let name = |path: &str| Assembly::of(path.into()).name;
        assert_eq!(name("a/b.hap1.fasta.gz"), "b.hap1");
        assert_eq!(name("b.fa"), "b");
        assert_eq!(name("b.fna"), "b.fna");
        assert_eq!(name("b"), "b");
    }
}
