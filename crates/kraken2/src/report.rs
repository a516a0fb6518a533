//! The report of Kraken 2.

use std::collections::HashMap;
use std::io::{self, Write};

use super::counts::Kraken2Counts;
use super::distinct::Sketch;
use super::std_sort::std_sort;
use super::taxonomy::Kraken2Taxonomy;
use merganser_taxreport::by_database::{DatabaseReads, DatabaseRow};
use merganser_taxreport::report::{KrakenRow, KrakenRows, RankCode};

/// Optional content of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kraken2ReportOptions {
    /// Whether taxa without reads are listed as well.
    pub zero_counts: bool,
    /// Whether there are two more columns: the minimizers that were found in each clade, and an estimate of
    /// how many of them are distinct.
    pub minimizers: bool,
}

/// The sums of a clade; `some` is false if nothing was found in it.
#[derive(Clone, Copy, Debug, Default)]
struct Clade {
    reads: u64,
    minimizers: u64,
    distinct: u64,
    some: bool,
}

impl Kraken2Counts {
    /// Writes the report: percentage of all reads, reads of the clade, reads of the taxon itself, rank,
    /// taxid, and the name, indented by two blanks per level. Unclassified reads come first, then the tree in
    /// preorder, siblings by descending reads. `tree` is the taxonomy of the database.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_report(
        &self,
        tree: &Kraken2Taxonomy,
        options: Kraken2ReportOptions,
        output: &mut dyn Write,
    ) -> io::Result<()> {
        let clades = self.clades(tree, options.minimizers);
        let report = Report { counts: self, tree, options, clades };
        let mut rows = KrakenRows::new(output);
        if self.unclassified != 0 || options.zero_counts {
            let clade = Clade { reads: self.unclassified, ..Clade::default() };
            let own = self.unclassified;
            rows.write(&KrakenRow {
                own,
                rank: &'U',
                name: b"unclassified",
                ..report.row(&clade)
            })?;
        }
        report.write_tree(&mut rows)
    }

    /// Writes a table of the reads that each database supports, if the run [counted](crate::Kraken2Config::database_report)
    /// them: for each taxon with reads, in the order of the report, the reads of the clade and of the taxon itself, in all
    /// and for each database. A database supports a read if it has at least one of the read's k-mers whose taxon is in the
    /// clade of the read's taxon.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_database_report(
        &self,
        tree: &Kraken2Taxonomy,
        output: &mut dyn Write,
    ) -> io::Result<()> {
        let supported =
            self.by_database.clades(|node| Some(tree.parent(node)).filter(|&node| node != 0));
        let clades = self.clades(tree, false);
        let options = Kraken2ReportOptions::default();
        let report = Report { counts: self, tree, options, clades };
        self.by_database.write_head(output)?;
        report.each_taxon(|Waiting { node, code, .. }| {
            let clade = report.clades[node as usize].reads;
            let row = DatabaseRow {
                taxid: tree.taxid(node),
                rank: &code,
                name: tree.name(node),
                reads: [clade, self.own(node)],
                by_clade: supported.get(&node).map_or(&[], Vec::as_slice),
                by_node: &self.by_database.own(node),
            };
            DatabaseReads::write_row(&row, output)
        })
    }

    /// Computes the sums of all clades.
    fn clades(&self, tree: &Kraken2Taxonomy, distinct: bool) -> Vec<Clade> {
        let mut clades = vec![Clade::default(); tree.len()];
        for (&node, counts) in &self.taxa {
            let clade = &mut clades[node as usize];
            (clade.reads, clade.minimizers, clade.some) = (counts.reads, counts.minimizers, true);
        }
        let mut sketches: HashMap<u32, Sketch> = HashMap::new();
        for node in (1..tree.len()).rev() {
            let clade = clades[node];
            if !clade.some {
                continue;
            }
            let parent = tree.parent(node as u32);
            if distinct {
                let mut sketch = sketches.remove(&(node as u32)).unwrap_or_default();
                if let Some(own) = self.sketches.get(&(node as u32)) {
                    sketch.merge(own.clone());
                }
                clades[node].distinct = sketch.estimate(clade.minimizers);
                sketches.entry(parent).or_default().merge(sketch);
            }
            let above = &mut clades[parent as usize];
            above.reads += clade.reads;
            above.minimizers += clade.minimizers;
            above.some = true;
        }
        clades
    }
}

struct Report<'a> {
    counts: &'a Kraken2Counts,
    tree: &'a Kraken2Taxonomy,
    options: Kraken2ReportOptions,
    clades: Vec<Clade>,
}

/// A taxon whose row is still to be written.
#[derive(Clone, Copy)]
struct Waiting {
    node: u32,
    depth: usize,
    code: RankCode,
}

impl Report<'_> {
    fn write_tree(&self, rows: &mut KrakenRows<'_>) -> io::Result<()> {
        self.each_taxon(|Waiting { node, depth, code }| {
            rows.write(&KrakenRow {
                own: self.counts.own(node),
                rank: &code,
                taxid: self.tree.taxid(node).into(),
                depth,
                name: self.tree.name(node),
                ..self.row(&self.clades[node as usize])
            })
        })
    }

    /// Calls `write` for the taxa of the report, in its order.
    fn each_taxon(&self, mut write: impl FnMut(Waiting) -> io::Result<()>) -> io::Result<()> {
        let letter = |node: u32| self.tree.letter(node);
        let root = self.tree.root();
        let code =
            letter(root).map_or(RankCode::ROOT, |letter| RankCode { letter, ..RankCode::ROOT });
        let mut stack = vec![Waiting { node: root, depth: 0, code }];
        while let Some(taxon) = stack.pop() {
            let Waiting { node, depth, code } = taxon;
            if self.clades[node as usize].reads == 0 && !self.options.zero_counts {
                continue;
            }
            write(taxon)?;
            let children = self.children(node).into_iter().rev();
            stack.extend(children.map(|node| Waiting {
                node,
                depth: depth + 1,
                code: code.below(letter(node)),
            }));
        }
        Ok(())
    }

    /// Returns the children of a node in the order in which they are written.
    fn children(&self, node: u32) -> Vec<u32> {
        let mut children: Vec<u32> = self.tree.children(node).collect();
        std_sort(&mut children, |one, other| {
            let [one, other] = [one, other].map(|node| self.clades[node as usize]);
            one.some && (!other.some || one.reads > other.reads)
        });
        children
    }

    /// Returns the columns before the rank of a row without reads of its own.
    fn row(&self, clade: &Clade) -> KrakenRow<'_> {
        let all = self.counts.reads;
        KrakenRow {
            percent: (all > 0).then(|| 100.0 * clade.reads as f64 / all as f64),
            clade: clade.reads,
            own: 0,
            minimizers: self.options.minimizers.then_some([clade.minimizers, clade.distinct]),
            rank: &'U',
            taxid: 0,
            depth: 0,
            name: b"",
        }
    }
}
