//! Ids with two different taxids.

use std::collections::BTreeMap;
use std::path::PathBuf;

use merganser_run::Warnings;
use merganser_taxonomy::Taxonomy;

use super::TaxidSearch;

/// An id with the taxid that is used, and the other one.
pub(super) type TwoTaxids = (String, [u32; 2]);

/// The source of the two taxids of an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConflictPlace {
    /// Both taxids are in the map.
    Map,
    /// The taxid that is used is in this earlier map.
    EarlierMap(PathBuf),
    /// Both taxids are in the header of the sequence.
    Header,
    /// The taxid that is used is in the header of the sequence, and a map has the other one for a part of its name.
    HeaderAndPart,
}

/// Ids with two different taxids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapConflict {
    /// The path of the map, or of the file of sequences if the taxids are in headers.
    pub path: PathBuf,
    /// The source of the two taxids.
    pub place: ConflictPlace,
    /// The number of ids.
    pub ids: usize,
    /// The first id.
    pub id: String,
    /// The taxids of the first id: the one that is used, and the other one.
    pub taxids: [u32; 2],
}

impl MapConflict {
    /// Pushes a warning about the conflict.
    pub fn warn(&self, warnings: &Warnings) {
        let MapConflict { path, place, ids, id, taxids: [used, other] } = self;
        let path = path.display();
        warnings.push(match place {
            ConflictPlace::Map => format!(
                "{path}: {ids} ids have two taxids, first {id}: {used}, which comes first, is used and not \
                 {other}; remove the wrong lines"
            ),
            ConflictPlace::EarlierMap(earlier) => format!(
                "{path}: {ids} ids have another taxid in {}, first {id}: {used}, which comes first, is used \
                 and not {other}; remove the wrong lines",
                earlier.display()
            ),
            ConflictPlace::Header => format!(
                "{path}: {ids} headers have two taxids, first {id}: {used}, which comes first, is used and \
                 not {other}; remove the wrong ones, or give a table of taxids with `map`"
            ),
            ConflictPlace::HeaderAndPart => format!(
                "{path}: {ids} headers have another taxid than a map has for a part of the name, first {id}: {used} \
                 in the header is used and not {other}; for that of the map, give it the whole name"
            ),
        });
    }
}

impl TaxidSearch {
    /// Returns the conflicts in maps and headers: ids with two taxids that are different taxa of `tree`.
    pub fn conflicts(&mut self, tree: Option<&Taxonomy>) -> Vec<MapConflict> {
        let mut found = Vec::new();
        let mut between: BTreeMap<[usize; 2], Vec<TwoTaxids>> = BTreeMap::new();
        for (maps, ids) in std::mem::take(&mut self.between) {
            between.entry(maps).or_default().push(ids);
        }
        let maps = std::mem::take(&mut self.maps);
        let paths: Vec<PathBuf> = maps.iter().map(|(path, _)| path.clone()).collect();
        let in_maps = maps.into_iter().map(|(path, ids)| (path, ConflictPlace::Map, ids));
        let between = between.into_iter().map(|([earlier, later], ids)| {
            let place = ConflictPlace::EarlierMap(paths[earlier].clone());
            (paths[later].clone(), place, ids)
        });
        for (path, place, ids) in in_maps.chain(between) {
            let mut ids = ids.into_iter().filter(|(_, taxids)| differ(tree, taxids));
            let Some((id, taxids)) = ids.next() else { continue };
            found.push(MapConflict { path, place, ids: ids.count() + 1, id, taxids });
        }
        found.append(&mut self.in_headers);
        found
    }
}

/// Whether two taxids are different taxa of a tree; unknown taxids are compared as numbers.
pub(super) fn differ(tree: Option<&Taxonomy>, taxids: &[u32; 2]) -> bool {
    let node = |taxid| tree.and_then(|tree| tree.node(taxid));
    match taxids.map(node) {
        [Some(one), Some(other)] => one != other,
        _ => taxids[0] != taxids[1],
    }
}
