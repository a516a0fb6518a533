//! Taxids in the headers of sequences.

use std::path::Path;

use merganser_taxonomy::{Taxonomy, kraken_taxids};

use super::TaxidSearch;
use super::conflict::{ConflictPlace, MapConflict, differ};

/// The rule for taxids in headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderRule {
    /// Accepts `taxid|N` (also as `kraken:taxid|N`) as a separate word anywhere in the header.
    Any,
    /// Accepts only `kraken:taxid|N` at the beginning of the id or after one of its bars, as Kraken 2 does.
    Kraken,
}

/// Returns the taxids that a header names by `taxid|N`. They must be separate words: not preceded by a letter, digit
/// or underscore, and not followed by a letter or digit.
fn taxids_in_header(header: &str) -> impl Iterator<Item = u32> {
    const WORD: &str = "taxid|";
    header.match_indices(WORD).filter_map(|(at, _)| {
        let before = header[..at].chars().next_back();
        let rest = &header[at + WORD.len()..];
        let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        let behind = rest[end..].chars().next();
        let is_word = !before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
        let is_number = !behind.is_some_and(char::is_alphanumeric);
        if is_word && is_number { rest[..end].parse().ok() } else { None }
    })
}

impl TaxidSearch {
    /// Takes the first taxid of each header, unless one was found by more than a part of the name; notes headers with
    /// another one that is a different taxon of `tree`.
    pub(super) fn read_headers(&mut self, tree: Option<&Taxonomy>) {
        let mut conflicts = Vec::new();
        for (at, header) in self.headers.iter().enumerate() {
            if !self.taxids.is_for_header(at) {
                continue;
            }
            let (first, other) = match self.rule {
                HeaderRule::Any => first_and_other(taxids_in_header(header), tree),
                HeaderRule::Kraken => first_and_other(kraken_taxids(header), tree),
            };
            let Some(first) = first else { continue };
            let of_part = self.taxids.of(at).filter(|&taxid| differ(tree, &[first, taxid]));
            conflicts.extend(other.map(|other| (at, ConflictPlace::Header, [first, other])));
            conflicts
                .extend(of_part.map(|other| (at, ConflictPlace::HeaderAndPart, [first, other])));
            self.taxids.set_of_header(at, first);
        }
        for (at, place, taxids) in conflicts {
            self.note(at, place, taxids);
        }
    }

    /// Notes a conflict in the header of a sequence, together with others of the same kind in its file.
    fn note(&mut self, at: usize, place: ConflictPlace, taxids: [u32; 2]) {
        let file = self.files.iter().find(|(_, targets)| targets.contains(&at));
        let path = file.map_or(Path::new("stdin"), |(path, _)| path);
        let mut known = self.in_headers.iter_mut().rev();
        match known.find(|known| known.path == path && known.place == place) {
            Some(known) => known.ids += 1,
            None => {
                let name = self.headers[at].split_ascii_whitespace().next().unwrap_or_default();
                let (path, id) = (path.to_owned(), name.to_owned());
                self.in_headers.push(MapConflict { path, place, ids: 1, id, taxids });
            }
        }
    }
}

/// Returns the first taxid, and the first one that is a different taxon.
fn first_and_other(
    mut taxids: impl Iterator<Item = u32>,
    tree: Option<&Taxonomy>,
) -> (Option<u32>, Option<u32>) {
    let Some(first) = taxids.next() else { return (None, None) };
    (Some(first), taxids.find(|&other| differ(tree, &[first, other])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taxids_in_headers_are_words() {
        for (header, taxid) in [
            ("NC_1.1 taxid|101", Some(101)),
            ("taxid|101", Some(101)),
            ("kraken:taxid|101|NC_1.1 x", Some(101)),
            ("NC_1.1|kraken:taxid|101", Some(101)),
            ("NC_1.1 (taxid|101)", Some(101)),
            ("NC_1.1 taxid|101_2", Some(101)),
            ("NC_1.1 notaxid|101", None),
            ("NC_1.1 host_taxid|101", None),
            ("NC_1.1 2taxid|101", None),
            ("NC_1.1 \u{e9}taxid|101", None),
            ("NC_1.1 taxid|101a", None),
            ("NC_1.1 taxid|", None),
            ("NC_1.1 taxid|x", None),
            ("NC_1.1 taxid|4294967296", None),
            ("NC_1.1 host_taxid|9606 taxid|101", Some(101)),
            ("taxid", None),
        ] {
            assert_eq!(taxids_in_header(header).next(), taxid, "{header}");
        }
    }
}
