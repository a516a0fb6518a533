//! The time that both ways to find ends take, in cycles.
//!
//! Measured on an AMD EPYC (Zen 4, 2.6 GHz) that other programs used at the same time, with 312 patterns of 23 letters.

use merganser_seq::simd::{Features, Level};

use crate::queries::Query;

/// The times of steps on a machine, in cycles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machine {
    /// A cell of 512 lanes of the bit-sliced kernels: edits, mismatches.
    pub(super) cells: [f64; 2],
    /// A candidate, without the time for its memory: edits, mismatches.
    pub(super) candidates: [f64; 2],
}

impl Machine {
    /// An entry of a table, when it is made.
    pub(crate) const ENTRY: f64 = 400.0;
    /// A plan; searches that take little more are not planned.
    pub(crate) const PLAN: f64 = 3e8;
    /// A column of a window.
    pub(crate) const COLUMN: f64 = 12.0;
    /// The memory of a candidate, for each MiB of the lists of a table, and at most.
    const MISS: [f64; 2] = [10.0, 240.0];

    pub(crate) fn of(level: Level) -> Machine {
        let (cells, candidates) = match level.features() {
            Features::Avx512 => ([4.6, 7.1], [60.0, 60.0]),
            Features::Avx2 => ([7.3, 7.2], [70.0, 60.0]),
            // NEON was not measured.
            Features::Neon | Features::Portable => ([13.9, 14.4], [100.0, 60.0]),
        };
        Machine { cells, candidates }
    }

    /// Returns the cycles of a candidate, without the time for its memory.
    pub(crate) fn candidate(self, hamming: bool) -> f64 {
        self.candidates[usize::from(hamming)]
    }

    /// Returns the cycles for each letter of a text that a table of words of `q` letters takes.
    pub(crate) fn table(self, q: usize, entries: usize, hamming: bool) -> f64 {
        // The bits of the words are in the fastest cache up to 10 letters.
        let look_up = [9.0, 7.0, 6.0][12usize.saturating_sub(q).min(2)];
        // An entry, and a list for most of them.
        let size = (8 * entries) as f64 / f64::from(1 << 20);
        let [miss, most] = Self::MISS;
        let candidates = entries as f64 / (1u64 << (2 * q)) as f64;
        look_up + candidates * (self.candidate(hamming) + (miss * size).min(most))
    }
}

/// Returns the cycles that the bit-sliced kernel takes for a query and a letter of a text.
pub(crate) fn bit_sliced(query: &Query, hamming: bool, machine: Machine) -> f64 {
    query.sets.len() as f64 * machine.cells[usize::from(hamming)] / 512.0
}

/// Returns the number of entries of words of `q` letters at which a query's candidates take as long as the other way.
pub(crate) fn most_entries(others: f64, q: usize, candidate: f64) -> usize {
    (others / candidate * (1u64 << (2 * q)) as f64) as usize
}
