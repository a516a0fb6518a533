//! Parsing of lines of results: the name of a read and its assigned taxon.

use std::collections::HashMap;

use super::Names;
use merganser_taxonomy::Rank;

/// The content of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Assigned<'a> {
    /// The first word of the read's header.
    pub(super) name: &'a [u8],
    /// The assigned node; `None` for an unclassified read.
    pub(super) node: Option<u32>,
}

/// The separator of MetaCache's columns.
const SEPARATOR: &str = "\t|\t";

/// The format of a file's lines, which is derived from its first lines.
#[derive(Debug, Default)]
pub(super) struct Format {
    /// The column of the read's header, by MetaCache's `TABLE_LAYOUT`.
    header_column: usize,
    /// The number of columns of the taxon at the end of a line: 1, or more with `-separate-cols`.
    taxon_columns: Option<usize>,
    /// The nodes of MetaCache's texts for taxa that occurred so far.
    taxa: HashMap<Vec<u8>, Option<u32>>,
}

/// Returns the first word of a header.
pub(super) fn first_word(header: &[u8]) -> &[u8] {
    let end = header.iter().position(u8::is_ascii_whitespace).unwrap_or(header.len());
    &header[..end]
}

impl Format {
    /// Parses the read and the taxon of a line; `None` for a comment or an empty line.
    pub(super) fn parse<'a>(
        &mut self,
        line: &'a [u8],
        names: &Names<'_>,
    ) -> Result<Option<Assigned<'a>>, String> {
        if line.starts_with(b"#") {
            self.take_layout(&String::from_utf8_lossy(line));
            return Ok(None);
        }
        if line.is_empty() {
            return Ok(None);
        }
        if line.starts_with(b"C\t") || line.starts_with(b"U\t") {
            return kraken(line, names).map(Some);
        }
        self.metacache(line, names).map(Some)
    }

    /// Parses the columns of a line such as `# TABLE_LAYOUT: query_id | query_header | rank:taxid`.
    fn take_layout(&mut self, line: &str) {
        let Some((_, layout)) = line.split_once("TABLE_LAYOUT:") else { return };
        let columns: Vec<&str> = layout.split('|').map(str::trim).collect();
        let header = columns.iter().position(|name| name.ends_with("_header"));
        self.header_column = header.unwrap_or(0);
        // With -separate-cols, rank, taxname and taxid are separate columns.
        let of_taxon = |name: &&&str| matches!(**name, "rank" | "taxname" | "taxid");
        let apart = columns.iter().rev().take_while(of_taxon).count();
        self.taxon_columns = Some(apart.max(1));
    }

    fn metacache<'a>(&mut self, line: &'a [u8], names: &Names<'_>) -> Result<Assigned<'a>, String> {
        let cells: Vec<&[u8]> = split(line);
        let width = self.taxon_columns.unwrap_or(1);
        if self.header_column + width >= cells.len() {
            return Err("neither Kraken's columns nor MetaCache's table".into());
        }
        let name = first_word(cells[self.header_column]);
        let taxon = cells[cells.len() - width..].join(&b':');
        if let Some(&node) = self.taxa.get(&taxon) {
            return Ok(Assigned { name, node });
        }
        let node = taxon_of(&String::from_utf8_lossy(&taxon), names)?;
        self.taxa.insert(taxon, node);
        Ok(Assigned { name, node })
    }
}

/// Splits a line of MetaCache's table into cells.
fn split(line: &[u8]) -> Vec<&[u8]> {
    let mut cells = Vec::new();
    let mut start = 0;
    for at in memchr::memmem::find_iter(line, SEPARATOR) {
        cells.push(&line[start..at]);
        start = at + SEPARATOR.len();
    }
    cells.push(&line[start..]);
    cells
}

fn kraken<'a>(line: &'a [u8], names: &Names<'_>) -> Result<Assigned<'a>, String> {
    let mut cells = line.split(|&byte| byte == b'\t').skip(1);
    let (Some(name), Some(taxon)) = (cells.next(), cells.next()) else {
        return Err("fewer than three columns".into());
    };
    let taxon = String::from_utf8_lossy(taxon);
    // The form of --use-names: `Escherichia coli (taxid 562)`.
    let number = taxon.rsplit_once("(taxid ").map_or(&*taxon, |(_, rest)| rest);
    let number = number.trim_end_matches(')').trim();
    let taxid = number.parse().map_err(|_| format!("{number:?} is not a taxid"))?;
    let node = if line[0] == b'U' || taxid == 0 { None } else { Some(node(taxid, names)?) };
    Ok(Assigned { name: first_word(name), node })
}

fn node(taxid: u32, names: &Names<'_>) -> Result<u32, String> {
    names.taxonomy.node(taxid).ok_or(format!(
        "taxid {taxid} is not in the taxonomy, or deleted: give the taxonomy that the results were made with"
    ))
}

/// Finds the taxon of MetaCache's `rank:name`, `rank:name(taxid)` or `rank:taxid`, also without the rank; for a
/// lineage, the lowest taxon.
fn taxon_of(text: &str, names: &Names<'_>) -> Result<Option<u32>, String> {
    let named_rank = text.split_once(':').and_then(|(rank, rest)| Some((Rank::named(rank)?, rest)));
    let (rank, taxon) = named_rank.map_or((None, text), |(rank, rest)| (Some(rank), rest));
    if taxon.starts_with("--") || taxon.is_empty() {
        return Ok(None);
    }
    // A comma may also belong to a name.
    let lowest = taxon.split_once(',').map_or(taxon, |(lowest, _)| lowest);
    let found = [lowest, taxon].into_iter().find_map(|taxon| one_taxon(taxon, rank, names));
    match found {
        Some(Ok(0)) => Ok(None),
        Some(Ok(taxid)) => node(taxid, names).map(Some),
        Some(Err(reason)) => Err(reason),
        None if rank == Some(Rank::Sequence) => Err(format!(
            "{taxon}: the taxon of a sequence is only in the database: give it with `database`"
        )),
        None => Err(format!("{taxon}: no such name in the taxonomy")),
    }
}

/// Returns the taxid that the text of one taxon contains or names; `None` for an unknown name.
fn one_taxon(text: &str, rank: Option<Rank>, names: &Names<'_>) -> Option<Result<u32, String>> {
    if let Ok(taxid) = text.parse() {
        return Some(Ok(taxid));
    }
    // With `-separate-cols` the taxid comes after a separator, otherwise in brackets.
    let bracketed = text.strip_suffix(')').and_then(|text| text.rsplit_once('('));
    let (name, taxid) = bracketed.or(text.rsplit_once(':')).unwrap_or((text, ""));
    if let Ok(taxid) = taxid.parse() {
        return Some(Ok(taxid));
    }
    // MetaCache gives sequences negative numbers.
    let name = if taxid.parse::<i64>().is_ok() { name } else { text };
    if let Some(&taxid) = names.sequences.get(name) {
        return Some(Ok(taxid));
    }
    let fits = |&node: &u32| {
        let tree = names.taxonomy;
        tree.name(node) == name && rank.is_none_or(|rank| tree.rank(node) == rank)
    };
    let mut found = (0..names.taxonomy.len() as u32).filter(fits);
    let taxid = names.taxonomy.taxid(found.next()?);
    Some(match found.next() {
        None => Ok(taxid),
        Some(_) => Err(format!("{name} is the name of several taxa: write results with taxids")),
    })
}
