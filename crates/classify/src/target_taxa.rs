//! Which taxon each target has.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use merganser_io::{FileKind, Input, is_file};

use merganser_run::ConfigError;

use crate::Error;
use crate::build::outcome::BuildOutcome;
use crate::config::BuildConfig;
use crate::database::{Database, Target};
use crate::kraken2::Kraken2Sequence;
use crate::library::{GenomeTaxon, Manifest, Status};
use crate::lines::Lines;
use crate::references::without_suffixes;
use crate::taxonomy::{Accessions, Dump, Taxonomy, TaxonomySource, assembly, lineage};

/// The names of files that are looked for next to references, and in the taxonomy's folder.
const SUMMARY: &str = "assembly_summary";
const ACCESSIONS: &str = ".accession2taxid";

/// The files that a build reads without having been given their names: those of the taxonomy,
/// and those next to the references.
pub fn files_beside(inputs: &[Input], taxonomy: Option<&TaxonomySource>) -> Vec<PathBuf> {
    // What cannot be looked for ends the build itself.
    let mut files = files_next_to(inputs, SUMMARY).unwrap_or_default();
    files.extend(taxonomy.iter().flat_map(|source| source.files()));
    if let Some(folder) = taxonomy.and_then(TaxonomySource::folder) {
        files.extend(within(folder, ACCESSIONS).unwrap_or_default());
    }
    files
}

/// A target as its file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScannedTarget {
    /// The first word of its header.
    pub(crate) name: String,
    /// The whole header.
    pub(crate) header: String,
    pub(crate) bases: u64,
    /// Somewhere as many bases as a k-mer has stand in a row.
    pub(crate) has_kmer: bool,
}

impl ScannedTarget {
    /// Bytes of memory that it takes until the database is written, about: as it is here, where its taxon is
    /// looked for, and as the database has it.
    pub(crate) fn bytes(&self) -> u64 {
        320 + 3 * (self.name.len() + self.header.len()) as u64
    }
}

/// Targets with their nodes, and the tree of these.
pub(crate) struct Mapped {
    pub(crate) targets: Vec<Target>,
    pub(crate) taxonomy: Taxonomy,
}

/// Finds the taxon of each target: by the maps given, manifests of libraries among them, then a taxid in its header, then
/// assembly_summary files next to the references, then accession2taxid files in the taxonomy's
/// folder. Of GTDB's taxonomy, by the maps, then its accession, then that in its file's name: other
/// taxids are NCBI's.
pub(crate) fn map_targets(
    config: &BuildConfig,
    inputs: &[Input],
    files: &[Vec<ScannedTarget>],
    dump: Option<Dump>,
    base: Option<&Database>,
    outcome: &mut BuildOutcome,
) -> Result<Mapped, Error> {
    let mut search = Search::new(inputs, files);
    search.look_everywhere(&config.maps, inputs, dump.as_ref())?;
    if let (Some(dump), Some(base)) = (&dump, base) {
        dump.refuse_other_numbers(base.taxonomy())?;
    }
    let tree = match (&dump, base) {
        (Some(dump), Some(base)) => Some(dump.taxonomy.united(base.taxonomy())),
        _ => None,
    };
    let tree = tree.as_ref().or(dump.as_ref().map(|dump| &dump.taxonomy));
    let Some(tree) = tree.or(base.map(Database::taxonomy)) else {
        return Err(Error::Config(ConfigError::new(
            "no taxonomy: give its folder with `taxonomy`",
        )));
    };
    let mut targets = old_targets(base, tree);
    let mut names: HashSet<String> = targets.iter().map(|target| target.name.clone()).collect();
    let scanned = files.iter().flatten();
    for (target, taxid) in scanned.zip(&search.taxids) {
        let (node, reason) = match *taxid {
            None => (None, "no taxid found".to_owned()),
            Some(taxid) => {
                let why =
                    dump.as_ref().map_or("not in the taxonomy", |dump| dump.why_unknown(taxid));
                (tree.node(taxid), format!("taxid {taxid} is {why}"))
            }
        };
        if node.is_none() {
            outcome.unmapped.push((target.name.clone(), reason));
        }
        if !names.insert(target.name.clone()) {
            outcome.duplicates.0 += 1;
            outcome.duplicates.1.get_or_insert_with(|| target.name.clone());
        }
        let windows = config.params.windows(target.bases) as u32;
        let node = node.unwrap_or(tree.root());
        targets.push(Target { name: target.name.clone(), node, bases: target.bases, windows });
    }
    if config.strict {
        refuse(outcome)?;
    }
    let pruned = tree.pruned(targets.iter().map(|target| target.node));
    for target in &mut targets {
        target.node = pruned.node(tree.taxid(target.node)).unwrap_or(pruned.root());
    }
    Ok(Mapped { targets, taxonomy: pruned })
}

/// The taxids of the sequences of a Kraken 2 library, found where those of a [`build`](crate::build())
/// are: in `maps`, in headers, next to `inputs`, and by the taxonomy, if there is one. `sequences` are
/// those of all inputs, in their order.
///
/// # Errors
/// If one of these files cannot be read, or is malformed.
pub fn taxids_of_library(
    sequences: &[Kraken2Sequence],
    inputs: &[Input],
    maps: &[PathBuf],
    taxonomy: Option<&Dump>,
) -> Result<Vec<Option<u32>>, Error> {
    let mut files = vec![Vec::new(); inputs.len()];
    for sequence in sequences {
        let (name, header) = (sequence.name().to_owned(), sequence.header.clone());
        files[sequence.input].push(ScannedTarget { name, header, bases: 0, has_kmer: true });
    }
    let mut search = Search::new(inputs, &files);
    search.look_everywhere(maps, inputs, taxonomy)?;
    Ok(search.taxids)
}

/// The targets of `base`, with their nodes in `tree`, which holds all of them.
fn old_targets(base: Option<&Database>, tree: &Taxonomy) -> Vec<Target> {
    let Some(base) = base else { return Vec::new() };
    let renumbered = |target: &Target| {
        let node = tree.node(base.taxonomy().taxid(target.node)).unwrap_or(tree.root());
        Target { node, ..target.clone() }
    };
    base.targets().iter().map(renumbered).collect()
}

fn refuse(outcome: &BuildOutcome) -> Result<(), Error> {
    if let (count, Some(name)) = &outcome.duplicates {
        return Err(Error::Input(format!(
            "{count} sequences have an id that an earlier one has (`strict`), first {name}"
        )));
    }
    if let Some((name, reason)) = outcome.unmapped.first() {
        return Err(Error::Input(format!(
            "{} sequences have no taxon (`strict`), first {name}: {reason}",
            outcome.unmapped.len()
        )));
    }
    Ok(())
}

/// The search for taxids.
struct Search {
    /// Of all targets in their order.
    taxids: Vec<Option<u32>>,
    headers: Vec<String>,
    /// Ids, whole and in parts, and whose they are.
    ids: HashMap<Vec<u8>, Vec<u32>>,
    /// Files and the targets in each.
    files: Vec<(PathBuf, std::ops::Range<usize>)>,
}

impl Search {
    /// Looks in the maps, the headers, beside the references and in the taxonomy's folder, in this
    /// order; or in the maps and among the accessions of GTDB's tables.
    fn look_everywhere(
        &mut self,
        maps: &[PathBuf],
        inputs: &[Input],
        taxonomy: Option<&Dump>,
    ) -> Result<(), Error> {
        for map in maps {
            match FileKind::of_path(map) {
                Some(FileKind::Library) => self.read_manifest(map, taxonomy)?,
                _ => self.read(map)?,
            }
        }
        if let Some(accessions) = taxonomy.and_then(|dump| dump.accessions.as_ref()) {
            self.read_accessions(accessions);
            return Ok(());
        }
        self.read_headers();
        // These may be large, and are read only for those that have no taxid yet.
        for map in files_next_to(inputs, SUMMARY)? {
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

    fn new(inputs: &[Input], files: &[Vec<ScannedTarget>]) -> Search {
        let mut search = Search {
            taxids: Vec::new(),
            headers: Vec::new(),
            ids: HashMap::new(),
            files: Vec::new(),
        };
        for (input, targets) in inputs.iter().zip(files) {
            let first = search.headers.len();
            for target in targets {
                search.add_ids(&target.name);
                search.headers.push(target.header.clone());
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
                let targets = self.ids.entry(key.as_bytes().to_vec()).or_default();
                if targets.last() != Some(&target) {
                    targets.push(target);
                }
            }
        }
    }

    fn found(&mut self, id: &[u8], taxid: u32) {
        for &target in self.ids.get(id).into_iter().flatten() {
            self.taxids[target as usize].get_or_insert(taxid);
        }
    }

    /// `taxid|N`, of which `kraken:taxid|N` is one.
    fn read_headers(&mut self) {
        for (taxid, header) in self.taxids.iter_mut().zip(&self.headers) {
            let number = header.split_once("taxid|").map(|(_, rest)| {
                let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                rest[..end].parse().ok()
            });
            *taxid = taxid.or(number.flatten());
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
        let mut lines = Lines::open(path)?;
        let mut kind = None;
        while let Some((number, line)) = lines.next()? {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let columns: Vec<&[u8]> = line.split(|&byte| byte == b'\t').collect();
            if line.starts_with(b"#") {
                kind = assembly_columns(&columns).or(kind);
                continue;
            }
            let Some(known) = &kind else {
                kind = Some(table_columns(&columns));
                if !columns[1..].iter().any(|&column| column == b"taxid") {
                    self.row(path, number, &columns, kind.as_ref())?;
                }
                continue;
            };
            self.row(path, number, &columns, Some(known))?;
        }
        Ok(())
    }

    fn row(
        &mut self,
        path: &Path,
        line: u64,
        columns: &[&[u8]],
        kind: Option<&Columns>,
    ) -> Result<(), Error> {
        let Some(kind) = kind else { return Ok(()) };
        let cell = |at: usize| columns.get(at).map_or(&b""[..], |cell| cell.trim_ascii());
        let number = |at: usize| std::str::from_utf8(cell(at)).ok()?.parse::<u32>().ok();
        let (Columns::Ids { taxid, .. } | Columns::Assemblies { taxid, .. }) = kind;
        let Some(taxid) = number(*taxid) else {
            return Err(Error::content(
                path,
                format!("line {line}: no taxid in column {}", taxid + 1),
            ));
        };
        match kind {
            // Zero: the accession has no taxon.
            Columns::Ids { .. } if taxid == 0 => {}
            Columns::Ids { ids, .. } => ids.iter().for_each(|&at| self.found(cell(at), taxid)),
            Columns::Assemblies { accession, ftp, .. } => {
                let ftp = ftp.map_or(&b""[..], cell);
                let base = ftp.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
                self.found_assembly(cell(*accession), base, taxid);
            }
        }
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

/// The taxids of all lineages of a tree of GTDB.
fn lineages(tree: &Taxonomy) -> HashMap<String, u32> {
    (0..tree.len() as u32).map(|node| (lineage(tree, node), tree.taxid(node))).collect()
}

/// What the columns of a map hold, counted from 0.
enum Columns {
    Ids { ids: Vec<usize>, taxid: usize },
    Assemblies { accession: usize, taxid: usize, ftp: Option<usize> },
}

/// The columns that a comment line of an assembly summary names.
fn assembly_columns(columns: &[&[u8]]) -> Option<Columns> {
    let name = |column: &[u8]| column.trim_ascii_start().trim_ascii().to_vec();
    let bare = |column: &&[u8]| {
        let column = column.strip_prefix(b"#").unwrap_or(column);
        name(column)
    };
    let names: Vec<Vec<u8>> = columns.iter().map(bare).collect();
    let find = |wanted: &[u8]| names.iter().position(|name| name == wanted);
    let taxid = find(b"taxid")?;
    Some(Columns::Assemblies {
        accession: find(b"assembly_accession").unwrap_or(0),
        taxid,
        ftp: find(b"ftp_path"),
    })
}

/// The columns of a table by its first line: accession2taxid with a header, or without one, which
/// has four columns; else `id<TAB>taxid`.
fn table_columns(columns: &[&[u8]]) -> Columns {
    let find = |wanted: &[u8]| columns.iter().position(|&column| column == wanted);
    if let Some(taxid) = find(b"taxid").filter(|&at| at > 0) {
        let ids = [find(b"accession.version"), find(b"accession")];
        let ids: Vec<usize> = ids.into_iter().flatten().collect();
        return Columns::Ids { ids: if ids.is_empty() { vec![0] } else { ids }, taxid };
    }
    match columns.len() {
        4 => Columns::Ids { ids: vec![1, 0], taxid: 2 },
        _ => Columns::Ids { ids: vec![0], taxid: 1 },
    }
}

/// Files in the folders of the inputs whose name begins so, each once.
fn files_next_to(inputs: &[Input], start: &str) -> Result<Vec<PathBuf>, Error> {
    let mut folders: Vec<PathBuf> =
        inputs.iter().filter_map(|input| input.path()?.parent().map(Path::to_owned)).collect();
    folders.sort();
    folders.dedup();
    let is_wanted = |name: &str| name.starts_with(start) && name.contains(".txt");
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
