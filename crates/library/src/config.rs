//! What a library is made of.

use std::path::PathBuf;

use merganser_taxonomy::TaxonomySource;
use serde::Serialize;

merganser_run::named! {
    /// How far an assembly is, the best one last.
    #[derive(PartialOrd, Ord)]
    pub enum Level {
        /// Contigs alone.
        Contig = "contig",
        /// Contigs that are joined to scaffolds.
        Scaffold = "scaffold",
        /// A chromosome or more, which may have gaps.
        Chromosome = "chromosome",
        /// All of the genome without gaps: NCBI's `Complete Genome`.
        Complete = "complete",
    }
}

merganser_run::named! {
    /// What an assembly is for its species, as NCBI's `refseq_category` says.
    #[derive(PartialOrd, Ord)]
    pub enum Category {
        /// Its representative genome: a word that NCBI used until 2024.
        Representative = "representative",
        /// Its reference genome.
        Reference = "reference",
    }
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
// These comments are the help of the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct LibraryConfig {
    /// Read all genomes again, also those whose size and time are those of an earlier run
    #[cfg_attr(feature = "cli", arg(long))]
    pub verify: bool,
    /// List of assemblies (assembly_summary.txt, or assembly_data_report.jsonl), before those in
    /// the folders; may be given more than once
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE", help_heading = "Lists"))]
    pub assembly_summary: Vec<PathBuf>,
    /// File of MD5 checksums, as md5sum writes it, before those in the folders; may be given more
    /// than once
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE", help_heading = "Lists"))]
    pub md5: Vec<PathBuf>,
    /// Only assemblies of this level or a better one; complete is the best
    #[cfg_attr(feature = "cli", arg(long, value_name = "LEVEL", help_heading = "Lists"))]
    pub level: Option<Level>,
    /// Only reference genomes, or those that were called representative (until 2024), too
    #[cfg_attr(feature = "cli", arg(long, value_name = "CATEGORY", help_heading = "Lists"))]
    pub category: Option<Category>,
    /// GTDB's tables, whose lineages are then the taxa; or the folder of NCBI's taxdump, in which taxids
    /// are then looked up.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub taxonomy: Option<TaxonomySource>,
}

impl LibraryConfig {
    /// Whether assemblies are chosen by what lists say of them.
    pub(super) fn chooses(&self) -> bool {
        self.level.is_some() || self.category.is_some()
    }
}
