//! The size of the table.

use merganser_run::ConfigError;

use crate::Error;

/// Hashes are counted if their lower ten bits are below this: 4 of 1,024.
pub(super) const SAMPLED: u64 = 4;
/// The mask of the lower ten bits.
pub(super) const SAMPLE_MASK: u64 = 1023;
/// The amount that `kraken2-build` adds to its estimate so that small libraries fit.
const RESERVE: u64 = 8192;

/// The dimensions of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) capacity: u64,
    /// Minimizers with a smaller hash are left out; 0 if all are kept.
    pub(super) minimum_hash: u64,
}

impl Size {
    /// Returns the size of the table for a library with `sampled` distinct minimizers whose hash is counted,
    /// `load_factor` full and, if `most` is given, of at most `most` bytes.
    pub(super) fn of(sampled: u64, load_factor: f64, most: Option<u64>) -> Size {
        let estimate = (sampled + 1) * (SAMPLE_MASK + 1) / SAMPLED + RESERVE;
        let needed = (estimate as f64 / load_factor) as u64;
        let limit = most.map(|bytes| bytes / 4).filter(|_| most.is_some_and(|b| b < 4 * needed));
        let Some(capacity) = limit else { return Size { capacity: needed, minimum_hash: 0 } };
        let share = capacity as f64 / needed as f64;
        Size { capacity, minimum_hash: ((1.0 - share) * u64::MAX as f64) as u64 }
    }

    /// Returns the size of the cells in bytes.
    pub(super) fn bytes(self) -> u64 {
        self.capacity.saturating_mul(4)
    }
}

/// Returns the number of bits of a value: enough for the numbers of `nodes` taxa, and at least `least`.
///
/// # Errors
/// If not one of the 32 bits is left for the key.
pub(super) fn value_bits(nodes: usize, least: u32) -> Result<u32, Error> {
    let bits = nodes.next_power_of_two().trailing_zeros().max(1).max(least);
    if bits < 32 {
        return Ok(bits);
    }
    Err(Error::Config(ConfigError::new(format!(
        "{nodes} taxa and `minimum_value_bits` {least}: a cell has at most 31 bits for its value"
    ))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_kraken2_build() {
        let size = |capacity, minimum_hash| Size { capacity, minimum_hash };
        assert_eq!(Size::of(0, 0.7, None), size(12068, 0));
        assert_eq!(Size::of(0, 0.7, Some(4 * 12068)), size(12068, 0));
        assert_eq!(Size::of(0, 0.7, Some(4 * 6034 + 3)), size(6034, 1 << 63));
        assert_eq!(Size::of(0, 1.0, None), size(8448, 0));
        assert_eq!(Size::of(999, 0.7, None), size(377_417, 0));
    }

    #[test]
    fn values_have_room_for_all_nodes() {
        for (nodes, bits) in [(2, 1), (3, 2), (4, 2), (5, 3), (129, 8), (256, 8), (257, 9)] {
            assert_eq!(value_bits(nodes, 0).unwrap(), bits);
            assert_eq!(value_bits(nodes, 12).unwrap(), 12);
        }
        assert!(value_bits(2, 32).is_err());
    }
}
