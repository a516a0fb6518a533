//! The input and the settings of an evaluation.

use std::fmt;
use std::path::{Path, PathBuf};

use merganser_io::{FileKind, Input, expand_inputs};
use merganser_kmers::algebra::Cut;
use merganser_kmers::tables::{AnyTable, Description};
#[cfg(feature = "cli")]
use merganser_run::options::cli;
use merganser_run::{ConfigError, Context};
use merganser_seq::kmer::MAX_K;

use crate::{BlockRule, Error};

/// The reads whose k-mers assemblies are compared with.
#[derive(Debug)]
pub enum Reads {
    /// A table of all k-mers of the reads, including those that occur once.
    Table(Box<AnyTable>),
    /// The reads themselves; their k-mers are counted first.
    Inputs(Vec<Input>),
    /// The union of the k-mers of several tables or reads, each restricted to the counts of a cut; the counts are
    /// added. Merqury's authors advise it for reads of several technologies.
    Union(Vec<(Reads, Cut)>),
}

impl Reads {
    /// Opens the reads at `path`: a table, unless the file has sequences, is a list of such files (`@list.txt`) or is
    /// standard input (`-`). `hpc` says that a table which does not record it is of homopolymer-compressed reads.
    ///
    /// # Errors
    /// If the file cannot be read, is neither a table nor sequences, or is a table of reads that were not compressed
    /// although `hpc` is set.
    pub fn open(path: impl AsRef<Path>, hpc: bool, context: &Context) -> Result<Reads, Error> {
        let path = path.as_ref();
        let is_list = path.as_os_str().as_encoded_bytes().starts_with(b"@");
        let is_stdin = path.as_os_str() == "-";
        match if is_list || is_stdin { None } else { Reads::table(path, hpc, context)? } {
            Some(table) => Ok(Reads::Table(table)),
            None => Ok(Reads::Inputs(expand_inputs(&[path.to_owned()])?)),
        }
    }

    /// Opens the table at `path` as [`open`](Self::open) does; `None` if the file has sequences.
    ///
    /// # Errors
    /// Fails as [`open`](Self::open) does.
    pub fn table(
        path: &Path,
        hpc: bool,
        context: &Context,
    ) -> Result<Option<Box<AnyTable>>, Error> {
        if AnyTable::is_of_sequences(path)? {
            return Ok(None);
        }
        let table = AnyTable::open_with(path, true, context)?;
        Ok(Some(Box::new(if hpc { table.of_homopolymer_compressed()? } else { table })))
    }

    /// Returns the name of the reads at `path` in the names of outputs: that of the file without the suffix of a table.
    pub fn name(path: &Path) -> String {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.trim_start_matches('@');
        let stem = [".mgk", ".ktab", ".meryl", ".kff", ".jf", ".kmc_pre", ".kmc_suf"]
            .iter()
            .find_map(|end| name.strip_suffix(end));
        match stem.unwrap_or(name) {
            "-" | "" => "reads".to_owned(),
            stem => stem.to_owned(),
        }
    }

    /// Whether k-mers come from several technologies, so that low counts may be missing.
    pub fn is_hybrid(&self) -> bool {
        matches!(self, Reads::Union(operands) if operands.len() > 1)
    }

    /// Returns all tables.
    pub fn tables(&self) -> Vec<&AnyTable> {
        match self {
            Reads::Table(table) => vec![table],
            Reads::Inputs(_) => Vec::new(),
            Reads::Union(operands) => operands.iter().flat_map(|(of, _)| of.tables()).collect(),
        }
    }

    /// Returns all inputs that are counted.
    pub fn inputs(&self) -> Vec<&Input> {
        match self {
            Reads::Table(_) => Vec::new(),
            Reads::Inputs(inputs) => inputs.iter().collect(),
            Reads::Union(operands) => operands.iter().flat_map(|(of, _)| of.inputs()).collect(),
        }
    }

    /// Returns the length of k-mers, if there is a table.
    pub(crate) fn k(&self) -> Option<usize> {
        self.tables().first().map(|table| table.description().k)
    }
}

impl fmt::Display for Reads {
    /// Writes the name of the table or of the first file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reads::Table(table) => table.path().display().fmt(f),
            Reads::Inputs(inputs) => inputs.first().map_or(Ok(()), |input| input.fmt(f)),
            Reads::Union(operands) => {
                let names: Vec<String> = operands.iter().map(|(of, _)| of.to_string()).collect();
                names.join(" and ").fmt(f)
            }
        }
    }
}

/// An assembly to evaluate.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// The name that results use.
    pub name: String,
    /// The file with the sequences.
    pub input: Input,
}

impl Assembly {
    /// Returns the assembly in a file, named as Merqury names it: the name of the file without the suffix of a
    /// compression and without `.fa` or `.fasta`.
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

/// A parent of the sample whose genome was assembled.
#[derive(Debug)]
pub struct Parent {
    /// The name that results use.
    pub name: String,
    /// The parent's reads or their table.
    pub reads: Reads,
}

/// The input of an evaluation.
#[derive(Debug)]
pub struct Subject {
    /// The reads of the sample whose genome was assembled.
    pub reads: Reads,
    /// The sample's mother and father, in this order.
    pub parents: Option<[Parent; 2]>,
    /// One or more assemblies of one genome.
    pub assemblies: Vec<Assembly>,
}

impl Subject {
    /// Returns all tables of the sample's and the parents' reads.
    fn tables(&self) -> Vec<&AnyTable> {
        let parents = self.parents.iter().flatten().map(|parent| &parent.reads);
        [&self.reads].into_iter().chain(parents).flat_map(Reads::tables).collect()
    }

    /// Returns the length of k-mers, if there is a table, also one of a parent.
    pub(crate) fn k(&self) -> Option<usize> {
        self.tables().first().map(|table| table.description().k)
    }

    /// Whether there is a table of homopolymer-compressed reads, also one of a parent.
    pub fn is_homopolymer_compressed(&self) -> bool {
        self.tables().iter().any(|table| table.description().homopolymer_compressed)
    }
}

/// The settings of an evaluation.
///
/// ```
/// use merganser_assembly::Config;
///
/// let config = Config { k: Some(21), hpc: true, ..Config::default() };
/// assert_eq!((config.solid, config.blocks.markers), (None, 100));
/// ```
// The doc comments of the fields are the help texts of the command line.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct Config {
    /// k-mer length, if READS are sequences and not a table [default: by the size of the
    /// largest assembly]
    // The default is the smallest odd k with few k-mers of the largest assembly by chance:
    // `merganser_spectrum::least_k`.
    #[cfg_attr(feature = "cli", arg(short, value_name = "K", value_parser = cli::kmer_length))]
    pub k: Option<usize>,
    /// k-mers that occur more often than N in the reads belong to the genome [default: the
    /// valley of the histogram]
    // `merganser_spectrum::solid_threshold` finds the default.
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub solid: Option<u32>,
    /// Accept a READS table without low counts: the union of the tables of two sequencing
    /// technologies, each cut at 2, as Merqury's authors advise for HiFi with Illumina
    #[cfg_attr(feature = "cli", arg(long))]
    pub hybrid: bool,
    /// Compress homopolymers of reads and assemblies; a READS table must be of compressed
    /// reads, which only .mgk records
    #[cfg_attr(feature = "cli", arg(long))]
    pub hpc: bool,
    /// The rule that ends phase blocks.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub blocks: BlockRule,
}

impl Config {
    /// Checks the settings and the input.
    ///
    /// # Errors
    /// If a setting or a table is unsuitable, if two parents or assemblies have the same name, or if an assembly has a
    /// format of reads.
    pub fn validate(&self, subject: &Subject) -> Result<(), Error> {
        let problem = |what: String| Err(Error::Config(ConfigError::new(what)));
        self.check(&subject.reads, self.hybrid)?;
        let mut parents = subject.parents.iter().flatten();
        parents.try_for_each(|parent| self.check(&parent.reads, false))?;
        agree(&subject.tables())?;
        if let Some([one, other]) = &subject.parents
            && one.name == other.name
        {
            return problem(twice(
                "both parents",
                &one.name,
                one.reads.to_string() == other.reads.to_string(),
            ));
        }
        if self.k.is_some_and(|k| k == 0 || k > MAX_K) {
            return problem(format!("`k` is {}: 1 to {MAX_K} are possible", self.k.unwrap_or(0)));
        }
        let assemblies = &subject.assemblies;
        if assemblies.is_empty() {
            return problem("no assembly is given".into());
        }
        for (number, other) in assemblies.iter().enumerate() {
            if let Some(one) = assemblies[..number].iter().find(|one| one.name == other.name) {
                let which = if assemblies.len() == 2 { "both" } else { "two" };
                let what = format!("{which} assemblies");
                return problem(twice(&what, &one.name, one.input == other.input));
            }
        }
        for Assembly { input, .. } in assemblies {
            let kind = input.path().and_then(FileKind::of_path);
            if let Some(kind) = kind.filter(|kind| kind.is_reads()) {
                return Err(Error::OfReads { input: input.clone(), kind });
            }
        }
        Ok(())
    }

    /// Checks that tables have all k-mers of their reads, both strands counted together. With `hybrid`, low counts may be
    /// missing.
    fn check(&self, reads: &Reads, hybrid: bool) -> Result<(), Error> {
        let problem = |what: &str| Err(Error::Config(ConfigError::new(what)));
        match reads {
            Reads::Table(table) => self.check_table(table, if hybrid { u32::MAX } else { 1 }),
            Reads::Inputs(_) if hybrid => problem(
                "`hybrid` requires a table: give the union of the tables of both technologies, each cut at 2",
            ),
            Reads::Inputs(_) => Ok(()),
            Reads::Union(operands) => {
                operands.iter().try_for_each(|(of, cut)| self.check_operand(of, *cut))
            }
        }
    }

    /// Checks an operand of a union: all k-mers within its cut are needed.
    fn check_operand(&self, reads: &Reads, cut: Cut) -> Result<(), Error> {
        let refuse = |reason: &str| {
            let path = PathBuf::from(reads.to_string());
            Err(merganser_kmers::Error::Table { path, reason: reason.into() }.into())
        };
        match reads {
            _ if cut.most < u32::MAX => refuse(
                "an upper bound of the counts drops the k-mers of repeats, and all are needed: leave it out",
            ),
            Reads::Table(table) => self.check_table(table, cut.least),
            Reads::Inputs(_) => Ok(()),
            Reads::Union(_) => refuse("a union of unions is not possible: give its operands"),
        }
    }

    /// Checks that a table has all k-mers of its reads with this count or a larger one.
    fn check_table(&self, table: &AnyTable, least: u32) -> Result<(), Error> {
        let description = table.description();
        let Description { k, homopolymer_compressed, .. } = *description;
        let reason = if self.k.is_some_and(|given| given != k) {
            format!("its k is {k}: leave `k` out")
        } else if self.hpc && !homopolymer_compressed {
            "its reads were not homopolymer-compressed: count with `hpc`".into()
        } else if let Some(reason) = unfit(description, least, UNION_ADVICE) {
            reason
        } else {
            return Ok(());
        };
        Err(merganser_kmers::Error::Table { path: table.path().to_owned(), reason }.into())
    }
}

/// Checks that tables can be compared with each other.
fn agree(tables: &[&AnyTable]) -> Result<(), Error> {
    let Some((first, others)) = tables.split_first() else { return Ok(()) };
    for table in others {
        let [one, other] = [first, table].map(|table| table.description());
        let first = first.path().display();
        let reason = if one.k != other.k {
            format!(
                "its k is {}, and that of {first} is {}: give tables of the same k",
                other.k, one.k
            )
        } else if one.homopolymer_compressed != other.homopolymer_compressed {
            format!(
                "either its reads or those of {first} were homopolymer-compressed: give tables of both kinds compressed"
            )
        } else {
            continue;
        };
        return Err(merganser_kmers::Error::Table { path: table.path().to_owned(), reason }.into());
    }
    Ok(())
}

/// The alternative to a table with all low counts.
const UNION_ADVICE: &str = " (or give `hybrid`, if it is the union of tables of two sequencing technologies, each cut at 2)";

/// Returns the reason why a table does not have all k-mers of its reads, both strands counted together; `None` if it does.
/// K-mers with counts below `least` may be missing; `advice` is added to the error if others are and `least` is 1.
pub(crate) fn unfit(table: &Description, least: u32, advice: &str) -> Option<String> {
    let Description { min_count, max_count, canonical, .. } = *table;
    if table.is_only_given() {
        return Some(ONLY_GIVEN.into());
    }
    if max_count < UNCUT_MAX_COUNT {
        return Some(format!(
            "k-mers that occur more than {max_count} times are cut off, and all are needed: count without `max_count`"
        ));
    }
    if min_count > least && least > 1 {
        return Some(format!(
            "k-mers that occur less than {min_count} times are cut off, and those that occur {least} times are needed: \
             give the bounds {min_count}.. or count with a lower minimum"
        ));
    }
    if min_count > least {
        return Some(format!(
            "k-mers that occur less than {min_count} times are cut off, and all are needed: count with a minimum of \
             1{advice}"
        ));
    }
    (!canonical).then(|| {
        "k-mers of both strands must be counted together: count without forward-only".into()
    })
}

/// The message for a table that lacks k-mers of the reads, whatever their counts.
const ONLY_GIVEN: &str = "it has only given k-mers (of a panel or an intersection), and all of the reads are needed: count \
                          without `panel`";

/// Returns the message for two files with the same name in the results.
fn twice(what: &str, name: &str, is_same: bool) -> String {
    match is_same {
        true => format!("{what} are {name}: give two files"),
        false => format!("{what} are called {name}: rename one of the files"),
    }
}

/// A table with this maximum count or a larger one lacks no k-mer. This is KMC's default (`-cx`).
pub(crate) const UNCUT_MAX_COUNT: u32 = 1_000_000_000;

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
