//! Search for the taxid of each sequence.

mod beside;
mod conflict;
mod headers;
mod maps;
mod matches;

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use merganser_io::{FileKind, Input};
use merganser_run::{Context, Progress};
use merganser_taxonomy::{Dump, stem};

use crate::Error;
pub use beside::files_beside;
use beside::{accession_maps, files_next_to, is_map, is_summary, lexical};
use conflict::TwoTaxids;
pub use conflict::{ConflictPlace, MapConflict};
pub use headers::HeaderRule;
pub use maps::check_maps;
use matches::{Match, Taxids};

/// The sources of the taxids of a Kraken 2 library's sequences, in addition to their headers and the files in
/// the same folder.
#[derive(Clone, Copy)]
pub struct LibraryMaps<'a> {
    /// The given maps, in the order in which they are searched.
    pub given: &'a [PathBuf],
    /// The maps in folders of references ([`References::maps`](crate::References::maps)).
    pub beside: &'a [PathBuf],
    /// The taxonomy, if there is one.
    pub taxonomy: Option<&'a Dump>,
    /// Receives a note for each map that was found, and warnings about maps.
    pub context: &'a Context,
}

/// An id, and the sequences that have it.
#[derive(Default)]
struct Id {
    targets: Vec<(u32, Match)>,
    /// The number of the last map that has the id, and the taxid there.
    seen: Option<(usize, u32)>,
    /// The number of the first given map that has the id, and the taxid there.
    given: Option<(usize, u32)>,
}

/// The search for the taxids of sequences. Sources are tried in this order: the given maps, including manifests of
/// libraries; maps in the references' folders, each for the files in its folder and below, the nearest first; taxids in
/// headers; assembly_summary files in the references' folders; accession2taxid files in the folder of the taxonomy. With
/// GTDB's taxonomy the order is: the given maps, the accession of the sequence, the accession in the name of its file;
/// other sources are not used, as they have NCBI's taxids.
///
/// The given maps are one source. Within a source, a row for the whole name of a sequence comes before rows for the name
/// without its version, for a part between bars, and for such a part without its version; of equal rows, the first is
/// used. A taxid in the header comes before rows for a part.
pub struct TaxidSearch {
    rule: HeaderRule,
    taxids: Taxids,
    /// The folder whose files the current map is for; `None` if it is for all.
    scope: Option<PathBuf>,
    headers: Vec<String>,
    /// The ids of sequences, whole and in parts.
    ids: HashMap<Vec<u8>, Id>,
    /// The maps in the references' folders in which a taxid was found.
    maps_beside: Vec<PathBuf>,
    /// The maps that were read, each with the ids for which it has two taxids: the one that is used, and the other
    /// one.
    maps: Vec<(PathBuf, Vec<TwoTaxids>)>,
    /// Whether the current map was given by the user.
    is_given: bool,
    /// Ids with a different taxid in an earlier given map, with the numbers of both maps.
    between: Vec<([usize; 2], TwoTaxids)>,
    /// The conflicts in headers.
    in_headers: Vec<MapConflict>,
    /// The files, each with the range of its sequences.
    files: Vec<(PathBuf, Range<usize>)>,
}

impl TaxidSearch {
    /// Searches all sources in this order: the given maps and the maps in folders of references, the headers, the
    /// other files in these folders, and the folder of the taxonomy; with GTDB's tables, the given maps and the
    /// accessions. Notes to the progress which maps were found and used.
    ///
    /// # Errors
    /// If a file cannot be read or is malformed.
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
        // The nearest one comes first: the folders of the others have fewer components.
        found.sort_by_key(|map| std::cmp::Reverse(lexical(map).components().count()));
        for map in found.into_iter().filter(|map| !maps.contains(map)) {
            let missing = self.taxids.missing();
            if missing > 0 {
                self.scope = map.parent().map(lexical);
                self.read(&map)?;
                self.scope = None;
            }
            if self.taxids.missing() < missing {
                self.maps_beside.push(map);
            }
        }
        self.read_headers(taxonomy.map(|dump| &dump.taxonomy));
        // These files may be large, and are read only if some sequence still has no taxid.
        for map in files_next_to(inputs, is_summary)? {
            if self.taxids.missing() > 0 {
                self.read(&map)?;
            }
        }
        if let Some(folder) = taxonomy.and_then(|dump| dump.folder.as_ref()) {
            for map in accession_maps(folder)? {
                if self.taxids.missing() > 0 {
                    self.read(&map)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the taxids of all sequences, in the order of the sequences.
    pub fn taxids(&self) -> &[Option<u32>] {
        self.taxids.found()
    }

    /// Returns the taxids of all sequences, in the order of the sequences.
    pub fn into_taxids(self) -> Vec<Option<u32>> {
        self.taxids.into_found()
    }

    /// Returns a search for the taxids of the sequences in `files`, one for each of `inputs`. `names` returns the name
    /// of a sequence (the first word of its header) and the whole header.
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
            in_headers: Vec::new(),
            taxids: Taxids::default(),
            scope: None,
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
        search.taxids = Taxids::new(search.headers.len());
        search
    }

    /// Adds the ids of a sequence: its name, each part between bars (`gi|16127|ref|NC_000913.2|`), and both without a
    /// version.
    fn add_ids(&mut self, name: &str) {
        let target = self.headers.len() as u32;
        let whole = std::iter::once((name, Match::Whole, Match::Stem));
        let parts = parts(name).map(|part| (part, Match::Part, Match::StemOfPart));
        for (id, of_id, of_stem) in whole.chain(parts) {
            let stem = stem(id.as_bytes()).map(|stem| (stem, of_stem));
            for (key, of_key) in std::iter::once((id.as_bytes(), of_id)).chain(stem) {
                let targets = &mut self.ids.entry(key.to_vec()).or_default().targets;
                if targets.last().is_none_or(|last| last.0 != target) {
                    targets.push((target, of_key));
                }
            }
        }
    }
}

/// Returns the parts of a name between bars that may be ids: of three letters and more, without `kraken:taxid` and the
/// number after it.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    let mut is_number = false;
    name.split('|').filter(move |part| {
        let is_word = matches!(*part, "kraken:taxid" | "taxid");
        let is_id = !is_word && !is_number && part.len() > 2;
        is_number = is_word;
        is_id
    })
}

/// Returns the note about a map that was found and used.
fn taken_from(map: &Path) -> String {
    format!("taxids are also taken from {}", map.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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
        assert_eq!(search.taxids(), [5, 6, 8, 1, 3, 4].map(Some));
        let found: Vec<_> = search
            .conflicts(None)
            .into_iter()
            .map(|found| {
                let earlier = match &found.place {
                    ConflictPlace::EarlierMap(path) => path.file_name().unwrap().to_str().unwrap(),
                    ConflictPlace::Map => "",
                    ConflictPlace::Header => "header",
                    ConflictPlace::HeaderAndPart => "part",
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

    /// The names are those of chromosomes of two hosts, versions of an accession, and parts between bars.
    #[test]
    fn the_most_specific_row_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let map = folder.path().join("map");
        let of = |headers: &[&'static str], text: &str| {
            fs::write(&map, text).unwrap();
            let mut search = search(headers);
            search.look((std::slice::from_ref(&map), &[]), &[], None).unwrap();
            search.into_taxids()
        };
        let hosts = ["human|chr1", "mouse|chr1", "chr1", "rat|chr1.2"];
        let rows = ["chr1\t21\n", "human|chr1\t9606\n", "mouse|chr1\t12\n", "chr1.2\t5\n"];
        for order in [[0, 1, 2, 3], [3, 2, 1, 0]] {
            let text: String = order.map(|at| rows[at]).concat();
            assert_eq!(of(&hosts, &text), [9606, 12, 21, 5].map(Some), "{text}");
        }
        let versions = ["s", "s.1", "s.2", "s.3"];
        assert_eq!(of(&versions, "s.1\t12\ns\t11\ns.2\t21\n"), [11, 12, 21, 11].map(Some));
        let both = "AB1\tAB1.1\t11\t0\nAB1\tAB1.2\t21\t0\n";
        assert_eq!(of(&["AB1.2", "AB1.1", "AB1"], both), [21, 11, 11].map(Some));
        // A taxid in the header comes before a row for a part, and is no id itself.
        let headers = ["kraken:taxid|21|chr1", "kraken:taxid|9606|c1", "chr1"];
        assert_eq!(of(&headers, "chr1\t5\n9606\t11\n"), [21, 9606, 5].map(Some));
        assert_eq!(of(&headers, "kraken:taxid|21|chr1\t6\n"), [Some(6), Some(9606), None]);
        fs::write(&map, "chr1\t5\n").unwrap();
        let mut search = search(&headers);
        search.look((std::slice::from_ref(&map), &[]), &[], None).unwrap();
        let [conflict] = &search.conflicts(None)[..] else { panic!("one conflict") };
        assert_eq!(
            (conflict.place.clone(), conflict.taxids),
            (ConflictPlace::HeaderAndPart, [21, 5])
        );
        // Lengths in a third column are no taxids.
        assert_eq!(of(&["s"], "s\t11\t9606\tname\n"), [Some(11)]);
    }

    #[test]
    fn a_map_in_a_folder_is_for_its_files() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        for (folder, rows) in [
            ("A", "c1\t11\n"),
            ("B", "c1\t21\nc2\t21\n"),
            ("B/inner", "c1\t31\n"),
            ("B/inner/lower", ""),
            ("C", ""),
        ] {
            fs::create_dir_all(path(folder)).unwrap();
            fs::write(path(folder).join("seqid2taxid.map"), rows).unwrap();
        }
        let files = ["A/x.fa", "B/y.fa", "B/inner/z.fa", "B/inner/lower/z.fa", "C/y.fa"];
        let inputs = files.map(|file| Input::File(path(file)));
        let targets = files.map(|_| vec!["c1", "c2"]);
        let mut search = TaxidSearch::new(&inputs, &targets, names, HeaderRule::Any);
        search.look((&[], &[path("B/seqid2taxid.map")]), &inputs, None).unwrap();
        let found = [Some(11), None, Some(21), Some(21), Some(31), Some(21), Some(31), Some(21)];
        assert_eq!(search.taxids(), [&found[..], &[None, None]].concat());
    }

    #[test]
    fn the_longest_name_of_an_assembly_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let summary = folder.path().join("assembly_summary.txt");
        fs::write(&summary, "#assembly_accession\ttaxid\nmg_1\t11\nmg_1_2\t21\nmg_1_2\t5\n")
            .unwrap();
        let inputs = ["mg_1.fa", "mg_1_2.fa.gz", "mg_12.fa"].map(|file| Input::File(file.into()));
        let targets = inputs.each_ref().map(|_| vec!["c"]);
        let mut search = TaxidSearch::new(&inputs, &targets, names, HeaderRule::Any);
        search.look((&[summary], &[]), &[], None).unwrap();
        assert_eq!(search.taxids(), [Some(11), Some(21), None]);
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
        assert_eq!(search.taxids(), [Some(5), Some(6), Some(9)]);
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
