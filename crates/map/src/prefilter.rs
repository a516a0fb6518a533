//! Application of the `filter` crate's rules, which compare sequences of equal length, to candidates.
//!
//! A hit near a candidate may begin and end up to e bases away from its diagonal, so its distance to the
//! segment on the diagonal can be 2e: filtering by that segment alone, as mrFAST does with GateKeeper-GPU,
//! loses hits. Therefore the read is extended on both sides with letters that match everything, and the segment
//! with the bases around it; the rules then see the whole path of a hit. SneakySnake's rule may still charge
//! one edit on each side where the path leaves the extension, so its threshold is raised by two.

use merganser_seq::planes;
use merganser_seq::simd::Level;

use crate::queries::Query;

/// Bases of the extension beyond the edits: more than the runs of one or two matches that GateKeeper's rule treats as
/// chance matches.
pub(crate) const MARGIN: usize = 4;
/// Appends the three bit planes of an extended query.
pub(crate) fn pack_letters(letters: &[u8], words: &mut Vec<u64>) {
    let encoded = planes::encode(Level::best(), letters, words);
    debug_assert_eq!(encoded, planes::Encoded::Others, "the extension is no base");
}

/// Writes the letters of a query, with `margin` letters on each side that match everything.
pub(crate) fn extended(query: &Query<'_>, margin: usize, letters: &mut Vec<u8>) {
    letters.clear();
    letters.resize(margin, b'N');
    letters.extend((0..query.len).map(|at| b"ACGTN"[usize::from(query.code(at))]));
    letters.resize(query.len + 2 * margin, b'N');
}
