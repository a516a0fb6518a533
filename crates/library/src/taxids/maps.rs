//! Taxids in tables: maps, manifests and GTDB's accessions.

use std::collections::HashMap;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use merganser_io::{FileKind, is_read_once};
use merganser_taxonomy::{
    Accessions, Dump, MapKey, Taxonomy, assembly, check_map, lineage, read_map,
};

use super::beside::lexical;
use super::matches::Match;
use super::{TaxidSearch, parts};
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
        if !self.is_given {
            self.taxids.next_source();
        }
        let mut names = None;
        read_map(path, |key, taxid| match key {
            MapKey::Id(id) => self.found(id, taxid),
            MapKey::Assembly { accession, base } => {
                let names = names.get_or_insert_with(|| FileNames::of(&self.files));
                for start in [accession, base] {
                    for (_, targets) in names.beginning_with(start).map(|at| &self.files[at]) {
                        let by = Match::FileName(start.len() as u32);
                        targets.clone().for_each(|target| self.taxids.set(target, taxid, by));
                    }
                }
            }
        })?;
        Ok(())
    }

    /// Gives the sequences with an id the taxid that the current map has for it.
    fn found(&mut self, id: &[u8], taxid: u32) {
        let Some(known) = self.ids.get_mut(id) else { return };
        let map = self.maps.len();
        let before = known.seen.filter(|seen| seen.0 == map).map(|seen| seen.1);
        let has = |taxid| {
            let taxids = &self.taxids;
            move |&(target, _): &(u32, Match)| taxids.of(target as usize) == Some(taxid)
        };
        match before {
            None => known.seen = Some((map, taxid)),
            Some(first) if first != taxid && known.targets.iter().any(has(first)) => {
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
            Some((earlier, first))
                if earlier != map
                    && first != taxid
                    && before.is_none()
                    && known.targets.iter().any(has(first)) =>
            {
                let id = String::from_utf8_lossy(id).into_owned();
                self.between.push(([earlier, map], (id, [first, taxid])));
            }
            _ => {}
        }
        for &(target, by) in &known.targets {
            let target = target as usize;
            if self.scope.as_ref().is_none_or(|folder| is_below(&self.files, target, folder)) {
                self.taxids.set(target, taxid, by);
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
                self.taxids.set(target, taxid, Match::Whole);
            }
        }
        Ok(())
    }

    /// Looks up the id of each sequence, whole and in parts, then the assembly in the name of its file, then
    /// that name without suffixes.
    pub(super) fn read_accessions(&mut self, accessions: &Accessions) {
        self.taxids.next_source();
        for (target, header) in self.headers.iter().enumerate() {
            let name = header.split_ascii_whitespace().next().unwrap_or_default();
            let mut ids = std::iter::once(name).chain(parts(name));
            if let Some(taxid) = ids.find_map(|id| accessions.taxid(id.as_bytes())) {
                self.taxids.set(target, taxid, Match::Whole);
            }
        }
        for (path, targets) in &self.files {
            let name = path.file_name().unwrap_or_default();
            let of_assembly = assembly(name.as_bytes()).and_then(|one| accessions.taxid(one));
            let found = of_assembly.or_else(|| accessions.taxid(without_suffixes(name.as_bytes())));
            if let Some(taxid) = found {
                let by = Match::FileName(name.len() as u32);
                targets.clone().for_each(|target| self.taxids.set(target, taxid, by));
            }
        }
    }
}

/// The names of files, sorted, to be found by their beginnings.
struct FileNames(Vec<(Vec<u8>, usize)>);

impl FileNames {
    fn of(files: &[(PathBuf, Range<usize>)]) -> FileNames {
        let name = |path: &Path| path.file_name().unwrap_or_default().as_bytes().to_vec();
        let names = files.iter().enumerate().map(|(at, (path, _))| (name(path), at));
        let mut names: Vec<_> = names.collect();
        names.sort();
        FileNames(names)
    }

    /// Returns the numbers of the files whose names begin with `start`, not followed by a letter or digit; none for an
    /// empty cell of a table.
    fn beginning_with(&self, start: &[u8]) -> impl Iterator<Item = usize> {
        let is_empty = start.is_empty() || start == b"na";
        let from = self.0.partition_point(|(name, _)| name.as_slice() < start);
        let all = self.0[from..].iter().map_while(move |(name, at)| {
            name.strip_prefix(start).filter(|_| !is_empty).map(|rest| (rest, *at))
        });
        all.filter(|(rest, _)| !rest.first().is_some_and(u8::is_ascii_alphanumeric))
            .map(|(_, at)| at)
    }
}

/// Whether the file of a sequence is in a folder, or in one below.
fn is_below(files: &[(PathBuf, Range<usize>)], target: usize, folder: &Path) -> bool {
    let at = files.partition_point(|(_, targets)| targets.end <= target);
    let file = files.get(at).filter(|(_, targets)| targets.contains(&target));
    file.is_some_and(|(path, _)| lexical(path).starts_with(folder))
}

/// Returns the taxids of all lineages of a GTDB tree.
fn lineages(tree: &Taxonomy) -> HashMap<String, u32> {
    (0..tree.len() as u32).map(|node| (lineage(tree, node), tree.taxid(node))).collect()
}
