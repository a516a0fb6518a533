//! Verification with substitutions only: counts the mismatches on each diagonal of a window.

use merganser_run::Cancel;

use super::{End, Window};
use crate::NMode;
use crate::queries::Query;
use crate::reference::Text;

/// The number of diagonals between two checks for cancellation.
const DIAGONALS: i64 = 1 << 14;

/// Appends the good ends of a window's diagonals. After a cancellation, some are missing.
pub(crate) fn ends(
    number: u32,
    query: &Query<'_>,
    bounds: &Window,
    text: &Text<'_>,
    mode: NMode,
    cancel: &Cancel,
    ends: &mut Vec<End>,
) {
    let last = bounds.first + i64::from(bounds.width);
    let mut contig = text.contig_at(bounds.first);
    while let Some(within) = text.contigs.get(contig) {
        let from = bounds.first.max(i64::from(within.start));
        let to = last.min(i64::from(within.end()) - query.len as i64);
        if i64::from(within.start) > last {
            return;
        }
        for diagonal in from..=to {
            if diagonal % DIAGONALS == 0 && cancel.is_cancelled() {
                return;
            }
            if let Some(edits) = differences(query, text, diagonal as usize, mode) {
                let position = (diagonal as usize + query.len - 1) as u32;
                ends.push(End { query: number, position, edits });
            }
        }
        contig += 1;
    }
}

/// Returns the number of mismatches on a diagonal, or `None` if there are too many.
fn differences(query: &Query<'_>, text: &Text<'_>, at: usize, mode: NMode) -> Option<u32> {
    let mut edits = 0;
    for word in 0..query.low.len() {
        edits += query.mismatches(text, at + 64 * word, word, mode).count_ones();
        if edits as usize > query.edits {
            return None;
        }
    }
    Some(edits)
}
