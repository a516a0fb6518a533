//! Numbers of windows: workers take provisional ones, which the order of the input then replaces.

/// Windows that follow each other in the reference and have provisional numbers that do so, too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    pub(crate) file: usize,
    pub(crate) ordinal: u64,
    /// The provisional number of the first window,
    pub(crate) provisional: u64,
    pub(crate) windows: u64,
}

/// From provisional window numbers to true ones.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    /// (provisional first, true first), ascending.
    units: Vec<(u32, u32)>,
    /// For each 1,024 provisional numbers, the unit of the first.
    index: Vec<u32>,
}

const STEP: u32 = 10;

impl Numbering {
    /// True numbers begin at `base`.
    pub(crate) fn new(mut units: Vec<Unit>, base: u64) -> Numbering {
        units.sort_unstable_by_key(|unit| (unit.file, unit.ordinal));
        let mut next = base;
        let mut pairs = Vec::with_capacity(units.len());
        for unit in units.iter().filter(|unit| unit.windows > 0) {
            pairs.push((unit.provisional as u32, next as u32));
            next += unit.windows;
        }
        pairs.sort_unstable();
        let blocks = ((next - base) >> STEP) + 1;
        let first_of = |block| pairs.partition_point(|pair| u64::from(pair.0) <= block << STEP);
        let index = (0..blocks).map(|block| first_of(block).saturating_sub(1) as u32).collect();
        Numbering { units: pairs, index }
    }

    /// The true number of a window.
    #[inline]
    pub(crate) fn true_number(&self, provisional: u32) -> u32 {
        let mut at = self.index[(provisional >> STEP) as usize] as usize;
        while self.units.get(at + 1).is_some_and(|next| next.0 <= provisional) {
            at += 1;
        }
        let (first, number) = self.units[at];
        number + (provisional - first)
    }
}
