//! The time that both ways to find ends take, in cycles.

use merganser_seq::simd::{Features, Level};

use crate::queries::Query;

/// What steps take on a machine, in cycles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machine {
    /// A cell of 512 lanes of the bit-sliced kernels: edits, mismatches.
    cells: [f64; 2],
    /// A candidate: edits, mismatches.
    candidates: [f64; 2],
}

impl Machine {
    /// A word of a text.
    pub(crate) const LOOK_UP: f64 = 5.0;
    /// An entry of a table, when it is made.
    pub(crate) const ENTRY: f64 = 100.0;
    /// A plan and the smallest tables; searches that take less are not planned.
    pub(crate) const PLAN: f64 = 3e8;
    /// A column of a window.
    pub(crate) const COLUMN: f64 = 12.0;

    pub(crate) fn of(level: Level) -> Machine {
        match level.features() {
            Features::Avx512 => Machine { cells: [4.6, 2.0], candidates: [25.0, 25.0] },
            Features::Avx2 => Machine { cells: [9.0, 4.0], candidates: [35.0, 25.0] },
            Features::Portable => Machine { cells: [18.0, 8.0], candidates: [50.0, 25.0] },
        }
    }

    /// Returns the cycles of a candidate.
    pub(crate) fn candidate(self, hamming: bool) -> f64 {
        self.candidates[usize::from(hamming)]
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
