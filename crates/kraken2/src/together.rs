//! Checks whether databases can be used together.

use std::path::Path;

use super::database::Kraken2Database;
use crate::Error;
use merganser_taxonomy::{JointTaxonomy, SharedTaxa, compare};

/// How two databases differ.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Kraken2Relation {
    /// The parameters of minimizers that differ, with both values. If any does, the databases cannot be used together.
    pub parameters: Vec<String>,
    /// The taxa that both have.
    pub taxa: SharedTaxa,
}

/// Databases that can be used together, as one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Kraken2Together {
    /// The number of taxa of the joint taxonomy, including the root.
    pub taxa: usize,
    /// The hash below which minimizers are looked up in no table; 0 if all are looked up.
    pub minimum_hash: u64,
    /// A message for each database whose taxonomy differs from those before it.
    pub differences: Vec<String>,
}

impl Kraken2Database {
    /// Compares this database with another one.
    pub fn relation(&self, other: &Kraken2Database) -> Kraken2Relation {
        Kraken2Relation {
            parameters: self.options().differences(other.options()).collect(),
            taxa: compare(self.tree(), other.tree()),
        }
    }

    /// Checks whether [`open_all`](Self::open_all) can use databases together, which are given with their paths.
    ///
    /// # Errors
    /// If it cannot: the error names the difference.
    pub fn check_together<'d>(
        all: impl Iterator<Item = (&'d Path, &'d Kraken2Database)> + Clone,
    ) -> Result<Kraken2Together, Error> {
        let hashes = all.clone().map(|(_, database)| database.options().minimum_hash);
        let minimum_hash = hashes.max().unwrap_or(0);
        let JointTaxonomy { taxonomy, differences } = join_taxonomies(all)?;
        Ok(Kraken2Together { taxa: taxonomy.len(), minimum_hash, differences })
    }
}

/// Joins the taxonomies of databases that are used together.
///
/// # Errors
/// If their parameters differ, or they have different taxonomies.
pub(super) fn join_taxonomies<'d>(
    all: impl Iterator<Item = (&'d Path, &'d Kraken2Database)> + Clone,
) -> Result<JointTaxonomy, Error> {
    let mut others = all.clone();
    if let Some((first_path, first)) = others.next() {
        for (path, other) in others {
            let difference = first.options().differences(other.options()).next();
            if let Some(difference) = difference {
                return Err(Error::Input(format!(
                    "{} and {} cannot be used together: {difference}",
                    first_path.display(),
                    path.display()
                )));
            }
        }
    }
    Ok(JointTaxonomy::of(all.map(|(path, database)| (path, database.tree())))?)
}
