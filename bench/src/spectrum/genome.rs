//! Genomes with known ploidy, repeats and heterozygosity.

use crate::rng::Rng;

/// Properties of a genome.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// The part of it that consists of pairs of copies.
    pub(super) repeats: f64,
    /// A letter for each haplotype: haplotypes with the same letter are equal.
    pub(super) pattern: &'static str,
    /// Differences per base.
    pub(super) rate: f64,
    /// The ploidy that the model is given.
    pub(super) ploidy: u32,
}

const fn kind(
    name: &'static str,
    repeats: f64,
    pattern: &'static str,
    rate: f64,
    ploidy: u32,
) -> Kind {
    Kind { name, repeats, pattern, rate, ploidy }
}

/// The tested kinds of genomes. A genome without heterozygosity has one haplotype, because two equal ones would give
/// the same histogram.
pub(super) const KINDS: [Kind; 14] = [
    kind("haploid", 0.0, "a", 0.0, 1),
    kind("haploid, 20 % repeats", 0.2, "a", 0.0, 1),
    kind("haploid, 60 % repeats", 0.6, "a", 0.0, 1),
    kind("homozygous", 0.0, "a", 0.0, 2),
    kind("homozygous, 20 % repeats", 0.2, "a", 0.0, 2),
    kind("homozygous, 60 % repeats", 0.6, "a", 0.0, 2),
    kind("diploid, 0.1 %", 0.05, "ab", 0.001, 2),
    kind("diploid, 1 %", 0.05, "ab", 0.01, 2),
    kind("diploid, 3 %", 0.05, "ab", 0.03, 2),
    kind("diploid, 6 %", 0.05, "ab", 0.06, 2),
    kind("triploid AAB, 1 %", 0.05, "aab", 0.01, 3),
    kind("tetraploid AAAB, 1 %", 0.05, "aaab", 0.01, 4),
    kind("tetraploid AABB, 1 %", 0.05, "aabb", 0.01, 4),
    kind("tetraploid AAAB, told 2", 0.05, "aaab", 0.01, 2),
];

/// Returns the haplotypes of a genome and its differences per base.
pub(super) fn haplotypes(kind: &Kind, bases: usize, rng: &mut Rng) -> (Vec<Vec<u8>>, f64) {
    let copied = (bases as f64 * kind.repeats / 2.0) as usize;
    let mut genome: Vec<u8> = (copied..bases).map(|_| rng.below(4) as u8).collect();
    genome.extend_from_within(..copied);
    let letters = kind.pattern.as_bytes();
    let mut haplotypes = vec![genome; letters.len()];
    let mut differences = 0;
    for at in 0..bases {
        if rng.uniform() < kind.rate {
            differences += 1;
            let change = 1 + rng.below(3) as u8;
            for (haplotype, letter) in haplotypes.iter_mut().zip(letters) {
                if *letter == b'b' {
                    haplotype[at] = (haplotype[at] + change) % 4;
                }
            }
        }
    }
    (haplotypes, f64::from(differences) / bases as f64)
}
