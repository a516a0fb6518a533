//! Tables of taxids of sequences (`seqid2taxid.map`, `accession2taxid`) and assemblies (`assembly_summary.txt`).

use std::path::Path;

use merganser_io::Lines;

use crate::{Error, parse_taxid, stem};

/// The subject of a table row: a sequence or an assembly that has a taxid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapKey<'l> {
    /// A sequence id. A row with two ids gives two of these.
    Id(&'l [u8]),
    /// An assembly.
    Assembly {
        /// The accession.
        accession: &'l [u8],
        /// The last component of the download path, with which the names of its files begin. Empty if the table
        /// does not give it.
        base: &'l [u8],
    },
}

/// Reads a table and calls `visit` with the key and the taxid of each row, in the order of the rows.
///
/// The kind of table is recognized by its content. Rows of ids with taxid 0, which means no taxon, are skipped.
///
/// # Errors
/// If the table cannot be read, it ends within a row before the last column, or a row has no taxid in its column; the
/// error names the line.
pub fn read_map(path: &Path, visit: impl FnMut(MapKey<'_>, u32)) -> Result<(), Error> {
    read_lines(path, u64::MAX, visit)
}

/// Checks that a table exists and has rows as [`read_map`] reads them, by its first lines.
///
/// # Errors
/// Returns the errors of [`read_map`] in these lines.
pub fn check_map(path: &Path) -> Result<(), Error> {
    read_lines(path, CHECKED, |_, _| {})
}

/// The number of lines that are checked before a table is used.
const CHECKED: u64 = 1_000;

/// Reads up to `most` lines of a table.
fn read_lines(path: &Path, most: u64, mut visit: impl FnMut(MapKey<'_>, u32)) -> Result<(), Error> {
    let mut lines = Lines::open(path)?;
    let (mut kind, mut width, mut last) = (None, 0, (0, 0));
    while let Some((number, line)) = lines.next_line()? {
        if number > most {
            return Ok(());
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let columns: Vec<&[u8]> = line.split(|&byte| byte == b'\t').collect();
        if line.starts_with(b"#") {
            if let Some(named) = commented_columns(&columns) {
                (kind, width) = (Some(named), columns.len());
            }
            continue;
        }
        last = (number, columns.len());
        let Some(known) = &kind else {
            width = columns.len();
            let first = table_columns(&columns);
            if !columns[1..].iter().any(|&column| column == b"taxid") {
                row((path, number), &columns, &first, &mut visit)?;
            }
            kind = Some(first);
            continue;
        };
        row((path, number), &columns, known, &mut visit)?;
    }
    let (number, found) = last;
    if lines.is_open() && found < width {
        let what = format!(
            "line {number} has {found} of {width} columns and no line end: the file is cut short"
        );
        return Err(Error::content(path, what));
    }
    Ok(())
}

/// Parses a row with the columns `kind` and visits its keys.
fn row(
    (path, line): (&Path, u64),
    columns: &[&[u8]],
    kind: &Columns,
    visit: &mut impl FnMut(MapKey<'_>, u32),
) -> Result<(), Error> {
    let cell = |at: usize| columns.get(at).map_or(&b""[..], |cell| cell.trim_ascii());
    let (Columns::Ids { taxid: at, .. } | Columns::Assemblies { taxid: at, .. }) = kind;
    let taxid = parse_taxid(cell(*at)).map_err(|what| {
        let what = what.unwrap_or_else(|| format!("no taxid in column {}", at + 1));
        Error::content(path, format!("line {line}: {what}"))
    })?;
    match kind {
        // Taxid 0: the accession has no taxon.
        Columns::Ids { .. } if taxid == 0 => {}
        Columns::Ids { ids, .. } => ids.iter().for_each(|&at| visit(MapKey::Id(cell(at)), taxid)),
        Columns::Assemblies { accession, ftp, .. } => {
            let ftp = ftp.map_or(&b""[..], cell);
            let base = ftp.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
            visit(MapKey::Assembly { accession: cell(*accession), base }, taxid);
        }
    }
    Ok(())
}

/// The columns of a table that are read, counted from 0.
enum Columns {
    Ids { ids: Vec<usize>, taxid: usize },
    Assemblies { accession: usize, taxid: usize, ftp: Option<usize> },
}

/// Returns the columns that a comment line names: those of an assembly summary, or of any other table of taxids; `None`
/// if the line is not a header.
fn commented_columns(columns: &[&[u8]]) -> Option<Columns> {
    let mut names: Vec<&[u8]> = columns.iter().map(|column| column.trim_ascii()).collect();
    names[0] = names[0].strip_prefix(b"#").unwrap_or(names[0]).trim_ascii_start();
    let find = |wanted: &[u8]| names.iter().position(|name| *name == wanted);
    let taxid = find(b"taxid")?;
    let (accession, ftp) = (find(b"assembly_accession"), find(b"ftp_path"));
    if accession.is_none() && ftp.is_none() {
        return (taxid > 0).then(|| table_columns(&names));
    }
    Some(Columns::Assemblies { accession: accession.unwrap_or(0), taxid, ftp })
}

/// Returns the columns of a table given its first line: `accession2taxid` if the line is its header, or has four columns
/// of which the second is the first with a version; otherwise `id<TAB>taxid`.
fn table_columns(columns: &[&[u8]]) -> Columns {
    let find = |wanted: &[u8]| columns.iter().position(|&column| column == wanted);
    if let Some(taxid) = find(b"taxid").filter(|&at| at > 0) {
        let ids = [find(b"accession.version"), find(b"accession")];
        let ids: Vec<usize> = ids.into_iter().flatten().collect();
        return Columns::Ids { ids: if ids.is_empty() { vec![0] } else { ids }, taxid };
    }
    match columns {
        // Chains of PDB have no version.
        [id, versioned, _, _] if id == versioned || stem(versioned) == Some(*id) => {
            Columns::Ids { ids: vec![1, 0], taxid: 2 }
        }
        _ => Columns::Ids { ids: vec![0], taxid: 1 },
    }
}
