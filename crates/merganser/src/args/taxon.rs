//! Taxa on the command line: a taxid, or a name that is looked up where the names of taxa are known.

use std::fmt;
use std::str::FromStr;

use anyhow::Result;

use crate::failure::usage;

/// The maximum number of candidates in a message.
const SHOWN: usize = 5;

/// A taxon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TaxonArg {
    Taxid(u64),
    Name(String),
}

impl FromStr for TaxonArg {
    type Err = String;

    fn from_str(text: &str) -> Result<TaxonArg, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("a taxon is empty: is there a comma too many?".to_owned());
        }
        Ok(text.parse().map_or_else(|_| TaxonArg::Name(text.to_owned()), TaxonArg::Taxid))
    }
}

impl fmt::Display for TaxonArg {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaxonArg::Taxid(taxid) => write!(formatter, "{taxid}"),
            TaxonArg::Name(name) => write!(formatter, "{name}"),
        }
    }
}

/// A taxon whose name is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedTaxon {
    pub(crate) taxid: u64,
    pub(crate) name: String,
    pub(crate) rank: String,
}

impl NamedTaxon {
    fn shown(&self) -> String {
        format!("{} ({}, {})", self.taxid, self.name, self.rank)
    }
}

/// Whether a name has to be looked up.
pub(crate) fn has_names(taxa: &[TaxonArg]) -> bool {
    taxa.iter().any(|taxon| matches!(taxon, TaxonArg::Name(_)))
}

/// Returns the taxids of taxa. A name is that of a taxon in `known`; its case and the rank before a name of GTDB (`s__`)
/// do not count if no taxon has the name as it is given. `source` is named in messages.
///
/// # Errors
/// If no taxon or several taxa have a name; the message has candidates.
pub(crate) fn taxids(taxa: &[TaxonArg], known: &[NamedTaxon], source: &str) -> Result<Vec<u64>> {
    let one = |taxon: &TaxonArg| match taxon {
        TaxonArg::Taxid(taxid) => Ok(*taxid),
        TaxonArg::Name(name) => of_name(name, known, source),
    };
    taxa.iter().map(one).collect()
}

fn of_name(name: &str, known: &[NamedTaxon], source: &str) -> Result<u64> {
    let folded = folded(name);
    let mut found: Vec<&NamedTaxon> = known.iter().filter(|taxon| taxon.name == name).collect();
    if found.is_empty() {
        found = known.iter().filter(|taxon| self::folded(&taxon.name) == folded).collect();
    }
    match &found[..] {
        [taxon] => Ok(taxon.taxid),
        [] => {
            let similar = similar(&folded, known);
            let similar = match similar.is_empty() {
                true => String::new(),
                false => format!(", which has {}", list(&similar)),
            };
            usage(format!("--taxid: no taxon is named '{name}' in {source}{similar}: give a taxid"))
        }
        several => usage(format!(
            "--taxid: several taxa are named '{name}' in {source}: give the taxid, {}",
            list(several)
        )),
    }
}

/// Returns a name in lower case, without the rank of GTDB before it.
fn folded(name: &str) -> String {
    let name = match name.as_bytes() {
        [letter, b'_', b'_', ..] if letter.is_ascii_lowercase() => &name[3..],
        _ => name,
    };
    name.to_lowercase()
}

/// Returns taxa whose names contain all words of a name, or else its longest word.
fn similar<'t>(folded: &str, known: &'t [NamedTaxon]) -> Vec<&'t NamedTaxon> {
    let with = |words: &[&str]| -> Vec<&'t NamedTaxon> {
        let contains = |taxon: &&NamedTaxon| {
            let name = self::folded(&taxon.name);
            !words.is_empty() && words.iter().all(|word| name.contains(word))
        };
        let mut found: Vec<&NamedTaxon> = known.iter().filter(contains).collect();
        found.sort_by_key(|taxon| (taxon.name.chars().count(), taxon.taxid));
        found
    };
    let words: Vec<&str> = folded.split_whitespace().collect();
    let all = with(&words);
    let longest = words.iter().copied().max_by_key(|word| word.len());
    if all.is_empty() { with(longest.as_slice()) } else { all }
}

/// Lists the first candidates.
fn list(taxa: &[&NamedTaxon]) -> String {
    let shown: Vec<String> = taxa.iter().take(SHOWN).map(|taxon| taxon.shown()).collect();
    let more = if taxa.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::{NamedTaxon, TaxonArg, taxids};

    fn known() -> Vec<NamedTaxon> {
        let taxa = [
            (0, "unclassified", "U"),
            (1301, "Streptococcus", "G"),
            (1313, "Streptococcus pneumoniae", "S"),
            (28037, "Streptococcus mitis", "S"),
            (55206, "Bacillus", "G"),
            (1386, "Bacillus", "G"),
            (7, "s__Homo sapiens", "S"),
        ];
        let taxon = |(taxid, name, rank): (u64, &str, &str)| NamedTaxon {
            taxid,
            name: name.into(),
            rank: rank.into(),
        };
        taxa.into_iter().map(taxon).collect()
    }

    fn of(text: &str) -> Result<Vec<u64>, String> {
        let taxa: Vec<TaxonArg> = text.split(',').map(|part| part.parse().unwrap()).collect();
        taxids(&taxa, &known(), "the report").map_err(|error| error.to_string())
    }

    #[test]
    fn names_and_numbers_are_taxids() {
        assert_eq!(of("1313"), Ok(vec![1313]));
        assert_eq!(of("99, 0"), Ok(vec![99, 0]));
        assert_eq!(of("Streptococcus pneumoniae"), Ok(vec![1313]));
        assert_eq!(of("streptococcus MITIS,Streptococcus,3"), Ok(vec![28037, 1301, 3]));
        assert_eq!(of("homo sapiens"), Ok(vec![7]));
    }

    #[test]
    fn names_that_are_not_of_one_taxon_have_candidates() {
        assert_eq!(
            of("Bacillus"),
            Err("--taxid: several taxa are named 'Bacillus' in the report: give the taxid, \
                 55206 (Bacillus, G), 1386 (Bacillus, G)"
                .into())
        );
        assert_eq!(
            of("Streptococcus pneumonia"),
            Err("--taxid: no taxon is named 'Streptococcus pneumonia' in the report, which has \
                 1313 (Streptococcus pneumoniae, S): give a taxid"
                .into())
        );
        assert!(of("Streptococcus x").unwrap_err().contains("1301 (Streptococcus, G), 28037"));
        assert_eq!(
            of("-5"),
            Err("--taxid: no taxon is named '-5' in the report: give a taxid".into())
        );
    }
}
