//! Patterns of haplotypes: which haplotypes are alike at a k-mer, and in which peaks its k-mers lie.
//!
//! The patterns are those of GenomeScope 2 (Ranallo-Benavidez et al. 2020): of four haplotypes, three may be
//! alike and one different (aaab), or two and two alike (aabb), and so on. A position of the genome has one
//! pattern; a k-mer has the coarsest pattern that is compatible with those of all its positions.

use std::iter::repeat_n;

use super::fit::Few;

/// A pattern, the coarser patterns, and the sizes of its groups of haplotypes.
#[derive(Clone, Debug)]
struct Pattern {
    letters: &'static str,
    /// The indexes of coarser patterns.
    below: Vec<usize>,
    /// The number of haplotypes with the first letter.
    first: usize,
    /// The number of haplotypes with each of the other letters.
    rest: Vec<usize>,
}

/// All patterns of a ploidy and a topology; the pattern without differences comes first.
#[derive(Clone, Debug)]
pub(super) struct Patterns {
    ploidy: usize,
    patterns: Vec<Pattern>,
}

/// The patterns in which all haplotypes are alike.
const ALIKE: [&str; 6] = ["a", "aa", "aaa", "aaaa", "aaaaa", "aaaaaa"];
/// The patterns of ploidy 4 without a topology, each with the coarser ones; an empty list means all
/// earlier patterns.
const FOUR: [(&str, &[&str]); 4] =
    [("aaab", &["aaaa"]), ("aabb", &["aaaa"]), ("aabc", &["aaab", "aabb"]), ("abcd", &[])];
/// The patterns of ploidy 5, like [`FOUR`].
const FIVE: [(&str, &[&str]); 6] = [
    ("aaaab", &["aaaaa"]),
    ("aaabb", &["aaaaa"]),
    ("aaabc", &["aaaab", "aaabb"]),
    ("aabbc", &["aaaab"]),
    ("aabcd", &[]),
    ("abcde", &[]),
];
/// The patterns of ploidy 6, like [`FOUR`].
const SIX: [(&str, &[&str]); 10] = [
    ("aaaaab", &["aaaaaa"]),
    ("aaaabb", &["aaaaaa"]),
    ("aaabbb", &["aaaaaa"]),
    ("aaaabc", &["aaaaab", "aaaabb"]),
    ("aaabbc", &["aaaaab", "aaabbb"]),
    ("aabbcc", &["aaaabb"]),
    ("aaabcd", &["aaaaab", "aaaabb", "aaabbb", "aaaabc", "aaabbc"]),
    ("aabbcd", &["aaaaab", "aaaabb", "aaaabc", "aabbcc"]),
    ("aabcde", &[]),
    ("abcdef", &[]),
];
/// The chains of patterns of the topologies of ploidy 4, from number 1 on, without the last pattern.
const FOUR_CHAINS: [&str; 2] = ["aaab aabc", "aabb aabc"];
/// The chains of ploidy 5, like [`FOUR_CHAINS`].
const FIVE_CHAINS: [&str; 5] = [
    "aaaab aaabc aabcd",
    "aaaab aabbc aabcd",
    "aaabb aaabc aabcd",
    "aaabb aabcc aabcd",
    "aaabb aabcc abcdd",
];
/// The chains of ploidy 6, like [`FOUR_CHAINS`].
const SIX_CHAINS: [&str; 16] = [
    "aaaaab aaaabc aaabcd aabcde",
    "aaaaab aaaabc aabbcd aabcde",
    "aaaaab aaabbc aaabcd aabcde",
    "aaaaab aaabbc aabccd aabcde",
    "aaaaab aaabbc aabccd abcdde",
    "aaaabb aaaabc aaabcd aabcde",
    "aaaabb aaaabc aabbcd aabcde",
    "aaaabb aaabcc aaabcd aabcde",
    "aaaabb aaabcc aabcdd aabcde",
    "aaaabb aaabcc aabcdd abcdee",
    "aaaabb aabbcc aabbcd aabcde",
    "aaaabb aabbcc aabcdd aabcde",
    "aaaabb aabbcc aabcdd abcdee",
    "aaabbb aaabbc aaabcd aabcde",
    "aaabbb aaabbc aabccd aabcde",
    "aaabbb aaabbc aabccd abcdde",
];

/// Returns the largest topology number of a ploidy; 0 if only the default exists.
pub(super) fn last_topology(ploidy: u32) -> u32 {
    match ploidy {
        4 => FOUR_CHAINS.len() as u32,
        5 => FIVE_CHAINS.len() as u32,
        6 => SIX_CHAINS.len() as u32,
        _ => 0,
    }
}

impl Patterns {
    /// Creates the patterns of a ploidy from 1 to 6 with one of its topologies.
    pub(super) fn new(ploidy: u32, topology: u32) -> Patterns {
        let chain = |chains: &[&'static str], last| {
            let chain = chains[topology as usize - 1].split(' ').chain([last]);
            chain.map(|letters| (letters, [].as_slice())).collect::<Vec<_>>()
        };
        let rows: Vec<(&'static str, &[&str])> = match (ploidy, topology) {
            (1, _) => Vec::new(),
            (2, _) => vec![("ab", &[])],
            (3, _) => vec![("aab", &[]), ("abc", &[])],
            (4, 0) => FOUR.to_vec(),
            (5, 0) => FIVE.to_vec(),
            (6, 0) => SIX.to_vec(),
            (4, _) => chain(&FOUR_CHAINS, "abcd"),
            (5, _) => chain(&FIVE_CHAINS, "abcde"),
            _ => chain(&SIX_CHAINS, "abcdef"),
        };
        let alike = ALIKE[ploidy as usize - 1];
        let mut patterns = vec![Pattern::new(alike, Vec::new())];
        for (letters, below) in rows {
            let is_below =
                |at: &usize| below.is_empty() || *at == 0 || below.contains(&patterns[*at].letters);
            let below = (0..patterns.len()).filter(is_below).collect();
            patterns.push(Pattern::new(letters, below));
        }
        Patterns { ploidy: ploidy as usize, patterns }
    }

    /// Returns the letters of the patterns that have a rate.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.patterns[1..].iter().map(|pattern| pattern.letters)
    }

    /// Returns the number of rates.
    pub(super) fn rates(&self) -> usize {
        self.patterns.len() - 1
    }

    /// Returns the number of peaks. The highest count has the peak of k-mers of all haplotypes in duplicated parts.
    pub(super) fn peaks(&self) -> usize {
        2 * self.ploidy
    }

    /// Returns the fractions of the genome's length in the peaks at one, two, ... times the coverage of a
    /// haplotype, for k-mers of length `k`, a rate for each pattern with differences, and a fraction
    /// `duplication` that is duplicated. All are 0 if the rates sum to more than 1.
    pub(super) fn shares(&self, k: usize, duplication: f64, rates: &[f64]) -> Few {
        let mut shares: Few = repeat_n(0.0, self.peaks()).collect();
        let alike = 1.0 - rates.iter().sum::<f64>();
        if alike < 0.0 {
            return shares;
        }
        let parts = self.parts(k, alike, rates);
        let twice = duplication;
        for (one, part) in self.patterns.iter().zip(&parts) {
            for size in one.rest.iter().chain([&one.first]) {
                shares[size - 1] += (1.0 - twice) * part;
            }
            for (other, second) in self.patterns.iter().zip(&parts) {
                let both = twice * part * second;
                shares[one.first + other.first - 1] += both;
                for size in one.rest.iter().chain(&other.rest) {
                    shares[size - 1] += both;
                }
            }
        }
        shares
    }

    /// Returns the fraction of the k-mers that have each pattern.
    fn parts(&self, k: usize, alike: f64, rates: &[f64]) -> Few {
        let mut parts = Few::new();
        let last = self.patterns.len() - 1;
        for (at, pattern) in self.patterns.iter().enumerate() {
            let own = if at == 0 { 0.0 } else { rates[at - 1] };
            let coarser = pattern.below.iter().filter(|below| **below > 0);
            let agreeing = alike + own + coarser.map(|below| rates[below - 1]).sum::<f64>();
            let upto = if at == last { 1.0 } else { agreeing.powi(k as i32) };
            parts.push(upto - pattern.below.iter().map(|below| parts[*below]).sum::<f64>());
        }
        parts
    }
}

impl Pattern {
    fn new(letters: &'static str, below: Vec<usize>) -> Pattern {
        let count = |letter: u8| letters.bytes().filter(|other| *other == letter).count();
        let rest = (b'b'..=b'f').map(count).filter(|size| *size > 0).collect();
        Pattern { letters, below, first: count(b'a'), rest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all ploidies with all their topologies.
    fn all() -> impl Iterator<Item = (u32, u32)> {
        (1..=6).flat_map(|ploidy| (0..=last_topology(ploidy)).map(move |other| (ploidy, other)))
    }

    #[test]
    fn there_are_the_models_of_genomescope() {
        assert_eq!(all().count(), 29);
        for (ploidy, topology) in all() {
            let patterns = Patterns::new(ploidy, topology);
            for pattern in &patterns.patterns {
                let haplotypes = pattern.first + pattern.rest.iter().sum::<usize>();
                assert_eq!(haplotypes, ploidy as usize, "{ploidy} {topology} {pattern:?}");
                assert!(pattern.rest.iter().all(|size| *size > 0), "{pattern:?}");
            }
        }
    }

    /// Each k-mer of each haplotype lies in a peak: counts times shares sum to the number of haplotypes, and to
    /// twice that number if everything is duplicated.
    #[test]
    fn no_kmer_is_lost() {
        for (ploidy, topology) in all() {
            let patterns = Patterns::new(ploidy, topology);
            let rates: Vec<f64> = (0..patterns.rates()).map(|at| 0.01 / (at + 1) as f64).collect();
            for duplication in [0.0, 0.1, 1.0] {
                let shares = patterns.shares(21, duplication, &rates);
                let times = |(at, share): (usize, &f64)| (at + 1) as f64 * share;
                let sum: f64 = shares.iter().enumerate().map(times).sum();
                let wanted = f64::from(ploidy) * (1.0 + duplication);
                assert!((sum - wanted).abs() < 1e-12, "{ploidy} {topology}: {sum}");
                assert!(shares.iter().all(|share| *share > -1e-12), "{shares:?}");
            }
        }
    }

    #[test]
    fn two_haplotypes_have_the_peaks_of_the_first_genomescope() {
        let (r, d) = (0.01f64, 0.1);
        let same = (1.0 - r).powi(21);
        let other = 1.0 - same;
        let wanted = [
            2.0 * (1.0 - d) * other + 2.0 * d * other * other + 2.0 * d * same * other,
            (1.0 - d) * same + d * other * other,
            2.0 * d * same * other,
            d * same * same,
        ];
        for (found, wanted) in Patterns::new(2, 0).shares(21, d, &[r]).iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-14);
        }
    }

    /// With aaab, the differing haplotype has its k-mers once, and the others have theirs three times.
    #[test]
    fn four_haplotypes_have_the_peaks_of_their_patterns() {
        let shares = Patterns::new(4, 0).shares(1, 0.0, &[0.2, 0.1, 0.05, 0.01]);
        let wanted = [0.2 + 2.0 * 0.05 + 4.0 * 0.01, 2.0 * 0.1 + 0.05, 0.2, 0.64];
        for (found, wanted) in shares.iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-12, "{shares:?}");
        }
        assert!(Patterns::new(3, 0).shares(21, 0.1, &[0.7, 0.4]).iter().all(|share| *share == 0.0));
    }
}
