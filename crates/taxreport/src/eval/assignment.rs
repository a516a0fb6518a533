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
    taxids: Taxids,
    /// The nodes of MetaCache's texts for taxa that occurred so far.
    taxa: HashMap<Vec<u8>, Option<u32>>,
}

/// The place of taxids in the texts of taxa.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Taxids {
    /// The file does not say it.
    #[default]
    Unknown,
    /// There are only names.
    Absent,
    /// There are only taxids, maybe with ranks.
    Alone,
    /// After the name, in parentheses.
    InParentheses,
    /// In the last column, which is joined to the others by a colon.
    Last,
}

impl Taxids {
    /// Returns the place by the names of the columns of a taxon.
    fn of(columns: &[&str]) -> Taxids {
        let of_one = columns.last().and_then(|last| last.split(',').next()).unwrap_or_default();
        match (columns.len(), of_one) {
            (2.., "taxid") => Taxids::Last,
            (_, one) if one.ends_with("(taxid)") => Taxids::InParentheses,
            (_, one) if one.ends_with("taxid") => Taxids::Alone,
            _ => Taxids::Absent,
        }
    }
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
        let width = apart.max(1);
        self.taxon_columns = Some(width);
        self.taxids = Taxids::of(&columns[columns.len() - width..]);
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
        let node = taxon_of(&String::from_utf8_lossy(&taxon), self.taxids, names)?;
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
fn taxon_of(text: &str, taxids: Taxids, names: &Names<'_>) -> Result<Option<u32>, String> {
    let named_rank = text.split_once(':').and_then(|(rank, rest)| Some((Rank::named(rank)?, rest)));
    let (rank, taxon) = named_rank.map_or((None, text), |(rank, rest)| (Some(rank), rest));
    if taxon.starts_with("--") || taxon.is_empty() {
        return Ok(None);
    }
    let (name, taxid) = parts(taxon, taxids, rank);
    match taxid {
        Some(0) => return Ok(None),
        Some(taxid) => return node(taxid, names).map(Some),
        None => {}
    }
    // A comma ends the lowest taxon of a lineage, or belongs to a name.
    let commas = name.match_indices(',').map(|(at, _)| &name[..at]);
    let found = std::iter::once(name).chain(commas).find_map(|name| named(name, rank, names));
    match found {
        Some(found) => node(found?, names).map(Some),
        None if rank == Some(Rank::Sequence) => Err(format!(
            "{taxon}: the taxon of a sequence is only in the database: give it with `database`"
        )),
        None => Err(format!("{taxon}: no such name in the taxonomy")),
    }
}

/// Splits the text of a taxon into its name and its taxid, if it has one. MetaCache gives sequences negative numbers,
/// which are no taxids.
fn parts(text: &str, taxids: Taxids, rank: Option<Rank>) -> (&str, Option<u32>) {
    let lowest = text.split(',').next().unwrap_or(text);
    match taxids {
        Taxids::Absent => (text, None),
        Taxids::Alone => (text, lowest.parse().ok()),
        Taxids::InParentheses => in_parentheses(text),
        Taxids::Last => match text.rsplit_once(':') {
            Some((name, taxid)) => (name, taxid.parse().ok()),
            None => (text, text.parse().ok()),
        },
        // Chromosomes of Ensembl are named by numbers.
        Taxids::Unknown if rank == Some(Rank::Sequence) => match in_parentheses(text) {
            (name, _) if name.len() < text.len() => (name, None),
            _ => (text, None),
        },
        Taxids::Unknown => match (lowest.parse().ok(), in_parentheses(text)) {
            (None, (name, None)) if name.len() == text.len() => match lowest.rsplit_once(':') {
                Some((name, taxid)) if taxid.parse::<i64>().is_ok() => (name, taxid.parse().ok()),
                _ => (text, None),
            },
            (Some(taxid), _) => (lowest, Some(taxid)),
            (None, found) => found,
        },
    }
}

/// Splits `name(taxid)`, which a comma may follow; the name is the whole text if there is no such taxid.
fn in_parentheses(text: &str) -> (&str, Option<u32>) {
    let mut opened = text.match_indices('(').filter_map(|(at, _)| {
        let (taxid, rest) = text[at + 1..].split_once(')')?;
        let is_taxid = taxid.parse::<i64>().is_ok() && (rest.is_empty() || rest.starts_with(','));
        is_taxid.then(|| (&text[..at], taxid.parse().ok()))
    });
    opened.next().unwrap_or((text, None))
}

/// Returns the taxid of a name; `None` for an unknown one.
fn named(name: &str, rank: Option<Rank>, names: &Names<'_>) -> Option<Result<u32, String>> {
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
