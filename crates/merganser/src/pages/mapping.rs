//! Data of mapped reads.

use std::collections::BTreeSet;

use merganser_map::{Index, Outcome, Placements};
use merganser_report::data::{Contig, Mapping};

/// Returns the results of a run, for which [`Config::placements`](merganser_map::Config::placements) must be set.
pub(crate) fn of(index: &Index, outcome: &Outcome) -> Mapping {
    let placements = outcome.placements.clone().unwrap_or_default();
    let rows = |numbers: &std::collections::BTreeMap<u32, u64>| {
        numbers.iter().map(|(&value, &reads)| (value.into(), reads)).collect()
    };
    let drawn = longest(index);
    let contigs = index.contigs().iter().zip(&placements.contigs).enumerate();
    let contigs = contigs.map(|(at, (contig, &(reads, bases)))| Contig {
        name: contig.name.clone(),
        length: contig.len.into(),
        reads,
        bases,
        windows: if drawn.contains(&at) { windows(&placements, at) } else { Vec::new() },
    });
    Mapping {
        reads: outcome.reported.reads,
        mapped: outcome.reported.mapped,
        hits: rows(&placements.hits),
        edits: rows(&placements.edits),
        inserts: placements.inserts.iter().map(|(&bases, &pairs)| (bases, pairs)).collect(),
        pairs: (outcome.reported.pairs > 0).then_some(outcome.reported.pairs),
        qualities: placements
            .qualities
            .iter()
            .map(|(&value, &reads)| (value.into(), reads))
            .collect(),
        window: Some(placements.window).filter(|&window| window > 0),
        contigs: contigs.collect(),
    }
}

/// The number of contigs with windows.
const DRAWN: usize = 8;

/// Returns the numbers of the longest contigs.
fn longest(index: &Index) -> BTreeSet<usize> {
    let mut contigs: Vec<usize> = (0..index.contigs().len()).collect();
    contigs.sort_by_key(|&at| (std::cmp::Reverse(index.contigs()[at].len), at));
    contigs.into_iter().take(DRAWN).collect()
}

fn windows(placements: &Placements, contig: usize) -> Vec<u64> {
    placements.windows.get(contig).cloned().unwrap_or_default()
}
