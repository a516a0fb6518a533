//! What is judged, and by what.

use std::path::PathBuf;

use merganser_io::Input;
use merganser_kmers::tables::AnyTable;
use merganser_run::ConfigError;
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
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Config {
    /// Bases of a k-mer, where reads are counted; `None` for the least number, odd, of which the largest assembly has few
    /// by chance ([`least_k`](merganser_spectrum::least_k)). A table has its own.
    pub k: Option<usize>,
    /// k-mers with a larger count in the reads are the genome's; `None` to see it from the histogram
    /// ([`solid_threshold`](merganser_spectrum::solid_threshold)).
    pub solid: Option<u32>,
    /// Make one base of each run of the same base, in reads and assemblies; a table may say so itself.
    pub homopolymer_compressed: bool,
    /// Which runs of markers of the other haplotype end a phase block.
    pub blocks: BlockRule,
}

impl Config {
    /// As everything is by default.
    pub fn new() -> Config {
        Config::default()
    }

    /// Counts reads' k-mers of so many bases.
    #[must_use]
    pub fn k(self, k: Option<usize>) -> Config {
        Config { k, ..self }
    }

    /// Takes k-mers with a larger count for the genome's.
    #[must_use]
    pub fn solid(self, solid: Option<u32>) -> Config {
        Config { solid, ..self }
    }

    /// Makes one base of each run of the same base, in reads and assemblies.
    #[must_use]
    pub fn homopolymer_compressed(self, homopolymer_compressed: bool) -> Config {
        Config { homopolymer_compressed, ..self }
    }

    /// Ends phase blocks by this rule.
    #[must_use]
    pub fn blocks(self, blocks: BlockRule) -> Config {
        Config { blocks, ..self }
    }

    /// Sees to it that all goes together.
    ///
    /// # Errors
    /// What does not.
    pub fn validate(&self, subject: &Subject) -> Result<(), Error> {
        let problem = |what: String| Err(Error::Config(ConfigError::new(what)));
        let parents = subject.parents.iter().flatten().map(|parent| &parent.reads);
        [&subject.reads].into_iter().chain(parents).try_for_each(|reads| self.check(reads))?;
        if let Some([one, other]) = &subject.parents
            && one.name == other.name
        {
            return problem(format!(
                "both parents are called {}: rename one of the files",
                one.name
            ));
        }
        if self.k.is_some_and(|k| k == 0 || k > MAX_K) {
            return problem(format!("`k` is {}: 1 to {MAX_K} are possible", self.k.unwrap_or(0)));
        }
        match &subject.assemblies[..] {
            [_] => Ok(()),
            [one, other] if one.name != other.name => Ok(()),
            [one, _] => {
                problem(format!("both assemblies are called {}: rename one of the files", one.name))
            }
            all => problem(format!("one or two assemblies are judged together, not {}", all.len())),
        }
    }

    /// Sees to it that a table is not cut, and has k-mers of both strands.
    fn check(&self, reads: &Reads) -> Result<(), Error> {
        let table = match reads {
            Reads::Table(table) => Some((table.path(), table.description())),
            Reads::Inputs(_) => None,
        };
        if let Some((path, description)) = table {
            let refuse = |reason: String| {
                Err(Error::Kmers(merganser_kmers::Error::Table { path: path.to_owned(), reason }))
            };
            if self.k.is_some_and(|k| k != description.k) {
                return refuse(format!("its k is {}: leave `k` out", description.k));
            }
            if self.homopolymer_compressed && !description.homopolymer_compressed {
                return refuse("it is of reads as they are, and not homopolymer-compressed: count with `homopolymer_compressed`".into());
            }
            if description.min_count > 1 {
                return refuse(format!(
                    "k-mers that occur less than {} times are cut off, and all are needed: count with a minimum of 1",
                    description.min_count
                ));
            }
            if !description.canonical {
                return refuse(
                    "k-mers of both strands must be counted together: count without forward-only"
                        .into(),
                );
            }
        }
        Ok(())
    }
}

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
