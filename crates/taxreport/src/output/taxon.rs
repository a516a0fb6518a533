//! The taxon of a read in the tags of its alignments.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

/// The taxon of a read: its taxid and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadTaxon<'t> {
    /// The taxid; 0 without a taxon.
    pub taxid: u32,
    /// The scientific name.
    pub name: &'t [u8],
}

impl ReadTaxon<'_> {
    /// The taxon of reads that have none.
    pub const NONE: ReadTaxon<'static> = ReadTaxon { taxid: 0, name: b"unclassified" };

    /// Returns the tags of alignments: `tx` is the taxid and `tn` the name, with `_` in place of each character that
    /// tags cannot have.
    pub fn tags(&self) -> Vec<u8> {
        let name: Cow<'_, str> = String::from_utf8_lossy(self.name);
        let printable = |letter: char| matches!(letter, ' '..='~').then_some(letter);
        let name: String = name.chars().map(|letter| printable(letter).unwrap_or('_')).collect();
        format!("tx:i:{}\ttn:Z:{name}", self.taxid).into_bytes()
    }
}

/// The tags of taxa by their taxids.
#[derive(Debug, Default)]
pub struct TaxonTags(RwLock<HashMap<u32, Vec<u8>>>);

impl TaxonTags {
    /// Adds a taxon, unless it is known.
    pub(super) fn add(&self, taxon: ReadTaxon<'_>) {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if known.contains_key(&taxon.taxid) {
            return;
        }
        drop(known);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(taxon.taxid, taxon.tags());
    }

    /// Returns the tags of all taxa, and of reads without a taxon.
    pub(super) fn into_all(self) -> HashMap<u32, Vec<u8>> {
        self.add(ReadTaxon::NONE);
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_printable() {
        let taxon = ReadTaxon { taxid: u32::MAX, name: "A é\tb".as_bytes() };
        assert_eq!(taxon.tags(), b"tx:i:4294967295\ttn:Z:A __b");
        assert_eq!(ReadTaxon::NONE.tags(), b"tx:i:0\ttn:Z:unclassified");
    }
}
