//! Parser of the lines of a report.

use std::collections::HashMap;

use super::sums::{self, Gaps};
use super::{KrakenReport, ReportMinimizers, ReportRow, forms, ranks};
use crate::report::percent;
use merganser_run::{counted, thousands};

/// More reads than any sequencer produces; a larger number is not one of reads. Sums of thousands of such numbers do
/// not overflow.
pub(super) const MAX_READS: u64 = 1 << 50;

/// The ranks that KrakenUniq writes as names, with their codes.
const KRAKENUNIQ: [(&[u8], &[u8]); 9] = [
    (b"superkingdom", b"D"),
    (b"domain", b"D"),
    (b"kingdom", b"K"),
    (b"phylum", b"P"),
    (b"class", b"C"),
    (b"order", b"O"),
    (b"family", b"F"),
    (b"genus", b"G"),
    (b"species", b"S"),
];
/// The beginning of the header line of KrakenUniq's reports.
const KRAKENUNIQ_HEADING: &[u8] = b"%\treads\ttaxReads\t";

/// Parses the lines of a report in order.
#[derive(Default)]
pub(super) struct Reader {
    rows: Vec<ReportRow>,
    /// The line number of each row.
    numbers: Vec<u64>,
    /// The row at each depth that the next row can be below.
    above: Vec<usize>,
    /// The row of each taxid.
    places: HashMap<u64, usize>,
    /// The first and the last taxon at depth 0.
    tops: Option<(usize, usize)>,
    /// Whether any name is indented.
    is_indented: bool,
    /// The number of columns of the rows.
    columns: Option<usize>,
}

impl Reader {
    /// Parses a line without its line end.
    pub(super) fn take(&mut self, number: u64, line: &[u8]) -> Result<(), String> {
        if line.trim_ascii().is_empty() || (self.rows.is_empty() && is_krakenuniq_head(line)) {
            return Ok(());
        }
        self.row(number, line).map_err(|what| match self.rows.len() {
            // A single line may look like a row by chance.
            0 | 1 => forms::named(line).unwrap_or(what),
            _ => what,
        })
    }

    fn row(&mut self, number: u64, line: &[u8]) -> Result<(), String> {
        let end = line.iter().rposition(|&byte| byte != b'\r').map_or(0, |last| last + 1);
        let line = &line[..end];
        let cells: Vec<&[u8]> = line.split(|&byte| byte == b'\t').collect();
        let Columns { minimizers, rank, taxid, name } = Columns::of(&cells)?;
        let mut row = ReportRow {
            percent: 0.0,
            clade: reads(cells[1])?,
            own: reads(cells[2])?,
            minimizers,
            rank: String::new(),
            taxid: self::number(taxid).ok_or_else(|| format!("{} is not a taxid", shown(taxid)))?,
            depth: depth(name)?,
            parent: None,
            name: Vec::new(),
        };
        check_percent(cells[0])?;
        row.name.extend_from_slice(&name[2 * row.depth..]);
        self.place(&mut row)?;
        let code = if cells.len() == 9 { krakenuniq_code(rank, row.taxid) } else { rank };
        if !ranks::is_code(code) {
            return Err(format!("{} is not a rank code", shown(code)));
        }
        row.rank = match (code, row.parent) {
            (b"" | b"-", None) => "R".into(),
            _ => String::from_utf8_lossy(code).into_owned(),
        };
        self.check(&row, cells.len())?;
        self.rows.push(row);
        self.numbers.push(number);
        Ok(())
    }

    /// Finds the parent of a row.
    fn place(&mut self, row: &mut ReportRow) -> Result<(), String> {
        if row.name.is_empty() {
            return Err("there is no name: is the file cut?".into());
        }
        if row.depth > 0 && self.above.is_empty() {
            return Err(
                "its name is indented, and there is no taxon above it: are the first lines \
                        missing?"
                    .into(),
            );
        }
        if row.depth > self.above.len() {
            return Err(format!(
                "its name is indented for level {}, and the line above leads to level {} at most: \
                 each level has two blanks; are lines missing?",
                row.depth,
                self.above.len()
            ));
        }
        self.above.truncate(row.depth);
        row.parent = self.above.last().copied();
        if row.is_unclassified() {
            // No taxon is below the unclassified reads.
            return match row.depth {
                0 => Ok(()),
                _ => Err("unclassified reads (taxid 0) are below a taxon".into()),
            };
        }
        self.above.push(self.rows.len());
        Ok(())
    }

    fn check(&mut self, row: &ReportRow, columns: usize) -> Result<(), String> {
        if row.clade < row.own {
            return Err(format!(
                "the clade has {} reads, fewer than the {} of its taxon",
                row.clade, row.own
            ));
        }
        if *self.columns.get_or_insert(columns) != columns {
            return Err("the number of columns differs from the lines above".into());
        }
        let at = self.rows.len();
        if row.depth == 0 && !row.is_unclassified() {
            let first = self.tops.map(|(first, _)| &self.rows[first]);
            let differ =
                |first: &ReportRow| first.letter().zip(row.letter()).is_some_and(|(a, b)| a != b);
            if first.is_some_and(|first| first.is_root() || differ(first)) {
                return Err(NOT_INDENTED.into());
            }
            self.tops = Some((self.tops.map_or(at, |(first, _)| first), at));
        }
        self.is_indented |= row.depth > 0;
        match self.places.insert(row.taxid, at) {
            None => Ok(()),
            Some(row) => {
                let (taxid, line) = (self.rows[row].taxid, self.numbers[row]);
                Err(format!("taxid {taxid} is in line {line} already"))
            }
        }
    }

    /// Returns the report with warnings.
    pub(super) fn finish(self) -> Result<(KrakenReport, Vec<String>), String> {
        let Reader { mut rows, numbers, tops, is_indented, .. } = self;
        let unknown = ranks::complete(&mut rows);
        if let Some((_, last)) = tops.filter(|(first, last)| first < last && !is_indented) {
            return Err(format!("line {}: {NOT_INDENTED}", numbers[last]));
        }
        let gaps = sums::settle(&mut rows).map_err(|(at, sum)| {
            format!(
                "line {}: the clade has {} reads, fewer than the {sum} of its taxon and the \
                 clades below it",
                numbers[at], rows[at].clade
            )
        })?;
        let report = KrakenReport::with_percents(rows);
        let mut doubts = Vec::new();
        if report.rows.is_empty() {
            doubts.push(EMPTY.to_owned());
        }
        if let Some(&first) = unknown.first() {
            doubts.push(format!(
                "line {}: the rank of {} has no letter, and no row below tells it ({} like this): it counts as a level \
                 below the rank above; Debian's Kraken 2.1.2 leaves letters out: make the report by a later \
                 version, or by `merganser classify`",
                numbers[first],
                String::from_utf8_lossy(&report.rows[first].name),
                counted(unknown.len() as u64, "row")
            ));
        }
        doubts.extend(gaps.map(|gaps| doubt(&gaps, &report.rows, &numbers)));
        Ok((report, doubts))
    }
}

/// The error about a name that is not indented.
const NOT_INDENTED: &str = "its name is not indented, as is required below the root (two blanks per level), so \
                            its parent is unknown: spreadsheets and table libraries remove blanks; give \
                            the report as it was written";
const EMPTY: &str = "the report is empty: it counts as a sample of 0 reads; did the run finish?";

/// Returns a warning about reads that no row has.
fn doubt(gaps: &Gaps, rows: &[ReportRow], numbers: &[u64]) -> String {
    let clades = match gaps.clades {
        1 => "1 clade has more reads than its rows".to_owned(),
        more => format!("{} clades have more reads than their rows", thousands(more)),
    };
    let [held, total] = [gaps.held, gaps.total].map(thousands);
    format!(
        "{clades} add up to, the first in line {} ({}); rows hold {held} reads, clades {total}: reads that no \
         row has count for the taxon of their clade; is the report cut or filtered?",
        numbers[gaps.first],
        String::from_utf8_lossy(&rows[gaps.first].name)
    )
}

impl KrakenReport {
    /// Returns the report of these rows with computed percentages.
    fn with_percents(mut rows: Vec<ReportRow>) -> KrakenReport {
        let tops = rows.iter().filter(|row| row.depth == 0);
        let total = tops.fold(0, |sum: u64, row| sum.saturating_add(row.clade));
        rows.iter_mut().for_each(|row| row.percent = percent(row.clade, total));
        KrakenReport { rows }
    }
}

/// The cells of a line after the numbers of reads.
struct Columns<'c> {
    minimizers: Option<ReportMinimizers>,
    rank: &'c [u8],
    taxid: &'c [u8],
    name: &'c [u8],
}

impl<'c> Columns<'c> {
    fn of(cells: &[&'c [u8]]) -> Result<Columns<'c>, String> {
        if is_indented_by_tabs(cells) {
            return Err("its name is indented by tabs: each level has two blanks".into());
        }
        match *cells {
            [_, _, _, rank, taxid, name] => Ok(Columns { minimizers: None, rank, taxid, name }),
            [_, _, _, found, distinct, rank, taxid, name] => {
                let minimizers =
                    ReportMinimizers { found: minimizers(found)?, distinct: minimizers(distinct)? };
                Ok(Columns { minimizers: Some(minimizers), rank, taxid, name })
            }
            [_, _, _, _kmers, _duplicity, _coverage, taxid, rank, name] => {
                Ok(Columns { minimizers: None, rank, taxid, name })
            }
            _ => Err(format!(
                "{} where a Kraken-style report has 6 columns, or 8, with tabs between",
                columns(cells.len())
            )),
        }
    }
}

/// Whether there are empty cells between the taxid and the name.
fn is_indented_by_tabs(cells: &[&[u8]]) -> bool {
    let is_taxid =
        |at: usize| cells.get(at).is_some_and(|cell| !cell.is_empty() && number(cell).is_some());
    [4, 6].into_iter().any(|taxid| {
        let between = cells.get(taxid + 1..cells.len().saturating_sub(1)).unwrap_or_default();
        is_taxid(taxid) && !between.is_empty() && between.iter().all(|cell| cell.is_empty())
    })
}

/// Whether a line is one of those before KrakenUniq's rows.
fn is_krakenuniq_head(line: &[u8]) -> bool {
    let comments: [&[u8]; 3] = [b"# KrakenUniq", b"# KrakenHLL", b"# CL:"];
    line.starts_with(KRAKENUNIQ_HEADING) || comments.iter().any(|begin| line.starts_with(begin))
}

/// Returns the code of a rank that KrakenUniq writes as a name.
fn krakenuniq_code(rank: &[u8], taxid: u64) -> &'static [u8] {
    let known = KRAKENUNIQ.iter().find(|(name, _)| *name == rank);
    match taxid {
        0 => b"U",
        1 => b"R",
        _ => known.map_or(b"-", |(_, code)| code),
    }
}

fn columns(number: usize) -> String {
    if number == 1 { "1 column".into() } else { format!("{number} columns") }
}

/// Returns the level of a name by its indent.
fn depth(name: &[u8]) -> Result<usize, String> {
    let blanks = name.iter().take_while(|&&byte| byte == b' ').count();
    match blanks.is_multiple_of(2) {
        true => Ok(blanks / 2),
        false => Err(format!("its name is indented by {blanks} blanks: each level has two")),
    }
}

fn reads(text: &[u8]) -> Result<u64, String> {
    let found = number(text).filter(|&reads| reads < MAX_READS);
    found.ok_or_else(|| format!("{} is not a number of reads", shown(text)))
}

fn minimizers(text: &[u8]) -> Result<u64, String> {
    number(text).ok_or_else(|| format!("{} is not a number of minimizers", shown(text)))
}

/// Parses a number that consists only of digits.
fn number(text: &[u8]) -> Option<u64> {
    if !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Checks that a cell is a number of at least 0, with a decimal point or comma, or NaN, which C prints for 0/0.
/// The value is not used, because the numbers of reads are more precise.
fn check_percent(text: &[u8]) -> Result<(), String> {
    let plain = std::str::from_utf8(text.trim_ascii()).ok();
    let plain = plain.map(|text| text.trim_end_matches('%').trim_end().replace(',', "."));
    let number = plain.and_then(|text| text.parse::<f64>().ok());
    let fits = number.is_some_and(|percent| percent.is_nan() || percent >= 0.0);
    if fits { Ok(()) } else { Err(format!("{} is not a percentage", shown(text))) }
}

/// Returns a cell for a message, cut after 40 characters.
pub(super) fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("'{}…'", &text[..end]),
        None => format!("'{text}'"),
    }
}
