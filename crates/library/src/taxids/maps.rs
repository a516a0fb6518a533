//! Taxids in tables: maps, manifests and GTDB's accessions.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use merganser_io::{FileKind, is_read_once};
use merganser_taxonomy::{
    Accessions, Dump, MapKey, Taxonomy, assembly, check_map, lineage, read_map,
};

use super::TaxidSearch;
use crate::file_names::without_suffixes;
use crate::{Error, GenomeTaxon, Manifest, Status};

/// Checks the given maps before genomes are read, which may take long: that they exist, and their first lines. Maps that
/// can be read only once are left to the search.
///
/// # Errors
/// If a map cannot be read or is malformed.
pub fn check_maps(maps: &[PathBuf]) -> Result<(), Error> {
    for map in maps.iter().filter(|map| !is_read_once(map)) {
        match FileKind::of_path(map) {
            Some(FileKind::Library) => drop(Manifest::read(map)?),
            _ => check_map(map)?,
        }
    }
    Ok(())
}

impl TaxidSearch {
    /// Reads a map; its kind is detected from its content.
    pub(super) fn read(&mut self, path: &Path) -> Result<(), Error> {
        self.maps.push((path.to_owned(), Vec::new()));
        read_map(path, |key, taxid| match key {
            MapKey::Id(id) => self.found(id, taxid),
            MapKey::Assembly { accession, base } => self.found_assembly(accession, base, taxid),
        })?;
        Ok(())
    }

    /// Gives the sequences with an id the taxid that the current map has for it.
    fn found(&mut self, id: &[u8], taxid: u32) {
        let Some(known) = self.ids.get_mut(id) else { return };
        let map = self.maps.len();
        let before = known.seen.filter(|seen| seen.0 == map).map(|seen| seen.1);
        let counts = |target: &u32| self.taxids[*target as usize] == before;
        match before {
            None => known.seen = Some((map, taxid)),
            Some(first) if first != taxid && known.targets.iter().any(counts) => {
                let id = String::from_utf8_lossy(id).into_owned();
                if let Some((_, conflicts)) = self.maps.last_mut() {
                    conflicts.push((id, [first, taxid]));
                }
            }
            Some(_) => {}
        }
        let map = map.saturating_sub(1);
        match known.given.filter(|_| self.is_given) {
            None if self.is_given => known.given = Some((map, taxid)),
            Some((earlier, first)) if earlier != map && first != taxid && before.is_none() => {
                let counts = |target: &u32| self.taxids[*target as usize] == Some(first);
                if known.targets.iter().any(counts) {
                    let id = String::from_utf8_lossy(id).into_owned();
                    self.between.push(([earlier, map], (id, [first, taxid])));
                }
            }
            _ => {}
        }
        for &target in &known.targets {
            self.taxids[target as usize].get_or_insert(taxid);
        }
    }

    /// Gives a taxid to files whose name begins with the accession or with the last part of the download path.
    fn found_assembly(&mut self, accession: &[u8], base: &[u8], taxid: u32) {
        let begins = |name: &OsStr, start: &[u8]| {
            let rest = name.as_bytes().strip_prefix(start);
            !start.is_empty()
                && start != b"na"
                && rest.is_some_and(|rest| !rest.first().is_some_and(u8::is_ascii_alphanumeric))
        };
        for (path, targets) in &self.files {
            let name = path.file_name().unwrap_or_default();
            if begins(name, accession) || begins(name, base) {
                for at in targets.clone() {
                    self.taxids[at].get_or_insert(taxid);
                }
            }
        }
    }

    /// Finds the files of a manifest by their paths, and gives their sequences the taxa of its rows.
    pub(super) fn read_manifest(
        &mut self,
        path: &Path,
        taxonomy: Option<&Dump>,
    ) -> Result<(), Error> {
        let tables = taxonomy.filter(|dump| dump.accessions.is_some());
        let lineages = tables.map(|dump| lineages(&dump.taxonomy));
        let mut files: HashMap<&Path, Vec<usize>> = HashMap::new();
        for (at, (file, _)) in self.files.iter().enumerate() {
            files.entry(file).or_default().push(at);
        }
        let manifest = Manifest::read(path)?;
        for (line, row) in manifest.rows().filter(|(_, row)| row.status == Status::Sound) {
            let place = manifest.locate(row);
            let Some(found) = files.get(&*place) else { continue };
            let taxid = match (&row.taxon, &lineages) {
                (Some(GenomeTaxon::Taxid(taxid)), None) => Ok(*taxid),
                (Some(GenomeTaxon::Lineage(lineage)), Some(known)) => known
                    .get(lineage)
                    .copied()
                    .ok_or("its lineage is not in the tables of `taxonomy`"),
                (Some(GenomeTaxon::Lineage(_)), None) => {
                    Err("its taxon is a lineage of GTDB: give its tables with `taxonomy`")
                }
                _ => Err(
                    "its taxon is a taxid of NCBI: give the folder of its taxdump with `taxonomy`",
                ),
            };
            let taxid =
                taxid.map_err(|what| Error::content(path, format!("line {line}: {what}")))?;
            for target in found.iter().flat_map(|&at| self.files[at].1.clone()) {
                self.taxids[target].get_or_insert(taxid);
            }
        }
        Ok(())
    }

    /// Looks up the id of each sequence, whole and in parts, then the assembly in the name of its file, then
    /// that name without suffixes.
    pub(super) fn read_accessions(&mut self, accessions: &Accessions) {
        for (taxid, header) in self.taxids.iter_mut().zip(&self.headers) {
            let name = header.split_ascii_whitespace().next().unwrap_or_default();
            let mut ids =
                std::iter::once(name).chain(name.split('|').filter(|part| part.len() > 2));
            *taxid = taxid.or_else(|| ids.find_map(|id| accessions.taxid(id.as_bytes())));
        }
        for (path, targets) in &self.files {
            let name = path.file_name().unwrap_or_default();
            let of_assembly = assembly(name.as_bytes()).and_then(|one| accessions.taxid(one));
            let found = of_assembly.or_else(|| accessions.taxid(without_suffixes(name.as_bytes())));
            for at in targets.clone() {
                self.taxids[at] = self.taxids[at].or(found);
            }
        }
    }
}

/// Returns the taxids of all lineages of a GTDB tree.
fn lineages(tree: &Taxonomy) -> HashMap<String, u32> {
    (0..tree.len() as u32).map(|node| (lineage(tree, node), tree.taxid(node))).collect()
}
