//! Options for building a database.
#![allow(rustdoc::invalid_html_tags, reason = "help texts are not HTML: `ID<TAB>TAXID`")]

use std::path::PathBuf;

#[cfg(feature = "cli")]
use clap::builder::{PossibleValuesParser, TypedValueParser};
#[cfg(feature = "cli")]
use merganser_run::parse_size;
use merganser_seq::masking::Masking;
use merganser_taxonomy::Rank;
use serde::{Serialize, Serializer};

use super::refused;
use crate::Error;
use crate::params::{Params, Preset};

/// The maximum number of parts of a database.
pub(crate) const MAX_PARTS: usize = 256;

/// Options for building a database.
///
/// ```
/// use merganser_classify::{BuildConfig, PartConfig, Preset};
///
/// let config = BuildConfig {
///     parts: PartConfig { parts: 2, ..PartConfig::default() },
///     ..BuildConfig::new(Preset::MetaCache.params())
/// };
/// assert!(config.validate().is_ok());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BuildConfig {
    /// The sketching parameters. A database to which genomes are added keeps its own.
    #[serde(flatten)]
    pub sketches: SketchConfig,
    /// The parts of the database.
    #[serde(flatten)]
    pub parts: PartConfig,
    /// The sources of taxids.
    #[serde(flatten)]
    pub taxids: TaxidConfig,
    /// Maps found in folders of references ([`References::maps`](merganser_library::References::maps)); they are used
    /// in addition to the maps next to the references.
    #[serde(skip)]
    pub maps_beside: Vec<PathBuf>,
    /// Whether sequences without a taxon are left out when genomes are added to a database; otherwise they are an
    /// error. (New databases always leave them out.)
    #[serde(skip)]
    pub allow_unmapped: bool,
}

/// The sketching parameters; those that are `None` are the preset's.
// These comments are the command-line help.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct SketchConfig {
    /// Set of parameters; the options below override single ones [default: sensitive]
    #[cfg_attr(feature = "cli", arg(long, value_name = "PRESET", help_heading = "Sketches"))]
    pub preset: Option<Preset>,
    /// k-mer length in bases, 1 to 32
    #[cfg_attr(feature = "cli", arg(short, value_name = "K", help_heading = "Sketches"))]
    pub k: Option<u32>,
    /// Maximum number of features of a window, 1 to 128
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Sketches"))]
    pub sketch: Option<u32>,
    /// Window length in bases, K to 1,024
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Sketches"))]
    pub window: Option<u32>,
    /// Bases between the starts of consecutive windows, 1 to the window length
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Sketches"))]
    pub stride: Option<u32>,
    /// Use only the N/256 of all k-mers with the lowest hashes as features, 1 to 256 (all)
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Sketches"))]
    pub density: Option<u32>,
    /// Keep at most the first N locations of a feature, 1 to 65,535
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Sketches"))]
    pub max_locations: Option<u32>,
    /// Regions of the references to leave out of the database: none, or those of low complexity
    /// (symmetric DUST, as in dustmasker and k2mask) [default: none; with --format kraken2,
    /// low-complexity, as in kraken2-build]
    #[serde(serialize_with = "masking")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "WHAT", help_heading = "Sketches"))]
    #[cfg_attr(feature = "cli", arg(value_parser = maskings()))]
    pub masked: Option<Masking>,
    /// Leave out features with more than --max-locations locations
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Sketches"))]
    pub drop_overfull: bool,
    /// Leave out features that occur in more than --max-ambiguous taxa of this rank
    #[cfg_attr(feature = "cli", arg(long, value_name = "RANK", help_heading = "Sketches"))]
    pub drop_ambiguous: Option<Rank>,
    /// Maximum number of taxa of a feature, see --drop-ambiguous [default: 1]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Sketches"))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u32).range(1..)))]
    #[cfg_attr(feature = "cli", arg(requires = "drop_ambiguous"))]
    pub max_ambiguous: Option<u32>,
}

/// The number of parts of a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct PartConfig {
    /// Number of parts of the database, which are queried one after the other; results do not change
    // Parts consist of whole targets; 1 to 256.
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 1))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Resources"))]
    pub parts: usize,
    /// Make enough parts for each to have about this size, e.g. 8G
    #[cfg_attr(feature = "cli", arg(long, value_name = "SIZE", value_parser = parse_size))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Resources"))]
    pub max_part_size: Option<u64>,
}

/// The sources of taxids.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct TaxidConfig {
    /// File that maps sequences to taxids: ID<TAB>TAXID, accession2taxid or assembly_summary; may
    /// be given more than once
    // Earlier files take precedence. Manifests of libraries, which also map files, are accepted, too.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE", help_heading = "Taxids"))]
    pub map: Vec<PathBuf>,
    /// Fail if a sequence has no taxon, or an id occurs twice
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Taxids"))]
    pub strict: bool,
}

/// Parses the name of a masking method.
#[cfg(feature = "cli")]
fn maskings() -> impl TypedValueParser<Value = Masking> {
    PossibleValuesParser::new(Masking::ALL.map(Masking::name)).try_map(|name| name.parse())
}

/// Serializes the name of a masking method.
fn masking<S: Serializer>(masked: &Option<Masking>, serializer: S) -> Result<S::Ok, S::Error> {
    masked.map(Masking::name).serialize(serializer)
}

impl Default for PartConfig {
    /// One part.
    fn default() -> PartConfig {
        PartConfig { parts: 1, max_part_size: None }
    }
}

impl From<Params> for SketchConfig {
    /// Sets all parameters explicitly, whatever the preset's are.
    fn from(params: Params) -> SketchConfig {
        SketchConfig {
            preset: Some(params.preset),
            k: Some(params.k),
            sketch: Some(params.sketch),
            window: Some(params.window),
            stride: Some(params.stride),
            density: Some(params.density),
            max_locations: Some(params.max_locations),
            masked: Some(params.masking),
            ..SketchConfig::default()
        }
    }
}

impl SketchConfig {
    /// Returns the preset's parameters, overridden by those that are set.
    pub fn params(&self) -> Params {
        let preset = self.preset.unwrap_or_default();
        let of = preset.params();
        Params {
            preset,
            k: self.k.unwrap_or(of.k),
            sketch: self.sketch.unwrap_or(of.sketch),
            window: self.window.unwrap_or(of.window),
            stride: self.stride.unwrap_or(of.stride),
            density: self.density.unwrap_or(of.density),
            max_locations: self.max_locations.unwrap_or(of.max_locations),
            masking: self.masked.unwrap_or(of.masking),
        }
    }

    /// Returns the rank and the maximum number of its taxa in which a feature may occur, if features are pruned by it.
    pub(crate) fn ambiguous(&self) -> Option<(Rank, u32)> {
        Some((self.drop_ambiguous?, self.max_ambiguous.unwrap_or(1)))
    }
}

impl BuildConfig {
    /// Returns the defaults for these sketching parameters: one part, nothing left out.
    pub fn new(params: Params) -> BuildConfig {
        BuildConfig { sketches: params.into(), ..BuildConfig::default() }
    }

    /// Returns the sketching parameters.
    pub fn params(&self) -> Params {
        self.sketches.params()
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// [`Error::Config`] names the value that is out of range.
    pub fn validate(&self) -> Result<(), Error> {
        self.params().validate()?;
        match (1..=MAX_PARTS).contains(&self.parts.parts) {
            true => Ok(()),
            false => Err(refused(format!("{} parts: give 1 to {MAX_PARTS}", self.parts.parts))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_out_of_range_are_named() {
        assert!(BuildConfig::default().validate().is_ok());
        let parts = PartConfig { parts: 257, ..PartConfig::default() };
        let error = BuildConfig { parts, ..BuildConfig::default() }.validate().unwrap_err();
        assert_eq!(error.to_string(), "257 parts: give 1 to 256");
    }

    #[test]
    fn options_change_single_parameters_of_a_preset() {
        let params = Preset::MetaCache.params();
        let given = SketchConfig {
            preset: Some(Preset::MetaCache),
            k: Some(20),
            ..SketchConfig::default()
        };
        assert_eq!(given.params(), Params { k: 20, ..params });
        assert_eq!(SketchConfig::from(params).params(), params);
        assert_eq!(SketchConfig::default().params(), Preset::Sensitive.params());
    }
}
