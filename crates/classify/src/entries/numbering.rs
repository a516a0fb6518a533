//! Numbers of windows. Workers assign provisional numbers, which are later replaced by numbers in input order.
//! Windows of sequences that are left out have no final number.

use std::ops::Range;

/// Windows that are consecutive in the reference and have consecutive provisional numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    pub(crate) file: usize,
    pub(crate) ordinal: u64,
    /// The provisional number of the first window.
    pub(crate) provisional: u64,
    pub(crate) windows: u64,
}

/// Maps provisional window numbers to final ones.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    /// (first provisional number, first final number), ascending; [`GONE`] marks units that are left out.
    units: Vec<(u32, u32)>,
    /// The unit of the first of every 1,024 provisional numbers.
    index: Vec<u32>,
    /// The number of provisional numbers.
    windows: u32,
    /// Whether windows are left out.
    has_gaps: bool,
}

const STEP: u32 = 10;
/// A number that no window has: locations have 31 bits.
const GONE: u32 = u32::MAX;

impl Numbering {
    /// Numbers the windows of `units` in input order, starting at `base`.
    pub(crate) fn new(mut units: Vec<Unit>, base: u64) -> Numbering {
        units.sort_unstable_by_key(|unit| (unit.file, unit.ordinal));
        let mut next = base;
        let mut pairs = Vec::with_capacity(units.len());
        for unit in units.iter().filter(|unit| unit.windows > 0) {
            pairs.push((unit.provisional as u32, next as u32));
            next += unit.windows;
        }
        pairs.sort_unstable();
        Numbering::of_units(pairs, (next - base) as u32, false)
    }

    fn of_units(units: Vec<(u32, u32)>, windows: u32, has_gaps: bool) -> Numbering {
        let blocks = (u64::from(windows) >> STEP) + 1;
        let first_of = |block| units.partition_point(|pair| u64::from(pair.0) <= block << STEP);
        let index = (0..blocks).map(|block| first_of(block).saturating_sub(1) as u32).collect();
        Numbering { units, index, windows, has_gaps }
    }

    /// Leaves out windows, given as ascending, separate ranges of final numbers. Later windows are renumbered to
    /// close the gaps.
    pub(crate) fn leave_out(&mut self, gone: &[Range<u32>]) {
        if gone.is_empty() {
            return;
        }
        // The number of windows that are left out before each range.
        let mut before = vec![0];
        for range in gone {
            before.push(before[before.len() - 1] + (range.end - range.start));
        }
        let mut units = Vec::with_capacity(self.units.len() + 2 * gone.len());
        for (at, &(provisional, first)) in self.units.iter().enumerate() {
            let next = self.units.get(at + 1).map_or(self.windows, |next| next.0);
            let end = first + (next - provisional);
            let (mut number, mut range) = (first, gone.partition_point(|range| range.end <= first));
            while number < end {
                let next = gone.get(range).map_or(end, |range| range.start.clamp(number, end));
                if number < next {
                    units.push((provisional + (number - first), number - before[range]));
                }
                number = next;
                if let Some(range) = gone.get(range).filter(|_| number < end) {
                    units.push((provisional + (number - first), GONE));
                    number = range.end.min(end);
                }
                range += 1;
            }
        }
        *self = Numbering::of_units(units, self.windows, true);
    }

    /// Whether windows are left out.
    pub(crate) fn has_gaps(&self) -> bool {
        self.has_gaps
    }

    /// Returns the unit of a window.
    #[inline]
    fn unit(&self, provisional: u32) -> usize {
        let mut at = self.index[(provisional >> STEP) as usize] as usize;
        while self.units.get(at + 1).is_some_and(|next| next.0 <= provisional) {
            at += 1;
        }
        at
    }

    /// Returns the final number of a window; no windows may have been left out.
    #[inline]
    pub(crate) fn true_number(&self, provisional: u32) -> u32 {
        let (first, number) = self.units[self.unit(provisional)];
        number + (provisional - first)
    }

    /// Returns the final number of a window; `None` if it is left out.
    #[inline]
    pub(crate) fn number(&self, provisional: u32) -> Option<u32> {
        let (first, number) = self.units[self.unit(provisional)];
        (number != GONE).then(|| number + (provisional - first))
    }

    /// Splits a range of provisional numbers into runs of consecutive windows without those left out. Returns the
    /// final number of the first window of each run, and the indices of its windows in the range.
    pub(crate) fn stretches(&self, provisional: Range<u32>) -> Vec<(u32, Range<usize>)> {
        let mut stretches = Vec::new();
        if provisional.is_empty() {
            return stretches;
        }
        for at in self.unit(provisional.start)..self.units.len() {
            let (first, number) = self.units[at];
            if first >= provisional.end {
                break;
            }
            let end = self.units.get(at + 1).map_or(self.windows, |next| next.0);
            let own = first.max(provisional.start)..end.min(provisional.end);
            if number != GONE {
                let from = |window: u32| (window - provisional.start) as usize;
                stretches.push((number + (own.start - first), from(own.start)..from(own.end)));
            }
        }
        stretches
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn windows_are_numbered_in_order_without_those_left_out(
            sizes in proptest::collection::vec((0u64..4, 0u64..2000), 1..12),
            order in any::<u64>(),
            targets in proptest::collection::vec((1u32..1500, any::<bool>()), 1..20),
            base in 0u64..3000,
        ) {
            // Units get provisional numbers in arbitrary order.
            let mut units: Vec<Unit> = sizes.iter().enumerate().map(|(ordinal, &(file, windows))| {
                Unit { file: file as usize, ordinal: ordinal as u64, provisional: 0, windows }
            }).collect();
            units.sort_by_key(|unit| (unit.ordinal + 1).wrapping_mul(order | 1));
            let mut next = 0;
            for unit in &mut units {
                unit.provisional = next;
                next += unit.windows;
            }
            let total = next as u32;
            let mut numbering = Numbering::new(units.clone(), base);
            let before: Vec<u32> = (0..total).map(|window| numbering.true_number(window)).collect();
            // Targets are consecutive in the final numbers.
            let (mut gone, mut kept) = (Vec::new(), vec![None; total as usize]);
            let (mut start, mut number) = (0u32, base as u32);
            for &(windows, stays) in targets.iter().cycle().take(2000) {
                let end = (start + windows).min(total);
                for place in start..end {
                    if stays {
                        kept[place as usize] = Some(number);
                        number += 1;
                    }
                }
                if !stays && start < end {
                    let range = start + base as u32..end + base as u32;
                    match gone.last_mut() {
                        Some(last @ Range { .. }) if last.end == range.start => last.end = range.end,
                        _ => gone.push(range),
                    }
                }
                start = end;
            }
            prop_assume!(start == total);
            numbering.leave_out(&gone);
            prop_assert_eq!(numbering.has_gaps(), !gone.is_empty());
            let expected = |window: u32| kept[(before[window as usize] - base as u32) as usize];
            for window in 0..total {
                prop_assert_eq!(numbering.number(window), expected(window));
            }
            for range in [0..total, total / 3..total / 2, total / 2..total / 2] {
                let mut found = vec![None; range.len()];
                for (first, own) in numbering.stretches(range.clone()) {
                    for (number, place) in (first..).zip(own) {
                        found[place] = Some(number);
                    }
                }
                prop_assert_eq!(found, range.map(expected).collect::<Vec<_>>());
            }
        }
    }
}
