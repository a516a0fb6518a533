//! Histograms of other programs: text, parsed line by line, with the headers of KAT, ntCard and BBMap.

use std::collections::BTreeMap;

use super::Histogram;

/// A histogram, with other values from its file.
#[derive(Clone, Debug, Default)]
pub struct HistogramFile {
    /// The histogram.
    pub histogram: Histogram,
    /// The length of k-mers.
    pub k: Option<usize>,
    /// The number of occurrences of all k-mers, including those without a row.
    pub total: Option<u64>,
}

/// A line that is not valid in a histogram; the message is one line with its number and the problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct BadLine {
    /// The number of the line, 1-based.
    pub line: u64,
    /// The problem with the line.
    pub problem: String,
}

/// A parser of histograms to which lines are added one after the other: `COUNT NUMBER`, separated by tabs or
/// blanks, in any order, each count once. It also accepts KAT's comments (`#`) and k, ntCard's F0 and F1, and
/// BBMap's three columns with their heading.
#[derive(Clone, Debug, Default)]
pub struct HistogramLines {
    file: HistogramFile,
    /// The number of lines so far.
    lines: u64,
    /// The number of the line with each count.
    seen: BTreeMap<u32, u64>,
    /// The column of the numbers, and the number of columns; two columns if there is no heading.
    columns: Option<(usize, usize)>,
    /// The line with the number of occurrences of all k-mers.
    total_line: u64,
    order: Order,
}

/// The state of a check that distinguishes `COUNT NUMBER` from `NUMBER COUNT`.
#[derive(Clone, Debug, Default)]
struct Order {
    rows: u64,
    last: u64,
    /// Whether the numbers are not 1, 2, 3, …
    numbers_are_others: bool,
    /// Whether some count is lower than the previous one.
    counts_fall: bool,
}

/// The minimum number of rows whose numbers are unlikely to be 1, 2, 3, … by chance.
const MIN_SWAPPED: u64 = 10;
/// The largest accepted ratio of the occurrences in all rows to the number that the file gives; rows may be
/// estimates.
const MAX_OVER_TOTAL: f64 = 1.1;

impl HistogramLines {
    /// Adds the next line.
    ///
    /// # Errors
    /// If the line is not valid, or its count was given before.
    pub fn add(&mut self, line: &[u8]) -> Result<(), BadLine> {
        self.lines += 1;
        let added = match std::str::from_utf8(line) {
            Ok(line) => self.add_text(line.trim()),
            Err(_) => Err("it is not text: a histogram has COUNT NUMBER lines".to_owned()),
        };
        added.map_err(|problem| BadLine { line: self.lines, problem })
    }

    /// Completes the histogram.
    ///
    /// # Errors
    /// If lines contradict each other.
    pub fn finish(self) -> Result<HistogramFile, BadLine> {
        let Order { rows, numbers_are_others, counts_fall, .. } = self.order;
        if rows >= MIN_SWAPPED && counts_fall && !numbers_are_others {
            let problem = "the columns seem to be NUMBER COUNT: a histogram has COUNT NUMBER lines";
            return Err(BadLine { line: 1, problem: problem.to_owned() });
        }
        let sum = self.file.histogram.total(1, u32::MAX);
        match self.file.total {
            Some(total) if sum as f64 > MAX_OVER_TOTAL * total as f64 => Err(BadLine {
                line: self.total_line,
                problem: format!(
                    "all k-mers occur {total} times according to this line, but {sum} times according to the rows"
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
            // ntCard: the numbers of distinct k-mers, and of all occurrences.
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
            return Err("this is a matrix of `kat comp`, not a histogram".to_owned());
        }
        // BBMap.
        let names: Vec<&str> = comment.split('\t').map(str::trim).collect();
        if names.len() > 1 && names[0].eq_ignore_ascii_case("depth") {
            let is_number =
                |name: &&str| ["unique_kmers", "count"].contains(&&*name.to_lowercase());
            let Some(column) = names.iter().position(is_number) else {
                let names = names.join(", ");
                return Err(format!(
                    "its columns are {names}: none has the number of distinct k-mers"
                ));
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
                true => "tabs or blanks are expected between COUNT and NUMBER".to_owned(),
                false if columns == 2 => {
                    format!("a histogram has COUNT NUMBER lines, not {} columns", fields.len())
                }
                false => format!("{columns} columns are expected, as in the heading"),
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

/// Parses a number without sign and fraction.
fn whole(field: &str) -> Result<u64, String> {
    let number = field.parse().ok().filter(|_| field.bytes().all(|byte| byte.is_ascii_digit()));
    number.ok_or_else(|| {
        format!("'{field}' is not a whole number: a histogram has COUNT NUMBER lines")
    })
}

impl Histogram {
    /// Parses a text as [`HistogramLines`] does.
    ///
    /// # Errors
    /// If a line is not valid; reports the first one.
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
        // BBMap: khist.txt, with two and three columns.
        assert_eq!(rows("#Depth\tRaw_Count\tUnique_Kmers\n1\t4\t4\n2\t10\t5\n"), [(1, 4), (2, 5)]);
        assert_eq!(rows("#Depth\tUnique_Kmers\n1\t4\n2\t5\n"), [(1, 4), (2, 5)]);
        // Windows line ends, blanks, rows of zero, any order.
        assert_eq!(rows("  2   5\r\n\r\n0 0\n 1\t4\r\n3 0"), [(1, 4), (2, 5)]);
    }

    #[test]
    fn lines_that_no_histogram_has_are_named() {
        for (text, start) in [
            ("1 4\n2 5\n1 6\n", "line 3: the count 1 is given twice (first in line 1)"),
            ("1 4\n2 0\n2 6\n", "line 3: the count 2 is given twice (first in line 2)"),
            ("1 4\n-2 5\n", "line 2: '-2' is not a whole number"),
            ("1 4\n2 5.0\n", "line 2: '5.0' is not a whole number"),
            ("1 4\n+2 5\n", "line 2: '+2' is not a whole number"),
            ("1 4\n2 many\n", "line 2: 'many' is not a whole number"),
            ("1,4\n", "line 1: tabs or blanks are expected"),
            ("1 4 8\n", "line 1: a histogram has COUNT NUMBER lines, not 3 columns"),
            ("5000000000 1\n", "line 1: the count 5000000000 is above 4294967295"),
            ("#Depth\tReads\tBases\n1\t2\t3\n", "line 1: its columns are Depth, Reads, Bases"),
            ("# Title:x\n# Rows:1001\n", "line 2: this is a matrix of `kat comp`"),
            (
                "F1\t10\n1\t4\n2\t50\n",
                "line 1: all k-mers occur 10 times according to this line, but 104",
            ),
            ("9 1\n8 2\n7 3\n6 4\n5 5\n4 6\n3 7\n2 8\n1 9\n11 10\n", "line 1: the columns seem"),
        ] {
            let problem = problem(text);
            assert!(problem.starts_with(start), "{text:?}: {problem}");
        }
    }
}
