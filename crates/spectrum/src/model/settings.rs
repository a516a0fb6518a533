//! The settings of a model.

use super::patterns::last_topology;
use crate::Error;

/// The settings of a model.
// The doc comments of the fields are the help texts of the command line.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct Settings {
    /// Relation of four haplotypes (1 or 2), five (1 to 5) or six (1 to 16), by GenomeScope 2's
    /// numbers; 0 for any
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t, requires = "model"))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u32).range(..=16)))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Model"))]
    pub topology: u32,
    /// Approximate count of a k-mer that one haplotype has once [default: found automatically]
    #[cfg_attr(feature = "cli", arg(long = "lambda", value_name = "COVERAGE", requires = "model"))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Model"))]
    pub coverage: Option<f64>,
    /// Do not fit the model to counts above N; they still count for the genome size [default:
    /// 2000, or ten times the main peak]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", requires = "model"))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u32).range(20..)))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Model"))]
    pub max_count: Option<u32>,
    /// Exclude k-mers that occur more than N times, also from the genome size: those of
    /// organelles, plasmids and spike-ins [default: no limit]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", requires = "model"))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u32).range(20..)))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Model"))]
    pub exclude_above: Option<u32>,
    /// The number of copies of the genome in a cell, 1 to 6.
    #[cfg_attr(feature = "cli", arg(skip = Settings::default().ploidy))]
    pub ploidy: u32,
    /// The number of occurrences of all k-mers, for a histogram that gives it and does not have all rows. It is
    /// ignored with `exclude_above`, or if the rows have over a tenth more.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub total: Option<u64>,
}

impl Default for Settings {
    /// Returns the settings for two haplotypes, with all other values to be found.
    fn default() -> Settings {
        Settings {
            ploidy: 2,
            topology: 0,
            coverage: None,
            max_count: None,
            exclude_above: None,
            total: None,
        }
    }
}

impl Settings {
    /// Checks the settings.
    ///
    /// # Errors
    /// If there is no such model.
    pub(super) fn check(&self) -> Result<(), Error> {
        if !(1..=6).contains(&self.ploidy) {
            return Err(Error::Ploidy(self.ploidy));
        }
        let last = last_topology(self.ploidy);
        if self.topology > last {
            return Err(Error::Topology { ploidy: self.ploidy, last });
        }
        if self.coverage.is_some_and(|coverage| !(1.0..=1e6).contains(&coverage)) {
            return Err(Error::Coverage);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_model_has_is_refused() {
        let check = |ploidy, topology| Settings { ploidy, topology, ..Settings::default() }.check();
        assert_eq!(check(7, 0), Err(Error::Ploidy(7)));
        assert_eq!(check(0, 0), Err(Error::Ploidy(0)));
        assert_eq!(check(4, 3), Err(Error::Topology { ploidy: 4, last: 2 }));
        assert_eq!(check(2, 1), Err(Error::Topology { ploidy: 2, last: 0 }));
        assert_eq!((check(4, 2), check(6, 16)), (Ok(()), Ok(())));
        let coverage = Settings { coverage: Some(f64::NAN), ..Settings::default() };
        assert_eq!(coverage.check(), Err(Error::Coverage));
    }
}
