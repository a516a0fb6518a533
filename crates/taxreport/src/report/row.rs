//! Rows of Kraken's report.

use std::fmt::Display;
use std::io::{self, Write};

/// The content of a row of Kraken's report, for a taxon or the unclassified reads.
pub struct KrakenRow<'r> {
    /// The percentage of all reads; `None` if there are no reads: C prints 0/0 as -nan, and so does Kraken 2.
    pub percent: Option<f64>,
    /// The reads of the taxon and all taxa below it.
    pub clade: u64,
    /// The reads of the taxon itself.
    pub own: u64,
    /// The minimizers or features that were found, and the distinct ones, if the report has these columns.
    pub minimizers: Option<[u64; 2]>,
    /// The rank code.
    pub rank: &'r dyn Display,
    /// The taxid.
    pub taxid: u64,
    /// The number of levels below the root; the name is indented by two blanks for each.
    pub depth: usize,
    /// The name.
    pub name: &'r [u8],
}

/// Writes the rows of a report.
pub struct KrakenRows<'o> {
    output: &'o mut dyn Write,
    blanks: Vec<u8>,
}

impl<'o> KrakenRows<'o> {
    /// Returns a writer of rows to `output`.
    pub fn new(output: &'o mut dyn Write) -> KrakenRows<'o> {
        KrakenRows { output, blanks: Vec::new() }
    }

    /// Writes a row.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&mut self, row: &KrakenRow<'_>) -> io::Result<()> {
        let output = &mut *self.output;
        match row.percent {
            Some(percent) => write!(output, "{percent:6.2}")?,
            None => output.write_all(b"  -nan")?,
        }
        write!(output, "\t{}\t{}\t", row.clade, row.own)?;
        if let Some([found, distinct]) = row.minimizers {
            write!(output, "{found}\t{distinct}\t")?;
        }
        write!(output, "{}\t{}\t", row.rank, row.taxid)?;
        // Written without formatting, which pads character by character; deep taxa have long indents.
        let indent = 2 * row.depth;
        self.blanks.resize(self.blanks.len().max(indent), b' ');
        output.write_all(&self.blanks[..indent])?;
        output.write_all(row.name)?;
        output.write_all(b"\n")
    }
}

/// The code of a rank: the letter of the nearest main rank at the taxon or above, and the steps below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankCode {
    /// The letter of the main rank.
    pub letter: char,
    /// The number of steps below that rank; 0 is not shown.
    pub steps: u32,
}

impl RankCode {
    /// The code of the root.
    pub const ROOT: RankCode = RankCode { letter: 'R', steps: 0 };

    /// Returns the code of a child of a taxon with this code; `letter` is the letter of the child's rank, if
    /// that is a main rank.
    pub fn below(self, letter: Option<char>) -> RankCode {
        match letter {
            Some(letter) => RankCode { letter, steps: 0 },
            None => RankCode { steps: self.steps + 1, ..self },
        }
    }
}

impl Display for RankCode {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.steps {
            0 => write!(formatter, "{}", self.letter),
            steps => write!(formatter, "{}{steps}", self.letter),
        }
    }
}
