//! Options for choosing a taxon among candidates.

use merganser_taxonomy::Rank;
use serde::Serialize;

#[cfg(feature = "cli")]
use super::per_mille::per_mille;
use super::refused;
use crate::Error;
use crate::decide::Thresholds;
use crate::params::Params;

/// Options for choosing a taxon among candidates. Fields that are `None` are taken from the preset of the database.
// The fields' comments are also the command-line help.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct VerdictConfig {
    /// Lowest rank at which taxa are distinguished [default: the preset's]
    #[cfg_attr(feature = "cli", arg(long, value_name = "RANK", help_heading = "Decision"))]
    pub lowest: Option<Rank>,
    /// Highest rank to report; reads whose taxon is above it are unclassified [default: domain]
    #[cfg_attr(feature = "cli", arg(long, value_name = "RANK", help_heading = "Decision"))]
    pub highest: Option<Rank>,
    /// Maximum number of candidates of a read [default: the preset's]
    #[cfg_attr(feature = "cli", arg(long, alias = "maxcand", value_name = "N"))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Decision"))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u16).range(1..=1024)))]
    pub max_cand: Option<u16>,
    /// Minimum hits of the best candidate [default: the preset's]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Decision"))]
    pub hitmin: Option<u32>,
    /// Minimum hits of the best candidate per 1,000 bases of the read or pair, rounded down; used
    /// if larger than --hitmin [default: 0]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Decision"))]
    pub hitmin_per_kb: Option<u32>,
    /// Additional hits that the best candidate needs if there is a second candidate
    /// [default: the preset's; 0 with --hitmin]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Decision"))]
    pub hitmin_contested: Option<u32>,
    /// Percentage of the best candidate's hits that another candidate must exceed to be considered;
    /// with the metacache preset, of its hits above the required minimum [default: the preset's]
    // The option is in per cent; the field is in per mille.
    #[cfg_attr(feature = "cli", arg(long, value_name = "PERCENT", value_parser = per_mille))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Decision"))]
    pub hitdiff: Option<u32>,
}

impl VerdictConfig {
    /// Returns the preset's thresholds for a database with these parameters, replaced by the options that are set.
    ///
    /// # Errors
    /// [`Error::Config`] names the value that is out of range.
    pub fn thresholds(&self, params: &Params) -> Result<Thresholds, Error> {
        let of = Thresholds::new(params);
        // If `hitmin` is given, the default of `hitmin_contested` is 0.
        let contested = if self.hitmin.is_some() { 0 } else { of.hitmin_contested };
        let thresholds = Thresholds {
            lowest: self.lowest.unwrap_or(of.lowest),
            highest: self.highest.unwrap_or(of.highest),
            max_cand: self.max_cand.map_or(of.max_cand, usize::from),
            hitmin: self.hitmin.unwrap_or(of.hitmin),
            hitmin_per_kb: self.hitmin_per_kb.unwrap_or(of.hitmin_per_kb),
            hitmin_contested: self.hitmin_contested.unwrap_or(contested),
            hitdiff: self.hitdiff.unwrap_or(of.hitdiff),
            ..of
        };
        if thresholds.max_cand == 0 {
            return Err(refused("`max_cand` is 0; it must be at least 1"));
        }
        if thresholds.lowest > thresholds.highest {
            return Err(refused("`lowest` is above `highest`"));
        }
        Ok(thresholds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Preset;

    #[test]
    fn options_change_single_thresholds_of_a_preset() {
        let params = Preset::Sensitive.params();
        let of = Thresholds::new(&params);
        let thresholds = |config: VerdictConfig| config.thresholds(&params);
        assert_eq!(thresholds(VerdictConfig::default()).unwrap(), of);
        let given = VerdictConfig { hitmin: Some(9), ..VerdictConfig::default() };
        let expected = Thresholds { hitmin: 9, hitmin_contested: 0, ..of };
        assert_eq!(thresholds(given.clone()).unwrap(), expected);
        let given = VerdictConfig { hitmin_contested: Some(3), ..given };
        assert_eq!(thresholds(given).unwrap(), Thresholds { hitmin_contested: 3, ..expected });
    }

    #[test]
    fn what_is_out_of_range_is_named() {
        let params = Preset::Sensitive.params();
        let of = VerdictConfig::default;
        for (config, message) in [
            (VerdictConfig { max_cand: Some(0), ..of() }, "`max_cand` is 0; it must be at least 1"),
            (VerdictConfig { lowest: Some(Rank::Root), ..of() }, "`lowest` is above `highest`"),
        ] {
            assert_eq!(config.thresholds(&params).unwrap_err().to_string(), message);
        }
    }
}
