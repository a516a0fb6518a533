//! Checks that the report about a read or pair does not depend on whether hits are searched stratum by stratum or all
//! at once.

use merganser_filter::Threshold;
use merganser_run::{Cancel, Context};
use merganser_test_random::Random;
use proptest::prelude::*;

use std::ops::ControlFlow;

use super::*;
use crate::cpu::mapper::tests::{Simulate, config_of};
use crate::hits::{NO_SCRIPT, quality};
use crate::naive;
use crate::reference::Reference;
use crate::run::build_of;

/// The reported hits or combinations in order (the best ones), and the mapping quality of the first one.
type Said<T> = (Vec<T>, u8);

fn said<T: Copy>(select: Select, found: &[T], edits: impl Fn(&T) -> u32) -> Said<T> {
    let best = found.first().map(&edits);
    let count = found.iter().take_while(|&one| Some(edits(one)) == best).count();
    // For `Best`, it only matters whether there is a second one as good.
    let count = if select == Select::Best { count.min(2) } else { count };
    let strata = found.chunk_by(|a, b| edits(a) == edits(b));
    let strata = strata.map(|same| (edits(&same[0]), same.len() as u64));
    (found[..count].to_vec(), quality(select, strata, 9))
}

/// The report about a pair: concordant combinations as (edits, end of the first mate, end of the second one),
/// or the report about each mate.
#[derive(Debug, PartialEq)]
enum SaidOfPair {
    Together(Said<(u32, u32, u32)>),
    Apart([Said<Hit>; 2]),
}

fn said_of_pair(pairing: &mut Pairing<'_>, select: Select, mates: &Mates<'_>) -> SaidOfPair {
    pairing.combine(mates);
    if pairing.is_empty() {
        return SaidOfPair::Apart(mates.hits.map(|hits| said(select, hits, |hit| hit.edits)));
    }
    let mut found = Vec::new();
    let _ = pairing.each(mates, |of| {
        let [first, second] = [0, 1].map(|mate| mates.hits[mate][of.hits[mate] as usize].end);
        found.push((of.edits, first, second));
        ControlFlow::<()>::Continue(())
    });
    let counted: u64 = pairing.strata().into_iter().map(|(_, count)| count).sum();
    // For `Best`, combinations may be counted only in part.
    assert!(found.len() as u64 == counted || select == Select::Best);
    SaidOfPair::Together(said(select, &found, |of| of.0))
}

/// Maps reads stratum by stratum and by the oracle, and compares the reports. Returns the number of candidates
/// of the search stratum by stratum, and of a search for all hits.
fn compare(config: &Config, contigs: &[Vec<u8>], reads: &[Vec<u8>], unit: usize) -> [u64; 2] {
    let (context, cancel) = (Context::new().threads(1).memory(1 << 30), Cancel::default());
    let (index, _) = build_of(Reference::of(contigs), &context, None, None).unwrap();
    let view = index.view();
    let gaps = view.gaps(config.n_mode);
    let mapper = |config| {
        let mut mapper = Mapper::new(view, config, &gaps, None, &cancel);
        reads.iter().for_each(|read| mapper.push(read).unwrap());
        mapper
    };
    let (mut early, mut all) = (mapper(config), mapper(config));
    let mut strata = Strata::new(view, config, &cancel);
    let mut pairing = Pairing::new(view, config, &cancel);
    let (mut hits, mut bounds, mut from) = (Vec::new(), Vec::new(), 0);
    while from < reads.len() {
        let to = strata.map(&mut early, from..reads.len(), unit, &mut hits, &mut bounds).unwrap();
        assert!(to > from && (to - from).is_multiple_of(unit));
        for read in (from..to).step_by(unit) {
            let of = |mate: usize| {
                let at = read + mate - from;
                let start = if at == 0 { 0 } else { bounds[at - 1] };
                &hits[start..bounds[at]]
            };
            let oracle = |mate: usize| -> Vec<Hit> {
                let found = naive::hits(config, contigs, &reads[read + mate]).into_iter();
                found
                    .map(|hit| Hit {
                        edits: hit.edits as u32,
                        contig: hit.contig as u32,
                        end: index.contigs()[hit.contig].start + hit.end as u32,
                        reverse: hit.reverse,
                        script: NO_SCRIPT,
                    })
                    .collect()
            };
            let select = config.select;
            if unit == 1 {
                let expected = oracle(0);
                let found = said(select, of(0), |hit| hit.edits);
                assert_eq!(found, said(select, &expected, |hit| hit.edits), "{config:?}");
                continue;
            }
            let (queries, expected) = (&early.queries, [oracle(0), oracle(1)]);
            let mates = |hits| Mates { queries, read, hits, scripts: &[] };
            let found = said_of_pair(&mut pairing, select, &mates([of(0), of(1)]));
            let expected = mates([&expected[0], &expected[1]]);
            let expected = said_of_pair(&mut pairing, select, &expected);
            assert_eq!(found, expected, "{config:?}");
        }
        from = to;
    }
    for read in 0..reads.len() {
        all.map_read(read, &mut hits, &mut bounds).unwrap();
    }
    [early.effort.candidates, all.effort.candidates]
}

/// Returns mates of fragments of the contigs, with edits; some second mates are unrelated.
fn pairs(random: &mut Random, contigs: &[Vec<u8>], e: usize) -> Vec<Vec<u8>> {
    let mut mates = Vec::new();
    for _ in 0..10 {
        let contig = &contigs[random.below(contigs.len())];
        let len = (60 + random.below(120)).min(contig.len());
        let at = random.below(contig.len() - len + 1);
        let fragment = &contig[at..at + len];
        let fragment = if random.below(2) == 0 {
            fragment.to_vec()
        } else {
            naive::reverse_complement(fragment)
        };
        let own = len.min(25 + random.below(50));
        let first = random.edited(&fragment[..own], e + 1);
        let second = match random.below(6) {
            0 => random.reads(contigs, 60, e).swap_remove(0),
            1 => random.bases(40),
            _ => naive::reverse_complement(&random.edited(&fragment[len - own..], e + 1)),
        };
        for mate in [first, second] {
            mates.push(if mate.is_empty() { b"ACGT".to_vec() } else { mate });
        }
    }
    mates
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn reads_are_reported_as_if_all_hits_were_known(seed in any::<u64>(), e in 0usize..10) {
        let mut random = Random(seed);
        let select = [Select::Best, Select::BestStrata][random.below(2)];
        let config = Config { select, ..config_of(&mut random, e) };
        let contigs = random.contigs();
        let reads = random.reads(&contigs, 160, e);
        compare(&config, &contigs, &reads, 1);
    }

    #[test]
    fn pairs_are_reported_as_if_all_hits_were_known(seed in any::<u64>(), e in 0usize..8) {
        let mut random = Random(seed);
        let select = [Select::Best, Select::BestStrata][random.below(2)];
        let config = Config { select, ..config_of(&mut random, e) };
        let insert = random.below(80) as u32;
        let config = {
            let max_insert = insert + 50 + random.below(150) as u32;
            Config { min_insert: Some(insert), max_insert: Some(max_insert), ..config }
        };
        let contigs = random.contigs();
        let reads = pairs(&mut random, &contigs, e);
        compare(&config, &contigs, &reads, 2);
    }
}

/// Reads with more hits than are kept at a time: the list is cut, and the reads that were dropped are searched
/// again.
#[test]
fn many_hits_are_kept_a_part_at_a_time() {
    let mut random = Random(7);
    let unit = random.bases(60);
    let contigs = [unit.repeat(40)];
    let reads: Vec<Vec<u8>> = (0..30).map(|at| contigs[0][at * 7..at * 7 + 50].to_vec()).collect();
    for select in [Select::All, Select::Best, Select::BestStrata] {
        for unit in [1, 2] {
            let config =
                Config { select, max_insert: Some(100), ..Config::new(Threshold::Edits(3)) };
            compare(&config, &contigs, &reads, unit);
        }
    }
}

/// Reads with about as many edits as lanes can decide, or more: the first strata to search depend on the read's
/// length.
#[test]
fn long_reads_are_reported_as_if_all_hits_were_known() {
    let mut random = Random(11);
    let unit = random.bases(900);
    let mut contigs = [random.bases(700), Vec::new()];
    for _ in 0..4 {
        contigs[1].extend(random.edited(&unit, 20));
        contigs[1].extend(random.bases(100));
    }
    let whole = contigs[1].clone();
    let mut reads: Vec<Vec<u8>> = (0..24)
        .map(|at| {
            random.edited(&whole[at * 120..at * 120 + 600 + 10 * at], [2, 14, 30, 60][at % 4])
        })
        .collect();
    reads.push(random.bases(800));
    reads.push(contigs[0].clone());
    for (select, unit) in [(Select::Best, 1), (Select::BestStrata, 2)] {
        let config = Config { select, max_insert: Some(1500), ..Config::new(Threshold::Edits(45)) };
        compare(&config, &contigs, &reads, unit);
    }
}

/// A read that occurs without edits is not searched with shorter seeds.
#[test]
fn the_work_ends_early() {
    let mut random = Random(3);
    let contigs = [random.bases(200_000)];
    let reads: Vec<Vec<u8>> =
        (0..20).map(|at| contigs[0][at * 9000..at * 9000 + 80].to_vec()).collect();
    // Ten seeds of eight bases each occur three times by chance; three seeds of 26 bases do not.
    let config = Config { select: Select::Best, ..Config::new(Threshold::Edits(9)) };
    let [early, all] = compare(&config, &contigs, &reads, 1);
    assert!(early == 20 && all > 400, "{early} {all}");
}
