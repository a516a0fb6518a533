//! Selection of clades of a report.

use std::collections::HashSet;
use std::path::Path;

use merganser_run::{ConfigError, Warnings, counted};
use serde::Serialize;

use super::{KrakenReport, percent};
use crate::Error;

/// The clades of a report to keep; by default all.
// The doc comments of options are the help texts of the command line.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct ReportSelection {
    /// Keep the clades of these taxa; 0 selects the unclassified reads
    // If this is empty and a rank is given, clades of any taxon are selected. The program also takes names.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub taxid: Vec<u64>,
    /// Keep the clades of taxa with this rank, e.g. species or S; with --taxid, only those within its clades
    #[cfg_attr(feature = "cli", arg(long, value_name = "RANK", value_parser = super::rank_code))]
    pub rank: Option<String>,
    /// Drop the clades that --taxid and --rank select, and keep the rest
    #[cfg_attr(feature = "cli", arg(long))]
    pub exclude: bool,
    /// Merge clades with fewer reads into the taxon above
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t))]
    #[cfg_attr(feature = "cli", arg(hide_default_value = true))]
    pub min_reads: u64,
    /// Merge clades with a smaller share of the kept reads into the taxon above
    #[cfg_attr(feature = "cli", arg(long, value_name = "PERCENT", default_value_t))]
    #[cfg_attr(feature = "cli", arg(hide_default_value = true))]
    pub min_percent: f64,
}

/// The result of a selection.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SelectedReport {
    /// The report of the kept rows.
    pub report: KrakenReport,
    /// The selected taxids that the report lacks.
    pub missing: Vec<u64>,
    /// The selected rank, if no taxon of the report has it.
    pub missing_rank: Option<String>,
    /// Whether columns of minimizers were removed, because the minimizers of the removed reads are unknown.
    pub without_minimizers: bool,
}

impl SelectedReport {
    /// Warns of selected taxa and ranks that the report lacks, and of columns that were removed. `path` is the file of
    /// the report, if it was read from one.
    pub fn warn(&self, path: Option<&Path>, warnings: &Warnings) {
        let file = path.map(|path| format!("{}: ", path.display())).unwrap_or_default();
        if let Some(first) = self.missing.first() {
            let count = counted(self.missing.len() as u64, "taxid");
            warnings.push(format!("{file}not in the report: {count}, first {first}"));
        }
        if let Some(rank) = &self.missing_rank {
            warnings.push(format!("{file}no taxon of the report has rank {rank}"));
        }
        if self.without_minimizers {
            warnings.push(
                "minimizers are left out: a report does not tell which minimizers the kept reads have",
            );
        }
    }
}

impl ReportSelection {
    /// Checks that the values are in range and consistent.
    ///
    /// # Errors
    /// If they are not; the error names the option.
    pub fn validate(&self) -> Result<(), Error> {
        if !(0.0..=100.0).contains(&self.min_percent) {
            let what = format!("`min_percent` {}: give a number from 0 to 100", self.min_percent);
            return Err(Error::Config(ConfigError::new(what)));
        }
        if self.exclude && self.taxid.is_empty() && self.rank.is_none() {
            return Err(Error::Config(ConfigError::new(
                "`exclude` requires a selection: give `taxid` or `rank`",
            )));
        }
        Ok(())
    }

    /// Returns the report of the kept clades, in the order of the rows. A clade is kept with all taxa below it; taxa
    /// above it are kept with only the reads of kept clades. An excluded clade is subtracted from all taxa above it.
    /// Removed reads no longer count: percentages are those of the kept reads. Afterwards, clades with too few
    /// reads are merged into the nearest kept taxon above, which changes no sum.
    ///
    /// # Errors
    /// The errors of [`validate`](Self::validate).
    pub fn apply(&self, report: &KrakenReport) -> Result<SelectedReport, Error> {
        self.validate()?;
        let known: HashSet<u64> = report.rows.iter().map(|row| row.taxid).collect();
        let missing = self.taxid.iter().copied().filter(|taxid| !known.contains(taxid)).collect();
        let is_missing = |rank: &&String| !report.rows.iter().any(|row| row.has_rank(rank));
        let missing_rank = self.rank.as_ref().filter(is_missing).cloned();
        let (mut report, mut without_minimizers) = (report.clone(), false);
        if !self.taxid.is_empty() || self.rank.is_some() {
            let chosen = self.chosen(&report);
            let changed = if self.exclude {
                without(&mut report, &chosen)
            } else {
                only(&mut report, &chosen)
            };
            without_minimizers = changed && report.has_minimizers();
            if without_minimizers {
                report.rows.iter_mut().for_each(|row| row.minimizers = None);
            }
        }
        self.fold(&mut report);
        let total = report.total();
        report.rows.iter_mut().for_each(|row| row.percent = percent(row.clade, total));
        Ok(SelectedReport { report, missing, missing_rank, without_minimizers })
    }

    /// Returns whether each row is in a selected clade.
    fn chosen(&self, report: &KrakenReport) -> Vec<bool> {
        let taxids: HashSet<u64> = self.taxid.iter().copied().collect();
        let mut within = Vec::with_capacity(report.rows.len());
        let mut chosen: Vec<bool> = Vec::with_capacity(report.rows.len());
        for row in &report.rows {
            let above = |flags: &[bool]| row.parent.is_some_and(|parent| flags[parent]);
            let named = if taxids.is_empty() {
                !row.is_unclassified()
            } else {
                taxids.contains(&row.taxid)
            };
            let is_within = named || above(&within);
            let ranked = self.rank.as_ref().is_none_or(|rank| row.has_rank(rank));
            chosen.push((is_within && ranked) || above(&chosen));
            within.push(is_within);
        }
        chosen
    }

    /// Merges clades with too few reads into the taxa above.
    fn fold(&self, report: &mut KrakenReport) {
        let total = report.total();
        let share = |clade: u64| 100.0 * clade as f64 / total.max(1) as f64;
        let stays: Vec<bool> = report
            .rows
            .iter()
            .map(|row| {
                row.depth == 0
                    || (row.clade >= self.min_reads && share(row.clade) >= self.min_percent)
            })
            .collect();
        for at in 0..report.rows.len() {
            let row = &report.rows[at];
            // The taxa below it are merged together with it.
            if let Some(parent) = row.parent.filter(|&parent| !stays[at] && stays[parent]) {
                report.rows[parent].own += row.clade;
            }
        }
        keep(report, &stays);
    }
}

/// Keeps the selected rows, and the rows above with only their reads; returns whether any row above changed.
fn only(report: &mut KrakenReport, chosen: &[bool]) -> bool {
    let rows = &mut report.rows;
    let mut stays = chosen.to_vec();
    let mut sums = vec![0; rows.len()];
    let mut changed = false;
    for at in (0..rows.len()).rev() {
        if !chosen[at] {
            changed |= rows[at].clade != sums[at] || rows[at].own > 0;
            (rows[at].clade, rows[at].own) = (sums[at], 0);
        }
        if let Some(parent) = rows[at].parent {
            sums[parent] += rows[at].clade;
            stays[parent] |= stays[at];
        }
    }
    // A report needs at least its top row.
    for (stays, row) in stays.iter_mut().zip(&*rows) {
        *stays |= row.depth == 0 && !row.is_unclassified();
    }
    keep(report, &stays);
    changed
}

/// Removes the selected rows, and subtracts their reads from those above; returns whether any row changed.
fn without(report: &mut KrakenReport, chosen: &[bool]) -> bool {
    let rows = &mut report.rows;
    let had_reads: Vec<bool> = rows.iter().map(|row| row.clade > 0).collect();
    let mut gone = vec![0; rows.len()];
    for at in (0..rows.len()).rev() {
        let lost = if chosen[at] { rows[at].clade } else { gone[at] };
        if !chosen[at] {
            rows[at].clade -= lost;
        }
        if let Some(parent) = rows[at].parent {
            gone[parent] += lost;
        }
    }
    let mut stays: Vec<bool> = chosen.iter().map(|chosen| !chosen).collect();
    for (at, row) in rows.iter_mut().enumerate() {
        let is_top = row.depth == 0 && !row.is_unclassified();
        if is_top && chosen[at] {
            (row.clade, row.own) = (0, 0);
        }
        // A taxon that never had reads is removed with the taxon above it, which may have lost its last ones.
        let is_below_kept = row.parent.is_none_or(|parent| stays[parent]);
        stays[at] = is_top || (stays[at] && is_below_kept && (row.clade > 0 || !had_reads[at]));
    }
    keep(report, &stays);
    gone.iter().any(|&lost| lost > 0)
}

/// Keeps the rows for which `stays` is true; the parent of each must be kept as well.
fn keep(report: &mut KrakenReport, stays: &[bool]) {
    let mut places = Vec::with_capacity(stays.len());
    let mut next = 0;
    for &stay in stays {
        places.push(next);
        next += usize::from(stay);
    }
    let mut at = 0;
    report.rows.retain_mut(|row| {
        row.parent = row.parent.map(|parent| places[parent]);
        at += 1;
        stays[at - 1]
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "0\t5\t5\tU\t0\tunclassified\n0\t95\t5\tR\t1\troot\n0\t90\t0\tD\t2\t  B\n\
                        0\t60\t10\tG\t10\t    g10\n0\t40\t30\tS\t11\t      s11\n0\t10\t10\tS1\t13\t        s13\n\
                        0\t10\t10\tS\t12\t      s12\n0\t30\t0\tG\t20\t    g20\n0\t30\t30\tS\t21\t      s21\n";

    fn shown(selection: ReportSelection) -> Vec<(u64, u64, u64)> {
        let report = KrakenReport::of_text(TEXT.as_bytes()).unwrap();
        let found = selection.apply(&report).unwrap().report;
        check(&found);
        found.rows.iter().map(|row| (row.taxid, row.clade, row.own)).collect()
    }

    /// Checks that the report can be read back, and that each clade is the sum of its parts.
    fn check(report: &KrakenReport) {
        let mut text = Vec::new();
        report.write(&mut text).unwrap();
        assert_eq!(&KrakenReport::of_text(&text).unwrap(), &report.clone());
        for (at, children) in report.children().iter().enumerate() {
            let sum: u64 = children.iter().map(|&child| report.rows[child].clade).sum();
            assert_eq!(report.rows[at].clade, report.rows[at].own + sum);
        }
    }

    #[test]
    fn clades_stay_or_go() {
        let all = ReportSelection::default;
        assert_eq!(
            shown(ReportSelection { taxid: vec![10], ..all() }),
            [(1, 60, 0), (2, 60, 0), (10, 60, 10), (11, 40, 30), (13, 10, 10), (12, 10, 10)]
        );
        assert_eq!(
            shown(ReportSelection { taxid: vec![10], exclude: true, ..all() }),
            [(0, 5, 5), (1, 35, 5), (2, 30, 0), (20, 30, 0), (21, 30, 30)]
        );
        assert_eq!(
            shown(ReportSelection { taxid: vec![0, 12], ..all() }),
            [(0, 5, 5), (1, 10, 0), (2, 10, 0), (10, 10, 0), (12, 10, 10)]
        );
        assert_eq!(
            shown(ReportSelection { taxid: vec![0, 2], exclude: true, ..all() }),
            [(1, 5, 5)]
        );
        assert_eq!(shown(ReportSelection { taxid: vec![99], ..all() }), [(1, 0, 0)]);
        assert_eq!(
            shown(ReportSelection { taxid: vec![1], exclude: true, ..all() }),
            [(0, 5, 5), (1, 0, 0)]
        );
    }

    #[test]
    fn ranks_choose_within_clades() {
        let all = ReportSelection::default;
        assert_eq!(
            shown(ReportSelection { rank: Some("S".into()), taxid: vec![20], ..all() }),
            [(1, 30, 0), (2, 30, 0), (20, 30, 0), (21, 30, 30)]
        );
        let species = shown(ReportSelection { rank: Some("S".into()), ..all() });
        assert_eq!(species[..3], [(1, 80, 0), (2, 80, 0), (10, 50, 0)]);
        // Without the taxa below species.
        let above = shown(ReportSelection { rank: Some("S1".into()), exclude: true, ..all() });
        assert_eq!(above[4], (11, 30, 30));
        assert!(above.iter().all(|row| row.0 != 13));
    }

    #[test]
    fn taxa_without_reads_go_with_the_taxon_above() {
        let text = "0\t5\t0\tR\t1\troot\n0\t5\t0\tD\t2\t  B\n0\t5\t5\tG\t10\t    g10\n\
                    0\t0\t0\tG\t20\t    g20\n0\t0\t0\tD\t3\t  A\n0\t0\t0\tG\t30\t    g30\n";
        let report = KrakenReport::of_text(text.as_bytes()).unwrap();
        let selection =
            ReportSelection { taxid: vec![10], exclude: true, ..ReportSelection::default() };
        let found = selection.apply(&report).unwrap().report;
        check(&found);
        let taxids: Vec<u64> = found.rows.iter().map(|row| row.taxid).collect();
        assert_eq!(taxids, [1, 3, 30]);
    }

    #[test]
    fn what_is_small_counts_for_the_taxon_above() {
        let all = ReportSelection::default;
        assert_eq!(
            shown(ReportSelection { min_reads: 30, ..all() }),
            [
                (0, 5, 5),
                (1, 95, 5),
                (2, 90, 0),
                (10, 60, 20),
                (11, 40, 40),
                (20, 30, 0),
                (21, 30, 30)
            ]
        );
        assert_eq!(
            shown(ReportSelection { min_percent: 50.0, ..all() }),
            [(0, 5, 5), (1, 95, 5), (2, 90, 30), (10, 60, 60)]
        );
        // The percentage is that of the kept reads.
        assert_eq!(
            shown(ReportSelection { taxid: vec![20], min_percent: 100.0, ..all() }).len(),
            4
        );
    }

    #[test]
    fn minimizers_of_clades_that_lost_reads_are_unknown() {
        let text = TEXT.replace("\tU\t", "\t9\t8\tU\t").replace("\tR\t", "\t9\t8\tR\t");
        let text: String = text
            .lines()
            .map(|line| match line.contains("\t9\t8\t") {
                true => format!("{line}\n"),
                false => {
                    let cells: Vec<&str> = line.splitn(4, '\t').collect();
                    format!("{}\t{}\t{}\t9\t8\t{}\n", cells[0], cells[1], cells[2], cells[3])
                }
            })
            .collect();
        let report = KrakenReport::of_text(text.as_bytes()).unwrap();
        let apply = |selection: ReportSelection| selection.apply(&report).unwrap();
        assert!(
            apply(ReportSelection { taxid: vec![10], ..ReportSelection::default() })
                .without_minimizers
        );
        assert!(
            !apply(ReportSelection { taxid: vec![0, 1], ..ReportSelection::default() })
                .without_minimizers
        );
        let folded = apply(ReportSelection { min_reads: 30, ..ReportSelection::default() });
        assert!(!folded.without_minimizers && folded.report.has_minimizers());
        assert_eq!(
            apply(ReportSelection { taxid: vec![7, 10, 8], ..ReportSelection::default() }).missing,
            [7, 8]
        );
    }

    #[test]
    fn values_out_of_range_are_refused() {
        assert!(
            ReportSelection { min_percent: 101.0, ..ReportSelection::default() }
                .validate()
                .is_err()
        );
        assert!(
            ReportSelection { exclude: true, ..ReportSelection::default() }.validate().is_err()
        );
    }

    /// The report of a random tree.
    fn reports() -> impl Strategy<Value = KrakenReport> {
        proptest::collection::vec((0usize..4, 0u64..9), 1..30).prop_map(|rows| {
            let mut depths = vec![0usize];
            rows.iter().for_each(|(up, _)| {
                let last = depths[depths.len() - 1];
                depths.push((last + 1).saturating_sub(*up).max(1));
            });
            let own: Vec<u64> = [1].into_iter().chain(rows.iter().map(|row| row.1)).collect();
            let clade = |at: usize| -> u64 {
                let below = depths[at + 1..].iter().take_while(|&&depth| depth > depths[at]);
                own[at..=at + below.count()].iter().sum()
            };
            let line = |at: usize| {
                let rank = ["R", "D", "G", "S", "S1"][depths[at].min(4)];
                let blanks = "  ".repeat(depths[at]);
                format!("0\t{}\t{}\t{rank}\t{}\t{blanks}x\n", clade(at), own[at], at + 1)
            };
            let text: String = (0..own.len()).map(line).collect();
            KrakenReport::of_text(text.as_bytes()).unwrap()
        })
    }

    proptest! {
        #[test]
        fn any_selection_is_a_report(
            report in reports(), taxids in proptest::collection::vec(1u64..32, 0..4),
            exclude: bool, least in 0u64..12,
        ) {
            let exclude = exclude && !taxids.is_empty();
            let selection =
                ReportSelection { taxid: taxids.clone(), exclude, min_reads: least, ..ReportSelection::default() };
            let found = selection.apply(&report).unwrap().report;
            check(&found);
            prop_assert!(found.rows.iter().all(|row| row.depth == 0 || row.clade >= least));
            // Sums the reads of the rows in the selected clades one by one.
            let within = |mut at: usize| loop {
                if taxids.contains(&report.rows[at].taxid) {
                    return true;
                }
                match report.rows[at].parent {
                    Some(parent) => at = parent,
                    None => return false,
                }
            };
            let stays = |at: &usize| taxids.is_empty() || within(*at) != exclude;
            let expected: u64 =
                (0..report.rows.len()).filter(stays).map(|at| report.rows[at].own).sum();
            prop_assert_eq!(found.total(), expected);
        }
    }
}
