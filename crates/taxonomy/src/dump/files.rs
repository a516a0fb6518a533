//! Reads the files of a dump.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use merganser_io::{Lines, is_file};

use super::TaxonomyNotes;
use super::record::{Ends, fields, malformed, name_fields, record, taxid_in};
use crate::{Error, NodeInfo};

/// Reads nodes.dmp. Returns the nodes, the path of the file and its number of records.
///
/// If there are more than `most` records, the nodes are dropped and records are only counted.
pub(super) fn read_nodes(
    folder: &Path,
    most: u64,
) -> Result<(HashMap<u32, NodeInfo>, PathBuf, u64), Error> {
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
            return Err(malformed(&path, at, "taxid 0 is not a taxon: remove this line"));
        }
        if taxid == parent && taxid != 1 {
            let what = format!("taxid {taxid} is its own parent: correct this line");
            return Err(malformed(&path, at, &what));
        }
        let rank = fields.next().ok_or_else(|| malformed(&path, at, LAYOUT))?;
        let rank = String::from_utf8_lossy(rank).into_owned();
        let node = NodeInfo { taxid, parent, rank, name: String::new() };
        if nodes.insert(taxid, node).is_some() {
            return Err(malformed(&path, at, &format!("taxid {taxid} occurs a second time")));
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

/// Sets the scientific names of the nodes from names.dmp, and notes missing and duplicate ones.
pub(super) fn read_names(
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

/// Reads the first `count` (1 or 2) numbers of each record of a file; none if the file does not exist.
pub(super) fn read_pairs(path: &Path, count: usize) -> Result<Vec<[u32; 2]>, Error> {
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

/// Whether the file exists.
fn there_is(path: &Path) -> Result<bool, Error> {
    is_file(path).map_err(|source| Error::File { path: path.to_owned(), source })
}

/// Returns the path of a required file of the dump.
///
/// # Errors
/// If it does not exist.
fn required(folder: &Path, name: &str) -> Result<PathBuf, Error> {
    let path = folder.join(name);
    if there_is(&path)? {
        return Ok(path);
    }
    let reason = if folder.join("taxonomy").join(name).is_file() {
        format!("no {name} in this folder, but in its subfolder taxonomy: give that one")
    } else if folder.is_dir() {
        format!("no {name} in this folder: give the folder of NCBI's taxdump with `taxonomy`")
    } else {
        "no such folder or file: give the folder of NCBI's taxdump, or GTDB's tables, with `taxonomy`"
            .to_owned()
    };
    Err(Error::content(folder, reason))
}
