//! Which taxid each sequence has.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use merganser_io::{FileKind, Input, is_file};
use merganser_run::{Progress, Warnings};
use merganser_taxonomy::{
    Accessions, Dump, MapKey, Taxonomy, TaxonomySource, assembly, kraken_taxids, lineage, read_map,
};

use crate::file_names::{MAP, without_suffixes};
use crate::{Error, GenomeTaxon, Manifest, Status};

/// The names of files that are looked for next to references, and in the taxonomy's folder.
const SUMMARY: &str = "assembly_summary";
const ACCESSIONS: &str = ".accession2taxid";

/// The files that a build reads without having been given their names: those of the taxonomy,
/// and those next to the references.
pub fn files_beside(inputs: &[Input], taxonomy: Option<&TaxonomySource>) -> Vec<PathBuf> {
    // What cannot be looked for ends the build itself.
    let mut files = files_next_to(inputs, is_summary).unwrap_or_default();
    files.extend(files_next_to(inputs, is_map).unwrap_or_default());
    files.extend(taxonomy.iter().flat_map(|source| source.files()));
    if let Some(folder) = taxonomy.and_then(TaxonomySource::folder) {
        files.extend(within(folder, ACCESSIONS).unwrap_or_default());
    }
    files
}

/// Where the taxids of a Kraken 2 library's sequences are looked for, besides their headers and the files
/// beside them.
#[derive(Clone, Copy)]
pub struct LibraryMaps<'a> {
    /// The maps that were given, the first one first.
    pub given: &'a [PathBuf],
    /// Those in folders of references ([`References::maps`](crate::References::maps)).
    pub beside: &'a [PathBuf],
    /// The taxonomy, if there is one.
    pub taxonomy: Option<&'a Dump>,
    /// Hears of maps that were found.
    pub progress: &'a dyn Progress,
    /// Where doubts about maps go.
    pub warnings: &'a Warnings,
}

/// Where the two taxids of an id are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConflictPlace {
    /// Both are in the map.
    Map,
    /// The one that counts is in this map, which comes before.
    EarlierMap(PathBuf),
    /// Both are in the header of the sequence.
    Header,
}

/// Ids with two taxids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapConflict {
    /// The map, or the file of the sequences if the taxids are in headers.
    pub path: PathBuf,
    /// Where the taxids are.
    pub place: ConflictPlace,
    /// How many ids there are.
    pub ids: usize,
    /// The first of them,
    pub id: String,
    /// with the taxid that counts, which comes first, and the other one.
    pub taxids: [u32; 2],
}

impl MapConflict {
    /// Says so.
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
        });
    }
}

/// Which taxids in headers count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderRule {
    /// `taxid|N`, of which `kraken:taxid|N` is one, as a word of its own anywhere.
    Any,
    /// `kraken:taxid|N` at the beginning of the id or behind one of its bars, as in Kraken 2.
    Kraken,
}

/// The taxids that a header names by `taxid|N`, of which the first one counts: where no letter, digit or
/// underscore stands before it, and no letter or digit behind the number.
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

/// An id of targets.
#[derive(Default)]
struct Id {
    targets: Vec<u32>,
    /// The number of the map that had it last, and the taxid there.
    seen: Option<(usize, u32)>,
    /// The number of the map that was given and had it first, and the taxid there.
    given: Option<(usize, u32)>,
}

/// An id with the taxid that counts and another.
type TwoTaxids = (String, [u32; 2]);

/// The search for the taxids of sequences: by the maps given, manifests of libraries among them, and those next to the
/// references, then a taxid in a sequence's header, then assembly_summary files next to the references, then
/// accession2taxid files in the taxonomy's folder. Of GTDB's taxonomy, by the maps that were given, then a sequence's
/// accession, then that in its file's name: other taxids are NCBI's.
pub struct TaxidSearch {
    rule: HeaderRule,
    /// Of all targets in their order.
    taxids: Vec<Option<u32>>,
    headers: Vec<String>,
    /// Ids, whole and in parts, and whose they are.
    ids: HashMap<Vec<u8>, Id>,
    /// Maps next to the references in which something was found.
    maps_beside: Vec<PathBuf>,
    /// Maps that were read, and the ids for which one has two taxids: the one that counts, and the other.
    maps: Vec<(PathBuf, Vec<TwoTaxids>)>,
    /// The map that is read was given.
    is_given: bool,
    /// Ids with another taxid in an earlier map of those that were given: the numbers of both.
    between: Vec<([usize; 2], TwoTaxids)>,
    /// Sequences whose headers have two taxids: the file, how many, and the first.
    headers_of_two: Vec<(PathBuf, usize, TwoTaxids)>,
    /// Files and the targets in each.
    files: Vec<(PathBuf, std::ops::Range<usize>)>,
}

impl TaxidSearch {
    /// Looks in the maps, those given and those in folders of references, the headers, beside the references and in
    /// the taxonomy's folder, in this order; or in the maps and among the accessions of GTDB's tables. Tells
    /// `progress` which maps were found and used.
    ///
    /// # Errors
    /// If one of these files cannot be read, or is malformed.
    pub fn look_everywhere(
        &mut self,
        maps: (&[PathBuf], &[PathBuf]),
        inputs: &[Input],
        taxonomy: Option<&Dump>,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        self.look(maps, inputs, taxonomy)?;
        self.maps_beside.iter().for_each(|map| progress.note(&taken_from(map)));
        Ok(())
    }

    fn look(
        &mut self,
        (maps, beside): (&[PathBuf], &[PathBuf]),
        inputs: &[Input],
        taxonomy: Option<&Dump>,
    ) -> Result<(), Error> {
        self.is_given = true;
        for map in maps {
            match FileKind::of_path(map) {
                Some(FileKind::Library) => self.read_manifest(map, taxonomy)?,
                _ => self.read(map)?,
            }
        }
        self.is_given = false;
        if let Some(accessions) = taxonomy.and_then(|dump| dump.accessions.as_ref()) {
            self.read_accessions(accessions);
            return Ok(());
        }
        let mut found = files_next_to(inputs, is_map)?;
        found.extend(beside.iter().filter(|map| !found.contains(map)).cloned().collect::<Vec<_>>());
        for map in found.into_iter().filter(|map| !maps.contains(map)) {
            let missing = self.missing();
            if missing > 0 {
                self.read(&map)?;
            }
            if self.missing() < missing {
                self.maps_beside.push(map);
            }
        }
        self.read_headers(taxonomy.map(|dump| &dump.taxonomy));
        // These may be large, and are read only for those that have no taxid yet.
        for map in files_next_to(inputs, is_summary)? {
            if self.taxids.contains(&None) {
                self.read(&map)?;
            }
        }
        if let Some(folder) = taxonomy.and_then(|dump| dump.folder.as_ref()) {
            for map in within(folder, ACCESSIONS)? {
                if self.taxids.contains(&None) {
                    self.read(&map)?;
                }
            }
        }
        Ok(())
    }

    /// The taxids of all sequences, in their order.
    pub fn taxids(&self) -> &[Option<u32>] {
        &self.taxids
    }

    /// The taxids of all sequences, in their order.
    pub fn into_taxids(self) -> Vec<Option<u32>> {
        self.taxids
    }

    /// Targets without a taxid so far.
    fn missing(&self) -> usize {
        self.taxids.iter().filter(|taxid| taxid.is_none()).count()
    }

    /// The maps that have two taxids for an id, which are two taxa of `tree`: how many ids, and the
    /// first with the taxid that counts and the other.
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
        for (path, ids, (id, taxids)) in std::mem::take(&mut self.headers_of_two) {
            found.push(MapConflict { path, place: ConflictPlace::Header, ids, id, taxids });
        }
        found
    }

    /// Finds the files of a manifest, by their paths, and gives their sequences the taxa of its rows.
    fn read_manifest(&mut self, path: &Path, taxonomy: Option<&Dump>) -> Result<(), Error> {
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

    /// A search for the taxids of the sequences in `files`, one for each of `inputs`; `names` gives a sequence's name,
    /// the first word of its header, and the whole header.
    pub fn new<S>(
        inputs: &[Input],
        files: &[Vec<S>],
        names: impl Fn(&S) -> (&str, &str),
        rule: HeaderRule,
    ) -> TaxidSearch {
        let mut search = TaxidSearch {
            rule,
            maps_beside: Vec::new(),
            maps: Vec::new(),
            is_given: false,
            between: Vec::new(),
            headers_of_two: Vec::new(),
            taxids: Vec::new(),
            headers: Vec::new(),
            ids: HashMap::new(),
            files: Vec::new(),
        };
        for (input, targets) in inputs.iter().zip(files) {
            let first = search.headers.len();
            for (name, header) in targets.iter().map(&names) {
                search.add_ids(name);
                search.headers.push(header.to_owned());
            }
            if let Some(path) = input.path() {
                search.files.push((path.to_owned(), first..search.headers.len()));
            }
        }
        search.taxids.resize(search.headers.len(), None);
        search
    }

    /// An id is known as it is, without its version, and by each part between bars
    /// (`gi|16127|ref|NC_000913.2|`).
    fn add_ids(&mut self, name: &str) {
        let target = self.headers.len() as u32;
        let parts = name.split('|').filter(|part| part.len() > 2);
        for id in std::iter::once(name).chain(parts) {
            let stem = id.rsplit_once('.').filter(|(_, v)| v.bytes().all(|b| b.is_ascii_digit()));
            for key in [Some(id), stem.map(|(stem, _)| stem)].into_iter().flatten() {
                let targets = &mut self.ids.entry(key.as_bytes().to_vec()).or_default().targets;
                if targets.last() != Some(&target) {
                    targets.push(target);
                }
            }
        }
    }

    /// Gives the targets of an id the taxid that the map read last has for it.
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

    /// Takes taxids of headers, the first ones; others that are another taxon of `tree` are noted.
    fn read_headers(&mut self, tree: Option<&Taxonomy>) {
        let mut of_two = Vec::new();
        for (at, (taxid, header)) in self.taxids.iter_mut().zip(&self.headers).enumerate() {
            if taxid.is_some() {
                continue;
            }
            let (first, other) = match self.rule {
                HeaderRule::Any => first_and_other(taxids_in_header(header), tree),
                HeaderRule::Kraken => first_and_other(kraken_taxids(header), tree),
            };
            *taxid = first;
            of_two.extend(first.zip(other).map(|(first, other)| (at, [first, other])));
        }
        for (at, taxids) in of_two {
            let file = self.files.iter().find(|(_, targets)| targets.contains(&at));
            let path = file.map_or(Path::new("stdin"), |(path, _)| path);
            match self.headers_of_two.last_mut().filter(|(last, ..)| last == path) {
                Some((_, count, _)) => *count += 1,
                None => {
                    let name = self.headers[at].split_ascii_whitespace().next().unwrap_or_default();
                    self.headers_of_two.push((path.to_owned(), 1, (name.to_owned(), taxids)));
                }
            }
        }
    }

    /// Looks up each sequence's own id, whole and in parts, then the assembly in its file's name, then
    /// that name without its suffixes.
    fn read_accessions(&mut self, accessions: &Accessions) {
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

    /// Reads a map, whose kind its content tells.
    fn read(&mut self, path: &Path) -> Result<(), Error> {
        self.maps.push((path.to_owned(), Vec::new()));
        read_map(path, |key, taxid| match key {
            MapKey::Id(id) => self.found(id, taxid),
            MapKey::Assembly { accession, base } => self.found_assembly(accession, base, taxid),
        })?;
        Ok(())
    }

    /// Files whose name begins with the accession or the last part of the download path.
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
}

/// What is said of a map that was found.
fn taken_from(map: &Path) -> String {
    format!("taxids are taken from {}, too", map.display())
}

/// Whether two taxids are two taxa of a tree, or one of them is none.
fn differ(tree: Option<&Taxonomy>, taxids: &[u32; 2]) -> bool {
    let node = |taxid| tree.and_then(|tree| tree.node(taxid));
    match taxids.map(node) {
        [Some(one), Some(other)] => one != other,
        _ => taxids[0] != taxids[1],
    }
}

/// The first of some taxids, and the first one that is another taxon.
fn first_and_other(
    mut taxids: impl Iterator<Item = u32>,
    tree: Option<&Taxonomy>,
) -> (Option<u32>, Option<u32>) {
    let Some(first) = taxids.next() else { return (None, None) };
    (Some(first), taxids.find(|&other| differ(tree, &[first, other])))
}

/// The taxids of all lineages of a tree of GTDB.
fn lineages(tree: &Taxonomy) -> HashMap<String, u32> {
    (0..tree.len() as u32).map(|node| (lineage(tree, node), tree.taxid(node))).collect()
}

/// Whether a file is a map of the sequences beside it, as Kraken 2 has them.
fn is_map(name: &str) -> bool {
    name == MAP
}

/// Whether a file is a list of assemblies, those beside it among them.
fn is_summary(name: &str) -> bool {
    name.starts_with(SUMMARY) && name.contains(".txt")
}

/// Files of wanted names in the folders of the inputs, each once.
fn files_next_to(
    inputs: &[Input],
    is_wanted: impl Fn(&str) -> bool + Copy,
) -> Result<Vec<PathBuf>, Error> {
    let mut folders: Vec<PathBuf> =
        inputs.iter().filter_map(|input| input.path()?.parent().map(Path::to_owned)).collect();
    folders.sort();
    folders.dedup();
    let found = folders.iter().map(|folder| files_in(folder, is_wanted));
    Ok(found.collect::<Result<Vec<_>, _>>()?.concat())
}

/// Files in a folder whose name has this in it.
fn within(folder: &Path, part: &str) -> Result<Vec<PathBuf>, Error> {
    files_in(folder, |name| name.contains(part))
}

/// The files in a folder whose names are wanted, in their order; none where there is no folder, or its names may
/// not be read. No other file is looked up: there may be a million genomes.
fn files_in(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>, Error> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let failed = |source| Error::File { path: folder.to_owned(), source };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::PermissionDenied => return Ok(Vec::new()),
            _ => return Err(failed(error)),
        },
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_there =
            || is_file(&path).map_err(|source| Error::File { path: path.clone(), source });
        if is_wanted(&name) && is_there()? {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
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

    fn search(headers: &[&'static str]) -> TaxidSearch {
        let inputs = [Input::File("a.fa".into())];
        TaxidSearch::new(&inputs, &[headers.to_vec()], names, HeaderRule::Any)
    }

    fn names<'h>(header: &'h &'static str) -> (&'h str, &'h str) {
        (header.split(' ').next().unwrap_or_default(), header)
    }

    #[test]
    fn taxids_of_two_given_maps_and_of_one_header_are_compared() {
        let folder = tempfile::tempdir().unwrap();
        let map = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let maps = [
            map("one", "a\t5\nb\t6\nb\t7\n"),
            map("two", "a\t9\na\t9\nb\t6\nc\t8\nunknown\t1\n"),
            map("three", "a\t5\nc\t7\nb\t8\n"),
        ];
        let names = ["a", "b", "c", "d taxid|1 taxid|1 taxid|2", "e taxid|3", "f taxid|4 taxid|5"];
        let mut search = search(&names);
        search.look((&maps, &[]), &[], None).unwrap();
        assert_eq!(search.taxids, [5, 6, 8, 1, 3, 4].map(Some));
        let found: Vec<_> = search
            .conflicts(None)
            .into_iter()
            .map(|found| {
                let earlier = match &found.place {
                    ConflictPlace::EarlierMap(path) => path.file_name().unwrap().to_str().unwrap(),
                    ConflictPlace::Map => "",
                    ConflictPlace::Header => "header",
                };
                let file = found.path.file_name().unwrap().to_str().unwrap();
                format!("{file} {earlier} {} {} {:?}", found.ids, found.id, found.taxids)
            })
            .collect();
        assert_eq!(
            found,
            [
                "one  1 b [6, 7]",
                "two one 1 a [5, 9]",
                "three one 1 b [6, 8]",
                "three two 1 c [8, 7]",
                "a.fa header 2 d [1, 2]"
            ]
        );
    }

    #[test]
    fn an_id_with_two_taxids_is_noticed_once_a_map() {
        let folder = tempfile::tempdir().unwrap();
        let map = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let one = map("one.map", "\u{feff}a\t5\na\t5\nb\t6\nb\t7\nunknown\t1\nunknown\t2\nb\t8\n");
        let other = map("other.map", "a\t9\nb\t6\nc\t9\n");
        let mut search = search(&["a", "b", "c"]);
        search.read(&one).unwrap();
        search.read(&other).unwrap();
        assert_eq!(search.taxids, [Some(5), Some(6), Some(9)]);
        let found: Vec<_> = search.maps.iter().map(|(_, ids)| ids.clone()).collect();
        assert_eq!(found[0], [("b".to_owned(), [6, 7]), ("b".to_owned(), [6, 8])]);
        assert!(found[1].is_empty());
        let large = map("large.map", "a\t4294967301\n");
        let error = search.read(&large).unwrap_err().to_string();
        assert!(
            error.ends_with("line 1: taxid 4294967301 is too large: 4294967295 is the largest")
        );
    }
}
