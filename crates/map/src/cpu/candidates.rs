//! Candidates from seeds, and windows from candidates.

use merganser_run::Cancel;

use super::seeds::Seed;
use super::verify::Window;
use crate::Error;
use crate::index::IndexView;
use crate::search::{BIAS, MAX_SORTED};

/// A place where a query may lie: the diagonal of a seed's occurrence. Candidates are sorted by query, then by
/// diagonal, and distinct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) query: u32,
    /// The diagonal plus [`BIAS`].
    diagonal: u32,
}

impl Candidate {
    pub(crate) fn diagonal(&self) -> i64 {
        i64::from(self.diagonal) - BIAS
    }
}

/// The number of positions that are processed between two checks for cancellation: a few milliseconds.
const STRETCH: usize = 1 << 20;

/// The prefetch distance, in positions.
const AHEAD: usize = 16;

/// Appends the candidates of a query, slice by slice of the reference, and calls `full` after each slice. Its
/// flag is true if there are several slices: all candidates must then be processed before the next slice, since
/// no window may span two slices.
///
/// # Errors
/// An error of `full`, or a cancellation.
pub(crate) fn collect(
    query: u32,
    seeds: &[Seed],
    view: &IndexView<'_>,
    scratch: &mut Vec<u32>,
    candidates: &mut Vec<Candidate>,
    cancel: &Cancel,
    mut full: impl FnMut(&mut Vec<Candidate>, bool) -> Result<(), Error>,
) -> Result<(), Error> {
    let found: usize = seeds.iter().map(|seed| seed.positions.len()).sum();
    let slices = found.div_ceil(MAX_SORTED).max(1) as u64;
    // A damaged index must not lead beyond the reference.
    let last = view.text.end();
    let end = u64::from(last) + 2 * BIAS as u64;
    for slice in 0..slices {
        let (from, to) = (slice * end / slices, (slice + 1) * end / slices);
        scratch.clear();
        for seed in seeds {
            let shift = BIAS as u32 - seed.offset;
            for positions in view.positions[seed.positions.clone()].chunks(STRETCH) {
                let diagonals = positions.iter().map(|&at| at.min(last) + shift);
                if slices == 1 {
                    if seed.mask == 0 {
                        scratch.extend(diagonals);
                    } else {
                        matching(seed, positions, view, scratch);
                    }
                    continue;
                }
                cancel.check()?;
                scratch.extend(diagonals.filter(|&at| (from..to).contains(&u64::from(at))));
            }
        }
        if scratch.len() > 1 {
            scratch.sort_unstable();
            scratch.dedup();
        }
        candidates.extend(scratch.iter().map(|&diagonal| Candidate { query, diagonal }));
        full(candidates, slices > 1)?;
    }
    Ok(())
}

/// Appends the diagonals of a seed's positions at which all masked bases of its key match.
fn matching(seed: &Seed, positions: &[u32], view: &IndexView<'_>, diagonals: &mut Vec<u32>) {
    let shift = BIAS as u32 - seed.offset;
    for &at in &positions[..AHEAD.min(positions.len())] {
        view.text.prefetch(at as usize);
    }
    for (number, &at) in positions.iter().enumerate() {
        if let Some(&next) = positions.get(number + AHEAD) {
            view.text.prefetch(next as usize);
        }
        if view.is_at(at, &seed.key, seed.mask) {
            diagonals.push(at.min(view.text.end()) + shift);
        }
    }
}

/// Appends up to `most` windows of neighbouring candidates within the `limits` of their query, and returns the
/// remaining candidates.
pub(crate) fn merge<'c>(
    candidates: &'c [Candidate],
    limits: impl Fn(u32) -> Limits,
    most: usize,
    windows: &mut Vec<Window>,
) -> &'c [Candidate] {
    let mut rest = candidates;
    for _ in 0..most {
        let Some(&Candidate { query, diagonal }) = rest.first() else { break };
        let Limits { widest, gap } = limits(query);
        let is_near = |at: usize| {
            rest[at].query == query
                && rest[at].diagonal - diagonal <= widest
                && rest[at].diagonal - rest[at - 1].diagonal <= gap
        };
        let count = (1..rest.len()).find(|&at| !is_near(at)).unwrap_or(rest.len());
        let width = rest[count - 1].diagonal - diagonal;
        let (first, candidates) = (rest[0].diagonal(), count as u32);
        windows.push(Window { query, first, width, candidates });
        rest = &rest[count..];
    }
    rest
}

/// The maximum distances between candidates of a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The maximum distance between the first and the last candidate.
    pub(crate) widest: u32,
    /// The maximum distance between two neighbouring candidates.
    pub(crate) gap: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_share_a_window() {
        let at = |diagonal: i64| Candidate { query: 3, diagonal: (diagonal + BIAS) as u32 };
        let candidates = [-5, -3, 0, 1, 2, 9].map(at);
        let windows = |widest, gap| {
            let mut windows = Vec::new();
            let rest = merge(&candidates, |_| Limits { widest, gap }, 1, &mut windows);
            assert!(merge(rest, |_| Limits { widest, gap }, 9, &mut windows).is_empty());
            let parts =
                windows.iter().map(|window| (window.first, window.width, window.candidates));
            parts.collect::<Vec<_>>()
        };
        assert_eq!(windows(5, 5), [(-5, 5, 3), (1, 1, 2), (9, 0, 1)]);
        assert_eq!(windows(100, 3), [(-5, 7, 5), (9, 0, 1)]);
    }
}
