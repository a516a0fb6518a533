//! Statistics about discordant pairs: how their mates lie relative to each other, counted for each input, and a
//! warning if most pairs of an input are discordant.

mod distances;
mod tally;
mod warning;

use crate::Config;

pub(crate) use tally::Tallies;
pub(crate) use warning::warn;

/// The place of a mate's first hit, including ends that are clipped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatePlace {
    pub(crate) contig: u32,
    /// The positions of the first base and after the last base.
    pub(crate) span: [u32; 2],
    pub(crate) reverse: bool,
    /// Whether the mate has no other hit with the same number of edits.
    pub(crate) is_unique: bool,
}

/// The relative placement of the first hits of a discordant pair's mates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrangement {
    /// Oriented like [`Config::orientation`], farther apart than [`Config::max_insert`].
    TooFar,
    /// Oriented like [`Config::orientation`], closer than [`Config::min_insert`].
    TooNear,
    /// Facing each other.
    Inward,
    /// Facing away from each other.
    Outward,
    /// On the same strand.
    SameStrand,
    /// On the same strand, at the same bases.
    SameBases,
    /// On different contigs.
    TwoContigs,
}

impl Arrangement {
    /// All variants, each at its number as index.
    pub(crate) const ALL: [Arrangement; 7] = [
        Arrangement::TooFar,
        Arrangement::TooNear,
        Arrangement::Inward,
        Arrangement::Outward,
        Arrangement::SameStrand,
        Arrangement::SameBases,
        Arrangement::TwoContigs,
    ];

    /// Returns the arrangement of two mates, and their insert size or, in another arrangement than the library's, the
    /// number of bases from the first base of both to the last one (0 on different contigs). Returns `None` if the arrangement does not explain the discordance, for
    /// example if the mates are on different contigs and one of them has other hits that are as good.
    pub(crate) fn of(mates: [MatePlace; 2], config: &Config) -> Option<(Arrangement, u32)> {
        let [one, two] = mates;
        if one.contig != two.contig {
            let is_sure = one.is_unique && two.is_unique;
            return is_sure.then_some((Arrangement::TwoContigs, 0));
        }
        // Spans of the first and the last base.
        let spans = [one, two].map(|mate| [mate.span[0], mate.span[1] - 1]);
        let (orientation, reverse) = (config.orientation, [one.reverse, two.reverse]);
        let insert = orientation.left(reverse).and_then(|left| {
            let insert = orientation.insert(spans[left], spans[1 - left]);
            insert.filter(|_| spans[0] != spans[1] || one.reverse != two.reverse)
        });
        if let Some(insert) = insert {
            let [least, most] = config.inserts();
            let arrangement = match insert {
                _ if insert > most => Arrangement::TooFar,
                _ if insert < least => Arrangement::TooNear,
                _ => return None,
            };
            return Some((arrangement, insert));
        }
        let distance = one.span[1].max(two.span[1]) - one.span[0].min(two.span[0]);
        let faces = |forward: [u32; 2], reverse: [u32; 2]| match forward[0] <= reverse[1] {
            true => Arrangement::Inward,
            false => Arrangement::Outward,
        };
        let arrangement = match reverse {
            [false, true] => faces(spans[0], spans[1]),
            [true, false] => faces(spans[1], spans[0]),
            _ if one.span == two.span => Arrangement::SameBases,
            _ => Arrangement::SameStrand,
        };
        Some((arrangement, distance))
    }
}

#[cfg(test)]
mod tests {
    use merganser_filter::Threshold;

    use super::*;
    use crate::Orientation;

    #[test]
    fn arrangements() {
        let fr = Config { min_insert: Some(150), ..Config::new(Threshold::Edits(3)) };
        let rf = Config { orientation: Orientation::Rf, ..fr.clone() };
        let ff = Config { orientation: Orientation::Ff, ..fr.clone() };
        let place = |contig, start: u32, reverse, is_unique| MatePlace {
            contig,
            span: [start, start + 100],
            reverse,
            is_unique,
        };
        for (config, second, reverse, expected) in [
            (&fr, 1501, true, Some((Arrangement::TooFar, 601))),
            (&fr, 1400, true, None),
            (&fr, 1049, true, Some((Arrangement::TooNear, 149))),
            (&fr, 999, true, Some((Arrangement::TooNear, 99))),
            (&fr, 900, true, Some((Arrangement::Outward, 200))),
            (&fr, 1300, false, Some((Arrangement::SameStrand, 400))),
            (&fr, 1000, false, Some((Arrangement::SameBases, 100))),
            (&rf, 1400, true, Some((Arrangement::Inward, 500))),
            (&rf, 900, true, None),
            (&rf, 200, true, Some((Arrangement::TooFar, 900))),
            (&rf, 1300, false, Some((Arrangement::SameStrand, 400))),
            (&ff, 1300, false, None),
            (&ff, 1000, false, Some((Arrangement::SameBases, 100))),
            (&ff, 1400, true, Some((Arrangement::Inward, 500))),
            (&ff, 700, true, Some((Arrangement::Outward, 400))),
        ] {
            let mates = [place(0, 1000, false, false), place(0, second, reverse, true)];
            assert_eq!(Arrangement::of(mates, config), expected, "{second}");
            if config.orientation != Orientation::Ff {
                assert_eq!(Arrangement::of([mates[1], mates[0]], config), expected, "{second}");
            }
        }
        let config = &fr;
        let apart = |is_unique| [place(0, 1, false, true), place(1, 1, true, is_unique)];
        assert_eq!(Arrangement::of(apart(true), config), Some((Arrangement::TwoContigs, 0)));
        assert_eq!(Arrangement::of(apart(false), config), None);
    }

    #[test]
    fn numbers_are_indices() {
        for (index, arrangement) in Arrangement::ALL.into_iter().enumerate() {
            assert_eq!(arrangement as usize, index);
        }
    }
}
