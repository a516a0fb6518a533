//! What is known of a genome before a model is fitted.

use super::patterns::last_topology;
use crate::Error;

/// What a model is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Copies of the genome in a cell, 1 to 6.
    pub ploidy: u32,
    /// How the haplotypes are related, by GenomeScope 2's numbers: 0 for any way; of ploidy 4 up to
    /// 2, of 5 up to 5, of 6 up to 16.
    pub topology: u32,
    /// About how often a k-mer occurs that one haplotype has once; `None` to find it.
    pub coverage: Option<f64>,
    /// Counts above this are not looked at by the fit.
    pub max_count: Option<u32>,
    /// K-mers that occur more often than this are left out, of the genome's size, too: those of
    /// organelles, plasmids and spike-ins.
    pub exclude_above: Option<u32>,
    /// Occurrences of all k-mers, where a histogram says so that does not have all rows; not taken with
    /// `exclude_above`, nor if the rows alone have a tenth more.
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
