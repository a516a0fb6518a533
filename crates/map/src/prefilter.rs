//! How the rules of the crate `filter`, which compare sequences of equal length, are asked about
//! candidates.
//!
//! A hit near a candidate may begin and end up to e bases beside its diagonal, so that its distance
//! to the segment on the diagonal can be twice e: filtering by the segment alone, as mrFAST does
//! with GateKeeper-GPU, loses hits. The read is therefore extended on both sides by letters that
//! match everything and the segment by what is beside it; the rules then see the whole path of a
//! hit. SneakySnake's rule may still charge one edit where the path leaves the extension at each
//! side, for which it is granted two more.

use merganser_seq::planes;
use merganser_seq::simd::Level;

use crate::queries::Query;

/// Bases of the extension beyond the edits: a run of matches of three is never taken for chance.
pub(crate) const MARGIN: usize = 4;
/// Appends the three planes of an extended query.
pub(crate) fn pack_letters(letters: &[u8], words: &mut Vec<u64>) {
    let encoded = planes::encode(Level::best(), letters, words);
    debug_assert_eq!(encoded, planes::Encoded::Others, "the extension is no base");
}

/// The letters of a query between letters that match everything.
pub(crate) fn extended(query: &Query<'_>, margin: usize, letters: &mut Vec<u8>) {
    letters.clear();
    letters.resize(margin, b'N');
    letters.extend((0..query.len).map(|at| b"ACGTN"[usize::from(query.code(at))]));
    letters.resize(query.len + 2 * margin, b'N');
}
