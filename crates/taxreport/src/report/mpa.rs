//! MetaPhlAn's table, as written by Kraken 2.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io::{self, Write};

use super::{KrakenReport, Tally, walk};
use merganser_taxonomy::Taxonomy;

impl Tally {
    /// Writes `d__Bacteria|p__…<TAB>reads of the clade` for each taxon of a main rank, in the order of Kraken's
    /// report. With `zero_counts`, taxa without reads are listed as well.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_mpa(
        &self,
        tree: &Taxonomy,
        zero_counts: bool,
        output: &mut dyn Write,
    ) -> io::Result<()> {
        let clades = self.clades(tree);
        let mut lineages = Lineages::default();
        for node in walk(tree, &clades, zero_counts) {
            let (depth, letter) = (tree.depth(node) as usize, tree.rank(node).letter());
            if let Some(path) = lineages.enter(depth, letter, tree.name(node).as_bytes()) {
                output.write_all(path)?;
                writeln!(output, "\t{}", clades[node as usize])?;
            }
        }
        Ok(())
    }
}

impl KrakenReport {
    /// Writes the table of [`Tally::write_mpa`] from the rows of a report that have a main rank, including those
    /// without reads.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_mpa(&self, output: &mut dyn Write) -> io::Result<()> {
        self.each_lineage(|path, reads| {
            output.write_all(path)?;
            writeln!(output, "\t{reads}")
        })
    }

    /// Calls `take` with each lineage of a main rank, `d__Bacteria|p__…`, and the reads of its clade.
    ///
    /// # Errors
    /// Any error of `take`.
    pub(super) fn each_lineage<E>(
        &self,
        mut take: impl FnMut(&[u8], u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut lineages = Lineages::default();
        for row in self.in_order().into_iter().map(|at| &self.rows[at]) {
            if let Some(path) = lineages.enter(row.depth, row.letter(), &row.name) {
                take(path, row.clade)?;
            }
        }
        Ok(())
    }
}

/// The path to the current taxon, and the end of the path of each taxon above.
#[derive(Default)]
struct Lineages {
    path: Vec<u8>,
    ends: Vec<usize>,
}

impl Lineages {
    /// Goes to the next taxon in preorder. Returns its path if it has a letter.
    fn enter(&mut self, depth: usize, letter: Option<char>, name: &[u8]) -> Option<&[u8]> {
        self.ends.truncate(depth);
        self.path.truncate(self.ends.last().copied().unwrap_or(0));
        if let Some(letter) = letter {
            if !self.path.is_empty() {
                self.path.push(b'|');
            }
            self.path.extend([letter.to_ascii_lowercase() as u8, b'_', b'_']);
            self.path.extend_from_slice(name);
        }
        self.ends.push(self.path.len());
        letter.is_some().then_some(&self.path)
    }
}

/// The lineages of several reports side by side, as by KrakenTools' `combine_mpa`.
#[derive(Clone, Debug, Default)]
pub struct MpaTable {
    samples: Vec<Vec<u8>>,
    places: HashMap<Vec<u8>, usize>,
    lineages: Vec<Lineage>,
    /// The lineages without a parent, in the order in which they were added.
    tops: Vec<usize>,
}

#[derive(Clone, Debug, Default)]
struct Lineage {
    path: Vec<u8>,
    /// The lineages below this one, in the order in which they were added.
    children: Vec<usize>,
    /// The samples with this lineage, with their reads.
    reads: Vec<(usize, u64)>,
}

impl MpaTable {
    /// Adds a report as the next column. Taxa with the same lineage are merged.
    pub fn add(&mut self, sample: &[u8], report: &KrakenReport) {
        let number = self.samples.len();
        self.samples.push(sample.to_vec());
        let done: Result<(), Infallible> = report.each_lineage(|path, reads| {
            let at = self.place(path);
            let columns = &mut self.lineages[at].reads;
            match columns.last_mut().filter(|(last, _)| *last == number) {
                Some((_, sum)) => *sum += reads,
                None => columns.push((number, reads)),
            }
            Ok(())
        });
        match done {
            Ok(()) => {}
        }
    }

    /// Returns the index of a lineage; adds it as the last child of its parent if it is new.
    fn place(&mut self, path: &[u8]) -> usize {
        if let Some(&at) = self.places.get(path) {
            return at;
        }
        let at = self.lineages.len();
        let ends = memchr::memrchr_iter(b'|', path);
        let parent = ends.filter_map(|end| self.places.get(&path[..end])).next();
        match parent {
            Some(&parent) => self.lineages[parent].children.push(at),
            None => self.tops.push(at),
        }
        self.lineages.push(Lineage { path: path.to_vec(), ..Lineage::default() });
        self.places.insert(path.to_vec(), at);
        at
    }

    /// Writes the table: `#Classification` and the names of the samples, then a row for each lineage with the
    /// reads of each sample. A lineage comes before those below it; of the children of a lineage, the one that was
    /// added last comes first.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        output.write_all(b"#Classification")?;
        for sample in &self.samples {
            output.write_all(b"\t")?;
            output.write_all(sample)?;
        }
        output.write_all(b"\n")?;
        let mut stack: Vec<usize> = self.tops.iter().rev().copied().collect();
        let mut text = Vec::new();
        while let Some(at) = stack.pop() {
            let lineage = &self.lineages[at];
            text.clear();
            text.extend_from_slice(&lineage.path);
            let mut columns = lineage.reads.iter().peekable();
            for number in 0..self.samples.len() {
                text.push(b'\t');
                let own = columns.next_if(|(sample, _)| *sample == number);
                merganser_io::put_decimal(own.map_or(0, |(_, reads)| *reads), &mut text);
            }
            text.push(b'\n');
            output.write_all(&text)?;
            stack.extend(&lineage.children);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::ReportRow;

    fn row(taxid: u64, depth: usize, rank: &str, parent: Option<usize>, clade: u64) -> ReportRow {
        let name = format!("t{taxid}").into_bytes();
        let (rank, percent, minimizers) = (rank.into(), 0.0, None);
        ReportRow { percent, clade, own: 0, minimizers, rank, taxid, depth, parent, name }
    }

    #[test]
    fn tables_have_the_order_of_combine_mpa() {
        let one = [
            row(1, 0, "R", None, 9),
            row(2, 1, "D", Some(0), 9),
            row(3, 2, "D1", Some(1), 5),
            row(4, 3, "P", Some(2), 5),
            row(5, 2, "P", Some(1), 4),
        ];
        let two = [
            row(1, 0, "R", None, 7),
            row(2, 1, "D", Some(0), 3),
            row(6, 2, "P", Some(1), 3),
            row(7, 1, "D", Some(0), 2),
        ];
        let mut table = MpaTable::default();
        table.add(b"a\xff", &KrakenReport { rows: one.to_vec() });
        table.add(b"b", &KrakenReport { rows: two.to_vec() });
        let mut text = Vec::new();
        table.write(&mut text).unwrap();
        let expected: &[u8] = b"#Classification\ta\xff\tb\nd__t2\t9\t3\nd__t2|p__t6\t0\t3\n\
            d__t2|p__t5\t4\t0\nd__t2|p__t4\t5\t0\nd__t7\t0\t2\n";
        assert_eq!(text, expected);
    }
}
