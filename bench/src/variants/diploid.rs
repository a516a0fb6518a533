//! A diploid: a reference with variants on one or both haplotypes.

use std::collections::BTreeSet;
use std::fmt::Write;

use anyhow::{Result, ensure};

use crate::generate::sequences::Sequences;
use crate::rng::{Purpose, Rng};

/// Minimum number of bases between two variants, and before the first one of a sequence.
const APART: usize = 20;
/// One in this many variants is on both haplotypes, on average.
const HOMOZYGOUS: u64 = 3;

/// A variant, which replaces bases of the reference from a position on.
#[derive(Clone, Debug)]
struct Variant {
    at: usize,
    removed: usize,
    inserted: Vec<u8>,
    /// Whether each haplotype has the variant.
    on: [bool; 2],
}

/// Variants sorted by position.
#[derive(Clone, Debug)]
pub(super) struct Diploid(Vec<Variant>);

impl Diploid {
    /// Draws SNPs, and insertions and deletions with uniform lengths up to `longest` bases, at random positions
    /// without N.
    ///
    /// # Errors
    /// If the reference is too short for them.
    pub(super) fn new(
        reference: &Sequences,
        [snps, indels]: [usize; 2],
        longest: usize,
        seed: u64,
    ) -> Result<Diploid> {
        let bases = reference.bases();
        let room = APART + longest;
        ensure!(bases.len() > 4 * room * (snps + indels), "too many variants for the reference");
        let mut rng = Rng::new(seed, Purpose::Variants, 0);
        let (mut variants, mut taken) = (Vec::new(), BTreeSet::new());
        for number in 0..snps + indels {
            let at = loop {
                let at = rng.below(bases.len() as u64) as usize;
                let (_, place) = reference.at(at);
                let inside = place.start + room <= at && at + room < place.end;
                if inside
                    && taken.range(at.saturating_sub(room)..at + room).next().is_none()
                    && !bases[at - room..at + room].contains(&b'N')
                {
                    break at;
                }
            };
            taken.insert(at);
            let both = rng.below(HOMOZYGOUS) == 0;
            let first = both || rng.below(2) == 0;
            let on = [first, both || !first];
            let len = 1 + rng.below(longest as u64) as usize;
            let (mut removed, mut inserted) = (0, Vec::new());
            if number < snps {
                (removed, inserted) = (1, vec![rng.other_base(bases[at])]);
            } else if rng.below(2) == 0 {
                removed = len;
            } else {
                rng.bases(len, &mut inserted);
            }
            variants.push(Variant { at, removed, inserted, on });
        }
        variants.sort_by_key(|variant| variant.at);
        Ok(Diploid(variants))
    }

    /// Returns all variants as VCF; indels include the base before them.
    pub(super) fn vcf(&self, reference: &Sequences) -> String {
        let bases = reference.bases();
        let mut text = "##fileformat=VCFv4.2\n".to_owned();
        for_each_sequence(reference, |name, place| {
            let _ = writeln!(text, "##contig=<ID={name},length={}>", place.len());
        });
        text += "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"Genotype\">\n";
        text += "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tsample\n";
        for Variant { at, removed, inserted, on } in &self.0 {
            let (name, place) = reference.at(*at);
            let from = if *removed == inserted.len() { *at } else { at - 1 };
            let removed = &bases[from..at + removed];
            let other = [&bases[from..*at], inserted].concat();
            let [removed, other] = [removed, &other[..]].map(String::from_utf8_lossy);
            let [one, two] = on.map(u8::from);
            let position = from - place.start + 1;
            let _ = writeln!(
                text,
                "{name}\t{position}\t.\t{removed}\t{other}\t.\t.\t.\tGT\t{one}|{two}"
            );
        }
        text
    }

    /// Returns both haplotypes as FASTA, each sequence twice.
    pub(super) fn haplotypes(&self, reference: &Sequences) -> Vec<u8> {
        let bases = reference.bases();
        let mut text = Vec::new();
        for haplotype in 0..2 {
            for_each_sequence(reference, |name, place| {
                text.extend_from_slice(format!(">{name}_{}\n", haplotype + 1).as_bytes());
                let mut at = place.start;
                let own = self.0.iter().filter(|variant| place.contains(&variant.at));
                for variant in own.filter(|variant| variant.on[haplotype]) {
                    text.extend_from_slice(&bases[at..variant.at]);
                    text.extend_from_slice(&variant.inserted);
                    at = variant.at + variant.removed;
                }
                text.extend_from_slice(&bases[at..place.end]);
                text.push(b'\n');
            });
        }
        text
    }
}

/// Returns the reference as FASTA.
pub(super) fn fasta(reference: &Sequences) -> Vec<u8> {
    let mut text = Vec::new();
    for_each_sequence(reference, |name, place| {
        text.extend_from_slice(format!(">{name}\n").as_bytes());
        for line in reference.bases()[place].chunks(80) {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
    });
    text
}

fn for_each_sequence(reference: &Sequences, mut take: impl FnMut(&str, std::ops::Range<usize>)) {
    let mut at = 0;
    while at < reference.bases().len() {
        let (name, place) = reference.at(at);
        at = place.end;
        take(name, place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn haplotypes_have_their_variants() {
        let mut bases = Vec::new();
        Rng::new(1, Purpose::GenomeBlock, 0).bases(20_000, &mut bases);
        let reference = Sequences::single("x", bases.clone());
        let diploid = Diploid::new(&reference, [40, 20], 10, 7).unwrap();
        assert_eq!(
            diploid.vcf(&reference).lines().filter(|line| line.starts_with('x')).count(),
            60
        );
        let text = String::from_utf8(diploid.haplotypes(&reference)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!([lines[0], lines[2]], [">x_1", ">x_2"]);
        for (haplotype, line) in [lines[1], lines[3]].into_iter().enumerate() {
            let own = || diploid.0.iter().filter(|variant| variant.on[haplotype]);
            let [more, less]: [usize; 2] = [
                own().map(|variant| variant.inserted.len()).sum(),
                own().map(|variant| variant.removed).sum(),
            ];
            assert_eq!(line.len(), bases.len() + more - less);
        }
        assert!(diploid.0.iter().all(|variant| variant.on != [false; 2]));
    }
}
