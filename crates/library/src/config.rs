//! Options of preparing a library.

use std::path::PathBuf;

use merganser_taxonomy::TaxonomySource;
use serde::Serialize;

merganser_run::named! {
    /// The completeness of an assembly, the best level last.
    #[derive(PartialOrd, Ord)]
    pub enum Level {
        /// Only contigs.
        Contig = "contig",
        /// Contigs that are joined to scaffolds.
        Scaffold = "scaffold",
        /// At least one chromosome, possibly with gaps.
        Chromosome = "chromosome",
        /// The whole genome without gaps: NCBI's `Complete Genome`.
        Complete = "complete",
    }
}

merganser_run::named! {
    /// The role of an assembly for its species, from NCBI's `refseq_category`.
    #[derive(PartialOrd, Ord)]
    pub enum Category {
        /// The representative genome of its species; NCBI used this category until 2024.
        Representative = "representative",
        /// The reference genome of its species.
        Reference = "reference",
    }
}

impl Level {
    /// Returns the level with this NCBI name.
    pub(super) fn of(word: &str) -> Option<Level> {
        match word {
            "Contig" => Some(Level::Contig),
            "Scaffold" => Some(Level::Scaffold),
            "Chromosome" => Some(Level::Chromosome),
            "Complete Genome" => Some(Level::Complete),
            _ => None,
        }
    }

    /// Returns NCBI's name of the level.
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
    /// Returns the category with this NCBI name.
    pub(super) fn of(words: &str) -> Option<Category> {
        match words {
            "representative genome" => Some(Category::Representative),
            "reference genome" => Some(Category::Reference),
            _ => None,
        }
    }

    /// Returns NCBI's name of the category.
    pub(super) fn word(self) -> &'static str {
        match self {
            Category::Representative => "representative genome",
            Category::Reference => "reference genome",
        }
    }
}

/// Options of preparing a library from folders of downloads.
// The doc comments of options are the help texts of the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct LibraryConfig {
    /// Read all genomes again, even those whose size and time have not changed since an earlier run
    #[cfg_attr(feature = "cli", arg(long))]
    pub verify: bool,
    /// List of assemblies (assembly_summary.txt or assembly_data_report.jsonl), which takes precedence over
    /// those in the folders; may be given more than once
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE", help_heading = "Lists"))]
    pub assembly_summary: Vec<PathBuf>,
    /// File of MD5 checksums, as md5sum writes it, which takes precedence over those in the folders; may be given
    /// more than once
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE", help_heading = "Lists"))]
    pub md5: Vec<PathBuf>,
    /// Take only assemblies of this level or a better one; complete is the best
    #[cfg_attr(feature = "cli", arg(long, value_name = "LEVEL", help_heading = "Lists"))]
    pub level: Option<Level>,
    /// Take only reference genomes; representative also takes those that NCBI called so (until 2024)
    #[cfg_attr(feature = "cli", arg(long, value_name = "CATEGORY", help_heading = "Lists"))]
    pub category: Option<Category>,
    /// The tables of GTDB, whose lineages become the taxa, or the folder of NCBI's taxdump, in which taxids are
    /// looked up.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub taxonomy: Option<TaxonomySource>,
}

impl LibraryConfig {
    /// Whether assemblies are selected by their level or category.
    pub(super) fn chooses(&self) -> bool {
        self.level.is_some() || self.category.is_some()
    }
}
