//! Hits: their order, and how sure the first one is.

use crate::Select;

/// A hit of a read. The order is that in which hits are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hit {
    pub(crate) edits: u32,
    pub(crate) contig: u32,
    /// The position of the last base.
    pub(crate) end: u32,
    pub(crate) reverse: bool,
    /// Where its script begins, if a device made one: see [`crate::trace::Alignment::follow`].
    pub(crate) script: u32,
}

/// A hit without a script.
pub(crate) const NO_SCRIPT: u32 = u32::MAX;

/// Where not all hits are wanted, those with up to so many edits more than the best ones count for mapping
/// qualities, and others need not be found.
pub(crate) const NEXT_STRATA: u32 = 1;

/// From so many rivals on, the mapping quality of a best hit is the least.
pub(crate) const MAX_RIVALS: u32 = 1 << 8;

/// The edits of hits or combinations in ascending order, each with the number of those that have so many.
pub(crate) trait Strata: Iterator<Item = (u32, u64)> {}
impl<I: Iterator<Item = (u32, u64)>> Strata for I {}

/// The strata of hits in their order.
pub(crate) fn strata(hits: &[Hit]) -> impl Strata + Clone {
    let strata = hits.chunk_by(|a, b| a.edits == b.edits);
    strata.map(|stratum| (stratum[0].edits, stratum.len() as u64))
}

/// The mapping quality of the first of some hits or combinations, given their strata: all of them, or where not all are
/// wanted the first ones at least. `room` is how many edits more the first one could have, of combinations the mate that
/// is nearer to its most.
pub(crate) fn quality(select: Select, strata: impl Strata, room: u32) -> u8 {
    match select {
        Select::All => among_all(strata),
        Select::Best | Select::BestStrata => among_first(strata, room),
    }
}

/// By how many edits the next hit has more.
fn among_all(mut strata: impl Strata) -> u8 {
    match strata.next() {
        None | Some((_, 2..)) => 0,
        Some((best, _)) => strata.next().map_or(60, |(next, _)| (10 * (next - best)).min(50)) as u8,
    }
}

/// By how many hits have one edit more, or by how many edits more were looked for: what the error rates of simulated
/// reads come to, as docs/map.md has them.
fn among_first(mut strata: impl Strata, room: u32) -> u8 {
    let Some((best, 1)) = strata.next() else { return 0 };
    match strata.next().filter(|&(next, _)| next <= best + NEXT_STRATA) {
        None => (30 + 10 * room).min(60) as u8,
        Some((_, rivals)) => {
            let doublings = rivals.min(MAX_RIVALS.into()).ilog2();
            25u32.saturating_sub(3 * doublings).max(1) as u8
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualities() {
        let of = |select, edits: &[u32], room| {
            let strata = edits.chunk_by(|a, b| a == b);
            quality(select, strata.map(|same| (same[0], same.len() as u64)), room)
        };
        let all = |edits: &[u32]| of(Select::All, edits, 9);
        assert_eq!([all(&[3]), all(&[1, 1]), all(&[0, 2, 2]), all(&[0, 9])], [60, 0, 20, 50]);
        for select in [Select::Best, Select::BestStrata] {
            let best = |edits: &[u32]| of(select, edits, 9);
            assert_eq!([best(&[]), best(&[1, 1, 2]), best(&[1, 3]), best(&[1])], [0, 0, 60, 60]);
            let rivals = |count| best(&[vec![0], vec![1; count], vec![2; 9]].concat());
            assert_eq!([1, 2, 3, 4, 8, 255, 256, 9999].map(rivals), [25, 22, 22, 19, 16, 4, 1, 1]);
            assert_eq!([0, 1, 2, 3, 4].map(|room| of(select, &[5], room)), [30, 40, 50, 60, 60]);
        }
    }
}
