//! Hits: their order, and how sure the first one is.

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

/// The mapping quality of a hit that is the only one, and the highest of one that is not.
const ONLY: u32 = 60;
const MOST: u32 = 50;

/// The mapping quality of the first of some hits or combinations, whose edits are given in order.
pub(crate) fn quality(mut edits: impl Iterator<Item = u32>) -> u8 {
    let Some(best) = edits.next() else { return 0 };
    edits.next().map_or(ONLY, |next| (10 * (next - best)).min(MOST)) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualities() {
        let of = |edits: &[u32]| quality(edits.iter().copied());
        assert_eq!([of(&[3]), of(&[1, 1]), of(&[0, 2, 2]), of(&[0, 9])], [60, 0, 20, 50]);
    }
}
