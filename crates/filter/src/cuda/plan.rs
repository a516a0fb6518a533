//! Choice of the kernel that decides a pair.

use crate::band::Band;
use crate::{Align, Filter, Method};

/// The kernels, with the numbers of `cuda/decide.cuh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kernel {
    Narrow32,
    Narrow64,
    Narrow32Others,
    Narrow64Others,
    SemiGlobal32,
    SemiGlobal64,
    Banded1,
    Banded2,
    Banded4,
    Banded8,
    Rows1,
    Rows2,
    Rows4,
    Rows8,
    GateKeeper,
    GateKeeperOthers,
    Snake,
    SnakeOthers,
    Published,
}

/// The maximum length of a sequence on a device, in bases: positions and their differences are signed 32-bit
/// numbers there.
const MAX_BASES: u32 = 1 << 30;

impl Kernel {
    /// All kernels by number.
    pub(super) const ALL: [Kernel; 19] = [
        Kernel::Narrow32,
        Kernel::Narrow64,
        Kernel::Narrow32Others,
        Kernel::Narrow64Others,
        Kernel::SemiGlobal32,
        Kernel::SemiGlobal64,
        Kernel::Banded1,
        Kernel::Banded2,
        Kernel::Banded4,
        Kernel::Banded8,
        Kernel::Rows1,
        Kernel::Rows2,
        Kernel::Rows4,
        Kernel::Rows8,
        Kernel::GateKeeper,
        Kernel::GateKeeperOthers,
        Kernel::Snake,
        Kernel::SnakeOthers,
        Kernel::Published,
    ];

    /// Returns the kernel for a pair of these lengths, with or without ambiguous letters; `None` if no kernel
    /// supports it.
    pub(super) fn of(filter: &Filter, [read, segment]: [u32; 2], others: bool) -> Option<Kernel> {
        if read > MAX_BASES || segment > MAX_BASES {
            return None;
        }
        let (read, segment) = (read as usize, segment as usize);
        let e = filter.config().threshold.edits(read);
        Some(match (filter.defined_method(read, segment, others, e), others) {
            (Method::Exact, _) => return exact(filter, read, segment, others, e),
            (Method::GateKeeper, false) => Kernel::GateKeeper,
            (Method::GateKeeper, true) => Kernel::GateKeeperOthers,
            (Method::Snake, false) => Kernel::Snake,
            (Method::Snake, true) => Kernel::SnakeOthers,
            (Method::GateKeeperOriginal, _) => Kernel::Published,
        })
    }
}

fn exact(filter: &Filter, read: usize, segment: usize, others: bool, e: usize) -> Option<Kernel> {
    let width = match filter.config().align {
        Align::Global => {
            let e = e.min(read.max(segment));
            // Any kernel rejects the pair at once.
            let Some(band) = Band::global(read, segment, e) else { return Some(Kernel::Narrow32) };
            // The number of diagonals on the wider side of the last one, as in `is_narrow` of
            // `cuda/banded.cuh`.
            let half = band.last.unsigned_abs() + (e - band.last.unsigned_abs()) / 2;
            match (half, others) {
                (0..16, false) => return Some(Kernel::Narrow32),
                (16..32, false) => return Some(Kernel::Narrow64),
                (0..16, true) => return Some(Kernel::Narrow32Others),
                (16..32, true) => return Some(Kernel::Narrow64Others),
                _ => band.width,
            }
        }
        Align::SemiGlobal => {
            let e = e.min(read);
            if read > segment + e {
                return Some(Kernel::Banded1);
            }
            let low = (segment + e).saturating_sub(read).min(segment);
            match (e + low, others || read == 0) {
                (0..32, false) => return Some(Kernel::SemiGlobal32),
                (32..64, false) => return Some(Kernel::SemiGlobal64),
                (width, _) => width + 1,
            }
        }
    };
    let of = |bits: usize, kernels: [Kernel; 4]| {
        let words = bits.div_ceil(64).max(1);
        (words <= 8).then(|| {
            (words.next_power_of_two(), kernels[words.next_power_of_two().ilog2() as usize])
        })
    };
    let banded = [Kernel::Banded1, Kernel::Banded2, Kernel::Banded4, Kernel::Banded8];
    let rows = [Kernel::Rows1, Kernel::Rows2, Kernel::Rows4, Kernel::Rows8];
    match (of(width, banded), of(read, rows)) {
        (Some((band, _)), Some((words, kernel))) if words < band => Some(kernel),
        (Some((_, kernel)), _) | (None, Some((_, kernel))) => Some(kernel),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Threshold};

    fn of(config: Config, lens: [u32; 2]) -> Option<Kernel> {
        Kernel::of(&Filter::new(config).unwrap(), lens, false)
    }

    #[test]
    fn the_narrowest_band_that_does() {
        let global = |e, lens| of(Config::new(Threshold::Edits(e)), lens);
        assert_eq!(global(5, [100, 100]), Some(Kernel::Narrow32));
        assert_eq!(global(31, [250, 250]), Some(Kernel::Narrow32));
        assert_eq!(global(32, [250, 250]), Some(Kernel::Narrow64));
        assert_eq!(global(63, [250, 250]), Some(Kernel::Narrow64));
        assert_eq!(global(15, [100, 115]), Some(Kernel::Narrow32));
        assert_eq!(global(16, [100, 116]), Some(Kernel::Narrow64));
        assert_eq!(global(5, [100, 9000]), Some(Kernel::Narrow32));
        assert_eq!(global(100, [250, 250]), Some(Kernel::Banded2));
        assert_eq!(global(1000, [100, 900]), Some(Kernel::Rows2));
        assert_eq!(global(400, [5000, 5000]), Some(Kernel::Banded8));
        assert_eq!(global(600, [5000, 5000]), None);
        assert_eq!(global(5, [100, u32::MAX]), None);
    }

    #[test]
    fn short_reads_in_long_segments_go_over_their_rows() {
        let config = Config { align: Align::SemiGlobal, ..Config::new(Threshold::Edits(5)) };
        assert_eq!(of(config, [100, 121]), Some(Kernel::SemiGlobal32));
        assert_eq!(of(config, [100, 122]), Some(Kernel::SemiGlobal64));
        assert_eq!(of(config, [100, 153]), Some(Kernel::SemiGlobal64));
        assert_eq!(of(config, [100, 154]), Some(Kernel::Banded2));
        assert_eq!(of(config, [3, 40]), Some(Kernel::SemiGlobal64));
        let with_n = Kernel::of(&Filter::new(config).unwrap(), [100, 110], true);
        assert_eq!(with_n, Some(Kernel::Banded1));
        assert_eq!(of(config, [100, 1000]), Some(Kernel::Rows2));
        assert_eq!(of(config, [100, 80]), Some(Kernel::Banded1));
        assert_eq!(of(config, [0, 500]), Some(Kernel::Rows1));
    }

    #[test]
    fn methods_that_do_not_define_a_pair_leave_it_to_the_exact_one() {
        for (method, kernel) in [
            (Method::GateKeeper, Kernel::GateKeeper),
            (Method::Snake, Kernel::Snake),
            (Method::GateKeeperOriginal, Kernel::Published),
        ] {
            let config = Config { method, ..Config::new(Threshold::Edits(5)) };
            assert_eq!(of(config, [100, 100]), Some(kernel));
            assert_eq!(of(config, [100, 101]), Some(Kernel::Narrow32));
        }
    }
}
