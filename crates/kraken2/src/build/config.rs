//! Parameters of building a database.

use merganser_run::ConfigError;
#[cfg(feature = "cli")]
use merganser_run::parse_size;
use merganser_seq::masking::Masking;
use serde::Serialize;

use crate::Kraken2Options;

/// Parameters of building a database. The defaults are those of `kraken2-build`.
// The doc comments of options are the help texts of the command line.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct Kraken2BuildConfig {
    /// Length of a k-mer in bases: at least that of a minimizer, at most 8,192.
    #[cfg_attr(feature = "cli", arg(skip = K))]
    pub k: usize,
    /// Length of a minimizer in bases, 1 to 31, at most -k (which is 35 by default)
    #[cfg_attr(feature = "cli", arg(long, value_name = "L", default_value_t = MINIMIZER))]
    #[cfg_attr(feature = "cli", arg(help_heading = HEADING))]
    pub minimizer_len: usize,
    /// Bases of a minimizer that are ignored (every other base), at most a quarter of it
    // The ignored bases alternate, beginning with the last base but one.
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = SPACES))]
    #[cfg_attr(feature = "cli", arg(help_heading = HEADING))]
    pub minimizer_spaces: usize,
    /// Maximum size of the table, e.g. 8G; a share of the minimizers is left out to fit
    #[cfg_attr(feature = "cli", arg(long, value_name = "SIZE", value_parser = parse_size))]
    #[cfg_attr(feature = "cli", arg(help_heading = HEADING))]
    pub max_db_size: Option<u64>,
    /// The regions of the library's sequences that are masked.
    #[serde(serialize_with = "merganser_run::options::as_text")]
    #[cfg_attr(feature = "cli", arg(skip = Masking::LowComplexity))]
    pub masked: Masking,
    /// The value that minimizers are XORed with before the smallest is chosen.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip = TOGGLE))]
    pub toggle_mask: u64,
    /// The minimum number of bits of a cell that hold its taxon; 0: as many as the taxa need.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub minimum_value_bits: u32,
    /// The approximate share of cells that are in use, above 0 and at most 1.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip = LOAD))]
    pub load_factor: f64,
}

#[cfg(feature = "cli")]
const HEADING: &str = "Kraken 2's databases (--format kraken2)";
/// The defaults of `kraken2-build`.
const K: usize = 35;
const MINIMIZER: usize = 31;
const SPACES: usize = 7;
const TOGGLE: u64 = 0xe37e_28c4_271b_5a2d;
const LOAD: f64 = 0.7;

/// The maximum length of a k-mer.
const MAX_K: usize = 8192;

impl Default for Kraken2BuildConfig {
    fn default() -> Self {
        Kraken2BuildConfig {
            k: K,
            minimizer_len: MINIMIZER,
            minimizer_spaces: SPACES,
            max_db_size: None,
            masked: Masking::LowComplexity,
            toggle_mask: TOGGLE,
            minimum_value_bits: 0,
            load_factor: LOAD,
        }
    }
}

impl Kraken2BuildConfig {
    /// Checks that all parameters are in range.
    ///
    /// # Errors
    /// If a parameter is out of range; the error names it and its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let Kraken2BuildConfig {
            k, minimizer_len: l, minimizer_spaces: spaces, load_factor, ..
        } = *self;
        let wrong = |what: String| Err(ConfigError::new(what));
        if !(1..=31).contains(&l) {
            return wrong(format!("`minimizer_len` {l} is out of range: 1 to 31"));
        }
        if !(l..=MAX_K).contains(&k) {
            return wrong(format!(
                "`k` {k} is out of range: `minimizer_len`, which is {l}, to {MAX_K}"
            ));
        }
        if spaces > l / 4 {
            return wrong(format!(
                "`minimizer_spaces` {spaces} is out of range: 0 to a quarter of `minimizer_len`, {}",
                l / 4
            ));
        }
        if !(load_factor > 0.0 && load_factor <= 1.0) {
            return wrong(format!("`load_factor` {load_factor} is out of range: above 0, to 1"));
        }
        if self.minimum_value_bits > 31 {
            return wrong(format!(
                "`minimum_value_bits` {} is out of range: 0 to 31",
                self.minimum_value_bits
            ));
        }
        match self.max_db_size {
            Some(bytes @ 0..4) => {
                wrong(format!("`max_db_size` {bytes} is out of range: 4 or more"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the mask of the bits of an l-mer that count: two per base, the last base in the lowest bits.
    fn spaced_mask(&self) -> u64 {
        let spaces = self.minimizer_spaces;
        let counts = |base: &usize| *base >= 2 * spaces || base.is_multiple_of(2);
        (0..self.minimizer_len).filter(counts).map(|base| 3 << (2 * base)).sum()
    }

    /// Returns the configuration of a database that can be used [together](crate::Kraken2Database::open_all) with one of
    /// these parameters.
    ///
    /// # Errors
    /// If no such database can be built.
    pub fn beside(self, options: &Kraken2Options) -> Result<Kraken2BuildConfig, ConfigError> {
        let &Kraken2Options { k, l, toggle_mask, old_complement, .. } = options;
        let of = |minimizer_spaces| Kraken2BuildConfig {
            k,
            minimizer_len: l,
            minimizer_spaces,
            toggle_mask,
            ..self.clone()
        };
        if old_complement {
            return Err(ConfigError::new(
                "a database from before Kraken 2.0.8 has another rule of reverse complements: none can be built \
                 for use with it",
            ));
        }
        let mask = options.effective_spaced_mask();
        let same = |config: &Kraken2BuildConfig| config.spaced_mask() == mask;
        (0..=l / 4).map(of).find(same).ok_or_else(|| {
            ConfigError::new(format!(
                "the spaced seed {:#x} is not one that `minimizer_spaces` gives: none can be built for use with it",
                options.spaced_mask
            ))
        })
    }

    pub(super) fn options(&self, minimum_hash: u64) -> Kraken2Options {
        Kraken2Options {
            k: self.k,
            l: self.minimizer_len,
            spaced_mask: self.spaced_mask(),
            toggle_mask: self.toggle_mask,
            minimum_hash,
            old_complement: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_those_of_kraken2_build() {
        let mask = |minimizer_len, minimizer_spaces| {
            Kraken2BuildConfig { minimizer_len, minimizer_spaces, ..Kraken2BuildConfig::default() }
                .spaced_mask()
        };
        assert_eq!(mask(31, 7), 0x3fff_ffff_f333_3333);
        assert_eq!(mask(31, 0), (1 << 62) - 1);
        assert_eq!(mask(4, 1), 0b1111_0011);
    }

    #[test]
    fn a_database_beside_another_has_its_parameters() {
        let config = Kraken2BuildConfig {
            k: 31,
            minimizer_len: 24,
            minimizer_spaces: 3,
            toggle_mask: 5,
            ..Kraken2BuildConfig::default()
        };
        let options = config.options(17);
        let found = Kraken2BuildConfig::default().beside(&options).unwrap();
        assert_eq!((found.options(0), &found), (config.options(0), &config));
        let usual = Kraken2BuildConfig::default();
        let all = Kraken2Options { spaced_mask: 0, ..usual.options(0) };
        assert_eq!(usual.clone().beside(&all).unwrap().minimizer_spaces, 0);
        let other = Kraken2Options { spaced_mask: 0xf0f0, ..options };
        assert!(usual.clone().beside(&other).unwrap_err().to_string().contains("0xf0f0"));
        let old = Kraken2Options { old_complement: true, ..options };
        assert!(usual.beside(&old).unwrap_err().to_string().contains("2.0.8"));
    }

    #[test]
    fn ranges_are_checked() {
        let message = |change: &dyn Fn(&mut Kraken2BuildConfig)| {
            let mut config = Kraken2BuildConfig::default();
            change(&mut config);
            config.validate().unwrap_err().to_string()
        };
        assert!(Kraken2BuildConfig::default().validate().is_ok());
        assert!(message(&|config| config.minimizer_len = 32).starts_with("`minimizer_len` 32"));
        assert!(message(&|config| config.minimizer_len = 0).starts_with("`minimizer_len` 0"));
        assert!(message(&|config| config.k = 30).starts_with("`k` 30"));
        assert!(message(&|config| config.k = MAX_K + 1).starts_with("`k` 8193"));
        assert!(
            message(&|config| config.minimizer_spaces = 8)
                .ends_with("quarter of `minimizer_len`, 7")
        );
        assert!(message(&|config| config.load_factor = 0.0).starts_with("`load_factor` 0"));
        assert!(message(&|config| config.load_factor = f64::NAN).starts_with("`load_factor` NaN"));
        assert!(message(&|config| config.max_db_size = Some(3)).starts_with("`max_db_size` 3"));
        assert!(message(&|config| config.minimum_value_bits = 32).contains("0 to 31"));
    }
}
