//! How large the table will be.

use merganser_run::ConfigError;

use crate::Error;

/// Hashes of 1,024 by their lower ten bits, of which the first four are counted.
pub(super) const SAMPLED: u64 = 4;
/// The lower ten bits.
pub(super) const SAMPLE_MASK: u64 = 1023;
/// What `kraken2-build` adds to its estimate, for small libraries' sake.
const RESERVE: u64 = 8192;

/// The measures of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) capacity: u64,
    /// Minimizers whose hash is below are left out; 0: none.
    pub(super) minimum_hash: u64,
}

impl Size {
    /// The table for a library in which `sampled` distinct minimizers have a hash that is counted,
    /// `load_factor` full, of at most `most` bytes if that is given.
    pub(super) fn of(sampled: u64, load_factor: f64, most: Option<u64>) -> Size {
        let estimate = (sampled + 1) * (SAMPLE_MASK + 1) / SAMPLED + RESERVE;
        let needed = (estimate as f64 / load_factor) as u64;
        let limit = most.map(|bytes| bytes / 4).filter(|_| most.is_some_and(|b| b < 4 * needed));
        let Some(capacity) = limit else { return Size { capacity: needed, minimum_hash: 0 } };
        let share = capacity as f64 / needed as f64;
        Size { capacity, minimum_hash: ((1.0 - share) * u64::MAX as f64) as u64 }
    }

    /// Bytes of the cells.
    pub(super) fn bytes(self) -> u64 {
        self.capacity.saturating_mul(4)
    }
}

/// The bits of a value: enough for the numbers of `nodes` taxa, and no fewer than `least`.
///
/// # Errors
/// If not one bit of 32 is left for the key.
pub(super) fn value_bits(nodes: usize, least: u32) -> Result<u32, Error> {
    let bits = nodes.next_power_of_two().trailing_zeros().max(1).max(least);
    if bits < 32 {
        return Ok(bits);
    }
    Err(Error::Config(ConfigError::new(format!(
        "{nodes} taxa and `minimum_value_bits` {least}: no more than 31 bits of a cell may be a value's"
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
