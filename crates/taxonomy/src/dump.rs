//! A taxonomy read from files: NCBI's dump here, GTDB's tables in `gtdb`.
//!
//! The dump is nodes.dmp and names.dmp, and merged.dmp and delnodes.dmp if they are
//! there. Fields end in `\t|\t`, records in `\t|\n`; newer dumps add fields at the end.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use merganser_io::{Lines, is_file};
use merganser_run::{Budget, ConfigError, Warnings, thousands};

use crate::gtdb::{self, Accessions};
use crate::source::dump_files;
use crate::{Error, NodeInfo, Taxonomy, TaxonomySource};

/// A taxonomy as it was read.
#[derive(Debug)]
pub struct Dump {
    /// The whole tree.
    pub taxonomy: Taxonomy,
    /// Taxids that were deleted, sorted.
    pub deleted: Vec<u32>,
    /// What was odd.
    pub notes: TaxonomyNotes,
    /// The folder of NCBI's dump.
    pub folder: Option<PathBuf>,
    /// Of GTDB's tables, the taxa of accessions.
    pub accessions: Option<Accessions>,
}

/// What was odd about a taxonomy and was mended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaxonomyNotes {
    /// Taxids whose parent does not exist, sorted: they were attached to the root.
    pub orphans: Vec<u32>,
    /// Taxids without a scientific name, sorted: their number serves as their name.
    pub nameless: Vec<u32>,
    /// Lines of names.dmp with a further scientific name of a taxon, which counts; the first of them, and
    /// its taxid.
    pub renamed: (u64, Option<(u64, u32)>),
}

/// About what a taxon takes while a dump is read, its name included,
const READING_BYTES: u64 = 310;
/// and when that is done.
const TAXON_BYTES: u64 = 220;

impl Dump {
    /// Reads the dump in a folder, or tables of lineages.
    ///
    /// # Errors
    /// If nodes.dmp or names.dmp is missing, a record has no numbers where they belong, a taxid
    /// occurs twice, there is no root (taxid 1), or nodes are their own ancestors. Of tables, if a line
    /// is no accession with a lineage of ranks in their order, or an accession has two lineages.
    pub fn read(source: impl Into<TaxonomySource>) -> Result<Dump, Error> {
        Dump::read_within(&source.into(), u64::MAX, 0)
    }

    /// The same, within `memory` bytes, `taken` of which are for something else when it has been read.
    ///
    /// # Errors
    /// As [`read`](Self::read); and if it needs more, before any name is read.
    pub fn read_within(source: &TaxonomySource, memory: u64, taken: u64) -> Result<Dump, Error> {
        if let Some(folder) = source.folder() {
            return Dump::of_folder(folder, memory, taken);
        }
        let (taxonomy, accessions) = gtdb::read(source.tables()?, memory.saturating_sub(taken))?;
        Ok(Dump {
            taxonomy,
            deleted: Vec::new(),
            notes: TaxonomyNotes::default(),
            folder: None,
            accessions: Some(accessions),
        })
    }

    fn of_folder(folder: &Path, memory: u64, taken: u64) -> Result<Dump, Error> {
        let (reading, kept) = (Budget::new(memory), Budget::of_part(memory).with(taken));
        let most = (reading.left() / READING_BYTES).min(kept.left() / TAXON_BYTES);
        let (mut nodes, nodes_path, records) = read_nodes(folder, most)?;
        if records > most {
            let [reading, kept] =
                [reading.with(records * READING_BYTES), kept.with(records * TAXON_BYTES)];
            let what = format!("a build with a taxonomy of {records} taxa needs");
            let remedy = "or give a taxonomy of the taxa that occur";
            return Err(reading.max(kept).shortage(what, remedy).into());
        }
        let mut notes = TaxonomyNotes::default();
        attach_orphans(&mut nodes, &mut notes);
        refuse_cycles(&nodes, &nodes_path)?;
        read_names(folder, &mut nodes, &mut notes)?;
        let merged = read_pairs(&folder.join("merged.dmp"), 2)?;
        let deleted = read_pairs(&folder.join("delnodes.dmp"), 1)?;
        let merged = follow_merges(&merged, |taxid| nodes.contains_key(&taxid));
        let mut deleted: Vec<u32> = deleted.iter().map(|pair| pair[0]).collect();
        deleted.sort_unstable();
        let taxonomy = Taxonomy::new(nodes.into_values().collect(), merged);
        Ok(Dump { taxonomy, deleted, notes, folder: Some(folder.to_owned()), accessions: None })
    }

    /// Refuses a taxon with two scientific names.
    ///
    /// # Errors
    /// [`Error::Content`]: the line with the second one.
    pub fn refuse_renamed(&self) -> Result<(), Error> {
        let (Some(folder), (_, Some((line, taxid)))) = (&self.folder, self.notes.renamed) else {
            return Ok(());
        };
        let what = format!("taxid {taxid} has a scientific name for the second time");
        Err(malformed(&folder.join("names.dmp"), line, &what))
    }

    /// Warns of names that are missing, and of taxa that have several.
    pub fn warn_of_names(&self, warnings: &Warnings) {
        let Some(folder) = &self.folder else { return };
        let (file, TaxonomyNotes { nameless, renamed, .. }) =
            (folder.join("names.dmp"), &self.notes);
        if let Some(first) = nameless.first() {
            warnings.push(format!(
                "{}: {} of {} taxa have no scientific name in it, first taxid {first}: is the file cut? \
                 Download it again",
                file.display(),
                thousands(nameless.len() as u64),
                thousands(self.taxonomy.len() as u64)
            ));
        }
        if let (count, Some((line, taxid))) = renamed {
            warnings.push(format!(
                "{}: {} lines have a further scientific name of a taxon, first line {line} (taxid {taxid}): \
                 the last one is used, as Kraken 2 does; remove the wrong lines",
                file.display(),
                thousands(*count)
            ));
        }
    }

    /// The files of the dump in `folder`, whether or not they are there.
    pub fn files(folder: &Path) -> [PathBuf; 4] {
        dump_files(folder)
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> u64 {
        let accessions = self.accessions.as_ref().map_or(0, Accessions::bytes);
        self.taxonomy.len() as u64 * TAXON_BYTES + accessions
    }

    /// Sees to it that the taxa of tables are numbered as those of a database: other tables number them
    /// otherwise. NCBI's taxids are always the same ones.
    ///
    /// # Errors
    /// [`Error::Config`]: the first taxid that has other names.
    pub fn refuse_other_numbers(&self, database: &Taxonomy) -> Result<(), Error> {
        if self.accessions.is_none() {
            return Ok(());
        }
        let described = |tree: &Taxonomy, node: u32| {
            let parent = tree.taxid(tree.parent(node));
            (tree.name(node).to_owned(), tree.rank_name(node).to_owned(), parent)
        };
        for node in 1..database.len() as u32 {
            let taxid = database.taxid(node);
            let own = self.taxonomy.node(taxid).map(|node| described(&self.taxonomy, node));
            if own.as_ref() != Some(&described(database, node)) {
                let own = own.map_or("nothing".to_owned(), |(name, ..)| name);
                return Err(Error::Config(ConfigError::new(format!(
                    "taxid {taxid} is {} in the database and {own} in `taxonomy`: give the tables that it \
                     was built with, or build it again",
                    database.name(node)
                ))));
            }
        }
        Ok(())
    }

    /// Why a taxid has no node, in words.
    pub fn why_unknown(&self, taxid: u32) -> &'static str {
        if self.deleted.binary_search(&taxid).is_ok() {
            "deleted from the taxonomy"
        } else {
            "not in the taxonomy"
        }
    }
}

/// Whether there is such a file.
fn there_is(path: &Path) -> Result<bool, Error> {
    is_file(path).map_err(|source| Error::File { path: path.to_owned(), source })
}

/// A required file of the dump.
fn required(folder: &Path, name: &str) -> Result<PathBuf, Error> {
    let path = folder.join(name);
    if there_is(&path)? {
        return Ok(path);
    }
    let reason = if folder.join("taxonomy").join(name).is_file() {
        format!("no {name} in this folder, but in the folder taxonomy in it: give that one")
    } else if folder.is_dir() {
        format!("no {name} in this folder: give the folder of NCBI's taxdump with `taxonomy`")
    } else {
        "no such folder or file: give the folder of NCBI's taxdump, or GTDB's tables, with `taxonomy`"
            .to_owned()
    };
    Err(Error::content(folder, reason))
}

/// A line without its end; none of blank lines and comments (`#`), which people add.
fn record(line: &[u8]) -> Option<&[u8]> {
    let record = line.trim_ascii_end();
    if record.is_empty() || record.starts_with(b"#") {
        return None;
    }
    let record = record.strip_suffix(b"|").unwrap_or(record);
    Some(record.strip_suffix(b"\t").unwrap_or(record))
}

/// How the records of a file end: in a bar, as NCBI's do, or not. A last one without, behind others, is cut,
/// and so is an only one that has no line end either.
#[derive(Default)]
struct Ends {
    records: u64,
    barred: bool,
    /// The last record, if it has no bar at its end.
    bare: Option<u64>,
}

impl Ends {
    fn see(&mut self, at: u64, line: &[u8]) {
        let barred = line.trim_ascii_end().ends_with(b"|");
        self.records += 1;
        self.bare = (!barred).then_some(at);
        self.barred |= barred;
    }

    /// `lines` have been read to their end.
    fn check(&self, path: &Path, lines: &Lines) -> Result<(), Error> {
        let what = "ends without `|`: the file is truncated; copy or download it again";
        let is_cut = self.barred || self.records == 1 && lines.is_open();
        self.bare.filter(|_| is_cut).map_or(Ok(()), |at| Err(malformed(path, at, what)))
    }
}

/// Where the first separator of fields is, which has so many bytes: a bar between tabs, as names may
/// have bars of their own; where there is none, a bar.
fn separator(record: &[u8], bytes: usize) -> Option<usize> {
    if bytes == 1 {
        return memchr::memchr(b'|', record);
    }
    let is_whole =
        |&at: &usize| at > 0 && record[at - 1] == b'\t' && record.get(at + 1) == Some(&b'\t');
    memchr::memchr_iter(b'|', record).find(is_whole).map(|at| at - 1)
}

/// Bytes of a separator of this record.
fn separator_bytes(record: &[u8]) -> usize {
    if separator(record, 3).is_some() { 3 } else { 1 }
}

/// The fields of a record.
fn fields(record: &[u8]) -> impl Iterator<Item = &[u8]> {
    let bytes = separator_bytes(record);
    let mut rest = Some(record);
    std::iter::from_fn(move || {
        let own = rest?;
        let end = separator(own, bytes);
        rest = end.map(|end| &own[end + bytes..]);
        Some(own[..end.unwrap_or(own.len())].trim_ascii())
    })
}

/// Taxid, name and class of a record of names.dmp. Where bars alone separate fields, those that are too
/// many belong to the name.
fn name_fields(record: &[u8]) -> Option<[&[u8]; 3]> {
    let bars = memchr::memchr_iter(b'|', record).count();
    if separator_bytes(record) == 3 || bars <= 3 {
        let mut fields = fields(record);
        return Some([fields.next()?, fields.next()?, fields.nth(1)?]);
    }
    let (taxid, rest) = record.split_at(memchr::memchr(b'|', record)?);
    let class = memchr::memrchr(b'|', rest)?;
    let unique = memchr::memrchr(b'|', &rest[..class])?;
    Some([taxid, rest.get(1..unique)?, &rest[class + 1..]].map(<[u8]>::trim_ascii))
}

/// The taxid in a field.
///
/// # Errors
/// That there is none, as `missing` says, or that it is too large.
fn taxid_in(field: Option<&[u8]>, (path, line): (&Path, u64), missing: &str) -> Result<u32, Error> {
    let field = field.unwrap_or_default();
    parse_taxid(field).map_err(|what| malformed(path, line, what.as_deref().unwrap_or(missing)))
}

/// The taxid that a field consists of.
///
/// # Errors
/// That it is too large, if it is a number at all.
pub fn parse_taxid(field: &[u8]) -> Result<u32, Option<String>> {
    let text = std::str::from_utf8(field).map_err(|_| None)?;
    text.parse().map_err(|_| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| format!("taxid {text} is too large: {} is the largest", u32::MAX))
    })
}

fn malformed(path: &Path, line: u64, what: &str) -> Error {
    Error::content(path, format!("line {line}: {what}"))
}

/// The old taxids of `merged`, each with the one that it became in the end: the first on its way that
/// the taxonomy has. Of several lines of one old taxid, the first counts; merges in a circle lead
/// nowhere.
fn follow_merges(merged: &[[u32; 2]], is_known: impl Fn(u32) -> bool) -> Vec<(u32, u32)> {
    let mut next: HashMap<u32, u32> = HashMap::with_capacity(merged.len());
    for &[old, new] in merged {
        next.entry(old).or_insert(new);
    }
    let mut ends: HashMap<u32, u32> = HashMap::with_capacity(next.len());
    for &[old, _] in merged {
        let (mut way, mut on_it) = (Vec::new(), HashSet::new());
        let mut taxid = old;
        // The first step is made in any case: an old taxid that is still there stands for itself.
        while let (true, Some(&new)) = (on_it.insert(taxid), next.get(&taxid)) {
            way.push(taxid);
            taxid = ends.get(&new).copied().unwrap_or(new);
            if is_known(taxid) {
                break;
            }
        }
        ends.extend(way.into_iter().map(|one| (one, taxid)));
    }
    ends.into_iter().collect()
}

/// The nodes, their file, and the number of its records, of which no more than `most` are kept.
fn read_nodes(folder: &Path, most: u64) -> Result<(HashMap<u32, NodeInfo>, PathBuf, u64), Error> {
    let path = required(folder, "nodes.dmp")?;
    let mut nodes: HashMap<u32, NodeInfo> = HashMap::new();
    let (mut lines, mut records, mut ends) = (Lines::open(&path)?, 0, Ends::default());
    while let Some((at, line)) = lines.next_line()? {
        let Some(record) = record(line) else { continue };
        ends.see(at, line);
        records += 1;
        if records > most {
            nodes = HashMap::new();
            continue;
        }
        const LAYOUT: &str = "not `taxid | parent | rank | ...`";
        let mut fields = fields(record);
        let mut taxid = || taxid_in(fields.next(), (&path, at), LAYOUT);
        let (taxid, parent) = (taxid()?, taxid()?);
        if taxid == 0 {
            return Err(malformed(&path, at, "taxid 0 is no taxon: remove this line"));
        }
        if taxid == parent && taxid != 1 {
            let what = format!("taxid {taxid} is its own parent: correct this line");
            return Err(malformed(&path, at, &what));
        }
        let rank = fields.next().ok_or_else(|| malformed(&path, at, LAYOUT))?;
        let rank = String::from_utf8_lossy(rank).into_owned();
        let node = NodeInfo { taxid, parent, rank, name: String::new() };
        if nodes.insert(taxid, node).is_some() {
            return Err(malformed(&path, at, &format!("taxid {taxid} for the second time")));
        }
    }
    ends.check(&path, &lines)?;
    match nodes.get_mut(&1) {
        Some(root) => root.parent = 1,
        None if records > most => {}
        None => return Err(Error::content(&path, "there is no root (taxid 1)")),
    }
    Ok((nodes, path, records))
}

fn attach_orphans(nodes: &mut HashMap<u32, NodeInfo>, notes: &mut TaxonomyNotes) {
    let known: HashSet<u32> = nodes.keys().copied().collect();
    for node in nodes.values_mut() {
        if !known.contains(&node.parent) {
            node.parent = 1;
            notes.orphans.push(node.taxid);
        }
    }
    notes.orphans.sort_unstable();
}

fn refuse_cycles(nodes: &HashMap<u32, NodeInfo>, path: &Path) -> Result<(), Error> {
    let mut sound: HashSet<u32> = HashSet::from([1]);
    for &start in nodes.keys() {
        let mut way = Vec::new();
        let mut taxid = start;
        while !sound.contains(&taxid) {
            if way.len() > nodes.len() {
                let least = way.iter().min().copied().unwrap_or(taxid);
                return Err(Error::content(path, format!("taxid {least} is its own ancestor")));
            }
            way.push(taxid);
            taxid = nodes[&taxid].parent;
        }
        sound.extend(way);
    }
    Ok(())
}

fn read_names(
    folder: &Path,
    nodes: &mut HashMap<u32, NodeInfo>,
    notes: &mut TaxonomyNotes,
) -> Result<(), Error> {
    let path = required(folder, "names.dmp")?;
    let (mut lines, mut ends) = (Lines::open(&path)?, Ends::default());
    while let Some((at, line)) = lines.next_line()? {
        const LAYOUT: &str = "not `taxid | name | unique name | class`";
        let Some(record) = record(line) else { continue };
        ends.see(at, line);
        let fields = name_fields(record);
        let [taxid, name, class] = fields.ok_or_else(|| malformed(&path, at, LAYOUT))?;
        let taxid = taxid_in(Some(taxid), (&path, at), LAYOUT)?;
        if class == b"scientific name"
            && let Some(node) = nodes.get_mut(&taxid)
        {
            if !node.name.is_empty() {
                notes.renamed.0 += 1;
                notes.renamed.1.get_or_insert((at, taxid));
            }
            node.name = String::from_utf8_lossy(name).into_owned();
        }
    }
    ends.check(&path, &lines)?;
    for node in nodes.values_mut().filter(|node| node.name.is_empty()) {
        node.name = node.taxid.to_string();
        notes.nameless.push(node.taxid);
    }
    notes.nameless.sort_unstable();
    Ok(())
}

/// The first `count` (1 or 2) numbers of each record of a file that need not exist.
fn read_pairs(path: &Path, count: usize) -> Result<Vec<[u32; 2]>, Error> {
    let mut pairs = Vec::new();
    if !there_is(path)? {
        return Ok(pairs);
    }
    let (mut lines, mut ends) = (Lines::open(path)?, Ends::default());
    while let Some((at, line)) = lines.next_line()? {
        let Some(record) = record(line) else { continue };
        ends.see(at, line);
        let mut fields = fields(record);
        let mut taxid = || taxid_in(fields.next(), (path, at), "no taxid where one belongs");
        pairs.push([taxid()?, if count == 2 { taxid()? } else { 0 }]);
    }
    ends.check(path, &lines)?;
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rank;
    use std::fs;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let text = text.replace(" | ", "\t|\t").replace(" |\n", "\t|\n");
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    const NEW: &str = "1 | 1 | no rank |\n131567 | 1 | cellular root |\n2 | 131567 | domain |\n\
                       10239 | 1 | acellular root |\n562 | 2 | species |\n7 | 99 | species |\n";
    const NAMES: &str = "1 | root |  | scientific name |\n2 | Bacteria | Bacteria <x> | \
                         scientific name |\n562 | Escherichia coli |  | scientific name |\n\
                         562 | E. coli |  | synonym |\n131567 | cellular organisms |  | \
                         scientific name |\n10239 | Viruses |  | scientific name |\n";

    #[test]
    fn the_spelling_of_2025_is_read_and_orphans_are_attached() {
        let folder = folder(&[
            ("nodes.dmp", NEW),
            ("names.dmp", NAMES),
            ("merged.dmp", "1637691 | 562 |\n"),
            ("delnodes.dmp", "4 |\n"),
        ]);
        let dump = Dump::read(folder.path()).unwrap();
        let tree = &dump.taxonomy;
        let node = |taxid| tree.node(taxid).unwrap();
        assert_eq!(tree.rank(node(2)), Rank::Domain);
        assert_eq!(tree.rank(node(10239)), Rank::Domain);
        assert_eq!(tree.rank(node(131_567)), Rank::None);
        assert_eq!(tree.name(node(562)), "Escherichia coli");
        assert_eq!(node(1_637_691), node(562));
        assert_eq!(tree.taxid(tree.lca(node(562), node(2))), 2);
        assert_eq!(tree.lca(node(562), node(10239)), tree.root());
        let notes =
            TaxonomyNotes { orphans: vec![7], nameless: vec![7], ..TaxonomyNotes::default() };
        assert_eq!(dump.notes, notes);
        dump.refuse_renamed().unwrap();
        assert_eq!((tree.parent(node(7)), tree.name(node(7))), (tree.root(), "7"));
        assert_eq!(dump.why_unknown(4), "deleted from the taxonomy");
        assert_eq!(dump.why_unknown(5), "not in the taxonomy");
    }

    #[test]
    fn names_may_have_bars_and_lines_may_be_comments() {
        let with = |names: &str| {
            let folder = folder(&[("nodes.dmp", NEW)]);
            fs::write(folder.path().join("names.dmp"), names).unwrap();
            fs::write(folder.path().join("merged.dmp"), "#\n# none yet\t|\t\n \n").unwrap();
            let tree = Dump::read(folder.path()).unwrap().taxonomy;
            tree.name(tree.node(562).unwrap()).to_owned()
        };
        assert_eq!(with("562\t|\ta|b\t|\t\t|\tscientific name\t|\n"), "a|b");
        assert_eq!(with("562\t|\ta| b\t|\tunique <|>\t|\tscientific name\t|\n"), "a| b");
        assert_eq!(with("# made by hand\n562|a|b|c||scientific name|\n"), "a|b|c");
        assert_eq!(with("562 | a | b |  | scientific name |\n"), "a | b");
        assert_eq!(with("562|a||scientific name\n"), "a");
        // A file made without the last bar, or with it and without the last line end.
        assert_eq!(with("562\t|\ta|b\t|\t\t|\tscientific name\n"), "a|b");
        assert_eq!(with("562\t|\ta|b\t|\t\t|\tscientific name\t|"), "a|b");
        assert_eq!(with("2|x||scientific name\n562|a||scientific name"), "a");
    }

    #[test]
    fn names_that_are_missing_or_doubled_are_told() {
        let named = |names: &str| {
            let folder = folder(&[("nodes.dmp", NEW), ("names.dmp", names)]);
            let dump = Dump::read(folder.path()).unwrap();
            let warnings = Warnings::default();
            dump.warn_of_names(&warnings);
            let error = dump.refuse_renamed().map_err(|error| error.to_string());
            let shown = |text: String| text.replace(&format!("{}/", folder.path().display()), "");
            (warnings.since(0).into_iter().map(shown).collect::<Vec<_>>(), error.map_err(shown))
        };
        let seven = "7 | seven |  | scientific name |\n";
        assert_eq!(named(&format!("{NAMES}{seven}")), (Vec::new(), Ok(())));
        let (warnings, error) = named("");
        assert_eq!(
            warnings,
            [
                "names.dmp: 6 of 6 taxa have no scientific name in it, first taxid 1: is the file cut? \
              Download it again"
            ]
        );
        assert!(error.is_ok());
        let (warnings, error) =
            named(&format!("{NAMES}{seven}{seven}2 | x |  | scientific name |\n"));
        assert_eq!(
            warnings,
            [
                "names.dmp: 2 lines have a further scientific name of a taxon, first line 8 (taxid 7): the \
              last one is used, as Kraken 2 does; remove the wrong lines"
            ]
        );
        assert_eq!(
            error.unwrap_err(),
            "names.dmp: line 8: taxid 7 has a scientific name for the second time"
        );
    }

    #[test]
    fn merges_are_followed_to_their_end() {
        let of = |merged: &[[u32; 2]]| {
            let mut all = follow_merges(merged, |taxid| taxid > 100);
            all.sort_unstable();
            all
        };
        assert_eq!(of(&[[99, 98], [98, 101]]), [(98, 101), (99, 101)]);
        assert_eq!(of(&[[98, 101], [97, 98], [99, 97]]), [(97, 101), (98, 101), (99, 101)]);
        // Once with an end that is not there, once in a circle, once to itself.
        assert_eq!(of(&[[3, 2], [2, 1]]), [(2, 1), (3, 1)]);
        assert_eq!(of(&[[7, 7]]), [(7, 7)]);
        let circle = of(&[[1, 2], [2, 3], [3, 1], [4, 3]]);
        assert!(circle.iter().all(|(_, end)| *end <= 100), "{circle:?}");
        assert_eq!(of(&[[5, 101], [5, 102]]), [(5, 101)]);
        let long: Vec<[u32; 2]> = (1000..200_000).map(|taxid| [taxid + 1, taxid]).collect();
        let ends = follow_merges(&long, |taxid| taxid == 1000);
        assert!(ends.len() == long.len() && ends.iter().all(|(_, end)| *end == 1000));
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        let message = |files: &[(&str, &str)]| {
            let folder = folder(files);
            let error = Dump::read(folder.path()).unwrap_err().to_string();
            error.replace(&folder.path().display().to_string(), "DIR")
        };
        let names = ("names.dmp", NAMES);
        assert_eq!(
            message(&[names]),
            "DIR: no nodes.dmp in this folder: give the folder of NCBI's taxdump with `taxonomy`"
        );
        assert_eq!(
            message(&[("nodes.dmp", NEW)]),
            "DIR: no names.dmp in this folder: give the folder of NCBI's taxdump with `taxonomy`"
        );
        assert_eq!(
            message(&[("nodes.dmp", "1 | x | no rank |\n"), names]),
            "DIR/nodes.dmp: line 1: not `taxid | parent | rank | ...`"
        );
        assert_eq!(
            message(&[("nodes.dmp", "2 | 1 | domain |\n"), names]),
            "DIR/nodes.dmp: there is no root (taxid 1)"
        );
        assert_eq!(
            message(&[("nodes.dmp", "1 | 1 | no rank |\n4294967296 | 1 | species |\n"), names]),
            "DIR/nodes.dmp: line 2: taxid 4294967296 is too large: 4294967295 is the largest"
        );
        let cycle = "1 | 1 | no rank |\n5 | 6 | genus |\n6 | 5 | genus |\n";
        assert_eq!(
            message(&[("nodes.dmp", cycle), names]),
            "DIR/nodes.dmp: taxid 5 is its own ancestor"
        );
        for (cut, line) in
            [("1 | 1 | no rank |\n5 | 1 | genus", 2), ("1 | 1 | no rank |\n5 | 1 | ge", 2)]
        {
            assert_eq!(
                message(&[("nodes.dmp", cut), names]),
                format!(
                    "DIR/nodes.dmp: line {line}: ends without `|`: the file is truncated; copy or download \
                     it again"
                )
            );
        }
        let sound = [("nodes.dmp", NEW), names];
        for (file, cut) in [
            ("nodes.dmp", "1\t|\t1\t|\tno rank"),
            ("names.dmp", "562\t|\ta\t|\t\t|\tscientific name"),
            ("merged.dmp", "99\t|\t10"),
            ("merged.dmp", "99\t|\t10\t"),
            ("merged.dmp", "# a comment\n99\t|\t10"),
            ("delnodes.dmp", "4"),
        ] {
            let others = sound.iter().filter(|(name, _)| *name != file);
            let files: Vec<_> = others.copied().chain([(file, cut)]).collect();
            let line = cut.lines().count();
            assert_eq!(
                message(&files),
                format!(
                    "DIR/{file}: line {line}: ends without `|`: the file is truncated; copy or download it again"
                )
            );
        }
        let zero = "1 | 1 | no rank |\n0 | 1 | genus |\n";
        assert_eq!(
            message(&[("nodes.dmp", zero), names]),
            "DIR/nodes.dmp: line 2: taxid 0 is no taxon: remove this line"
        );
        let own = "# by hand\n1 | 1 | no rank |\n5 | 5 | genus |\n";
        assert_eq!(
            message(&[("nodes.dmp", own), names]),
            "DIR/nodes.dmp: line 3: taxid 5 is its own parent: correct this line"
        );
        let twice = "1 | 1 | no rank |\n5 | 1 | genus |\n5 | 1 | genus |\n";
        assert_eq!(
            message(&[("nodes.dmp", twice), names]),
            "DIR/nodes.dmp: line 3: taxid 5 for the second time"
        );
    }
}
