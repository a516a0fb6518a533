//! Distribution of the distances between mates, in bounded memory.

/// The number of steps between a power of two and the next one.
const STEPS: u32 = 64;
/// The maximum ratio of the 95th to the 5th percentile of distances of a library's fragments.
const MAX_SPREAD: u64 = 8;

/// A histogram of pairs by distance: exact below 128 bases; above, steps are narrower than 1/64 of the distance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Distances {
    pairs: u64,
    /// The number of pairs in each step.
    steps: Vec<u64>,
}

impl Distances {
    pub(crate) fn push(&mut self, distance: u32) {
        let step = step_of(distance);
        if self.steps.len() <= step {
            self.steps.resize(step + 1, 0);
        }
        self.steps[step] += 1;
        self.pairs += 1;
    }

    pub(crate) fn add(&mut self, other: &Distances) {
        if self.steps.len() < other.steps.len() {
            self.steps.resize(other.steps.len(), 0);
        }
        for (sum, more) in self.steps.iter_mut().zip(&other.steps) {
            *sum += more;
        }
        self.pairs += other.pairs;
    }

    /// Returns the number of pairs.
    pub(crate) fn pairs(&self) -> u64 {
        self.pairs
    }

    /// Whether the distances vary more than those of a library's fragments.
    pub(crate) fn are_wide(&self) -> bool {
        self.percentile(95) > MAX_SPREAD * self.percentile(5)
    }

    /// Returns a distance that at least `percent` percent of the pairs do not exceed: the largest of its step; 0
    /// if there are no pairs.
    pub(crate) fn percentile(&self, percent: u64) -> u64 {
        let wanted = (self.pairs * percent).div_ceil(100);
        let mut seen = 0;
        let reaches = |pairs: &u64| {
            seen += pairs;
            seen >= wanted
        };
        self.steps.iter().position(reaches).map_or(0, largest_of)
    }
}

/// Returns the step of a distance.
fn step_of(distance: u32) -> usize {
    let shift = (distance | STEPS).ilog2() - STEPS.ilog2();
    (shift * STEPS + (distance >> shift)) as usize
}

/// Returns the largest distance of a step.
fn largest_of(step: usize) -> u64 {
    let (step, steps) = (step as u64, u64::from(STEPS));
    let shift = (step / steps).saturating_sub(1);
    ((step - shift * steps + 1) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_follow_each_other_and_are_narrow() {
        let mut next = 0;
        for step in 0..=step_of(u32::MAX) {
            let largest = largest_of(step);
            assert!(
                largest >= next && (largest - next) * u64::from(STEPS) <= next.max(1),
                "{step}"
            );
            for distance in [next, largest] {
                assert_eq!(step_of(distance as u32), step);
            }
            next = largest + 1;
        }
        assert_eq!(next, 1 << 32);
    }

    #[test]
    fn percentiles() {
        let mut distances = Distances::default();
        assert_eq!(distances.percentile(50), 0);
        for distance in 1..=100 {
            distances.push(distance);
        }
        assert_eq!([5, 50, 95, 100].map(|percent| distances.percentile(percent)), [5, 50, 95, 100]);
        let mut far = Distances::default();
        (0..300).for_each(|_| far.push(5000));
        distances.add(&far);
        assert_eq!((distances.pairs(), distances.percentile(25)), (400, 100));
        assert!((5000..5000 + 5000 / 64).contains(&distances.percentile(26)));
        assert!(distances.are_wide() && !far.are_wide());
    }
}
