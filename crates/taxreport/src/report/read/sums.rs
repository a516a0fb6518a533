//! Sums of a report: each clade has the reads of its taxon and of the clades below it.

use super::ReportRow;

/// Reads that clades have and no row does.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Gaps {
    /// Clades with such reads,
    pub(super) clades: u64,
    /// and the row of the first.
    pub(super) first: usize,
    /// Reads of all rows themselves, as the report has them.
    pub(super) held: u64,
    /// Reads of all clades at the top.
    pub(super) total: u64,
}

impl Gaps {
    /// Whether more than a thousandth of all reads are missing: Bracken loses some of clades that it
    /// leaves out.
    fn are_doubtful(&self) -> bool {
        self.clades > 0 && self.total.saturating_sub(self.held) > self.total / 1000
    }
}

/// Makes each clade the sum of its taxon and the clades below it: reads that no row has are given to the
/// taxon itself, and a clade has more reads where rounded numbers below it add up to more. Gives what is
/// missing beyond rounding, if it is more than a thousandth of all reads and not missing as Bracken's reports of a level have it: there is no row
/// of unclassified reads, each taxon has all reads of its clade or none, only the lowest ones lack any, and
/// these are all of one main rank.
///
/// # Errors
/// The first row whose taxon and clades below have more reads than the clade, beyond rounding, and their
/// sum.
pub(super) fn settle(rows: &mut [ReportRow]) -> Result<Option<Gaps>, (usize, u64)> {
    let held = rows.iter().fold(0, |sum: u64, row| sum.saturating_add(row.own));
    let mut gaps = Gaps { held, ..Gaps::default() };
    let (mut is_brackens, mut level) = (true, None);
    let mut below = vec![(0u64, 0u64); rows.len()];
    let mut wrong = None;
    // A parent comes before its children.
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

/// How far a sum may be off where numbers were rounded: by less than 1 for each row of it. Where a taxon has
/// reads of its own beside many clades, not more than a tenth of all, so that a row that is missing shows.
fn rounding(row: &ReportRow, children: u64) -> u64 {
    match (row.own, children) {
        (_, 0) => 0,
        (0, _) => children,
        _ => (children + 1).min(2 + row.clade / 10),
    }
}
