//! Counts of pairs with hits of both mates, by the arrangement of the mates.

use super::Arrangement;
use super::distances::Distances;

/// The number of inputs that are counted separately; later inputs are counted with the last one of these.
const MAX_INPUTS: usize = 64;
/// The minimum number of discordant pairs for a warning.
const MIN_PAIRS: u64 = 20;

/// Counts of the pairs of one or more inputs with hits of both mates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pairs: u64,
    discordant: u64,
    arrangements: [Distances; Arrangement::ALL.len()],
}

/// The reason why most pairs of an input are discordant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// Most discordant pairs have this arrangement.
    Arranged(Arrangement),
    /// Discordant pairs have various arrangements.
    Scattered,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.pairs += other.pairs;
        self.discordant += other.discordant;
        for (sum, more) in self.arrangements.iter_mut().zip(&other.arrangements) {
            sum.add(more);
        }
    }

    /// Returns why most pairs are discordant; `None` if most are not, or if there are too few.
    pub(crate) fn finding(&self) -> Option<Finding> {
        if self.discordant < MIN_PAIRS || 2 * self.discordant <= self.pairs {
            return None;
        }
        let is_most =
            |arrangement: &Arrangement| 2 * self.of(*arrangement).pairs() > self.discordant;
        if let Some(arrangement) = Arrangement::ALL.into_iter().find(is_most) {
            return Some(match arrangement {
                // Of unrelated mates, half are on the same strand by chance, at widely varying distances.
                Arrangement::SameStrand | Arrangement::Outward
                    if self.of(arrangement).are_wide() =>
                {
                    Finding::Scattered
                }
                _ => Finding::Arranged(arrangement),
            });
        }
        let explained: u64 = self.arrangements.iter().map(Distances::pairs).sum();
        (2 * explained > self.discordant).then_some(Finding::Scattered)
    }

    /// Returns the number of pairs with hits of both mates.
    pub(crate) fn pairs(&self) -> u64 {
        self.pairs
    }

    /// Returns the number of these that are discordant.
    pub(crate) fn discordant(&self) -> u64 {
        self.discordant
    }

    /// Returns the distances of the pairs with this arrangement.
    pub(crate) fn of(&self, arrangement: Arrangement) -> &Distances {
        &self.arrangements[arrangement as usize]
    }
}

/// Counts for each input.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tallies(Vec<Tally>);

impl Tallies {
    /// Counts a concordant pair of an input.
    pub(crate) fn concordant(&mut self, input: usize) {
        self.input(input).pairs += 1;
    }

    /// Counts a discordant pair of an input, with its arrangement and distance if these explain the
    /// discordance.
    pub(crate) fn discordant(&mut self, input: usize, known: Option<(Arrangement, u32)>) {
        let tally = self.input(input);
        tally.pairs += 1;
        tally.discordant += 1;
        if let Some((arrangement, distance)) = known {
            tally.arrangements[arrangement as usize].push(distance);
        }
    }

    fn input(&mut self, input: usize) -> &mut Tally {
        let input = input.min(MAX_INPUTS - 1);
        if self.0.len() <= input {
            self.0.resize_with(input + 1, Tally::default);
        }
        &mut self.0[input]
    }

    pub(crate) fn add(&mut self, other: &Tallies) {
        for (input, tally) in other.0.iter().enumerate() {
            self.input(input).add(tally);
        }
    }

    /// Returns the inputs whose pairs are mostly discordant for this reason, and the sum of their counts.
    pub(crate) fn with_finding(&self, finding: Finding) -> (Vec<usize>, Tally) {
        let (mut inputs, mut sum) = (Vec::new(), Tally::default());
        for (input, tally) in self.0.iter().enumerate() {
            if tally.finding() == Some(finding) {
                inputs.push(input);
                sum.add(tally);
            }
        }
        (inputs, sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tallies(concordant: usize, discordant: &[(Arrangement, usize)]) -> Tallies {
        let mut tallies = Tallies::default();
        (0..concordant).for_each(|_| tallies.concordant(3));
        for &(arrangement, pairs) in discordant {
            (0..pairs).for_each(|_| tallies.discordant(3, Some((arrangement, 700))));
        }
        tallies
    }

    #[test]
    fn most_pairs_are_wanted_and_a_few_of_them() {
        use Arrangement::{Outward, SameStrand, TooFar};
        let far = Some(Finding::Arranged(TooFar));
        for (concordant, discordant, expected) in [
            (0, &[(TooFar, 19)][..], None),
            (0, &[(TooFar, 20)], far),
            (20, &[(TooFar, 20)], None),
            (19, &[(TooFar, 20)], far),
            (5, &[(TooFar, 11), (Outward, 9)], far),
            (5, &[(TooFar, 10), (Outward, 10)], Some(Finding::Scattered)),
            (5, &[(TooFar, 8), (Outward, 8), (SameStrand, 8)], Some(Finding::Scattered)),
        ] {
            assert_eq!(tallies(concordant, discordant).0[3].finding(), expected, "{discordant:?}");
        }
        let mut random = Tallies::default();
        let mates = (0..40).map(|number| Some((SameStrand, 300 * number)));
        mates.for_each(|known| random.discordant(0, known));
        assert_eq!(random.0[0].finding(), Some(Finding::Scattered));
        let mut unknown = Tallies::default();
        (0..30).for_each(|_| unknown.discordant(0, None));
        assert_eq!(unknown.0[0].finding(), None);
    }

    #[test]
    fn inputs_are_counted_apart_and_summed_by_finding() {
        let mut all = tallies(5, &[(Arrangement::TooFar, 30)]);
        (0..90).for_each(|_| all.concordant(1));
        (0..40).for_each(|_| all.discordant(9999, Some((Arrangement::TooFar, 800))));
        let mut sum = all.clone();
        sum.add(&all);
        let (inputs, tally) = sum.with_finding(Finding::Arranged(Arrangement::TooFar));
        assert_eq!(inputs, [3, MAX_INPUTS - 1]);
        assert_eq!((tally.pairs(), tally.discordant()), (150, 140));
        assert_eq!(tally.of(Arrangement::TooFar).pairs(), 140);
        assert!(sum.with_finding(Finding::Scattered).0.is_empty());
    }
}
