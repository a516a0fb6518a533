//! Reports of several samples, combined as by KrakenTools' `combine_kreports`.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use merganser_io::put_decimal;
use merganser_run::{Warnings, counted};

use super::{KrakenReport, ReportRow, percent};
use crate::Error;

/// The reports of several samples as one tree.
#[derive(Clone, Debug, Default)]
pub struct CombinedReports {
    samples: usize,
    /// The taxa in the order in which they were added, each after its parent.
    taxa: Vec<CombinedTaxon>,
    places: HashMap<u64, usize>,
    /// The number of taxa with a different name in a later report, and the first of them.
    renamed: (u64, Option<RenamedTaxon>),
    /// Whether a report has columns of minimizers.
    has_minimizers: bool,
}

#[derive(Clone, Debug)]
struct CombinedTaxon {
    /// The row of the first report with the taxon, but with the reads of all reports.
    row: ReportRow,
    /// The samples with the taxon, with their reads of the clade and of the taxon itself.
    reads: Vec<(usize, [u64; 2])>,
}

/// A taxon that has different names in two reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenamedTaxon {
    /// The taxid.
    pub taxid: u64,
    /// The name in an earlier report.
    pub first: Vec<u8>,
    /// The name in a later report.
    pub other: Vec<u8>,
}

/// The optional content of a table of combined reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CombinedTable<'a> {
    /// The name and file of each sample, in the order of the reports, for the lines before the table; if `None`,
    /// neither these lines nor the header are written.
    pub head: Option<&'a [(Vec<u8>, Vec<u8>)]>,
    /// Whether the reads of each sample are shown in addition to the sums.
    pub samples: bool,
}

impl CombinedReports {
    /// Adds the report of the next sample, from the file `path`.
    ///
    /// # Errors
    /// If a taxon has a different parent from that in earlier reports, so that the taxonomies differ.
    pub fn add(&mut self, path: &Path, report: &KrakenReport) -> Result<(), Error> {
        let sample = self.samples;
        self.samples += 1;
        self.has_minimizers |= report.has_minimizers();
        // The index of the taxon of each row.
        let mut places: Vec<usize> = Vec::with_capacity(report.rows.len());
        for row in &report.rows {
            let parent = row.parent.map(|parent| places[parent]);
            let place = match self.places.get(&row.taxid) {
                Some(&place) => {
                    self.check(place, parent, row).map_err(|what| Error::content(path, what))?;
                    place
                }
                None => self.begin(row, parent),
            };
            let taxon = &mut self.taxa[place];
            taxon.row.clade += row.clade;
            taxon.row.own += row.own;
            taxon.reads.push((sample, [row.clade, row.own]));
            places.push(place);
        }
        Ok(())
    }

    /// Adds a taxon without reads; returns its index.
    fn begin(&mut self, row: &ReportRow, parent: Option<usize>) -> usize {
        let (percent, clade, own, minimizers) = (0.0, 0, 0, None);
        let row = ReportRow { percent, clade, own, minimizers, parent, ..row.clone() };
        self.places.insert(row.taxid, self.taxa.len());
        self.taxa.push(CombinedTaxon { row, reads: Vec::new() });
        self.taxa.len() - 1
    }

    /// Checks that a taxon has the same parent as before, and notes a different name.
    fn check(
        &mut self,
        place: usize,
        parent: Option<usize>,
        row: &ReportRow,
    ) -> Result<(), String> {
        let known = &self.taxa[place].row;
        if known.parent != parent {
            let shown = |parent: Option<usize>| match parent {
                Some(at) => format!("below taxid {}", self.taxa[at].row.taxid),
                None => "at the top".to_owned(),
            };
            return Err(format!(
                "taxid {} is {} and was {} in an earlier report: reports of different taxonomies \
                 cannot be added up; classify all samples with one database",
                row.taxid,
                shown(parent),
                shown(known.parent)
            ));
        }
        if known.name != row.name {
            self.renamed.0 += 1;
            let (taxid, first, other) = (row.taxid, known.name.clone(), row.name.clone());
            self.renamed.1.get_or_insert(RenamedTaxon { taxid, first, other });
        }
        Ok(())
    }

    /// Returns how often a report has a different name for a taxon than an earlier one, and the first such case; their
    /// taxonomies may be of different ages. The first name is kept.
    pub fn renamed(&self) -> (u64, Option<&RenamedTaxon>) {
        (self.renamed.0, self.renamed.1.as_ref())
    }

    /// Warns of names that differ between reports, which may be of different taxonomies.
    pub fn warn(&self, warnings: &Warnings) {
        if let (count, Some(first)) = self.renamed() {
            warnings.push(format!(
                "names differ between reports ({}; taxid {} is {} and {}): the first ones are taken; are they of \
                 the same taxonomy?",
                counted(count, "time"),
                first.taxid,
                String::from_utf8_lossy(&first.first),
                String::from_utf8_lossy(&first.other),
            ));
        }
    }

    /// Warns if [`report`](Self::report) lacks the columns of minimizers that reports have.
    pub fn warn_of_minimizers(&self, warnings: &Warnings) {
        if self.has_minimizers {
            warnings.push(
                "minimizers are left out: reports do not tell which minimizers several samples share (partial \
                 results do: classify with `partial`)",
            );
        }
    }

    /// Returns the report of all samples together, children with more reads first, then by taxid. It has no
    /// columns of minimizers, because samples may share minimizers.
    pub fn report(&self) -> KrakenReport {
        let rows = self.taxa.iter().map(|taxon| taxon.row.clone()).collect();
        let mut sum = KrakenReport { rows }.sorted();
        let total = sum.total();
        sum.rows.iter_mut().for_each(|row| row.percent = percent(row.clade, total));
        sum
    }

    /// Writes the table of `combine_kreports`: lines with the number of samples, the number of reads and the file of
    /// each sample; then rows with the percentage of all reads, the reads of the clade and of the taxon itself, both
    /// again for each sample, rank code, taxid, and the name, indented by two blanks per level. The unclassified reads
    /// come first. Children with more reads come first; of equal ones, the one that was added last.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_table(&self, table: &CombinedTable<'_>, output: &mut dyn Write) -> io::Result<()> {
        let total = self.taxa.iter().map(|taxon| taxon.row.own).sum();
        if let Some(samples) = table.head {
            self.write_head(samples, table.samples, total, output)?;
        }
        let mut children = vec![Vec::new(); self.taxa.len()];
        let mut stack = Vec::new();
        for (at, taxon) in self.taxa.iter().enumerate() {
            match taxon.row.parent {
                Some(parent) => children[parent].push(at),
                None => stack.push(at),
            }
        }
        let clade = |at: &usize| self.taxa[*at].row.clade;
        stack.sort_by_key(clade);
        let mut text = Vec::new();
        let unclassified = self.places.get(&0).map(|&at| &self.taxa[at]);
        // This row is always written, because readers of the table expect it.
        self.row(unclassified, table.samples, total, &mut text);
        while let Some(at) = stack.pop() {
            let taxon = &self.taxa[at];
            if !taxon.row.is_unclassified() {
                self.row(Some(taxon), table.samples, total, &mut text);
            }
            output.write_all(&text)?;
            text.clear();
            let mut next = std::mem::take(&mut children[at]);
            next.sort_by_key(clade);
            stack.extend(next);
        }
        output.write_all(&text)
    }

    fn write_head(
        &self,
        samples: &[(Vec<u8>, Vec<u8>)],
        each: bool,
        total: u64,
        output: &mut dyn Write,
    ) -> io::Result<()> {
        writeln!(output, "#Number of Samples: {}", self.samples)?;
        writeln!(output, "#Total Number of Reads: {total}")?;
        for (name, file) in samples {
            output.write_all(&[b"#", &name[..], b"\t", file, b"\n"].concat())?;
        }
        output.write_all(b"#perc\ttot_all\ttot_lvl")?;
        for (name, _) in samples.iter().filter(|_| each) {
            output.write_all(&[b"\t", &name[..], b"_all\t", name, b"_lvl"].concat())?;
        }
        output.write_all(b"\tlvl_type\ttaxid\tname\n")
    }

    /// Appends the row of a taxon; `None` gives a row without unclassified reads.
    fn row(&self, taxon: Option<&CombinedTaxon>, each: bool, total: u64, text: &mut Vec<u8>) {
        let (clade, own) = taxon.map_or((0, 0), |taxon| (taxon.row.clade, taxon.row.own));
        // The last digit may depend on the order of these operations.
        let share = clade as f64 / total.max(1) as f64 * 100.0;
        text.extend_from_slice(format!("{share:.4}\t{clade}\t{own}").as_bytes());
        let mut columns = taxon.map_or(&[][..], |taxon| &taxon.reads).iter().peekable();
        for number in 0..if each { self.samples } else { 0 } {
            let reads = columns.next_if(|(sample, _)| *sample == number);
            for reads in reads.map_or([0; 2], |(_, reads)| *reads) {
                text.push(b'\t');
                put_decimal(reads, text);
            }
        }
        match taxon.map(|taxon| &taxon.row) {
            Some(row) => {
                text.extend_from_slice(format!("\t{}\t{}\t", row.rank, row.taxid).as_bytes());
                text.resize(text.len() + 2 * row.depth, b' ');
                text.extend_from_slice(&row.name);
            }
            None => text.extend_from_slice(b"\tU\t0\tunclassified"),
        }
        text.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(text: &str) -> KrakenReport {
        KrakenReport::of_text(text.as_bytes()).unwrap()
    }

    const ONE: &str = "0\t3\t3\tU\t0\tunclassified\n0\t9\t1\tR\t1\troot\n0\t8\t0\tD\t2\t  B\n\
                       0\t4\t4\tS\t11\t    s11\n0\t4\t4\tS\t12\t    s12\n";
    const TWO: &str = "0\t5\t0\tR\t1\troot\n0\t5\t1\tD\t2\t  B\n0\t4\t4\tS\t13\t    s13\n";

    fn combined() -> CombinedReports {
        let mut combined = CombinedReports::default();
        combined.add(Path::new("one"), &report(ONE)).unwrap();
        combined.add(Path::new("two"), &report(TWO)).unwrap();
        combined
    }

    fn table(head: Option<&[(Vec<u8>, Vec<u8>)]>, samples: bool) -> String {
        let mut text = Vec::new();
        combined().write_table(&CombinedTable { head, samples }, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    /// The expected values were computed by hand by the rules of `combine_kreports`.
    #[test]
    fn the_table_is_that_of_combine_kreports() {
        let names = [("S1", "one"), ("S2", "two")];
        let head = names.map(|(name, file)| (name.as_bytes().to_vec(), file.as_bytes().to_vec()));
        let rows = "17.6471\t3\t3\t3\t3\t0\t0\tU\t0\tunclassified\n\
                    82.3529\t14\t1\t9\t1\t5\t0\tR\t1\troot\n\
                    76.4706\t13\t1\t8\t0\t5\t1\tD\t2\t  B\n\
                    23.5294\t4\t4\t0\t0\t4\t4\tS\t13\t    s13\n\
                    23.5294\t4\t4\t4\t4\t0\t0\tS\t12\t    s12\n\
                    23.5294\t4\t4\t4\t4\t0\t0\tS\t11\t    s11\n";
        assert_eq!(
            table(Some(&head), true),
            format!(
                "#Number of Samples: 2\n#Total Number of Reads: 17\n#S1\tone\n#S2\ttwo\n\
                 #perc\ttot_all\ttot_lvl\tS1_all\tS1_lvl\tS2_all\tS2_lvl\tlvl_type\ttaxid\tname\n{rows}"
            )
        );
        assert_eq!(table(None, true), rows);
        let short = table(Some(&head), false);
        assert!(
            short.contains("\n#perc\ttot_all\ttot_lvl\tlvl_type\ttaxid\tname\n17.6471\t3\t3\tU\t")
        );
    }

    #[test]
    fn the_sum_is_a_report() {
        let mut text = Vec::new();
        combined().report().write(&mut text).unwrap();
        let expected = " 17.65\t3\t3\tU\t0\tunclassified\n 82.35\t14\t1\tR\t1\troot\n \
                        76.47\t13\t1\tD\t2\t  B\n 23.53\t4\t4\tS\t11\t    s11\n \
                        23.53\t4\t4\tS\t12\t    s12\n 23.53\t4\t4\tS\t13\t    s13\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
        assert_eq!(report(expected), combined().report());
    }

    #[test]
    fn other_trees_are_refused_and_other_names_told() {
        let mut combined = combined();
        let moved =
            TWO.replace("0\t5\t0", "0\t9\t0").replace("  B", "  C").replace("    s13", "  s13");
        let error = combined.add(Path::new("three"), &report(&moved)).unwrap_err().to_string();
        assert_eq!(
            error,
            "three: taxid 13 is below taxid 1 and was below taxid 2 in an earlier report: \
             reports of different taxonomies cannot be added up; classify all samples with one \
             database"
        );
        let [first, other] = [b"B", b"C"].map(|name| name.to_vec());
        assert_eq!(combined.renamed(), (1, Some(&RenamedTaxon { taxid: 2, first, other })));
        let warnings = Warnings::default();
        combined.warn(&warnings);
        combined.warn_of_minimizers(&warnings);
        assert_eq!(
            warnings.all(),
            [
                "names differ between reports (1 time; taxid 2 is B and C): the first ones are taken; are they of the \
              same taxonomy?"
            ]
        );
    }

    #[test]
    fn no_reads_are_no_per_cent() {
        let mut combined = CombinedReports::default();
        combined.add(Path::new("one"), &report("-nan\t0\t0\tR\t1\troot\n")).unwrap();
        let mut text = Vec::new();
        let table = CombinedTable { head: None, samples: true };
        combined.write_table(&table, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(
            text,
            "0.0000\t0\t0\t0\t0\tU\t0\tunclassified\n0.0000\t0\t0\t0\t0\tR\t1\troot\n"
        );
    }
}
