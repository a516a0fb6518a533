//! GTDB's tables of lineages: one line per genome with its accession, a tab and
//! `d__Bacteria;p__…;c__…;o__…;f__…;g__…;s__…`.
//!
//! Taxids are assigned as `k2 build --special gtdb` does: the root is 1, then level by level, the children of each
//! taxon in the order of their lineages.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use merganser_io::{FileKind, Lines};
use merganser_run::Budget;

use crate::names::stem;
use crate::{Error, NodeInfo, Taxonomy};

/// The letters and names of the ranks, highest first.
const RANKS: [(u8, &str); 7] = [
    (b'd', "domain"),
    (b'p', "phylum"),
    (b'c', "class"),
    (b'o', "order"),
    (b'f', "family"),
    (b'g', "genus"),
    (b's', "species"),
];
/// Approximate memory of an accession, kept with and without its version.
const ACCESSION_BYTES: u64 = 240;
/// Approximate memory of a taxon with its lineage.
const LINEAGE_BYTES: u64 = 600;

/// The taxa of accessions.
#[derive(Clone, Debug, Default)]
pub struct Accessions {
    /// Accessions as in the tables, without `RS_` and `GB_`.
    exact: HashMap<Box<[u8]>, u32>,
    /// Accessions without versions; `None` if the versions have different taxa.
    stems: HashMap<Box<[u8]>, Option<u32>>,
}

impl Accessions {
    /// Returns the taxid of an accession with or without a version. If no table has this version, any other version
    /// counts, as long as all versions have the same taxon.
    pub fn taxid(&self, accession: &[u8]) -> Option<u32> {
        let exact = self.exact.get(accession).copied();
        exact.or_else(|| *self.stems.get(stem(accession).unwrap_or(accession))?)
    }

    /// Whether the tables have exactly this accession, including its version.
    pub fn has(&self, accession: &[u8]) -> bool {
        self.exact.contains_key(accession)
    }

    /// Returns all accessions with their taxids, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u32)> {
        self.exact.iter().map(|(accession, &taxid)| (&**accession, taxid))
    }

    fn add(&mut self, accession: &[u8], taxid: u32) {
        if let Some(stem) = stem(accession) {
            let known = self.stems.entry(stem.into()).or_insert(Some(taxid));
            *known = known.filter(|&one| one == taxid);
        }
        self.exact.insert(accession.into(), taxid);
    }

    /// Returns the approximate memory of the accessions in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.exact.len() as u64 * ACCESSION_BYTES
    }
}

/// Returns the lineage of a node in the format of the tables; empty for the root.
pub fn lineage(tree: &Taxonomy, node: u32) -> String {
    let mut above: Vec<u32> = tree.lineage(node).filter(|&node| node != tree.root()).collect();
    above.reverse();
    let part = |node: u32| {
        let rank = RANKS.iter().find(|(_, name)| *name == tree.rank_name(node));
        let letter = rank.map_or(' ', |(letter, _)| char::from(*letter));
        format!("{letter}__{}", tree.name(node))
    };
    above.into_iter().map(part).collect::<Vec<_>>().join(";")
}

/// The lineages that have been read so far.
#[derive(Default)]
struct Lineages {
    /// The table and line of each accession, and the number of its lineage.
    accessions: BTreeMap<Box<[u8]>, (usize, u64, u32)>,
    /// The numbers of the lineages of all taxa.
    numbers: HashMap<Box<str>, u32>,
    /// The lineages of the taxa of each level; level 0, the root, is empty.
    levels: [BTreeSet<Box<str>>; RANKS.len() + 1],
}

/// Reads tables within `memory` bytes.
///
/// # Errors
/// If a table cannot be read, a line is not an accession with a lineage, an accession has two lineages, or the
/// memory does not suffice.
pub(crate) fn read(tables: &[PathBuf], memory: u64) -> Result<(Taxonomy, Accessions), Error> {
    let mut lineages = Lineages::default();
    for (table, path) in tables.iter().enumerate() {
        if let Some(kind) = FileKind::of_path(path).filter(|kind| !kind.is_text()) {
            let wanted = "a table of GTDB, nor the folder of NCBI's taxdump";
            return Err(Error::content(path, kind.instead_of(wanted, None)));
        }
        let mut lines = Lines::open(path)?;
        while let Some((number, line)) = lines.next_line()? {
            if line.trim_ascii().is_empty() {
                continue;
            }
            lineages
                .take(line, (table, number), tables)
                .map_err(|what| Error::content(path, format!("line {number}: {what}")))?;
            lineages.refuse_shortage(memory)?;
        }
    }
    if lineages.accessions.is_empty() {
        let path = tables.first().map_or(Path::new("taxonomy"), PathBuf::as_path);
        return Err(Error::content(path, "there are no lineages in this file"));
    }
    Ok(lineages.numbered())
}

impl Lineages {
    /// Parses and stores a line.
    fn take(
        &mut self,
        line: &[u8],
        (table, number): (usize, u64),
        tables: &[PathBuf],
    ) -> Result<(), String> {
        let (accession, ranks) = split(line)?;
        let mut lineage = String::new();
        for (rank, name) in &ranks {
            let between = if lineage.is_empty() { "" } else { ";" };
            lineage += &format!("{between}{}__{name}", char::from(RANKS[*rank].0));
            if !self.numbers.contains_key(lineage.as_str()) {
                self.numbers.insert(lineage.as_str().into(), self.numbers.len() as u32);
                self.levels[lineage.matches(';').count() + 1].insert(lineage.as_str().into());
            }
        }
        let own = self.numbers.get(lineage.as_str()).copied().unwrap_or(0);
        let known = self.accessions.get(accession).copied();
        match known {
            Some((_, _, other)) if other == own => Ok(()),
            Some((other, line, _)) => {
                let accession = String::from_utf8_lossy(accession);
                let there = match other == table {
                    true => format!("line {line}"),
                    false => format!("line {line} of {}", tables[other].display()),
                };
                Err(format!("{accession} has another lineage in {there}"))
            }
            None => {
                self.accessions.insert(accession.into(), (table, number, own));
                Ok(())
            }
        }
    }

    fn refuse_shortage(&self, memory: u64) -> Result<(), Error> {
        let (accessions, taxa) = (self.accessions.len() as u64, self.numbers.len() as u64);
        let what = format_args!("a taxonomy of {accessions} genomes or more needs");
        Budget::of_part(memory)
            .with(accessions * ACCESSION_BYTES + taxa * LINEAGE_BYTES)
            .check(what, "or give a table of the genomes that occur")?;
        Ok(())
    }

    /// Builds the tree, and assigns taxids to the accessions.
    fn numbered(self) -> (Taxonomy, Accessions) {
        let root = NodeInfo { taxid: 1, parent: 1, rank: "no rank".into(), name: "root".into() };
        let mut nodes = vec![root];
        let mut taxids = vec![1; self.numbers.len()];
        // Parents in the order of their taxids, and the lineages below each of them in lexical order.
        let mut above: Vec<(Box<str>, u32)> = vec![("".into(), 1)];
        let mut levels = self.levels.into_iter();
        levels.next();
        for level in levels {
            let mut here = Vec::with_capacity(level.len());
            let mut below: HashMap<&str, Vec<&str>> = HashMap::new();
            for lineage in &level {
                let parent = lineage.rsplit_once(';').map_or("", |(parent, _)| parent);
                below.entry(parent).or_default().push(lineage);
            }
            for (parent, parent_taxid) in &above {
                for lineage in below.remove(&**parent).into_iter().flatten() {
                    let taxid = nodes.len() as u32 + 1;
                    let last = lineage.rsplit(';').next().unwrap_or(lineage);
                    let (letter, name) = last.split_once("__").unwrap_or(("", last));
                    let rank = RANKS.iter().find(|(one, _)| letter.as_bytes() == [*one]);
                    let rank = rank.map_or("no rank", |(_, rank)| rank).to_owned();
                    let name = name.to_owned();
                    nodes.push(NodeInfo { taxid, parent: *parent_taxid, rank, name });
                    taxids[self.numbers[lineage] as usize] = taxid;
                    here.push((lineage.into(), taxid));
                }
            }
            above = here;
        }
        let mut accessions = Accessions::default();
        for (accession, (_, _, number)) in &self.accessions {
            accessions.add(accession, taxids[*number as usize]);
        }
        (Taxonomy::new(nodes, Vec::new()), accessions)
    }
}

/// The number of a rank (an index of [`RANKS`]) and the name at this rank.
type Named<'l> = (usize, &'l str);

/// Splits a line into its accession and the ranks of its lineage, without nameless ranks at the end.
fn split(line: &[u8]) -> Result<(&[u8], Vec<Named<'_>>), String> {
    let shape = || {
        "not ACCESSION<TAB>d__…;p__…;c__…;o__…;f__…;g__…;s__…, a table of GTDB; NCBI's taxonomy is the \
         folder with nodes.dmp, unpacked"
            .to_owned()
    };
    let tab = line.iter().position(|&byte| byte == b'\t').ok_or_else(shape)?;
    let accession = line[..tab].trim_ascii();
    let lineage = std::str::from_utf8(&line[tab + 1..]).map_err(|_| shape())?.trim();
    if accession.is_empty() || !lineage.starts_with("d__") || lineage.contains('\t') {
        return Err(shape());
    }
    let bare = accession.strip_prefix(b"RS_").or_else(|| accession.strip_prefix(b"GB_"));
    let bare = bare.filter(|bare| bare.starts_with(b"GCF_") || bare.starts_with(b"GCA_"));
    let mut ranks: Vec<Named<'_>> = Vec::new();
    for part in lineage.split(';').map(str::trim) {
        let (letter, name) =
            part.split_once("__").ok_or_else(|| format!("`{part}` is not a rank: use d__NAME"))?;
        let rank = RANKS.iter().position(|(one, _)| letter.as_bytes() == [*one]);
        let rank = rank.ok_or_else(|| {
            format!("`{part}` is not a rank: they are d__, p__, c__, o__, f__, g__ and s__")
        })?;
        if let Some((last, _)) = ranks.last().filter(|(last, _)| *last >= rank) {
            let last = char::from(RANKS[*last].0);
            return Err(format!(
                "`{part}` cannot follow {last}__: the order is d, p, c, o, f, g, s"
            ));
        }
        ranks.push((rank, name.trim()));
    }
    while ranks.pop_if(|(_, name)| name.is_empty()).is_some() {}
    if ranks.is_empty() {
        return Err("no rank of the lineage has a name".into());
    }
    if let Some((rank, _)) = ranks.iter().find(|(_, name)| name.is_empty()) {
        let letter = char::from(RANKS[*rank].0);
        return Err(format!("{letter}__ has no name, but a rank below it has one"));
    }
    Ok((bare.unwrap_or(accession), ranks))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rank;

    fn read(texts: &[&str]) -> Result<(Taxonomy, Accessions), String> {
        let folder = tempfile::tempdir().unwrap();
        let write = |(at, text): (usize, &&str)| {
            let path = folder.path().join(format!("{at}.tsv"));
            std::fs::write(&path, text).unwrap();
            path
        };
        let paths: Vec<PathBuf> = texts.iter().enumerate().map(write).collect();
        let place = format!("{}/", folder.path().display());
        super::read(&paths, u64::MAX).map_err(|error| error.to_string().replace(&place, ""))
    }

    const BACTERIA: &str = "\
        RS_GCF_000005845.2\td__Bacteria;p__B;c__X;o__X;f__X;g__Escherichia;s__Escherichia coli\n\
        GB_GCA_000000001.1\td__Bacteria;p__A;c__Y;o__;f__;g__;s__\n\
        U_77\td__Bacteria;p__B;c__X;o__X;f__X;g__Escherichia;s__Escherichia coli\r\n\
        GB_GCA_000000001.3\td__Bacteria;p__B;c__X\n";
    const ARCHAEA: &str = "RS_GCF_000000009.1\td__Archaea; p__A; c__Y\n\n";

    /// The expected rows follow the steps of Kraken 2's `k2 build --special gtdb`.
    #[test]
    fn taxa_are_numbered_level_by_level() {
        let (tree, accessions) = read(&[BACTERIA, ARCHAEA]).unwrap();
        let row = |taxid: u32| {
            let node = tree.node(taxid).unwrap();
            (tree.taxid(tree.parent(node)), tree.rank_name(node), tree.name(node))
        };
        let rows: Vec<_> = (1..=tree.len() as u32).map(row).collect();
        assert_eq!(
            rows,
            [
                (1, "no rank", "root"),
                (1, "domain", "Archaea"),
                (1, "domain", "Bacteria"),
                (2, "phylum", "A"),
                (3, "phylum", "A"),
                (3, "phylum", "B"),
                (4, "class", "Y"),
                (5, "class", "Y"),
                (6, "class", "X"),
                (9, "order", "X"),
                (10, "family", "X"),
                (11, "genus", "Escherichia"),
                (12, "species", "Escherichia coli"),
            ]
        );
        assert_eq!(tree.rank(tree.node(2).unwrap()), Rank::Domain);
        let taxid = |accession: &str| accessions.taxid(accession.as_bytes());
        for (accession, expected) in [
            ("GCF_000005845.2", Some(13)),
            ("GCF_000005845.1", Some(13)),
            ("GCF_000005845", Some(13)),
            ("U_77", Some(13)),
            ("GCA_000000001.1", Some(8)),
            ("GCA_000000001.3", Some(9)),
            // Ambiguous: its versions have different taxa.
            ("GCA_000000001", None),
            ("GCA_000000001.2", None),
            ("GCF_000000009", Some(7)),
            ("RS_GCF_000000009.1", None),
            ("GCF_00000000", None),
        ] {
            assert_eq!(taxid(accession), expected, "{accession}");
        }
        assert_eq!(lineage(&tree, tree.node(8).unwrap()), "d__Bacteria;p__A;c__Y");
        assert_eq!(lineage(&tree, tree.root()), "");
        // The order of lines and tables does not matter.
        let (turned, _) = read(&[ARCHAEA, BACTERIA]).unwrap();
        assert_eq!((0..13).map(|node| turned.name(node)).collect::<Vec<_>>(), {
            (0..13).map(|node| tree.name(node)).collect::<Vec<_>>()
        });
    }

    #[test]
    fn what_is_wrong_is_named() {
        let ends = |text: &str, message: &str| {
            let found = read(&[ARCHAEA, text]).err().unwrap();
            assert!(found.starts_with(message), "{text:?}: {found}");
        };
        let shape = "1.tsv: line 1: not ACCESSION<TAB>d__…;p__…";
        for text in [
            "1\t|\t1\t|\tno rank\t|\n",
            "x d__A;p__B\n",
            "\td__A\n",
            "x\tk__A\n",
            "x\td__A\ty\n",
            "\u{fffd}\n",
        ] {
            ends(text, shape);
        }
        ends("x\td__A;p_B\n", "1.tsv: line 1: `p_B` is not a rank: use d__NAME");
        ends("x\td__A;k__B\n", "1.tsv: line 1: `k__B` is not a rank: they are d__, p__");
        ends("x\td__A;c__B;p__C\n", "1.tsv: line 1: `p__C` cannot follow c__: the order is d");
        ends("x\td__A;c__B;c__C\n", "1.tsv: line 1: `c__C` cannot follow c__");
        ends("x\td__A;p__;c__C\n", "1.tsv: line 1: p__ has no name, but a rank below it has one");
        ends("x\td__;p__\n", "1.tsv: line 1: no rank of the lineage has a name");
        let double = "1.tsv: line 3: GCF_000005845.2 has another lineage in line 1";
        ends("RS_GCF_000005845.2\td__A\nx\td__A\nGCF_000005845.2\td__B\n", double);
        ends(
            "GCF_000000009.1\td__Archaea;p__A\n",
            "1.tsv: line 1: GCF_000000009.1 has another lineage in line 1 of 0.tsv",
        );
        assert_eq!(read(&["\n"]).err().unwrap(), "0.tsv: there are no lineages in this file");
    }
}
