//! Reader of Kraken-style reports.

mod forms;
mod ranks;
mod rows;
mod sums;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::path::Path;

use merganser_io::BYTE_ORDER_MARK;
use merganser_run::Warnings;

use super::{KrakenRow, KrakenRows, percent};
use crate::Error;
use merganser_io::{Lines, shown};
use rows::Reader;

/// The two optional columns of a report between the reads and the rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportMinimizers {
    /// The number of minimizers (features, for databases of merganser) of the clade's reads that were found.
    pub found: u64,
    /// The number of distinct ones among them; Kraken 2 estimates it.
    pub distinct: u64,
}

/// A row of a Kraken-style report.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReportRow {
    /// The percentage of all reads that are in the clade, computed from the reads; 0 in a report without reads.
    pub percent: f64,
    /// The reads of the taxon and all taxa below it; a pair is one read.
    pub clade: u64,
    /// The reads of the taxon itself.
    pub own: u64,
    /// The minimizers, in reports with 8 columns.
    pub minimizers: Option<ReportMinimizers>,
    /// The rank code: `U`, `R`, or the letter of a main rank, followed by the number of steps below that rank if the
    /// taxon itself has no main rank: `S`, `D1`.
    pub rank: String,
    /// The taxid; 0 for the unclassified reads.
    pub taxid: u64,
    /// The depth: 0 for the root and the unclassified reads, one more per level.
    pub depth: usize,
    /// The index of the parent's row, which comes before; `None` at depth 0.
    pub parent: Option<usize>,
    /// The name without its indent, as raw bytes.
    pub name: Vec<u8>,
}

impl ReportRow {
    /// Whether this is the row of the unclassified reads.
    pub fn is_unclassified(&self) -> bool {
        self.taxid == 0
    }

    /// Whether this is the row of the root.
    pub fn is_root(&self) -> bool {
        self.depth == 0 && (self.taxid == 1 || self.rank == "R")
    }

    /// Returns the letter of the taxon's rank, if it is one of the main ranks from domain to species. Bacteria,
    /// Archaea, Eukaryota and Viruses are domains whatever their code: versions of Kraken 2 before 2.17 write R1 or R2
    /// for domains of taxonomies since 2025, and all versions do for the acellular root.
    pub fn letter(&self) -> Option<char> {
        match self.rank.as_bytes() {
            &[letter @ (b'D' | b'K' | b'P' | b'C' | b'O' | b'F' | b'G' | b'S')] => {
                Some(letter.into())
            }
            [b'R', ..] if DOMAINS.contains(&&self.name[..]) => Some('D'),
            _ => None,
        }
    }

    /// Whether `code` is the rank code of the taxon or its [`letter`](Self::letter).
    pub fn has_rank(&self, code: &str) -> bool {
        self.rank == code || self.letter().is_some_and(|letter| code.chars().eq([letter]))
    }
}

/// The names of domains.
const DOMAINS: [&[u8]; 4] = [b"Bacteria", b"Archaea", b"Eukaryota", b"Viruses"];

/// A report with 6 or 8 columns, as written by `merganser classify --report`, Kraken 2 and Bracken, or with
/// the 9 columns of KrakenUniq.
///
/// Rows are in the order of the file: a taxon comes before those below it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KrakenReport {
    pub(super) rows: Vec<ReportRow>,
}

impl KrakenReport {
    /// Reads a report, plain or compressed; `-` is stdin.
    ///
    /// Incomplete rank codes are completed: some builds of Kraken 2.1 write no letter for root and domain, and Kraken 1
    /// writes `-` for taxa without a main rank. From KrakenUniq's reports, the columns of reads are used, and ranks are
    /// converted to codes. A file without lines is a report of no reads. Reads that a clade has but none of its rows
    /// count for its taxon itself (as in Bracken's reports of a level above species), and a clade whose rows add up to
    /// more because of rounding gets their sum. Percentages are recomputed. `warnings` gets a warning for an empty file
    /// and for reads that no row has.
    ///
    /// # Errors
    /// If the file cannot be read, ends within a line, or is not such a report. The error names the line, what is wrong
    /// in it and, if it can be recognized, the format that the file has instead. Errors include a taxon that occurs
    /// twice, one without a parent, names without indents, and a clade with fewer reads than its taxon and the taxa
    /// below it.
    pub fn read(path: impl AsRef<Path>, warnings: &Warnings) -> Result<KrakenReport, Error> {
        let path = path.as_ref();
        let mut lines = Lines::open_or_stdin(path)?;
        let path = shown(path);
        let (mut reader, mut last) = (Reader::default(), 0);
        while let Some((number, line)) = lines.next_line()? {
            last = number;
            reader
                .take(number, line)
                .map_err(|what| Error::content(path, format!("line {number}: {what}")))?;
        }
        if lines.is_open() {
            let what = format!("line {last} has no line end: the file is cut short");
            return Err(Error::content(path, what));
        }
        let (report, doubts) = reader.finish().map_err(|what| Error::content(path, what))?;
        doubts.iter().for_each(|doubt| warnings.push(format!("{}: {doubt}", path.display())));
        Ok(report)
    }

    /// Parses the text of a report as [`read`](Self::read) does, without warnings. A text without lines is a report
    /// without rows, as Kraken 2 writes it if there are no reads.
    ///
    /// # Errors
    /// If the text is malformed; the error names the line.
    pub fn of_text(text: &[u8]) -> Result<KrakenReport, Error> {
        let parsed = KrakenReport::parse(text);
        let wrong = |what| Error::Input(format!("a report's {what}"));
        parsed.map(|(report, _)| report).map_err(wrong)
    }

    /// Parses a report in memory; returns it with warnings.
    fn parse(text: &[u8]) -> Result<(KrakenReport, Vec<String>), String> {
        let mut reader = Reader::default();
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        for (number, line) in (1..).zip(text.split_inclusive(|&byte| byte == b'\n')) {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            reader.take(number, line).map_err(|what| format!("line {number}: {what}"))?;
        }
        reader.finish()
    }

    /// Returns a report with the rows in the order of [`in_order`](Self::in_order).
    pub(super) fn sorted(&self) -> KrakenReport {
        let order = self.in_order();
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &at)| places[at] = place);
        let row = |&at: &usize| {
            let row = self.rows[at].clone();
            ReportRow { parent: row.parent.map(|parent| places[parent]), ..row }
        };
        KrakenReport { rows: order.iter().map(row).collect() }
    }

    /// Returns all rows; children come after their parent, in the order of the file.
    pub fn rows(&self) -> &[ReportRow] {
        &self.rows
    }

    /// Returns the number of all reads, including unclassified ones.
    pub fn total(&self) -> u64 {
        self.rows.iter().filter(|row| row.depth == 0).map(|row| row.clade).sum()
    }

    /// Returns the number of reads without a taxon.
    pub fn unclassified(&self) -> u64 {
        self.rows.iter().find(|row| row.is_unclassified()).map_or(0, |row| row.clade)
    }

    /// Whether the report has the columns of minimizers.
    pub fn has_minimizers(&self) -> bool {
        self.rows.first().is_some_and(|row| row.minimizers.is_some())
    }

    /// Returns the indices of each row's children, in the order of the file.
    pub fn children(&self) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.rows.len()];
        for (at, row) in self.rows.iter().enumerate() {
            if let Some(parent) = row.parent {
                children[parent].push(at);
            }
        }
        children
    }

    /// Returns the indices of all rows in the order of merganser's own reports: the unclassified reads, then the taxa
    /// in preorder, children with more reads first, then by taxid.
    pub fn in_order(&self) -> Vec<usize> {
        let rows = &self.rows;
        let key = |&at: &usize| (std::cmp::Reverse(rows[at].clade), rows[at].taxid);
        let mut children = self.children();
        let tops = (0..rows.len()).filter(|&at| rows[at].depth == 0);
        let (mut order, mut taxa): (Vec<usize>, Vec<usize>) =
            tops.partition(|&at| rows[at].is_unclassified());
        taxa.sort_by_key(key);
        let mut stack: Vec<usize> = taxa.into_iter().rev().collect();
        while let Some(at) = stack.pop() {
            order.push(at);
            let mut next = std::mem::take(&mut children[at]);
            next.sort_by_key(key);
            stack.extend(next.into_iter().rev());
        }
        order
    }

    /// Writes the rows in their order, with percentages of [`total`](Self::total); 0.00 if there are no reads.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        let total = self.total();
        let mut rows = KrakenRows::new(output);
        for row in &self.rows {
            rows.write(&KrakenRow {
                percent: Some(percent(row.clade, total)),
                clade: row.clade,
                own: row.own,
                minimizers: row.minimizers.map(|columns| [columns.found, columns.distinct]),
                rank: &row.rank,
                taxid: row.taxid,
                depth: row.depth,
                name: &row.name,
            })?;
        }
        Ok(())
    }
}
