//! The orientation of a pair's mates, and the insert size that follows from it.

use crate::{Config, Contig};

merganser_run::named! {
    /// The strands and the order of a library's mates.
    #[derive(Default)]
    pub enum Orientation {
        /// Facing each other: paired-end libraries.
        #[default]
        Fr = "fr",
        /// Facing away from each other: mate-pair libraries.
        Rf = "rf",
        /// On the same strand, the first mate before the second one.
        Ff = "ff",
    }
}

/// The positions of the first and the last base of an alignment.
pub(crate) type Span = [u32; 2];

impl Orientation {
    /// Returns the number of the mate that must be on the left (0 or 1); `None` if the strands are wrong.
    pub(crate) fn left(self, reverse: [bool; 2]) -> Option<usize> {
        let [one, two] = reverse;
        match self {
            Orientation::Fr => (one != two).then_some(usize::from(one)),
            Orientation::Rf => (one != two).then_some(usize::from(two)),
            Orientation::Ff => (one == two).then_some(usize::from(one)),
        }
    }

    /// Whether a hit must be on the left of its mate's hit. `mate` is the number of the read, 0 or 1.
    pub(crate) fn is_left(self, mate: usize, reverse: bool) -> bool {
        match self {
            Orientation::Fr => !reverse,
            Orientation::Rf => reverse,
            Orientation::Ff => reverse == (mate == 1),
        }
    }

    /// Returns the strand of a hit's mate.
    pub(crate) fn partner(self, reverse: bool) -> bool {
        reverse == (self == Orientation::Ff)
    }

    /// Returns the insert size of two mates on the right strands, in bases: from the first base of the left mate to
    /// the last base of the right one. `None` if their order is wrong.
    ///
    /// Mates that face each other may overlap, and each may reach beyond the other's first sequenced base
    /// (dovetailed), as in BWA-MEM: only the order of their first sequenced bases counts. With the other
    /// orientations, the right mate neither begins nor ends before the left one.
    pub(crate) fn insert(self, left: Span, right: Span) -> Option<u32> {
        let in_order = match self {
            Orientation::Fr => right[1] >= left[0],
            Orientation::Rf | Orientation::Ff => right[0] >= left[0] && right[1] >= left[1],
        };
        in_order.then(|| right[1] - left[0] + 1)
    }

    /// Returns the smallest insert size of two mates on the right strands of a contig, like [`insert`](Self::insert); on a
    /// circular contig, they may lie across the junction.
    pub(crate) fn insert_on(self, contig: &Contig, left: Span, right: Span) -> Option<u32> {
        self.insert_with_turns(contig, left, right).map(|(insert, _)| insert)
    }

    /// Returns the insert size of [`insert_on`](Self::insert_on), and the number of turns around the contig by which the
    /// left and the right mate must be moved for it.
    pub(crate) fn insert_with_turns(
        self,
        contig: &Contig,
        left: Span,
        right: Span,
    ) -> Option<(u32, [u32; 2])> {
        let all = [[0, 0], [0, 1], [1, 0]].into_iter();
        let all = all.take(if contig.is_circular() { 3 } else { 1 });
        let moved = |span: Span, turns| span.map(|at| at - contig.start + turns * contig.len);
        let inserts = all.filter_map(|turns| {
            Some((self.insert(moved(left, turns[0]), moved(right, turns[1]))?, turns))
        });
        inserts.min_by_key(|(insert, _)| *insert)
    }

    /// Returns the range of positions where a mate of `len` bases may begin, without insertions and deletions, beside
    /// a hit that must be on its left or, if `is_left` is false, on its right.
    pub(crate) fn beside(self, hit: Span, is_left: bool, len: usize, config: &Config) -> [i64; 2] {
        let len = len as i64;
        let [least, most] = config.inserts().map(i64::from);
        let [first, last] = hit.map(i64::from);
        let [from, to] = match is_left {
            true => [first + least - len, first + most - len],
            false => [last + 1 - most, last + 1 - least],
        };
        match (self, is_left) {
            (Orientation::Fr, _) => [from, to],
            (_, true) => [from.max(first), to],
            (_, false) => [from, to.min(last + 1 - len)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserts_by_strands_and_order() {
        use Orientation::{Ff, Fr, Rf};
        let insert = |orientation: Orientation, spans: [Span; 2], reverse: [bool; 2]| {
            let left = orientation.left(reverse)?;
            assert!(orientation.is_left(left, reverse[left]));
            assert!(!orientation.is_left(1 - left, reverse[1 - left]));
            assert_eq!(orientation.partner(reverse[0]), reverse[1]);
            orientation.insert(spans[left], spans[1 - left])
        };
        let apart = [[100, 199], [400, 499]];
        let turned = [[400, 499], [100, 199]];
        for (orientation, spans, reverse, expected) in [
            (Fr, apart, [false, true], Some(400)),
            (Fr, turned, [true, false], Some(400)),
            (Fr, apart, [true, false], None),
            (Fr, apart, [false, false], None),
            (Rf, apart, [true, false], Some(400)),
            (Rf, apart, [false, true], None),
            (Ff, apart, [false, false], Some(400)),
            (Ff, apart, [true, true], None),
            (Ff, turned, [true, true], Some(400)),
            (Ff, apart, [false, true], None),
            // Dovetailed, contained, and touching.
            (Fr, [[108, 207], [100, 199]], [false, true], Some(92)),
            (Fr, [[100, 199], [110, 150]], [false, true], Some(51)),
            (Fr, [[100, 199], [51, 100]], [false, true], Some(1)),
            (Fr, [[100, 199], [50, 99]], [false, true], None),
            (Rf, [[100, 199], [90, 250]], [true, false], None),
        ] {
            assert_eq!(insert(orientation, spans, reverse), expected, "{orientation} {spans:?}");
        }
    }
}
