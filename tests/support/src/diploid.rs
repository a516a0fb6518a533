//! A simulated diploid genome: its reference, its variants, and reads of both haplotypes.

use std::fmt::Write;

use super::oracle::complement;
use super::reads::Random;

/// Bases of the reference.
const BASES: usize = 80_000;
/// Bases of a read.
const READ: usize = 150;
/// Number of read bases per base of the reference.
const COVERAGE: usize = 30;
/// The longest insertion or deletion.
const MAX_INDEL: usize = 20;

/// A variant: its first base (from 0), the reference letters, the letters that replace them, and the haplotypes that
/// have it.
struct Variant {
    at: usize,
    reference: Vec<u8>,
    other: Vec<u8>,
    haplotypes: [bool; 2],
}

/// A reference with repeats, and a diploid genome that differs from it by SNPs and by insertions and deletions
/// of 1 to 20 bases, on one haplotype or on both.
pub struct Diploid {
    reference: Vec<u8>,
    variants: Vec<Variant>,
    random: Random,
}

impl Diploid {
    pub fn new(seed: u64) -> Diploid {
        let mut random = Random(seed);
        let reference = genome(&mut random);
        let variants = variants(&reference, &mut random);
        Diploid { reference, variants, random }
    }

    /// Returns the reference as FASTA.
    pub fn fasta(&self) -> String {
        format!(">chr1\n{}\n", text(&self.reference))
    }

    /// Returns the variants as VCF, without genotypes.
    pub fn vcf(&self) -> String {
        let mut vcf = format!(
            "##fileformat=VCFv4.2\n##contig=<ID=chr1,length={BASES}>\n\
             #CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
        );
        for Variant { at, reference, other, .. } in &self.variants {
            let [reference, other] = [reference, other].map(|letters| text(letters));
            writeln!(vcf, "chr1\t{}\t.\t{reference}\t{other}\t.\t.\t.", at + 1).unwrap();
        }
        vcf
    }

    /// Simulates pairs and returns FASTQ of the first and second mates: fragments of about 350 ± 40 bases, with
    /// substitutions that become more frequent towards the end of a read.
    pub fn pairs(&mut self) -> [String; 2] {
        let haplotypes = [0, 1].map(|number| self.haplotype(number));
        let mut mates = [String::new(), String::new()];
        for number in 0..BASES * COVERAGE / (2 * READ) {
            let haplotype = &haplotypes[number % 2];
            let bases = self.fragment();
            let from = self.random.below(haplotype.len() - bases + 1);
            let mut fragment = haplotype[from..from + bases].to_vec();
            if self.random.below(2) == 0 {
                fragment = complement(&fragment);
            }
            for (mate, letters) in [fragment.clone(), complement(&fragment)].iter().enumerate() {
                let read = self.read(&letters[..READ]);
                let (name, quality) = (mate + 1, "I".repeat(READ));
                writeln!(mates[mate], "@r{number}/{name}\n{}\n+\n{quality}", text(&read)).unwrap();
            }
        }
        mates
    }

    /// Draws the length of a fragment. The sum of 12 uniform numbers is nearly normal, here with mean 240 and
    /// deviation 41.
    fn fragment(&mut self) -> usize {
        let sum: usize = (0..12).map(|_| self.random.below(41)).sum();
        (110 + sum).max(READ)
    }

    fn read(&mut self, letters: &[u8]) -> Vec<u8> {
        let mut read = letters.to_vec();
        for (at, letter) in read.iter_mut().enumerate() {
            // The error rate rises from 1 in 1000 to 8 in 1000.
            if self.random.below(1_000_000) < 1000 + 7000 * at * at / (READ * READ) {
                *letter = another(*letter, &mut self.random);
            }
        }
        read
    }

    fn haplotype(&self, number: usize) -> Vec<u8> {
        let (mut letters, mut from) = (Vec::new(), 0);
        for variant in self.variants.iter().filter(|variant| variant.haplotypes[number]) {
            letters.extend_from_slice(&self.reference[from..variant.at]);
            letters.extend_from_slice(&variant.other);
            from = variant.at + variant.reference.len();
        }
        letters.extend_from_slice(&self.reference[from..]);
        letters
    }
}

/// Returns random stretches between copies of a repeat on both strands, which differ by 4 %, and low complexity.
fn genome(random: &mut Random) -> Vec<u8> {
    let repeat = random.bases(600);
    let mut genome = Vec::new();
    while genome.len() < BASES {
        match random.below(12) {
            0 => {
                let mut copy = repeat.clone();
                for letter in &mut copy {
                    if random.below(25) == 0 {
                        *letter = another(*letter, random);
                    }
                }
                genome.extend(if random.below(2) == 0 { complement(&copy) } else { copy });
            }
            1 => genome.extend(b"CA".repeat(8 + random.below(16))),
            2 => genome.extend(b"A".repeat(8 + random.below(8))),
            _ => {
                let bases = 500 + random.below(2000);
                genome.extend(random.bases(bases));
            }
        }
    }
    genome.truncate(BASES);
    genome
}

/// Returns variants 150 to 350 bases apart: two SNPs, then an insertion or deletion of increasing length, in turn.
fn variants(genome: &[u8], random: &mut Random) -> Vec<Variant> {
    let (mut variants, mut at) = (Vec::new(), 300);
    while at < genome.len() - 300 {
        let number = variants.len() / 3;
        let bases = 1 + number / 2 % MAX_INDEL;
        let letter = genome[at];
        let (reference, other) = match (variants.len() % 3, number % 2) {
            (0 | 1, _) => (vec![letter], vec![another(letter, random)]),
            (_, 0) => (vec![letter], [vec![letter], random.bases(bases)].concat()),
            _ => (genome[at..=at + bases].to_vec(), vec![letter]),
        };
        let haplotypes = [[true, true], [true, false], [false, true]][random.below(3)];
        variants.push(Variant { at, reference, other, haplotypes });
        at += 150 + random.below(200);
    }
    variants
}

/// Returns a random base other than `letter`.
fn another(letter: u8, random: &mut Random) -> u8 {
    let others: Vec<u8> = b"ACGT".iter().copied().filter(|&other| other != letter).collect();
    others[random.below(3)]
}

fn text(letters: &[u8]) -> &str {
    std::str::from_utf8(letters).unwrap()
}
