//! The symbols and extra bits of lengths and distances (RFC 1951, section 3.2.5).

/// The number of symbols for literals, the end of a block and lengths.
pub(super) const LITERALS: usize = 286;
/// The number of symbols for distances.
pub(super) const DISTANCES: usize = 30;

/// The symbol and the extra bits of a length or distance.
pub(super) struct Place {
    pub(super) symbol: usize,
    pub(super) extra: u32,
    pub(super) extra_bits: u32,
}

impl Place {
    /// Encodes a length from 3 to 258.
    #[inline(always)]
    pub(super) fn of_len(len: u16) -> Place {
        // Each power of two has four ranges; the maximum length has its own symbol.
        match len {
            258 => Place { symbol: 285, extra: 0, extra_bits: 0 },
            _ => Place::split(u32::from(len) - 3, 2, 257),
        }
    }

    /// Encodes a distance from 1 to 32,768.
    #[inline(always)]
    pub(super) fn of_distance(distance: u16) -> Place {
        Place::split(u32::from(distance) - 1, 1, 0)
    }

    /// Encodes `number` with `1 << fine` ranges per power of two, whose symbols begin at `base`.
    #[inline(always)]
    fn split(number: u32, fine: u32, base: usize) -> Place {
        let extra_bits = (number | 1 << fine).ilog2() - fine;
        let range = (number >> extra_bits) + (extra_bits << fine);
        Place { symbol: base + range as usize, extra: number & ((1 << extra_bits) - 1), extra_bits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables of section 3.2.5.
    #[test]
    fn ranges_are_those_of_the_standard() {
        let of = |place: Place| (place.symbol, place.extra, place.extra_bits);
        let lens = [
            (3, 257),
            (10, 264),
            (11, 265),
            (13, 266),
            (19, 269),
            (35, 273),
            (67, 277),
            (131, 281),
            (227, 284),
        ];
        for (len, symbol) in lens {
            assert_eq!(of(Place::of_len(len)).0, symbol, "{len}");
            assert_eq!(of(Place::of_len(len)).1, 0, "{len}");
        }
        assert_eq!(of(Place::of_len(257)), (284, 30, 5));
        assert_eq!(of(Place::of_len(258)), (285, 0, 0));
        let distances =
            [(1, 0), (4, 3), (5, 4), (7, 5), (9, 6), (193, 15), (257, 16), (24_577, 29)];
        for (distance, symbol) in distances {
            assert_eq!(of(Place::of_distance(distance)).0, symbol, "{distance}");
            assert_eq!(of(Place::of_distance(distance)).1, 0, "{distance}");
        }
        assert_eq!(of(Place::of_distance(32_768)), (29, 8191, 13));
        assert_eq!(of(Place::of_distance(6)), (4, 1, 1));
    }
}
