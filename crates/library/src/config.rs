//! What a library is made of.

use std::path::PathBuf;

use merganser_taxonomy::TaxonomySource;

/// How far an assembly is, the best one last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Contigs alone.
    Contig,
    /// Contigs that are joined to scaffolds.
    Scaffold,
    /// A chromosome or more, which may have gaps.
    Chromosome,
    /// All of the genome without gaps: NCBI's `Complete Genome`.
    Complete,
}

/// What an assembly is for its species, as NCBI's `refseq_category` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// Its representative genome: a word that NCBI used until 2024.
    Representative,
    /// Its reference genome.
    Reference,
}

impl Level {
    /// The level that NCBI's word stands for.
    pub(super) fn of(word: &str) -> Option<Level> {
        match word {
            "Contig" => Some(Level::Contig),
            "Scaffold" => Some(Level::Scaffold),
            "Chromosome" => Some(Level::Chromosome),
            "Complete Genome" => Some(Level::Complete),
            _ => None,
        }
    }

    /// NCBI's word for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Level::Contig => "Contig",
            Level::Scaffold => "Scaffold",
            Level::Chromosome => "Chromosome",
            Level::Complete => "Complete Genome",
        }
    }
}

impl Category {
    /// The category that NCBI's words stand for.
    pub(super) fn of(words: &str) -> Option<Category> {
        match words {
            "representative genome" => Some(Category::Representative),
            "reference genome" => Some(Category::Reference),
            _ => None,
        }
    }

    /// NCBI's words for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Category::Representative => "representative genome",
            Category::Reference => "reference genome",
        }
    }
}

/// What a library is made of, beside the folders of downloads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LibraryConfig {
    /// Lists of assemblies with their taxids, which come before those that are found in the folders:
    /// `assembly_summary.txt` of NCBI, or `assembly_data_report.jsonl` of its program `datasets`.
    pub assembly_summaries: Vec<PathBuf>,
    /// GTDB's tables, whose lineages are then the taxa; or the folder of NCBI's taxdump, in which taxids
    /// are then looked up.
    pub taxonomy: Option<TaxonomySource>,
    /// Files with MD5 checksums, which come before those that are found in the folders.
    pub checksums: Vec<PathBuf>,
    /// Only assemblies of this level or a better one.
    pub level: Option<Level>,
    /// Only assemblies of this category or a better one.
    pub category: Option<Category>,
    /// Read all files again, also those that are known from an earlier run.
    pub verify: bool,
}

impl LibraryConfig {
    /// Everything that is found, by the lists that are found.
    pub fn new() -> LibraryConfig {
        LibraryConfig::default()
    }

    /// Takes taxids from these lists first.
    #[must_use]
    pub fn assembly_summaries(self, lists: impl Into<Vec<PathBuf>>) -> LibraryConfig {
        LibraryConfig { assembly_summaries: lists.into(), ..self }
    }

    /// Takes this taxonomy, or none.
    #[must_use]
    pub fn taxonomy(self, taxonomy: impl Into<Option<TaxonomySource>>) -> LibraryConfig {
        LibraryConfig { taxonomy: taxonomy.into(), ..self }
    }

    /// Takes checksums from these files first.
    #[must_use]
    pub fn checksums(self, files: impl Into<Vec<PathBuf>>) -> LibraryConfig {
        LibraryConfig { checksums: files.into(), ..self }
    }

    /// Takes assemblies of this level or a better one alone, or all.
    #[must_use]
    pub fn level(self, level: impl Into<Option<Level>>) -> LibraryConfig {
        LibraryConfig { level: level.into(), ..self }
    }

    /// Takes assemblies of this category or a better one alone, or all.
    #[must_use]
    pub fn category(self, category: impl Into<Option<Category>>) -> LibraryConfig {
        LibraryConfig { category: category.into(), ..self }
    }

    /// Reads all files again, or only new ones.
    #[must_use]
    pub fn verify(self, verify: bool) -> LibraryConfig {
        LibraryConfig { verify, ..self }
    }

    /// Whether assemblies are chosen by what lists say of them.
    pub(super) fn chooses(&self) -> bool {
        self.level.is_some() || self.category.is_some()
    }
}
