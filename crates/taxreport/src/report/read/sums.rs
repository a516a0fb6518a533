//! Consistent sums of a report: each clade has the reads of its taxon and of the clades below it.

use super::ReportRow;

/// Reads of clades that no row has.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Gaps {
    /// The number of clades with such reads.
    pub(super) clades: u64,
    /// The row of the first such clade.
    pub(super) first: usize,
    /// The sum of the reads of all taxa themselves, as in the file.
    pub(super) held: u64,
    /// The sum of the reads of all clades at depth 0.
    pub(super) total: u64,
}

impl Gaps {
    /// Whether more than a thousandth of all reads are missing; Bracken loses some reads of clades that it
    /// leaves out.
    fn are_doubtful(&self) -> bool {
        self.clades > 0 && self.total.saturating_sub(self.held) > self.total / 1000
    }
}

/// Makes each clade the sum of its taxon and the clades below it: reads that no row has are given to the taxon
/// itself, and a clade whose parts add up to more because of rounding gets their sum. Returns the reads that are
/// missing beyond rounding if they are more than a thousandth of all reads, unless they are missing as in Bracken's
/// reports of a level above species: there is no row of unclassified reads, each taxon has all reads of its clade
/// or none, only the lowest taxa lack any, and these all have the same main rank.
///
/// # Errors
/// The row whose parts have more reads than its clade, beyond rounding, and their sum. If there are several such
/// rows, the first.
pub(super) fn settle(rows: &mut [ReportRow]) -> Result<Option<Gaps>, (usize, u64)> {
    let held = rows.iter().fold(0, |sum: u64, row| sum.saturating_add(row.own));
    let mut gaps = Gaps { held, ..Gaps::default() };
    let (mut is_brackens, mut level) = (true, None);
    let mut below = vec![(0u64, 0u64); rows.len()];
    let mut wrong = None;
    // Parents come before their children.
    for at in (0..rows.len()).rev() {
        let (children, reads) = below[at];
        let row = &mut rows[at];
        let sum = row.own.saturating_add(reads);
        let rounding = rounding(row, children);
        let is_whole = row.own == 0 || (row.own == row.clade && children == 0);
        is_brackens &= is_whole && (children == 0 || row.clade <= sum + rounding);
        if children == 0 {
            let letter = row.letter().filter(|_| !row.is_unclassified());
            is_brackens &= letter.is_some() && letter == *level.get_or_insert(letter);
        }
        if sum > row.clade + rounding {
            wrong = Some((at, sum));
        } else if sum > row.clade {
            row.clade = sum;
        } else {
            if row.clade - sum > rounding {
                (gaps.clades, gaps.first) = (gaps.clades + 1, at);
            }
            row.own += row.clade - sum;
        }
        match row.parent {
            Some(parent) => {
                let (siblings, reads) = below[parent];
                below[parent] = (siblings + 1, reads.saturating_add(rows[at].clade));
            }
            None => gaps.total = gaps.total.saturating_add(row.clade),
        }
    }
    match wrong {
        Some(wrong) => Err(wrong),
        None => Ok(Some(gaps).filter(|gaps| gaps.are_doubtful() && !is_brackens)),
    }
}

/// Returns by how much a sum may differ because of rounding: by less than 1 for each of its rows. If a taxon
/// has reads of its own and many clades, the limit is about a tenth of the clade, so that a missing row is
/// detected.
fn rounding(row: &ReportRow, children: u64) -> u64 {
    match (row.own, children) {
        (_, 0) => 0,
        (0, _) => children,
        _ => (children + 1).min(2 + row.clade / 10),
    }
}
