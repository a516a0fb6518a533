//! What is known of a genome before a model is fitted.

use super::patterns::last_topology;
use crate::Error;

/// What a model is told.
// These comments are the help of the command line.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct Settings {
    /// How four haplotypes (up to 2), five (5) or six (16) are related, by GenomeScope 2's numbers;
    /// 0 for any way
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t, requires = "model"))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u32).range(..=16)))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Model"))]
    pub topology: u32,
    /// About how often a k-mer occurs that one haplotype has once [default: it is found]
    #[cfg_attr(feature = "cli", arg(long = "lambda", value_name = "COVERAGE", requires = "model"))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Model"))]
    pub coverage: Option<f64>,
    /// Do not fit the model to counts above N; they count for the genome's size all the same
    /// [default: 2000, or ten times the main peak]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", requires = "model"))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u32).range(20..)))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Model"))]
    pub max_count: Option<u32>,
    /// Leave k-mers out that occur more than N times, of the genome's size, too: those of organelles,
    /// plasmids and spike-ins [default: no limit]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", requires = "model"))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u32).range(20..)))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Model"))]
    pub exclude_above: Option<u32>,
    /// Copies of the genome in a cell, 1 to 6.
    #[cfg_attr(feature = "cli", arg(skip = Settings::default().ploidy))]
    pub ploidy: u32,
    /// Occurrences of all k-mers, where a histogram says so that does not have all rows; not taken with
    /// `exclude_above`, nor if the rows alone have a tenth more.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub total: Option<u64>,
}

impl Default for Settings {
    /// Two haplotypes, and all else to be found.
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
