//! Data of mapped reads.

use merganser_map::{Index, Outcome};
use merganser_report::data::{Contig, Mapping};

/// Returns the results of a run, for which [`Config::placements`](merganser_map::Config::placements) must be set.
pub(crate) fn of(index: &Index, outcome: &Outcome) -> Mapping {
    let placements = outcome.placements.clone().unwrap_or_default();
    let rows = |numbers: &std::collections::BTreeMap<u32, u64>| {
        numbers.iter().map(|(&value, &reads)| (value.into(), reads)).collect()
    };
    let contigs = (0..).zip(index.contigs()).zip(&placements.contigs);
    let contigs = contigs.map(|((at, contig), &(reads, bases))| Contig {
        name: contig.name.clone(),
        length: contig.len.into(),
        reads,
        bases,
        windows: placements.windows.get(&at).cloned().unwrap_or_default(),
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
