//! Kraken-style reports, read back as trees.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use super::percent;
use crate::Error;
use crate::lines::{self, Lines};

/// More reads than any sequencer gives; what is larger is no number of reads. Sums of thousands of
/// them are exact.
const MOST_READS: u64 = 1 << 50;

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
    /// Per cent of all reads that are in the clade, as the file says; not a number in a report of no
    /// reads.
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

    /// The letter of the taxon's rank, if it has one of the main ranks from domain to species.
    pub fn letter(&self) -> Option<char> {
        match self.rank.as_bytes() {
            &[letter @ (b'D' | b'K' | b'P' | b'C' | b'O' | b'F' | b'G' | b'S')] => {
                Some(letter.into())
            }
            _ => None,
        }
    }
}

/// A report with 6 or 8 columns, as `merganser classify --report`, Kraken 2 and Bracken write them.
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
    /// `-`, which Kraken 1 does for taxa without a main rank, are made whole.
    ///
    /// # Errors
    /// If the file cannot be read, has no rows, ends within a line, or is no such report: with the line,
    /// what is wrong in it. A taxon that is there twice, one that has no taxon above it, and one with fewer reads than
    /// it and the taxa below it have are wrong, too.
    pub fn read(path: &Path) -> Result<KrakenReport, Error> {
        let mut lines = Lines::open_or_stdin(path)?;
        let path = lines::shown(path);
        let mut reader = Reader::default();
        while let Some((number, line)) = lines.next()? {
            reader
                .take(line)
                .map_err(|what| Error::content(path, format!("line {number}: {what}")))?;
        }
        if lines.is_open() {
            let what = format!("line {} has no end: the file is cut", reader.rows.len());
            return Err(Error::content(path, what));
        }
        reader.finish().map_err(|what| Error::content(path, what))
    }

    /// The report that `text` is, as [`read`](Self::read) reads it from a file; without a line it is one
    /// of no rows, as Kraken 2 writes of no reads.
    ///
    /// # Errors
    /// What is wrong in which line.
    pub fn of_text(text: &[u8]) -> Result<KrakenReport, Error> {
        let mut reader = Reader::default();
        for (at, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let wrong = |what| Error::Input(format!("a report's line {}: {what}", at + 1));
            reader.take(line).map_err(wrong)?;
        }
        match reader.rows.is_empty() {
            true => Ok(KrakenReport::default()),
            false => reader.finish().map_err(Error::Input),
        }
    }

    /// Reads a report that is in memory.
    ///
    /// # Errors
    /// As [`read`](Self::read), without the file.
    #[cfg(test)]
    pub(super) fn parse(text: &[u8]) -> Result<KrakenReport, String> {
        let mut reader = Reader::default();
        let lines = text.strip_suffix(b"\n").unwrap_or(text).split(|&byte| byte == b'\n');
        for (at, line) in lines.enumerate().filter(|_| !text.is_empty()) {
            reader.take(line).map_err(|what| format!("line {}: {what}", at + 1))?;
        }
        reader.finish()
    }

    /// With per cents of two digits, as files have them.
    #[cfg(test)]
    pub(super) fn rounded(mut self) -> KrakenReport {
        let percents = self.rows.iter_mut().map(|row| &mut row.percent);
        percents.for_each(|percent| *percent = format!("{percent:.2}").parse().unwrap());
        self
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
        // Written as they are: formatting pads letter by letter.
        let mut blanks = Vec::new();
        for row in &self.rows {
            write!(output, "{:6.2}\t{}\t{}\t", percent(row.clade, total), row.clade, row.own)?;
            if let Some(ReportMinimizers { found, distinct }) = row.minimizers {
                write!(output, "{found}\t{distinct}\t")?;
            }
            write!(output, "{}\t{}\t", row.rank, row.taxid)?;
            blanks.resize(blanks.len().max(2 * row.depth), b' ');
            output.write_all(&blanks[..2 * row.depth])?;
            output.write_all(&row.name)?;
            output.write_all(b"\n")?;
        }
        Ok(())
    }
}

/// Takes rows one after the other.
#[derive(Default)]
struct Reader {
    rows: Vec<ReportRow>,
    /// By depth, the row that the next one may be below.
    above: Vec<usize>,
    /// The line of each taxon.
    lines: HashMap<u64, usize>,
}

impl Reader {
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        let cells: Vec<&[u8]> = line.split(|&byte| byte == b'\t').collect();
        let Some((minimizers, [rank, taxid, name])) = split(&cells)? else {
            return Err(format!(
                "{} where a Kraken-style report has 6 columns, or 8, with tabs between",
                columns(cells.len())
            ));
        };
        let mut row = ReportRow {
            percent: per_cent(cells[0])?,
            clade: reads(cells[1])?,
            own: reads(cells[2])?,
            minimizers,
            rank: String::new(),
            taxid: number(taxid).ok_or_else(|| format!("{} is no taxid", shown(taxid)))?,
            depth: depth(name)?,
            parent: None,
            name: Vec::new(),
        };
        row.name.extend_from_slice(&name[2 * row.depth..]);
        self.place(&mut row)?;
        row.rank = self.rank(rank, &row)?;
        self.check(&row)?;
        self.rows.push(row);
        Ok(())
    }

    /// Finds the row above.
    fn place(&mut self, row: &mut ReportRow) -> Result<(), String> {
        if row.name.is_empty() {
            return Err("there is no name: is the file cut?".into());
        }
        if row.depth > self.above.len() {
            return Err(format!(
                "its name is indented for level {}, and the line above leads to level {} at most: \
                 are lines missing?",
                row.depth,
                self.above.len()
            ));
        }
        self.above.truncate(row.depth);
        row.parent = self.above.last().copied();
        if row.is_unclassified() {
            // Nothing is below it.
            return match row.depth {
                0 => Ok(()),
                _ => Err("unclassified reads (taxid 0) are below a taxon".into()),
            };
        }
        self.above.push(self.rows.len());
        Ok(())
    }

    /// A rank code, made whole.
    fn rank(&self, code: &[u8], row: &ReportRow) -> Result<String, String> {
        let letters = code.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        let steps = &code[letters..];
        let fits = letters <= 1 && steps.len() <= 9 && steps.iter().all(u8::is_ascii_digit);
        if !fits && code != b"-" {
            return Err(format!("{} is no rank code", shown(code)));
        }
        let text = String::from_utf8_lossy(code).into_owned();
        if letters == 1 {
            return Ok(text);
        }
        let above = row.parent.map(|parent| &self.rows[parent].rank[..]);
        let (letter, above_steps) = above.map_or(("R", ""), |above| above.split_at(1));
        Ok(match (code, above) {
            (b"" | b"-", None) => "R".into(),
            // The letters that are lost are those of root and domain, and there is one root.
            (b"", Some(_)) => "D".into(),
            (b"-", Some(_)) => format!("{letter}{}", above_steps.parse().unwrap_or(0u64) + 1),
            _ => format!("{letter}{text}"),
        })
    }

    fn check(&mut self, row: &ReportRow) -> Result<(), String> {
        if row.clade < row.own {
            return Err(format!(
                "the clade has {} reads, fewer than the {} of its taxon",
                row.clade, row.own
            ));
        }
        let first = self.rows.first().map(|first| first.minimizers.is_some());
        if first.is_some_and(|first| first != row.minimizers.is_some()) {
            return Err("another number of columns than in the lines above".into());
        }
        match self.lines.insert(row.taxid, self.rows.len() + 1) {
            None => Ok(()),
            Some(line) => Err(format!("taxid {} is in line {line} already", row.taxid)),
        }
    }

    fn finish(self) -> Result<KrakenReport, String> {
        let Reader { rows, .. } = self;
        if rows.is_empty() {
            return Err("the report is empty: there is no line in it, not even of unclassified \
                        reads; leave it out"
                .into());
        }
        let mut sums: Vec<u64> = rows.iter().map(|row| row.own).collect();
        for row in &rows {
            if let Some(parent) = row.parent {
                sums[parent] += row.clade;
            }
        }
        for (at, (row, &sum)) in rows.iter().zip(&sums).enumerate() {
            if row.clade < sum {
                return Err(format!(
                    "line {}: the clade has {} reads, fewer than the {sum} of its taxon and the \
                     clades below it",
                    at + 1,
                    row.clade
                ));
            }
        }
        Ok(KrakenReport { rows })
    }
}

/// The columns of minimizers, if there are any, and those behind them; nothing if there are others.
#[allow(clippy::type_complexity, reason = "columns")]
fn split<'c>(
    cells: &[&'c [u8]],
) -> Result<Option<(Option<ReportMinimizers>, [&'c [u8]; 3])>, String> {
    match *cells {
        [_, _, _, rank, taxid, name] => Ok(Some((None, [rank, taxid, name]))),
        [_, _, _, found, distinct, rank, taxid, name] => {
            let minimizers =
                ReportMinimizers { found: minimizers(found)?, distinct: minimizers(distinct)? };
            Ok(Some((Some(minimizers), [rank, taxid, name])))
        }
        _ => Ok(None),
    }
}

fn columns(number: usize) -> String {
    if number == 1 { "1 column".into() } else { format!("{number} columns") }
}

/// The level that a name's indent says.
fn depth(name: &[u8]) -> Result<usize, String> {
    let blanks = name.iter().take_while(|&&byte| byte == b' ').count();
    match blanks.is_multiple_of(2) {
        true => Ok(blanks / 2),
        false => Err(format!("its name is indented by {blanks} blanks: each level has two")),
    }
}

fn reads(text: &[u8]) -> Result<u64, String> {
    let found = number(text).filter(|&reads| reads < MOST_READS);
    found.ok_or_else(|| format!("{} is no number of reads", shown(text)))
}

fn minimizers(text: &[u8]) -> Result<u64, String> {
    number(text).ok_or_else(|| format!("{} is no number of minimizers", shown(text)))
}

/// A whole number of digits alone.
fn number(text: &[u8]) -> Option<u64> {
    if !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// A number from 0 to 100; what C makes of nothing by nothing is one, too.
fn per_cent(text: &[u8]) -> Result<f64, String> {
    let number = std::str::from_utf8(text.trim_ascii()).ok().and_then(|text| text.parse().ok());
    let fits = |percent: &f64| percent.is_nan() || (0.0..=100.0).contains(percent);
    number.filter(fits).ok_or_else(|| format!("{} is no per cent", shown(text)))
}

/// A cell for a message, of which not more than so much is of use.
fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("'{}…'", &text[..end]),
        None => format!("'{text}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAIN: &str = " 10.00\t10\t10\tU\t0\tunclassified\n \
                         90.00\t90\t1\tR\t1\troot\n \
                         89.00\t89\t0\tR1\t131567\t  cellular organisms\n \
                         80.00\t80\t20\tD\t2\t    Bacteria\n \
                         60.00\t60\t60\tP\t1224\t      Pseudomonadota\n  \
                          9.00\t9\t9\tD\t2157\t    Archaea\n";

    #[test]
    fn reports_come_back_as_they_were() {
        let report = KrakenReport::parse(PLAIN.as_bytes()).unwrap();
        let mut text = Vec::new();
        report.write(&mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), PLAIN);
        assert_eq!((report.total(), report.unclassified()), (100, 10));
        let parents: Vec<_> = report.rows().iter().map(|row| row.parent).collect();
        assert_eq!(parents, [None, None, Some(1), Some(2), Some(3), Some(2)]);
        assert_eq!(report.children()[2], [3, 5]);
        assert!(!report.has_minimizers());
        let more = PLAIN.replace("\t20\tD", "\t20\t7\t5\tD");
        assert_eq!(
            KrakenReport::parse(more.as_bytes()).unwrap_err(),
            "line 4: another number of columns than in the lines above"
        );
    }

    #[test]
    fn columns_of_minimizers_and_odd_names_survive() {
        let text = b"100.00\t2\t0\t7\t5\tR\t1\troot\n100.00\t2\t2\t7\t5\tS\t9\t  a\xff b \n";
        let report = KrakenReport::parse(text).unwrap();
        assert_eq!(report.rows()[1].name, b"a\xff b ");
        let minimizers = Some(ReportMinimizers { found: 7, distinct: 5 });
        assert_eq!(report.rows()[1].minimizers, minimizers);
        let mut back = Vec::new();
        report.write(&mut back).unwrap();
        assert_eq!(back, text);
    }

    /// What Kraken 2.1.2 of Debian writes, and Kraken 1.
    #[test]
    fn rank_codes_are_made_whole() {
        let codes = |codes: [&str; 6]| {
            let row = |(depth, code): (usize, &&str)| {
                format!("0\t5\t0\t{code}\t{}\t{}x\n", depth + 1, "  ".repeat(depth))
            };
            let text: String = codes.iter().enumerate().map(row).collect();
            let report = KrakenReport::parse(text.as_bytes()).unwrap();
            report.rows().iter().map(|row| row.rank.clone()).collect::<Vec<_>>()
        };
        let whole = ["R", "R1", "D", "D1", "K", "K1"];
        assert_eq!(codes(["", "1", "", "1", "K", "K1"]), whole);
        assert_eq!(codes(["-", "-", "D", "-", "K", "-"]), whole);
        assert_eq!(codes(whole), whole);
    }

    #[test]
    fn what_is_damaged_is_refused() {
        let bad = |from: &str, to: &str| {
            let text = PLAIN.replacen(from, to, 1);
            assert_ne!(text, PLAIN, "{from}");
            KrakenReport::parse(text.as_bytes()).unwrap_err()
        };
        for (from, to, message) in [
            (
                "\t      Pseudo",
                "\t        Pseudo",
                "line 5: its name is indented for level 4, and the line above leads to level 3 at \
                 most: are lines missing?",
            ),
            ("\t  cell", "\t cell", "line 3: its name is indented by 1 blanks: each level has two"),
            ("\t90\t1", "\t9o\t1", "line 2: '9o' is no number of reads"),
            ("\t90\t1", "\t-90\t1", "line 2: '-90' is no number of reads"),
            (
                "\t90\t1",
                "\t90\t91",
                "line 2: the clade has 90 reads, fewer than the 91 of its taxon",
            ),
            (
                "\t90\t1",
                "\t89\t1",
                "line 2: the clade has 89 reads, fewer than the 90 of its taxon and the clades below it",
            ),
            ("\t2157", "\t2", "line 6: taxid 2 is in line 4 already"),
            ("\t2157", "\t", "line 6: '' is no taxid"),
            ("    Archaea", "    ", "line 6: there is no name: is the file cut?"),
            (" 90.00", "ninety", "line 2: 'ninety' is no per cent"),
            (" 90.00", "901.00", "line 2: '901.00' is no per cent"),
            ("\tD\t2\t", "\td\t2\t", "line 4: 'd' is no rank code"),
            (
                "\tD\t2\t",
                "\t2\t",
                "line 4: 5 columns where a Kraken-style report has 6 columns, or 8, with tabs between",
            ),
            ("\t2\t", "\t0\t", "line 4: unclassified reads (taxid 0) are below a taxon"),
            (
                "1\troot",
                "1\t  root",
                "line 2: its name is indented for level 1, and the line above leads to level 0 at \
                 most: are lines missing?",
            ),
        ] {
            assert_eq!(bad(from, to), message);
        }
        assert!(KrakenReport::parse(b"").unwrap_err().starts_with("the report is empty"));
        let huge = format!("0\t{}\t0\tR\t1\troot\n", MOST_READS);
        assert!(
            KrakenReport::parse(huge.as_bytes()).unwrap_err().ends_with("is no number of reads")
        );
    }

    #[test]
    fn reports_of_no_reads_and_of_two_decimals_are_reports() {
        let none =
            KrakenReport::parse(b"  -nan\t0\t0\tU\t0\tunclassified\n  -nan\t0\t0\tR\t1\troot\n")
                .unwrap();
        assert!(none.rows()[1].percent.is_nan() && none.total() == 0);
        let bracken =
            KrakenReport::parse(b"100.00\t9\t0\tR\t1\troot\n33.33\t3\t0\tG\t5\t  x\n").unwrap();
        assert_eq!(bracken.total(), 9);
    }

    #[test]
    fn rows_are_put_into_our_order() {
        let text = "0\t3\t0\tR\t1\troot\n0\t1\t1\tD\t9\t  a\n0\t1\t1\tD\t8\t  b\n\
                    0\t1\t1\tD\t7\t  c\n0\t4\t4\tU\t0\tunclassified\n";
        let report = KrakenReport::parse(text.as_bytes()).unwrap();
        let taxids: Vec<u64> =
            report.in_order().into_iter().map(|at| report.rows()[at].taxid).collect();
        assert_eq!(taxids, [0, 1, 7, 8, 9]);
    }

    proptest! {
        /// Whatever is changed in a report, it is refused or makes one that comes back as it is.
        #[test]
        fn any_bytes_are_a_report_or_refused(
            changes in proptest::collection::vec((0usize..400, any::<u8>(), 0u8..3), 0..6),
        ) {
            let mut text = PLAIN.as_bytes().to_vec();
            for (at, byte, what) in changes {
                let at = at % text.len();
                match what {
                    0 => text[at] = byte,
                    1 => text.insert(at, b" \t\n0.UD"[usize::from(byte) % 7]),
                    _ => drop(text.remove(at)),
                }
            }
            if let Ok(report) = KrakenReport::parse(&text) {
                let mut back = Vec::new();
                report.write(&mut back).unwrap();
                let again = KrakenReport::parse(&back).unwrap();
                let bare = |report: KrakenReport| {
                    let mut rows = report.rows;
                    rows.iter_mut().for_each(|row| row.percent = 0.0);
                    rows
                };
                let sorted = report.sorted();
                prop_assert_eq!(sorted.rows.len(), report.rows.len());
                prop_assert_eq!(bare(again), bare(report));
            }
        }
    }
}
