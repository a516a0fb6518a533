//! Overhangs: patterns that extend beyond the start or the end of a text, at a cost for each letter outside, as Sassy's
//! `alpha` (Beeloo and Groot Koerkamp 2025).

use crate::letters::text_bases;
use crate::queries::{Queries, Query};
use crate::scan::PieceEnd;
use crate::searcher::Text;
use crate::select::End;

/// The cost of a letter outside a text, from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overhang(pub(crate) f64);

impl Overhang {
    /// Returns the edits that a number of letters on one side of a text count as.
    pub(crate) fn cost(self, letters: usize) -> usize {
        (self.0 * letters as f64).floor() as usize
    }
}

/// Appends the ends of a query after the last letter of a text: the end at position n + i has i letters outside the text
/// of n letters, and at least one inside. An empty text has no ends.
pub(crate) fn ends_after(
    queries: &Queries,
    overhang: Overhang,
    (number, query): (u32, &Query),
    (piece, text): (u32, &Text<'_>),
    ends: &mut Vec<PieceEnd>,
) {
    let (letters, rows) = (text.letters, query.sets.len());
    if letters.is_empty() {
        return;
    }
    let from = letters.len().saturating_sub(rows + query.edits);
    let begins = from == 0 && !text.goes_on[0];
    let mut column: Vec<usize> =
        (0..=rows).map(|row| if begins { overhang.cost(row) } else { row }).collect();
    for &letter in &letters[from..] {
        let bases = text_bases(letter, queries.n_matches());
        let mut diagonal = 0;
        for (row, &set) in (1..).zip(&query.sets) {
            let cost = diagonal + usize::from(set & bases == 0);
            diagonal = column[row];
            column[row] = cost.min(diagonal + 1).min(column[row - 1] + 1);
        }
    }
    for outside in 1..rows {
        let edits = column[rows - outside] + overhang.cost(outside);
        if edits <= query.edits {
            let end = End { position: letters.len() + outside, edits };
            ends.push(PieceEnd { piece, query: number, end });
        }
    }
}
