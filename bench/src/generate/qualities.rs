//! Base qualities like those of sequencing instruments, so that the generated files compress like real ones.

use super::simulator::Error;
use crate::rng::Rng;

/// Number of quality levels, best first. A read falls by `FALL` levels from its first base to its last one; its
/// first level depends on the mate and on the read.
const LEVELS: usize = 24;

/// Number of levels between the beginning and the end of a read.
const FALL: usize = 12;

/// Number of levels by which second mates begin below first mates.
const SECOND: usize = 4;

/// The level at the end of a typical second mate; further levels are no worse.
const WORST: usize = 18;

/// Quality letters of the HiSeq X, worst first, with their frequencies (per 1000) at the beginning of a read and at
/// the end of a second mate: means over 10,000 reads simulated by art_illumina (profile HSXn), whose profiles are
/// derived from real runs.
const BINS: [(u8, f64, f64); 8] = [
    (b'#', 0.0, 2.0),
    (b'(', 0.0, 10.0),
    (b',', 2.0, 170.0),
    (b'7', 2.0, 70.0),
    (b'<', 4.0, 100.0),
    (b'A', 12.0, 125.0),
    (b'F', 35.0, 180.0),
    (b'K', 945.0, 343.0),
];

/// Number of first cycles, which never have the best quality.
const FIRST_CYCLES: usize = 5;

/// Kinds of instruments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Eight quality letters, which get worse along the read and in second mates.
    Short,
    /// Many quality letters, uniform along the read.
    Long,
}

/// Tables that map random bytes to quality letters.
#[derive(Debug)]
pub(crate) struct Qualities {
    profile: Profile,
    levels: Vec<[u8; 256]>,
    erroneous: [u8; 256],
}

impl Qualities {
    /// Returns the tables of a profile.
    pub(crate) fn new(profile: Profile) -> Self {
        let erroneous =
            table(&[(b'(', 150.0), (b',', 500.0), (b'7', 150.0), (b'<', 100.0), (b'F', 100.0)]);
        let levels = match profile {
            Profile::Short => (0..LEVELS).map(level).collect(),
            // Q10 to Q41.
            Profile::Long => vec![std::array::from_fn(|byte| b'+' + (byte / 8) as u8)],
        };
        Self { profile, levels, erroneous }
    }

    /// Appends the qualities of `bases`, which is mate `mate` (0 or 1) of its fragment and has `errors`.
    pub(crate) fn push(
        &self,
        rng: &mut Rng,
        mate: usize,
        bases: &[u8],
        errors: &[Error],
        out: &mut Vec<u8>,
    ) {
        let start = out.len();
        let base_level = self.read_level(rng, mate);
        let mut bits = 0;
        for position in 0..bases.len() {
            if position % 8 == 0 {
                bits = rng.next();
            }
            let level = base_level + position * FALL / bases.len();
            out.push(self.levels[level.min(self.levels.len() - 1)][(bits & 0xff) as usize]);
            bits >>= 8;
        }
        let letters = &mut out[start..];
        if self.profile == Profile::Short {
            for letter in letters.iter_mut().take(FIRST_CYCLES) {
                *letter = (*letter).min(b'F');
            }
        }
        for error in errors {
            letters[error.position] = match error.base {
                b'N' => b'#',
                _ => self.erroneous[(rng.next() & 0xff) as usize],
            };
        }
    }

    /// Draws the level at the beginning of a read: second mates are worse, and a few reads are poor.
    fn read_level(&self, rng: &mut Rng, mate: usize) -> usize {
        mate * SECOND + (rng.exponential(1.2) as usize).min(LEVELS - SECOND)
    }
}

/// Returns the table of one level, between the first and the last mixture; levels change slowly at first.
fn level(index: usize) -> [u8; 256] {
    let share = (index as f64 / WORST as f64).min(1.0).powi(2);
    let mixture = BINS.map(|(letter, first, last)| (letter, first + (last - first) * share));
    table(&mixture)
}

/// Returns a table of 256 letters in proportion to these weights.
fn table(weights: &[(u8, f64)]) -> [u8; 256] {
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    std::array::from_fn(|byte| {
        let mut left = (byte as f64 + 0.5) / 256.0 * total;
        for &(letter, weight) in weights {
            if left < weight {
                return letter;
            }
            left -= weight;
        }
        weights[weights.len() - 1].0
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    fn mean(profile: Profile, mate: usize, range: std::ops::Range<usize>) -> f64 {
        let qualities = Qualities::new(profile);
        let mut sum = 0.0;
        for index in 0..2000 {
            let mut out = Vec::new();
            let mut rng = Rng::new(1, Purpose::Fragment, index);
            qualities.push(&mut rng, mate, &[b'A'; 150], &[], &mut out);
            assert_eq!(out.len(), 150);
            let letters = &out[range.clone()];
            sum += letters.iter().map(|&q| f64::from(q - 33)).sum::<f64>() / letters.len() as f64;
        }
        sum / 2000.0
    }

    #[test]
    fn short_reads_get_worse_along_the_read_and_in_the_second() {
        let begin = mean(Profile::Short, 0, 10..40);
        let end = mean(Profile::Short, 0, 120..150);
        assert!(begin > end + 1.0 && end > mean(Profile::Short, 1, 120..150) + 1.0);
        assert!((36.0..42.0).contains(&begin), "{begin}");
    }

    #[test]
    fn errors_are_marked() {
        let errors = [Error { position: 1, base: b'N' }, Error { position: 149, base: b'A' }];
        let mut out = Vec::new();
        let mut rng = Rng::new(1, Purpose::Fragment, 0);
        Qualities::new(Profile::Short).push(&mut rng, 0, &[b'A'; 150], &errors, &mut out);
        assert_eq!(out[1], b'#');
        assert!(b"(,7<F".contains(&out[149]));
    }

    #[test]
    fn long_reads_are_alike_along_the_read() {
        let difference = mean(Profile::Long, 0, 0..50) - mean(Profile::Long, 0, 100..150);
        assert!(difference.abs() < 0.5);
    }
}
