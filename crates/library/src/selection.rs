//! Selection of the genomes that belong to a library, and the taxon of each.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use merganser_run::ConfigError;

use super::accession::Accession;
use super::config::{Category, Level, LibraryConfig};
use super::lists::{self, Listed};
use super::row::{GenomeTaxon, Status};
use crate::Error;
use merganser_taxonomy::{Accessions, Dump, lineage};

/// The result of the selection.
#[derive(Debug, Default)]
pub(super) struct Selection {
    /// The choice for each genome, in the order of the genomes.
    pub(super) choices: Vec<Choice>,
    /// The number of listed genomes of the requested level and category without a file.
    pub(super) missing: u64,
    /// The number of genomes whose version differs from the listed one, and the accession of the first.
    pub(super) other_versions: (u64, Option<String>),
}

/// The facts about a genome before it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) accession: String,
    pub(super) taxon: Option<GenomeTaxon>,
    /// The status; sound if no problem is known yet.
    pub(super) status: Status,
}

/// Selects genomes by lists, of which the given ones come first, and writes the missing genomes.
///
/// # Errors
/// If there is no list; if a list cannot be read or is malformed; if no list has any of the genomes.
pub(super) fn select(
    config: &LibraryConfig,
    genomes: &[PathBuf],
    found_lists: &[PathBuf],
    taxonomy: Option<&Dump>,
    missing: &mut dyn Write,
) -> Result<Selection, Error> {
    let tables = taxonomy.and_then(|dump| dump.accessions.as_ref());
    let paths: Vec<&PathBuf> = config.assembly_summary.iter().chain(found_lists).collect();
    refuse_no_list(config, paths.is_empty(), tables.is_some())?;
    let names: Vec<(Accession, bool)> =
        genomes.iter().map(|path| Accession::of_file(path)).collect();
    let mut selector = Selector {
        config,
        taxonomy,
        stems: names.iter().map(|(accession, _)| &*accession.stem).collect(),
        known: HashMap::new(),
        missing: Missing { output: missing, seen: HashSet::new() },
    };
    for path in paths {
        selector.read(path)?;
    }
    if let (Some(dump), Some(accessions)) = (taxonomy, tables) {
        selector.missing_of_tables(dump, accessions)?;
    }
    let mut selection = Selection { missing: selector.missing.count(), ..Selection::default() };
    let chosen = names.iter().map(|(accession, _)| selector.choose(accession));
    let (choices, are_other): (Vec<Choice>, Vec<bool>) = chosen.unzip();
    selection.choices = choices;
    refuse_none(&selection.choices, genomes)?;
    leave_one_each(&names, genomes, &mut selection.choices);
    for (choice, (accession, _)) in selection.choices.iter_mut().zip(&names) {
        if choice.status == Status::Sound
            && let Some(reason) = selector.excludes(accession)
        {
            choice.status = Status::Excluded(reason);
        }
    }
    refuse_all_excluded(&selection.choices)?;
    selection.note_other_versions(&are_other);
    Ok(selection)
}

impl Selection {
    /// Counts selected genomes whose version is on no list.
    fn note_other_versions(&mut self, are_other: &[bool]) {
        let taken =
            |(choice, is_other): &(&Choice, &bool)| choice.status == Status::Sound && **is_other;
        let mut others = self.choices.iter().zip(are_other).filter(taken);
        let first = others.next().map(|(choice, _)| choice.accession.clone());
        self.other_versions = (u64::from(first.is_some()) + others.count() as u64, first);
    }
}

fn refuse_no_list(config: &LibraryConfig, no_list: bool, tables: bool) -> Result<(), Error> {
    let refused = match (no_list, tables) {
        (true, false) => {
            "no list of assemblies (assembly_summary*.txt, assembly_data_report.jsonl) in the folders: \
             give one with `assembly_summary`, or the tables of GTDB with `taxonomy`"
        }
        (true, true) if config.chooses() => {
            "`level` and `category` are in NCBI's lists of assemblies, but not in GTDB's tables: give a \
             list with `assembly_summary`"
        }
        _ => return Ok(()),
    };
    Err(Error::Config(ConfigError::new(refused)))
}

/// Checks that at least one genome has the requested level and category.
fn refuse_all_excluded(choices: &[Choice]) -> Result<(), Error> {
    let excluded = |choice: &&Choice| matches!(choice.status, Status::Excluded(_));
    match choices.iter().find(excluded) {
        Some(first) if choices.iter().all(|choice| choice.status != Status::Sound) => {
            Err(Error::Input(format!(
                "no genome has the requested `level` and `category`, first {}: {}",
                first.accession,
                first.status.reason()
            )))
        }
        _ => Ok(()),
    }
}

/// Checks that at least one genome has a taxon.
fn refuse_none(choices: &[Choice], genomes: &[PathBuf]) -> Result<(), Error> {
    match (choices.first(), genomes.first()) {
        (Some(first), Some(path)) if choices.iter().all(|choice| choice.taxon.is_none()) => {
            Err(Error::Input(format!(
                "none of the {} genomes has a taxon, first {}: {}",
                choices.len(),
                path.display(),
                first.status.reason()
            )))
        }
        _ => Ok(()),
    }
}

/// A listed assembly of which there is a file, in any version.
struct Known {
    version: u64,
    taxid: u32,
    species: Option<u32>,
    level: Option<Level>,
    category: Option<Category>,
}

struct Selector<'a> {
    config: &'a LibraryConfig,
    taxonomy: Option<&'a Dump>,
    /// The accessions of the files, without versions.
    stems: HashSet<&'a [u8]>,
    known: HashMap<Box<[u8]>, Vec<Known>>,
    missing: Missing<'a>,
}

/// Listed assemblies without a file.
struct Missing<'a> {
    output: &'a mut dyn Write,
    seen: HashSet<Box<[u8]>>,
}

impl Missing<'_> {
    fn add(&mut self, accession: &[u8], taxon: &GenomeTaxon, url: &str) -> Result<(), Error> {
        if self.seen.insert(accession.into()) {
            let accession = String::from_utf8_lossy(accession);
            writeln!(self.output, "{accession}\t{taxon}\t{url}")?;
        }
        Ok(())
    }

    fn count(&self) -> u64 {
        self.seen.len() as u64
    }
}

impl Selector<'_> {
    /// Reads a list.
    fn read(&mut self, path: &Path) -> Result<(), Error> {
        let is_taxonomy = self.taxonomy.is_none_or(|dump| dump.accessions.is_none());
        let mut failed = None;
        lists::read(path, &mut |listed| {
            let Accession { stem, version } = Accession::of(&listed.accession);
            if self.stems.contains(&*stem) {
                let known = self.known.entry(stem).or_default();
                if known.iter().all(|known| known.version != version) {
                    let Listed { taxid, species, level, category, .. } = listed;
                    known.push(Known { version, taxid, species, level, category });
                }
            } else if is_taxonomy && self.is_wanted(listed.level, listed.category) {
                let taxon = GenomeTaxon::Taxid(listed.taxid);
                let url = listed.url.as_deref().unwrap_or("-");
                if let Err(error) = self.missing.add(&listed.accession, &taxon, url) {
                    failed.get_or_insert(error);
                }
            }
        })?;
        failed.map_or(Ok(()), Err)
    }

    /// Lists the genomes of GTDB's tables without a file, in the order of accessions.
    fn missing_of_tables(&mut self, dump: &Dump, accessions: &Accessions) -> Result<(), Error> {
        let is_missing = |accession: &[u8]| !self.stems.contains(&*Accession::of(accession).stem);
        let mut all: Vec<(&[u8], u32)> =
            accessions.iter().filter(|(accession, _)| is_missing(accession)).collect();
        all.sort_unstable();
        for (accession, taxid) in all {
            self.missing.add(accession, &lineage_of(dump, taxid), "-")?;
        }
        Ok(())
    }

    /// Whether an assembly has the requested level and category.
    fn is_wanted(&self, level: Option<Level>, category: Option<Category>) -> bool {
        // `None` is less than any value.
        level >= self.config.level && category >= self.config.category
    }

    /// Returns the taxon of a genome, or why it has none; and whether the taxon comes from a different version.
    fn choose(&self, accession: &Accession) -> (Choice, bool) {
        let text = accession.text();
        let found = match self.taxonomy {
            Some(dump) if dump.accessions.is_some() => of_tables(dump, &text),
            _ => self.of_lists(accession),
        };
        match found {
            Ok((taxon, is_other)) => {
                let status = Status::Sound;
                (Choice { accession: text, taxon: Some(taxon), status }, is_other)
            }
            Err(reason) => {
                let status = Status::NoTaxon(reason);
                (Choice { accession: text, taxon: None, status }, false)
            }
        }
    }

    fn of_lists(&self, accession: &Accession) -> Result<(GenomeTaxon, bool), String> {
        let (known, is_other) = self.known(accession).ok_or("on no list")?;
        let taxid = match self.taxonomy {
            Some(dump) if dump.taxonomy.node(known.taxid).is_none() => {
                let species = known.species.filter(|&one| dump.taxonomy.node(one).is_some());
                species.ok_or_else(|| {
                    format!("taxid {} is {}", known.taxid, dump.why_unknown(known.taxid))
                })?
            }
            _ => known.taxid,
        };
        Ok((GenomeTaxon::Taxid(taxid), is_other))
    }

    /// Returns the listed facts about an assembly, from its own version or, if that is not listed, from the
    /// newest listed version; and whether the versions differ.
    fn known(&self, accession: &Accession) -> Option<(&Known, bool)> {
        let all = self.known.get(&accession.stem)?;
        if let Some(own) = all.iter().find(|known| known.version == accession.version) {
            return Some((own, false));
        }
        let newest = all.iter().max_by_key(|known| known.version)?;
        Some((newest, newest.version > 0 && accession.version > 0))
    }

    /// Returns why a genome does not have the requested level and category, if so.
    fn excludes(&self, accession: &Accession) -> Option<String> {
        if !self.config.chooses() {
            return None;
        }
        let Some((known, _)) = self.known(accession) else {
            return Some("no list has its level and category".into());
        };
        let is_wanted = self.is_wanted(known.level, known.category);
        (!is_wanted).then(|| match known.level < self.config.level {
            true => format!("its level is {}", known.level.map_or("unknown", Level::word)),
            false => format!("its category is {}", known.category.map_or("none", Category::word)),
        })
    }
}

/// Returns the lineage of a genome in GTDB's tables.
fn of_tables(dump: &Dump, accession: &str) -> Result<(GenomeTaxon, bool), String> {
    let accessions = dump.accessions.as_ref().ok_or("on no list")?;
    let taxid = accessions.taxid(accession.as_bytes()).ok_or("in no table")?;
    Ok((lineage_of(dump, taxid), !accessions.has(accession.as_bytes())))
}

fn lineage_of(dump: &Dump, taxid: u32) -> GenomeTaxon {
    let node = dump.taxonomy.node(taxid).unwrap_or(dump.taxonomy.root());
    GenomeTaxon::Lineage(lineage(&dump.taxonomy, node))
}

/// Keeps one file of each assembly: the file of the newest version or, on a tie, the first one. Files that get their
/// accession from the same folder are parts of one genome and are all kept.
fn leave_one_each(names: &[(Accession, bool)], genomes: &[PathBuf], choices: &mut [Choice]) {
    let mut best: HashMap<&[u8], usize> = HashMap::new();
    let candidates = |choices: &[Choice]| -> Vec<usize> {
        (0..names.len()).filter(|&at| choices[at].status == Status::Sound).collect()
    };
    for at in candidates(choices) {
        let accession = &names[at].0;
        let known = best.entry(&accession.stem).or_insert(at);
        if names[*known].0.version < accession.version {
            *known = at;
        }
    }
    for at in candidates(choices) {
        let (accession, of_folder) = &names[at];
        let first = best[&*accession.stem];
        let is_part =
            *of_folder && names[first].1 && genomes[at].parent() == genomes[first].parent();
        if at == first || is_part {
            continue;
        }
        choices[at].status = match names[first].0.version > accession.version {
            true => Status::Superseded(format!("by {}", names[first].0.text())),
            false => Status::Duplicate(format!("of {}", genomes[first].display())),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io;

    /// Returns the status of files with these paths, selected by a list of these accessions.
    fn chosen(paths: &[String], listed: &[&str]) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let list = dir.path().join("list");
        let lines = listed.iter().map(|accession| format!("{accession}\t5\n"));
        let text = "#accession\ttaxid\n".to_owned() + &lines.collect::<String>();
        std::fs::write(&list, text).unwrap();
        let config = LibraryConfig { assembly_summary: vec![list], ..LibraryConfig::default() };
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        let found = select(&config, &paths, &[], None, &mut io::sink()).unwrap();
        found.choices.iter().map(|choice| choice.status.to_string()).collect()
    }

    #[test]
    fn one_file_or_folder_for_each_assembly() {
        let paths = [
            "a/GCF_000000001.1/chr1.fna",
            "a/GCF_000000001.1/chr2.fna",
            "b/GCF_000000001.1/chr1.fna",
            "b/GCF_000000001.1_genomic.fna",
            "b/GCF_000000002.9_genomic.fna",
            "b/GCF_000000002.10_genomic.fna",
            "b/GCA_000000002.11_genomic.fna",
            "b/GCF_000000003.1_genomic.fna",
        ];
        let listed = ["GCF_000000001.1", "GCF_000000002.10", "GCA_000000002.11"];
        assert_eq!(
            chosen(&paths.map(str::to_owned), &listed),
            [
                "ok",
                "ok",
                "duplicate: of a/GCF_000000001.1/chr1.fna",
                "duplicate: of a/GCF_000000001.1/chr1.fna",
                "superseded: by GCF_000000002.10",
                "ok",
                "ok",
                "no taxon: on no list",
            ]
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// The first file of the newest version of each assembly is selected, in any order of files.
        #[test]
        fn the_newest_version_is_taken(files in proptest::collection::vec((0..3u32, 0..12u32), 1..9)) {
            let name = |(at, (number, version)): (usize, &(u32, u32))| {
                format!("{at}/GCF_00000000{number}.{version}.fa")
            };
            let paths: Vec<String> = files.iter().enumerate().map(name).collect();
            let listed = ["GCF_000000000.1", "GCF_000000001.1", "GCF_000000002.1"];
            let found = chosen(&paths, &listed);
            for (at, (number, version)) in files.iter().enumerate() {
                let others = || files.iter().enumerate().filter(|(_, other)| other.0 == *number);
                let newest = others().map(|(_, other)| other.1).max().unwrap();
                let first = others().find(|(_, other)| other.1 == newest).unwrap().0;
                let expected = match (*version == newest, at == first) {
                    (true, true) => "ok".to_owned(),
                    (true, false) => format!("duplicate: of {}", paths[first]),
                    _ => format!("superseded: by {}", Accession::of_file(Path::new(&paths[first])).0.text()),
                };
                prop_assert_eq!(&found[at], &expected);
            }
        }
    }
}
