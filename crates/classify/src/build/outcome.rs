//! What a build found.

use merganser_gpu::DeviceInfo;
use merganser_library::MapConflict;
use merganser_run::{Stages, Warnings};

use crate::database::Target;
use merganser_taxonomy::Taxonomy;

/// What a build found.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct BuildOutcome {
    /// Sequences of the inputs.
    pub records: u64,
    /// Secondary and supplementary alignments of the inputs, whose reads stand in others.
    pub skipped_alignments: u64,
    /// How long each stage took.
    pub stages: Stages,
    /// The GPUs that computed.
    pub devices: Vec<DeviceInfo>,
    /// The largest resident size of the process so far, in bytes, if the system tells it.
    pub peak_memory: Option<u64>,
    /// Sequences without a taxon and why, in order: (name, reason). They are not in the database.
    pub unmapped: Vec<(String, String)>,
    /// Maps and headers with two taxids for an id.
    pub conflicts: Vec<MapConflict>,
    /// How many targets have a lineage without a main rank, from species to domain; the first of them with
    /// the rank of its taxon.
    pub unranked: (u64, Option<(String, String)>),
    /// How many targets have an id that an earlier one has; the first such id.
    pub duplicates: (u64, Option<String>),
    /// How many sequences of files with k-mers have none, being too short or of N alone; the first such id.
    pub without_kmer: (u64, Option<String>),
    /// Bases read.
    pub bases: u64,
    /// Orphan taxids of the dump.
    pub orphans: Vec<u32>,
    /// Bytes that were written to temporary files.
    pub spilled_bytes: u64,
    /// Ranges of features whose tables a device made, one after the other; 0: the host made all.
    pub device_runs: usize,
}

impl BuildOutcome {
    /// Notes which of new targets, of nodes of `tree`, have a lineage without a main rank.
    pub(crate) fn note_unranked(&mut self, targets: &[Target], tree: &Taxonomy) {
        let mut unranked = targets.iter().filter(|target| !tree.has_main_rank(target.node));
        let Some(first) = unranked.next() else { return };
        let rank = tree.rank_name(first.node).to_owned();
        self.unranked = (1 + unranked.count() as u64, Some((first.name.clone(), rank)));
    }

    /// Says what is odd about references and taxonomy.
    pub(crate) fn warn(&self, warnings: &Warnings) {
        if let Some(taxid) = self.orphans.first() {
            let count = self.orphans.len();
            warnings.push(format!(
                "{count} taxa have no parent in nodes.dmp and were put under the root, first {taxid}"
            ));
        }
        self.conflicts.iter().for_each(|conflict| conflict.warn(warnings));
        if let (count, Some(name)) = &self.duplicates {
            warnings.push(format!(
                "{count} sequences have an id that an earlier one has, first {name}; all are kept"
            ));
        }
        if let (count, Some(name)) = &self.without_kmer {
            warnings.push(format!(
                "{count} sequences have no k-mer, being too short or of N alone, and no read can be \
                 found in them, first {name}"
            ));
        }
        if let (count, Some((name, rank))) = &self.unranked {
            warnings.push(format!(
                "{count} sequences have lineages without a main rank (species to domain), first {name} of \
                 rank '{rank}': their reads are classified to the sequences' own taxa"
            ));
        }
        if let Some((name, reason)) = self.unmapped.first() {
            let count = self.unmapped.len();
            warnings.push(format!(
                "{count} sequences have no taxon and are left out, first {name}: {reason}"
            ));
        }
    }
}
