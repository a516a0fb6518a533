//! Hits: their order, and the mapping quality of the first one.

use crate::Select;

/// A hit of a read. Hits are reported in the order of this type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hit {
    pub(crate) edits: u32,
    pub(crate) contig: u32,
    /// The position of the last base.
    pub(crate) end: u32,
    pub(crate) reverse: bool,
    /// The index where its script begins, or [`NO_SCRIPT`]: see [`crate::trace::Alignment::follow`].
    pub(crate) script: u32,
}

/// The value of [`Hit::script`] for a hit without a script.
pub(crate) const NO_SCRIPT: u32 = u32::MAX;

/// Returns the hits of one of several reads, given those of all reads and the end of each read's hits.
pub(crate) fn hits_of<'h>(hits: &'h [Hit], bounds: &[usize], at: usize) -> &'h [Hit] {
    let start = if at == 0 { 0 } else { bounds[at - 1] };
    &hits[start..bounds[at]]
}

/// The maximum number of edits more than the best hit with which hits affect mapping qualities, if not all hits
/// are reported. Others need not be found.
pub(crate) const NEXT_STRATA: u32 = 1;

/// The number of rivals from which on the mapping quality of a best hit is the lowest.
pub(crate) const MAX_RIVALS: u32 = 1 << 8;

/// Numbers of edits in ascending order, each with the number of hits or combinations that have it.
pub(crate) trait Strata: Iterator<Item = (u32, u64)> {}
impl<I: Iterator<Item = (u32, u64)>> Strata for I {}

/// Returns the strata of sorted hits.
pub(crate) fn strata(hits: &[Hit]) -> impl Strata + Clone {
    let strata = hits.chunk_by(|a, b| a.edits == b.edits);
    strata.map(|stratum| (stratum[0].edits, stratum.len() as u64))
}

/// Returns the mapping quality of the first hit or combination, given the strata: all of them or, if not all
/// hits are reported, at least the first ones. `room` is the number of edits that the first hit could have in
/// addition; for combinations it is that of the mate closer to its maximum.
pub(crate) fn quality(select: Select, strata: impl Strata, room: u32) -> u8 {
    match select {
        Select::All => among_all(strata),
        Select::Best | Select::BestStrata => among_first(strata, room),
    }
}

/// Returns the mapping quality by the difference in edits between the first and the second stratum.
fn among_all(mut strata: impl Strata) -> u8 {
    match strata.next() {
        None | Some((_, 2..)) => 0,
        Some((best, _)) => strata.next().map_or(60, |(next, _)| (10 * (next - best)).min(50)) as u8,
    }
}

/// Returns the mapping quality by the number of hits with one more edit or, without such hits, by how many more
/// edits were searched. The values follow from error rates of simulated reads: see docs/guide/map.md.
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
