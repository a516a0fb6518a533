//! Taxonomic ranks, the same as MetaCache's.

use std::fmt;
use std::str::FromStr;

use merganser_run::options::{Serialize, Serializer};

/// A rank, lowest first. NCBI's intermediate ranks are folded into these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the ranks are standard terms")]
#[repr(u8)]
pub enum Rank {
    Sequence,
    Form,
    Variety,
    Subspecies,
    Species,
    Subgenus,
    Genus,
    Subtribe,
    Tribe,
    Subfamily,
    Family,
    Suborder,
    Order,
    Subclass,
    Class,
    Subphylum,
    Phylum,
    Subkingdom,
    Kingdom,
    Domain,
    Root,
    /// No rank, or a rank outside this list (clade, strain, realm).
    None,
}

const NAMES: [(Rank, &str); 21] = [
    (Rank::Sequence, "sequence"),
    (Rank::Form, "form"),
    (Rank::Variety, "variety"),
    (Rank::Subspecies, "subspecies"),
    (Rank::Species, "species"),
    (Rank::Subgenus, "subgenus"),
    (Rank::Genus, "genus"),
    (Rank::Subtribe, "subtribe"),
    (Rank::Tribe, "tribe"),
    (Rank::Subfamily, "subfamily"),
    (Rank::Family, "family"),
    (Rank::Suborder, "suborder"),
    (Rank::Order, "order"),
    (Rank::Subclass, "subclass"),
    (Rank::Class, "class"),
    (Rank::Subphylum, "subphylum"),
    (Rank::Phylum, "phylum"),
    (Rank::Subkingdom, "subkingdom"),
    (Rank::Kingdom, "kingdom"),
    (Rank::Domain, "domain"),
    (Rank::Root, "root"),
];

impl fmt::Display for Rank {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Rank {
    type Err = String;

    fn from_str(name: &str) -> Result<Rank, String> {
        let all = || Rank::all().map(Rank::name).collect::<Vec<_>>().join(", ");
        Rank::named(name).ok_or_else(|| format!("give one of {}", all()))
    }
}

impl Serialize for Rank {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Rank {
    /// Returns the rank for NCBI's word, in any case. Both old words (superkingdom) and new ones (domain, and
    /// acellular root, the viruses' equivalent of a domain) are known.
    pub fn of(word: &str) -> Rank {
        match word.to_ascii_lowercase().as_str() {
            "forma" => Rank::Form,
            "varietas" => Rank::Variety,
            "species group" | "species subgroup" => Rank::Subgenus,
            "superfamily" | "parvorder" | "infraorder" => Rank::Suborder,
            "superorder" | "infraclass" => Rank::Subclass,
            "superclass" => Rank::Subphylum,
            "division" => Rank::Phylum,
            "superphylum" => Rank::Subkingdom,
            "superkingdom" | "acellular root" => Rank::Domain,
            "genome" => Rank::Sequence,
            "root" => Rank::None,
            other => Rank::named(other).unwrap_or(Rank::None),
        }
    }

    /// Returns the rank with this name, as [`name`](Self::name) spells it.
    pub fn named(name: &str) -> Option<Rank> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(rank, _)| *rank)
    }

    /// Returns the name of the rank; `no rank` for [`Rank::None`].
    pub fn name(self) -> &'static str {
        NAMES.get(self as usize).map_or("no rank", |(_, name)| name)
    }

    /// Returns all ranks except [`Rank::None`], lowest first.
    pub fn all() -> impl Iterator<Item = Rank> {
        NAMES.iter().map(|(rank, _)| *rank)
    }

    /// Returns the letter of a main rank in Kraken's reports; `None` for other ranks.
    pub fn letter(self) -> Option<char> {
        match self {
            Rank::Domain => Some('D'),
            Rank::Kingdom => Some('K'),
            Rank::Phylum => Some('P'),
            Rank::Class => Some('C'),
            Rank::Order => Some('O'),
            Rank::Family => Some('F'),
            Rank::Genus => Some('G'),
            Rank::Species => Some('S'),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_the_order_of_ranks() {
        for (number, (rank, name)) in NAMES.iter().enumerate() {
            assert_eq!(*rank as usize, number);
            assert_eq!(Rank::named(name), Some(*rank));
            assert_eq!(rank.name(), *name);
        }
        assert!(Rank::Species < Rank::Genus && Rank::Root < Rank::None);
    }

    #[test]
    fn old_and_new_words_mean_the_same() {
        assert_eq!(Rank::of("superkingdom"), Rank::of("domain"));
        assert_eq!(Rank::of("acellular root"), Rank::Domain);
        assert_eq!(Rank::of("cellular root"), Rank::None);
        assert_eq!(Rank::of("no rank"), Rank::None);
        assert_eq!(Rank::of("strain"), Rank::None);
        assert_eq!(Rank::of("species group"), Rank::Subgenus);
        assert_eq!(Rank::of("Superkingdom"), Rank::Domain);
        assert_eq!(Rank::of("SPECIES"), Rank::Species);
        assert_eq!(Rank::of("S"), Rank::None);
    }
}
