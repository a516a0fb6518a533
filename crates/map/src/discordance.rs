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
    /// Facing each other, farther apart than [`Config::max_insert`].
    TooFar,
    /// Facing each other, closer than [`Config::min_insert`].
    TooNear,
    /// On opposite strands, with one mate reaching beyond the first base of the other.
    Dovetailed,
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
        Arrangement::Dovetailed,
        Arrangement::Outward,
        Arrangement::SameStrand,
        Arrangement::SameBases,
        Arrangement::TwoContigs,
    ];

    /// Returns the arrangement of two mates, and the number of bases from the first base of both to the last
    /// one (0 on different contigs). Returns `None` if the arrangement does not explain the discordance, for
    /// example if the mates are on different contigs and one of them has other hits that are as good.
    pub(crate) fn of(mates: [MatePlace; 2], config: &Config) -> Option<(Arrangement, u32)> {
        let [one, two] = mates;
        if one.contig != two.contig {
            let is_sure = one.is_unique && two.is_unique;
            return is_sure.then_some((Arrangement::TwoContigs, 0));
        }
        let distance = one.span[1].max(two.span[1]) - one.span[0].min(two.span[0]);
        let arrangement = match (one.reverse, two.reverse) {
            (false, true) => Arrangement::of_strands(one.span, two.span, distance, config)?,
            (true, false) => Arrangement::of_strands(two.span, one.span, distance, config)?,
            _ if one.span == two.span => Arrangement::SameBases,
            _ => Arrangement::SameStrand,
        };
        Some((arrangement, distance))
    }

    /// Returns the arrangement of a mate on the forward strand and one on the reverse strand; `None` if they
    /// are concordant.
    fn of_strands(
        forward: [u32; 2],
        reverse: [u32; 2],
        distance: u32,
        config: &Config,
    ) -> Option<Arrangement> {
        let in_order = forward[0] <= reverse[0] && forward[1] <= reverse[1];
        match in_order {
            true if distance > config.max_insert => Some(Arrangement::TooFar),
            true if distance < config.min_insert => Some(Arrangement::TooNear),
            true => None,
            false if forward[0] < reverse[1] => Some(Arrangement::Dovetailed),
            false => Some(Arrangement::Outward),
        }
    }
}

#[cfg(test)]
mod tests {
    use merganser_filter::Threshold;

    use super::*;

    #[test]
    fn arrangements() {
        let config = Config { min_insert: 150, ..Config::new(Threshold::Edits(3)) };
        let place = |contig, start: u32, reverse, is_unique| MatePlace {
            contig,
            span: [start, start + 100],
            reverse,
            is_unique,
        };
        for (second, reverse, expected) in [
            (1501, true, Some((Arrangement::TooFar, 601))),
            (1400, true, None),
            (1049, true, Some((Arrangement::TooNear, 149))),
            (999, true, Some((Arrangement::Dovetailed, 101))),
            (901, true, Some((Arrangement::Dovetailed, 199))),
            (900, true, Some((Arrangement::Outward, 200))),
            (1300, false, Some((Arrangement::SameStrand, 400))),
            (1000, false, Some((Arrangement::SameBases, 100))),
        ] {
            let mates = [place(0, 1000, false, false), place(0, second, reverse, true)];
            assert_eq!(Arrangement::of(mates, &config), expected, "{second}");
            assert_eq!(Arrangement::of([mates[1], mates[0]], &config), expected, "{second}");
        }
        // The forward mate contains the other one, and reaches beyond its first base.
        let inner = MatePlace { contig: 0, span: [1000, 1090], reverse: true, is_unique: true };
        let mates = [place(0, 1000, false, true), inner];
        assert_eq!(Arrangement::of(mates, &config), Some((Arrangement::Dovetailed, 100)));
        let apart = |is_unique| [place(0, 1, false, true), place(1, 1, true, is_unique)];
        assert_eq!(Arrangement::of(apart(true), &config), Some((Arrangement::TwoContigs, 0)));
        assert_eq!(Arrangement::of(apart(false), &config), None);
    }

    #[test]
    fn numbers_are_indices() {
        for (index, arrangement) in Arrangement::ALL.into_iter().enumerate() {
            assert_eq!(arrangement as usize, index);
        }
    }
}
