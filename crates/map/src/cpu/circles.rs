//! Ends on circular contigs. The first bases of such a contig are in the text twice, so a good end there is found twice;
//! the second one has no more edits, because its alignment may begin before the junction.

use super::silencer::SilenceRule;
use super::verify::End;
use crate::Contig;
use crate::hits::Hit;

/// Returns the number of first bases of a circular contig at which hits of a query end in the second copy: alignments
/// that end at later bases do not reach the junction, even if all their edits are deletions.
fn second(contig: &Contig, rule: &SilenceRule<'_>) -> u32 {
    (rule.query.len as u32 + rule.reach.unwrap_or(0)).min(contig.repeated)
}

/// Puts the good ends of one query, which are sorted and distinct, to `unrolled`, those of circular contigs each at one
/// base: the contig is cut where no end silences another across the cut.
pub(super) fn unroll(ends: &[End], rule: &SilenceRule<'_>, unrolled: &mut Vec<End>) {
    unrolled.clear();
    let number = |end: &End| rule.text.contig_at(i64::from(end.position));
    for ends in ends.chunk_by(|one, two| number(one) == number(two)) {
        let contig = &rule.text.contigs[number(&ends[0])];
        let from = unrolled.len();
        unrolled.extend_from_slice(ends);
        if !contig.is_circular() {
            continue;
        }
        let own = &mut unrolled[from..];
        for end in own.iter_mut().filter(|end| end.position - contig.start >= contig.len) {
            end.position -= contig.len;
        }
        own.sort_unstable_by_key(|end| (end.position, end.edits));
        // The ends of other contigs are distinct.
        unrolled.dedup_by_key(|end| end.position);
        let own = &mut unrolled[from..];
        let (cut, mut last) = (contig.start + second(contig, rule), None);
        let moved = own.iter().take_while(|end| {
            let is_near = last.is_some_and(|last| end.position - last <= rule.farthest());
            let is_moved =
                end.position < cut || is_near && end.position - contig.start < contig.repeated;
            last = Some(end.position);
            is_moved
        });
        let moved = moved.count();
        own[..moved].iter_mut().for_each(|end| end.position += contig.len);
        own.rotate_left(moved);
    }
}

/// Moves a hit to the copy that depends on its base alone, where its alignment is complete.
pub(super) fn settle(hit: &mut Hit, rule: &SilenceRule<'_>) {
    let contig = &rule.text.contigs[hit.contig as usize];
    if contig.is_circular() {
        let at = (hit.end - contig.start) % contig.len;
        let copy = if at < second(contig, rule) { contig.len } else { 0 };
        hit.end = contig.start + at + copy;
    }
}
