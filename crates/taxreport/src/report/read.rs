//! Kraken-style reports, read back as trees.

mod forms;
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

/// The two columns of a report between the reads and the rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportMinimizers {
    /// Minimizers (of merganser's databases: features) of the clade's reads that were found,
    pub found: u64,
    /// and how many of them are distinct; Kraken 2 estimates that.
    pub distinct: u64,
}

/// A row of a Kraken-style report.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReportRow {
    /// Per cent of all reads that are in the clade, by the numbers of reads; 0 in a report of no reads.
    pub percent: f64,
    /// Reads of the taxon and all taxa below it; a pair is one.
    pub clade: u64,
    /// Reads of the taxon itself.
    pub own: u64,
    /// Of reports with 8 columns.
    pub minimizers: Option<ReportMinimizers>,
    /// `U`, `R`, or the letter of a main rank, with the number of steps below it if the taxon has none
    /// itself: `S`, `D1`.
    pub rank: String,
    /// The taxon's number; 0 is of the unclassified reads.
    pub taxid: u64,
    /// 0 for the root and the unclassified reads, one more a level.
    pub depth: usize,
    /// The row of the taxon above, which comes before; none at depth 0.
    pub parent: Option<usize>,
    /// The name without its indent, as its bytes are.
    pub name: Vec<u8>,
}

impl ReportRow {
    /// Whether it is of the unclassified reads.
    pub fn is_unclassified(&self) -> bool {
        self.taxid == 0
    }

    /// Whether it is the root of all taxa.
    pub fn is_root(&self) -> bool {
        self.depth == 0 && (self.taxid == 1 || self.rank == "R")
    }

    /// The letter of the taxon's rank, if it has one of the main ranks from domain to species. Bacteria,
    /// Archaea, Eukaryota and Viruses are domains by whatever code: Kraken 2 before 2.17 has R1 or R2 for
    /// the domains of taxonomies since 2025, and every version has for their acellular root.
    pub fn letter(&self) -> Option<char> {
        match self.rank.as_bytes() {
            &[letter @ (b'D' | b'K' | b'P' | b'C' | b'O' | b'F' | b'G' | b'S')] => {
                Some(letter.into())
            }
            [b'R', ..] if DOMAINS.contains(&&self.name[..]) => Some('D'),
            _ => None,
        }
    }

    /// Whether `code` is the taxon's rank: its code, or its [`letter`](Self::letter).
    pub fn has_rank(&self, code: &str) -> bool {
        self.rank == code || self.letter().is_some_and(|letter| code.chars().eq([letter]))
    }
}

/// Names of domains.
const DOMAINS: [&[u8]; 4] = [b"Bacteria", b"Archaea", b"Eukaryota", b"Viruses"];

/// A report with 6 or 8 columns, as `merganser classify --report`, Kraken 2 and Bracken write them, or
/// with the 9 of KrakenUniq.
///
/// Rows stand in the order of the file: a taxon before those below it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KrakenReport {
    pub(super) rows: Vec<ReportRow>,
}

impl KrakenReport {
    /// Reads a report, plain or compressed; `-` is stdin.
    ///
    /// Rank codes without a letter, which some builds of Kraken 2.1 write for root and domain, and
    /// `-`, which Kraken 1 does for taxa without a main rank, are made whole; of KrakenUniq's reports
    /// the columns of reads are taken, and ranks become codes. A file without lines is a report of no
    /// reads. Reads that a clade has and none of its rows count for its taxon itself, as those of
    /// Bracken's reports of a level above species, and a clade has as many reads as its rows where these
    /// were rounded. Percentages are made anew. Of an empty file and of reads that no row has, `warnings` tell.
    ///
    /// # Errors
    /// If the file cannot be read, ends within a line, or is no such report: with the line, what is wrong
    /// in it, and which other form it has, if that can be seen. A taxon that is there twice, one that has
    /// no taxon above it, names without indents, and a clade with fewer reads than it and the taxa below
    /// it have are wrong, too.
    pub fn read(path: &Path, warnings: &Warnings) -> Result<KrakenReport, Error> {
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
            let what = format!("line {last} has no end: the file is cut");
            return Err(Error::content(path, what));
        }
        let (report, doubts) = reader.finish().map_err(|what| Error::content(path, what))?;
        doubts.iter().for_each(|doubt| warnings.push(format!("{}: {doubt}", path.display())));
        Ok(report)
    }

    /// The report that `text` is, as [`read`](Self::read) reads it from a file, without warnings; without
    /// a line it is one of no rows, as Kraken 2 writes of no reads.
    ///
    /// # Errors
    /// What is wrong in which line.
    pub fn of_text(text: &[u8]) -> Result<KrakenReport, Error> {
        let parsed = KrakenReport::parse(text);
        let wrong = |what| Error::Input(format!("a report's {what}"));
        parsed.map(|(report, _)| report).map_err(wrong)
    }

    /// A report that is in memory, and what is doubtful in it.
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

    /// The same in the order of [`in_order`](Self::in_order).
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

    /// All rows; children stand behind their parent, in the order of the file.
    pub fn rows(&self) -> &[ReportRow] {
        &self.rows
    }

    /// All reads, unclassified ones included.
    pub fn total(&self) -> u64 {
        self.rows.iter().filter(|row| row.depth == 0).map(|row| row.clade).sum()
    }

    /// Reads without a taxon.
    pub fn unclassified(&self) -> u64 {
        self.rows.iter().find(|row| row.is_unclassified()).map_or(0, |row| row.clade)
    }

    /// Whether it has the columns of minimizers.
    pub fn has_minimizers(&self) -> bool {
        self.rows.first().is_some_and(|row| row.minimizers.is_some())
    }

    /// The rows below each row, by the row's place, in the order of the file.
    pub fn children(&self) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.rows.len()];
        for (at, row) in self.rows.iter().enumerate() {
            if let Some(parent) = row.parent {
                children[parent].push(at);
            }
        }
        children
    }

    /// The places of all rows in the order of merganser's own reports: the unclassified reads, then
    /// each taxon before those below it, children with more reads first, then by taxid.
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

    /// Writes the rows as they stand, with per cent of [`total`](Self::total); 0.00 of no reads.
    ///
    /// # Errors
    /// As writing.
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
