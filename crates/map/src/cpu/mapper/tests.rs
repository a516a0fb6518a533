use super::*;
use crate::NMode;
use crate::cpu::prefilter;
use crate::naive::{self, NaiveHit};
use crate::reference::Reference;
use crate::run::build_of;
use merganser_filter::Threshold;
use merganser_run::{Cancel, Context};
use merganser_test_random::Random;
use proptest::prelude::*;

/// Returns the hits of all reads as found by the stages.
fn mapped(config: &Config, contigs: &[Vec<u8>], reads: &[Vec<u8>]) -> Vec<Vec<NaiveHit>> {
    let (context, cancel) = (Context::new().threads(1).memory(1 << 30), Cancel::default());
    let reference = Reference::of(contigs);
    let (index, _) = build_of(reference, &context, None, None).unwrap();
    let view = index.view();
    let gaps = view.gaps(config.n_mode);
    let ruled = matches!(config.filter, Prefilter::GateKeeper | Prefilter::Snake);
    let packed = (ruled && !config.hamming).then(|| prefilter::pack(&view.text).unwrap());
    let mut mapper = Mapper::new(view, config, &gaps, packed.as_ref(), &cancel);
    mapper.clear(1);
    for read in reads {
        mapper.queries.push(read, config.threshold.edits(read.len())).unwrap();
    }
    let (mut hits, mut bounds) = (Vec::new(), Vec::new());
    let (mut own, mut own_bounds) = (Vec::new(), Vec::new());
    let all: Vec<usize> = (0..reads.len()).collect();
    let mut done = 0;
    while done < reads.len() {
        let count = mapper.seek(&all[done..], 1).unwrap();
        mapper.flush().unwrap();
        mapper.hits(&all[done..done + count], &mut own, &mut own_bounds).unwrap();
        bounds.extend(own_bounds.iter().map(|bound| bound + hits.len()));
        hits.append(&mut own);
        done += count;
    }
    let effort = mapper.effort;
    assert_eq!(effort.candidates, effort.rejected + effort.verified);
    let mut start = 0;
    bounds
        .into_iter()
        .map(|end| {
            let own = &hits[std::mem::replace(&mut start, end)..end];
            own.iter()
                .map(|hit| NaiveHit {
                    edits: hit.edits as usize,
                    contig: hit.contig as usize,
                    end: (hit.end - index.contigs()[hit.contig as usize].start) as usize,
                    reverse: hit.reverse,
                })
                .collect()
        })
        .collect()
}

/// A generator of contigs and reads. Proptest strategies would shrink to uninteresting cases.
pub(crate) trait Simulate {
    fn below(&mut self, n: usize) -> usize;

    fn bases(&mut self, n: usize) -> Vec<u8>;

    /// Returns contigs with copies of a repeat, runs of one or two letters, and N.
    fn contigs(&mut self) -> Vec<Vec<u8>> {
        let repeat = self.bases(150);
        (0..1 + self.below(4))
            .map(|_| {
                let mut contig = Vec::new();
                for _ in 0..1 + self.below(6) {
                    match self.below(7) {
                        0 => contig.extend(b"AC".repeat(1 + self.below(60))),
                        1 => contig.extend(b"T".repeat(1 + self.below(90))),
                        2 => contig.extend(b"N".repeat(1 + self.below(12))),
                        3 | 4 => {
                            let copy = self.edited(&repeat, 15);
                            contig.extend(copy);
                        }
                        _ => {
                            let bases = self.below(250);
                            contig.extend(self.bases(bases));
                        }
                    }
                }
                contig.push(b'G');
                contig
            })
            .collect()
    }

    fn edited(&mut self, letters: &[u8], most: usize) -> Vec<u8> {
        let mut letters = letters.to_vec();
        for _ in 0..self.below(most + 1) {
            if letters.len() < 2 {
                break;
            }
            let at = self.below(letters.len());
            match self.below(8) {
                0 => drop(letters.remove(at)),
                1 => letters.insert(at, b'C'),
                2 if self.below(4) == 0 => letters[at] = b'N',
                _ => letters[at] = b"ACGTacgt"[self.below(8)],
            }
        }
        letters
    }

    /// Returns stretches of the contigs with edits, from either strand.
    fn reads(&mut self, contigs: &[Vec<u8>], longest: usize, e: usize) -> Vec<Vec<u8>> {
        (0..12)
            .map(|_| {
                let contig = &contigs[self.below(contigs.len())];
                let len = (20 + self.below(longest - 19)).min(contig.len());
                let at = self.below(contig.len() - len + 1);
                let read = self.edited(&contig[at..at + len], e + 1);
                let read = if read.is_empty() { b"ACGT".to_vec() } else { read };
                if self.below(2) == 0 { read } else { naive::reverse_complement(&read) }
            })
            .collect()
    }
}

impl Simulate for Random {
    fn below(&mut self, n: usize) -> usize {
        Random::below(self, n)
    }

    fn bases(&mut self, n: usize) -> Vec<u8> {
        Random::bases(self, n)
    }
}

pub(crate) fn config_of(random: &mut Random, e: usize) -> Config {
    let threshold = match random.below(4) {
        0 => Threshold::Percent(random.below(9) as u8),
        _ => Threshold::Edits(e as u32),
    };
    Config {
        hamming: random.below(4) == 3,
        echoes: random.below(3) == 0,
        strand: [Strand::Both, Strand::Both, Strand::Forward, Strand::Reverse][random.below(4)],
        n_mode: [NMode::Mismatch, NMode::Mismatch, NMode::Match][random.below(3)],
        ..Config::new(threshold)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn hits_are_the_oracles_with_every_filter(seed in any::<u64>(), e in 0usize..10) {
        let mut random = Random(seed);
        let config = config_of(&mut random, e);
        let contigs = random.contigs();
        let reads = random.reads(&contigs, 160, e);
        let expected: Vec<_> =
            reads.iter().map(|read| naive::hits(&config, &contigs, read)).collect();
        for filter in
            [Prefilter::Exact, Prefilter::GateKeeper, Prefilter::Snake, Prefilter::None]
        {
            let found = mapped(&Config { filter, ..config.clone() }, &contigs, &reads);
            for (read, (found, expected)) in reads.iter().zip(found.iter().zip(&expected)) {
                prop_assert_eq!(found, expected, "{:?} {}", filter, String::from_utf8_lossy(read));
            }
        }
    }

    #[test]
    fn long_reads_and_many_edits(seed in any::<u64>(), e in 0usize..40) {
        let mut random = Random(seed);
        let config = Config::new(Threshold::Edits(e as u32));
        let contigs = vec![random.bases(1500), random.bases(700)];
        let reads = random.reads(&contigs, 700, e);
        for (read, found) in reads.iter().zip(mapped(&config, &contigs, &reads)) {
            prop_assert_eq!(found, naive::hits(&config, &contigs, read));
        }
    }
}

#[test]
fn frequent_seeds_lose_nothing() {
    // Every seed of the read occurs at nearly every position.
    let mut contig = b"A".repeat(3000);
    contig[1500] = b'C';
    let read = [b"A".repeat(60), b"C".to_vec(), b"A".repeat(39)].concat();
    let config = Config::new(Threshold::Edits(4));
    let contigs = [contig];
    let found = mapped(&config, &contigs, std::slice::from_ref(&read));
    assert_eq!(found[0], naive::hits(&config, &contigs, &read));
    assert!(found[0].len() > 100);
}
