//! Histograms of other programs, and what their files say besides: text line by line, with the
//! headers of KAT, ntCard and BBMap.

use std::collections::BTreeMap;

use super::Histogram;

/// A histogram, and what else its file says.
#[derive(Clone, Debug, Default)]
pub struct HistogramFile {
    /// The rows.
    pub histogram: Histogram,
    /// Bases of a k-mer.
    pub k: Option<usize>,
    /// Occurrences of all k-mers, those without a row included.
    pub total: Option<u64>,
}

/// A line that no histogram has; the message is one line that says which and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct BadLine {
    /// Its number, from 1.
    pub line: u64,
    /// The problem with the line.
    pub problem: String,
}

/// A histogram of which lines are added one after the other: `COUNT NUMBER` with tabs or blanks
/// between them, in any order, each count once. Besides, as these programs write them: comments (`#`)
/// and k of KAT; the F0 and F1 of ntCard; the three columns of BBMap, with their heading.
#[derive(Clone, Debug, Default)]
pub struct HistogramLines {
    file: HistogramFile,
    /// Lines so far.
    lines: u64,
    /// The line of each count.
    seen: BTreeMap<u32, u64>,
    /// The column of the numbers, and how many there are; two if there is no heading.
    columns: Option<(usize, usize)>,
    /// The line that gives the occurrences of all k-mers.
    total_line: u64,
    order: Order,
}

/// Tells `COUNT NUMBER` from `NUMBER COUNT`.
#[derive(Clone, Debug, Default)]
struct Order {
    rows: u64,
    last: u64,
    /// The numbers are not 1, 2, 3, …
    numbers_are_others: bool,
    /// A count is lower than the one before.
    counts_fall: bool,
}

/// Rows, at least, whose numbers are not 1, 2, 3, … by chance.
const MIN_SWAPPED: u64 = 10;
/// The largest ratio of the occurrences in all rows to those that the file states: rows may be
/// estimates.
const MAX_OVER_TOTAL: f64 = 1.1;

impl HistogramLines {
    /// Adds the next line.
    ///
    /// # Errors
    /// If no histogram has such a line, or one had that count.
    pub fn add(&mut self, line: &[u8]) -> Result<(), BadLine> {
        self.lines += 1;
        let added = match std::str::from_utf8(line) {
            Ok(line) => self.add_text(line.trim()),
            Err(_) => Err("it is no text: a histogram has COUNT NUMBER lines".to_owned()),
        };
        added.map_err(|problem| BadLine { line: self.lines, problem })
    }

    /// Ends the histogram.
    ///
    /// # Errors
    /// If the lines contradict each other.
    pub fn finish(self) -> Result<HistogramFile, BadLine> {
        let Order { rows, numbers_are_others, counts_fall, .. } = self.order;
        if rows >= MIN_SWAPPED && counts_fall && !numbers_are_others {
            let problem = "the columns are NUMBER COUNT, as it seems: COUNT NUMBER is wanted";
            return Err(BadLine { line: 1, problem: problem.to_owned() });
        }
        let sum = self.file.histogram.total(1, u32::MAX);
        match self.file.total {
            Some(total) if sum as f64 > MAX_OVER_TOTAL * total as f64 => Err(BadLine {
                line: self.total_line,
                problem: format!(
                    "all k-mers occur {total} times by this line, and {sum} times by the rows"
                ),
            }),
            _ => Ok(self.file),
        }
    }

    fn add_text(&mut self, line: &str) -> Result<(), String> {
        if let Some(comment) = line.strip_prefix('#') {
            return self.add_comment(comment);
        }
        let fields: Vec<&str> = line.split_whitespace().collect();
        match fields[..] {
            [] => Ok(()),
            // ntCard: distinct k-mers, and occurrences of all.
            ["F0" | "f0", number] => whole(number).map(|_| ()),
            ["F1" | "f1", number] => {
                self.total_line = self.lines;
                whole(number).map(|number| self.file.total = Some(number))
            }
            _ => self.add_row(&fields),
        }
    }

    fn add_comment(&mut self, comment: &str) -> Result<(), String> {
        // KAT.
        if let Some(k) = comment.trim().strip_prefix("Kmer value:") {
            let k = k.trim().parse().ok();
            self.file.k = k.filter(|k| (1..=merganser_seq::kmer::MAX_K).contains(k));
        } else if comment.trim().starts_with("Rows:") {
            return Err("this is a matrix of `kat comp` and no histogram".to_owned());
        }
        // BBMap.
        let names: Vec<&str> = comment.split('\t').map(str::trim).collect();
        if names.len() > 1 && names[0].eq_ignore_ascii_case("depth") {
            let is_number =
                |name: &&str| ["unique_kmers", "count"].contains(&&*name.to_lowercase());
            let Some(column) = names.iter().position(is_number) else {
                let names = names.join(", ");
                return Err(format!("its columns are {names}, and none is of distinct k-mers"));
            };
            self.columns = Some((column, names.len()));
        }
        Ok(())
    }

    fn add_row(&mut self, fields: &[&str]) -> Result<(), String> {
        let (column, columns) = self.columns.unwrap_or((1, 2));
        if fields.len() != columns {
            let commas = fields.len() == 1 && fields[0].contains([',', ';']);
            return Err(match commas {
                true => "tabs or blanks are wanted between COUNT and NUMBER".to_owned(),
                false if columns == 2 => {
                    format!(
                        "COUNT NUMBER is wanted, as histograms have, not {} columns",
                        fields.len()
                    )
                }
                false => format!("{columns} columns are wanted, as the heading has"),
            });
        }
        let count = whole(fields[0])?;
        let number = whole(fields[column])?;
        let count = u32::try_from(count).map_err(|_| {
            format!("the count {count} is above {}: are the columns swapped?", u32::MAX)
        })?;
        if let Some(first) = self.seen.insert(count, self.lines) {
            return Err(format!(
                "the count {count} is given twice (first in line {first}): are these several histograms?"
            ));
        }
        self.order.add(count, number);
        if count > 0 {
            self.file.histogram.add_many(count, number);
        }
        Ok(())
    }
}

impl Order {
    fn add(&mut self, count: u32, number: u64) {
        self.rows += 1;
        self.numbers_are_others |= number != self.rows;
        self.counts_fall |= u64::from(count) < self.last;
        self.last = count.into();
    }
}

/// A number without sign and fraction.
fn whole(field: &str) -> Result<u64, String> {
    let number = field.parse().ok().filter(|_| field.bytes().all(|byte| byte.is_ascii_digit()));
    number.ok_or_else(|| {
        format!("'{field}' is no whole number: COUNT NUMBER is wanted, as histograms have")
    })
}

impl Histogram {
    /// Reads a text of [`HistogramLines`].
    ///
    /// # Errors
    /// The first line that no histogram has.
    pub fn parse(text: &str) -> Result<HistogramFile, BadLine> {
        let mut lines = HistogramLines::default();
        text.lines().try_for_each(|line| lines.add(line.as_bytes()))?;
        lines.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<(u32, u64)> {
        Histogram::parse(text).unwrap().histogram.iter().collect()
    }

    fn problem(text: &str) -> String {
        Histogram::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn histograms_of_other_programs_are_read() {
        // ntCard.
        let file = Histogram::parse("F1\t59\nF0\t9\n1\t4\n2\t5\n1000\t0\n").unwrap();
        assert_eq!(file.histogram.iter().collect::<Vec<_>>(), [(1, 4), (2, 5)]);
        assert_eq!((file.total, file.k), (Some(59), None));
        // KAT.
        let kat = "# Title:27-mer spectra for: x.fa\n# XLabel:27-mer frequency\n# YLabel:# distinct \
                   27-mers\n# Kmer value:27\n# Input 1:x.fa\n###\n1 4\n2 5\n";
        let file = Histogram::parse(kat).unwrap();
        assert_eq!((file.k, file.histogram.distinct(1, 9)), (Some(27), 9));
        // BBMap: khist.txt, of two and three columns.
        assert_eq!(rows("#Depth\tRaw_Count\tUnique_Kmers\n1\t4\t4\n2\t10\t5\n"), [(1, 4), (2, 5)]);
        assert_eq!(rows("#Depth\tUnique_Kmers\n1\t4\n2\t5\n"), [(1, 4), (2, 5)]);
        // Line ends of Windows, blanks, rows of zero, any order.
        assert_eq!(rows("  2   5\r\n\r\n0 0\n 1\t4\r\n3 0"), [(1, 4), (2, 5)]);
    }

    #[test]
    fn lines_that_no_histogram_has_are_named() {
        for (text, start) in [
            ("1 4\n2 5\n1 6\n", "line 3: the count 1 is given twice (first in line 1)"),
            ("1 4\n2 0\n2 6\n", "line 3: the count 2 is given twice (first in line 2)"),
            ("1 4\n-2 5\n", "line 2: '-2' is no whole number"),
            ("1 4\n2 5.0\n", "line 2: '5.0' is no whole number"),
            ("1 4\n+2 5\n", "line 2: '+2' is no whole number"),
            ("1 4\n2 many\n", "line 2: 'many' is no whole number"),
            ("1,4\n", "line 1: tabs or blanks are wanted"),
            ("1 4 8\n", "line 1: COUNT NUMBER is wanted, as histograms have, not 3 columns"),
            ("5000000000 1\n", "line 1: the count 5000000000 is above 4294967295"),
            ("#Depth\tReads\tBases\n1\t2\t3\n", "line 1: its columns are Depth, Reads, Bases"),
            ("# Title:x\n# Rows:1001\n", "line 2: this is a matrix of `kat comp`"),
            ("F1\t10\n1\t4\n2\t50\n", "line 1: all k-mers occur 10 times by this line, and 104"),
            ("9 1\n8 2\n7 3\n6 4\n5 5\n4 6\n3 7\n2 8\n1 9\n11 10\n", "line 1: the columns are"),
        ] {
            let problem = problem(text);
            assert!(problem.starts_with(start), "{text:?}: {problem}");
        }
    }
}
