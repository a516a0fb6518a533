//! The complexity of minimizers.

use crate::Params;
use crate::word::Word;

/// Returns the complexity of a minimizer, 0 to 1: 1 minus its DUST score (Morgulis and others, 2006), which is the
/// number of pairs of equal triplets of bases, divided by that of a minimizer of one base. The result, in single
/// precision, is that of Deacon (`calculate_kdust`). Minimizers of less than 4 bases have complexity 1.
pub(crate) fn complexity<W: Word>(params: Params, value: W) -> f32 {
    let triplets = params.k().saturating_sub(2);
    if triplets < 2 {
        return 1.0;
    }
    let mut seen = [0u8; 64];
    let mut pairs = 0u32;
    for at in 0..triplets {
        let seen = &mut seen[(value >> (2 * at as u32)).low() as usize & 63];
        pairs += u32::from(*seen);
        *seen += 1;
    }
    let most = triplets as f32;
    1.0 - pairs as f32 / (most * (most - 1.0) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naive;
    use proptest::prelude::*;

    #[test]
    fn repeats_are_less_complex() {
        let of = |k, value: u64| complexity(Params::new(k, 15).unwrap(), value);
        assert_eq!(of(31, 0), 0.0);
        assert_eq!((of(3, 0), of(1, 0)), (1.0, 1.0));
        // Two bases that alternate: 15 and 14 equal triplets of 29.
        assert_eq!(of(31, 0x4444_4444_4444_4444 & (u64::MAX >> 2)), 1.0 - 196.0 / 406.0);
    }

    proptest! {
        #[test]
        fn complexity_is_that_of_all_pairs(half in 0..31usize, value in any::<u128>(), repeat in 1..62u32) {
            let params = Params::new(2 * half + 1, 15).unwrap();
            // Also minimizers that repeat themselves.
            let unit = value & u128::MAX >> (128 - 2 * repeat);
            let value = (0..64 / repeat).fold(0, |all, at| all | unit << (2 * repeat * at));
            let value = value & params.mask::<u128>();
            let expected = naive::complexity(params, value);
            prop_assert_eq!(complexity(params, value), expected);
            prop_assert!(params.are_long() || complexity(params, value as u64) == expected);
        }
    }
}
